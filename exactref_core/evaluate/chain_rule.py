"""Gradients of definitions by the chain rule, as automatic differentiation takes them.

Reverse mode: the operations that a definition calls are recorded, and passed backwards, each by its
own gradient. What arrives at a value over several ways is added up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.verbs import Complex, Value
from exactref_core.arithmetic.views import reshaping
from exactref_core.errors import InputError
from exactref_core.evaluate.adjoints import Adjoints, parts_of, pass_on
from exactref_core.gradients import gradient_of
from exactref_core.op import Op

__all__ = ["Tape", "chain_rule"]


@dataclass(frozen=True, eq=False)
class Recorded:
    """One call of an operation: its tensors, its other arguments, its outputs by name."""

    op: Op
    tensors: tuple[Value, ...]
    given: Mapping[str, Any]
    outputs: Mapping[str, Value]


def renamed(x: Value) -> Value:
    """Return the same value as nodes of its own."""
    if isinstance(x, Complex):
        return Complex(*(alias(part) for part in parts_of(x)))
    return alias(x)


def alias(x: Node) -> Node:
    """Return a node equal to another."""
    return Node("view", (x,), x.shape, reshaping(x.shape, x.shape))


@dataclass
class Tape:
    """The calls of one definition, in order."""

    calls: list[Recorded] = field(default_factory=list)

    def record(self, op: Op, tensors: list[Value], given: Mapping[str, Any], found: Any) -> Any:
        """Note a call and return its outputs, as nodes that no other call has returned."""
        named = found if isinstance(found, Mapping) else {op.outputs[0]: found}
        outputs = {name: renamed(value) for name, value in named.items()}
        optional = tuple(given[name] for name in op.optional if given.get(name) is not None)
        self.calls.append(Recorded(op, (*tensors, *optional), given, outputs))
        return outputs if isinstance(found, Mapping) else outputs[op.outputs[0]]


def chain_rule(
    trace: Callable[[Any, Tape], Mapping[str, Value]],
    verbs: Any,
    gradients: Mapping[str, Value | None],
    tensors: Mapping[str, Value],
) -> dict[str, Value]:
    """Return the gradients by tensor of a definition, given those of its outputs.

    ``trace(verbs, tape)`` evaluates it once more and returns its outputs by name. InputError where
    it goes through what has no gradient.
    """
    tape = Tape()
    outputs = trace(verbs, tape)
    adjoints = Adjoints(verbs)
    for name, gradient in gradients.items():
        if gradient is not None:
            adjoints.give(outputs[name], gradient)
    inputs = {id(part) for x in tensors.values() for part in parts_of(x)}
    roots = [part for x in outputs.values() for part in parts_of(x)]
    for unit in reversed(in_order(roots, inputs, tape.calls)):
        if isinstance(unit, Node):
            pass_on(unit, adjoints)
        else:
            pass_back(unit, adjoints)
    return {name: found(adjoints, x, verbs) for name, x in tensors.items()}


def found(adjoints: Adjoints, x: Value, verbs: Any) -> Value:
    """Return the gradient of a tensor, zeros where nothing depends on it."""
    gradient = adjoints.take(x)
    zeros: Value = verbs.zeros_like(x)
    return zeros if gradient is None else gradient


def in_order(roots: list[Node], inputs: set[int], calls: list[Recorded]) -> list[Node | Recorded]:
    """Return the calls, and the nodes between them, that are made of inputs, what feeds one first.

    A walk by depth, without recursion: a definition may be a loop of any length.
    """
    maker = {id(p): call for call in calls for x in call.outputs.values() for p in parts_of(x)}
    order: list[Node | Recorded] = []
    useful: dict[int, bool] = {}
    stack: list[tuple[Node, bool]] = [(root, False) for root in roots]
    while stack:
        node, entered = stack.pop()
        unit: Node | Recorded = maker.get(id(node), node)
        if id(unit) in useful and not entered:
            continue
        feeds = (
            unit.operands
            if isinstance(unit, Node)
            else tuple(part for x in unit.tensors for part in parts_of(x))
        )
        if id(node) in inputs:
            useful[id(unit)] = True
        elif entered:
            useful[id(unit)] = any(useful[id(maker.get(id(x), x))] for x in feeds)
            if useful[id(unit)]:
                order.append(unit)
        else:
            useful[id(unit)] = False
            stack.append((node, True))
            stack += [(x, False) for x in feeds]
    return order


def pass_back(call: Recorded, adjoints: Adjoints) -> None:
    """Give a call's tensors their gradients, by the operation's own."""
    op, verbs = call.op, adjoints.verbs
    arrived = {name: adjoints.take(value) for name, value in call.outputs.items()}
    if all(gradient is None for gradient in arrived.values()):
        return
    if op.backward is None:
        raise InputError(
            f"backward='chain_rule': {op.name} has no gradient; state backward= as a function"
        )
    first = op.outputs[0]
    lead = arrived.pop(first)
    lead = verbs.zeros_like(call.outputs[first]) if lead is None else lead
    lost = [n for n, value in arrived.items() if value is not None and n not in op.grad_outputs]
    if lost:
        raise InputError(
            f"backward='chain_rule': the gradient of {op.name} takes none of its outputs {lost}; "
            "state backward= as a function"
        )
    beside = {f"grad_{name}": arrived.get(name) for name in op.grad_outputs}
    given = {**op.backward_defaults, **call.given, **beside}
    slopes = gradient_of(op).define(verbs, lead, *call.tensors[: len(op.tensors)], **given)
    optional = [name for name in op.optional if call.given.get(name) is not None]
    for name, tensor in zip((*op.tensors, *optional), call.tensors, strict=True):
        if (slope := slopes.get(f"grad_{name}")) is not None:
            adjoints.give(tensor, slope)
