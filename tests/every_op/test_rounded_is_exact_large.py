"""The law "rounded is exact" where arrays are evaluated in blocks: long rows, many elements."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from exactref_core.formats.catalogue import get_format
from exactref_core.registry import get_op
from tests.every_op.cases import Case, chunks, factor_rows, term_rows
from tests.every_op.checking import check_rounded

THOROUGH = os.environ.get("EXACTREF_THOROUGH") == "1"
FORMATS = ("float64", "float32", "bfloat16", "float16", "complex64", "int64", "int8")
# Lengths around the sizes of the blocks that sums work in, and their multiples.
LENGTHS = (4095, 4096, 4097, 16384, 16385, 32768, 32769, 40000, 100_003)
ROUNDS = 3 if THOROUGH else 1


def rules(case: Case, rng: np.random.Generator) -> list[tuple[str, str, str]]:
    """The defaults, and two narrower outputs in other modes."""
    own = [(case.own_output, "nearest_even", "ieee")]
    if case.is_complex:
        return [*own, ("complex128", str(rng.choice(["up", "toward_zero"])), "ieee")]
    narrow = str(rng.choice(["float16", "bfloat16", "float8_e5m2"]))
    return [*own, ("float32", "nearest_away", "ieee"), (narrow, "down", "saturate")]


def check(case: Case, rng: np.random.Generator) -> None:
    for rule in rules(case, rng):
        check_rounded(case, *rule)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", ["sum", "mean"])
def test_long_rows(name: str, form: str) -> None:
    rng = np.random.default_rng([70, len(form), len(name)])
    fmt = get_format(form)
    for _ in range(ROUNDS):
        for n in LENGTHS if THOROUGH else rng.choice(LENGTHS, 3, replace=False).tolist():
            rows = small(term_rows(rng, fmt, 6, n))
            params: dict[str, Any] = {"axis": 1}
            if rng.random() < 0.4:
                rows, params = rows[:2].T.copy(), {"axis": 0}
            elif rng.random() < 0.3:
                rows, params = rows[0], {"axis": None}
            check(Case(get_op(name), fmt, (rows,), params), rng)


def small(rows: np.ndarray) -> np.ndarray:
    """Integers that are small enough for no sum to leave int64; anything else as it is."""
    return rows >> np.int64(18) if rows.dtype == np.int64 else rows


@pytest.mark.parametrize("form", FORMATS)
def test_deep_products(form: str) -> None:
    rng = np.random.default_rng([71, len(form)])
    fmt = get_format(form)
    for _ in range(ROUNDS):
        k = int(rng.choice([300, 511, 700]))
        a, b = factor_rows(rng, fmt, 12, k)
        check(Case(get_op("matmul"), fmt, (a, b.T), {}), rng)
        check(Case(get_op("matmul"), fmt, (a[:, None, :], b[:, :, None]), {}), rng)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", ["add", "multiply", "divide", "sqrt", "sum", "matmul"])
def test_many_elements(name: str, form: str) -> None:
    rng = np.random.default_rng([72, len(form), len(name)])
    size = 40_000 if name in ("add", "multiply") or THOROUGH else 10_000
    if form in ("float64", "complex64"):
        size //= 4
    for case in chunks(name, form, 1, size, seed=73):
        check_rounded(case, *rules(case, rng)[-1])
