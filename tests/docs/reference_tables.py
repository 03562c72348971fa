"""What is generated: `python -m tests.docs.reference_tables` renews it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import exactref
from tests.docs import api_sections, findings_page, operation_sections
from tests.docs.operation_sections import signature
from tests.docs.stubs import stubs
from tests.house.tree import ROOT
from tests.sweep import judged

if TYPE_CHECKING:
    from exactref_core.op import Op

PAGE = ROOT / "docs" / "reference" / "ops.md"
START, END = "<!-- generated: operations -->\n", "<!-- end -->\n"


def row(op: Op) -> str:
    """The table row of an operation."""
    complex_too = any(name.startswith("complex") for name in op.domain.dtypes)
    outputs = "" if op.outputs == ("output",) else f" Outputs: {', '.join(op.outputs)}."
    meaning = op.summary.replace("``", "`").replace("|x|", "\\|x\\|")
    inputs = "real, complex" if complex_too else "real"
    gradient = "yes" if op.backward is not None else ""
    call = f"[`{signature(op).removeprefix('er.')}`](operations.md#{op.name})"
    return f"| {call} | {meaning}{outputs} | {inputs} | {gradient} |"


def table() -> str:
    """The table of every operation, by name."""
    head = "| operation | value | inputs | gradient |\n| --- | --- | --- | --- |\n"
    shown = [op for op in exactref.ops() if op.forward is None]
    return head + "".join(f"{row(op)}\n" for op in shown)


def renewed(page: str) -> str:
    """``page`` with the table that the registry gives today."""
    before, rest = page.split(START)
    return before + START + table() + END + rest.split(END)[1]


def generated() -> dict[Path, str]:
    """Every file that is generated, in whole or in part, with its text."""
    return {
        PAGE: renewed(PAGE.read_text()),
        operation_sections.PAGE: operation_sections.page(),
        api_sections.PAGE: api_sections.page(),
        findings_page.PAGE: findings_page.page(findings_page.PAGE.read_text()),
        judged.PAGE: judged.page(judged.PAGE.read_text()),
        **stubs(),
    }


if __name__ == "__main__":
    for path, text in generated().items():
        path.write_text(text)
