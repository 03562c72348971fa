"""The levels of one output: the fast reading at both, and the certified one that judges them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.certified import CertifiedReading, finite, number
from exactref_core.arithmetic.fast import FastReading
from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.parts import Part
from exactref_core.arithmetic.rounded_blocks import flatten, round_some
from exactref_core.exact.interval import Unsure
from exactref_core.result import Result

# Enough for every exact case; irrational values come out narrower than any float64 radius.
PRECISION = 1 << 13


def parts_of(result: Result) -> tuple[Part, ...]:
    """The parts of a result's output, with both levels, of which small inputs skip the first."""
    output: Any = next(iter(result.outputs.values()))
    parts: tuple[Part, ...] = output.parts
    for part in parts:
        part.levels = (part.filter(), FastReading(True))
    return parts


def nodes_below(node: Node) -> Iterator[Node]:
    """A node and what it is computed from, each once; not the inputs."""
    seen: set[int] = set()
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if id(one) in seen or one.verb in ("load", "constant"):
            continue
        seen.add(id(one))
        waiting += one.operands
        yield one


def ends(value: Any, reading: CertifiedReading) -> tuple[Fraction, Fraction]:
    """A certified number's ends (equal where it is exact)."""
    low, high = reading.arithmetic.bounds(number(value))
    return (
        Fraction(int(low.numerator), int(low.denominator)),
        Fraction(int(high.numerator), int(high.denominator)),
    )


def check_enclosures(part: Part, node: Node, places: np.ndarray, reading: CertifiedReading) -> int:
    """Compare a node's enclosures at some elements with certified values, at both levels; return
    how many of them say something."""
    known = 0
    for level in part.levels:
        x = flatten(level.whole(node))
        alone = level.at(node, places)
        for k, flat in enumerate(places.tolist()):
            try:
                value = reading.value(node, flat)
            except Unsure:
                continue  # no precision tells the sign of a difference that is zero
            known += holds(x, flat, value, reading, f"{part.label}: {node.verb} {flat}")
            holds(alone, k, value, reading, f"{part.label}: {node.verb} {flat}, gathered")
    return known


def holds(x: Approx, flat: int, value: Any, reading: CertifiedReading, label: str) -> bool:
    """Check that one enclosure contains a certified value; return whether it says something."""
    high, low, radius, special = (
        0.0 if array is None else float(np.broadcast_to(array, x.high.shape)[flat])
        for array in (x.high, x.low, x.radius, x.special)
    )
    if radius == math.inf and special == 0:
        return False
    if not finite(value):
        same = special == value or (special != special and value != value)
        assert same, f"{label}: {special} is not {value}"
        return True
    assert special == 0, f"{label}: {special}, but the value is finite"
    assert high + low == high, f"{label}: {high.hex()} + {low.hex()} is not normal"
    bottom, top = ends(value, reading)
    middle, spread = Fraction(high) + Fraction(low), Fraction(radius)
    assert bottom <= middle + spread, f"{label}: {high.hex()} {low.hex()} {radius.hex()}"
    assert top >= middle - spread, f"{label}: {high.hex()} {low.hex()} {radius.hex()}"
    if bottom == top == 0 and radius == 0:
        sign = value if isinstance(value, float) else 0.0
        assert math.copysign(1.0, high) == math.copysign(1.0, sign), f"{label}: sign of zero"
    return True


def check_roundings(part: Part) -> np.ndarray:
    """Compare the roundings that the fast levels decide with certified ones; return how many
    elements each of the three levels decides."""
    decided = np.zeros(3, int)
    left = np.arange(part.node.size)
    for place, level in enumerate(part.levels):
        x = level.at(part.source, left)
        rounded, undecided = round_some(x, part.store)
        for k in np.flatnonzero(~undecided).tolist():
            certain = part.round_one(int(left[k]))
            same = rounded[k] == certain or (rounded[k] != rounded[k] and certain != certain)
            same &= certain != certain or np.signbit(rounded[k]) == np.signbit(certain)
            assert same, (
                f"{part.label} {int(left[k])}: {rounded[k]} at level {place}, not {certain}"
            )
        decided[place] = int((~undecided).sum())
        left = left[undecided]
    decided[2] = left.size
    return decided
