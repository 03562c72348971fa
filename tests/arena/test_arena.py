"""The arena in short: no right kernel is refused, and what is far off is caught."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from exactref_core.saved import read
from tests.arena.frame import Family, Kernel
from tests.arena.judging import Alarm, Case, Place, judge, judged
from tests.arena.marked import marked
from tests.arena.registry import FAMILIES
from tests.arena.running import Run, keep
from tests.arena.sums import SUM
from tests.arena.tally import Tally

SHORT = (7, 33)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_right_kernels_pass_and_distant_faults_are_caught(family: Family) -> None:
    tally, alarms = Tally(), []
    sizes = [n for n in family.sizes if n in SHORT] or list(family.sizes[:1])
    for number, kind in enumerate(("well_scaled", "cancellation", "ties", "one_sign")):
        for form in family.formats[:2]:
            size = sizes[number % len(sizes)]
            if not family.rows(kind, size):
                continue
            place = Place(family, form, size, kind, 1000)
            alarms += judge(place, tally, rivals=False)
    assert not alarms, "\n".join(alarm.text() for alarm in alarms[:5])
    assert sum(row["elements"] for row in tally.tables["right"].values()) > 0
    caught = tally.tables["broken"].values()
    assert sum(row["beyond"] for row in caught) > 0
    assert sum(row["missed_beyond"] for row in caught) == 0


def test_a_mean_is_finite_where_its_sum_overflows() -> None:
    mean = next(f for f in FAMILIES if f.name == "mean")
    tally = Tally()
    assert judge(Place(mean, "bfloat16", 32, "near_overflow", 1), tally, rivals=False) == []
    assert tally.tables["right"]["sums | mean | bfloat16 | 32"]["others_worse"] > 0


def off_by_one_ulp(place: Place) -> Alarm:
    """The alarm of a kernel that returns a neighbour of what it should."""
    case = Case(place)
    good = place.family.right[0].output(case.bench, case.tensors)
    bad = good * (1 + 2.0**-9)
    return judged(case, Kernel("off", place.family.right[0].run, "normal"), bad, Tally())[0]


def test_an_alarm_is_kept_as_a_replay_file(tmp_path: Path) -> None:
    place = Place(SUM, "float32", 33, "one_sign", 0)
    alarm = off_by_one_ulp(place)
    check = read(keep(alarm, tmp_path, 1))
    output = next(iter(check.outputs.values()))
    covered = check.result.covers(output, check.standard)
    assert np.array_equal(np.asarray(covered.data), ~alarm.outside)


def test_a_run_goes_on_where_it_was_left(tmp_path: Path) -> None:
    path = tmp_path / "arena.json"
    one = tuple(f for f in FAMILIES if f.op == "cumulative_sum")
    first = Run(one, path)
    first.until(lambda run: run.turn >= 1, longest=8)
    second = Run(one, path)
    assert (second.turn, second.judged) == (1, first.judged)
    second.until(lambda run: run.turn >= 2, longest=8)
    straight = Run(one)
    straight.until(lambda run: run.turn >= 2, longest=8)
    assert second.tally.tables == straight.tally.tables


CAUGHT = {"sum": "term doubled", "matmul": "transposed tile", "softmax": "sum in a narrower format"}


@pytest.mark.parametrize("op", CAUGHT)
def test_a_marked_test_passes_right_kernels_and_catches_faults(op: str) -> None:
    family = next(f for f in FAMILIES if f.name == op)
    fault = next(f for f in family.broken if f.kind == CAUGHT[op])
    assert not marked(family, family.right[1], "float32").failed
    verdict = marked(family, fault, "float32")
    assert verdict.changed
    assert verdict.failed
