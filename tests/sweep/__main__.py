"""``python -m tests.sweep``: judge a library's kernels of every operation on hostile inputs."""

from __future__ import annotations

import argparse
import math
import sys

from exactref_core.registry import ops
from tests.sweep import judged
from tests.sweep.kept import again, keep
from tests.sweep.libraries import FORMATS, LIBRARIES
from tests.sweep.report import absent, shown, table
from tests.sweep.running import WRONG, failing, sweep


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.sweep", description=__doc__)
    parser.add_argument("--library", choices=sorted(LIBRARIES), default="torch")
    parser.add_argument("--ops", nargs="*", help="these operations only, such as backward.exp")
    parser.add_argument("--formats", nargs="*", choices=FORMATS, default=FORMATS)
    parser.add_argument("--turns", type=int, default=1, help="each with inputs of its own")
    parser.add_argument("--first", type=int, default=0, help="the number of the first turn")
    parser.add_argument("--seconds", type=float, default=math.inf, help="the most for each row")
    parser.add_argument("--count", action="store_true", help="write down how many were judged")
    parser.add_argument("--keep", action="store_true", help="write down what is wrong")
    parser.add_argument("--kept", action="store_true", help="judge only what is written down")
    return parser.parse_args()


def main() -> int:
    given = arguments()
    library = LIBRARIES[given.library]
    chosen = [op for op in ops() if not given.ops or op.name in given.ops]
    turns = range(given.first, given.first + given.turns)
    forms = tuple(given.formats)
    drawn = sweep(library, chosen, forms, turns, given.seconds)
    run = again(library, chosen, forms) if given.kept else drawn
    rows = []
    for row in run:
        rows.append(row)
        if given.count:
            judged.write(library, [row])
        for verdict, failure in row.failures.items():
            least = failure if given.kept else failing(library, failure)
            print(shown(least), flush=True)
            if given.keep and verdict == WRONG:
                keep([((library.name, row.op, row.form), least)])
    print(table(rows))
    print(absent(library, chosen))
    return 0


if __name__ == "__main__":
    sys.exit(main())
