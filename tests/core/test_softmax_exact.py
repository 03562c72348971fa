"""``rounded`` and ``exact`` of the softmax family against an independent 700-bit evaluation."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import gmpy2
import numpy as np
import pytest

import exactref as er
from exactref_core.arithmetic.certified import CertifiedReading
from exactref_core.formats.catalogue import get_format
from tests.core.rounding_oracle import SMALL, neighbours
from tests.core.softmax_cases import INPUTS, THOROUGH, attention_cases, row_cases
from tests.core.softmax_oracle import (
    Real,
    log_weight,
    logsumexp,
    round_fraction,
    round_real,
    row_of,
    weight,
)
from tests.every_op.levels import check_enclosures, check_roundings, nodes_below

ROWS = 16_000 if THOROUGH else 700
OUTPUTS = 16_000 if THOROUGH else 800
SUMS = 200_000 if THOROUGH else 1_500


def same(got: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Equal, signs included where the value is not zero itself."""
    return (got == wanted) | (np.isnan(got) & np.isnan(wanted))


def check_enclosure(result: er.Result, index: tuple[int, ...], real: Real) -> None:
    """The enclosure meets the interval that the oracle computed, and is narrow."""
    found = result.exact.value(*index)
    distance = abs(found.midpoint.to_fraction() - real.middle)
    assert distance <= found.radius + real.radius + Fraction(1, 2**4000)
    assert found.radius <= abs(real.middle) / 2**60 + real.radius * 2**540 + Fraction(1, 2**4000)


def expected_rows(name: str, rows: np.ndarray, output: str) -> tuple[np.ndarray, dict[Any, Real]]:
    """Expected values of softmax, log_softmax or logsumexp of rows, and the reals they round."""
    form = get_format(output)
    whole = name == "logsumexp"
    minus = -np.inf if form.infinity else np.nan
    lost = 0.0 if name == "softmax" else minus
    wanted = np.full(rows.shape[:-1] if whole else rows.shape, lost)
    reals: dict[Any, Real] = {}
    for index in np.ndindex(rows.shape[:-1]):
        kept = np.flatnonzero(rows[index] > -np.inf).tolist()
        if not kept:
            wanted[index] = {"softmax": 0.0, "log_softmax": np.nan, "logsumexp": minus}[name]
            continue
        scores = [gmpy2.mpq(float(rows[(*index, i)])) for i in kept]
        row = row_of(scores, [gmpy2.mpq(0)] * len(kept), gmpy2.mpq(1))
        if whole:
            reals[index] = logsumexp(row)
            wanted[index] = round_real(reals[index], form)
            continue
        for place, i in enumerate(kept):
            real = (weight if name == "softmax" else log_weight)(row, place)
            reals[(*index, i)] = real
            wanted[(*index, i)] = round_real(real, form)
    return wanted, reals


@pytest.mark.parametrize("form", INPUTS)
@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp"])
def test_rows(name: str, form: str) -> None:
    rng = np.random.default_rng(1)
    seen = 0
    for case in row_cases(form, SUMS if name == "logsumexp" else ROWS, seed=2):
        wanted, reals = expected_rows(name, case.rows, case.output)
        result = getattr(er, name)(case.x, **case.params)
        got = result.rounded.values()
        if name != "logsumexp":
            got = np.moveaxis(got, case.params["axis"], -1)
        wrong = np.argwhere(~same(got, wanted))
        assert wrong.size == 0, (case.rows[tuple(wrong[0][:-1])], case.params, wrong[0])
        seen += wanted.size
        if reals:
            chosen = list(reals)[int(rng.integers(len(reals)))]
            moved = chosen if name == "logsumexp" else back(chosen, case.params["axis"])
            check_enclosure(result, moved, reals[chosen])
    assert seen > (ROWS if name != "logsumexp" else SUMS / 20)


def back(index: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """The index of an element whose axis had been moved to the end."""
    rest, last = list(index[:-1]), index[-1]
    rest.insert(axis % len(index), last)
    return tuple(rest)


@pytest.mark.parametrize("form", INPUTS)
def test_attention(form: str) -> None:
    rng = np.random.default_rng(3)
    for case in attention_cases(form, OUTPUTS, seed=4):
        wanted, logs, reals = case.oracle.answer(*case.outputs)
        result = case.call()
        got = result.rounded.output.values(), result.rounded.logsumexp.values()
        for mine, theirs in zip(got, (wanted, logs), strict=True):
            wrong = np.argwhere(~same(mine, theirs))
            assert wrong.size == 0, (case.args, case.params, wrong[0])
        flat = int(rng.integers(wanted.size))
        index = tuple(int(i) for i in np.unravel_index(flat, wanted.shape))
        check_enclosure(result["output"], index, reals[flat])


@pytest.mark.parametrize("form", INPUTS)
def test_fast_agrees_with_certified(form: str) -> None:
    reading = CertifiedReading(1 << 10)
    decided = np.zeros(3, int)
    for case in attention_cases(form, 4_000 if THOROUGH else 60, seed=5):
        for output in case.call().outputs.values():
            (part,) = output.parts
            for node in nodes_below(part.source):
                check_enclosures(part, node, np.arange(min(node.size, 12)), reading)
            decided += check_roundings(part)
    assert decided[0] > 0


def test_the_rounding_of_fractions_agrees_with_lists_of_values() -> None:
    rng = np.random.default_rng(6)
    for fmt in SMALL:
        lower, upper, even = neighbours(fmt)
        for i in rng.integers(0, lower.size - 1, 50).tolist():
            ends = Fraction(lower[i]), Fraction(upper[i])
            middle = sum(ends) / 2
            nudge = (ends[1] - ends[0]) / 2**80
            assert round_fraction(middle - nudge, fmt) == lower[i]
            assert round_fraction(middle + nudge, fmt) == upper[i]
            assert round_fraction(middle, fmt) == (lower[i] if even[i] else upper[i])
