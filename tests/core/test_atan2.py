"""Angles: `rounded` against flint's balls, C99's special values, libraries, chains, faults."""

from __future__ import annotations

import math

import numpy as np
import pytest

import exactref as er
from exactref_core.formats.catalogue import get_format
from exactref_core.registry import get_standard
from tests.every_op import hostile
from tests.every_op.numbers import MODES, Number, Numbers

pytest.importorskip("flint")
import flint  # only where it is

from tests.core import function_oracle as oracle  # needs flint
from tests.core.test_pow import same, stored, wrong  # needs flint

F32 = np.float32
UNIT = 2.0**-24


def angle(y: float, x: float) -> Number:
    """The angle of a point; on the axes and at specials a multiple of pi/4 by C99's table."""
    if math.isnan(x) or math.isnan(y):
        return math.nan
    ends = []
    for flint.ctx.prec in (400, 3000, 12000):
        if math.isinf(x) or math.isinf(y) or y == 0:
            eighths = round(math.atan2(y, x) / (math.pi / 4))
            if eighths == 0:
                return math.copysign(0.0, y)
            ball = flint.arb.pi() * eighths / 4
        else:
            ball = flint.arb.atan2(flint.arb(y), flint.arb(x))
        ends = [oracle.leading(end) for end in (ball.lower(), ball.upper())]
        if ends[0] == ends[1]:
            return ends[0]
    raise AssertionError((y, x))


def pairs(form: str, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([72, seed, *map(ord, form)])
    fmt = get_format(form)
    y, x = (hostile.elements(rng, fmt, count) for _ in range(2))
    near = rng.standard_normal(count)
    x = np.where(rng.random(count) < 0.3, near, x)
    y = np.where(rng.random(count) < 0.3, rng.standard_normal(count), y)
    y = np.where(rng.random(count) < 0.1, x * rng.choice([1, -1], count), y)
    y = np.where(rng.random(count) < 0.05, 0.0 * rng.choice([1, -1], count), y)
    x = np.where(rng.random(count) < 0.05, 0.0 * rng.choice([1, -1], count), x)
    y, x = (np.asarray(er.asarray(z.tolist(), form).values(), np.float64) for z in (y, x))
    return y, x


@pytest.mark.parametrize("form", ["float64", "float32", "bfloat16", "float16"])
def test_rounded_is_exact(form: str) -> None:
    y, x = pairs(form, 1200, 0)
    exact = Numbers.of([angle(a, b) for a, b in zip(y.tolist(), x.tolist(), strict=True)])
    result = er.atan2(er.asarray(y.tolist(), form), er.asarray(x.tolist(), form))
    bad = wrong(result, exact, form)
    assert bad.size == 0, [(y[i].hex(), x[i].hex()) for i in bad[:5]]


@pytest.mark.parametrize("mode", MODES)
def test_rounded_in_every_mode(mode: str) -> None:
    y, x = pairs("float32", 300, 1)
    exact = Numbers.of([angle(a, b) for a, b in zip(y.tolist(), x.tolist(), strict=True)])
    for form in ("float64", "float16", "float8_e5m2"):
        result = er.atan2(y.astype(F32), x.astype(F32), dtype=form, rounding=mode)
        bad = wrong(result, exact, form, mode)
        assert bad.size == 0, [(y[i].hex(), x[i].hex()) for i in bad[:5]]


def test_special_values() -> None:
    values = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan]
    y, x = (z.ravel() for z in np.meshgrid(values, values))
    result = er.atan2(y, x)
    assert same(np.asarray(result.rounded.values()), np.arctan2(y, x)).all()
    assert np.array_equal(np.asarray(result.may_be("nan")), np.isnan(x) | np.isnan(y))
    assert not np.asarray(result.may_be("+inf")).any()


@pytest.mark.parametrize("form", ["float64", "float32", "bfloat16", "float16"])
def test_torch_and_numpy_are_inside(form: str) -> None:
    torch = pytest.importorskip("torch")
    y, x = (torch.tensor(z).to(getattr(torch, form)) for z in pairs(form, 3000, 2))
    result = er.atan2(y, x)
    outside = ~np.asarray(result.covers(torch.atan2(y, x)))
    assert not outside.any(), [(y[i], x[i]) for i in np.flatnonzero(outside)[:3]]
    if form in ("float64", "float32"):
        assert np.asarray(result.covers(np.arctan2(y.numpy(), x.numpy()))).all()
        assert np.asarray(result.covers(result.normal())).all()


def test_the_bound_is_what_it_says_and_faults_are_outside() -> None:
    y, x = (np.random.default_rng(i).standard_normal(600).astype(F32) for i in (3, 4))
    result, centre = er.atan2(y, x), np.arctan2(y.astype(float), x.astype(float))
    for sign in (1, -1):
        near = (centre * (1 + sign * 7 * UNIT * (1 - 2.0**-20))).astype(F32)
        assert np.asarray(result.covers(near)).all()
        far = (centre * (1 + sign * 12 * UNIT)).astype(F32)
        assert not np.asarray(result.covers(far)).any()
    for fault in (np.arctan(y / x), np.arctan2(x, y), np.arctan2(np.abs(y), x)):
        assert (~np.asarray(result.covers(fault, "any_order"))).mean() > 0.4


def test_the_angle_of_stored_sums() -> None:
    """Whatever order ordinate and abscissa are added in, the cut and the origin included."""
    rng = np.random.default_rng(9)
    a, b = rng.standard_normal((2, 400, 6)).astype(F32)
    a[:200, 1] = -a[:200, 0] * F32(1 + 2.0**-20)
    a[:200, 2:] *= F32(1e-7)
    b[100:300, 1], b[100:300, 2:] = -b[100:300, 0], 0.0
    for result, x in (
        (er.atan2(er.sum(a, axis=1), er.sum(b, axis=1)), lambda seed: stored(b, seed + 9)),
        (er.atan2(er.sum(a, axis=1), b[:, 0]), lambda seed: b[:, 0]),
    ):
        for seed in range(4):
            output = np.arctan2(stored(a, seed).astype(float), x(seed).astype(float)).astype(F32)
            outside = np.flatnonzero(~np.asarray(result.covers(output, "any_order")))
            assert outside.size == 0, (a[outside[0]], b[outside[0]], output[outside[0]])
        assert np.asarray(result.tolerance("any_order")).max() <= 6.3
        far = np.abs(np.asarray(a.sum(axis=1))) > 0.1
        assert np.asarray(result.tolerance("any_order"))[far].max() < 1e-4


def test_zeros_of_either_sign() -> None:
    zero = er.sum(F32([1.0, -1.0]))  # +0, or -0 where a loop starts from -0
    assert np.asarray(er.atan2(zero, F32(-1.0)).covers(F32(-np.pi))).all()
    assert not np.asarray(er.atan2(F32(0.0), F32(-1.0)).covers(F32(-np.pi))).any()
    infinite = er.sum(F32([3e38, 3e38, -3e38]))  # a number that may be stored as an infinity
    angle_of = er.atan2(F32(3e38), infinite)
    for stored_as in (3e38, np.inf):
        output = np.arctan2(F32(3e38), F32(stored_as))
        assert np.asarray(angle_of.covers(output, "any_order")).all()


@pytest.mark.parametrize("form", [np.float32, np.float64])
def test_gradients_at_the_origin_are_nan_or_zero(form: type) -> None:
    """No derivative is there: 0 / 0, or torch's zero times the gradient of the angle."""
    g = np.array([1, -2, 0, np.inf, 1, 1], form)
    y, x = np.array([0, -0.0, 0, 0, 0, np.nan], form), np.array([0, 0, -0.0, 0, np.nan, 0], form)
    result = er.backward.atan2(g, y, x)
    nan, zero = np.full(6, np.nan, form), np.zeros(6, form)
    for name in ("grad_x1", "grad_x2"):
        assert np.isnan(result[name].rounded.values()).all()
        for standard in ("normal", "any_order"):
            assert np.asarray(result[name].covers(nan, standard)).all()
            kept = np.asarray(result[name].covers(zero, standard)).tolist()
            assert kept == [True, True, True, False, False, False]
            assert not np.asarray(result[name].covers(zero + form(1), standard)).any()


@pytest.mark.parametrize("standard", ["normal", "any_order"])
def test_what_is_stored_at_the_origin_is_added_to_the_rest(standard: str) -> None:
    g, x1 = np.float32([[1.0], [0.0]]), np.float32([[1.0], [-0.0]])
    result = er.backward.atan2(g, x1, np.float32([0.0]))["grad_x2"]
    assert np.isnan(np.asarray(result.rounded)).all()  # -1 / 1 + 0 / 0
    for returned in (-1.0, np.nan):  # 0 g at the origin, or the quotient
        assert result.covers(np.float32([returned]), standard).all()
    assert not result.covers(np.float32([-1.1]), standard).any()
    certified = (
        next(iter(result.outputs.values())).parts[0].range_one(get_standard(standard), False, 0)
    )
    assert certified.low.tolist() == result.finite_range(standard)[0].tolist()
