"""Norms of any order: kernels inside, faults outside, overflow, gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.formats.catalogue import get_format
from tests.every_op.kernels import Machine
from tests.every_op.kernels_formats import SPECS, store
from tests.every_op.kernels_judging import some
from tests.every_op.kernels_orders import any_orders, columns, evaluate, normal_orders
from tests.every_op.numbers import Numbers

F32, F64 = np.float32, np.float64
ORDERS = (3, 0.5, 2.5, -1, -3, 0.1, 7, -0.5, 1.75, 30)


def vectors(rng: np.random.Generator, dtype: Any, n: int, decades: float) -> np.ndarray:
    """Rows of one size, of many, of steps of ten, with zeros, of equal numbers, of subnormals."""
    x = rng.standard_normal((12, n))
    x[2:5] *= 10.0 ** rng.uniform(-decades, decades, (3, 1))
    x[5:8] *= 10.0 ** rng.uniform(-decades, decades, (3, n))
    x[8, rng.integers(0, n)] = 0
    x[9] = x[9, 0]
    x[10] *= float(np.finfo(dtype).smallest_subnormal) * 50
    with np.errstate(all="ignore"):
        return x.astype(dtype)


@pytest.mark.parametrize("dtype", [F64, F32])
@pytest.mark.parametrize("p", ORDERS)
def test_numpy_is_inside(p: float, dtype: Any) -> None:
    rng = np.random.default_rng([1, ORDERS.index(p)])
    for n, decades in some(rng, ((1, 3), (5, 30), (70, 2), (9, 38)), 2):
        x = vectors(rng, dtype, n, decades)
        result = er.vector_norm(x, axis=1, ord=p)
        with np.errstate(all="ignore"):
            assert np.asarray(result.covers(np.linalg.norm(x, p, axis=1), "any_order")).all()
        assert np.asarray(result.covers(result.normal())).all()


@pytest.mark.parametrize("form", ["float64", "float32", "bfloat16"])
@pytest.mark.parametrize("p", ORDERS)
def test_torch_is_inside(p: float, form: str) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng([2, ORDERS.index(p)])
    for n, decades in some(rng, ((1, 3), (5, 30), (70, 2)), 1):
        x = torch.tensor(vectors(rng, F64, n, decades)).to(getattr(torch, form))
        output = torch.linalg.vector_norm(x, p, 1)
        result = er.vector_norm(x, axis=1, ord=p)
        outside = np.flatnonzero(~np.asarray(result.covers(output, "any_order")))
        assert outside.size == 0, (x[outside[0]], output[outside[0]])


def rough(rng: np.random.Generator, exact: np.ndarray, dtype: Any, ulps: float) -> np.ndarray:
    """What a library returns that errs by some ulp, for exact values in a wider format."""
    unit = np.finfo(dtype).eps / 2
    with np.errstate(all="ignore"):
        moved = exact * (1 + 2 * ulps * unit * rng.uniform(-1, 1, exact.shape).astype(exact.dtype))
        return moved.astype(dtype)


def kernels(rng: np.random.Generator, x: np.ndarray, p: float) -> Iterator[tuple[str, Any]]:
    """Powers and roots off by 4 ulp, or products; of the numbers or scaled; in every order."""
    dtype, wide, machine = x.dtype.type, np.longdouble, Machine(str(x.dtype))
    size = np.abs(x)
    top = (size.max if p > 0 else size.min)(axis=1)

    def raised(v: np.ndarray, q: float) -> np.ndarray:
        return rough(rng, v.astype(wide) ** wide(q), dtype, 4)

    def product(v: np.ndarray, q: float) -> np.ndarray:
        found = v
        for _ in range(int(q) - 1):
            found = found * v
        return found

    powers = [("pow", raised), *([("products", product)] if p in (3, 7, 30) else [])]
    for label, step in powers:
        for scaled in (False, True):
            part = size / top[:, None] if scaled else size
            terms = columns(step(part, p))
            for standard, orders in (
                ("normal", normal_orders(x.shape[1])),
                ("any_order", any_orders(rng, x.shape[1], 2)),
            ):
                for order, tree in some(rng, list(orders), 2):
                    found = raised(evaluate(tree, terms, machine), dtype(1 / p))
                    if scaled:
                        found = np.where(np.isfinite(found), top * found, np.nan)
                    yield f"{label}, {order}, {standard}, scaled {scaled}", (standard, found)


@pytest.mark.parametrize("dtype", [F32, F64])
@pytest.mark.parametrize("p", [3, 0.5, -1, 2.5, 7, 30])
def test_simulated_kernels_are_inside(p: float, dtype: Any) -> None:
    rng = np.random.default_rng([3, int(4 * p) + 9])
    for n, decades in some(rng, ((3, 20), (40, 1)), 1):
        x = vectors(rng, dtype, n, decades)
        result = er.vector_norm(x, axis=1, ord=p)
        with np.errstate(all="ignore"):
            for label, (standard, found) in kernels(rng, x, p):
                # A scaled kernel that leaves the range has to be written otherwise.
                inside = np.asarray(result.covers(found, standard)) | np.isnan(found)
                assert inside.all(), (label, x[~inside][:1], found[~inside][:1])


FAULTS: dict[str, Callable[[np.ndarray, float], np.ndarray]] = {
    "no root": lambda x, p: (x**p).sum(axis=1),
    "another order": lambda x, p: (x ** (p + 0.01)).sum(axis=1) ** (1 / (p + 0.01)),
    "root of another order": lambda x, p: (x**p).sum(axis=1) ** (1 / (p + 0.001)),
    "a term dropped": lambda x, p: (x[:, 1:] ** p).sum(axis=1) ** (1 / p),
    "mean": lambda x, p: (x**p).mean(axis=1) ** (1 / p),
    "largest": lambda x, p: (x.max if p > 0 else x.min)(axis=1),
}


@pytest.mark.parametrize("form", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("p", [3, 0.5, -1, 2.5])
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_outside(fault: str, p: float, form: str) -> None:
    rng = np.random.default_rng([4, int(4 * p) + 9])
    x = store(rng.uniform(0.5, 3, (60, 12)), SPECS[form])
    result = er.vector_norm(er.asarray(x.tolist(), form), axis=1, ord=p)
    right = er.asarray(((x**p).sum(axis=1) ** (1 / p)).tolist(), form)
    wrong = er.asarray(FAULTS[fault](x, p).tolist(), form)
    assert np.asarray(result.covers(right)).all()
    if form != "bfloat16" or not ("order" in fault or "term" in fault):
        assert np.asarray(result.covers(wrong, "any_order")).mean() < 0.1


def test_a_narrower_power_is_outside() -> None:
    x = np.random.default_rng(5).uniform(0.5, 3, (60, 12)).astype(F32)
    for p in (3, 0.5, -1):
        terms = store(x.astype(float) ** p, SPECS["bfloat16"])
        found = (terms.sum(axis=1) ** (1 / p)).astype(F32)
        assert np.asarray(er.vector_norm(x, axis=1, ord=p).covers(found)).mean() < 0.1


def test_the_rounding_of_the_inverse_counts_where_it_matters() -> None:
    """s^(1/p) moves by u |log s| / p where 1/p is rounded, and by nothing where it is a float."""
    x = F32([[1e12] * 4, [1e-9] * 4])
    third, fourth = (er.vector_norm(x, axis=1, ord=p) for p in (3, 4))
    widths = [np.asarray(r.tolerance()) / np.asarray(r.rounded.values()) for r in (third, fourth)]
    assert (widths[0] * 2**24 > widths[1] * 2**24 + 15).all()
    rounded = (np.float64(4e36) ** np.float64(F32(1 / 3))).astype(F32)
    assert np.asarray(third[0].covers(rounded)).all()


def test_powers_that_leave_the_range() -> None:
    large = er.vector_norm(F32([1e20, 1e20]), ord=3)
    assert large.rounded.tolist() == float(F32(1e20 * 2 ** (1 / 3)))
    assert large.may_be("+inf").tolist()
    assert not large.may_be("nan").tolist()
    assert np.asarray(large.covers(large.rounded)).all()
    # The power that vanishes leaves a norm of 0, or of what its terms add up to.
    small = er.vector_norm(F32([1e-20, 1e-20]), ord=3)
    assert not small.may_be("+inf").tolist()
    for inside in (0.0, 1e-20, 1.25e-20, 1e-15):
        assert np.asarray(small.covers(F32(inside))).all()
    for outside in (1e-13, -1e-13, np.nan):
        assert not np.asarray(small.covers(F32(outside))).any()
    # Of a negative order, zeros become infinities, infinities zeros.
    tiny = er.vector_norm(F32([1e-20, 3.0]), ord=-3)
    for inside in (0.0, 1e-20):
        assert np.asarray(tiny.covers(F32(inside))).all()
    huge = er.vector_norm(F32([1e20, 1e21]), ord=-3)
    assert huge.may_be("+inf").tolist()
    assert not huge.may_be("nan", "any_order").tolist()
    low, high = huge.finite_range()
    assert low.tolist() < 1e15 < 1e20 < high.tolist()
    zero = er.vector_norm(F32([0.0, 1e-20, 5.0]), ord=-2.3)
    assert (zero.rounded.tolist(), zero.tolerance().tolist()) == (0.0, 0.0)
    assert not zero.may_be("+inf", "any_order").tolist()


def test_flushed_inputs_and_powers() -> None:
    x = F32([[1e-40, 1.0, 2.0], [1e-14, 1e-13, 2e-14]])
    result = er.vector_norm(x, axis=1, ord=3)
    for flush in (True, False):
        outputs = np.asarray([9 ** (1 / 3), (1e-13**3 + 9e-42) ** (1 / 3)], F32)
        assert np.asarray(result.covers(outputs, flush_to_zero=flush)).all()
    assert np.asarray(result.covers(F32([9 ** (1 / 3), 0.0]), flush_to_zero=True)).all()
    inverse = er.vector_norm(x[0], ord=-1)
    for output in (0.0, 1e-40):
        assert np.asarray(inverse.covers(F32(output), flush_to_zero=True)).all()


def test_chains() -> None:
    rng = np.random.default_rng(6)
    a, b = (rng.standard_normal((8, 20)).astype(F32) for _ in range(2))
    near = er.sum(F32([[1, 2.0**-30, -1]] * 3), axis=1)  # 2^-30, stored as 0 or otherwise
    for p in (3, 0.5, 0.3):
        result = er.vector_norm(near, ord=p)
        assert not result.may_be("nan", "any_order").tolist()
        assert np.asarray(result.covers(F32(0.0))).all()
        assert result.may_be("+inf", "any_order").tolist() is False
    for p in (3, 0.5, 0.3, -1, 0):
        result = er.vector_norm(er.multiply(a, b), axis=1, ord=p)
        output = np.linalg.norm(a * b, p, axis=1)
        assert np.asarray(result.covers(output, "any_order")).all()
        assert np.isfinite(np.asarray(result.tolerance())).all()
        assert not np.asarray(result.may_be("nan", "any_order")).any()
        unit = er.divide(er.asarray(a), er.vector_norm(a, axis=1, keepdims=True, ord=p))
        with np.errstate(all="ignore"):
            assert np.asarray(unit.covers(a / np.linalg.norm(a, p, axis=1, keepdims=True))).all()


def test_the_range_of_a_norm_that_is_rational_though_its_sum_is_not() -> None:
    """Stored as an infinity, the sum leaves 0, at a distance that is the norm itself."""
    x = F32([[2.0**-112], [1.5 * 2.0**-100], [7589.75]])
    for p in (-1.75, -3.5, -2.2):
        result = er.vector_norm(x, axis=1, ord=p)
        assert result.rounded.tolist() == x[:, 0].tolist()
        low, high = (np.asarray(end.values(), float) for end in result.finite_range("any_order"))
        assert (low <= x[:, 0]).all()
        assert (high >= x[:, 0]).all()
        assert np.asarray(result.covers(np.append(np.zeros(2, F32), x[2]))).all()


@pytest.mark.parametrize("p", [2, 3, 0.5])
@pytest.mark.parametrize("depth", [20, 25, 30, 60])
def test_norms_of_deep_chains(depth: int, p: float) -> None:
    x = F32([1.0, 2.0, 3.0])
    value = er.add(x, x)
    for _ in range(depth):
        value = er.add(value, x)
    result = er.vector_norm(value, ord=p)
    exact = (((depth + 2) * x.astype(float)) ** p).sum() ** (1 / p)
    assert np.isclose(result.rounded.tolist(), exact, rtol=1e-7)
    assert np.asarray(result.covers(F32(exact))).all()
    assert np.asarray(result.covers(result.normal())).all()
    assert 0 < result.tolerance("any_order").tolist() < 1e-3 * exact


@pytest.mark.parametrize("p", [3, 0.5, 2.5, -1, 1.5, 4, 0.1, -2.25])
def test_gradients_are_exact(p: float) -> None:
    pytest.importorskip("flint")
    from tests.core import power_norm_oracle as oracle

    rng = np.random.default_rng(7)
    x = rng.standard_normal((5, 5)).astype(F32)
    x[1], x[2, 2], x[3] = rng.integers(-3, 4, 5), 0, [4, -4, 4, 9, 9]
    x[4] = F32(3.5)
    grad = rng.integers(-4, 5, 5).astype(F32)
    exact = [
        oracle.gradient(row, float(g), p, j)
        for row, g in zip(x.tolist(), grad.tolist(), strict=True)
        for j in range(5)
    ]
    for form in ("float32", "float64", "bfloat16"):
        result = er.backward.vector_norm(grad, x, axis=1, ord=p, dtype=form)
        wanted = Numbers.of(exact).round(get_format(form), "nearest_even", "ieee")
        assert np.array_equal(np.ravel(np.asarray(result.rounded.values(), float)), wanted)


def test_rational_gradients_are_told() -> None:
    for row, p, wanted in (
        ([1.0] * 16, 4, [0.125] * 16),  # 16^(-3/4)
        ([-3.0] * 4, 0.5, [-4.0] * 4),
        ([4.0, 1.0], 0.5, [1.5, 3.0]),
        ([3.0, 3.0], -1, [0.25, 0.25]),
    ):
        result = er.backward.vector_norm(F32(1.0), F32(row), ord=p)
        for i, value in enumerate(wanted):
            exact = result.exact.value(i)
            assert (float(exact.midpoint.to_fraction()), exact.radius) == (value, 0), (row, p)
    z = er.backward.vector_norm(F32(1.0), np.complex64([1 + 1j] * 4), ord=4)
    assert z.rounded.tolist() == [0.25 + 0.25j] * 4  # 4^(-3/4) / 2^(1/2)


@pytest.mark.parametrize("form", ["float64", "float32", "complex64"])
@pytest.mark.parametrize("p", [3, 0.5, 2.5, -1, 1.5, 0.1, -0.5, 7])
def test_torchs_gradients_are_inside(p: float, form: str) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng([8, int(8 * p) + 9])
    for n, decades in some(rng, ((1, 2), (4, 4), (12, 1)), 1):
        values = rng.standard_normal((4, n)) * 10.0 ** rng.uniform(-decades, decades, (4, n))
        values[1, 0], values[2] = 0, 0
        if form == "complex64":
            values = values * np.exp(1j * rng.uniform(0, 7, values.shape))
        leaf = torch.tensor(values).to(getattr(torch, form)).requires_grad_()
        norm = torch.linalg.vector_norm(leaf, p, 1)
        grad = torch.tensor(rng.standard_normal(4)).to(norm.dtype)
        norm.backward(grad)
        result = er.backward.vector_norm(grad, leaf.detach(), axis=1, ord=p)
        inside = np.asarray(result.covers(leaf.grad, "any_order"))
        assert inside.all(), (leaf[~inside], leaf.grad[~inside])
        zero = torch.tensor(1 + 1j if form == "complex64" else 1.0).to(leaf.dtype)
        wrong = torch.where(leaf.grad == 0, zero, leaf.grad * 1.001)
        assert np.asarray(result.covers(wrong, "any_order")).mean() < 0.1
