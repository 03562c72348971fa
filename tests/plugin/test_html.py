"""The HTML report as a file: complete, one for a session, and safe from what tests are called."""

from __future__ import annotations

import re

import pytest

from tests.house.tree import ROOT
from tests.plugin.html_pages import HOSTILE, Reader, html, some_checks
from tests.plugin.sessions import DISTRIBUTIONS, session, text

SOURCE = """
x = np.arange(12, dtype=np.float32).reshape(3, 4)

@pytest.mark.parametrize("n", range(3))
def test_right(exactref, n):
    exactref.check(x.sum(axis=1), er.sum(x, axis=1), label="rows")
    exactref.check(x + x, er.add(x, x))

def test_wrong(exactref):
    exactref.check(x[:, 0], er.sum(x, axis=1))

@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "a::b"])
def test_named(exactref, name):
    exactref.check(x + x, er.add(x, x), label="<b>&amp;</b>")

@er.op("add", shapes=[(3, 5), (7,)], values="one_sign")
def test_drawn(x1, x2):
    return x1 + x2 + x2
"""
EXPECTED = [
    "test_drawn",
    "test_named[<script>alert(1)</script>]",
    "test_named[a::b]",
    *(name for n in range(3) for name in [f"test_right[{n}]"] * 2),
    "test_wrong",
]


def read(pytester: pytest.Pytester, name: str = "out/report.html") -> Reader:
    return Reader((pytester.path / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("how", DISTRIBUTIONS)
def test_every_check_is_in_it_once(pytester: pytest.Pytester, how: str) -> None:
    result = session(pytester, SOURCE, "--exactref-html=out/report.html", *DISTRIBUTIONS[how])
    result.assert_outcomes(passed=5, failed=2)
    assert [path.name for path in (pytester.path / "out").iterdir()] == ["report.html"]
    assert text(result).count("HTML report in out/report.html") == 1
    found = read(pytester)
    assert sorted(found.names) == EXPECTED
    assert set(found.data) == {"scale", *(f"data-check-{n}" for n in range(len(EXPECTED)))}
    assert {"test_wrong", "test_drawn"} == set(found.names[:2])  # failing checks come first
    for check in (found.data[f"data-check-{n}"] for n in range(len(EXPECTED))):
        assert check["shown"]["drawing"]["slices"]
        counts = [sum(bins) for bins in check["histogram"]]
        if not check["drawn"]:
            shown = check["shown"]
            assert counts == [shown["normal"], shown["worse"], shown["wrong"]]


def test_a_drawn_failure_shows_the_shrunk_example(pytester: pytest.Pytester) -> None:
    result = session(pytester, SOURCE, "--exactref-html=r.html", "-k", "drawn")
    check = read(pytester, "r.html").data["data-check-0"]
    (headline,) = re.findall(r"add float32 (\(.*\)): (\d+) wrong", text(result))[:1]
    shape = ", ".join(map(str, check["shown"]["shape"]))
    assert (f"({shape})", str(check["shown"]["wrong"])) == headline
    again = dict(check["again"])
    assert again["the test"].startswith("pytest test_it.py::test_drawn --exactref-seed=1")
    assert f"paste: {again['this example']}\n" in text(result)


def test_it_may_be_an_ini_key_and_a_session_may_have_no_check(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nexactref_html = here.html\n")
    session(pytester, "def test_other():\n    pass\n")
    found = read(pytester, "here.html")
    assert found.names == []
    assert "No check ran" in (pytester.path / "here.html").read_text()


def test_without_the_option_nothing_is_drawn(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        def pytest_runtest_logreport(report):
            for check in getattr(report, "exactref_checks", ()):
                print("SHOWN", check["shown"], check["histogram"])
        """
    )
    result = session(pytester, SOURCE, "-s", "--exactref", "--exactref-json=r.json", "-k", "right")
    assert set(re.findall("SHOWN (.*)", text(result))) == {"{} []"}


@pytest.mark.parametrize("kind", ["html", "json"])
def test_a_folder_is_no_file(pytester: pytest.Pytester, kind: str) -> None:
    pytester.mkdir("out")
    result = session(pytester, SOURCE, f"--exactref-{kind}=out")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*exactref_{kind}: out is a folder: name a file in it*"])


@pytest.mark.parametrize("kind", ["html", "json"])
def test_a_path_that_cannot_be_written(pytester: pytest.Pytester, kind: str) -> None:
    pytester.makefile(".txt", taken="")
    result = session(pytester, SOURCE, f"--exactref-{kind}=taken.txt/out")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*exactref_{kind}: taken.txt/out cannot be written: *"])


def test_names_are_text_wherever_they_stand() -> None:
    page = html(some_checks())
    assert "<img" not in page
    assert page.count("<script>") == 1
    found = Reader(page)
    assert f"test_x[{HOSTILE}]" in "".join(found.names)
    titles = [each["title"] for name, each in found.data.items() if name != "scale"]
    assert f"tests/test_x.py::test_x[{HOSTILE}] ({HOSTILE})" in titles
    assert found.elements.count("tbody") == len(some_checks())


def test_it_asks_the_network_for_nothing() -> None:
    page = html(some_checks())
    assert set(Reader(page).addresses) == {"#checks", "data:,"}
    urls = re.findall(r"[a-z]+://[^\s\"']*|@import|url\(", page)
    assert set(urls) == {"http://www.w3.org/2000/svg"}  # the name of a namespace
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy[1]


def test_the_command_that_reproduces_a_check_is_quoted() -> None:
    found = Reader(html(some_checks())).data
    commands = [dict(each["again"])["the test"] for name, each in found.items() if name != "scale"]
    assert "pytest tests/test_heads.py::test_heads" in commands
    assert "pytest 'tests/test_heads.py::test_right[bfloat16]'" in commands


def test_what_a_failure_said_and_where_its_tensors_are() -> None:
    found = Reader(html(some_checks())).data["data-check-0"]
    assert found["remarks"] == ["Where: last 4 columns.", "Looks like: a lost tile."]
    assert dict(found["again"])["these tensors"] == "python -m exactref replay 'kept/a b.npz'"


def test_what_the_checks_could_not_have_noticed_is_remarked() -> None:
    found = Reader(html(some_checks())).data
    remarks = [found[f"data-check-{n}"]["remarks"] for n in range(4)]
    assert remarks[1] == ["The test was expected to fail (xfailed)."]
    assert remarks[2][0].startswith("At 3 of 8,400 elements normal guarantees nothing")
    assert remarks[3] == ["An output of zeros would also pass."]


def test_the_parts_of_the_page_are_short_too() -> None:
    parts = sorted((ROOT / "pytest_exactref" / "reports" / "page").iterdir())
    assert len(parts) >= 5
    assert [p.name for p in parts if len(p.read_text().splitlines()) > 300] == []
