"""Operations in which the sign of a zero decides: angles, reciprocals; and the rectifier."""

from __future__ import annotations

import numpy as np

from tests.arena.elementwise import COUNT, FORMATS, flat, lone, usual, wide
from tests.arena.frame import Bench, Family, Values, fault, right
from tests.arena.library import of_numpy, of_torch
from tests.arena.orders import single


def angle(b: Bench, y: Values, x: Values) -> Values:
    return np.arctan2(y.astype(np.float64), x.astype(np.float64)).astype(b.m.dtype)


def by_comparison(b: Bench, y: Values, x: Values) -> Values:
    """Half a turn added where x < 0, its sign by a comparison of y, which -0 passes as 0."""
    turn = np.where(y < 0, b.number(-np.pi), b.number(np.pi))
    return np.arctan(y / x) + np.where(x < 0, turn, b.number(0))


ATAN2 = Family(
    group="functions",
    op="atan2",
    tensors=flat(2),
    right=(
        right("correctly rounded or nearly", angle, "normal"),
        right("in float64", wide(np.arctan2), "normal", when=single),
        *of_numpy("arctan2", np.arctan2),
        *of_torch("atan2"),
    ),
    broken=(
        *usual(angle),
        fault("quadrant lost", lambda b, y, x: np.arctan(y / x)),
        fault("sign of a zero lost", lambda b, y, x: angle(b, y + b.number(0), x)),
        fault("sign of a zero divisor lost", lambda b, y, x: angle(b, y, x + b.number(0))),
        fault("sign by comparison", by_comparison),
        fault("operands swapped", lambda b, y, x: angle(b, x, y)),
    ),
    formats=("float32", "bfloat16", "float16", "float64"),
    slow=("near_overflow", "wide_exponents", "subnormal", "signed_zeros"),
    few=64,
    most=512,
    own=angle,
)


def newton(b: Bench, x: Values) -> Values:
    """A short estimate and one step, without the cases that the step cannot take."""
    estimate = (1 / x.astype(np.float16)).astype(b.m.dtype)
    return estimate * (b.number(2) - x * estimate)


RECIPROCAL = lone(
    "reciprocal",
    np.reciprocal,
    1,
    fault("sign of a zero lost", lambda b, x: 1 / (x + b.number(0))),
    fault("sign by comparison", lambda b, x: np.where(x < 0, -1 / np.abs(x), 1 / np.abs(x))),
    fault("estimate and one step", newton),
    fault("eps added to the divisor", lambda b, x: 1 / (x + b.number(1e-6))),
)


def rectified(b: Bench, x: Values) -> Values:
    return np.maximum(x, b.number(0))


RELU = Family(
    group="elementwise",
    op="relu",
    tensors=flat(1),
    right=(
        right("maximum", rectified, "normal"),
        right("by comparison", lambda b, x: np.where(x < 0, b.number(0), x), "normal"),
        *of_torch("relu", formats=("float32", "float64", "bfloat16")),
    ),
    broken=(
        *usual(rectified),
        fault("threshold above zero", lambda b, x: np.where(x > b.number(0.0625), x, b.number(0))),
        fault("leaky", lambda b, x: np.maximum(x, x * b.number(0.01))),
        fault("magnitude", lambda b, x: np.abs(x)),
        fault("clamped at 6", lambda b, x: np.clip(x, b.number(0), b.number(6))),
    ),
    formats=FORMATS,
    slow=(),
    most=COUNT,
    own=rectified,
)

FAMILIES = (ATAN2, RECIPROCAL, RELU)
