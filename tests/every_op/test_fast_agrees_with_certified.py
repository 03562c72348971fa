"""The law "fast agrees with certified": enclosures hold, and decided roundings are the same.

Every node of a call's graph is compared at both levels of the fast reading, whole and gathered,
with exact rationals or with intervals of 8192 bits.
"""

from __future__ import annotations

import os
from itertools import cycle, product

import numpy as np
import pytest

import exactref as er
from exactref_core.arithmetic.certified import CertifiedReading
from tests.every_op.cases import Case, accepted, chunks
from tests.every_op.expected import FORMULAS
from tests.every_op.levels import (
    PRECISION,
    check_enclosures,
    check_roundings,
    nodes_below,
    parts_of,
)
from tests.every_op.numbers import MODES, OVERFLOWS

THOROUGH = os.environ.get("EXACTREF_THOROUGH") == "1"
ELEMENTS, CHUNK, SAMPLED = (1_500, 150, 50) if THOROUGH else (120, 30, 15)
FORMATS = (
    "float64",
    "float32",
    "bfloat16",
    "float16",
    "complex64",
    "complex128",
    "int64",
    "uint64",
)
NAMES = sorted(FORMULAS)
COMPUTED = [name for name in NAMES if name != "astype"]  # which has no step


def some(size: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """A sorted choice of elements."""
    return np.sort(rng.permutation(size)[:count])


@pytest.mark.parametrize(("name", "form"), accepted(COMPUTED, FORMATS))
def test_enclosures_hold(name: str, form: str) -> None:
    rng = np.random.default_rng(40)
    known = 0
    for case in chunks(name, form, ELEMENTS, CHUNK, seed=41):
        for part in parts_of(case.call(dtype=case.own_output)):
            reading = CertifiedReading(PRECISION)
            for node in nodes_below(part.source):
                places = some(node.size, SAMPLED, rng)
                known += check_enclosures(part, node, places, reading)
    assert known > ELEMENTS / 4


@pytest.mark.parametrize(("name", "form"), accepted(NAMES, FORMATS))
def test_roundings_agree(name: str, form: str) -> None:
    rules = cycle(product(MODES, OVERFLOWS))
    for case in chunks(name, form, ELEMENTS, CHUNK, seed=42):
        outputs = [case.own_output, *narrower(case)]
        for dtype in outputs:
            mode, overflow = next(rules)
            result = case.call(dtype=dtype, rounding=mode, overflow=overflow)
            for part in parts_of(result):
                check_roundings(part)


def narrower(case: Case) -> list[str]:
    """An output format beside the input's."""
    return ["complex64"] if case.is_complex else ["float32", "bfloat16", "float8_e5m2"]


@pytest.mark.parametrize(
    ("name", "form", "levels"),
    [
        ("sum", "float64", 3),
        ("sum", "float32", 3),
        ("sum", "complex64", 3),
        ("mean", "float32", 3),
        ("matmul", "float32", 2),
        ("matmul", "bfloat16", 2),
        ("matmul", "float64", 3),
        ("matmul", "complex64", 2),
    ],
)
def test_inputs_reach_every_level(name: str, form: str, levels: int) -> None:
    decided = np.zeros(3, int)
    for case in chunks(name, form, 600, 200, seed=43):
        for part in parts_of(case.call(dtype=case.own_output)):
            decided += check_roundings(part)
    assert (decided[:levels] > 0).all(), decided


@pytest.mark.parametrize("name", ["add", "multiply", "divide", "sqrt", "abs"])
@pytest.mark.parametrize("form", ["float64", "complex128"])
def test_wide_elements_reach_the_certified_level(name: str, form: str) -> None:
    if (name, form) == ("abs", "float64"):
        return  # exact
    decided = np.zeros(3, int)
    for case in chunks(name, form, 600, 200, seed=44):
        for part in parts_of(case.call(dtype=case.own_output)):
            decided += check_roundings(part)
    assert decided[0] > 0
    assert decided[2] > 0


def test_ties_that_only_the_certified_level_decides() -> None:
    """1 + 2^-53, specks that cancel, and 2^-1074 or nothing: half an ulp, or next to it."""
    rng = np.random.default_rng(45)
    specks = np.ldexp(1.0, -np.arange(200, 1060, 20))
    for extra, wanted in ((0.0, 1.0), (5e-324, 1.0 + 2.0**-52), (-5e-324, 1.0)):
        terms = np.concatenate([[1.0, 2.0**-53], specks, [extra], -specks])
        result = er.sum(rng.permutation(terms))
        (part,) = parts_of(result)
        assert result.rounded.tolist() == wanted
        assert check_roundings(part).tolist() == [0, 0, 1]
