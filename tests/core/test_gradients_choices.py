"""Gradients of choices: every pair of hostile numbers, ties, NaN rules, torch, chains, faults."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import exactref as er
from exactref_core.errors import InputError

F32 = np.float32
HOSTILE = (-math.inf, -1.0, -1e-45, -0.0, 0.0, 1e-45, 1.0, 1 + 2.0**-23, math.inf, math.nan)
RULES = [(nan, ties) for nan in ("propagate", "ignore") for ties in ("even", "first")]


def pairs() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    grid = np.asarray(list(itertools.product(HOSTILE, HOSTILE)), F32)
    grad = np.random.default_rng(1).standard_normal(len(grid)).astype(F32)
    return grad, grid[:, 0], grid[:, 1]


def shares(a: float, b: float, nan: str, ties: str) -> tuple[float, float]:
    """What each of two numbers has of the gradient of the larger one."""
    missing = a != a, b != b
    if any(missing):
        if nan == "propagate":
            return 1.0, 1.0
        return (1.0, 0.0) if missing[1] else (0.0, 1.0)
    if a == b:
        return (0.5, 0.5) if ties == "even" else (1.0, 0.0)
    return (1.0, 0.0) if a > b else (0.0, 1.0)


@pytest.mark.parametrize(("nan", "ties"), RULES)
@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_pairs_are_decided_exactly(name: str, nan: str, ties: str) -> None:
    grad, a, b = pairs()
    sign = 1 if name == "maximum" else -1
    rows = zip((sign * a).tolist(), (sign * b).tolist(), strict=True)
    wanted = np.asarray([shares(x, y, nan, ties) for x, y in rows], F32).T * grad
    result = getattr(er.backward, name)(grad, a, b, nan=nan, ties=ties)
    for key, want in zip(("grad_x1", "grad_x2"), wanted, strict=True):
        one = result[key]
        assert np.array_equal(np.asarray(one.rounded.values(), F32), want)
        assert np.array_equal(np.asarray(one.normal().values(), F32), want)
        assert not np.asarray(one.tolerance()).any()
        for fault in (grad, grad / 2, np.zeros_like(grad)):
            assert np.array_equal(np.asarray(one.covers(fault)), fault == want)


def expected_clip(x: float, low: float | None, high: float | None) -> tuple[float, float, float]:
    """Torch's rule: x inside or at the bounds, min below it, max above it or below min."""
    inside = (low is None or x >= low) and (high is None or x <= high)
    under = low is not None and x < low and (high is None or low < high)
    over = high is not None and (x > high or (low is not None and high < low))
    return float(inside), float(under), float(over)


@pytest.mark.parametrize("given", [(True, True), (True, False), (False, True)])
def test_clip_is_decided_exactly(given: tuple[bool, bool]) -> None:
    values = HOSTILE if sum(given) == 1 else HOSTILE[::2]
    grid = np.asarray(list(itertools.product(HOSTILE, values, values)), F32)
    grad = np.random.default_rng(2).standard_normal(len(grid)).astype(F32)
    bounds = [grid[:, i + 1] if given[i] else None for i in (0, 1)]
    result = er.backward.clip(grad, grid[:, 0], *bounds)
    rows = [
        expected_clip(x, low if given[0] else None, high if given[1] else None)
        for x, low, high in grid.tolist()
    ]
    missing = np.isnan(grid[:, [True, *given]]).any(-1)
    for key, share in zip(("x", "min", "max"), np.asarray(rows).T, strict=True):
        if key != "x" and not given[key == "max"]:
            assert f"grad_{key}" not in result.outputs
            continue
        one = result[f"grad_{key}"]
        want = np.where(share, grad, 0).astype(F32)
        assert np.array_equal(np.asarray(one.rounded.values(), F32), want), key
        # Of NaN the gradient of x may be passed on, by kernels that ask what is beyond.
        either = missing & (key == "x")
        assert not np.asarray(one.tolerance())[~either].any()
        wrong = np.where(share, 0, grad).astype(F32)
        assert (np.asarray(one.covers(wrong)) == either).all()


def test_clip_that_ignores_nan_is_a_minimum_of_a_maximum() -> None:
    """Away from ties the gradients are those of the two choices, one after the other."""
    grid = np.asarray(list(itertools.product((math.nan, 1.0), (math.nan, 0, 2, 5), (math.nan, 3))))
    x, low, high = grid.astype(F32).T
    grad = np.ones(len(x), F32)
    result = er.backward.clip(grad, x, low, high, nan="ignore")
    raised = np.fmax(x, low)
    outer = er.backward.minimum(grad, raised, high, nan="ignore", ties="first")
    inner = er.backward.maximum(outer["grad_x1"].rounded, x, low, nan="ignore", ties="first")
    missing = np.isnan(np.fmin(raised, high))
    for key, other in (
        ("grad_x", inner["grad_x1"]),
        ("grad_min", inner["grad_x2"]),
        ("grad_max", outer["grad_x2"]),
    ):
        mine, theirs = (np.asarray(r.rounded.values()) for r in (result[key], other))
        assert np.array_equal(mine[~missing], theirs[~missing]), key


@pytest.mark.parametrize("form", ["float64", "float32", "bfloat16", "float16"])
@pytest.mark.parametrize("name", ["maximum", "minimum", "fmax", "fmin", "clip"])
def test_torch_is_equal(name: str, form: str) -> None:
    torch = pytest.importorskip("torch")
    dtype = getattr(torch, form)
    torch.manual_seed(3)
    leaves = [torch.randint(-2, 3, (40, 5)).to(dtype).requires_grad_() for _ in range(3)]
    leaves = leaves if name == "clip" else leaves[:2]
    output = torch.clamp(*leaves) if name == "clip" else getattr(torch, name)(*leaves)
    grad = torch.randn(40, 5).to(dtype)
    output.backward(grad)
    own = {"fmax": "maximum", "fmin": "minimum"}.get(name, name)
    how = {"nan": "ignore", "ties": "first"} if own != name else {}
    result = getattr(er.backward, own)(grad, *(x.detach() for x in leaves), **how)
    for leaf, key in zip(leaves, result.outputs, strict=True):
        assert np.asarray(result[key].covers(leaf.grad)).all()
        assert not np.asarray(result[key].covers(leaf.grad + 1)).any()


def rows_of(seed: int, n: int) -> np.ndarray:
    """Rows with ties, infinities and, in the last ones, NaN."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-2, 3, (30, n)).astype(F32)
    x[3] = -np.inf
    x[4, rng.random(n) < 0.5] = np.inf
    x[5] = rng.choice(F32([-0.0, 0.0]), n)
    x[20:, :][rng.random((10, n)) < 0.3] = np.nan
    x[29] = np.nan
    return x


def expected_rows(x: np.ndarray, nan: str, ties: str) -> np.ndarray:
    """What each element has of its row's gradient, 1 / n of n that share it."""
    found = np.zeros(x.shape)
    for row, out in zip(x, found, strict=True):
        missing = np.isnan(row)
        if missing.any() and (nan == "propagate" or missing.all()):
            top = missing
        else:
            top = row == np.max(row[~missing])
        places = np.flatnonzero(top)
        places = places[:1] if ties == "first" else places
        out[places] = 1 / len(places)
    return found


@pytest.mark.parametrize(("nan", "ties"), RULES)
@pytest.mark.parametrize("name", ["max", "min"])
def test_rows_are_decided_exactly(name: str, nan: str, ties: str) -> None:
    for n in (1, 2, 7, 40):
        x = rows_of(n, n)
        grad = np.random.default_rng(4).standard_normal(30).astype(F32)
        share = expected_rows(x if name == "max" else -x, nan, ties)
        result = getattr(er.backward, name)(grad, x, axis=1, nan=nan, ties=ties)
        rounded = np.asarray(result.rounded.values(), F32)
        assert np.array_equal(rounded == 0, share == 0)
        assert np.array_equal(rounded, (grad[:, None].astype(float) * share).astype(F32))
        assert np.asarray(result.covers(result.normal())).all()
        quotients = np.where(share > 0, grad[:, None] / np.rint(1 / np.where(share, share, 1)), 0)
        assert np.asarray(result.covers(quotients.astype(F32))).all()
        alone = share == 1
        assert not np.asarray(result.tolerance())[alone | (share == 0)].any()
        whole = np.where(share > 0, grad[:, None], 0).astype(F32)
        assert np.array_equal(np.asarray(result.covers(whole)), alone | (share == 0))


@pytest.mark.parametrize("form", ["float64", "float32", "bfloat16"])
def test_torch_reductions_are_inside(form: str) -> None:
    torch = pytest.importorskip("torch")
    dtype = getattr(torch, form)
    torch.manual_seed(5)
    x = torch.randint(-3, 4, (6, 4, 5)).to(dtype)
    for name in ("max", "min"):
        leaf = x.clone().requires_grad_()
        grad = torch.randn(6, 5).to(dtype)
        getattr(torch, f"a{name}")(leaf, 1).backward(grad)
        assert np.asarray(getattr(er.backward, name)(grad, x, axis=1).covers(leaf.grad)).all()
        leaf = x.clone().requires_grad_()
        getattr(torch, name)(leaf, 1).values.backward(grad)
        result = getattr(er.backward, name)(grad, x, axis=1, ties="first")
        assert np.asarray(result.covers(leaf.grad)).all()
        leaf = x.clone().requires_grad_()
        getattr(torch, name)(leaf).backward(grad[0, 0])
        assert np.asarray(getattr(er.backward, name)(grad[0, 0], x).covers(leaf.grad)).all()
        leaf = x.clone().requires_grad_()
        torch_axes = getattr(torch, f"a{name}")(leaf, (0, 2), keepdim=True)
        torch_axes.backward(torch.ones_like(torch_axes))
        result = getattr(er.backward, name)(
            torch.ones_like(torch_axes), x, axis=(0, 2), keepdims=True
        )
        assert np.asarray(result.covers(leaf.grad)).all()


def test_what_a_chain_stored_may_tie_or_not() -> None:
    """Exponentials that differ by less than their errors: each may be the larger one stored."""
    x = np.repeat(F32([[1.0, 0.5], [2.0, 1.5], [0.25, 3.0]]), 2, axis=1)
    x[:, 1] = np.nextafter(x[:, 0], F32(9))
    powers = er.exp(x)
    stored = np.exp(x.astype(np.float64)).astype(F32)
    grad = F32([1.0, 2.0, 3.0])
    result = er.backward.max(grad, powers, axis=1)
    for units in itertools.product((-1, 0, 1), repeat=2):
        moved = stored.copy()
        for place, unit in enumerate(units):
            moved[:, place] += unit * np.spacing(stored[:, place])
        tied = moved == moved.max(axis=1, keepdims=True)
        output = np.where(tied, grad[:, None] / tied.sum(axis=1, keepdims=True), 0).astype(F32)
        assert np.asarray(result.covers(output)).all(), units
    assert (np.asarray(result.tolerance()) <= 4 * grad[:, None]).all()
    # A third as large is below for certain.
    assert np.asarray(result.tolerance())[1, 2:].tolist() == [0.0, 0.0]
    sure = er.backward.maximum(grad, er.exp(F32([1.0, 2.0, 3.0])), er.exp(F32([0.5, 2.5, 1.0])))
    assert sure["grad_x1"].rounded.tolist() == [1.0, 0.0, 3.0]
    assert not np.asarray(sure["grad_x1"].tolerance()).any()


def test_flushed_numbers_compare_as_zeros() -> None:
    tiny, zero, grad = F32([1e-40, -1e-40]), F32([0.0, 0.0]), F32([2.0, 2.0])
    result = er.backward.maximum(grad, tiny, zero)["grad_x1"]
    half = F32([1.0, 1.0])
    assert np.asarray(result.covers(F32([2.0, 0.0]))).all()
    assert not np.asarray(result.covers(half)).any()
    assert np.asarray(result.covers(half, flush_to_zero=True)).all()
    rows = er.backward.max(F32(2.0), np.stack([tiny[:1], zero[:1]], axis=1)[0])
    assert np.asarray(rows.covers(half, flush_to_zero=True)).all()
    assert not np.asarray(rows.covers(half)).any()


def test_broadcast_gradients_are_sums() -> None:
    rng = np.random.default_rng(6)
    a, b = rng.integers(-2, 3, (50, 3)).astype(F32), rng.integers(-2, 3, 3).astype(F32)
    grad = rng.standard_normal((50, 3)).astype(F32)
    result = er.backward.maximum(grad, a, b)["grad_x2"]
    terms = np.where(a == b, grad / 2, np.where(a < b, grad, 0)).astype(F32)
    output = np.add.accumulate(terms, axis=0)[-1]
    assert np.asarray(result.covers(output)).all()
    dropped = output - terms[np.abs(terms).argmax(axis=0), np.arange(3)]
    assert not np.asarray(result.covers(dropped, "any_order")).any()


@pytest.mark.parametrize("name", ["maximum", "max"])
def test_rules_are_checked(name: str) -> None:
    args = [np.ones(2, F32)] * (3 if name == "maximum" else 1)
    args = args if name == "maximum" else [F32(1.0), *args]
    with pytest.raises(InputError, match="ties is one of"):
        getattr(er.backward, name)(*args, ties="last")


@pytest.mark.parametrize("name", ["max", "min"])
def test_a_mask_of_what_is_chosen_makes_nan_of_infinities(name: str) -> None:
    """grad_output times 1 or 0, as torch and others have it, or a choice: both are correct."""
    x, grad = np.array([[0, 1, 2], [2, 1, 0]], F32), np.array([np.inf, -2], F32)
    mask = x == getattr(x, name)(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        masked = grad[:, None] * mask.astype(F32)
    chosen = np.where(mask, grad[:, None], F32(0))
    assert np.isnan(masked).sum() == 2
    rows = getattr(er.backward, name)(grad, x, axis=1)
    pair = getattr(er.backward, name + "imum")(F32([np.inf, -2]), F32([1, 2]), F32([2, 1]))
    for standard in ("normal", "any_order"):
        for output in (masked, chosen):
            assert np.asarray(rows.covers(output, standard)).all()
        assert not np.asarray(rows.covers(masked + F32(1), standard))[1].any()
        nan = [pair[key].may_be("nan", standard).tolist() for key in ("grad_x1", "grad_x2")]
        assert nan == [[name == "max", False], [name == "min", False]]
