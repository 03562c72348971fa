"""Gradients where the derivative does not exist: kinks as torch has them, and outside domains."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import exactref as er

F32 = np.float32
INF, NAN = math.inf, math.nan
# The operation, its arguments, x at a kink, and the slope there.
KINKS: list[tuple[str, dict[str, Any], list[float], list[float]]] = [
    ("relu", {}, [0.0, -0.0], [0.0, 0.0]),
    ("leaky_relu", {"negative_slope": 0.25}, [0.0, -0.0], [0.25, 0.25]),
    ("elu", {}, [0.0, -0.0], [1.0, 1.0]),
    ("elu", {"alpha": 2.0}, [0.0, -0.0], [2.0, 2.0]),
    ("elu", {"alpha": 0.25}, [0.0, -0.0], [0.25, 0.25]),
    ("selu", {}, [0.0, -0.0], [1.7580993408473766, 1.7580993408473766]),
    ("relu6", {}, [0.0, -0.0, 6.0], [0.0, 0.0, 0.0]),
    ("hardsigmoid", {}, [-3.0, 3.0], [0.0, 0.0]),
    ("hardswish", {}, [-3.0, 3.0], [0.0, 1.0]),
    ("abs", {}, [0.0, -0.0], [0.0, 0.0]),
    ("softplus", {"threshold": 2.0}, [2.0], [1 / (1 + math.exp(-2.0))]),
    ("clip", {"min": -1.0, "max": 2.0}, [-1.0, 2.0], [1.0, 1.0]),
    ("vector_norm", {"axis": 0}, [0.0, -0.0], [0.0, 0.0]),
    ("vector_norm", {"axis": 0, "ord": 1}, [0.0, -0.0, 2.0], [0.0, 0.0, 1.0]),
    ("vector_norm", {"axis": 0, "ord": INF}, [2.0, -2.0, 1.0], [0.5, -0.5, 0.0]),
    ("max", {"axis": 0}, [2.0, 2.0, 1.0], [0.5, 0.5, 0.0]),
    ("std", {"axis": 0}, [2.0], [0.0]),
    ("std", {"axis": 0}, [2.0, 2.0, 2.0], [0.0, 0.0, 0.0]),
]


def of_torch(name: str, given: dict[str, Any], x: Any) -> Any:
    """The gradient of torch's own operation, for a gradient of ones."""
    torch = pytest.importorskip("torch")
    functional, own = torch.nn.functional, dict(given)
    reduced = own.pop("axis", None)
    if name in ("max", "std", "vector_norm"):
        own["dim"] = reduced
    function = {
        "abs": torch.abs,
        "clip": torch.clamp,
        "max": torch.amax,
        "std": lambda x, dim: torch.std(x, dim, correction=0),
        "vector_norm": torch.linalg.vector_norm,
    }.get(name) or getattr(functional, name)
    leaf = x.clone().requires_grad_()
    function(leaf, **own).sum().backward()
    return leaf.grad


@pytest.mark.parametrize("form", ["float64", "float32", "bfloat16"])
@pytest.mark.parametrize(("name", "given", "x", "slope"), KINKS)
def test_torch_takes_the_same_slope(
    name: str, given: dict[str, Any], x: list[float], slope: list[float], form: str
) -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(x, dtype=getattr(torch, form))
    grad = torch.ones((), dtype=tensor.dtype) if "axis" in given else torch.ones_like(tensor)
    result = getattr(er.backward, name)(grad, tensor, **given)
    result = result["grad_x"] if len(result.outputs) > 1 else result
    assert np.asarray(result.covers(of_torch(name, given, tensor))).all()
    wanted = torch.tensor(slope, dtype=tensor.dtype).double().tolist()
    assert np.allclose(result.rounded.tolist(), wanted, rtol=1e-15, atol=0)


@pytest.mark.parametrize(("name", "given"), [("elu", {"alpha": 2.0}), ("selu", {})])
def test_the_slope_from_above_is_outside(name: str, given: dict[str, Any]) -> None:
    x = F32([0.0, -0.0])
    result = getattr(er.backward, name)(np.ones(2, F32), x, **given)
    above = 1.0 if name == "elu" else 1.0507009873554805
    assert not np.asarray(result.covers(F32([above, above]), "any_order")).any()


def test_the_deviation_of_one_number_has_no_slope() -> None:
    result = er.backward.std(F32(3.0), F32([1e-40]), axis=0)
    for wrong in (NAN, INF, 1.0):
        assert not np.asarray(result.covers(F32([wrong]), "any_order")).any()
    # A deviation that is 0 for certain is told apart from one that is not.
    sure = er.backward.std(F32(1.0), F32([1.0, 2.0, 3.0]), axis=0)
    assert not np.asarray(sure.covers(np.zeros(3, F32), "any_order")).any(where=[True, False, True])


OUTSIDE = {
    "log": ([-3.0, -1e-45], lambda x: 1 / x),
    "log2": ([-3.0, -1e-3], lambda x: 1 / (x * math.log(2))),
    "log10": ([-3.0, -1e-3], lambda x: 1 / (x * math.log(10))),
    "log1p": ([-3.0, -1.5], lambda x: 1 / (1 + x)),
    "acosh": ([-3.0, -2.0], lambda x: 1 / math.sqrt(x * x - 1)),
    "atanh": ([-3.0, 2.0], lambda x: 1 / (1 - x * x)),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_outside_the_domain_the_formula_or_nan(name: str) -> None:
    points, formula = OUTSIDE[name]
    x = F32(points)
    result = getattr(er.backward, name)(np.ones(2, F32), x)
    with np.errstate(all="ignore"):
        wanted = np.array([formula(np.float64(value)) for value in x]).astype(F32)
    assert np.asarray(result.covers(wanted)).all()
    assert np.asarray(result.covers(F32([NAN, NAN]))).all()
    assert not np.asarray(result.covers(-wanted)).any()
    with np.errstate(all="ignore"):
        assert not np.asarray(result.covers(wanted * F32(0.5)))[np.isfinite(wanted)].any()


@pytest.mark.parametrize("name", OUTSIDE)
def test_inside_the_domain_and_at_its_ends_no_nan(name: str) -> None:
    ends = {"log1p": [-1.0], "acosh": [1.0], "atanh": [-1.0, 1.0]}.get(name, [0.0, -0.0])
    inside = {"acosh": [1.5, 1e30], "atanh": [0.5, -0.0]}.get(name, [0.5, 1e30])
    x = F32([*ends, *inside])
    result = getattr(er.backward, name)(np.ones(len(x), F32), x)
    assert not np.asarray(result.may_be("nan", "any_order")).any()


def test_acosh_at_minus_one_is_an_infinity_of_either_sign() -> None:
    result = er.backward.acosh(np.ones(3, F32), F32([-1.0, -1.0, -1.0]))
    assert np.asarray(result.covers(F32([INF, -INF, NAN]))).all()
    assert not np.asarray(result.covers(F32([1.0, 0.0, 1e38]))).any()


@pytest.mark.parametrize("grad", [2.0, 0.0, INF, NAN])
@pytest.mark.parametrize(
    ("name", "given"),
    [(name, given) for name, given, *_ in KINKS if "axis" not in given],
)
def test_torch_is_inside_at_infinities_and_nan(
    name: str, given: dict[str, Any], grad: float
) -> None:
    torch = pytest.importorskip("torch")
    x = torch.tensor([NAN, INF, -INF, 0.0, -0.0, 3e38, -3e38, 1.0], requires_grad=True)
    functions = {"abs": torch.abs, "clip": torch.clamp}
    function = functions.get(name) or getattr(torch.nn.functional, name)
    grads = torch.full_like(x, grad).detach()
    function(x, **given).backward(grads)
    result = getattr(er.backward, name)(grads, x.detach(), **given)
    result = result["grad_x"] if len(result.outputs) > 1 else result
    assert np.asarray(result.covers(x.grad)).all()


def test_relu_of_nan_passes_its_gradient_on_or_stops_it() -> None:
    """Kernels compare x <= 0, as torch's, or x > 0, as jax's."""
    grad, x = F32([2.0, 3e38]), F32([NAN, NAN])
    result = er.backward.relu(grad, x)
    assert np.asarray(result.covers(grad)).all()
    assert np.asarray(result.covers(grad * 0)).all()
    assert not np.asarray(result.covers(-grad)).any()
    for kind in ("nan", "+inf", "-inf"):
        assert not np.asarray(result.may_be(kind)).any()
    ignored = er.backward.relu(grad, x, nan="ignore")
    assert ignored.rounded.tolist() == [0.0, 0.0]
    assert not np.asarray(ignored.covers(grad)).any()
    sure = er.backward.relu(grad, F32([1.0, -1.0]))
    assert sure.rounded.tolist() == [2.0, 0.0]
    assert not np.asarray(sure.tolerance()).any()


def test_the_sign_of_zero_times_an_infinity() -> None:
    """0 where the sign is compared for, NaN where it is multiplied by."""
    grad, x = F32([INF, NAN, 2.0]), F32([0.0, -0.0, 0.0])
    for result in (er.backward.abs(grad, x), er.backward.vector_norm(grad, x[:, None], 1, ord=1)):
        covered = [
            np.ravel(np.asarray(result.covers(np.full(result.rounded.shape, v, F32))))
            for v in (0.0, NAN, 2.0)
        ]
        assert np.array_equal(covered, [[True] * 3, [True, True, False], [False] * 3])
