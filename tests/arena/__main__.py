"""``python -m tests.arena``: judge right and broken kernels, and rivals, on the same data."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.arena.registry import FAMILIES
from tests.arena.report import summary
from tests.arena.running import Run


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.arena", description=__doc__)
    parser.add_argument("--elements", type=int, default=0, help="go on to so many, at least a turn")
    parser.add_argument("--hours", type=float, default=0.0, help="go on for so long")
    parser.add_argument(
        "--guided", type=int, help="steps of guided search a turn (40 with --hours, else none)"
    )
    parser.add_argument("--json", type=Path, help="counts, which a later run goes on from")
    parser.add_argument("--alarms", type=Path, help="folder for replay files of alarms")
    parser.add_argument("--marked", action="store_true", help="also under tests with er.op")
    parser.add_argument("--ops", nargs="*", help="these operations only")
    parser.add_argument("--longest", type=int, default=10**7, help="no longer rows than this")
    return parser.parse_args()


def main() -> int:
    given = arguments()
    families = tuple(f for f in FAMILIES if not given.ops or f.op in given.ops)
    run = Run(families, given.json)
    end = time.monotonic() + given.hours * 3600

    def done(now: Run) -> bool:
        late = time.monotonic() >= end
        return now.turn > 0 and late and now.judged >= given.elements

    run.until(
        done,
        longest=given.longest,
        guided=(40 if given.hours else 0) if given.guided is None else given.guided,
        folder=given.alarms,
        told=lambda text: print(text, flush=True),
    )
    if given.marked:
        run.marked()
    print(summary(run.data()))
    return 1 if run.alarms else 0


if __name__ == "__main__":
    sys.exit(main())
