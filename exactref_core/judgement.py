"""The verdict on one output, as plain data: counts, the worst elements, and a table to read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from exactref_core.picture import Picture

__all__ = ["Judgement", "Row"]

HEADINGS = ("index", "output", "rounded", "error", "normal", "any order", "error/normal", "verdict")


@dataclass(frozen=True)
class Row:
    """One element: what was returned, the exact value rounded once, and both tolerances.

    ``index`` has a last entry of 0 (real) or 1 (imaginary) for complex outputs.
    """

    index: tuple[int, ...]
    output: float
    rounded: float
    error: float
    normal: float
    any_order: float
    verdict: str
    note: str

    @property
    def rank(self) -> tuple[bool, bool, float, float]:
        """What sorts rows, the worst first: wrong, specials, error/tolerance, relative error."""
        finite = self.error - self.error == 0
        ratio = self.error / self.normal if self.normal else math.inf
        relative = self.error / abs(self.rounded) if self.rounded else math.inf
        return self.verdict != "wrong", finite, -ratio, -relative

    def cells(self, digits: int) -> tuple[str, ...]:
        """Return the row's columns as text."""
        ratio = "-"
        if self.error == self.error and self.normal == self.normal:
            ratio = f"{self.error / self.normal:.1f}" if self.normal else "inf"
        verdict = f"{self.verdict} ({self.note})" if self.note else self.verdict
        return (
            str(list(self.index)),
            value(self.output, digits),
            value(self.rounded, digits),
            f"{self.error:.1e}",
            f"{self.normal:.1e}",
            f"{self.any_order:.1e}",
            ratio,
            verdict,
        )


def value(number: float, digits: int) -> str:
    """Return a value with as many digits as tell the format's numbers apart."""
    return str(number) if isinstance(number, int) else f"{number:.{digits}g}"


@dataclass(frozen=True)
class Judgement:
    """How one output was judged.

    ``worst_ratio`` is the largest error/tolerance under ``standard``; ``vacuous`` counts elements
    whose tolerance is infinite or reaches the sum of the magnitudes of their terms, so that the
    standard guarantees nothing; ``seconds`` is the time spent on the reference; ``picture`` is
    there if asked for. ``where`` says where failing elements lie and ``looks_like`` which
    computation would give them, of judgements that were explained.
    """

    op: str
    output: str
    dtype: str
    shape: tuple[int, ...]
    standard: str
    total: int
    normal: int
    worse: int
    wrong: int
    worst_ratio: float
    rows: tuple[Row, ...]
    vacuous: int
    seconds: float
    picture: Picture | None = None
    where: str = ""
    looks_like: str = ""

    @property
    def verdict(self) -> str:
        """The worst verdict of any element."""
        if self.wrong:
            return "wrong"
        return "correct but worse" if self.worse else "normal"

    def fails(self, worse: str) -> bool:
        """Return whether a check fails that does this ("fail", ...) where an element is worse.

        Under "any_order" there is no better to fall short of.
        """
        falls_short = self.worse > 0 and self.standard != "any_order" and worse == "fail"
        return self.wrong > 0 or falls_short

    def moved(self, start: tuple[int, ...]) -> Judgement:
        """Return the judgement of a block that starts there in the whole."""
        if not any(start):
            return self
        ahead = (*start, *(0 for _ in range(len(self.shape) + 1 - len(start))))
        rows = tuple(
            replace(row, index=tuple(i + first for i, first in zip(row.index, ahead, strict=False)))
            for row in self.rows
        )
        return replace(self, rows=rows)

    @property
    def inner(self) -> str:
        """The standard that an element which is correct but worse falls short of."""
        return "normal" if self.standard == "any_order" else self.standard

    def headline(self) -> str:
        """Return the counts in one line."""
        name = self.op if self.output == "output" else f"{self.op}[{self.output!r}]"
        counts = f"{self.wrong} wrong, {self.worse} correct but worse, {self.normal} {self.inner}"
        return f"{name} {self.dtype} {self.shape}: {counts}        standard: {self.standard}"

    def cells(self) -> list[tuple[str, ...]]:
        """Return the columns' headings, then the worst elements, as text."""
        digits = DIGITS.get(self.dtype, 17)
        head = tuple(name.replace("normal", self.inner) for name in HEADINGS)
        return [head, *(row.cells(digits) for row in self.rows)]

    def table(self) -> str:
        """Return the headline and the worst elements, in columns."""
        lines = [self.headline()]
        if self.rows:
            cells = self.cells()
            widths = [max(len(row[i]) for row in cells) for i in range(len(HEADINGS))]
            for row in cells:
                left = row[0].ljust(widths[0])
                middle = [
                    cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:-1], strict=True)
                ]
                lines.append("  " + "  ".join((left, *middle, row[-1])))
            hidden = self.worse + self.wrong - len(self.rows)
            if hidden:
                lines.append(f"  ... and {hidden} more")
        if self.vacuous:
            lines.append(
                f"  note: at {self.vacuous} of {self.total} elements {self.standard} guarantees "
                "nothing: even zero is covered there"
            )
        lines += [f"  where: {self.where}"] if self.where else []
        lines += [f"  looks like: {self.looks_like}"] if self.looks_like else []
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return builtins only."""
        data = asdict(self)
        data["shape"] = list(self.shape)
        data["picture"] = None if self.picture is None else self.picture.to_dict()
        data["rows"] = [{**asdict(row), "index": list(row.index)} for row in self.rows]
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Judgement:
        """Return the judgement that ``to_dict`` wrote."""
        rows = tuple(Row(**{**row, "index": tuple(row["index"])}) for row in data["rows"])
        picture = None if data["picture"] is None else Picture.from_dict(data["picture"])
        return cls(**{**data, "shape": tuple(data["shape"]), "rows": rows, "picture": picture})


def merged(parts: list[Judgement], shape: tuple[int, ...], rows: int) -> Judgement:
    """Return one judgement of the blocks of an output of this shape."""
    if len(parts) == 1:
        return replace(parts[0], shape=shape)
    worst = sorted(
        (row for part in parts for row in part.rows), key=lambda row: (row.rank, row.index)
    )
    sums = ("total", "normal", "worse", "wrong", "vacuous", "seconds")
    return replace(
        parts[0],
        shape=shape,
        rows=tuple(worst[:rows]),
        worst_ratio=max(part.worst_ratio for part in parts),
        **{name: sum(getattr(part, name) for part in parts) for name in sums},
    )


# Significant digits that tell all numbers of a format apart.
DIGITS = {
    "float64": 17,
    "complex128": 17,
    "float32": 9,
    "complex64": 9,
    "tfloat32": 5,
    "float16": 5,
    "bfloat16": 4,
}
