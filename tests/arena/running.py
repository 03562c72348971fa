"""A run of the arena: turns over all places, counts, alarms kept as replay files, resumption."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import exactref as er
from exactref_core.saved import SavedCheck, write
from tests.arena.frame import Family
from tests.arena.guided import summit
from tests.arena.judging import Alarm, judge, places
from tests.arena.marked import run_faults, run_right
from tests.arena.tally import Tally

LAYOUT = 2


class Run:
    """Counts so far, the next turn, and the alarms; ``path`` keeps them between runs."""

    def __init__(self, families: tuple[Family, ...], path: Path | None = None) -> None:
        self.families, self.path = families, path
        self.tally, self.turn, self.seconds = Tally(), 0, 0.0
        self.alarms: list[str] = []
        if path is not None and path.exists():
            self.read(path)

    def read(self, path: Path) -> None:
        try:
            data = json.loads(path.read_text())
            if data["layout"] != LAYOUT:
                raise SystemExit(f"{path} is of layout {data['layout']}, this reads {LAYOUT}")
            self.turn, self.seconds, self.alarms = data["turns"], data["seconds"], data["alarms"]
            self.tally.merge(data["tables"])
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise SystemExit(f"{path} holds no counts of a run, or damaged ones: {error}") from None

    def data(self) -> dict[str, Any]:
        return {
            "layout": LAYOUT,
            "version": er.__version__,
            "turns": self.turn,
            "seconds": round(self.seconds, 1),
            "alarms": self.alarms,
            "tables": self.tally.tables,
        }

    def save(self) -> None:
        if self.path is not None:
            part = self.path.with_suffix(".part")
            part.write_text(json.dumps(self.data(), indent=1))
            part.replace(self.path)

    @property
    def judged(self) -> int:
        """Elements of right kernels judged."""
        rows = self.tally.tables.get("right", {}).values()
        return int(sum(row["elements"] for row in rows))

    def until(
        self,
        done: Callable[[Run], bool],
        *,
        longest: int = 10**7,
        rivals: bool = True,
        guided: int = 0,
        folder: Path | None = None,
        told: Callable[[str], None] = lambda text: None,
    ) -> None:
        """Whole turns until ``done`` says so; each is saved, an interrupted one is run again.

        ``guided``: the steps of a search for large errors in each turn.
        """
        while not done(self):
            start, before = time.perf_counter(), len(self.alarms)
            found, tally = list(self.alarms), Tally()
            for alarm in self.turned(tally, longest, rivals, guided):
                found.append(alarm.text())
                if folder is not None:
                    keep(alarm, folder, len(found))
            self.tally.merge(tally.tables)
            self.alarms = found
            self.turn += 1
            self.seconds += time.perf_counter() - start
            self.save()
            told(
                f"turn {self.turn}: {self.judged} elements of right kernels, "
                f"{len(self.alarms) - before} alarms, {self.seconds:.0f} s"
            )

    def turned(self, tally: Tally, longest: int, rivals: bool, guided: int) -> Iterator[Alarm]:
        """The alarms of a turn: of all places, and of so many steps of guided search."""
        for place in places(self.families, self.turn, longest):
            yield from judge(place, tally, rivals)
        for family in self.families if guided else ():
            yield from summit(family, self.turn, guided, tally)

    def marked(self) -> None:
        """Every fault, and every right kernel, under a test with er.op; replaces earlier counts."""
        start, tally = time.perf_counter(), Tally()
        run_faults(self.families, tally)
        self.alarms += run_right(self.families, tally)
        self.tally.tables = {**self.tally.tables, **tally.tables}
        self.seconds += time.perf_counter() - start
        self.save()


def keep(alarm: Alarm, folder: Path, number: int) -> Path:
    """Keep an alarm as a file for ``python -m exactref replay``."""
    path = folder / f"{alarm.place.family.name}-{alarm.place.form}-{number}.npz"
    output = er.asarray(alarm.output, alarm.result.dtype)
    name = next(iter(alarm.result.outputs))
    check = SavedCheck(
        {name: output},
        alarm.result.origin,
        standard=alarm.standard,
        label=alarm.kernel,
        version=er.__version__,
    )
    write(path, check)
    return path
