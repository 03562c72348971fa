"""The fast reading of scans: each element is a sum or product of the elements up to its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.graph import Indices, Node
from exactref_core.arithmetic.verbs import Verbs

if TYPE_CHECKING:
    from exactref_core.arithmetic.fast import FastReading

__all__ = ["exact", "groups", "prefix"]


def prefix(node: Node, count: int) -> Node:
    """Return the sums or products of the first ``count`` elements of every row."""
    scan = node.attrs
    if count not in scan.nodes:
        x = node.operands[0]
        head = Verbs(None).index(x, (..., slice(0, count)))
        scan.nodes[count] = Node(scan.verb, (head,), x.shape[:-1], None, node.compute)
    found: Node = scan.nodes[count]
    return found


def groups(node: Node, flat: Indices | None) -> list[tuple[Node, Indices, Indices | None]]:
    """Return, for each length that is asked for, its node, where its elements go, and their rows
    (None: all)."""
    n = node.shape[-1]
    if flat is None:
        places = np.arange(node.size).reshape(-1, max(n, 1))
        return [(prefix(node, k + 1), places[:, k], None) for k in range(n)]
    rows, columns = np.divmod(flat, max(n, 1))
    found: list[tuple[Node, Indices, Indices | None]] = []
    for k in np.unique(columns).tolist():
        where = np.flatnonzero(columns == k)
        found.append((prefix(node, k + 1), where, rows[where]))
    return found


def exact(reading: FastReading, node: Node, flat: Indices | None) -> Approx:
    """Return the values of a scan, whole or at flat indices."""
    count = node.size if flat is None else flat.size
    names = ("high", "low", "radius", "special")
    arrays = {name: np.zeros(count) for name in names}
    known = {"high"}
    for source, where, rows in groups(node, flat):
        part = reading.whole(source) if rows is None else reading.at(source, rows)
        for name in names:
            values = getattr(part, name)
            if values is not None:
                known.add(name)
                arrays[name][where] = np.broadcast_to(values, part.high.shape).reshape(-1)
    low, radius, special = (arrays[name] if name in known else None for name in names[1:])
    found = Approx(arrays["high"], low, radius, special)
    return found if flat is not None else found.map(lambda array: array.reshape(node.shape))
