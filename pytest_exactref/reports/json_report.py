"""The JSON report: a session's checks as plain data, under a schema with a version."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import exactref
from pytest_exactref.vacuity import PASSES_TOO

if TYPE_CHECKING:
    from pytest_exactref.records import CheckRecord

__all__ = ["SCHEMA", "VERSION", "report", "write"]

VERSION: Final = 1
OPTIONS: Final = ("thorough", "standard", "worse", "examples", "flush_to_zero")

_COUNT: Final = {"type": "integer", "minimum": 0}
_CHECK: Final[dict[str, Any]] = {
    "nodeid": {"type": "string"},
    "op": {"type": "string"},
    "output": {"type": "string"},
    "dtype": {"type": "string"},
    "standard": {"type": "string"},
    "label": {"type": "string"},
    "verdict": {"enum": ["normal", "correct but worse", "wrong"]},
    "examples": _COUNT,
    "elements": _COUNT,
    "normal": _COUNT,
    "worse": _COUNT,
    "wrong": _COUNT,
    "largest_ratio": {"type": ["number", "null"]},
    "largest_ratio_hex": {"type": "string"},
    "no_guarantee": _COUNT,
    "passes_too": {
        "type": "object",
        "propertyNames": {"enum": [*PASSES_TOO]},
        "additionalProperties": _COUNT,
    },
    "seconds": {"type": "number", "minimum": 0},
    "where": {"type": "string"},
    "looks_like": {"type": "string"},
    "replay": {"type": "string"},
}
_SESSION: Final[dict[str, Any]] = {
    "schema": {"const": VERSION},
    "exactref": {"type": "string"},
    "seed": {"type": ["integer", "null"]},
    "options": {
        "type": "object",
        "required": list(OPTIONS),
    },
    "checks": {
        "type": "array",
        "items": {
            "type": "object",
            "properties": _CHECK,
            "required": list(_CHECK),
            "additionalProperties": False,
        },
    },
}
SCHEMA: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Checks of a pytest session by pytest-exactref",
    "type": "object",
    "properties": _SESSION,
    "required": list(_SESSION),
    "additionalProperties": False,
}


def report(records: Sequence[CheckRecord], options: Mapping[str, Any]) -> dict[str, Any]:
    """The report of a session, given the options by name."""
    return {
        "schema": VERSION,
        "exactref": exactref.__version__,
        "seed": options["seed"],
        "options": {name: options[name] for name in OPTIONS},
        "checks": [_check(record) for record in records],
    }


def _check(record: CheckRecord) -> dict[str, Any]:
    ratio = float(record.ratio)
    finite = ratio - ratio == 0
    verdict = "wrong" if record.wrong else "correct but worse" if record.worse else "normal"
    return {
        "nodeid": record.nodeid,
        "op": record.op,
        "output": record.output,
        "dtype": record.dtype,
        "standard": record.standard,
        "label": record.label,
        "verdict": verdict,
        "examples": record.checks,
        "elements": record.elements,
        "normal": record.normal,
        "worse": record.worse,
        "wrong": record.wrong,
        "largest_ratio": ratio if finite else None,
        "largest_ratio_hex": ratio.hex(),
        "no_guarantee": record.vacuous,
        "passes_too": {
            question: record.asked[question][2]
            for question in PASSES_TOO
            if record.lets_pass(question)
        },
        "seconds": record.seconds,
        "where": record.where,
        "looks_like": record.looks_like,
        "replay": record.replay,
    }


def write(path: Path, records: Sequence[CheckRecord], options: Mapping[str, Any]) -> None:
    """Write the report, its folder made where there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(report(records, options), indent=1, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")
