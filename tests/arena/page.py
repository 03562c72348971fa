"""The page of the arena's tables: ``python -m tests.arena.page`` makes it of results.json.

``python -m tests.arena.page FILE`` first takes over the counts of a run.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.arena import pictures
from tests.arena.report import (
    grouped,
    guided,
    marked,
    missed,
    rivals,
    rivals_by,
    sharpness,
    soundness,
    tightness,
    typical,
    whole,
)

HERE = Path(__file__).parent
RESULTS = HERE / "results.json"
DOCS = HERE.parents[1] / "docs"
PAGE = DOCS / "arena.md"
KEPT = {
    "right": (0, 1, 2, 3),
    "kernels": (0, 1),
    "typical": (0, 1, 2),
    "broken": (0,),
    "faults": (0, 1),
    "rivals": (0, 1),
    "rivals_by_op": (0, 1),
    "rivals_by_format": (0, 1),
    "rivals_by_size": (0, 1),
    "guided": (0, 1),
    "marked": (0, 1, 2),
    "marked_right": (0,),
    "undecided": (0, 1, 2, 3, 4),
}


def kept(data: dict[str, Any]) -> dict[str, Any]:
    """What the page needs of a run."""
    tables = {
        name: {" | ".join(key): row for key, row in grouped(data, name, places).items()}
        for name, places in KEPT.items()
        if name in data["tables"]
    }
    return {**data, "tables": tables}


def counted(data: dict[str, Any], table: str, name: str) -> int:
    return int(sum(row.get(name, 0) for row in data["tables"].get(table, {}).values()))


def undecided(data: dict[str, Any]) -> str:
    """The operations that had cases without a reference."""
    names = dict.fromkeys(key.split(" | ")[0] for key in data["tables"].get("undecided", {}))
    return ", ".join(f"`{name}`" for name in names) or "any operation"


def figures(data: dict[str, Any]) -> str:
    """The counts of the run in one paragraph."""
    kernels = [key.split(" | ") for key in data["tables"]["kernels"]]
    faults = [key.split(" | ") for key in data["tables"]["faults"]]
    ops, kinds = {op for op, _ in kernels}, {kind for _, kind in faults}
    tests, caught = counted(data, "marked", "tests"), counted(data, "marked", "caught")
    thorough, reached = (counted(data, "marked", of) for of in ("caught_thorough", "reached"))
    lines = [
        f"- {len(ops)} operations, {len(kernels)} right kernels, {len(faults)} broken ones "
        f"with {len(kinds)} kinds of faults.",
        f"- {whole(counted(data, 'right', 'elements'))} elements of right kernels judged: "
        f"{counted(data, 'right', 'false_wrong')} called wrong. "
        f"{whole(counted(data, 'right', 'asked_normal'))} of them by kernels that `normal` admits: "
        f"{counted(data, 'right', 'false_worse')} called worse.",
        f"- {whole(counted(data, 'broken', 'beyond'))} elements that a fault moved beyond the "
        f"`any_order` tolerance: {counted(data, 'broken', 'missed_beyond')} missed.",
        f"- {counted(data, 'undecided', 'cases')} cases of {undecided(data)} not judged, since "
        "nothing decided their exact value (`er.UndecidedError`).",
        f"- {whole(tests)} broken kernels under one test with `er.op` and default settings: "
        f"{whole(caught)} caught ({100 * caught / max(tests, 1):.1f} %; "
        f"{100 * caught / max(reached, 1):.1f} % of the {whole(reached)} that its inputs reach), "
        f"{whole(thorough)} with `--exactref` ({100 * thorough / max(tests, 1):.1f} %).",
        f"- {whole(counted(data, 'marked_right', 'tests'))} right kernels under the same test: "
        f"{counted(data, 'marked_right', 'failed')} failed, "
        f"{counted(data, 'marked_right', 'undecided')} stopped at an `er.UndecidedError`.",
    ]
    return "\n".join(lines)


def page(data: dict[str, Any]) -> str:
    text = (HERE / "page.md").read_text()
    for name, made in (
        ("figures", figures(data)),
        ("soundness", soundness(data)),
        ("typical", typical(data)),
        ("sharpness", sharpness(data)),
        ("guided", guided(data)),
        ("plain", rivals(data, "plain")),
        ("hostile", rivals(data, "hostile")),
        ("by operation", rivals_by(data, "rivals_by_op", "operation")),
        ("by format", rivals_by(data, "rivals_by_format", "format")),
        ("by size", rivals_by(data, "rivals_by_size", "size")),
        ("marked", marked(data)),
        ("missed", missed(data)),
        ("tightness", tightness(data)),
    ):
        text = text.replace(f"<!-- {name} -->", made)
    return text


def generated() -> dict[Path, str]:
    """The page and its pictures."""
    data = json.loads(RESULTS.read_text())
    return {
        PAGE: page(data),
        DOCS / "pictures" / "arena-misses.svg": pictures.misses(data),
        DOCS / "pictures" / "arena-tightness.svg": pictures.tightness(data),
    }


if __name__ == "__main__":
    if len(sys.argv) > 1:
        found = kept(json.loads(Path(sys.argv[1]).read_text()))
        RESULTS.write_text(json.dumps(found, indent=0) + "\n")
    for path, text in generated().items():
        path.write_text(text)
