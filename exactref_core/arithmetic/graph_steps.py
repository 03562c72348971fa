"""A graph as a list of its steps, which another process can build it from.

Steps hold arrays, numbers, names and formats: no functions, and nothing that was remembered of a
step. A list is as deep as it is wide: graphs of long chains travel too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import is_dataclass, replace
from typing import Any, TypeAlias

from exactref_core.arithmetic.flush_choices import Flushes
from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.views import View
from exactref_core.exact.elementary import Function
from exactref_core.exact.pairs import PairFunction
from exactref_core.formats.format import Format

__all__ = ["Steps", "built", "steps_of"]

# A verb, the places of the operands in the list, and what else a node has. Behind the operands of
# a step that inputs may be flushed before come those of every choice.
Step: TypeAlias = tuple[str, tuple[int, ...], tuple[int, ...], Any, "Format | None"]
Steps: TypeAlias = tuple[Step, ...]


def steps_of(root: Node) -> Steps:
    """Return the steps of a graph, each after its operands; the root is the last."""
    places: dict[Node, int] = {}
    found: list[Step] = []
    stack = [root]
    while stack:
        node = stack[-1]
        below = node.operands
        if node.verb == "flushable":
            below += node.attrs[0].every()
        missing = [x for x in below if x not in places]
        if missing:
            stack += missing
            continue
        stack.pop()
        if node not in places:
            places[node] = len(found)
            operands = tuple(places[x] for x in below)
            found.append((node.verb, operands, node.shape, bare(node.attrs), node.compute))
    return tuple(found)


def bare(attrs: Any) -> Any:
    """Return attributes without what was remembered beside them."""
    if isinstance(attrs, tuple) and attrs and isinstance(attrs[0], Flushes):
        return attrs[0].least, attrs[1]
    whole = isinstance(attrs, (type, View, Function, PairFunction)) or not is_dataclass(attrs)
    if whole:
        return attrs
    return replace(attrs, **{name: type(value)() for name, value in memos(attrs)})


def memos(attrs: Any) -> list[tuple[str, Any]]:
    """Return the fields that do not compare: they hold what is remembered."""
    fields = attrs.__dataclass_fields__.values()
    return [(one.name, getattr(attrs, one.name)) for one in fields if not one.compare]


def built(steps: Sequence[Step]) -> Node:
    """Return the graph of steps."""
    nodes: list[Node] = []
    for verb, places, shape, attrs, compute in steps:
        operands = tuple(nodes[i] for i in places)
        if verb == "flushable":
            least, part = attrs
            operands, rest = operands[:1], operands[1:]
            attrs = Flushes.of(rest, least), part
        nodes.append(Node(verb, operands, shape, attrs, compute))
    return nodes[-1]
