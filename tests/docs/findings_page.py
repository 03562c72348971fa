"""The tables of docs/findings.md, out of the findings that docs/examples holds as tests."""

from __future__ import annotations

import textwrap

from docs.examples.__main__ import MODULES
from docs.examples.finding import FINDINGS, Finding, shown
from tests.house.tree import ROOT
from tests.sweep import known

PAGE = ROOT / "docs" / "findings.md"
HEADS = (
    *("kernel", "format", "library", "verdict", "smallest input", "returns", "exact", "why"),
    "name",
)


def row(one: Finding) -> str:
    """A finding as a row; its exact value is evaluated here, not taken from anywhere."""
    case = one.case()
    exact = shown(case.result.rounded.scalars()[case.at], str(case.result.dtype))
    why = one.why
    if one.standard == "normal":
        why += f"; {case.result.tolerance().scalars()[case.at]:.8g} is allowed"
    cells = [one.kernel, one.form, one.version, one.verdict, one.inputs, one.returned, exact, why]
    return line([*cells, f"`{one.name}`"])


def line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def place(one: Finding) -> int:
    """Where a finding's module comes on the page."""
    return [module.__name__ for module in MODULES].index(one.case.__module__)


def table(standard: str, exponentials: bool) -> str:
    """The findings under a standard; those of matrix exponentials have a table of their own."""
    found = [
        row(one)
        for one in sorted(FINDINGS.values(), key=place)
        if one.standard == standard
        and ("matrix_exp" in one.name or "expm" in one.name.split("_")) == exponentials
    ]
    return "\n".join([line(list(HEADS)), line(["---"] * len(HEADS)), *found]) + "\n"


def stepwise() -> str:
    """The gradients that torch computes step by step in 16-bit formats, by name."""
    names = sorted({op.removeprefix("backward.") for op, _ in known.stepwise()})
    return textwrap.fill(", ".join(f"`{name}`" for name in names), 110) + "\n"


def page(text: str) -> str:
    """The page with its tables renewed."""
    for mark, one in (
        ("wrong", table("any_order", False)),
        ("worse", table("normal", False)),
        ("exponentials", table("any_order", True)),
        ("stepwise", stepwise()),
    ):
        start, end = f"<!-- generated: {mark} -->\n", f"<!-- end: {mark} -->\n"
        before, rest = text.split(start)
        text = before + start + "\n" + one + "\n" + end + rest.split(end)[1]
    return text
