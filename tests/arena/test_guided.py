"""The guided search climbs, and finds faults that random inputs do not reach, but none of ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.arena.frame import Bench, Family, Values, right
from tests.arena.guided import climb, summit
from tests.arena.judging import Case, Place
from tests.arena.orders import loop
from tests.arena.registry import FAMILIES
from tests.arena.sums import SUM
from tests.arena.tally import Tally


@pytest.mark.parametrize("name", ["sum", "vecdot", "softmax", "cumulative_sum"])
def test_right_kernels_stay_within_their_tolerance(name: str) -> None:
    family = next(f for f in FAMILIES if f.name == name)
    tally, alarms = Tally(), []
    for turn in range(2):
        alarms += summit(family, turn, 3, tally)
    assert not alarms, alarms[0].text()
    found = tally.tables["guided"]
    assert {key.split(" | ")[1] for key in found} == {"normal", "any_order"}
    for row in found.values():
        assert 0 <= row["ratio_start"] <= row["ratio"] <= 1
        assert row["elements"] > 0


def of_sum(name: str, run: Callable[[Bench, Values], Values]) -> Family:
    """Sums by one kernel."""
    return replace(SUM, right=(right(name, run, "normal"),))


def test_the_search_climbs() -> None:
    tally = Tally()
    family = of_sum("index order", lambda b, x: loop(b.m, x))
    climb(Place(family, "float32", 7, "well_scaled", 0), "normal", 40, tally)
    (row,) = tally.tables["guided"].values()
    assert row["ratio"] > 1.5 * row["ratio_start"] > 0


def slightly_off(b: Bench, x: Values) -> Values:
    """A sum that is off by its last place, which most rows have room for."""
    return loop(b.m, x) * b.number(1 + 2.0**-23)


def test_a_fault_that_random_inputs_do_not_reach_is_found() -> None:
    family = of_sum("slightly off", slightly_off)
    place = Place(family, "float32", 7, "well_scaled", 0)
    case = Case(place)
    output = family.right[0].output(case.bench, case.tensors)
    assert case.covers(output, "any_order").all()
    alarms = climb(place, "normal", 60, Tally())
    assert {alarm.kernel for alarm in alarms} == {"slightly off"}
