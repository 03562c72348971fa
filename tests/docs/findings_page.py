"""The tables of docs/findings.md, out of the findings that docs/examples holds as tests."""

from __future__ import annotations

from docs.examples import (
    findings_gradients,
    findings_narrow,
    findings_numpy,
    findings_rows,
    findings_torch,
    findings_worse,
)
from docs.examples.finding import FINDINGS, Finding, shown
from tests.house.tree import ROOT

PAGE = ROOT / "docs" / "findings.md"
MODULES = (
    findings_numpy,
    findings_torch,
    findings_gradients,
    findings_narrow,
    findings_rows,
    findings_worse,
)
HEADS = ("kernel", "smallest input", "returns", "rounded", "why", "name")


def row(one: Finding) -> str:
    """A finding as a row; its exact value is evaluated here, not taken from anywhere."""
    case = one.case()
    rounded = shown(case.result.rounded.scalars()[case.at], str(case.result.dtype))
    cells = [one.kernel, one.inputs, one.returned, rounded, one.why, f"`{one.name}`"]
    if one.standard == "normal":
        tolerance = case.result.tolerance().scalars()[case.at]
        cells[4] = f"{tolerance:.8g}"
    return "| " + " | ".join(cells) + " |"


def place(one: Finding) -> int:
    """Where a finding's module comes on the page."""
    return [module.__name__ for module in MODULES].index(one.case.__module__)


def table(standard: str, exponentials: bool) -> str:
    """The findings under a standard; those of matrix exponentials have a table of their own."""
    heads = list(HEADS)
    if standard == "normal":
        heads[4] = "tolerance under `normal`"
    found = [
        row(one)
        for one in sorted(FINDINGS.values(), key=place)
        if one.standard == standard
        and ("matrix_exp" in one.name or "expm" in one.name.split("_")) == exponentials
    ]
    rule = "| " + " | ".join(["---"] * len(heads)) + " |"
    return "\n".join(["| " + " | ".join(heads) + " |", rule, *found]) + "\n"


def page(text: str) -> str:
    """The page with its tables renewed."""
    for mark, one in (
        ("wrong", table("any_order", False)),
        ("worse", table("normal", False)),
        ("exponentials", table("any_order", True)),
    ):
        start, end = f"<!-- generated: {mark} -->\n", f"<!-- end: {mark} -->\n"
        before, rest = text.split(start)
        text = before + start + "\n" + one + "\n" + end + rest.split(end)[1]
    return text
