"""Lower ends that are read of one admitted computation alone are no more than the whole bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref import backward
from exactref_core.arithmetic.bounds import FloatBounds
from exactref_core.arithmetic.coverage import lower_ends_suffice
from exactref_core.arithmetic.fast import FastReading
from exactref_core.registry import get_standard

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "var": lambda x, y: er.var(x, axis=-1),
    "var of two": lambda x, y: er.var(x[:, :2], axis=-1, correction=1),
    "std": lambda x, y: er.std(x, axis=-1),
    "layer_norm": lambda x, y: er.layer_norm(x, 6, y[0], y[1]),
    "rms_norm": lambda x, y: er.rms_norm(x, 6, y[0]),
    "gelu": lambda x, y: er.gelu(x),
    "silu": lambda x, y: er.silu(x),
    "softplus": lambda x, y: er.softplus(x),
    "mish": lambda x, y: er.mish(x),
    "logaddexp": lambda x, y: er.logaddexp(x, y),
    "lgamma": lambda x, y: er.lgamma(x),
    "gelu of a sum": lambda x, y: er.gelu(er.add(x, y)),
    "softmax of gelu": lambda x, y: er.softmax(er.gelu(x), axis=-1),
    "choice by the sign of a logarithm": lambda x, y: er.leaky_relu(er.log_softmax(x, axis=-1)),
    "choice by the sign of a mean": lambda x, y: er.elu(
        er.scaled_dot_product_attention(x, x, y)["output"]
    ),
    "quotient by a weight": lambda x, y: er.tanh(er.reciprocal(er.softmax(x, axis=-1))),
    "norm of norms": lambda x, y: er.layer_norm(er.layer_norm(x, 6), 6, y[0]),
    "quotient of deviations": lambda x, y: er.divide(y, er.std(x, axis=-1, keepdims=True)),
    "gradient of softmax": lambda x, y: backward.softmax(y, x, axis=-1),
    "gradient of layer_norm": lambda x, y: backward.layer_norm(y, x, 6, y[0], y[1]),
    "gradient of gelu": lambda x, y: backward.gelu(y, x),
    "gradient of silu": lambda x, y: backward.silu(y, x),
}


def numbers(dtype: str, spread: int, seed: int) -> er.Array:
    """Numbers of all sizes down from a few, constant rows, zeros."""
    rng = np.random.default_rng(seed)
    x = np.ldexp(rng.uniform(-1, 1, (12, 6)), rng.integers(-spread, 4, (12, 6)))
    x[2], x[5, 1:], x[7] = x[2, 0], 0.0, x[7] + 1000.0
    return er.asarray(x, dtype)


@pytest.mark.parametrize("flush", [False, True])
@pytest.mark.parametrize("name", CALLS)
def test_no_lower_end_is_above_the_bound(name: str, flush: bool) -> None:
    compared = 0
    for seed, (dtype, spread) in enumerate(
        [("float32", 1), ("float32", 40), ("bfloat16", 140), ("float64", 8)]
    ):
        result = CALLS[name](numbers(dtype, spread, seed), numbers(dtype, spread, seed + 9))
        for output in result.outputs.values():
            for part in output.parts:
                for standard in ("normal", "any_order"):
                    rule, fast = get_standard(standard), FastReading(True)
                    whole = FloatBounds(fast, rule, flush, True).whole(part.source).error
                    least = FloatBounds(part.coarse, rule, flush, False)
                    least.least = lower_ends_suffice(part.source)
                    low = least.whole(part.source).error.low
                    assert np.all(low <= np.asarray(whole.high) * (1 + 2.0**-40))
                    compared += int(np.count_nonzero(low))
    assert compared > 50


def test_most_outputs_are_within() -> None:
    x, y = numbers("float32", 1, 0), numbers("float32", 1, 1)
    for name, call in CALLS.items():
        if "of" in name.split():
            continue
        result = call(x, y)
        (part,) = result.outputs["output"].parts
        bounds = FloatBounds(part.coarse, get_standard("normal"), False, False)
        bounds.least = lower_ends_suffice(part.source)
        low = np.broadcast_to(bounds.whole(part.source).error.low, part.source.shape)
        ulp = np.spacing(np.abs(result.rounded.data)).astype(float)
        assert np.mean(low >= ulp) > 0.6, name
