"""Plain numbers rounded to a format: decided where both ends of the error round to one number."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.boxes import boxes, run
from exactref_core.arithmetic.graph import Indices, Store
from exactref_core.arithmetic.plain_numbers import ROOM, Plain, Wild, settled
from exactref_core.arithmetic.plain_programs import Program
from exactref_core.arithmetic.rounded_blocks import round_some
from exactref_core.exact.double_double import Floats
from exactref_core.formats.format import FLOAT64_PRECISION, Format
from exactref_core.formats.rounding import Overflow, Rounding
from exactref_core.formats.rounding_arrays import CASTS

__all__ = ["kept_in", "round_program"]

Found: TypeAlias = npt.NDArray[np.floating[Any]]
Bools: TypeAlias = npt.NDArray[np.bool_]

# Calls count little beside the passes over a block of this many elements, all of which stay in the
# cache. Freeing one larger array makes the C library keep arrays of that size (mallopt(3),
# M_MMAP_THRESHOLD), which it maps afresh each time by default.
BLOCK = 1 << 15
KEPT = 1 << 20
# Two roundings of an end, and of the factor that gives it.
SLACK = 2.0**-51
# Above this size a tiny absolute error is no more than SLACK of a value.
SURE = 2.0**-600
BITS = {4: np.int32, 2: np.int16}


def kept_in(form: Format) -> Any:
    """Return the dtype that holds numbers of a format: its own where NumPy rounds to that."""
    return CASTS.get((form.precision, form.emin, form.emax), np.float64)


def round_program(program: Program, store: Store) -> tuple[Found, Indices]:
    """Return the rounded values of a program, flat, and where they are not decided."""
    shape = program.node.shape
    result = np.empty(program.node.size, kept_in(store.format))
    left = []
    np.empty(KEPT)
    for box in boxes(shape, BLOCK, len(shape)):
        start, count = run(shape, box)
        part = result[start : start + count]
        try:
            undecided = round_block(settled(program.run(box), (count,)), store, part)
        except Wild:
            left.append(np.arange(start, start + count))
            continue
        if undecided is not None:
            left.append(np.flatnonzero(undecided) + start)
    return result, np.concatenate(left) if left else np.zeros(0, np.intp)


def round_block(x: Plain, store: Store, result: Found) -> Bools | None:
    """Round numbers into an array; return where they are not decided, None where all are."""
    plain = store.rounding is Rounding.NEAREST_EVEN and store.overflow is Overflow.IEEE
    if result.dtype.itemsize in BITS and plain:
        undecided = cast(x, result, store.format)
    else:
        radius = None if x.exact else np.broadcast_to(x.spread(), x.value.shape)
        result[:], undecided = round_some(Approx(x.value, None, radius), store)
        if radius is not None and np.isnan(radius).any():
            undecided |= np.isnan(radius)
    if x.unknown is not None:
        return x.unknown if undecided is None else undecided | x.unknown
    return undecided if undecided is not None and undecided.any() else None


def cast(x: Plain, result: Found, form: Format) -> Bools | None:
    """Round numbers by NumPy's cast, to nearest even; return where that is not decided."""
    np.copyto(result, x.value, casting="same_kind")
    if x.exact:
        return None
    if x.even:
        dropped = FLOAT64_PRECISION - form.precision
        off = math.ceil(x.relative * 2.0**FLOAT64_PRECISION) + 1
        if off < 1 << (dropped - 3) and is_normal(x, result, form):
            return near_ties(x.value, off, dropped)
    low, high = ends(x)
    other = np.empty(result.shape, result.dtype)
    np.copyto(result, low, casting="same_kind")
    np.copyto(other, high, casting="same_kind")
    kind = BITS[result.dtype.itemsize]
    undecided: Bools = result.view(kind) != other.view(kind)  # the two zeros differ
    if not x.even:
        if np.isnan(result.min(initial=0.0)):  # nothing is known there, and the ends are the same
            undecided |= np.isnan(result)
    elif x.radius and not result.all():
        undecided |= (result == 0) & (np.abs(x.value) < SURE)
    return undecided


def is_normal(x: Plain, result: Found, form: Format) -> bool:
    """Return whether all numbers lie well inside the normal range of a format."""
    least, top = float(form.smallest_normal), float(form.max)
    if 2 * least < x.least and x.top < top / 2:
        return True
    sizes = np.abs(result)
    return bool(2 * least < sizes.min(initial=1.0) and sizes.max(initial=1.0) < top / 2)


def near_ties(value: Floats, off: int, dropped: int) -> Bools | None:
    """Return which normal numbers are within ``off`` units of a tie; None where none is.

    Ties have a first dropped bit of 1 and zeros behind it. Errors of |x| rho are below rho 2**53 of
    the last bit's units, and a tiny absolute one below another. Below a power of two the units are
    half as large, and the next tie is still further away than ``off`` < 2**(dropped - 3) of the
    larger. The values are used up.
    """
    bits = value.view(np.uint64)
    bits += np.uint64((off - (1 << (dropped - 1))) % (1 << 64))
    bits &= np.uint64((1 << dropped) - 1)
    most = np.uint64(2 * off)
    return None if bits.min() > most else bits <= most


def ends(x: Plain) -> tuple[Floats, Floats]:
    """Return float64 numbers below and above the exact ones, or above and below, where it is 0."""
    if x.even:
        off = x.relative + 2 * SLACK
        return x.value * (1 - off), x.value * (1 + off)
    wide = np.abs(x.value)
    wide *= x.relative + SLACK
    wide += x.radius
    wide *= ROOM
    return x.value - wide, x.value + wide
