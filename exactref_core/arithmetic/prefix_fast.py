"""The fast reading of scans: each element is a sum or product of the elements up to its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.fast_steps import finish, plus
from exactref_core.arithmetic.graph import Indices, Node
from exactref_core.arithmetic.prefix_products import products
from exactref_core.arithmetic.verbs import Verbs
from exactref_core.exact.prefix_pairs import prefix_pairs
from exactref_core.exact.sums import relative_error

if TYPE_CHECKING:
    from exactref_core.arithmetic.fast import FastReading

__all__ = ["exact", "groups", "prefix", "worth_all"]

# Elements of a scan that cost together no more than those of one length alone.
ONE_LENGTH = 1 << 10


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


def worth_all(node: Node, flat: Indices) -> bool:
    """Return whether all elements of a scan cost no more than those at flat indices."""
    lengths = np.unique(flat % max(node.shape[-1], 1)).size
    return ONE_LENGTH * lengths >= node.size


def exact(reading: FastReading, node: Node, flat: Indices | None) -> Approx:
    """Return the values of a scan, whole or at flat indices."""
    if flat is None:
        x = reading.whole(node.operands[0])
        if not node.size:
            return x
        rows = x.map(lambda array: array.reshape(-1, node.shape[-1]))
        found = products(rows) if node.attrs.verb == "prod" else sums(rows)
        return found.map(lambda array: array.reshape(node.shape))
    if worth_all(node, flat):
        return reading.whole(node).take(flat)
    return by_length(reading, node, flat)


def sums(x: Approx) -> Approx:
    """Return the sums of all elements up to each of rows."""
    special = None
    if x.special is not None:
        special = np.cumsum(x.special, axis=-1)
        if x.radius is not None:
            # A term about which nothing is known may be an infinity or NaN itself.
            unknown = np.logical_or.accumulate(np.isinf(x.radius), axis=-1)
            special = np.where(unknown, 0.0, special)
    high, low, radius = prefix_pairs(x.high, x.low)
    if x.radius is not None:
        carried = np.cumsum(x.radius, axis=-1) * (1 + 2 * relative_error(x.high.shape[-1] + 4))
        radius = np.asarray(plus(radius, carried))
    some_low, some_radius = (part if np.any(part) else None for part in (low, radius))
    return finish(high + 0.0, some_low, some_radius, special)


def by_length(reading: FastReading, node: Node, flat: Indices) -> Approx:
    """Return the values at flat indices, those of each length by themselves."""
    names = ("high", "low", "radius", "special")
    arrays: dict[str, Any] = {name: np.zeros(flat.size) for name in names}
    known = {"high"}
    for source, where, rows in groups(node, flat):
        part = reading.whole(source) if rows is None else reading.at(source, rows)
        for name in names:
            values = getattr(part, name)
            if values is not None:
                known.add(name)
                arrays[name][where] = np.broadcast_to(values, part.high.shape).reshape(-1)
    low, radius, special = (arrays[name] if name in known else None for name in names[1:])
    return Approx(arrays["high"], low, radius, special)
