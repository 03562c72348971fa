"""``python -m tests.sweep``: judge a library's kernels of every operation on hostile inputs."""

from __future__ import annotations

import argparse
import sys

from exactref_core.registry import ops
from tests.sweep.libraries import FORMATS, LIBRARIES
from tests.sweep.report import absent, shown, table
from tests.sweep.running import failing, sweep


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.sweep", description=__doc__)
    parser.add_argument("--library", choices=sorted(LIBRARIES), default="torch")
    parser.add_argument("--ops", nargs="*", help="these operations only, such as backward.exp")
    parser.add_argument("--formats", nargs="*", choices=FORMATS, default=FORMATS)
    parser.add_argument("--turns", type=int, default=1, help="each with inputs of its own")
    parser.add_argument("--first", type=int, default=0, help="the number of the first turn")
    return parser.parse_args()


def main() -> int:
    given = arguments()
    library = LIBRARIES[given.library]
    chosen = [op for op in ops() if not given.ops or op.name in given.ops]
    turns = range(given.first, given.first + given.turns)
    rows = []
    for row in sweep(library, chosen, tuple(given.formats), turns):
        rows.append(row)
        for failure in row.failures.values():
            print(shown(failing(library, failure)), flush=True)
    print(table(rows))
    print(absent(library, chosen))
    return 0


if __name__ == "__main__":
    sys.exit(main())
