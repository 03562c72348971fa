"""Pages of the HTML report for its tests: made of judgements of real outputs, and read back."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from html.parser import HTMLParser
from typing import Any

import numpy as np

import exactref as er
from exactref_core.compare import Judgement, judge
from pytest_exactref.options import Options
from pytest_exactref.records import CheckRecord
from pytest_exactref.reports.html_page import page
from pytest_exactref.showing import keep

HOSTILE = "</script><script>document.title = 'owned'</script><img src=x onerror=alert(1)>&amp;\"'"


class Reader(HTMLParser):
    """What a page holds: its checks' names, its data by id, and every address in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.data: dict[str, Any] = {}
        self.addresses: list[str] = []
        self.elements: list[str] = []
        self._inside = ""
        self._stored = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        facts = dict(attrs)
        self.elements.append(tag)
        self.addresses += [str(facts[name]) for name in ("src", "href", "action") if name in facts]
        if tag != "wbr":  # a place where a name may be broken into lines
            self._inside = facts.get("class") or ""
            self.names += [""] * (self._inside == "open")
        self._stored = (facts.get("id") or "") if tag == "script" else ""

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._stored:
            self.data[self._stored] = json.loads(data)
        elif self._inside == "open":
            self.names[-1] += data
        self._stored = ""


def heads(offset: float) -> Judgement:
    """Products of three matrices: of the second a block off by a factor, and its tail lost."""
    rng = np.random.default_rng(5)
    A = rng.standard_normal((3, 40, 32)).astype(np.float32)
    B = rng.standard_normal((3, 32, 70)).astype(np.float32)
    output = (A.astype(np.float64) @ B).astype(np.float32)
    output[1, 8:16, 16:32] *= np.float32(1 + offset)
    if offset:
        output[1, :, 66:] = 0
    (found,) = judge(output, er.matmul(A, B), picture=True)
    return found


def worse() -> Judgement:
    """A sum that is correct, but worse."""
    row = [1e16, 0.0, 0.0, 0.0, -1e16, 0.0, 0.0, 0.0] + [1.0] * 96 + [0.0] * 104
    (found,) = judge(np.float64(72.0), er.sum(row), picture=True)
    return found


def nothing() -> Judgement:
    """A tensor without elements."""
    (found,) = judge(
        np.zeros((3, 0), np.float32), er.sum(np.zeros((3, 0, 2), np.float32), axis=2), picture=True
    )
    return found


def record(judgement: Judgement, nodeid: str, label: str = "", **facts: Any) -> CheckRecord:
    """The record of one judgement."""
    found = CheckRecord(
        nodeid, judgement.op, judgement.output, judgement.dtype, judgement.standard, label, **facts
    )
    keep(found, judgement, judgement.verdict != "normal", None)
    found.checks, found.elements = 1, judgement.total
    found.normal, found.worse, found.wrong = judgement.normal, judgement.worse, judgement.wrong
    found.ratio, found.seconds = judgement.worst_ratio, judgement.seconds
    return found


def some_checks() -> list[CheckRecord]:
    """One check of each verdict, and one with a hostile name."""
    failing = record(heads(0.01), "tests/test_heads.py::test_heads", "second head")
    failing.replay = "python -m exactref replay 'kept/a b.npz'"
    failing.where, failing.looks_like = "last 4 columns", "a lost tile"
    return [
        record(heads(0), "tests/test_heads.py::test_right[bfloat16]", vacuous=3),
        failing,
        record(worse(), "tests/test_sums.py::test_row", outcome="xfailed"),
        record(
            heads(0), f"tests/test_x.py::test_x[{HOSTILE}]", HOSTILE, asked={"zeros": [0, 1, 4]}
        ),
    ]


def many_checks(count: int) -> list[CheckRecord]:
    """As many checks, a tenth of them failing, by a few judgements."""
    right, wrong = heads(0), heads(0.01)
    return [
        record(wrong if n % 10 == 0 else right, f"tests/test_{n % 7}.py::test_kernel[{n}]")
        for n in range(count)
    ]


def html(records: list[CheckRecord]) -> str:
    """The page of these records, as of a session with seed 7."""
    when = datetime(2026, 1, 2, 3, 4, tzinfo=timezone.utc)
    return page(records, Options(seed=7)._asdict(), when)
