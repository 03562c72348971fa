"""The hooks of a conftest: what does not fit is said, and nothing outlives its session."""

from __future__ import annotations

import pytest

from tests.plugin.sessions import session, text

FORMAT = """
import exactref as er

def pytest_exactref_formats(config):
    return [er.extend.Format("tiny", "float", "float32", precision=3, emin=-2, emax=3, nan=True)]
"""
STANDARD = """
import exactref as er

class Mine(er.extend.AnyOrder):
    name = "mine"

def pytest_exactref_standards(config):
    return [Mine()]
"""


def test_a_hook_that_returns_no_iterable(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("def pytest_exactref_ops(config):\n    return 'add'\n")
    result = session(pytester, "def test_it():\n    pass\n")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "pytest_exactref_ops must return an iterable, not 'add'" in result.stderr.str()


def test_a_standard_of_a_conftest_may_be_the_default(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(STANDARD)
    source = """
    def test_it(exactref):
        x = np.float32([1] + [2.0**-24] * 40)
        exactref.check(x[::-1].cumsum()[-1], er.sum(x))
    """
    result = session(pytester, source, "--exactref-standard=mine", "--exactref")
    result.assert_outcomes(passed=1)
    assert "standard mine" in text(result)
    unknown = session(pytester, source, "--exactref-standard=ours")
    assert "exactref_standard: 'ours' is none of normal, any_order, mine" in unknown.stderr.str()


def test_a_conftest_in_a_folder_adds_when_it_is_loaded(pytester: pytest.Pytester) -> None:
    folder = pytester.mkpydir("inner")
    (folder / "conftest.py").write_text(FORMAT)
    (folder / "test_inner.py").write_text(
        "import exactref as er\n\ndef test_it():\n    er.get_format('tiny')\n"
    )
    result = session(pytester, "def test_it():\n    pass\n")
    result.assert_outcomes(passed=2)


def test_nothing_outlives_a_session(pytester: pytest.Pytester) -> None:
    import exactref as er
    from exactref_core.errors import UnknownNameError

    pytester.makeconftest(FORMAT)
    pytester.makepyfile("import exactref as er\n\ndef test_it():\n    er.get_format('tiny')\n")
    pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)
    with pytest.raises(UnknownNameError):
        er.get_format("tiny")


@pytest.mark.parametrize("how", [["-p", "no:xdist"], ["-n0"], ["-n2"]], ids=["alone", "n0", "n2"])
def test_a_report_comes_once(pytester: pytest.Pytester, how: list[str]) -> None:
    pytester.makeconftest(
        """
def pytest_exactref_report(config, report):
    print("reported", sorted(c["nodeid"] for c in report["checks"]), report["seed"])
"""
    )
    source = """
    @pytest.mark.parametrize("n", [1, 2])
    def test_it(exactref, n):
        x = np.ones(n, np.float32)
        exactref.check(x.sum(), er.sum(x))
    """
    result = session(pytester, source, "-s", *how)
    line = "reported ['test_it.py::test_it[1]', 'test_it.py::test_it[2]'] 1"
    assert text(result).count("reported") == 1
    assert line in text(result)
