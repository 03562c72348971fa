"""``rounded`` of attention's own logsumexp against an independent 700-bit evaluation.

EXACTREF_THOROUGH=1 in the environment takes 52,000 rows, half of them meant to lie next to a
midpoint of two numbers of the output's format, as close as the inputs and a few features allow.
"""

from __future__ import annotations

import sys
from fractions import Fraction

import gmpy2
import numpy as np
import pytest

import exactref as er
from exactref_core.formats.catalogue import get_format
from exactref_core.formats.format import Format
from tests.core.softmax_cases import INPUTS, THOROUGH, attention_case, wide
from tests.core.softmax_oracle import (
    CONTEXT,
    Attention,
    boundary,
    fraction,
    logsumexp,
    round_fraction,
    round_real,
)

ROWS = 13_000 if THOROUGH else 160
FEATURES, BATCH = 5, 40
NEAR = Fraction(1, 2**16)  # of the number: far below half a unit in the last place of float64


def expected(oracle: Attention, form: Format) -> tuple[np.ndarray, int]:
    """Rounded log-sum-exps, and how many lie next to a multiple of half a unit of the format."""
    wanted = np.full(oracle.query.shape[:-1], -np.inf)
    near = 0
    for row, kept, index in oracle.rows():
        if kept:
            real = logsumexp(row)
            wanted[index] = round_real(real, form)
            close = abs(real.middle - boundary(real.middle, form))
            near += close <= NEAR * abs(real.middle) * Fraction(form.unit_roundoff)
    return wanted, near


def pieces(target: Fraction, form: Format) -> tuple[list[float], list[float]]:
    """Factors q and k of a format with sum q k next to a number."""
    left, right = [], []
    for place in range(FEATURES - 1):
        q = max(Fraction(2) ** (-form.precision * place), Fraction(form.smallest_normal))
        k = round_fraction(target / q, form) if target else 0.0
        left.append(float(q))
        right.append(k)
        target -= q * Fraction(k)
    return left, right


def close_case(rng: np.random.Generator, form: str) -> tuple[list[np.ndarray], Attention]:
    """Rows whose log-sum-exp is next to a midpoint: largest score midpoint - log sum exp(-gap)."""
    fmt = get_format(form)
    keys = int(rng.choice([1, 2, 3, 5, 9, 33]))
    q, k = np.zeros((BATCH, 1, FEATURES)), np.zeros((BATCH, keys, FEATURES))
    for b in range(BATCH):
        # Gaps that the format holds: none, moderate, or so large that hardly anything is added.
        gaps = np.rint(np.abs(rng.standard_normal(keys)) * rng.choice([0, 64, 512, 4096])) / 64
        gaps = er.asarray(np.minimum(gaps, 1024.0).tolist(), form).values().copy()
        gaps[0] = 0
        dtype = np.dtype(wide(form)).type
        value = dtype(rng.standard_normal() * rng.choice([1, 8, 40]))
        middle = (Fraction(float(value)) + Fraction(float(np.nextafter(value, dtype(1e3))))) / 2
        with gmpy2.context(CONTEXT):
            log = gmpy2.log(gmpy2.fsum([gmpy2.exp(-gmpy2.mpfr(g)) for g in gaps.tolist()]))
        factors, shared = pieces(middle - fraction(log), fmt)
        q[b, 0], k[b, :, :-1], k[b, :, -1] = [*factors, 1.0], shared, -gaps
    v = np.ones((BATCH, keys, 1))
    shape = (BATCH, 1, keys)
    oracle = Attention(q, k, v, np.ones(shape, bool), np.zeros(shape), gmpy2.mpq(1))
    return [q, k, v], oracle


@pytest.mark.parametrize("form", INPUTS)
def test_logsumexp_of_attention(form: str) -> None:
    rng, output = np.random.default_rng(7), get_format(wide(form))
    rows = near = ties = 0
    while rows < ROWS:
        case = attention_case(rng, form)
        wanted, _ = expected(case.oracle, get_format(case.outputs[1]))
        assert np.array_equal(case.call().rounded.logsumexp.values(), wanted), case
        rows += wanted.size
        if 2 * ties > rows:
            continue
        arrays, oracle = close_case(rng, form)
        wanted, close = expected(oracle, output)
        result = er.scaled_dot_product_attention(
            *(er.asarray(x.tolist(), form) for x in arrays), scale=1.0
        )
        assert np.array_equal(result.rounded.logsumexp.values(), wanted), arrays
        rows, near, ties = rows + wanted.size, near + close, ties + wanted.size
    sys.stdout.write(f"{form}: {rows} rows, {near} of {ties} next to a midpoint\n")
    assert near > ties / 3
