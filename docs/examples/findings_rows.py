"""What judging torch's CPU kernels of rows of bfloat16 and float16 found."""

from __future__ import annotations

import numpy as np

import exactref as er
from docs.examples.finding import Case, array, finding, on_torch


def logarithm(name: str, values: list[float], dtype: str, at: int = 0) -> Case:
    """A logarithm of a sum of exponentials."""
    x = array(values, dtype)
    r = getattr(er, name)(x, axis=-1)
    return Case(on_torch(lambda torch, x: getattr(torch, name)(x, -1), x), r, at)


@finding(
    "`torch.logsumexp`, bfloat16",
    "`[0, -2]`",
    "0.12451171875",
    "exponentials and their sum are stored in 16 bits: 95 of 400 random calls are outside, by up "
    "to 16 %",
)
def torch_logsumexp_bfloat16() -> Case:
    return logarithm("logsumexp", [0, -2], "bfloat16")


@finding("`torch.logsumexp`, float16", "`[0, -2]`", "0.1273193359375", "the same, 104 of 400")
def torch_logsumexp_float16() -> Case:
    return logarithm("logsumexp", [0, -2], "float16")


@finding(
    "`torch.log_softmax`, bfloat16",
    "`[0, 2]`",
    "-0.12451171875",
    "the logarithm of the sum is stored in 16 bits: 313 of 400 random calls; `x.float()` first is "
    "right; `cross_entropy` too",
)
def torch_log_softmax_bfloat16() -> Case:
    return logarithm("log_softmax", [0, 2], "bfloat16", 1)


@finding("`torch.log_softmax`, float16", "`[0, 2]`", "-0.1273193359375", "the same, 301 of 400")
def torch_log_softmax_float16() -> Case:
    return logarithm("log_softmax", [0, 2], "float16", 1)


def columns(value: float, dtype: str) -> Case:
    """The softmax along the first of two axes."""
    x = array([[0], [value]], dtype)
    return Case(on_torch(lambda torch, x: torch.softmax(x, 0), x), er.softmax(x, axis=0))


@finding(
    "`torch.softmax(x, 0)`, bfloat16",
    "`[[0], [1]]`",
    "0.267578125",
    "exponentials are stored in 16 bits along an axis that is not the last: one of five random "
    "elements is outside, and none along the last",
)
def torch_softmax_of_columns_bfloat16() -> Case:
    return columns(1, "bfloat16")


@finding("`torch.softmax(x, 0)`, float16", "`[[0], [2]]`", "0.1192626953125", "the same")
def torch_softmax_of_columns_float16() -> Case:
    return columns(2, "float16")


def loss(values: list[float], dtype: str) -> Case:
    """The mean of a loss of one class."""
    x, target = array([[value] for value in values], dtype), np.zeros(len(values), np.int64)
    run = on_torch(lambda torch, x, t: torch.nn.functional.nll_loss(x, t), x, target)
    return Case(run, er.nll_loss(x, target))


@finding(
    "`nll_loss` of torch, bfloat16",
    "`[[1], [0], [0.466796875]]`, every target 0",
    "-0.490234375",
    "the sum is stored in 16 bits before it is divided",
)
def torch_nll_loss_bfloat16() -> Case:
    return loss([1, 0, 0.466796875], "bfloat16")


@finding(
    "`nll_loss` of torch, float16",
    "`[[1], [1], [-0.1519775390625]]`, every target 0",
    "-0.61572265625",
    "the same",
)
def torch_nll_loss_float16() -> Case:
    return loss([1, 1, -0.1519775390625], "float16")


def product(values: list[float], dtype: str) -> Case:
    """A product of numbers."""
    x = array(values, dtype)
    return Case(on_torch(lambda torch, x: torch.prod(x), x), er.prod(x))


@finding(
    "`torch.prod`, bfloat16",
    "`[0.4375, 2.3125, 0.1875]`",
    "0.1904296875",
    "products are stored in 16 bits",
)
def torch_prod_bfloat16() -> Case:
    return product([0.4375, 2.3125, 0.1875], "bfloat16")


@finding(
    "`torch.prod`, float16",
    "`[-3, -0.9052734375, -3]`",
    "-8.140625",
    "products are stored in 16 bits",
)
def torch_prod_float16() -> Case:
    return product([-3, -0.9052734375, -3], "float16")
