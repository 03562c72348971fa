"""Which of a record's examples the HTML report shows, and what of it, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_exactref.records import CheckRecord

if TYPE_CHECKING:
    from exactref_core.array import Array
    from exactref_core.compare import Judgement

__all__ = ["keep"]


def keep(
    record: CheckRecord, judgement: Judgement, fails: bool, inputs: Mapping[str, Array] | None
) -> None:
    """Count a judgement into the record's histogram, and show it if it says more than the last.

    A failing example comes before one that passes, and a wrong one before one that is correct but
    worse. Among failing ones that hypothesis drew the last counts: it shrinks them, and runs the
    smallest in the end. Otherwise the larger error/tolerance counts.
    """
    if judgement.picture is None or (record.failed and not fails):
        return
    drawing = judgement.picture.to_dict()
    histogram = drawing.pop("histogram")
    if not record.failed:
        counted = record.histogram or [[0] * len(bins) for bins in histogram]
        record.histogram = [
            [a + b for a, b in zip(*both, strict=True)]
            for both in zip(counted, histogram, strict=True)
        ]
    rank = (fails, fails and judgement.wrong > 0)
    shown = record.shown
    if shown:
        last = (shown["fails"], shown["fails"] and shown["wrong"] > 0)
        later = (record.drawn and fails) or judgement.worst_ratio > shown["ratio"]
        if rank < last or (rank == last and not later):
            return
    record.shown = {
        "fails": fails,
        "drawing": drawing,
        "paste": _paste(inputs) if fails and inputs is not None else "",
        **_facts(judgement),
    }


def _facts(judgement: Judgement) -> dict[str, Any]:
    return {
        "shape": list(judgement.shape),
        "normal": judgement.normal,
        "worse": judgement.worse,
        "wrong": judgement.wrong,
        "ratio": judgement.worst_ratio,
        "rows": [list(cells) for cells in judgement.cells()],
    }


def _paste(inputs: Mapping[str, Array]) -> str:
    from pytest_exactref.reports.text import paste_line

    return paste_line(inputs)
