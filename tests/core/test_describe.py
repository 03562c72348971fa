"""`python -m exactref`: every operation is listed and explained, unknown names are told."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace

import pytest

from exactref.__main__ import main
from exactref_core.describe import explanation, overview
from exactref_core.formats import catalogue
from exactref_core.formats.catalogue import get_format
from exactref_core.registry import ops


def test_every_operation_is_listed_once() -> None:
    table, legend = overview().split("\n\n")
    lines = {line.split()[0]: re.split("  +", line) for line in table.splitlines()[1:]}
    assert list(lines) == [op.name for op in ops() if op.forward is None]
    assert lines["matmul"] == [
        "matmul",
        "output",
        "yes",
        "floats, complex",
        "normal, any_order, typical",
    ]
    assert lines["sum"][3] == "floats, complex, integers"
    assert lines["hypot"][3] == "floats"
    assert "float8_e4m3fn" in legend
    assert "complex64" in legend


def test_registered_formats_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(catalogue.FORMATS, "own16", replace(get_format("float16"), name="own16"))
    assert ", own16\n" in overview()


@pytest.mark.parametrize("name", [op.name for op in ops()])
def test_every_operation_is_explained(name: str) -> None:
    found = explanation(name)
    assert found.startswith(f"{name}(")
    assert "standards   normal, any_order" in found
    assert "is correct" in found or "computed as" in found or "depend on an argument" in found


def test_formulas_and_roundings() -> None:
    found = explanation("sigmoid")
    assert "    1 / (1 + exp(-x))\n" in found
    assert "    exp     5u of the result" in found
    assert "gradient    er.backward.sigmoid" in found
    assert "A @ B" in explanation("matmul")
    assert "output.imag" in explanation("add") or "x1 + x2" in explanation("add")


def test_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops"]) == 0
    assert "softmax" in capsys.readouterr().out
    with pytest.raises(SystemExit) as stop:
        main(["explain", "gello"])
    assert stop.value.code == 2
    assert "did you mean" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["explain", "@"])
    error = capsys.readouterr().err
    assert "no operation is named '@'; `python -m exactref ops` lists them" in error


def test_it_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "exactref", "explain", "exp"]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout.startswith("exp(x)\n")
    assert found.stderr == ""
