"""Guided search: inputs that drive a right kernel's error towards its tolerance, by hill climbing.

Rows that are computed apart climb apart, all in one call; where outputs share inputs, as those of a
matrix product, all of them climb as one.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

import exactref as er
from tests.arena.data import CLASSES, applies
from tests.arena.frame import Bench, Family, Kernel, Rng, Values
from tests.arena.judging import Alarm, Case, Place, judged
from tests.arena.tally import Tally
from tests.every_op.kernels_formats import Spec, store

SIZES = (2, 7, 33)
# A narrower output hides what rounds before its store, and so do numbers that round nowhere.
FORMS = ("float32", "float64")
EXACT = ("integers", "constant_rows", "infinities_and_nan")
ASKED = ("normal", "any_order")
LARGEST_STEP = 4


@dataclass
class Climb:
    """Where a search stands: the inputs, the ratio of each row, and the largest at the start."""

    tensors: tuple[Values, ...]
    ratios: Values
    start: float


def moved(rng: Rng, x: Values, spec: Spec) -> Values:
    """A tensor with an element of each row changed: scaled, nudged, negated, or copied."""
    found = np.array(x.reshape(len(x), -1) if x.ndim > 1 else x[:, None])
    count, every = len(found), np.arange(len(found))
    for _ in range(int(rng.integers(1, 3))):
        place, other = rng.integers(found.shape[1], size=(2, count))
        old = found[every, place]
        with np.errstate(over="ignore"):
            scaled = np.ldexp(old, rng.integers(-LARGEST_STEP, LARGEST_STEP + 1, count))
            nudged = old * (1 + rng.integers(-2, 3, count) * 2.0**-spec.bits)
        copied = found[every, other] * rng.choice([-1.0, 1.0], count)
        ways = [scaled, nudged, -old, copied]
        found[every, place] = np.choose(rng.integers(len(ways), size=count), ways)
    return store(found, spec, overflow="saturate").reshape(x.shape)


def ratios(case: Case, standard: str, kernels: list[Kernel], alarms: list[Alarm]) -> Values:
    """The largest error over tolerance of each row, over kernels; what is refused is an alarm."""
    rows = apart(case)
    found = np.zeros(rows)
    for kernel in kernels:
        output = kernel.output(case.bench, case.tensors)
        alarms += judged(case, kernel, output, Tally())
        each = case.ratios(output, standard).reshape(rows, -1)
        found = np.maximum(found, each.max(axis=1, initial=0.0))
    return found


def apart(case: Case) -> int:
    """How many rows inputs and outputs have in common; 1 where there are none."""
    lengths = {x.shape[0] if x.ndim else 0 for x in (*case.tensors, case.rounded)}
    return lengths.pop() if len(lengths) == 1 and lengths != {0} else 1


def chosen(place: Place, standard: str) -> list[Kernel]:
    """The right kernels that a standard is asked about, at a place."""
    bench = Bench.of(place.form)
    return [
        kernel
        for kernel in place.family.right
        if not kernel.flush
        and place.size <= kernel.longest
        and kernel.when(bench)
        and (standard == "any_order" or kernel.standard == "normal")
    ]


def climb(place: Place, standard: str, steps: int, tally: Tally) -> list[Alarm]:
    """Search at a place for so many steps; the largest ratios go into the tally."""
    spec, rng = Bench.of(place.form).spec, np.random.default_rng([*place.seed, len(standard)])
    count = min(place.family.climbers, place.family.rows(place.kind, place.size))
    given = place.family.tensors(rng, place.kind, count, place.size, spec)
    alarms: list[Alarm] = []
    state: Climb | None = None
    elements, kernels = 0, chosen(place, standard)
    for step in range(steps + 1):
        tried = given if state is None else tuple(moved(rng, x, spec) for x in state.tensors)
        try:
            case = Case(place, tried)
            found = ratios(case, standard, kernels, alarms)
        except er.UndecidedError:
            if step == 0:
                return alarms
            continue
        elements += case.rounded.size
        if state is None:
            state = Climb(tried, found, float(found.max(initial=0.0)))
        else:
            take(state, tried, found)
    if state is not None:
        tally.add(
            "guided",
            (place.family.name, standard),
            climbs=1,
            elements=elements,
            ratio_start=state.start,
            ratio=float(state.ratios.max(initial=0.0)),
        )
    return alarms


def take(state: Climb, tried: tuple[Values, ...], found: Values) -> None:
    """Keep the rows that came closer to their tolerance, or no less close."""
    better = found >= state.ratios
    if len(better) == 1:
        state.tensors = tried if better[0] else state.tensors
    else:
        state.tensors = tuple(
            np.where(better.reshape(-1, *(1,) * (new.ndim - 1)), new, old)
            for new, old in zip(tried, state.tensors, strict=True)
        )
    state.ratios = np.maximum(state.ratios, found)


def summit(family: Family, turn: int, steps: int, tally: Tally) -> list[Alarm]:
    """Climb from one place of a family, another one each turn, under each standard."""
    rng = np.random.default_rng([9, turn, zlib.crc32(family.name.encode())])
    sizes = family.climbed or [n for n in family.sizes if n in SIZES] or family.sizes[-1:]
    form = str(rng.choice([f for f in family.formats if f in FORMS] or family.formats))
    spec = Bench.of(form).spec
    kinds = [k for k in CLASSES if k not in (*family.slow, *EXACT) and applies(k, spec)]
    place = Place(family, form, int(rng.choice(sizes)), str(rng.choice(kinds)), turn)
    return [alarm for standard in ASKED for alarm in climb(place, standard, steps, tally)]
