"""The summary section under --exactref: one row for each operation and test, then the notices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pytest_exactref.vacuity import PASSES_TOO

if TYPE_CHECKING:
    from pytest_exactref.records import CheckRecord

__all__ = ["summary_lines"]

_HEAD = (
    "test", "op", "dtype", "standard", "elements", "normal", "worse", "wrong",
    "error/tolerance", "examples", "references",
)  # fmt: skip
_TEXT_COLUMNS = 4  # these stand left, the numbers right


def summary_lines(records: Sequence[CheckRecord]) -> list[str]:
    """The lines of the section: the table, then what the checks could not have noticed."""
    if not records:
        return ["no check ran"]
    return [*_table([_HEAD, *map(_row, records)]), *_notices(records)]


def _row(record: CheckRecord) -> tuple[str, ...]:
    return (
        _name(record),
        record.op,
        record.dtype,
        record.standard,
        str(record.elements),
        str(record.normal),
        str(record.worse),
        str(record.wrong),
        f"{record.ratio:.3g}",
        str(record.checks),
        f"{record.seconds:.2f} s",
    )


def _name(record: CheckRecord) -> str:
    label = f" ({' '.join(record.label.split())})" if record.label else ""
    output = "" if record.output == "output" else f" [{record.output}]"
    return f"{record.nodeid}{output}{label}"


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.ljust(width) if index < _TEXT_COLUMNS else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def _notices(records: Sequence[CheckRecord]) -> Iterator[str]:
    silent = [
        f"  {_name(record)} ({record.standard}): {record.vacuous} of {record.elements} elements"
        for record in records
        if record.vacuous
    ]
    if silent:
        yield "the standard guarantees nothing where its tolerance is inf, or the sum of |terms|:"
        yield from silent
    for question, words in PASSES_TOO.items():
        blind = [
            f"  {_name(record)}: {_of_checks(record, question)} could not tell"
            for record in records
            if record.lets_pass(question)
        ]
        if blind:
            yield f"vacuous, since {words} would also pass:"
            yield from blind


def _of_checks(record: CheckRecord, question: str) -> str:
    _, blind, elements = record.asked[question]
    alone = record.drawn or record.checks == 1
    words = f"{elements} element" if elements == 1 else f"{elements} elements"
    return words if alone else f"{blind} of {record.checks} checks, {words}"
