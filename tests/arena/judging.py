"""One case of the arena: inputs, the library's verdict on every kernel, and each rival's."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import exactref as er
from tests.arena.data import CLASSES, LARGE, applies
from tests.arena.frame import Bench, Family, Fault, Kernel, Values
from tests.arena.rivals import RIVALS, Seen
from tests.arena.tally import Tally

STANDARDS = ("normal", "any_order", "typical")
TURNS = 3  # after which every value class has had its turn at every size


@dataclass(frozen=True)
class Place:
    """Where a case stands in the run; its seed is made of nothing else."""

    family: Family
    form: str
    size: int
    kind: str
    turn: int

    @property
    def seed(self) -> list[int]:
        words = (self.family.name, self.form, self.kind)
        return [7, self.turn, self.size, *(zlib.crc32(word.encode()) for word in words)]


def places(families: tuple[Family, ...], turn: int, longest: int = 10**7) -> Iterator[Place]:
    for family in families:
        for form in family.formats:
            for size in family.sizes:
                for number, kind in enumerate(CLASSES):
                    if (number + size + turn) % TURNS and size <= 5000:
                        continue
                    if size > longest or not applies(kind, Bench.of(form).spec):
                        continue
                    if form.startswith("float8") and size > 128:
                        continue  # most sums of that many terms overflow there
                    if family.rows(kind, size) and (size <= 5000 or kind in LARGE):
                        yield Place(family, form, size, kind, turn)


@dataclass
class Alarm:
    """A right kernel's output that its standard does not cover."""

    place: Place
    kernel: str
    standard: str
    output: Values
    result: Any
    outside: Values

    def text(self) -> str:
        index = tuple(np.argwhere(self.outside)[0].tolist())
        low, high = (end.values()[index] for end in self.result.finite_range(self.standard))
        at = self.place
        return (
            f"{at.family.name} {at.form} {at.size} {at.kind} turn {at.turn}: {self.kernel} at "
            f"{list(index)} returned {self.output[index]!r}, {self.standard} ends at "
            f"[{low!r}, {high!r}], {int(self.outside.sum())} elements outside"
        )


class Case:
    """The inputs of a place, the reference, and what the kernels return."""

    def __init__(self, place: Place, tensors: tuple[Values, ...] | None = None) -> None:
        self.place, self.family = place, place.family
        self.bench = Bench.of(place.form)
        if tensors is None:
            rng = np.random.default_rng(place.seed)
            count = self.family.rows(place.kind, place.size)
            tensors = self.family.tensors(rng, place.kind, count, place.size, self.bench.spec)
        self.tensors = tensors
        self.result = self.family.reference(self.tensors, place.form)
        self.rounded = self.result.rounded.values()
        self.tolerance = {s: self.result.tolerance(s).values() for s in STANDARDS}

    def runs(self, kernel: Kernel) -> bool:
        return self.place.size <= kernel.longest and kernel.when(self.bench)

    def covers(self, output: Values, standard: str, flush: bool = False) -> Values:
        array = er.asarray(output, self.result.dtype)
        covered = self.result.covers(array, standard, flush_to_zero=flush)
        found: Values = np.asarray(covered.data)
        return found

    def ratios(self, output: Values, standard: str) -> Values:
        """The error over tolerance of each element; 0 for no error, and where it is no number."""
        with np.errstate(all="ignore"):
            error = np.abs(output - self.rounded)
            found: Values = np.where(error > 0, error / self.tolerance[standard], 0.0)
        return np.where(np.isfinite(found), found, 0.0)

    def ratio(self, output: Values, standard: str) -> float:
        """The largest of the ratios."""
        return float(np.max(self.ratios(output, standard), initial=0.0))

    def beyond(self, output: Values) -> Values:
        """Where a finite output is farther from the exact value than the any_order tolerance."""
        with np.errstate(all="ignore"):
            error = np.abs(output - self.rounded)
            return np.isfinite(output) & (error > self.tolerance["any_order"])


def judge(place: Place, tally: Tally, rivals: bool = True) -> list[Alarm]:
    """Run every kernel of a place; what it found goes into the tally."""
    try:
        case = Case(place)
    except er.UndecidedError as error:  # documented: it says so, and judges nothing
        tally.undecided(place, str(error))
        return []
    alarms: list[Alarm] = []
    first: Values | None = None
    own = None
    if case.family.own is not None:
        own = Kernel("own", case.family.own).output(case.bench, case.tensors)
    for kernel in case.family.right:
        if not case.runs(kernel):
            continue
        output = kernel.output(case.bench, case.tensors)
        first = output if first is None else first
        alarms += judged(case, kernel, output, tally)
        if rivals and not kernel.flush:
            compare(case, kernel, output, own, tally)
    for broken in case.family.broken:
        if case.runs(broken) and first is not None:
            output = broken.output(case.bench, case.tensors)
            planted(case, broken, output, first, tally)
            if rivals and differs(output, first).any():
                compare(case, broken, output, own, tally)
    return alarms


def judged(case: Case, kernel: Kernel, output: Values, tally: Tally) -> list[Alarm]:
    """The verdicts on a right kernel."""
    alarms = []
    normal = case.covers(output, "normal", kernel.flush)
    free = normal if normal.all() else normal | case.covers(output, "any_order", kernel.flush)
    place, likely = case.place, case.covers(output, "typical", kernel.flush)
    tally.right(
        place,
        kernel,
        elements=output.size,
        worse=int((~normal).sum()),
        wrong=int((~free).sum()),
        unlikely=int((free & ~likely).sum()),
        ratios={s: 0.0 if kernel.flush else case.ratio(output, s) for s in STANDARDS},
    )
    for standard, covered in (("any_order", free), ("normal", normal)):
        if not covered.all() and (standard == "any_order" or kernel.standard == "normal"):
            alarms.append(Alarm(place, kernel.name, standard, output, case.result, ~covered))
    return alarms


def differs(output: Values, other: Values) -> Values:
    """Where two outputs are other numbers, infinities or NaN; a zero's sign does not count."""
    return ~((output == other) | (np.isnan(output) & np.isnan(other)))


def planted(case: Case, broken: Fault, output: Values, right: Values, tally: Tally) -> None:
    """The verdicts on a broken kernel."""
    changed = differs(output, right)
    if not changed.any():
        return
    normal, free, likely = (case.covers(output, s) for s in STANDARDS)
    beyond = case.beyond(output)
    tally.broken(
        case.place,
        broken,
        elements=int(changed.sum()),
        beyond=int(beyond.sum()),
        missed_beyond=int((beyond & free).sum()),
        caught=int((changed & ~normal).sum()),
        caught_free=int((changed & ~free).sum()),
        caught_likely=int((changed & ~likely).sum()),
        tensor=(not normal.all(), not free.all(), not likely.all()),
    )


def compare(case: Case, kernel: Kernel, output: Values, own: Values | None, tally: Tally) -> None:
    """What each rival says of an output, given the exact result rounded once as expectation."""
    seen = Seen(case.place.form, output, case.rounded, own, None, case.place.size)
    if case.family.magnitude is not None:
        with np.errstate(all="ignore"):
            seen = seen._replace(magnitude=case.family.magnitude(*case.tensors))
    normal = bool(case.covers(output, "normal").all())
    free = normal or bool(case.covers(output, "any_order").all())
    likely = normal and bool(case.covers(output, "typical").all())
    own_rules = {"normal": normal, "any_order": free, "typical": likely}
    with np.errstate(all="ignore"):
        said = {name: rule(seen) for name, rule in RIVALS.items()}
    tally.rivals(case.place, kernel, {**own_rules, **said}, free)
