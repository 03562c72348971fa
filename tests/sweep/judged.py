"""How many elements a sweep judged, and how: judged.json, which docs/judged.md shows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

from tests.house.tree import ROOT
from tests.sweep.judging import VERDICTS
from tests.sweep.libraries import FORMATS, Library
from tests.sweep.running import Row

FILE = Path(__file__).with_name("judged.json")
PAGE = ROOT / "docs" / "judged.md"
MARK, END = "<!-- generated: judged -->\n", "<!-- end: judged -->\n"
# Elements by verdict, samples that nothing judged, and whether time ran out.
Counts: TypeAlias = dict[str, Any]


def load() -> dict[str, Counts]:
    """What is written down, by library, operation and format."""
    found: dict[str, Counts] = json.loads(FILE.read_text()) if FILE.exists() else {}
    return found


def counts(row: Row) -> Counts:
    """A row as JSON has it; verdicts that no element got are left out."""
    found: Counts = {
        verdict: int(count) for verdict, count in zip(VERDICTS, row.counts, strict=True) if count
    }
    return found | ({"stopped": True} if row.stopped else {})


def write(library: Library, rows: Iterable[Row]) -> None:
    """Write rows down, in the place of those of the same operation and format."""
    new = {f"{library.name} {row.op} {row.form}": counts(row) for row in rows}
    found = load() | new
    text = ",\n".join(f'"{place}": {json.dumps(found[place])}' for place in sorted(found))
    FILE.write_text("{\n" + text + "\n}\n")


def cell(found: Counts | None) -> str:
    """What one operation got in one format."""
    if found is None:
        return ""
    total = sum(found.get(verdict, 0) for verdict in VERDICTS)
    others = [f"{found[verdict]} {verdict}" for verdict in VERDICTS[:0:-1] if verdict in found]
    return f"{total}{'+' if 'stopped' in found else ''}" + (f": {', '.join(others)}" * bool(others))


def table(library: str) -> str:
    """The operations of a library, and their gradients, by format."""
    found = load()
    names = {place.split()[1] for place in found if place.split()[0] == library}
    lines = [f"| operation | {' | '.join(FORMATS)} |", "| --- " * (len(FORMATS) + 1) + "|"]
    for name in sorted(names, key=lambda one: (one.startswith("backward."), one)):
        cells = (cell(found.get(f"{library} {name} {form}")) for form in FORMATS)
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def page(text: str) -> str:
    """The page with its table renewed."""
    before, rest = text.split(MARK)
    return before + MARK + "\n" + table("torch") + "\n" + END + rest.split(END)[1]
