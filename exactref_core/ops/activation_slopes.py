"""Slopes of the activations, exactly: written so that every sign and every limit is certain.

With q = e^-z or p = e^z, whichever is small, a slope is p times something of a certain sign below
0 and 1 plus q times something above, so that enclosures tell on which side of its limit it lies
however small q is.
"""

from __future__ import annotations

from typing import Any

__all__ = ["by_logistic", "by_normal", "of_mish"]


def by_logistic(e: Any, z: Any, turn: Any) -> Any:
    """Return the exact slope s + turn s (1 - s) of x s(z), where turn = x dz/dx, s the logistic.

    With p = e^z: p (1 + p + turn) / (1 + p)^2; with q = e^-z: 1 + q (turn - 1 - q) / (1 + q)^2.
    """
    one = e.constant(1)
    p, q = e.function("exp", z), e.function("exp", e.step("negative", z))

    def over_square(small: Any, top: Any) -> Any:
        whole = e.step("add", one, small)
        return e.step("divide", e.step("multiply", small, top), e.step("multiply", whole, whole))

    below = over_square(p, e.step("add", e.step("add", one, p), turn))
    above = over_square(q, e.step("subtract", turn, e.step("add", one, q)))
    return e.step("by_sign", z, e.step("add", one, above), below)


def by_normal(e: Any, x: Any) -> Any:
    """Return the exact P(x) + x p(x), P the normal distribution and p its density.

    P(-y) = e^(-y^2 / 2) erfcx(y / sqrt 2) / 2, so that with b = e^(-x^2 / 2) the slope is
    b (x / sqrt(2 pi) + erfcx(-x / sqrt 2) / 2) below 0, and 1 + b (x / sqrt(2 pi) -
    erfcx(x / sqrt 2) / 2) above; at 0 all is rational.
    """
    pi, two = e.function("acos", e.constant(-1)), e.constant(2)
    size = e.step("absolute", x)
    square = e.step("divide", e.step("multiply", x, x), two)
    bell = e.function("exp", e.step("negative", square))
    line = e.step("divide", x, e.step("sqrt", e.step("multiply", two, pi)))
    scaled = e.function("erfcx", e.step("divide", size, e.step("sqrt", two)))
    tail = e.step("divide", scaled, two)
    below = e.step("multiply", bell, e.step("add", line, tail))
    above = e.step("multiply", bell, e.step("subtract", line, tail))
    return e.step("by_sign", x, e.step("add", e.constant(1), above), below)


def of_mish(e: Any, x: Any) -> Any:
    """Return the exact slope t + x s (1 - t^2) of x t, t = tanh(log(1 + e^x)), s the logistic.

    With w = e^x and D = w^2 + 2 w + 2: t = w (w + 2) / D and s (1 - t^2) = 4 w (1 + w) / D^2. With
    q = e^-x and E = 1 + 2 q + 2 q^2: t = 1 - 2 q^2 / E and s (1 - t^2) = 4 q^2 (1 + q) / E^2.
    """
    one, two, four = (e.constant(n) for n in (1, 2, 4))

    def add(*terms: Any) -> Any:
        return terms[0] if len(terms) == 1 else e.step("add", add(*terms[:-1]), terms[-1])

    def times(*factors: Any) -> Any:
        found = factors[0]
        for factor in factors[1:]:
            found = e.step("multiply", found, factor)
        return found

    w, q = e.function("exp", x), e.function("exp", e.step("negative", x))
    bottom = add(two, times(two, w), times(w, w))
    top = add(times(add(w, two), bottom), times(four, x, add(one, w)))
    below = times(w, e.step("divide", top, times(bottom, bottom)))
    bottom = add(one, times(two, q), times(two, q, q))
    top = e.step("subtract", times(two, x, add(one, q)), bottom)
    above = times(two, times(q, q), e.step("divide", top, times(bottom, bottom)))
    return e.step("by_sign", x, add(one, above), below)
