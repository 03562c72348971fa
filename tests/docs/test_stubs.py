"""The stub has every name of the facade, and a type checker makes use of it."""

from __future__ import annotations

import importlib.util
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import exactref
from tests.house.tree import ROOT

USER = """
import numpy as np
import exactref as er

x = np.ones((3, 4), np.float32)
reveal_type(er.sum(x, axis=-1, dtype="float64", rounding="up"))
reveal_type(er.backward.layer_norm(x, x, 4, eps=1e-6))
reveal_type(er.sum(x).covers(x).all())
reveal_type(er.asarray([1.0], "bfloat16"))
reveal_type(er.scaled_dot_product_attention(x, x, x, is_causal=True)["output"])
er.nn.attention.AttentionAlgorithm(weights="bfloat16")
er.assert_covers(x, er.astype(x, "float16", overflow="saturate"))
er.an_operation_of_a_conftest(x)

er.sum(x, dim=-1)
er.gelu(x, approximate=1)
er.sum()
"""
REVEALED = [
    "exactref_core.result.Result",
    "exactref_core.result.Result",
    "bool",
    "exactref_core.array.Array",
    "exactref_core.result.Result",
]
ERRORS = [
    (15, 'Unexpected keyword argument "dim" for "sum"'),
    (16, 'Argument "approximate" to "gelu" has incompatible type "int"; expected "str"'),
    (17, 'Missing positional argument "x" in call to "sum"'),
]


def test_the_stub_has_every_name_of_the_facade() -> None:
    text = (ROOT / "exactref" / "__init__.pyi").read_text()
    stated = set(re.findall(r"^def (\w+)\(|import \w+ as (\w+)$|^([A-Z]\w+): ", text, re.M))
    names = {name for found in stated for name in found if name}
    assert {op.name for op in exactref.ops() if op.forward is None} <= names
    assert {*exactref.HOMES, *exactref.MODULES} <= names


def test_parameters_and_defaults_are_those_of_the_functions() -> None:
    namespace: dict[str, object] = {}
    text = (ROOT / "exactref" / "__init__.pyi").read_text()
    body = text[text.index("def __getattr__") :]
    exec(compile("from __future__ import annotations\n" + body, "stub", "exec"), namespace)
    for op in exactref.ops():
        if op.forward is None:
            real = inspect.signature(getattr(exactref, op.name)).parameters
            ours = inspect.signature(namespace[op.name]).parameters  # type: ignore[arg-type]
            shared = [p for p in real.values() if p.kind is not p.KEYWORD_ONLY]
            assert [(p.name, p.default) for p in shared] == [
                (p.name, p.default) for p in ours.values() if p.kind is not p.VAR_KEYWORD
            ]


def test_a_type_checker_sees_operations_and_their_mistakes(tmp_path: Path) -> None:
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("needs mypy")
    user = tmp_path / "user.py"
    user.write_text(USER)
    command = [sys.executable, "-m", "mypy", "--no-error-summary", str(user)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    # By its name alone: mypy repeats what it cached, under the path that the file had.
    shown = [line for line in done.stdout.splitlines() if "/user.py:" in line]
    revealed = [re.findall(r'note: Revealed type is "(?:builtins\.)?(.+)"', line) for line in shown]
    assert [found[0] for found in revealed if found] == REVEALED, done.stdout
    errors = [line for line in shown if ": error: " in line]
    assert len(errors) == len(ERRORS), done.stdout
    for line, (number, text) in zip(errors, ERRORS, strict=True):
        assert f":{number}: error: " in line
        assert text in line
