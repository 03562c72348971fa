"""What the arena counts, as plain data that is added up over turns and kept as JSON."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from tests.arena.data import PLAIN

Counts = dict[str, float]


def data_of(kind: str) -> str:
    return "plain" if kind in PLAIN else "hostile"


class Tally:
    """Counts by key; a key is a tuple of words and sizes. Entries named ``ratio`` keep the most."""

    def __init__(self) -> None:
        self.tables: dict[str, dict[str, Counts]] = {}

    def add(self, table: str, key: tuple[Any, ...], **counts: float) -> None:
        own = self.tables.setdefault(table, {})
        row = own.setdefault(" | ".join(map(str, key)), {})
        for name, count in counts.items():
            before = row.get(name, 0)
            row[name] = max(before, count) if name.startswith("ratio") else before + count

    def merge(self, tables: dict[str, dict[str, Counts]]) -> None:
        for table, rows in tables.items():
            for key, counts in rows.items():
                self.add(table, (key,), **counts)

    def undecided(self, place: Any, text: str) -> None:
        """A case whose exact value nothing decides."""
        key = (place.family.name, place.form, place.size, place.kind, place.turn)
        self.add("undecided", key, cases=1)

    def right(
        self,
        place: Any,
        kernel: Any,
        *,
        elements: int,
        worse: int,
        wrong: int,
        unlikely: int,
        ratios: dict[str, float],
    ) -> None:
        asked = kernel.standard == "normal"
        key = (place.family.group, place.family.name, place.form, place.size)
        counts: Counts = {
            "elements": elements,
            "false_wrong": wrong,
            "asked_normal": elements if asked else 0,
            "false_worse": worse if asked else 0,
            "others": 0 if asked else elements,
            "others_worse": 0 if asked else worse,
            "unlikely": unlikely if asked else 0,
            "others_unlikely": 0 if asked else unlikely,
            "ratio_any_order": ratios["any_order"],
        }
        if asked:
            counts["ratio_normal"], counts["ratio_typical"] = ratios["normal"], ratios["typical"]
        self.add("right", key, **counts)
        self.add(
            "kernels",
            (place.family.name, kernel.name),
            elements=elements,
            wrong=wrong,
            worse=worse,
            unlikely=unlikely,
            ratio_normal=ratios["normal"],
            ratio_any_order=ratios["any_order"],
            ratio_typical=ratios["typical"],
        )
        self.add(
            "typical",
            (place.kind, "of normal" if asked else "others", place.size),
            elements=elements,
            worse=worse,
            unlikely=unlikely,
            outputs=1,
            refused=int(unlikely > 0),
            ratio_typical=ratios["typical"],
        )

    def broken(
        self, place: Any, fault: Any, *, tensor: tuple[bool, bool, bool], **counts: int
    ) -> None:
        caught, caught_free, caught_likely = tensor
        row = {
            **counts,
            "tensors": 1,
            "tensors_caught": int(caught),
            "tensors_caught_free": int(caught_free),
            "tensors_caught_likely": int(caught_likely),
        }
        self.add("broken", (place.family.group, place.family.name, place.form, place.size), **row)
        self.add("faults", (place.family.name, fault.kind), **row)

    def rivals(self, place: Any, kernel: Any, said: dict[str, bool | None], free: bool) -> None:
        """``said`` is whether each rule accepts the output; None where it says nothing."""
        from tests.arena.frame import Fault

        broken = isinstance(kernel, Fault)
        wanted = broken or kernel.standard == "normal"
        for name, accepted in said.items():
            if accepted is None or (name in ("normal", "typical") and not wanted):
                continue
            counts: Counts = defaultdict(float)
            if broken:
                counts["broken"], counts["missed"] = 1, int(accepted)
                counts["far"], counts["missed_far"] = int(not free), int(accepted and not free)
            else:
                counts["right"], counts["alarms"] = 1, int(not accepted)
            for table, key in (
                ("rivals", (data_of(place.kind), name)),
                ("rivals_by_op", (place.family.name, name)),
                ("rivals_by_format", (place.form, name)),
                ("rivals_by_size", (place.size, name)),
            ):
                self.add(table, key, **counts)
