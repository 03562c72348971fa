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
from exactref_core.registry import get_standard, standards

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
    [("float32", False), ("float32", True), ("float64", False), ("bfloat16", False)],
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


# -- what independent roundings do -----------------------------------------------------------------

# Lengths and how many sums of each: more than 100,000 together.
SUMS = {10: 40_000, 33: 25_000, 100: 20_000, 300: 11_000, 1000: 4_000, 3000: 1_000, 10_000: 300}


def drawn(rng: np.random.Generator, rows: int, n: int, form: str) -> list[np.ndarray]:
    """Random rows, of both signs and of one, of one size and of many."""
    count = max(1, rows // 4)
    sizes = np.exp2(rng.integers(-12, 12, (count, n)))
    kinds = [
        rng.standard_normal((count, n)),
        rng.random((count, n)),
        rng.standard_normal((count, n)) * sizes,
        rng.standard_normal((count, n)) + 0.1,
    ]
    return [er.asarray(x, form).values().astype(F32) for x in kinds]


def blocked(x: np.ndarray) -> np.ndarray:
    """Blocks of 32 in index order, neighbours merged level by level."""
    width = -(-x.shape[1] // 32) * 32
    t = np.zeros((x.shape[0], width), F32)
    t[:, : x.shape[1]] = x
    t = np.cumsum(t.reshape(x.shape[0], -1, 32), axis=-1, dtype=F32)[:, :, -1]
    while t.shape[1] > 1:
        odd = t[:, t.shape[1] // 2 * 2 :]
        t = np.concatenate([t[:, 0 : t.shape[1] - odd.shape[1] : 2] + t[:, 1::2], odd], axis=1)
    return t[:, 0]


@pytest.mark.parametrize("form", ["float32", "bfloat16"])
@pytest.mark.parametrize("n", SUMS)
def test_random_sums_in_index_order_and_in_blocks_stay_inside(form: str, n: int) -> None:
    rng = np.random.default_rng([8, n])
    for x in drawn(rng, SUMS[n], n, form):
        result = er.sum(er.asarray(x, form), axis=1)
        for out in (np.cumsum(x, axis=1, dtype=F32)[:, -1], blocked(x)):
            assert result.covers(er.asarray(out, form), "typical").all()


def bfloat16(x: np.ndarray) -> np.ndarray:
    """Rounded to nearest even; exact float32 sums of two bfloat16 numbers round once with it."""
    bits = x.view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)).view(F32)


@pytest.mark.parametrize("n", [10, 33, 100, 300])
def test_loops_that_add_in_bfloat16_obey_the_lemma(n: int) -> None:
    """Errors of loops with u = 2^-8 against the formula without its cap, in float64."""
    rng = np.random.default_rng([9, n])
    worst = 0.0
    for _ in range(4):
        x = bfloat16(rng.standard_normal((SUMS[n] // 4, n)).astype(F32))
        total = x[:, 0]
        for k in range(1, n):
            total = bfloat16(total + x[:, k])
        prefixes = np.cumsum(x.astype(np.float64), axis=1)
        norm = np.sqrt((prefixes**2).sum(axis=1))
        ratio = np.abs(total - prefixes[:, -1]) / (2.0**-8 * norm)
        worst = max(worst, float(ratio.max()))
    assert worst < 8  # of which the growth (1 + u)**(n - 1) is no part
    assert worst > 0.8  # and the errors are of that size


@pytest.mark.parametrize("form", ["float32", "bfloat16"])
def test_products_in_index_order_stay_inside(form: str) -> None:
    rng = np.random.default_rng(10)
    for n in (40, 300, 2000):
        a, b = (er.asarray(rng.standard_normal((12, n)), form).values().astype(F32) for _ in "ab")
        result = er.matmul(er.asarray(a, form), er.asarray(b.T.copy(), form), dtype="float32")
        terms = a[:, None, :] * b[None]
        assert result.covers(np.cumsum(terms, axis=-1, dtype=F32)[..., -1], "typical").all()


def test_constant_terms_break_the_assumption() -> None:
    """Roundings of a loop over one number repeat: its error is beyond typical, inside normal."""
    x = np.full(1_000_000, F32(0.1))
    out = np.cumsum(x, dtype=F32)[-1:]
    result = er.sum(x[None], axis=1)
    assert result.covers(out).all()
    assert not result.covers(out, "typical").any()


# -- how it is asked, and what is said -------------------------------------------------------------


def test_it_is_a_standard_beside_the_others() -> None:
    assert standards() == ("normal", "any_order", "typical")
    assert isinstance(get_standard("typical"), er.extend.Typical)


def test_planted_faults_are_outside_and_what_they_are_called() -> None:
    """A term dropped from 10,000 is seen by typical alone: normal and any order admit as much."""
    rng = np.random.default_rng(11)
    x = rng.random((20, 10_000)).astype(F32)
    good = np.cumsum(x, axis=1, dtype=F32)[:, -1]
    dropped = (good - F32(0.75)).astype(F32)
    result = er.sum(x, axis=1)
    assert result.covers(good, "typical").all()
    assert result.covers(dropped).all()
    assert not result.covers(dropped, "typical").any()
    with pytest.raises(AssertionError) as caught:
        er.assert_covers(dropped, result, standard="typical", rows=2)
    told = str(caught.value)
    assert "0 wrong, 20 correct but worse, 0 normal" in told
    assert "standard: typical" in told
    assert "error/typical" in told
    assert "any order" in told


def test_wrong_stays_what_no_order_gives() -> None:
    x = np.random.default_rng(12).random((4, 10_000)).astype(F32)
    out = np.cumsum(x, axis=1, dtype=F32)[:, -1]
    out[1] += F32(0.75)
    out[2] *= F32(2)
    with pytest.raises(AssertionError, match="1 wrong, 1 correct but worse, 2 normal"):
        er.assert_covers(out, er.sum(x, axis=1), standard="typical")


def test_another_probability_is_a_subclass() -> None:
    class Rare(er.extend.Typical):
        """Exceeded with a probability of at most 2 exp(-72)."""

        name = "rare"
        factor = 12

    class Provider:
        @staticmethod
        def exactref_standards() -> list[Any]:
            return [Rare()]

    x = np.random.default_rng(13).random(50_000).astype(F32)
    er.extend.register(Provider)
    try:
        result = er.sum(x)
        ratio = result.tolerance("rare").tolist() / result.tolerance("typical").tolist()
    finally:
        er.extend.unregister(Provider)
    assert 1.4 < ratio < 1.6
