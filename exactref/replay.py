"""`python -m exactref replay FILE`: a saved check judged again, and the same table printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import exactref

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from exactref_core.diagnosis.findings import Findings
    from exactref_core.judgement import Judgement
    from exactref_core.saved import SavedCheck

__all__ = ["add_arguments", "replay"]


def add_arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("file", metavar="FILE", help="a saved check, .exactref/NAME.npz")
    parser.add_argument(
        "--import",
        dest="modules",
        metavar="MODULE",
        action="append",
        default=[],
        help="import this module or Python file first: it defines the operation, or adds it",
    )
    parser.add_argument("--standard", metavar="NAME", help="judge under this standard instead")
    parser.add_argument("--rows", type=int, metavar="N", help="rows of the table")


def replay(given: Namespace) -> tuple[str, str, bool]:
    """Judge a saved check again; return the text, a remark (""), and whether it fails.

    ExactRefError where the file cannot be read, or its check cannot be judged here.
    """
    from exactref_core.errors import ExactRefError, InputError, UnknownNameError
    from exactref_core.saved import load, read

    for module in given.modules:
        load(module)
    try:
        check = read(Path(given.file))
        check = replace(
            check,
            standard=given.standard or check.standard,
            rows=check.rows if given.rows is None else given.rows,
        )
        judged = judge(check)
    except UnknownNameError as error:
        raise UnknownNameError(f"{error}{hint(given)}") from None
    except ExactRefError:
        raise
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
        # A file that says something else than a call ever had.
        raise InputError(f"{given.file} cannot be judged: {error!r}") from None
    text, fails = told(check, judged)
    return text, remark(check), fails


def hint(given: Namespace) -> str:
    """Return what to do about a name that is not known."""
    return "" if given.modules else "; give --import MODULE if a module of yours defines it"


def judge(check: SavedCheck) -> Sequence[Judgement]:
    """Judge the outputs of a check on its own terms, and explain those that fail."""
    from exactref_core import compare
    from exactref_core.failure import explained

    findings: dict[str, Findings] = {}
    result, flush = check.result, check.flush_to_zero
    judged = compare.judge(
        dict(check.outputs),
        result,
        standard=check.standard,
        flush_to_zero=flush,
        rows=check.rows,
        findings=findings,
    )
    failed = [one for one in judged if one.fails(check.worse)]
    return explained(failed, check.outputs, result, findings, flush) if failed else judged


def told(check: SavedCheck, judged: Sequence[Judgement]) -> tuple[str, bool]:
    """Return the failure's text, or a line for each output that passes, and whether it fails."""
    from pytest_exactref.reports.text import failure_text

    if any(one.fails(check.worse) for one in judged):
        return failure_text(judged, check.label, check.inputs), True
    return "\n".join(one.headline() for one in judged), False


def remark(check: SavedCheck) -> str:
    """Return what a reader should know about where the check comes from."""
    if check.version == exactref.__version__:
        return ""
    return f"saved by exactref {check.version}, judged by exactref {exactref.__version__}"
