"""A graph as a list of its steps, which another process can build it from.

Steps hold arrays, numbers, names and formats: no functions, and nothing that was remembered of a
step. A list is as deep as it is wide: graphs of long chains travel too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import is_dataclass, replace
from typing import Any, TypeAlias

from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.views import View
from exactref_core.exact.elementary import Function
from exactref_core.exact.pairs import PairFunction
from exactref_core.formats.format import Format

__all__ = ["Steps", "built", "steps_of"]

# A verb, the places of the operands in the list, and what else a node has.
Step: TypeAlias = tuple[str, tuple[int, ...], tuple[int, ...], Any, "Format | None"]
Steps: TypeAlias = tuple[Step, ...]


def steps_of(root: Node) -> Steps:
    """Return the steps of a graph, each after its operands; the root is the last."""
    places: dict[Node, int] = {}
    found: list[Step] = []
    stack = [root]
    while stack:
        node = stack[-1]
        missing = [x for x in node.operands if x not in places]
        if missing:
            stack += missing
            continue
        stack.pop()
        if node not in places:
            places[node] = len(found)
            operands = tuple(places[x] for x in node.operands)
            found.append((node.verb, operands, node.shape, bare(node.attrs), node.compute))
    return tuple(found)


def bare(attrs: Any) -> Any:
    """Return attributes without what was remembered beside them."""
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
    for verb, operands, shape, attrs, compute in steps:
        nodes.append(Node(verb, tuple(nodes[i] for i in operands), shape, attrs, compute))
    return nodes[-1]
