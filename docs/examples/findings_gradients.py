"""What judging torch's gradients of float32, float64 and complex numbers found."""

from __future__ import annotations

import numpy as np

import exactref as er
from docs.examples.finding import Case, array, finding, on_autograd


@finding(
    "torch's autograd of `digamma`, float64",
    "1",
    "1.6449340676383375",
    "the asymptotic series of trigamma is cut short for double precision",
)
def torch_autograd_digamma() -> Case:
    one = np.ones(1)
    run = on_autograd(lambda torch, x: torch.digamma(x), one, one)
    return Case(run, er.backward.digamma(one, one))


@finding(
    "torch's autograd of `digamma`, float32",
    "-1, gradient 1",
    "1.2913697e+15",
    "no infinity at the poles, and digits lost beside them: pi x is rounded before its sine is "
    "taken; float64 too",
)
def torch_autograd_digamma_pole() -> Case:
    one = array([1], "float32")
    run = on_autograd(lambda torch, x: torch.digamma(x), one, -one)
    return Case(run, er.backward.digamma(one, -one))


@finding(
    "torch's autograd of `lgamma`, float64",
    "-1 + 2^-8, gradient 1",
    "-255.5668868502355",
    "the digamma function, which loses digits above every negative integer",
)
def torch_autograd_lgamma() -> Case:
    one, x = np.ones(1), np.array([-1 + 2.0**-8])
    run = on_autograd(lambda torch, x: torch.lgamma(x), one, x)
    return Case(run, er.backward.lgamma(one, x))


def quotient(grad: float, x2: float) -> Case:
    """The gradient of 1 / x2."""
    g, x1, x2s = (array([v], "float32") for v in (grad, 1, x2))
    run = on_autograd(lambda torch, x1, x2: torch.div(x1, x2), g, x1, x2s, of=1)
    return Case(run, er.backward.divide(g, x1, x2s)["grad_x2"])


@finding(
    "torch's autograd of `x1 / x2`, float32",
    "x1 = 1, x2 = 2^-64, gradient 2^-64: that of x2",
    "-inf",
    "x1 / x2 / x2 overflows before the gradient is multiplied; where it underflows, 0 is returned",
)
def torch_autograd_divide() -> Case:
    return quotient(2.0**-64, 2.0**-64)


@finding(
    "torch's autograd of `x1 / x2`, float32",
    "x1 = 1, x2 = 2^-126, gradient 0: that of x2",
    "nan",
    "the same, and the infinity times 0 is NaN",
)
def torch_autograd_divide_nan() -> Case:
    return quotient(0, 2.0**-126)


def factors(name: str, kernel: str, grad: float | list[float]) -> Case:
    """A gradient of the product of two numbers, or of their products so far."""
    g, x = array(grad, "float32"), array([2.0**64] * 2, "float32")
    run = on_autograd(lambda torch, x: getattr(torch, kernel)(x, 0), g, x)
    return Case(run, getattr(er.backward, name)(g, x))


@finding(
    "torch's autograd of `prod`, float32",
    "`[2^64, 2^64]`, gradient 1",
    "inf",
    "the product, which overflows, is divided by each number",
)
def torch_autograd_prod() -> Case:
    return factors("prod", "prod", 1)


@finding(
    "torch's autograd of `cumprod`, float32",
    "`[2^64, 2^64]`, gradient `[1, 0]`",
    "nan",
    "the same, and the infinity times 0 is NaN",
)
def torch_autograd_cumulative_prod() -> Case:
    return factors("cumulative_prod", "cumprod", [1, 0])


@finding(
    "torch's autograd of `layer_norm`, float32",
    "`[2^64]`, gradient 1",
    "nan",
    "the forward pass keeps a mean and a reciprocal root, the latter NaN: squares overflow in it, "
    "which the variance does not",
)
def torch_autograd_layer_norm() -> Case:
    g, x = array([1], "float32"), array([2.0**64], "float32")
    run = on_autograd(lambda torch, x: torch.nn.functional.layer_norm(x, (1,)), g, x)
    return Case(run, er.backward.layer_norm(g, x))


@finding(
    "torch's autograd of `rms_norm`, float32",
    "`[2^127]`, gradient 1",
    "nan",
    "the gradient of the square, 2 x, overflows, and is multiplied by 0: the square has overflowed "
    "too, and its reciprocal root vanished",
)
def torch_autograd_rms_norm() -> Case:
    g, x = array([1], "float32"), array([2.0**127], "float32")
    run = on_autograd(lambda torch, x: torch.nn.functional.rms_norm(x, (1,)), g, x)
    return Case(run, er.backward.rms_norm(g, x))


@finding(
    "torch's autograd of `matrix_exp`, float32",
    "`[[1]]`, gradient 2^20",
    "2.8496078e+06",
    "the gradient stands beside A in a block matrix, whose size decides how often it is squared: "
    "off by 2.5e-4, for n = 16 and gradients of 1e6 by all of its size; scaled first it is right",
)
def torch_matrix_exp_gradient() -> Case:
    a, g = np.ones((1, 1), np.float32), np.full((1, 1), 2.0**20, np.float32)
    run = on_autograd(lambda torch, a: torch.linalg.matrix_exp(a), g, a)
    return Case(run, er.backward.matrix_exp(g, a))


@finding(
    "torch's autograd of `hardsigmoid`, float64",
    "1",
    "0.1666666716337204",
    "1/6 is a float32 number",
)
def torch_autograd_hardsigmoid() -> Case:
    one = np.ones(1)
    run = on_autograd(lambda torch, x: torch.nn.functional.hardsigmoid(x), one, one)
    return Case(run, er.backward.hardsigmoid(one, one)["grad_x"])
