"""Library sums that are worse than a loop, and matrix exponentials that are off."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

import exactref as er
from docs.examples.finding import Case, array, covered_by, finding, on_torch

BIG = 2.0**25
LANES = "several running sums, where a loop is closer"


def worse(run: Callable[[Any], Any], values: list[float], op: str = "sum") -> Case:
    """A float32 sum that some order gives, and a loop does not."""
    x = array(values, "float32")
    r = getattr(er, op)(x)
    return Case(lambda: run(x), r, declared=covered_by(r, "any_order"))


@finding("`np.sum`, float32", "`[0, 0, 0, -2^25, 2^25, 2, 0, 1]`", "0", LANES, standard="normal")
def numpy_sum() -> Case:
    return worse(np.sum, [0, 0, 0, -BIG, BIG, 2, 0, 1])


@finding("`np.mean`, float32", "`[0, 1, 2, 2^25, -2^25, 0, 0, 0]`", "0", LANES, standard="normal")
def numpy_mean() -> Case:
    return worse(np.mean, [0, 1, 2, BIG, -BIG, 0, 0, 0], "mean")


@finding('`np.einsum("i->")`, float32', "`[-2, -2^25, 2^25, 3]`", "4", LANES, standard="normal")
def numpy_einsum() -> Case:
    return worse(lambda x: np.einsum("i->", x), [-2, -BIG, BIG, 3])


@finding("`torch.sum`, float32", "`[-2, 0, -1, 2^25, -2^25]`", "0", LANES, standard="normal")
def torch_sum() -> Case:
    return worse(lambda x: on_torch(lambda _, x: x.sum(), x)(), [-2, 0, -1, BIG, -BIG])


@finding(
    "`torch.dot` with ones, float32",
    "`[-1, 2^25, -2^25, -2]`",
    "0",
    LANES,
    standard="normal",
    on="AMX",
)
def torch_dot() -> Case:
    ones = np.ones(4, np.float32)
    return worse(lambda x: on_torch(lambda _, x, y: x.dot(y), x, ones)(), [-1, BIG, -BIG, -2])


@finding(
    "`batch_norm` of torch in evaluation, float32",
    "-1.5, running mean -1.5, running variance 2",
    "2.9802322e-08",
    "x alpha + beta, where x - mean is exact",
    standard="normal",
)
def torch_batch_norm() -> Case:
    x, mean, variance = (array(v, "float32") for v in ([[-1.5]], [-1.5], [2]))
    run = on_torch(lambda torch, *xs: torch.nn.functional.batch_norm(*xs), x, mean, variance)
    r = er.batch_norm(x, mean, variance)
    return Case(run, r, declared=covered_by(r, "any_order"))


def torch_exp(a: Any) -> Case:
    """torch.linalg.matrix_exp of a matrix."""
    return Case(on_torch(lambda torch, a: torch.linalg.matrix_exp(a), a), er.matrix_exp(a))


def scipy_exp(a: Any, at: int = 0) -> Case:
    """scipy.linalg.expm of a matrix."""
    return Case(lambda: importlib.import_module("scipy.linalg").expm(a), er.matrix_exp(a), at)


@finding(
    "`torch.linalg.matrix_exp`, float64",
    "`[[2^-5, 0], [0, 0]]`",
    "1.031743407474536",
    "its polynomial for norms below 0.05 is off by about x^5 / 1200",
)
def torch_matrix_exp_small() -> Case:
    return torch_exp(np.diag([2.0**-5, 0]))


@finding(
    "`torch.linalg.matrix_exp`, float32",
    "`[[-5, 0], [0, 0]]`",
    "0.0067381253",
    "off by 1.8e-7 of the largest entry, 2.6e-5 of this one",
)
def torch_matrix_exp_decay() -> Case:
    return torch_exp(np.diag([-5, 0]).astype(np.float32))


@finding(
    "`torch.linalg.matrix_exp`, complex64",
    "`[[-0.25, 0], [0, 0]]`",
    "0.7788015 + 0i",
    "off by 15 units of roundoff",
)
def torch_matrix_exp_complex() -> Case:
    return torch_exp(np.diag([-0.25, 0]).astype(np.complex64))


@finding(
    "`scipy.linalg.expm`, float64",
    "`[[2, 1], [1, 0]]`",
    "9.640338740659447",
    "off by 105 ulps where 88 are allowed",
)
def scipy_expm_two() -> Case:
    return scipy_exp(np.array([[2.0, 1], [1, 0]]))


@finding(
    "`scipy.linalg.expm`, float64",
    "`[[0, 0, 0], [1, 0, 0], [0, 0, 3]]`, entry 2, 2",
    "20.08553692318879",
    "off by 4 tolerances",
)
def scipy_expm_three() -> Case:
    return scipy_exp(np.array([[0.0, 0, 0], [1, 0, 0], [0, 0, 3]]), at=8)
