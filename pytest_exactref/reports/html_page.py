"""The HTML report: one file that holds its table, its pictures' data, its style and its script.

The table is markup; what opens under a check is drawn from plain data when it is opened. A content
security policy names the hashes of the page's own style and script, so that nothing else can run or
be loaded, whatever a test is called.
"""

from __future__ import annotations

import base64
import hashlib
import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, Final

import exactref
from exactref_core.picture import HIGHEST, LOWEST
from pytest_exactref.reports import html_check
from pytest_exactref.reports.html_check import WORDS, verdict

if TYPE_CHECKING:
    from pytest_exactref.records import CheckRecord

__all__ = ["page", "write"]

STYLES: Final = ("theme.css", "table.css", "check.css")
SCRIPTS: Final = ("build.js", "map.js", "histogram.js", "check.js", "table.js")
# Heading, whether it holds numbers, and the order of the first click on it.
COLUMNS: Final = (
    ("verdict", False, "descending"),
    ("test", False, "ascending"),
    ("operation", False, "ascending"),
    ("dtype", False, "ascending"),
    ("standard", False, "ascending"),
    ("elements", True, "descending"),
    ("worse", True, "descending"),
    ("wrong", True, "descending"),
    ("error / tolerance", True, "descending"),
    ("examples", True, "descending"),
    ("references", True, "descending"),
)


def write(path: Path, records: Sequence[CheckRecord], options: Mapping[str, Any]) -> None:
    """Write the report, its folder made where there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(records, options, datetime.now(timezone.utc)), encoding="utf-8")


def page(records: Sequence[CheckRecord], options: Mapping[str, Any], when: datetime) -> str:
    """The page of a session, given its options by name: failing checks first, then by severity."""
    severity = list(WORDS)
    checks = sorted(records, key=lambda each: (not _fails(each), -severity.index(verdict(each))))
    style = "\n".join(_part(name) for name in STYLES)
    parts = "\n".join(_part(name) for name in SCRIPTS)
    script = f'(() => {{\n"use strict";\n{parts}}})();'
    headline = _headline(checks)
    return Template(_part("page.html")).substitute(
        policy=_policy(style, script),
        version=escape(exactref.__version__),
        title=f"exactref: {headline}",
        headline=headline,
        share="".join(_share(checks)),
        facts="".join(_facts(options, when)),
        toggles="".join(_toggles(checks)),
        shown=f"{len(checks):,} checks",
        heads="".join(_heads()),
        rows="\n".join(html_check.row(index, each) for index, each in enumerate(checks)),
        data="\n".join(_data(checks, options)),
        style=style,
        script=script,
    )


def _part(name: str) -> str:
    return (files("pytest_exactref.reports") / "page" / name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    def source(text: str) -> str:
        digest = hashlib.sha256(text.encode()).digest()
        return f"'sha256-{base64.b64encode(digest).decode()}'"

    return (
        f"default-src 'none'; style-src {source(style)}; script-src {source(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _fails(record: CheckRecord) -> bool:
    return bool(record.shown.get("fails"))


def _headline(checks: Sequence[CheckRecord]) -> str:
    failing = [each for each in checks if _fails(each)]
    expected = sum(each.outcome == "xfailed" for each in failing)
    if not checks:
        return "No check ran"
    if not failing:
        return f"All {len(checks):,} checks pass" if len(checks) > 1 else "The check passes"
    of_them = f", {expected:,} of them as expected" if expected else ""
    verb = "fails" if len(failing) == 1 else "fail"
    return f"{len(failing):,} of {len(checks):,} checks {verb}{of_them}"


def _share(checks: Sequence[CheckRecord]) -> Iterator[str]:
    start = 0.0
    for name in reversed(WORDS):
        part = 1000 * sum(verdict(each) == name for each in checks) / max(len(checks), 1)
        yield f'<rect class="{name}" x="{start:.2f}" width="{part:.2f}" height="10"/>'
        start += part


def _facts(options: Mapping[str, Any], when: datetime) -> Iterator[str]:
    facts = {
        "written": when.strftime("%Y-%m-%d %H:%M UTC"),
        "budget": f"{'thorough, ' if options['thorough'] else ''}{options['examples']} examples",
        "seed": options["seed"],
        "standard": options["standard"],
        "correct but worse": options["worse"],
        **({"subnormal numbers": "may be flushed"} if options["flush_to_zero"] else {}),
        "Python": platform.python_version(),
    }
    for name, value in facts.items():
        yield f"<div><dt>{name}</dt><dd>{escape(str(value))}</dd></div>"


def _toggles(checks: Sequence[CheckRecord]) -> Iterator[str]:
    for name in reversed(WORDS):
        count = sum(verdict(each) == name for each in checks)
        yield (
            f'<label><input type="checkbox" value="{name}" checked> '
            f'<span class="verdict {name}">{WORDS[name]}</span> {count:,}</label>'
        )


def _heads() -> Iterator[str]:
    for name, numbers, first in COLUMNS:
        kind = ' class="number"' if numbers else ""
        yield (
            f'<th scope="col" role="columnheader"{kind} data-first="{first}">'
            f'<button class="sort" type="button">{name}</button></th>'
        )


def _data(checks: Sequence[CheckRecord], options: Mapping[str, Any]) -> Iterator[str]:
    yield _stored("scale", {"lowest": LOWEST, "highest": HIGHEST})
    for index, each in enumerate(checks):
        yield _stored(f"data-check-{index}", html_check.detail(each, options))


def _stored(name: str, data: Mapping[str, Any]) -> str:
    # A string in it may hold "</script>" or "<!--": no "<" of it may reach the parser of HTML.
    text = json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{text}</script>'
