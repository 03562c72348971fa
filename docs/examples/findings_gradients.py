"""What judging torch's gradients of float32, float64 and complex numbers found."""

from __future__ import annotations

from typing import Any

import numpy as np

import exactref as er
from docs.examples.finding import Case, array, finding, on_torch


@finding(
    "torch's autograd of `digamma`, float64",
    "1",
    "1.6449340676383375",
    "the asymptotic series of trigamma is cut short for double precision",
)
def torch_autograd_digamma() -> Case:
    one = np.ones(1)

    def gradient(torch: Any, g: Any, x: Any) -> Any:
        leaf = x.requires_grad_()
        torch.digamma(leaf).backward(g)
        return leaf.grad

    return Case(on_torch(gradient, one, one), er.backward.digamma(one, one))


@finding(
    "torch's autograd of `x1 / x2`, float32",
    "x1 = 1, x2 = 2^-64, gradient 2^-64: that of x2",
    "-inf",
    "x1 / x2 / x2 overflows before the gradient is multiplied",
)
def torch_autograd_divide() -> Case:
    g, x1, x2 = (array([v], "float32") for v in (2.0**-64, 1, 2.0**-64))

    def gradient(torch: Any, g: Any, x1: Any, x2: Any) -> Any:
        leaf = x2.requires_grad_()
        torch.div(x1, leaf).backward(g)
        return leaf.grad

    return Case(on_torch(gradient, g, x1, x2), er.backward.divide(g, x1, x2)["grad_x2"])


@finding(
    "torch's autograd of `x1 / x2`, float32",
    "x1 = 1, x2 = 2^-126, gradient 0: that of x2",
    "nan",
    "the same, and the infinity times 0 is NaN",
)
def torch_autograd_divide_nan() -> Case:
    g, x1, x2 = (array([v], "float32") for v in (0, 1, 2.0**-126))

    def gradient(torch: Any, g: Any, x1: Any, x2: Any) -> Any:
        leaf = x2.requires_grad_()
        torch.div(x1, leaf).backward(g)
        return leaf.grad

    return Case(on_torch(gradient, g, x1, x2), er.backward.divide(g, x1, x2)["grad_x2"])


@finding(
    "torch's autograd of `layer_norm`, float32",
    "`[2^64]`, gradient 1",
    "nan",
    "the forward pass keeps a mean and a reciprocal root, the latter NaN: squares overflow in it, "
    "which the variance does not",
)
def torch_autograd_layer_norm() -> Case:
    g, x = array([1], "float32"), array([2.0**64], "float32")

    def gradient(torch: Any, g: Any, x: Any) -> Any:
        leaf = x.requires_grad_()
        torch.nn.functional.layer_norm(leaf, (1,)).backward(g)
        return leaf.grad

    return Case(on_torch(gradient, g, x), er.backward.layer_norm(g, x))


@finding(
    "torch's autograd of `rms_norm`, float32",
    "`[2^127]`, gradient 1",
    "nan",
    "the gradient of the square, 2 x, overflows, and is multiplied by 0: the square has overflowed "
    "too, and its reciprocal root vanished",
)
def torch_autograd_rms_norm() -> Case:
    g, x = array([1], "float32"), array([2.0**127], "float32")

    def gradient(torch: Any, g: Any, x: Any) -> Any:
        leaf = x.requires_grad_()
        torch.nn.functional.rms_norm(leaf, (1,)).backward(g)
        return leaf.grad

    return Case(on_torch(gradient, g, x), er.backward.rms_norm(g, x))


@finding(
    "torch's autograd of `matrix_exp`, float32",
    "`[[1]]`, gradient 2^20",
    "2.8496078e+06",
    "the gradient stands beside A in a block matrix, whose size decides how often it is squared: "
    "off by 2.5e-4, for n = 16 and gradients of 1e6 by all of its size; scaled first it is right",
)
def torch_matrix_exp_gradient() -> Case:
    a, g = np.ones((1, 1), np.float32), np.full((1, 1), 2.0**20, np.float32)

    def gradient(torch: Any, a: Any, g: Any) -> Any:
        leaf = a.requires_grad_()
        torch.linalg.matrix_exp(leaf).backward(g)
        return leaf.grad

    return Case(on_torch(gradient, a, g), er.backward.matrix_exp(g, a))


@finding(
    "torch's autograd of `hardsigmoid`, float64",
    "1",
    "0.1666666716337204",
    "1/6 is a float32 number",
)
def torch_autograd_hardsigmoid() -> Case:
    one = np.ones(1)

    def gradient(torch: Any, g: Any, x: Any) -> Any:
        leaf = x.requires_grad_()
        torch.nn.functional.hardsigmoid(leaf).backward(g)
        return leaf.grad

    found = er.backward.hardsigmoid(one, one)["grad_x"]
    return Case(on_torch(gradient, one, one), found)
