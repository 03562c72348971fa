"""`python -m tests.benchmarks` prints what references cost, as a page's tables.

Medians of interleaved runs in one process, so that a machine that slows down slows both sides.
OPENBLAS_NUM_THREADS fixes the baseline's threads. `--small` takes sizes at which nothing is
measured; `--write` puts the tables into docs/performance.md.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from tests.benchmarks import measure
from tests.benchmarks.rows import FULL, GROWTH, SMALL, rows

PAGE = Path(__file__).parents[2] / "docs" / "performance.md"
START, END = "<!-- measured -->\n", "<!-- end -->\n"


def main(arguments: list[str] | None = None) -> int:
    """Measure and print; write the page where asked."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args(arguments)
    np.empty(3 << 20).fill(0.0)  # a large array freed once keeps later ones from page faults
    parts = [
        measure.machine(),
        measure.table(rows(SMALL if given.small else FULL), given.rounds),
        measure.growth({} if given.small else GROWTH, given.rounds),
    ]
    if not given.small:
        parts.append(measure.memory())
    text = "\n".join(parts)
    sys.stdout.write(text)
    if given.write:
        page = PAGE.read_text(encoding="utf-8")
        before, rest = page.split(START)
        _, after = rest.split(END)
        PAGE.write_text(f"{before}{START}\n{text}\n{END}{after}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
