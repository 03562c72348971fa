"""`python -m exactref`: operations listed and explained, saved checks judged again."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from exactref.replay import add_arguments, replay

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 2 where the arguments do not fit, 1 where a saved check fails."""
    parser = argparse.ArgumentParser(prog="python -m exactref", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("ops", help="list every operation")
    explain = commands.add_parser("explain", help="definition, formulas and roundings of one")
    explain.add_argument("operation", metavar="OP")
    add_arguments(commands.add_parser("replay", help="judge a saved check again"))
    given = parser.parse_args(arguments)
    from exactref_core.describe import explanation, overview
    from exactref_core.errors import ExactRefError

    fails = False
    try:
        if given.command == "replay":
            found, remark, fails = replay(given)
            sys.stderr.write(f"{remark}\n" if remark else "")
        else:
            found = overview() if given.command == "ops" else explanation(given.operation)
    except ExactRefError as error:
        parser.error(str(error))
    sys.stdout.write(found + "\n")
    return int(fails)


if __name__ == "__main__":
    sys.exit(main())
