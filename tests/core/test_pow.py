"""Powers: `rounded` against flint's balls, C99's special values, libraries, chains, faults."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.formats.catalogue import get_format
from tests.every_op import hostile
from tests.every_op.numbers import MODES, Number, Numbers

pytest.importorskip("flint")
import flint  # only where it is

from tests.core import function_oracle as oracle  # needs flint

F32 = np.float32
INF, NAN = np.inf, np.nan
UNIT = 2.0**-24
EXPONENTS = (0.0, -0.0, 0.5, -0.5, 0.25, 0.125, 1.0, -1.0, 1.5, 2.0, 3.0, -2.0, -3.0, 4.0, 10.0)


def power(x: float, y: float) -> Number:
    """x^y; of specials what the C library says."""
    if not (math.isfinite(x) and math.isfinite(y)) or x == 0 or y == 0 or x == 1:
        with np.errstate(all="ignore"):
            return oracle.of_float(float(np.power(np.float64(x), np.float64(y))))
    if x < 0:
        if y != math.floor(y):
            return NAN
        found = power(-x, y)
        return oracle.negated(found) if math.fmod(y, 2.0) != 0 else found
    bits = math.log2(x) * y if x != 1 else 0.0
    if abs(bits) > 1 << 19:
        return oracle.BEYOND if bits > 0 else oracle.ABOVE_ZERO
    for precision in oracle.PRECISIONS:
        flint.ctx.prec = precision
        ball = flint.arb(x) ** flint.arb(y)
        ends = [oracle.leading(end) for end in (ball.lower(), ball.upper())]
        if ends[0] == ends[1]:
            return ends[0]
    middle = oracle.leading(oracle.near(ball))
    assert isinstance(middle, float) or not middle[3], (x, y)
    return middle


def pairs(form: str, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of every size, exact powers and their neighbours, bases near 1, specials."""
    rng = np.random.default_rng([71, seed, *map(ord, form)])
    fmt = get_format(form)
    wide = hostile.elements(rng, fmt, count)
    whole = rng.integers(1, 40, count) ** rng.choice([1, 2, 4], count)
    near = 1 + rng.integers(-6, 7, count) * 2.0 ** -rng.integers(1, fmt.precision, count)
    exact = whole * 2.0 ** rng.integers(-9, 9, count)
    beside = exact * (1 + rng.integers(-1, 2, count) * 2.0 ** (1 - fmt.precision))
    x = np.choose(rng.integers(0, 5, count), [wide, whole, near, exact, beside])
    x = np.where(rng.random(count) < 0.2, -x, x)
    y = np.choose(
        rng.integers(0, 4, count),
        [
            rng.choice(EXPONENTS, count),
            rng.standard_normal(count) * rng.choice([1.0, 30.0, 1e4], count),
            rng.integers(-60, 60, count).astype(float),
            hostile.elements(rng, fmt, count),
        ],
    )
    x, y = (np.asarray(er.asarray(z.tolist(), form).values(), np.float64) for z in (x, y))
    return x, y


def same(got: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    equal = (got == wanted) & (np.signbit(got) == np.signbit(wanted))
    return equal | (np.isnan(got) & np.isnan(wanted))


def wrong(result: Any, exact: Numbers, form: str, mode: str = "nearest_even") -> np.ndarray:
    wanted = exact.round(get_format(form), mode, "ieee")
    return np.flatnonzero(~same(np.asarray(result.rounded.values(), np.float64), wanted))


@pytest.mark.parametrize("form", ["float64", "float32", "bfloat16", "float16"])
def test_rounded_is_exact(form: str) -> None:
    x, y = pairs(form, 1500, 0)
    exact = Numbers.of([power(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)])
    result = er.pow(er.asarray(x.tolist(), form), er.asarray(y.tolist(), form))
    bad = wrong(result, exact, form)
    assert bad.size == 0, [(x[i].hex(), y[i].hex()) for i in bad[:5]]


@pytest.mark.parametrize("mode", MODES)
def test_rounded_in_every_mode(mode: str) -> None:
    x, y = pairs("float32", 400, 1)
    exact = Numbers.of([power(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)])
    for form in ("float64", "float16", "float8_e5m2"):
        result = er.pow(x.astype(F32), y.astype(F32), dtype=form, rounding=mode)
        bad = wrong(result, exact, form, mode)
        assert bad.size == 0, [(x[i].hex(), y[i].hex()) for i in bad[:5]]


def test_exact_cases_end() -> None:
    # (2^k + 1)^2 lies midway between two float32 numbers for k = 24 - 12; roots are themselves.
    x = np.asarray([4097.0, 1 + 2.0**-12, 3.0**10, 2.0**-1074, 1e300, 1 + 2.0**-52, 49.0])
    y = np.asarray([2.0, 2.0, -0.5, 0.5, 1e300, 2.0**60, 0.5])
    found = er.pow(x, y)
    assert found.rounded.tolist()[3] == 2.0**-537
    assert found.rounded.tolist()[4] == INF
    assert np.isclose(found.rounded.tolist()[5], math.exp(256.0), rtol=1e-12)
    assert found.rounded.tolist()[6] == 7.0
    tie = er.pow(np.asarray([4097.0]), np.asarray([2.0]), dtype="float32")
    assert tie.rounded.tolist() == [4097.0**2 - 1]
    # In chains bases and exponents are rationals that no float is: 3^-2 = 1/9, (1/9)^-(1/2) = 3.
    third = er.divide(np.asarray([1.0]), np.asarray([9.0]))
    assert er.pow(third, np.asarray([-0.5])).exact.value(0).radius == 0


def test_special_values() -> None:
    values = [0.0, -0.0, 1.0, -1.0, INF, -INF, NAN, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 2.5]
    x, y = (z.ravel() for z in np.meshgrid(values, values))
    with np.errstate(all="ignore"):
        wanted = np.power(x, y)
    result = er.pow(x, y)
    plain = ~np.isfinite(wanted) | (wanted == np.rint(wanted))
    assert same(np.asarray(result.rounded.values()), wanted)[plain].all()
    assert np.asarray(result.covers(wanted)).all()
    nan = np.isnan(wanted)
    assert np.array_equal(np.asarray(result.may_be("nan")), nan)


@pytest.mark.parametrize("form", ["float64", "float32", "bfloat16"])
def test_where_the_standard_says_1_nothing_else_is_right(form: str) -> None:
    x, y = (z.ravel() for z in np.meshgrid([2.5, 1, -1, 3e38, 1e-40, INF, NAN, -7], [0, -0.0]))
    more = [(1.0, v) for v in (2.5, NAN, INF, -INF, -1e30, 1e-40)] + [(-1.0, INF), (-1.0, -INF)]
    x, y = np.append(x, [a for a, _ in more]), np.append(y, [b for _, b in more])
    result = er.pow(er.asarray(x.tolist(), form), er.asarray(y.tolist(), form))
    ones = er.asarray(np.ones(x.size).tolist(), form)
    unit = 2.0 ** -(get_format(form).precision - 1)
    for standard in ("normal", "any_order"):
        assert not np.asarray(result.tolerance(standard)).any()
        assert np.asarray(result.covers(ones, standard)).all()
        for wrong in (1 + unit, 1 - unit / 2):
            output = er.asarray(np.full(x.size, wrong).tolist(), form)
            assert not np.asarray(result.covers(output, standard)).any()
    # Arguments nearby leave a library its error, and so does an exponent of 1.
    for a, b in ((1 + 2 * unit, 0.5), (2.5, unit), (3.0, 1.0), (-1.0, 2.0)):
        if form == "bfloat16":
            break  # whose unit is far above the error of a library in float32
        near = er.pow(er.asarray([a], form), er.asarray([b], form))
        assert np.asarray(near.covers(er.asarray(near.rounded.values() * (1 + unit), form))).all()


def test_exponents_and_bases_of_chains_that_are_certain() -> None:
    a = F32([3.0, 1e30, 0.5])
    none, one = er.subtract(a, a), er.divide(a, a)
    unsure = er.sum(F32([[1.0, 2.0**-30, -1.0]] * 3), axis=1)
    for result in (er.pow(unsure, none), er.pow(one, unsure), er.pow(one, F32(INF))):
        assert not np.asarray(result.tolerance("any_order")).any()
    assert np.asarray(er.pow(a[:1], unsure[:1]).tolerance()).all()
    flushed = er.pow(F32([2.0]), F32([1e-40]))
    assert np.asarray(flushed.covers(F32([1.0]), flush_to_zero=True)).all()


@pytest.mark.parametrize("form", ["float64", "float32", "bfloat16", "float16"])
def test_torch_and_numpy_are_inside(form: str) -> None:
    torch = pytest.importorskip("torch")
    x, y = (torch.tensor(z).to(getattr(torch, form)) for z in pairs(form, 4000, 2))
    result = er.pow(x, y)
    outside = ~np.asarray(result.covers(torch.pow(x, y)))
    assert not outside.any(), [(x[i], y[i]) for i in np.flatnonzero(outside)[:3]]
    if form in ("float64", "float32"):
        with np.errstate(all="ignore"):
            assert np.asarray(result.covers(np.power(x.numpy(), y.numpy()))).all()
        assert np.asarray(result.covers(result.normal())).all()


def test_the_bound_is_what_it_says() -> None:
    x, y = (z.astype(F32) for z in pairs("float32", 1500, 3))
    with np.errstate(all="ignore"):
        centre = np.power(x.astype(float), y.astype(float))
    some = np.isfinite(centre) & (abs(centre) > 1e-36) & (abs(centre) < 1e38)
    some &= (x != 1) & (y != 0)  # where nothing but 1 is right
    x, y, centre = x[some], y[some], centre[some]
    result = er.pow(x, y)
    for sign in (1, -1):
        near = (centre * (1 + sign * 9 * UNIT * (1 - 2.0**-20))).astype(F32)
        assert np.asarray(result.covers(near)).all()
        far = (centre * (1 + sign * 14 * UNIT)).astype(F32)
        assert not np.asarray(result.covers(far)).any()


FAULTS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "by a float32 logarithm": lambda x, y: np.exp(y * np.log(x)),
    "of a bfloat16 exponent": lambda x, y: (
        x ** np.asarray(er.asarray(y.tolist(), "bfloat16").values(), F32)
    ),
    "of a whole exponent": lambda x, y: x ** np.trunc(y),
    "the other way round": lambda x, y: y**x,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_outside(fault: str) -> None:
    rng = np.random.default_rng(6)
    x, y = (rng.uniform(9, 15, 300).astype(F32) for _ in range(2))
    outside = ~np.asarray(er.pow(x, y).covers(FAULTS[fault](x, y).astype(F32), "any_order"))
    assert outside.mean() > 0.4, outside.mean()


def stored(terms: np.ndarray, seed: int) -> np.ndarray:
    """Sums as some kernel adds them up in float32."""
    order = np.random.default_rng(seed).permutation(terms.shape[-1])
    return np.add.accumulate(terms[..., order], axis=-1, dtype=F32)[..., -1]


@pytest.mark.parametrize("kind", ["positive", "both", "cancelling"])
def test_powers_of_stored_sums(kind: str) -> None:
    """Whatever order the sums are added in, base and exponent: inside under ``any_order``."""
    rng = np.random.default_rng([8, *map(ord, kind)])
    a = rng.standard_normal((300, 6)).astype(F32)
    if kind == "positive":
        a = np.abs(a)
    if kind == "cancelling":
        a[:, 1] = -a[:, 0] * F32(1 + 2.0**-20)
        a[:, 2:] *= F32(1e-7)
    b = np.round(rng.standard_normal((300, 6)) * 2).astype(F32)
    whole = np.round(rng.standard_normal(300) * 3).astype(F32)
    exponents = er.sum(b * F32(0.75), axis=1)
    for result, y in (
        (er.pow(er.sum(a, axis=1), whole), lambda seed: whole),
        (er.pow(er.sum(a, axis=1), exponents), lambda seed: stored(b * F32(0.75), seed + 9)),
    ):
        for seed in range(4):
            with np.errstate(all="ignore"):
                output = np.power(stored(a, seed).astype(float), y(seed).astype(float)).astype(F32)
            outside = np.flatnonzero(~np.asarray(result.covers(output, "any_order")))
            assert outside.size == 0, (a[outside[0]], b[outside[0]], output[outside[0]])


def test_poles_and_edges_of_stored_bases() -> None:
    near = er.sum(F32([1.0, 2.0**-30, -1.0]))  # 2^-30 give or take 2^-24 or so
    assert np.isinf(er.pow(near, F32(-1.0)).tolerance().tolist())
    assert er.pow(near, F32(-1.0)).may_be("+inf").tolist()
    root = er.pow(near, F32(0.5))
    assert root.may_be("nan").tolist()
    assert not root.may_be("+inf").tolist()
    assert np.asarray(root.covers(F32(np.sqrt(2.0**-23)))).all()
    assert not np.asarray(root.covers(F32(0.1))).any()
    assert er.pow(near, F32(0.0)).tolerance().tolist() == 0
    large = er.pow(er.sum(F32([3e38, 3e38])), F32(-1.0))  # stored as inf, whose power is 0
    assert np.asarray(large.covers(F32(0.0))).all()


def test_flushed_inputs_are_zero_or_themselves() -> None:
    x, y = F32([1e-40, 1e-40, 2.0]), F32([-0.5, 0.5, 1e-40])
    result = er.pow(x, y)
    for output in ([np.inf, 0.0, 1.0], np.power(x.astype(float), y.astype(float))):
        assert np.asarray(result.covers(F32(output), flush_to_zero=True)).all()
    assert not np.asarray(result.covers(F32([1e19, 3e-20, 1.1]), flush_to_zero=True)).any()
    assert np.isfinite(np.asarray(result.tolerance(flush_to_zero=True))).all()


@pytest.mark.parametrize("offset", [300.0, 301.0])
def test_no_exponent_that_may_be_an_integer_gives_nan(offset: float) -> None:
    """(-1)^y of a y that is an integer beyond 2^53, of which only an enclosure is known."""
    root = er.cbrt(er.add(np.array([2.0**60]), np.array([offset])))
    y = er.multiply(er.multiply(root, root), root)
    with pytest.raises(er.UndecidedError):
        er.pow(np.array([-1.0]), y).rounded  # noqa: B018


def test_the_exponential_of_a_logarithm_is_known_to_be_an_integer() -> None:
    y = er.exp(er.log(er.add(np.array([2.0**60, 2.0**60]), np.array([300.0, 301.0]))))
    assert er.pow(np.array([-1.0, -1.0]), y).rounded.tolist() == [1.0, -1.0]
