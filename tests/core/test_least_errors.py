"""What verbs alone tell of a bound is no more than the bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.arithmetic.bounds import FloatBounds
from exactref_core.arithmetic.fast import FastReading
from exactref_core.arithmetic.least_errors import least
from exactref_core.registry import get_standard

FUNCTIONS = (
    "exp", "exp2", "expm1", "log", "log1p", "sin", "cos", "tan", "atan", "sinh", "asinh", "tanh",
    "erf", "erfc", "cbrt",
)  # fmt: skip
ROWS: dict[str, Callable[[Any], Any]] = {
    "softmax": lambda x: er.softmax(x, axis=-1),
    "softmax of columns": lambda x: er.softmax(x, axis=0),
    "logsumexp": lambda x: er.logsumexp(x, axis=-1),
    "logsumexp of all": lambda x: er.logsumexp(x),
}
CALLS = {name: getattr(er, name) for name in FUNCTIONS} | ROWS


def numbers(dtype: str, exponents: tuple[int, int]) -> er.Array:
    """Numbers of all sizes between two powers of two, zeros, and rows of one large number."""
    rng = np.random.default_rng(0)
    x = np.ldexp(rng.uniform(-1, 1, (40, 5)), rng.integers(*exponents, (40, 5)))
    x[3], x[7, 2:] = 0.0, x[7, 0]
    x[9, 1] = 2.0 ** exponents[1] if exponents[1] < 100 else 80.0
    return er.asarray(x, dtype)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64"])
@pytest.mark.parametrize("name", CALLS)
def test_no_bound_is_smaller(name: str, dtype: str) -> None:
    compared = 0
    for exponents in ((-8, 4), (-140, 7), (-30, 100)):
        (part,) = CALLS[name](numbers(dtype, exponents)).outputs["output"].parts
        rule = least(part.source)
        assert rule is not None
        reading = FastReading(True)
        x = reading.whole(part.source)
        size = np.abs(x.high) * (1 - 2.0**-40)
        counts = np.broadcast_to(np.abs(x.high) < float(part.compute.max) / 2, x.high.shape)
        counts = counts if x.special is None else counts & (x.special == 0)
        for standard in ("normal", "any_order", "typical"):
            bounds = FloatBounds(reading, get_standard(standard), False, True)
            error = np.broadcast_to(bounds.whole(part.source).error.low, size.shape)
            told = rule.share * size + rule.fixed * (1 - 2.0**-40)
            assert np.all(error[counts] >= told[counts])
            compared += int(counts.sum())
    assert compared > (0 if "of all" in name else 300)


def test_nothing_is_told_of_what_other_rules_may_change() -> None:
    x = er.asarray([0.5, 2.0], "float32")
    for result in (
        er.exp(er.add(x, x)),  # of a number that an infinity may be stored for
        er.pow(x, x),
        er.lgamma(x),
        er.softmax(er.exp(x)),
        er.sum(x),
    ):
        assert least(result.outputs["output"].parts[0].source) is None
