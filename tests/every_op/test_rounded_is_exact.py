"""The law "rounded is exact": every operation, format, rounding mode and overflow rule.

EXACTREF_THOROUGH=1 in the environment takes at least 100,000 elements for each operation and input
format, and all pairs of output format and rule on thousands; the regular run samples, and takes a
third of the pairs, so that every one meets every operation and every input format.
"""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import exactref as er
from exactref_core.errors import InputError
from exactref_core.exact.elementary_table import FUNCTIONS
from exactref_core.formats.catalogue import get_format
from exactref_core.registry import get_op, ops
from tests.every_op.cases import INTEGERS, Case, accepted, chunks
from tests.every_op.checking import check_rounded, shown
from tests.every_op.expected import FORMULAS, term_rows
from tests.every_op.hostile import real_formats
from tests.every_op.numbers import MODES, OVERFLOWS

THOROUGH = os.environ.get("EXACTREF_THOROUGH") == "1"
# Elements by the default rule, and in one call of it.
ELEMENTS, CHUNK = (100_000, 4_000) if THOROUGH else (3_000, 500)
# Elements in a call by another rule, and how many such calls share their inputs.
SMALL, SHARED = (400, 6) if THOROUGH else (60, 6)
FORMATS = ("float64", "float32", "bfloat16", "float16", "complex64", "complex128", *INTEGERS)
NARROW = ("tfloat32", "float8_e4m3fn", "float8_e5m2fnuz")
ALL_FORMATS = (*FORMATS, *NARROW, "float6_e3m2fn", "float4_e2m1fn")
NAMES = sorted(FORMULAS)
# Operations without a formula in integers, and the family whose tests in tests/core evaluate them.
FAMILIES = {
    "log_softmax": "softmax",
    "logsumexp": "softmax",
    "scaled_dot_product_attention": "softmax",
    "matrix_exp": "matrix_exp",
    **dict.fromkeys(FUNCTIONS, "functions"),
    **dict.fromkeys(("sigmoid", "silu", "gelu", "softplus", "mish", "elu", "selu"), "activations"),
    **dict.fromkeys(("swiglu", "geglu"), "activations"),
    **dict.fromkeys(("relu6", "hardsigmoid", "hardswish", "reglu"), "hard_activations"),
    "nll_loss": "cross_entropy",
    **dict.fromkeys(("hypot", "logaddexp"), "pair_functions"),
    **dict.fromkeys(("layer_norm", "rms_norm", "group_norm", "batch_norm"), "norms"),
}


def other_rules(case: Case) -> list[tuple[str, str, str]]:
    """Output formats, modes and overflow rules in a random order, the defaults left out.

    What a rule makes of an exact value does not depend on where that comes from: of the many rules
    of real inputs a third is enough, another one for the next operation and the next format.
    """
    found = list(product(case.output_formats(), MODES, OVERFLOWS))
    if not THOROUGH and not case.form.is_complex:
        found = found[(NAMES.index(case.op.name) + ALL_FORMATS.index(case.form.name)) % 3 :: 3]
    found = [rule for rule in found if rule != (case.own_output, "nearest_even", "ieee")]
    return [found[i] for i in np.random.default_rng(21).permutation(len(found))]


def test_every_operation_has_an_independent_evaluation() -> None:
    """A formula in integers here, or the tests of a family that is irrational."""
    core = Path(__file__).parents[1] / "core"
    built_in = {op.name for op in ops() if op.define.__module__.startswith("exactref_core.")}
    for name in built_in - set(FORMULAS):
        family = "backward" if name.startswith("backward.") else FAMILIES.get(name, name)
        assert list(core.glob(f"test_{family}*.py")), f"{name} needs a formula in expected.py"


@pytest.mark.parametrize(("name", "form"), accepted(NAMES, [*FORMATS, *NARROW]))
def test_rounded_is_exact(name: str, form: str) -> None:
    judged = 0
    for case in chunks(name, form, ELEMENTS, CHUNK, seed=20):
        judged += check_rounded(case, case.own_output, "nearest_even", "ieee")
    assert judged >= ELEMENTS
    print(f"{name} {form}: {judged} elements")


def test_every_rule_meets_every_operation_and_every_input_format() -> None:
    met: dict[tuple[str, bool], set[tuple[str, str, str]]] = {}
    for name, form in accepted(NAMES, ALL_FORMATS):
        case = Case(get_op(name), get_format(form), (), {})
        for known in (name, form):
            met.setdefault((known, case.is_complex), set()).update(other_rules(case))
    every = {
        is_complex: set().union(
            *(rules for (_, other), rules in met.items() if other is is_complex)
        )
        for is_complex in (False, True)
    }
    assert (len(every[False]), len(every[True])) == (10 * len(real_formats()), 20)
    for (known, is_complex), rules in met.items():
        # The default of the one output format is no other rule.
        assert {rule[1:] for rule in every[is_complex] - rules} <= {("nearest_even", "ieee")}, known
        assert len(every[is_complex] - rules) <= 1, known


@pytest.mark.parametrize(("name", "form"), accepted(NAMES, ALL_FORMATS))
def test_rounded_is_exact_in_every_format_and_mode(name: str, form: str) -> None:
    cases = chunks(name, form, 1 << 30, SMALL, seed=30)
    case = next(cases)
    rules, judged = other_rules(case), 0
    for start in range(0, len(rules), SHARED):
        for rule in rules[start : start + SHARED]:
            judged += check_rounded(case, *rule)
        case = next(cases)
    print(f"{name} {form}: {judged} elements by {len(rules)} rules")


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), (1,), (0, 1, 2), ()])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("shape", [(2, 3, 4), (2, 0, 4), (0, 3, 4), (1, 1, 1)])
def test_shapes_of_sums(shape: tuple[int, ...], axis: object, keepdims: bool) -> None:
    x = np.random.default_rng(22).integers(-8, 9, shape).astype(np.float32) * 2.0**-140
    found = er.sum(x, axis=axis, keepdims=keepdims).rounded
    wanted = x.astype(np.float64).sum(axis=axis, keepdims=keepdims)  # exact: few bits
    assert found.dtype == "float32"
    assert found.shape == wanted.shape
    assert np.array_equal(found.values(), wanted)
    assert not np.signbit(found.values()[wanted == 0]).any()


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3,), (3,)),
        ((0,), (0,)),
        ((2, 3), (3,)),
        ((3,), (3, 2)),
        ((2, 0), (0, 3)),
        ((0, 3), (3, 2)),
        ((4, 2, 3), (3, 2)),
        ((2, 3), (4, 3, 2)),
        ((5, 1, 2, 3), (4, 3, 2)),
        ((3,), (4, 3, 2)),
        ((4, 2, 3), (3,)),
        ((0, 2, 3), (1, 3, 2)),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_shapes_of_products(left: tuple[int, ...], right: tuple[int, ...], dtype: type) -> None:
    rng = np.random.default_rng(23)
    a, b = (rng.integers(-8, 9, shape).astype(dtype) for shape in (left, right))
    if dtype is np.complex64:
        a, b = (a + 1j * a[::-1]).astype(dtype), (b - 2j * b).astype(dtype)
    found = er.matmul(a, b).rounded
    wanted = np.matmul(a.astype(np.complex128), b.astype(np.complex128))  # small integers
    assert found.shape == wanted.shape
    assert np.array_equal(found.values(), wanted if dtype is np.complex64 else wanted.real)


@pytest.mark.parametrize("form", INTEGERS)
def test_sums_of_integers_are_exact_integers(form: str) -> None:
    for case in chunks("sum", form, 300, 100, seed=24):
        _, rows = term_rows(case.tensors[0], case.params["axis"], False)
        for row in rows[:50]:
            x = er.asarray(row)
            total = sum(map(int, row))
            if -(2**63) <= total < 2**63:
                assert er.sum(x).rounded.tolist() == total
            else:
                with pytest.raises(InputError, match="int64 does not hold"):
                    er.sum(x).rounded  # noqa: B018  # evaluated when asked for


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("overflow", OVERFLOWS)
@pytest.mark.parametrize("dtype", ["float4_e2m1fn", "float6_e3m2fn", "float8_e4m3fn", "float16"])
def test_quotients_by_zero_are_stored_by_the_overflow_rule(
    dtype: str, mode: str, overflow: str
) -> None:
    found = er.divide(
        [1.0, -1.0, 1.0], [0.0, 0.0, -0.0], dtype=dtype, rounding=mode, overflow=overflow
    )
    top = {"float4_e2m1fn": 6.0, "float6_e3m2fn": 28.0}.get(dtype)
    if dtype == "float16":
        top = np.inf
    if dtype == "float8_e4m3fn":
        top = 448.0 if overflow == "saturate" else np.nan
    got = found.rounded.values()
    assert np.array_equal(got, [top, -top, -top], equal_nan=True), shown(got[0])
