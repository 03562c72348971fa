"""Gradients of products: exact by the definition of a derivative, torch's, kernels, faults."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.errors import InputError

F32 = np.float32
Product = Callable[..., np.ndarray]


def einsum(subscripts: str) -> Product:
    return lambda *x: np.einsum(subscripts, *x)


def addmm(alpha: Any, beta: Any) -> Product:
    return lambda c, a, b: beta * c + alpha * np.matmul(a, b)


EINSUMS = {
    "ij,jk->ik": ((2, 3), (3, 2)),
    "ii->i": ((3, 3),),
    "ii": ((3, 3),),
    "ij->": ((2, 3),),
    "ij->ji": ((2, 3),),
    "bij,bjk->bik": ((2, 1, 3), (2, 3, 2)),
    "ij,jk->i": ((2, 3), (3, 2)),
    "ij,kl->": ((2, 2), (1, 3)),
    "ii,ij->j": ((2, 2), (2, 3)),
    "...ij,...jk->...ik": ((2, 2, 3), (1, 3, 2)),
    "ij,ij->i": ((2, 3), (1, 3)),
    "iij,j->ij": ((2, 2, 3), (3,)),
}
# Name of the operation, its function of arrays of any numbers, arguments, shapes.
CASES: dict[str, tuple[str, Product, dict[str, Any], tuple[tuple[int, ...], ...]]] = {
    **{s: ("einsum", einsum(s), {"subscripts": s}, shapes) for s, shapes in EINSUMS.items()},
    "outer": ("outer", np.multiply.outer, {}, ((3,), (2,))),
    "tensordot 2": ("tensordot", np.tensordot, {}, ((2, 3, 2), (3, 2, 2))),
    "tensordot 0": ("tensordot", lambda a, b: np.tensordot(a, b, 0), {"axes": 0}, ((2,), (2, 1))),
    "tensordot crossed": (
        "tensordot",
        lambda a, b: np.tensordot(a, b, ([0, 2], [1, 0])),
        {"axes": ([0, 2], [1, 0])},
        ((3, 2, 2), (2, 3, 2)),
    ),
    "addmm": ("addmm", addmm(1, 1), {}, ((2, 2), (2, 3), (3, 2))),
    "addmm scaled": (
        "addmm",
        addmm(Fraction(-5, 4), Fraction(3, 4)),
        {"alpha": -1.25, "beta": 0.75},
        ((2,), (3, 2), (2, 2)),
    ),
    "matmul": ("matmul", np.matmul, {}, ((2, 2, 3), (3, 2))),
    "matmul of a vector": ("matmul", np.matmul, {}, ((3,), (2, 3, 2))),
    "matmul of batches": ("matmul", np.matmul, {}, ((2, 1, 2, 2), (3, 2, 1))),
}


def given(case: str, seed: int, form: str) -> tuple[np.ndarray, list[np.ndarray]]:
    """A gradient of the output and the tensors."""
    _, function, _, shapes = CASES[case]
    rng = np.random.default_rng([seed, *map(ord, case)])
    args = [rng.standard_normal(shape).astype(form) for shape in shapes]
    return rng.standard_normal(np.shape(function(*args))).astype(form), args


def fractions(x: np.ndarray) -> np.ndarray:
    flat = [Fraction(float(v)) for v in x.reshape(-1)]
    found = np.empty(len(flat), object)
    found[:] = flat
    return found.reshape(x.shape)


def call(case: str, grad: Any, args: list[Any]) -> dict[str, Any]:
    """The results by name."""
    name, _, how, _ = CASES[case]
    result = getattr(er.backward, name)(grad, *how_first(how), *args, **rest(how))
    several = len(result.outputs) > 1
    return {key: result[key] if several else result for key in result.outputs}


def how_first(how: dict[str, Any]) -> list[Any]:
    return [how["subscripts"]] if "subscripts" in how else []


def rest(how: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in how.items() if key != "subscripts"}


def moved(function: Product, args: list[np.ndarray], place: int, index: tuple[int, ...]) -> Any:
    """The derivative of the output by one element: exact, since it is linear in each tensor."""
    ends = []
    for step in (1, 0):
        changed = [x.copy() for x in args]
        changed[place][index] += step
        ends.append(np.asarray(function(*changed), object))
    return ends[0] - ends[1]


@pytest.mark.parametrize("case", CASES)
def test_gradients_are_exact(case: str) -> None:
    grad, args = given(case, 0, "float32")
    exact, wide = fractions(grad), [fractions(x) for x in args]
    for place, result in enumerate(call(case, grad, args).values()):
        assert result.shape == args[place].shape
        for index in np.ndindex(args[place].shape):
            slope = moved(CASES[case][1], wide, place, index)
            wanted = sum(np.asarray(exact * slope, object).reshape(-1).tolist(), Fraction(0))
            found = result.exact.value(*index)
            assert (found.radius, found.midpoint.to_fraction()) == (0, wanted), (place, index)


@pytest.mark.parametrize("form", ["float64", "float32", "complex64", "complex128"])
@pytest.mark.parametrize("case", CASES)
def test_torch_is_inside(case: str, form: str) -> None:
    torch = pytest.importorskip("torch")
    name, _, how, shapes = CASES[case]
    rng = np.random.default_rng(len(case))
    dtype = getattr(torch, form)

    def drawn(shape: Any) -> Any:
        parts = [torch.tensor(rng.standard_normal(shape)) for _ in range(2)]
        return (parts[0] + 1j * parts[1] if dtype.is_complex else parts[0]).to(dtype)

    leaves = [drawn(shape).requires_grad_() for shape in shapes]
    more = {"dims": how["axes"]} if "axes" in how else rest(how)
    output = getattr(torch, name)(*how_first(how), *leaves, **more)
    grad = drawn(tuple(output.shape))
    output.backward(grad)
    found = call(case, grad, [x.detach() for x in leaves])
    for leaf, result in zip(leaves, found.values(), strict=True):
        assert np.asarray(result.covers(leaf.grad, "any_order")).all(), (result.rounded, leaf.grad)


def test_complex_factors_are_conjugated() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    leaves = [torch.randn(*s, dtype=torch.complex64) for s in ((3,), (2, 4), (4, 3))]
    grad = torch.randn(2, 3, dtype=torch.complex64)
    moving = [x.clone().requires_grad_() for x in leaves]
    torch.addmm(*moving, alpha=2 - 1j, beta=0.5j).backward(grad)
    result = er.backward.addmm(grad, *leaves, alpha=2 - 1j, beta=0.5j)
    wrong = er.backward.addmm(grad, *leaves, alpha=2 + 1j, beta=-0.5j)
    for leaf, key in zip(moving, result.outputs, strict=True):
        assert np.asarray(result[key].covers(leaf.grad, "any_order")).all()
        assert not np.asarray(wrong[key].covers(leaf.grad, "any_order")).any()


@pytest.mark.parametrize("shape", [(2, 2), (2,)])
def test_without_beta_the_addend_has_no_gradient(shape: tuple[int, ...]) -> None:
    """Zero, or zero times the gradient of the output, NaN of an infinity, or of a sum with one."""
    grad = np.array([[np.inf, 1], [1, 1]], F32)
    zeros, mats = np.zeros(shape, F32), (np.ones((2, 1), F32), np.ones((1, 2), F32))
    with np.errstate(invalid="ignore"):
        products = {(2, 2): grad * F32(0), (2,): grad.sum(0) * F32(0)}[shape]
    assert np.isnan(products).any()
    for standard in ("normal", "any_order"):
        result = er.backward.addmm(grad, np.full(shape, np.nan, F32), *mats, beta=0)["grad_input"]
        assert result.rounded.values().tolist() == zeros.tolist()
        assert not result.tolerance(standard).values().any()
        for output in (zeros, products):
            assert np.asarray(result.covers(output, standard)).all()
        for output in (np.full(shape, np.nan, F32), np.full(shape, np.inf, F32)):
            assert not np.asarray(result.covers(output, standard)).all()


def sums(rng: np.random.Generator, terms: np.ndarray, kernel: str) -> np.ndarray:
    """Sums of rows (..., n) of float32 terms."""
    if kernel == "index order":
        return np.add.accumulate(terms, axis=-1, dtype=F32)[..., -1]
    parts = [terms[..., i] for i in rng.permutation(terms.shape[-1])]
    while len(parts) > 1:
        i, j = sorted(rng.choice(len(parts), 2, replace=False).tolist())
        parts[i] = parts[i] + parts.pop(j)
    return np.asarray(parts[0])


@pytest.mark.parametrize("kernel", ["index order", "trees"])
def test_batches_are_summed_in_one_loop_or_two(kernel: str) -> None:
    """The gradient of a matrix that a batch shares: all rows of the batch at once, or a sum a
    matrix."""
    rng = np.random.default_rng(4)
    for _ in range(6):
        a, g = (rng.standard_normal((5, 7, n)).astype(F32) for n in (2, 3))
        b = rng.standard_normal((2, 3)).astype(F32)
        terms = np.moveaxis(a[..., :, None] * g[..., None, :], (0, 1), (2, 3))
        flat = sums(rng, terms.reshape(2, 3, 35), kernel)
        staged = sums(rng, sums(rng, terms, kernel), kernel)
        standard = "normal" if kernel == "index order" else "any_order"
        for name, args in (
            ("matmul", (a, b)),
            ("einsum", ("bik,...kj->bij", a, b[None])),
        ):
            result = getattr(er.backward, name)(g, *args)
            result = result["grad_B" if name == "matmul" else "grad_x2"]
            for output in (flat, staged):
                shaped = output.reshape(result.shape)
                assert np.asarray(result.covers(shaped, standard)).all(), name
            missed = flat - terms.reshape(2, 3, 35)[..., 17]
            assert not np.asarray(result.covers(missed.reshape(result.shape), "any_order")).all()


def faulty(case: str, right: dict[str, np.ndarray], rng: np.random.Generator) -> Iterator[Any]:
    """Wrong gradients of float32 calls: what a wrong factor, sign or store gives."""
    for key, value in right.items():
        for fault in (value * F32(1.001), -value, value * 2, np.zeros_like(value)):
            yield key, fault
        if value.ndim == 2 and value.shape[0] == value.shape[1] > 1:
            yield key, value.T
        yield key, value.astype(np.float16).astype(F32)
        yield key, rng.permutation(value.reshape(-1)).reshape(value.shape)


@pytest.mark.parametrize("case", CASES)
def test_faults_are_outside(case: str) -> None:
    grad, args = given(case, 2, "float32")
    results = call(case, grad, args)
    right = {key: np.asarray(result.rounded.values(), F32) for key, result in results.items()}
    for key, fault in faulty(case, right, np.random.default_rng(9)):
        if fault.size == 1 or np.array_equal(fault, right[key]):
            continue
        outside = ~np.asarray(results[key].covers(fault, "any_order"))
        changed = fault != right[key]
        assert outside[changed].mean() >= 0.5, (key, fault, right[key])


def test_the_condition_comes_after_the_gradient() -> None:
    mask = np.asarray([True, False])
    result = er.backward.where(F32([np.nan, 2.0]), mask, F32([1.0, 1.0]), F32([5.0]))
    assert np.isnan(result["grad_x1"].rounded.tolist()[0])
    assert result["grad_x1"].rounded.tolist()[1] == 0.0
    assert result["grad_x2"].rounded.tolist() == [2.0]  # 0 for the NaN that it does not see
    with pytest.raises(InputError, match="grad_output has shape"):
        er.backward.einsum(np.ones(2, F32), "ij->j", np.ones((2, 3), F32))
