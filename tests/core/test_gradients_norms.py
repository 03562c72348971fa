"""Gradients of group_norm and batch_norm: exact by rationals, torch's, kernels, faults."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import gmpy2
import numpy as np
import pytest

import exactref as er

F32 = np.float32
EPS = 1e-5
BITS = 300
KEYS = ("grad_x", "grad_weight", "grad_bias")
CASES = ("group_norm", "batch_norm", "batch_norm, inference")


def inputs(seed: int, shift: float = 0.0, shape: tuple[int, ...] = (3, 4, 5)) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    found = {"grad": shape, "x": shape, **dict.fromkeys(("mean", "weight", "bias"), shape[1])}
    drawn = {key: rng.standard_normal(size).astype(F32) for key, size in found.items()}
    drawn["x"] = (drawn["x"] * 2 + shift).astype(F32)
    drawn["mean"] = (drawn["mean"] + shift).astype(F32)
    return {**drawn, "var": rng.uniform(0.2, 2, shape[1]).astype(F32)}


def call(case: str, data: dict[str, Any], eps: float = EPS) -> Any:
    if case == "group_norm":
        return er.backward.group_norm(data["grad"], data["x"], 2, data["weight"], data["bias"], eps)
    running = (data["mean"], data["var"])
    return er.backward.batch_norm(
        data["grad"], data["x"], *running, data["weight"], data["bias"], "inf" not in case, eps=eps
    )


def sets(case: str, shape: tuple[int, ...]) -> list[list[tuple[int, ...]]]:
    """The places that share statistics."""
    n, c, s = shape
    if case == "group_norm":
        half = c // 2
        return [
            [(i, j, k) for j in range(part, part + half) for k in range(s)]
            for i in range(n)
            for part in (0, half)
        ]
    return [[(i, j, k) for i in range(n) for k in range(s)] for j in range(c)]


def reciprocal_root(x: Fraction) -> Fraction:
    with gmpy2.context(precision=BITS):
        found = gmpy2.mpq(gmpy2.rec_sqrt(gmpy2.mpq(x.numerator, x.denominator)))
    return Fraction(int(found.numerator), int(found.denominator))


def exact(case: str, data: dict[str, Any]) -> dict[str, dict[Any, Fraction]]:
    """Gradients as rationals; roots within 2**-BITS."""
    whole = {
        key: {place: Fraction(float(v)) for place, v in np.ndenumerate(array)}
        for key, array in data.items()
    }
    grad, x, weight = whole["grad"], whole["x"], whole["weight"]
    found: dict[str, dict[Any, Fraction]] = {key: {} for key in KEYS}
    for places in sets(case, data["x"].shape):
        n = len(places)
        g = {p: grad[p] * weight[p[1:2]] for p in places}
        if "inference" in case:
            mean, spread = (whole[key][places[0][1:2]] for key in ("mean", "var"))
        else:
            mean = sum((x[p] for p in places), Fraction(0)) / n
            spread = sum(((x[p] - mean) ** 2 for p in places), Fraction(0)) / n
        r = reciprocal_root(spread + Fraction(EPS))
        h = {p: (x[p] - mean) * r for p in places}
        first = sum(g.values(), Fraction(0)) / n
        second = sum((g[p] * h[p] for p in places), Fraction(0)) / n
        for p in places:
            pull = Fraction(0) if "inference" in case else first + h[p] * second
            found["grad_x"][p] = r * (g[p] - pull)
            key = p[1:2]
            for name, term in (("grad_weight", grad[p] * h[p]), ("grad_bias", grad[p])):
                found[name][key] = found[name].get(key, Fraction(0)) + term
    return found


@pytest.mark.parametrize("case", CASES)
def test_gradients_are_exact(case: str) -> None:
    data = inputs(1, 3.0)
    result = call(case, data)
    for name, wanted in exact(case, data).items():
        for place, value in wanted.items():
            found = result[name].exact.value(*place)
            room = found.radius + Fraction(1, 2 ** (BITS - 20))
            assert abs(found.midpoint.to_fraction() - value) <= room, (name, place)
            assert found.radius <= abs(value) / 2**50


@pytest.mark.parametrize("form", ["float64", "float32"])
@pytest.mark.parametrize("shift", [0.0, 30.0, 1000.0])
@pytest.mark.parametrize("case", [*CASES, "layer_norm"])
def test_torch_is_inside(case: str, shift: float, form: str) -> None:
    torch = pytest.importorskip("torch")
    functional = torch.nn.functional
    data = {
        key: torch.tensor(value).to(getattr(torch, form))
        for key, value in inputs(7, shift, (4, 8, 6)).items()
    }
    if case == "layer_norm":
        data |= {key: data[key].transpose(1, 2).contiguous() for key in ("x", "grad")}
    leaves = [data[key].clone().requires_grad_() for key in ("x", "weight", "bias")]
    if case == "group_norm":
        output = functional.group_norm(leaves[0], 2, *leaves[1:], EPS)
    elif case == "layer_norm":
        output = functional.layer_norm(leaves[0], (8,), *leaves[1:], EPS)
    else:
        running = (data["mean"].clone(), data["var"].clone())
        output = functional.batch_norm(leaves[0], *running, *leaves[1:], "inf" not in case, eps=EPS)
    output.backward(data["grad"])
    if case == "layer_norm":
        grad, x, weight, bias = (data[key] for key in ("grad", "x", "weight", "bias"))
        result = er.backward.layer_norm(grad, x, 8, weight, bias, EPS)
    else:
        result = call(case, data)
    for key, leaf in zip(KEYS, leaves, strict=True):
        inside = np.asarray(result[key].covers(leaf.grad, "any_order"))
        assert inside.all(), (key, result[key].rounded, leaf.grad)


def turned(rng: np.random.Generator, y: np.ndarray, units: float) -> np.ndarray:
    """A float32 value off by up to ``units`` u, always by as much."""
    extra = rng.choice([-1.0, 1.0], y.shape) * (units - 1) * 2.0**-24
    return (y.astype(np.float64) * (1 + extra)).astype(F32)


def total(x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """Sums in index order, in float32, axes kept."""
    kept = [i for i in range(x.ndim) if i not in axes]
    rows = x.transpose(*kept, *axes).reshape(*(x.shape[i] for i in kept), -1)
    found = np.add.accumulate(rows, axis=-1, dtype=F32)[..., -1]
    return found.reshape([1 if i in axes else n for i, n in enumerate(x.shape)])


def composed(g: Any, centred: Any, r: Any, axes: tuple[int, ...], count: Any) -> np.ndarray:
    """A gradient as automatic differentiation takes it, back through the forward steps."""
    d = r * g - centred * (r * r * r * (total(g * centred, axes) / count))
    return np.asarray(d - total(d, axes) / count)


def kernels(rng: np.random.Generator, case: str, data: dict[str, Any]) -> Iterator[Any]:
    """Float32 kernels by formulas in use: label, x's gradient, the weight's, far from 0 or not."""
    shape = data["x"].shape
    n, c, s = shape
    group = case == "group_norm"
    split = (n, 2, c // 2, s) if group else (n, c, 1, s)
    axes = (2, 3) if group else (0, 3)
    x, grad = (data[key].reshape(split) for key in ("x", "grad"))
    channels = (1, 2, c // 2, 1) if group else (1, c, 1, 1)
    w = data["weight"].reshape(channels)
    count = F32(np.prod([split[i] for i in axes]))
    if "inference" in case:
        mean, spread = (data[key].reshape(channels) for key in ("mean", "var"))
    else:
        mean = total(x, axes) / count
        spread = total((x - mean) * (x - mean), axes) / count
    r = turned(rng, 1 / np.sqrt((spread + F32(EPS)).astype(float)), 4)
    centred = x - mean
    h = centred * r
    if "inference" in case:
        slopes = {"left": grad * r * w, "right": grad * (r * w), "product": (grad * w) * r}
    else:
        g = grad * w
        sums, pulls = total(g, axes), total(g * h, axes)
        slopes = {
            "triton": ((g - (h * (pulls / count) + sums / count)) * r),
            "apex": (count * g - h * pulls - sums) * (r / count),
            "composed": composed(g, centred, r, axes, count),
        }
        if group:
            slope = (sums * mean - total(g * x, axes)) * r * r * r / count
            slopes["apart"] = r * g + slope * x + (-slope * mean - sums * r / count)
        else:
            raw = total(grad * centred, axes) * r * r / count
            slopes["torch"] = (grad - total(grad, axes) / count - centred * raw) * r * w
    for label, value in slopes.items():
        yield "grad_x", label, value.reshape(shape)
    outer = (0, 3)
    weights = {"terms": total(grad * h, outer)}
    if group:
        weights["outside"] = total(total(grad * centred, (3,)) * r, (0,))
        weights["apart"] = total((total(grad * x, (3,)) - total(grad, (3,)) * mean) * r, (0,))
    else:
        weights["outside"] = total(grad * centred, outer) * r
    for label, value in weights.items():
        yield "grad_weight", label, value.reshape(c)
    yield "grad_bias", "terms", total(grad, outer).reshape(c)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("case", CASES)
def test_simulated_kernels_are_inside(case: str, seed: int) -> None:
    rng = np.random.default_rng([5, seed])
    for shape in ((1, 2, 3), (3, 4, 5), (2, 6, 40)):
        data = inputs(seed, [0.0, 5.0, 300.0][seed % 3], shape)
        result = call(case, data)
        for key in KEYS:
            assert np.asarray(result[key].covers(result[key].normal())).all()
        for key, label, output in kernels(rng, case, data):
            # Distributed products, and automatic differentiation, are worse than normal.
            standard = "any_order" if label in ("apart", "composed") else "normal"
            inside = np.asarray(result[key].covers(output.astype(F32), standard))
            assert inside.all(), (key, label, output, result[key].rounded)


FAULTS = {
    "group_norm": ("mean", "projection", "weight", "groups", "eps", "count"),
    "batch_norm": ("mean", "projection", "weight", "statistics", "eps", "count"),
    "batch_norm, inference": ("weight", "own statistics", "eps"),
}


def broken(case: str, fault: str, data: dict[str, Any]) -> np.ndarray:
    """x's gradient in float64 with one mistake."""
    wide = {key: value.astype(float) for key, value in data.items()}
    x, grad, w = wide["x"], wide["grad"], wide["weight"][:, None]
    n, c, s = x.shape
    groups = 1 if fault == "groups" else 2
    split, axes = (
        ((n, c, 1, s), (0, 3)) if "batch" in case else ((n, groups, c // groups, s), (2, 3))
    )
    w = np.ones_like(w) if fault == "weight" else w
    g, y = ((part).reshape(split) for part in (grad * w, x))
    count = np.prod([split[i] for i in axes]) - (fault == "count")
    mean, spread = y.mean(axes, keepdims=True), y.var(axes, keepdims=True)
    if "inference" in case and fault != "own statistics":
        mean, spread = (wide[key].reshape(1, c, 1, 1) for key in ("mean", "var"))
    if fault == "statistics":  # of the sample before
        mean, spread = np.roll(mean, 1, 1), np.roll(spread, 1, 1)
    r = 1 / np.sqrt(spread + (1e-3 if fault == "eps" else EPS))
    h = (y - mean) * r
    if "inference" in case:
        return np.asarray((g * r).reshape(x.shape))
    first = 0 if fault == "mean" else g.sum(axes, keepdims=True) / count
    second = 0 if fault == "projection" else (g * h).sum(axes, keepdims=True) / count
    return np.asarray((r * (g - first - h * second)).reshape(x.shape))


@pytest.mark.parametrize(("case", "fault"), [(c, f) for c, fs in FAULTS.items() for f in fs])
def test_faults_are_outside(case: str, fault: str) -> None:
    data = inputs(11, 0.5, (4, 4, 16))
    result = call(case, data)["grad_x"]
    assert np.asarray(result.covers(broken(case, "", data).astype(F32))).all()
    output = broken(case, fault, data).astype(F32)
    for standard, least in (("normal", 0.5), ("any_order", 0.25)):
        outside = ~np.asarray(result.covers(output, standard))
        assert outside.mean() > least, (fault, standard, outside.mean())


@pytest.mark.parametrize("case", CASES)
def test_faults_of_weights_are_outside(case: str) -> None:
    data = inputs(12, 0.0, (4, 4, 16))
    result = call(case, data)
    without = {**data, "grad": data["grad"].copy()}
    without["grad"][-1, :, -1] = 0  # a last element that a loop does not reach
    other = call(case, without)
    for key in KEYS[1:]:
        fault = np.asarray(other[key].rounded.values(), F32)
        assert not np.asarray(result[key].covers(fault, "any_order")).any(), key
    alone = er.backward.group_norm(data["grad"], data["x"], 2)
    assert list(alone.outputs) == ["grad_x"]
