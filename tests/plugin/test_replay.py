"""Failing checks are judged again by the line that the failure prints."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from tests.plugin.replays import commands, kept, run, said
from tests.plugin.sessions import DISTRIBUTIONS, session, text

WRONG = """
x = np.arange(12, dtype=np.float32).reshape(3, 4)

def test_rows(exactref):
    exactref.check(x[:, 0], er.sum(x, axis=1), label="rows", standard="any_order")
"""
EVERY_WAY = pytest.mark.parametrize("how", DISTRIBUTIONS)


@EVERY_WAY
def test_a_failure_is_judged_again_by_its_line(pytester: pytest.Pytester, how: str) -> None:
    result = session(pytester, WRONG, "--exactref-json=out.json", *DISTRIBUTIONS[how])
    (command,) = commands(result)
    assert re.fullmatch(r"python -m exactref replay \.exactref/test_rows-[0-9a-f]{8}\.npz", command)
    done = run(command, pytester.path)
    assert (done.returncode, done.stderr) == (1, "")
    assert [line.strip() for line in done.stdout.splitlines()] == said(result)
    (check,) = json.loads((pytester.path / "out.json").read_text())["checks"]
    assert check["replay"] == command
    assert kept(pytester) == [command.rpartition("/")[2]]
    again = session(pytester, WRONG, *DISTRIBUTIONS[how])
    assert commands(again) == [command]
    assert len(kept(pytester)) == 1


def test_other_terms_may_be_asked_for(pytester: pytest.Pytester) -> None:
    source = """
    row = [1e16, 0.0, 0.0, 0.0, -1e16, 0.0, 0.0, 0.0] + [1.0] * 96 + [0.0] * 104

    def test_lanes(exactref):
        exactref.check(np.float64([72.0, 72.0]), er.sum([row, row], axis=1))
    """
    (command,) = commands(session(pytester, source))
    assert run(command, pytester.path).returncode == 1
    other = run(f"{command} --standard any_order", pytester.path)
    assert (other.returncode, other.stderr) == (0, "")
    assert other.stdout == (
        "sum float64 (2,): 0 wrong, 2 correct but worse, 0 normal        standard: any_order\n"
    )
    few = run(f"{command} --rows 1", pytester.path)
    assert "... and 1 more" in few.stdout


def test_several_outputs_and_formats(pytester: pytest.Pytester) -> None:
    source = """
    heads = [np.full((2, 3, 4), k, np.float16) for k in (1, 2, 3)]

    def test_attention(exactref):
        result = er.scaled_dot_product_attention(*heads)
        right = np.asarray(result["output"].rounded.data)
        exactref.check((right, np.zeros((2, 3), np.float32)), result)

    def test_complex(exactref):
        z = np.complex64([1 + 2j, 3j])
        exactref.check(z.sum().conj(), er.sum(z))

    def test_view_of_a_chain(exactref):
        x = er.asarray([[1.5, 2.5], [3.5, 4.5]], "bfloat16")
        r = er.sum(er.multiply(x, x), axis=0, dtype="float8_e4m3fn")[1:]
        exactref.check(er.asarray([3.0], "float8_e4m3fn"), r, flush_to_zero=True)
    """
    result = session(pytester, source)
    result.assert_outcomes(failed=3)
    for command in commands(result):
        done = run(command, pytester.path)
        assert (done.returncode, done.stderr) == (1, "")
        for line in done.stdout.splitlines():
            assert line.strip() in text(result)
    assert len(kept(pytester)) == 3


def test_a_torch_output_of_bfloat16(pytester: pytest.Pytester) -> None:
    pytest.importorskip("torch")
    source = """
    import torch

    def test_sum(exactref):
        x = torch.ones(4, 8, dtype=torch.bfloat16, requires_grad=True)
        exactref.check(x.sum(dim=1) + 1, er.sum(x, axis=1))
    """
    (command,) = commands(session(pytester, source, warnings="default"))
    done = run(command, pytester.path)
    assert done.stdout.startswith("sum bfloat16 (4,): 4 wrong")


def test_an_operation_of_the_test_file_is_imported_by_the_line(pytester: pytest.Pytester) -> None:
    source = """
    @er.define(signature="(n)->()")
    def doubled_sum(v, x):
        return v.multiply(v.sum(x, axis=-1), 2)

    def test_own(exactref):
        exactref.check(np.float32(3), er.doubled_sum(np.float32([1, 2])))
    """
    (command,) = commands(session(pytester, source))
    assert command.endswith("--import test_it.py")
    done = run(command, pytester.path)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("doubled_sum float32 (): 1 wrong")
    without = run(command.partition(" --import")[0], pytester.path)
    assert without.returncode == 2
    assert "no operation is named 'doubled_sum'" in without.stderr
    assert "give --import MODULE if a module of yours defines it" in without.stderr
    missing = run(command.replace("test_it.py", "nothing.py"), pytester.path)
    assert missing.returncode == 2
    assert "nothing.py cannot be imported" in missing.stderr


def test_operations_and_standards_of_a_conftest(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        from exactref_core.extend import AnyOrder, Domain, Op

        class Loose(AnyOrder):
            name = "loose"

        def define(v, x):
            return v.multiply(x, x)

        def pytest_exactref_ops(config):
            return [Op("own_square", define, ("x",), Domain("()->()", ("float32",)))]

        def pytest_exactref_standards():
            return [Loose()]
        """
    )
    source = """
    def test_own(exactref):
        exactref.check(np.float32(3), er.own_square(np.float32(2)), standard="loose")
    """
    (command,) = commands(session(pytester, source))
    assert command.endswith("--import conftest.py")
    done = run(command, pytester.path)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("own_square float32 (): 1 wrong")
    assert "standard: loose" in done.stdout


def test_a_test_file_that_needs_its_conftest(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        from exactref_core.extend import Domain, Op

        def define(v, x):
            return v.multiply(x, x)

        def pytest_exactref_ops(config):
            return [Op("own_square", define, ("x",), Domain("()->()", ("float32",)))]
        """
    )
    source = """
    @er.define
    def own_double(v, x):
        return v.multiply(x, 2)

    @er.op("own_square")
    def test_square(x):
        return x * x

    def test_own(exactref):
        exactref.check(np.float32(3), er.own_double(np.float32(2)))
    """
    (command,) = commands(session(pytester, source))
    alone = run(command, pytester.path)
    assert alone.returncode == 2
    assert "no operation is named 'own_square'" in alone.stderr
    assert "if a conftest.py adds it, --import that one first" in alone.stderr
    both = run(command.replace("--import", "--import conftest.py --import"), pytester.path)
    assert (both.returncode, both.stderr) == (1, "")
    assert both.stdout.startswith("own_double float32 (): 1 wrong")


@pytest.mark.parametrize("content", [None, b"", b"something else"])
def test_what_cannot_be_read_is_a_usage_error(content: bytes | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "x.npz").write_bytes(content)
    done = run("python -m exactref replay x.npz", tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert re.search(r"error: x\.npz(:| is no saved check)", done.stderr)
    assert "Traceback" not in done.stderr


def test_a_table_of_less_than_no_rows_is_refused(pytester: pytest.Pytester) -> None:
    (command,) = commands(session(pytester, WRONG))
    done = run(f"{command} --rows=-1", pytester.path)
    assert done.returncode == 2
    assert "rows must be an int of at least 0, not -1" in done.stderr


def test_another_version_is_remarked_on(pytester: pytest.Pytester) -> None:
    (command,) = commands(session(pytester, WRONG))
    (name,) = kept(pytester)
    path = pytester.path / ".exactref" / name
    with np.load(path) as found:
        arrays = {key: found[key] for key in found.files}
    data = json.loads(arrays["exactref"].tobytes())
    data["terms"]["version"] = "0.0.9"
    arrays["exactref"] = np.frombuffer(json.dumps(data).encode(), np.uint8)
    np.savez(path, **arrays)
    done = run(command, pytester.path)
    assert done.returncode == 1
    assert done.stderr.startswith("saved by exactref 0.0.9, judged by exactref ")
