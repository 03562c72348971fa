"""Elementary functions and activations, by definition and as estimates."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.arena.elementwise import flat, usual, wide
from tests.arena.frame import (
    Bench,
    Family,
    Fault,
    Values,
    fault,
    right,
)
from tests.arena.library import of_numpy, of_torch
from tests.arena.orders import single
from tests.every_op.kernels_formats import SPECS, store


def function(
    op: str,
    exact: Callable[[Values], Values],
    *more: Fault,
    libraries: tuple[Any, ...] = (),
    **options: Any,
) -> Family:
    """A library function: float64's, rounded to the machine; and as libraries have it."""

    def run(b: Bench, x: Values) -> Values:
        return exact(x.astype(np.float64)).astype(b.m.dtype)

    return Family(
        group="functions",
        op=op,
        tensors=flat(1),
        right=(
            right("correctly rounded or nearly", run, "normal"),
            right("in float64", wide(exact), "normal", when=single),
            *libraries,
        ),
        broken=(*usual(run), *more),
        formats=("float32", "bfloat16", "float16", "float64"),
        slow=("near_overflow", "wide_exponents", "subnormal"),
        few=64,
        most=1024,
        own=run,
        **options,
    )


def power_series(x: Values, terms: int) -> Values:
    return sum(x**k / x.dtype.type(math.factorial(k)) for k in range(terms))  # type: ignore[return-value]


FUNCTIONS = (
    function(
        "exp",
        np.exp,
        fault("base 2", lambda b, x: np.exp2(x)),
        fault("series cut short", lambda b, x: power_series(x, 6)),
        fault("short constant", lambda b, x: np.exp2(x * b.number(1.4427))),
        fault("argument clamped", lambda b, x: np.exp(np.clip(x, -10, 10))),
        libraries=(*of_numpy("exp", np.exp), *of_torch("exp", formats=("float64",))),
    ),
    function(
        "log",
        np.log,
        fault("base 2", lambda b, x: np.log2(x)),
        fault("eps inside", lambda b, x: np.log(x + b.number(1e-6))),
        fault("log1p for log", lambda b, x: np.log1p(x)),
        libraries=of_numpy("log", np.log),
    ),
    function(
        "tanh",
        np.tanh,
        fault("identity near zero", lambda b, x: np.where(np.abs(x) < 0.125, x, np.tanh(x))),
        fault(
            "rational estimate", lambda b, x: np.clip(x * (27 + x * x) / (27 + 9 * x * x), -1, 1)
        ),
        fault("through e^2x", lambda b, x: 1 - 2 / (np.exp(2 * x) + 1)),
        libraries=of_numpy("tanh", np.tanh),
    ),
)


def sigmoid(b: Bench, x: Values) -> Values:
    return b.number(1) / (b.number(1) + np.exp(-x))


def gelu(b: Bench, x: Values) -> Values:
    """x/2 (1 + erf(x / sqrt 2)), erf as float64 has it."""
    root = b.number(math.sqrt(0.5))
    return x * b.number(0.5) * (b.number(1) + error_function(x * root).astype(b.m.dtype))


def error_function(x: Values) -> Values:
    return np.vectorize(math.erf, otypes=[np.float64])(x.astype(np.float64))


def gelu_tanh(b: Bench, x: Values) -> Values:
    inner = b.number(math.sqrt(2 / math.pi)) * (x + b.number(0.044715) * x * x * x)
    return b.number(0.5) * x * (b.number(1) + np.tanh(inner))


ACTIVATIONS = tuple(
    Family(
        group="functions",
        op=op,
        tensors=flat(1),
        right=(right("by definition", run, "normal"), *others),
        broken=(*usual(run), *more),
        formats=("float32", "bfloat16", "float16", "float64"),
        slow=("near_overflow", "wide_exponents", "subnormal"),
        few=64,
        most=512,
        own=run,
    )
    for op, run, others, more in (
        (
            "sigmoid",
            sigmoid,
            (
                right(
                    "e^x / (1 + e^x) below zero",
                    lambda b, x: np.where(
                        x < 0, np.exp(x) / (b.number(1) + np.exp(x)), sigmoid(b, x)
                    ),
                    "normal",
                ),
            ),
            (
                fault("hard sigmoid", lambda b, x: np.clip(x / 6 + b.number(0.5), 0, 1)),
                fault("sign of the argument", lambda b, x: sigmoid(b, -x)),
                fault("base 2", lambda b, x: b.number(1) / (b.number(1) + np.exp2(-x))),
            ),
        ),
        (
            "silu",
            lambda b, x: x / (b.number(1) + np.exp(-x)),
            (right("x times sigmoid", lambda b, x: x * sigmoid(b, x), "normal"),),
            (
                fault("sigmoid for silu", sigmoid),
                fault(
                    "sigmoid stored narrow",
                    lambda b, x: (
                        x
                        * store(sigmoid(b, x).astype(np.float64), SPECS["bfloat16"]).astype(
                            b.m.dtype
                        )
                    ),
                ),
                fault("gelu's factor", lambda b, x: x * sigmoid(b, b.number(1.702) * x)),
            ),
        ),
        (
            "gelu",
            gelu,
            (),
            (
                fault("tanh form for erf form", gelu_tanh),
                fault("sigmoid estimate", lambda b, x: x * sigmoid(b, b.number(1.702) * x)),
                fault("half missing", lambda b, x: b.number(2) * gelu(b, x)),
            ),
        ),
    )
)

FAMILIES = (*FUNCTIONS, *ACTIVATIONS)
