"""Weights of rows as they are stored, rounded and tested while the rows are in the cache."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic.approx import Bools
from exactref_core.arithmetic.graph import Leaf, Node, Store
from exactref_core.arithmetic.rounded_blocks import flatten, round_in_blocks
from exactref_core.arithmetic.softmax_coarse import EXP, MARGIN, MOST, moved_by
from exactref_core.exact.double_double import Floats
from exactref_core.exact.exponentials import LEAST
from exactref_core.exact.row_exponentials import Scratch, exponentiate, row_sums, scratch
from exactref_core.exact.sums import relative_error
from exactref_core.formats.rounding_arrays import cast_to

if TYPE_CHECKING:
    from exactref_core.arithmetic.fast import FastReading

__all__ = ["rounded_rows"]

Ends: TypeAlias = tuple[Floats, Floats]

# 1/L, 1 -+ E, their product, and that with the exponential.
ROUNDINGS = 8


def rounded_rows(reading: FastReading, node: Node, store: Store) -> tuple[Any, Bools] | None:
    """Return the rounded weights of rows of an input, flat, and where they are not decided.

    They are numbers of the output's own dtype. None where the node is another one, rows are masked
    or no input's, or no cast rounds as the store does. Rows with a NaN or +inf, and those of -inf
    alone, are taken block by block as any others would be.
    """
    from exactref_core.arithmetic.fast import stored_rows

    if node.verb != "weights" or node.attrs.keep is not None or not reading.narrow:
        return None
    kind, data = cast_to(store.format, store.rounding), stored_rows(node.operands[0])
    if kind is None or data is None or not data.size or not data.flags.c_contiguous:
        return None
    n = data.shape[-1]
    rows = data.reshape(-1, n)
    value, undecided = np.empty(rows.shape, kind), np.empty(rows.shape, bool)
    given = scratch(*rows.shape)
    above = np.empty((given.height, n), kind)
    with np.errstate(all="ignore"):
        for start in range(0, len(rows), given.height):
            some = slice(start, start + given.height)
            part = given.cut(len(rows[some]))
            ends = powers_with_ends(rows[some], part)
            if ends is None:
                value[some], undecided[some] = otherwise(reading, node, rows[some], store)
                continue
            low, high = value[some], above[: part.height]
            for factor, target in zip(ends, (low, high), strict=True):
                np.multiply(part.main, factor[:, None], out=part.first)
                np.copyto(target, part.first, casting="same_kind")
            np.not_equal(low, high, out=undecided[some])
    reading.has_plain = True
    return value.reshape(-1), undecided.reshape(-1)


def powers_with_ends(rows: npt.NDArray[Any], given: Scratch) -> Ends | None:
    """Put the exponentials of rows into the scratch; return what they are multiplied by to be below
    and above the weights, or None where a row has no finite maximum.

    As `coarse_weights` argues; -inf gives an exact 0. What was taken as 0 is below 2**-989, which
    rounds to it.
    """
    top = rows.max(axis=-1, keepdims=True)
    least = rows.min(axis=-1)
    if not np.all(np.isfinite(top)):
        return None
    np.copyto(given.main, rows)
    given.main -= top
    gaps = np.maximum(least.astype(np.float64) - top[:, 0], LEAST)
    exponentiate(given, float(np.min(least.astype(np.float64) - top[:, 0])))
    total, additions = row_sums(given.main)
    moved = moved_by(0.0, -gaps)
    error = 2 * (moved + moved * moved + EXP) + relative_error(additions + ROUNDINGS)
    error *= MARGIN
    if not np.all(error < MOST):
        return None
    share = 1 / total
    return share * (1 - error), share * (1 + error)


def otherwise(
    reading: FastReading, node: Node, rows: npt.NDArray[Any], store: Store
) -> tuple[Floats, Bools]:
    """Return the rounded weights of some rows by the reading of any scores."""
    from exactref_core.arithmetic.fast import FastReading, source_leaf

    form = source_leaf(node.operands[0]).format
    leaf = Node("load", (), rows.shape, Leaf(rows, form), node.operands[0].compute)
    local = FastReading(False, narrow=reading.narrow)
    found = local.whole(Node("weights", (leaf,), rows.shape, node.attrs, node.compute))
    value, undecided = round_in_blocks(flatten(found), store)
    return value.reshape(rows.shape), undecided.reshape(rows.shape)
