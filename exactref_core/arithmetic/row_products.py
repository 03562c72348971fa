"""Chosen rows of matrix products of inputs, by BLAS products of slices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.fast_steps import finish
from exactref_core.arithmetic.graph import Indices, Node
from exactref_core.exact.split_products import split_matmul

if TYPE_CHECKING:
    from exactref_core.arithmetic.fast import FastReading

__all__ = ["MANY", "is_input", "row_products"]

# Multiply-adds from which whole rows are worth a product of their own.
MANY = 1 << 15


def row_products(reading: FastReading, node: Node, flat: Indices) -> Approx | None:
    """Return the elements at flat indices; None where they are not whole rows of plain inputs."""
    columns, depth = node.shape[-1], node.operands[0].shape[-1]
    if flat.size * depth < MANY or not all(is_input(x) for x in node.operands):
        return None
    rows = whole_rows(flat, columns)
    if rows is None:
        return None
    a, b = (reading.whole(x) for x in node.operands)
    if any(part is not None for x in (a, b) for part in (x.low, x.radius, x.special)):
        return None
    batches = node.shape[:-2]
    left = np.broadcast_to(a.high, (*batches, *a.high.shape[-2:]))
    right = np.broadcast_to(b.high, (*batches, *b.high.shape[-2:]))
    batch, row = np.divmod(rows, node.shape[-2])
    found = np.empty((3, rows.size, columns))
    for each in np.unique(batch).tolist():
        index = np.unravel_index(each, batches) if batches else ()
        here = np.flatnonzero(batch == each)
        found[:, here] = split_matmul(left[index][row[here]], right[index])
    high, low, radius = (part.reshape(-1) for part in found)
    return finish(high + 0.0, low, radius, None)


def is_input(node: Node) -> bool:
    """Return whether a node is an input or a view of one."""
    while node.verb == "view":
        node = node.operands[0]
    return node.verb == "load"


def whole_rows(flat: Indices, columns: int) -> Indices | None:
    """Return the rows that flat indices run over; None where they are not whole rows."""
    if not columns or flat.size % columns:
        return None
    lines = flat.reshape(-1, columns)
    first = lines[:, :1]
    if np.any(first % columns) or np.any(lines != first + np.arange(columns)):
        return None
    rows: Indices = first[:, 0] // columns
    return rows
