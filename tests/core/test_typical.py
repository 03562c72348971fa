"""The standard "typical": its values from the formula, and what independent roundings do.

The expected values share nothing with the library: prefix sums are Fractions, roots and the
exponential come from mpmath.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate
from typing import Any

import mpmath
import numpy as np
import pytest

import exactref as er
from exactref_core.arithmetic.bounds import FloatBounds
from exactref_core.arithmetic.certified import CertifiedReading
from exactref_core.arithmetic.certified_bounds import CertifiedBounds
from exactref_core.arithmetic.fast import FastReading
from exactref_core.extend import Typical
from exactref_core.registry import get_standard

F32 = np.float32
UNITS = {"float32": Fraction(1, 2**24), "float64": Fraction(1, 2**53)}
DTYPES = {"float32": np.float32, "float64": np.float64}
mp = mpmath.MPContext()
mp.prec = 400


def real(x: Fraction) -> Any:
    return mp.mpf(x.numerator) / x.denominator


def parts_of(terms: list[Fraction]) -> list[list[Fraction]]:
    return [terms[i : i + 32] for i in range(0, len(terms), 32)]


def typical_delta(terms: list[Fraction], u: Fraction) -> Any:
    """min(normal, 8 u (1+u)^(n-1) max(|s|, |inside| + |totals| sqrt(2^(L+1) - 2)))."""
    n, blocks = len(terms), parts_of(terms)
    levels = int(mp.ceil(mp.log(len(blocks), 2))) if len(blocks) > 1 else 0
    running = [abs(s) for s in accumulate(terms)]
    inside = [abs(s) for block in blocks for s in accumulate(block)]
    totals = [sum(block) for block in blocks]
    size = sum(map(abs, terms))
    growth = (1 + u) ** (n - 1)
    anyhow = (growth - 1) * size
    normal = u * growth * (max(sum(running), sum(inside)) + levels * size)

    def norm(values: list[Fraction]) -> Any:
        return mp.sqrt(real(sum((x * x for x in values), Fraction(0))))

    merged = norm(inside) + norm(totals) * mp.sqrt(2 ** (levels + 1) - 2)
    likely = 8 * real(u) * real(growth) * max(norm(running), merged)
    return min(real(anyhow), real(normal), likely)


def outward(value: Any, up: bool, dtype: Any) -> Any:
    """The neighbour of a real number in the format, or itself."""
    near = dtype(float(value)) if dtype is np.float64 else dtype(mp.nstr(value, 60))
    while up and mp.mpf(float(near)) < value:
        near = np.nextafter(near, dtype(np.inf))
    while not up and mp.mpf(float(near)) > value:
        near = np.nextafter(near, dtype(-np.inf))
    return near


def tolerance_of(exact: Fraction, delta: Any, dtype: Any) -> float:
    """What a user reads of a Delta where compute and output format are one."""
    low, high = (outward(real(exact) + side * delta, side > 0, dtype) for side in (-1, 1))
    down, up = outward(real(exact), False, dtype), outward(real(exact), True, dtype)
    rounded = min((down, up), key=lambda end: abs(Fraction(float(end)) - exact))
    return float(max(np.float64(high) - np.float64(rounded), np.float64(rounded) - np.float64(low)))


def rows_of(rng: np.random.Generator, n: int, dtype: Any) -> dict[str, np.ndarray]:
    """Rows of several kinds: random walks, one sign, one large block, steps that return."""
    spike = rng.standard_normal(n)
    spike[n // 2] = 1e5
    turns = np.where(np.arange(n) % 2, -1.0, 1.0) * (1 + 1e-3 * rng.random(n))
    found = {"walk": rng.standard_normal(n), "one sign": rng.random(n), "spike": spike}
    found |= {"turns": turns, "late": np.where(np.arange(n) > n - 9, 1e4, 1e-4) * rng.random(n)}
    return {name: x.astype(dtype) for name, x in found.items()}


@pytest.mark.parametrize("form", ["float32", "float64"])
@pytest.mark.parametrize("n", [2, 32, 33, 64, 97, 400, 3000])
def test_the_tolerance_of_a_sum_is_that_of_the_formula(form: str, n: int) -> None:
    rng = np.random.default_rng([3, n])
    for kind, x in rows_of(rng, n, DTYPES[form]).items():
        terms = [Fraction(float(t)) for t in x]
        wanted = tolerance_of(sum(terms), typical_delta(terms, UNITS[form]), DTYPES[form])
        result = er.sum(er.asarray(x.tolist(), form))
        assert result.tolerance("typical").tolist() == wanted, kind


@pytest.mark.parametrize("n", [33, 200, 700])
def test_the_tolerance_of_a_product_is_that_of_the_formula(n: int) -> None:
    """Each product is rounded by u |t| + eta/2, at its worst."""
    rng = np.random.default_rng([4, n])
    u, eta = UNITS["float32"], Fraction(1, 2**149)
    for kind, x in rows_of(rng, n, F32).items():
        y = rng.standard_normal((n, 2)).astype(F32)
        found = er.matmul(x[None], y).tolerance("typical").values()[0]
        for column, tolerance in enumerate(found.tolist()):
            terms = [
                Fraction(float(a)) * Fraction(float(b))
                for a, b in zip(x, y[:, column], strict=True)
            ]
            carried = sum(u * abs(t) + eta / 2 for t in terms) * (1 + u) ** n
            delta = typical_delta(terms, u) + real(carried)
            assert tolerance == tolerance_of(sum(terms), delta, F32), kind


def test_the_probability_of_the_factor() -> None:
    assert Typical.factor == 8
    exact = 2 * mp.exp(-mp.mpf(64) / 2)
    assert abs(Typical().probability / exact - 1) < 1e-14
    assert exact < mp.mpf(2) ** -45


def expressions(rng: np.random.Generator, form: str) -> dict[str, Any]:
    """Results whose sums have more than 32 terms, some of which carry errors."""

    def some(*shape: int) -> Any:
        return er.asarray(rng.standard_normal(shape).tolist(), form)

    x, a, b = some(3, 70), some(3, 50), some(50, 2)
    qkv = some(1, 2, 40), some(1, 45, 40), some(1, 45, 2)
    return {
        "sum": er.sum(x, axis=1),
        "mean": er.mean(x, axis=1),
        "sum of products": er.sum(er.multiply(x, some(3, 70)), axis=1),
        "scan": er.cumulative_sum(x, axis=1),
        "matmul": er.matmul(a, b),
        "matmul of sums": er.matmul(er.add(a, some(3, 50)), b),
        "batches": er.matmul(some(2, 3, 40), some(2, 40, 2)),
        "var": er.var(x, axis=1),
        "norm": er.vector_norm(x, axis=1),
        "softmax": er.softmax(er.multiply(x, some(3, 70)), axis=1),
        "logsumexp": er.logsumexp(x, axis=1),
        "attention": er.scaled_dot_product_attention(*qkv)["output"],
        "layer_norm": er.layer_norm(x, weight=some(70), bias=some(70)),
    }


@pytest.mark.parametrize(
    ("form", "flush"),
    [("float32", False), ("float64", True), ("bfloat16", False)],
)
def test_arrays_and_single_numbers_agree(form: str, flush: bool) -> None:
    """Brackets of whole arrays and of gathered elements hold the certified bound, tightly."""
    rng = np.random.default_rng([5, flush])
    rule = get_standard("typical")
    for name, result in expressions(rng, form).items():
        # Which products of sums a float32 number holds, arrays do not know.
        vague = name == "matmul of sums" and form not in UNITS
        (part,) = next(iter(result.outputs.values())).parts
        node = part.source
        places = np.unique(rng.integers(0, node.size, 2))
        certain = CertifiedBounds(CertifiedReading(300), rule, flush)
        for precise in (False, True):
            reading = FloatBounds(FastReading(True), rule, flush, precise)
            gathered = FloatBounds(FastReading(True), rule, flush, precise).at(node, places).error
            whole = reading.whole(node).map(np.ravel, node.shape).error
            for k, flat in enumerate(places.tolist()):
                bound = certain.bound(node, flat).error
                low, high = (float(x) for x in certain.algebra.bounds(bound))
                for bracket, place in ((whole, flat), (gathered, k)):
                    ends = [
                        float(np.broadcast_to(end, np.shape(bracket.high))[place])
                        for end in (bracket.low, bracket.high)
                    ]
                    assert ends[0] <= high, (name, precise)
                    assert ends[1] >= low, (name, precise)
                    assert not precise or vague or ends[1] <= low * (1 + 2.0**-24), name


@pytest.mark.parametrize("form", ["float32", "float64", "bfloat16", "complex64"])
def test_it_lies_inside_normal_and_sums_have_its_flags(form: str) -> None:
    rng = np.random.default_rng(6)
    for scale in (1.0, 1e-42, 1e37):
        values = np.clip(rng.standard_normal((6, 90)) * scale, -3e38, 3e38)
        if form == "complex64":
            values = (values + 1j * values[::-1])[:3, :40]
        x, y = er.asarray(values.tolist(), form), er.asarray(values.T.tolist(), form)
        for result in (er.sum(x, axis=1), er.matmul(x, y), er.mean(x, axis=1)):
            (output,) = result.outputs.values()
            for flush in (False, True):
                pairs = zip(
                    output.ranges("typical", flush), output.ranges("normal", flush), strict=True
                )
                for mine, normal in pairs:
                    assert not np.any(mine.states & ~normal.states)
                    if form in UNITS:  # no step follows the sum
                        assert np.array_equal(mine.states | 1, normal.states | 1)
                    finite = np.isfinite(mine.low)
                    assert np.all(normal.low[finite] <= mine.low[finite])
                    assert np.all(mine.high[finite] <= normal.high[finite])


@pytest.mark.parametrize("exponent", [-900, -500, 300, 600, 950])
def test_far_from_one_numbers_scale(exponent: int) -> None:
    """Powers of two change nothing, and arrays decide as closely there."""
    rng = np.random.default_rng(14)
    x, y = rng.standard_normal((3, 200)), rng.standard_normal((200, 2))
    x[1] *= 2.0**-20
    for function, given in ((lambda x: er.sum(x, axis=1), (x,)), (er.matmul, (x, y))):
        near, far = function(*given), function(np.ldexp(x, exponent), *given[1:])
        wanted = np.ldexp(near.tolerance("typical").values(), exponent)
        assert np.array_equal(far.tolerance("typical").values(), wanted)
        (part,) = next(iter(far.outputs.values())).parts
        reading = FloatBounds(FastReading(True), get_standard("typical"), False, True)
        error = reading.whole(part.source).error
        assert np.all(error.high <= error.low * (1 + 2.0**-24))


def test_flags_near_the_threshold_are_those_of_normal() -> None:
    """A loop over these terms may reach infinity only because roundings may all go one way."""
    x = np.full(4000, F32(float(np.finfo(F32).max) * (1 - 5e-5) / 4000))
    result = er.sum(er.asarray(x.tolist(), "float32"))
    assert result.may_be("+inf").tolist()
    assert result.may_be("+inf", "typical").tolist()
    assert result.covers(np.float32(np.inf), "typical").all()


def test_nan_and_infinities() -> None:
    x = np.ones((3, 40), F32)
    x[0, 3], x[1, 3], x[2, :2] = np.nan, np.inf, (np.inf, -np.inf)
    result = er.sum(x, axis=1)
    assert np.isnan(result.tolerance("typical").values()).all()
    for flag in ("+inf", "-inf", "nan"):
        assert result.may_be(flag, "typical").tolist() == result.may_be(flag).tolist()


@pytest.mark.parametrize(("n", "least"), [(1000, 3), (10_000, 8), (100_000, 25)])
def test_it_is_sharper_than_normal(n: int, least: float) -> None:
    rng = np.random.default_rng(7)
    for x in (rng.standard_normal(n), rng.random(n)):
        result = er.sum(x.astype(F32))
        ratio = result.tolerance().tolist() / result.tolerance("typical").tolist()
        assert ratio > least
        assert ratio < least * 8


def test_a_row_that_starts_with_one_large_block_or_ends_with_it() -> None:
    """Where few prefixes are large normal may be the smaller bound; it is never exceeded."""
    x = np.zeros(1000, F32)
    x[-1] = 1.0
    x[:100] = np.tile([1e-3, -1e-3], 50)
    result = er.sum(x)
    assert result.tolerance("typical").tolist() == result.tolerance().tolist()
