"""Gradients of powers: zeros and negative bases, exponents less 1, flushed bases."""

from __future__ import annotations

import numpy as np
import pytest

import exactref as er
from exactref_core.arithmetic import pair_bounds

F32 = np.float32
ELEMENT = pair_bounds.element


@pytest.mark.parametrize("form", ["float64", "float32"])
def test_gradients_are_torchs_at_zeros_and_negative_bases(form: str) -> None:
    torch = pytest.importorskip("torch")
    values = [0.0, -0.0, 1.0, -1.0, 0.5, -1.5, 2.0, 3.0, -3.0, 7.25, -0.25, 17.0]
    x, y = (
        torch.tensor(z.ravel(), dtype=getattr(torch, form), requires_grad=True)
        for z in (np.meshgrid(values, values))
    )
    torch.pow(x, y).backward(torch.full_like(x, 1.5).detach())
    found = er.backward.pow(torch.full_like(x, 1.5).detach(), x.detach(), y.detach())
    for name, tensor in (("grad_x1", x), ("grad_x2", y)):
        inside = np.asarray(found[name].covers(tensor.grad))
        bad = [(float(x[i]), float(y[i]), float(tensor.grad[i])) for i in np.flatnonzero(~inside)]
        assert inside.all(), (name, bad[:5])
        nan = np.isnan(np.asarray(found[name].rounded.values()))
        assert np.array_equal(nan, np.isnan(tensor.grad.numpy()))


def test_gradients_of_flushed_bases_have_bounds() -> None:
    x, y, g = F32([1e-40, -1e-40, 2.0]), F32([2.0, 3.0, 1e-40]), F32([1.0, 1.0, 1.0])
    result = er.backward.pow(g, x, y)["grad_x1"]
    assert np.isfinite(np.asarray(result.tolerance(flush_to_zero=True))).all()
    zeros = F32([0.0, 0.0, 0.0])
    assert np.asarray(result.covers(zeros, flush_to_zero=True)).all()


def test_exponents_less_one_of_negative_bases_may_change_their_parity() -> None:
    """Beyond 2^24 a float32 exponent less 1 rounds to an even integer: the sign is not fixed."""
    x2 = F32([2.0**24, 2.0**24 + 2, -(2.0**24) + 1, -(2.0**24), 2.0**25, -(2.0**30)])
    x1 = F32([-1, -1, -1, -1, -1, -(1 - 2.0**-24)])
    loose = np.asarray([False, True, False, True, True, True])
    result = er.backward.pow(np.ones(6, F32), x1, x2)["grad_x1"]
    less = np.asarray([int(y) - 1 for y in x2])
    exact = np.asarray([-1.0 if n % 2 else 1.0 for n in less.tolist()]) * x2
    exact = exact * np.exp(less * np.log(-x1.astype(float)))
    assert np.allclose(result.rounded.values(), exact, rtol=1e-6)
    with np.errstate(all="ignore"):
        stored_less = x2 - F32(1)
        kernel = x2 * np.power(x1, stored_less)
    assert (np.sign(kernel) != np.sign(exact)).tolist() == loose.tolist()
    assert np.asarray(result.covers(kernel)).all()
    assert np.asarray(result.covers(-kernel)).tolist() == loose.tolist()
    positive = er.backward.pow(np.ones(6, F32), -x1, x2)["grad_x1"]
    assert not np.asarray(positive.covers(-np.asarray(positive.rounded))).any()


def test_tiny_exponents_less_one_of_negative_bases_are_stored_as_minus_one() -> None:
    """The power is NaN, and what a kernel computes is that of the exponent -1: both are correct."""
    x1 = F32([-2, -2, -2, -1e-30, -3e38, -2, 2])
    x2 = F32([1e-20, -1e-20, 2.0**-25, -1e-15, 2.0**-100, 2.0**-23, 1e-20])
    result = er.backward.pow(np.full(7, 4, F32), x1, x2)["grad_x1"]
    with np.errstate(all="ignore"):
        kernel = F32(4) * (x2 * np.power(x1, x2 - F32(1)))
    assert np.isnan(kernel).tolist() == [False] * 5 + [True, False]
    nan = [True] * 6 + [False]
    assert np.isnan(result.rounded.values()).tolist() == nan
    assert np.asarray(result.covers(kernel)).all()
    assert np.asarray(result.covers(np.full(7, np.nan, F32))).tolist() == nan
    assert not np.asarray(result.covers(3 * kernel))[[0, 1, 2, 3, 6]].any()


@pytest.mark.parametrize("form", [np.float32, np.float64])
def test_fractions_less_one_of_negative_bases_may_be_stored_as_integers(form: type) -> None:
    """Where x2 - 1 needs a bit more than x2, in ties: as where it is beyond all fractions."""
    u = float(np.finfo(form).eps)
    ties = [-1 - u, -2 + u, -1 + u / 2, -3 - 2 * u, -1 / u + 0.5, -0.5 / u + 0.25, -0.5 / u + 0.75]
    others = [-1.3, -1 - 2 * u, -3 + 2 * u, -3.5, 1.5, -0.5 / u + 0.5]
    x2 = np.array(ties + others, form)
    assert x2.astype(float).tolist()[: len(ties)] == ties
    x1 = np.full(x2.shape, -1, form)
    x1[:4] = -2
    with np.errstate(all="ignore"):
        kernel = form(4) * (x2 * np.power(x1, x2 - form(1)))
    among = np.arange(x2.size) < len(ties)
    assert np.isfinite(kernel).tolist() == among.tolist()
    number = np.where(among, kernel, x2)
    for standard in ("normal", "any_order"):
        result = er.backward.pow(np.full(x2.shape, 4, form), x1, x2)["grad_x1"]
        assert np.isnan(result.rounded.values()).all()
        assert np.asarray(result.covers(kernel, standard)).all()
        assert np.asarray(result.covers(np.full(x2.shape, np.nan, form), standard)).all()
        assert np.asarray(result.covers(number, standard)).tolist() == among.tolist()
        assert not np.asarray(result.covers(form(1.01) * number, standard)).any()


def test_a_stored_exponent_may_give_an_infinity() -> None:
    """2^-60 less 1 is -1, and 2^-60 / x1 times a gradient overflows: with either sign, or NaN."""
    g, x2 = np.array([1e300, -1e300]), np.full(2, 2.0**-60)
    result = er.backward.pow(g, np.full(2, -1e-100), x2)["grad_x1"]
    for output in ([-np.inf, np.inf], [np.nan, np.nan]):
        assert np.asarray(result.covers(np.array(output), "any_order")).all()
    small = er.backward.pow(g / 1e300, np.full(2, -1e-100), x2)["grad_x1"]
    assert not np.asarray(small.covers(np.array([-np.inf, np.inf]), "any_order")).any()


def test_how_far_powers_move_with_their_exponents_is_told_by_mpfr_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without a tight float64 bracket each element is certified: the same bounds to the bit."""
    rng = np.random.default_rng(8)
    x = np.abs(1 + rng.standard_normal(120) * rng.choice([1e-5, 1, 30], 120)).astype(F32)
    y = (rng.standard_normal(120) * rng.choice([1e-3, 1, 30], 120)).astype(F32)
    x[:3], x[3::9] = [1.0, 0.0, np.inf], -2.0
    y[3::9] = np.rint(y[3::9])
    found, counts = [], []
    for close in (pair_bounds.CLOSE, 0.0):
        monkeypatch.setattr(pair_bounds, "CLOSE", close)
        calls = []
        monkeypatch.setattr(pair_bounds, "element", lambda *a, c=calls: c.append(1) or ELEMENT(*a))
        result = er.backward.pow(np.ones(120, F32), x, y)["grad_x1"]
        found.append([result.tolerance(s).tolist() for s in ("normal", "any_order")])
        counts.append(len(calls))
    assert np.array_equal(*found, equal_nan=True)
    assert counts[0] < counts[1] / 2
