"""Operations in words and formulas: what is computed, which formulas are correct, where they round.

The formulas are read off the graph that the definition traces on small inputs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from exactref_core.arithmetic.all_verbs import AllVerbs
from exactref_core.arithmetic.graph import FACTORED, Leaf, Node
from exactref_core.arithmetic.rules import ROUNDINGS
from exactref_core.arithmetic.verbs import Complex
from exactref_core.errors import DTypeError, InputError
from exactref_core.evaluate import signature
from exactref_core.formats.catalogue import formats, get_format
from exactref_core.gradients import PREFIX
from exactref_core.op import Op
from exactref_core.registry import get_op, ops, standards

__all__ = ["explanation", "overview"]

INFIX = {"add": " + ", "subtract": " - ", "multiply": " * ", "divide": " / "}
# Steps that are known by the name of a function.
NAMED = ("function", "pair", "annex")
WORDS = {
    "sum": "each addition, as the standard says",
    "dot": "each product and each addition, as the standard says",
    "paired_dot": "each product and each addition, pair by pair",
    "weights": "exponentials of scores less their maximum, their sum, the quotient",
    "log_weights": "exponentials of scores less their maximum, their sum, its logarithm",
    "logsumexp": "exponentials of scores less their maximum, their sum, its logarithm",
    "attend": "weights as softmax, products with the values and their sum",
    "prod": "each product",
    "complex_prod": "each product",
    "deviations": "the mean, each deviation, each square, and their sum",
    "prefix": "each addition or product of a scan",
}
LONGEST = 160


@dataclass(frozen=True, eq=False)
class Named(Leaf):
    """An input that formulas call by its name."""

    name: str


def overview() -> str:
    """Return the table of all operations: outputs, gradient, formats, standards."""
    found = [op for op in ops() if op.forward is None]
    gradients = {op.forward.name for op in ops() if op.forward is not None}
    rule = ", ".join(standards())
    rows = [("operation", "outputs", "gradient", "formats", "standards")]
    for op in found:
        mark = "yes" if op.name in gradients else "-"
        rows.append((op.name, ", ".join(op.outputs), mark, kinds(op), rule))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    floats, others = (
        ", ".join(f.name for f in formats() if f.is_float is x) for x in (True, False)
    )
    return "\n".join(
        [
            *lines,
            "",
            f"floats: {floats}",
            f"complex, integers, bool: {others}",
            "dtype= gives the output another of them; with it integers are inputs of each.",
            "Where integers are listed they give exact int64 results without dtype= too.",
            "The gradient of an operation is er.backward.<operation>.",
        ]
    )


def kinds(op: Op) -> str:
    """Return the formats that an operation's tensors may have."""
    found = ["floats"]
    if any("complex" in name for name in op.domain.dtypes):
        found.append("complex")
    if op.integers:
        found.append("integers")
    return ", ".join(found)


def explanation(name: str) -> str:
    """Return what an operation is: signature, definition, inputs, formulas and their roundings.

    UnknownNameError names the closest operations.
    """
    op = get_op(name)
    text = re.sub(r"\n\s+", "\n", (op.define.__doc__ or "").strip())
    gradient = PREFIX + op.name
    known = any(other.name == gradient for other in ops())
    lines = [
        f"{op.name}({arguments(op)})",
        "",
        text,
        "",
        f"shapes      {op.domain.signature}",
        f"inputs      {kinds(op)}; drawn by default: {', '.join(op.domain.dtypes)}",
        f"outputs     {', '.join(op.outputs)}",
        f"standards   {', '.join(standards())}",
        f"gradient    {'er.' + gradient if known else 'none'}",
    ]
    try:
        lines += formulas(op)
    except (InputError, DTypeError) as error:
        lines += ["", f"Its formulas depend on an argument: {error}"]
    return "\n".join(lines)


def arguments(op: Op) -> str:
    """Return an operation's parameters with their defaults, those of every call left out."""
    found = [p for p in signature(op).parameters.values() if p.kind is not p.KEYWORD_ONLY]
    return ", ".join(str(p) for p in found)


def formulas(op: Op) -> list[str]:
    """Return the correct computations of an operation on small inputs, and where they round."""
    lines: list[str] = []
    seen: dict[str, str] = {}
    for output, value in traced(op).items():
        for part, root in parts_of(value):
            found = list(dict.fromkeys(text(node) for node in computations(root)))
            several = "any of these is correct:" if len(found) > 1 else "computed as"
            lines += ["", f"{output}{part}, {several}"]
            lines += [f"    {shortened(one)}" for one in found]
            seen |= {step: how for node in computations(root) for step, how in roundings(node)}
    if seen:
        width = max(map(len, seen))
        lines += ["", "where it rounds (u: the compute format's unit roundoff)"]
        lines += [f"    {step:{width}}  {how}" for step, how in seen.items()]
    return lines


def traced(op: Op) -> dict[str, Any]:
    """Return the definition's values by output, over float32 inputs of a few elements."""
    form = get_format("float32")
    sizes = {"n": 3, "m": 2, "k": 3, "p": 2, "d": 4, "h": 2, "c": 2, "b": 2, "s": 2, "l": 2, "e": 2}
    groups = re.findall(r"\(([^)]*)\)", op.domain.signature.split("->")[0])
    inputs = []
    for name, group in zip(op.tensors, groups, strict=True):
        axes = [axis.strip("?") for axis in group.split(",") if axis]
        shape = tuple(sizes.get(axis, 2) for axis in axes) or (2,)
        leaf = Named(np.ones(shape, np.float32), form, name)
        inputs.append(Node("load", (), shape, leaf, form))
    own = {name: value for name, value in op.defaults.items() if name != "dtype"}
    value = op.define(AllVerbs(form), *inputs, **own)
    return dict(value) if isinstance(value, dict) else {op.outputs[0]: value}


def parts_of(value: Any) -> list[tuple[str, Node]]:
    """Return the real nodes of a value."""
    if isinstance(value, Complex):
        return [(".real", value.real), (".imag", value.imag)]
    return [("", value)]


def computations(node: Node) -> list[Node]:
    """Return the computations that a node admits."""
    while node.verb in ("view", "flushable"):
        node = node.operands[0]
    if node.verb != "admit":
        return [node]
    several = node.operands[1:2] if node.attrs[0] == FACTORED else node.operands[1:]
    return [one for operand in several for one in computations(operand)]


def text(node: Node) -> str:
    """Return a node as a formula."""
    verb, operands = node.verb, node.operands
    if verb == "load":
        return str(getattr(node.attrs, "name", "x"))
    if verb == "constant":
        return constant(node.attrs)
    if verb in ("view", "within", "inside", "flushable", "special", "store"):
        return text(operands[0])
    if verb == "admit":
        return text(operands[1])
    if verb in INFIX:
        left, right = (f"({text(x)})" if x_is_sum(x) else text(x) for x in operands)
        return left + INFIX[verb] + right
    if verb == "negative":
        return f"-{text(operands[0])}" if not x_is_sum(operands[0]) else f"-({text(operands[0])})"
    if verb == "absolute":
        return f"|{text(operands[0])}|"
    if verb == "by_sign":
        sign, above, below = map(text, operands)
        return f"({above} where {sign} >= 0, else {below})"
    if verb == "order":
        return f"sign({' - '.join(map(text, operands))})"
    if verb == "deviations":
        return f"sum_of_squares({text(operands[1])} - mean)"
    if verb == "dot":
        return " @ ".join(f"({text(x)})" if x_is_sum(x) else text(x) for x in operands)
    if verb == "pair":
        return f"{name_of(node)}({', '.join(map(text, operands[:2]))})"
    if verb == "annex":
        part, inside = ("real", "imag")[node.attrs[1]], ", ".join(map(text, operands[1:]))
        return f"{part} {name_of(node)}({inside})"
    return f"{name_of(node)}({', '.join(map(text, operands))})"


def name_of(node: Node) -> str:
    """Return the name of what a node computes."""
    if node.verb in ("function", "pair"):
        return str(node.attrs.name)
    if node.verb == "annex":
        return str(node.attrs[0])
    return "softmax" if node.verb == "weights" else node.verb


def x_is_sum(node: Node) -> bool:
    """Return whether a formula needs brackets inside another one."""
    while node.verb in ("view", "within", "inside", "admit"):
        node = node.operands[1 if node.verb == "admit" else 0]
    return node.verb in (*INFIX, "dot")


def constant(value: Fraction) -> str:
    """Return a number as it is, or rounded to six digits."""
    return str(value.numerator) if value.denominator == 1 else f"{float(value):.6g}"


def shortened(formula: str) -> str:
    """Return a formula, cut where it is too long to read."""
    return formula if len(formula) <= LONGEST else formula[: LONGEST - 4] + " ..."


def roundings(node: Node) -> Iterator[tuple[str, str]]:
    """Yield the steps of a computation and how each rounds, once."""
    waiting, seen = [node], set()
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        waiting += one.operands[1:] if one.verb == "admit" else one.operands
        if one.compute is None:
            continue
        if one.verb in ROUNDINGS:
            yield one.verb, f"{ROUNDINGS[one.verb][0]}u of the result"
        elif one.verb == "within" and one.operands[0].verb in NAMED:
            yield name_of(one.operands[0]), f"{one.attrs[0]}u of the result"
        elif one.verb == "scaled":
            yield "scale", "2u of the result"
        elif one.verb in WORDS:
            yield one.verb.replace("weights", "softmax"), WORDS[one.verb]
