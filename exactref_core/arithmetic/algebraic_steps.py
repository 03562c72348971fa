"""Single steps on quotients of sums of exponentials; choices by the signs that algebra tells."""

from __future__ import annotations

from collections.abc import Callable

from exactref_core.arithmetic.graph import Node
from exactref_core.exact.exponential_decisions import Decisions
from exactref_core.exact.exponential_quotients import Quotient
from exactref_core.exact.exponential_sums import Unsupported
from exactref_core.exact.interval import rational

__all__ = ["STEPS", "larger_of"]


def add(algebra: Decisions, node: Node, x: Quotient, y: Quotient) -> Quotient:
    """x + y."""
    return algebra.total([x, y])


def subtract(algebra: Decisions, node: Node, x: Quotient, y: Quotient) -> Quotient:
    """x - y."""
    return algebra.total([x, algebra.negative(y)])


def multiply(algebra: Decisions, node: Node, x: Quotient, y: Quotient) -> Quotient:
    """x * y."""
    return algebra.multiply(x, y)


def divide(algebra: Decisions, node: Node, x: Quotient, y: Quotient) -> Quotient:
    """x / y."""
    return algebra.divide(x, algebra.over_one(y))


def negative(algebra: Decisions, node: Node, x: Quotient) -> Quotient:
    """-x."""
    return algebra.negative(x)


def absolute(algebra: Decisions, node: Node, x: Quotient) -> Quotient:
    """|x|."""
    return algebra.negative(x) if algebra.sign(x) < 0 else x


def by_sign(algebra: Decisions, node: Node, a: Quotient, x: Quotient, y: Quotient) -> Quotient:
    """x where a >= 0, else y."""
    return y if algebra.sign(a) < 0 else x


def order(algebra: Decisions, node: Node, x: Quotient, y: Quotient) -> Quotient:
    """The sign of x - y."""
    return algebra.constant(algebra.sign(subtract(algebra, node, x, y)))


def larger_of(algebra: Decisions, x: Quotient, y: Quotient) -> Quotient:
    """Return the larger of two numbers."""
    return y if algebra.sign(algebra.total([y, algebra.negative(x)])) > 0 else x


def scaled(algebra: Decisions, node: Node, x: Quotient, *bias: Quotient) -> Quotient:
    """scale * x + bias."""
    scale = node.attrs
    size = rational(abs(scale.value))
    factor = algebra.root(size) if scale.root and size else algebra.constant(size)
    if scale.value < 0:
        factor = algebra.negative(factor)
    return algebra.total([algebra.multiply(x, factor), *bias])


def function(algebra: Decisions, node: Node, x: Quotient) -> Quotient:
    """An exponential or a logarithm, or what is made of exponentials."""
    name = node.attrs.name
    if name == "exp":
        return algebra.exp(x)
    if name == "log":
        return algebra.log(algebra.over_one(x))
    if name == "expm1":
        return algebra.total([algebra.exp(x), algebra.constant(-1)])
    if name == "log1p":
        return algebra.log(algebra.over_one(algebra.total([x, algebra.constant(1)])))
    if name in ("sinh", "cosh", "tanh"):
        return hyperbolic(algebra, name, x)
    raise Unsupported


def hyperbolic(algebra: Decisions, name: str, x: Quotient) -> Quotient:
    """(e^x -+ e^-x) / 2, or tanh as 1 - 2 / (e^2x + 1)."""
    if name == "tanh":
        two, one = algebra.constant(2), algebra.constant(1)
        bottom = algebra.total([algebra.exp(algebra.multiply(two, x)), one])
        return algebra.total([one, algebra.negative(algebra.divide(two, bottom))])
    side = algebra.constant(rational(1 if name == "cosh" else -1) / 2)
    half, other = algebra.constant(rational(1) / 2), algebra.exp(algebra.negative(x))
    parts = [algebra.multiply(half, algebra.exp(x)), algebra.multiply(side, other)]
    return algebra.total(parts)


STEPS: dict[str, Callable[..., Quotient]] = {
    "absolute": absolute,
    "add": add,
    "by_sign": by_sign,
    "divide": divide,
    "function": function,
    "multiply": multiply,
    "negative": negative,
    "order": order,
    "scaled": scaled,
    "subtract": subtract,
}
