"""Stochastic rounding: both neighbours are correct, and nothing else."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.evaluate import again, blocks
from exactref_core.formats.catalogue import get_format
from exactref_core.formats.rounding import Overflow, Rounding, round_ratio

FORMATS = ("bfloat16", "float16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1fn")


def neighbours(x: Fraction, form: str, overflow: Overflow) -> set[float]:
    """What directed roundings give."""
    return {
        float(round_ratio(x.numerator, x.denominator, get_format(form), side, overflow, x < 0))
        for side in (Rounding.DOWN, Rounding.UP)
    }


def numbers(form: str) -> np.ndarray:
    """Numbers of the format, halves and other fractions between them, and those beyond."""
    rng = np.random.default_rng(40)
    top = float(get_format(form).max)
    x = rng.standard_normal(200) * 2.0 ** rng.integers(-12, 8, 200)
    return np.concatenate([x, [0, top, -top, top * 1.001, -2 * top, 1, -1.5]])


@pytest.mark.parametrize("overflow", ["ieee", "saturate"])
@pytest.mark.parametrize("form", FORMATS)
def test_both_neighbours_and_no_other_number(form: str, overflow: str) -> None:
    x = numbers(form)
    result = er.astype(x, form, rounding="stochastic", overflow=overflow)
    nearest = er.astype(x, form, overflow=overflow).rounded
    assert result.rounded.data.tobytes() == nearest.data.tobytes()
    rule = Overflow(overflow) if form != "float4_e2m1fn" else Overflow.SATURATE
    low, high = (end.values() for end in result.finite_range())
    infinite = {s: np.asarray(result.may_be(s).data) for s in ("+inf", "-inf", "nan")}
    for i, value in enumerate(x.tolist()):
        found = neighbours(Fraction(value), form, rule)
        finite = [v for v in found if np.isfinite(v)]
        assert (low[i], high[i]) == (min(finite), max(finite)), value
        assert infinite["+inf"][i] == (np.inf in found)
        assert infinite["-inf"][i] == (-np.inf in found)
        assert infinite["nan"][i] == any(np.isnan(v) for v in found)


def test_an_ulp_further_is_wrong() -> None:
    x = np.float32([1.001, -2.7, 100.3])
    result = er.astype(x, "bfloat16", rounding="stochastic")
    low, high = result.finite_range()
    for end, away in ((low, -1), (high, 1)):
        assert result.covers(end).all()
        bits = end.data.view(np.uint16).astype(np.int32)
        outward = np.where(end.values() > 0, away, -away)
        moved = (bits + outward).astype(np.uint16).view(end.data.dtype)
        assert not result.covers(er.Array(moved, end.format)).any()


def test_sums_reach_one_further_on_both_sides() -> None:
    x = (np.random.default_rng(1).standard_normal((50, 40)) * 3).astype(np.float32)
    plain = er.sum(x, axis=1, dtype="bfloat16")
    random = er.sum(x, axis=1, dtype="bfloat16", rounding="stochastic")
    for standard in ("normal", "any_order"):
        inner, outer = plain.finite_range(standard), random.finite_range(standard)
        assert (outer[0].values() <= inner[0].values()).all()
        assert (outer[1].values() >= inner[1].values()).all()
        exact = er.sum(x, axis=1, dtype="float64").rounded.values()
        down = er.astype(exact, "bfloat16", rounding="down").rounded
        up = er.astype(exact, "bfloat16", rounding="up").rounded
        assert random.covers(down, standard).all()
        assert random.covers(up, standard).all()


def test_complex_parts_round_apart() -> None:
    result = er.multiply(
        np.complex128([1 + 1j]), np.complex128([1 / 3]), rounding="stochastic", dtype="complex64"
    )
    third = er.astype(np.float64([1 / 3]), "float32", rounding="down").rounded.scalars()[0]
    above = er.astype(np.float64([1 / 3]), "float32", rounding="up").rounded.scalars()[0]
    for real in (third, above):
        for imag in (third, above):
            assert result.covers(np.complex64([complex(real, imag)])).all()
    assert not result.covers(np.complex64([complex(2 * above - third, third)])).all()


def test_blocks_tables_and_calls_again() -> None:
    x = (np.random.default_rng(2).standard_normal((60, 200)) * 3).astype(np.float16)
    result = er.astype(x, "float8_e5m2", rounding="stochastic")
    low, high = (end.data for end in result.finite_range())
    part = er.astype(x[:2], "float8_e5m2", rounding="stochastic").finite_range()
    assert low[:2].tobytes() == part[0].data.tobytes()
    wide = er.exp(x.astype(np.float32), dtype="bfloat16", rounding="stochastic")
    whole = wide.finite_range()[1].data
    for box, block in blocks.blocks(wide.outputs["output"], 500):  # type: ignore[arg-type]
        found = block.finite_range("normal", False)[1]
        assert found.data.tobytes() == whole[box].tobytes()
    anew = again(result.origin)  # type: ignore[arg-type]
    assert anew.finite_range()[1].data.tobytes() == high.tobytes()


@pytest.mark.parametrize("call", [er.sum, lambda r: er.add(r, r), lambda r: er.exp(r[0])])
def test_further_calls_are_refused(call: Any) -> None:
    stored = er.astype(np.float32([[1.001]]), "bfloat16", rounding="stochastic")
    with pytest.raises(er.InputError, match="either neighbour is correct; pass the stored numbers"):
        call(stored)


def test_other_names_are_refused() -> None:
    with pytest.raises(er.InputError, match="'down', 'stochastic'"):
        er.sum(np.float32([1]), rounding="random")
