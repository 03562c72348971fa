"""The product and quotient of C99 G.5.1, statement by statement, on numpy's scalars."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Pair = tuple[Any, Any]


def boxed(x: Any) -> Any:
    """1 for an infinity, 0 for the rest, with the sign."""
    return np.copysign(type(x)(np.isinf(x)), x)


def without_nan(x: Any) -> Any:
    """A zero in the place of NaN, with the sign."""
    return np.copysign(type(x)(0), x) if np.isnan(x) else x


def product(z: Pair, w: Pair) -> Pair:
    """_Cmultd."""
    (a, b), (c, d) = z, w
    ac, bd, ad, bc = a * c, b * d, a * d, b * c
    x, y = ac - bd, ad + bc
    if not (np.isnan(x) and np.isnan(y)):
        return x, y
    again = False
    if np.isinf(a) or np.isinf(b):
        a, b, c, d = boxed(a), boxed(b), without_nan(c), without_nan(d)
        again = True
    if np.isinf(c) or np.isinf(d):
        c, d, a, b = boxed(c), boxed(d), without_nan(a), without_nan(b)
        again = True
    if not again and any(np.isinf(one) for one in (ac, bd, ad, bc)):
        a, b, c, d = map(without_nan, (a, b, c, d))
        again = True
    infinity = type(a)(np.inf)
    return (infinity * (a * c - b * d), infinity * (a * d + b * c)) if again else (x, y)


def quotient(z: Pair, w: Pair) -> Pair:
    """_Cdivd."""
    (a, b), (c, d) = z, w
    kind, size = type(c), np.fmax(abs(c), abs(d))
    infinity, shift = kind(np.inf), 0
    if np.isfinite(size) and size > 0:
        shift = math.frexp(size)[1] - 1
        c, d = np.ldexp(c, -shift), np.ldexp(d, -shift)
    bottom = c * c + d * d
    x, y = (np.ldexp(top / bottom, -shift) for top in (a * c + b * d, b * c - a * d))
    if not (np.isnan(x) and np.isnan(y)):
        return x, y
    if bottom == 0 and not (np.isnan(a) and np.isnan(b)):
        side = np.copysign(infinity, c)
        return side * a, side * b
    if (np.isinf(a) or np.isinf(b)) and np.isfinite(c) and np.isfinite(d):
        a, b = boxed(a), boxed(b)
        return infinity * (a * c + b * d), infinity * (b * c - a * d)
    if np.isinf(size) and np.isfinite(a) and np.isfinite(b):
        c, d = boxed(c), boxed(d)
        return kind(0) * (a * c + b * d), kind(0) * (b * c - a * d)
    return x, y
