"""Records: what a test's checks came to, as plain data that travels on its TestReport."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Final

import pytest

__all__ = ["ATTRIBUTE", "KEY", "CheckRecord", "Ledger", "attach"]

# The attribute of a TestReport under which the records travel: pytest copies a report's attributes
# when it serialises it, which is how they reach the controller of pytest-xdist.
ATTRIBUTE: Final = "exactref_checks"
# Checks of a record that are asked a question each: thousands in a loop would say the same.
ASKED: Final = 64


@dataclass
class CheckRecord:
    """The checks of one output of one operation by one test, added up.

    ``checks`` counts the examples (or the calls of ``check``); ``elements`` is the number judged,
    split into ``normal``, ``worse`` and ``wrong``; ``ratio`` is the largest error/tolerance;
    ``seconds`` went into references. ``vacuous`` counts the elements whose tolerance is
    infinite or reaches the sum of the absolute terms, so that the standard guarantees nothing
    there. ``asked`` has, for each question of `exactref_core.vacuity`, how many checks refused what
    they should refuse, how many let it pass, and the elements of the latter.
    ``drawn`` says that hypothesis drew the inputs, so that the checks are one check in many
    examples. ``failed`` closes the record: what hypothesis runs afterwards only shrinks.

    For the HTML report, where it is asked for: ``shown`` is one of the examples, with its picture
    and its worst elements, and ``histogram`` counts the elements by verdict and by their
    error/tolerance. ``outcome`` is the test's: the ledger knows it. Of a check that
    fails, ``where`` says where its elements lie, ``looks_like`` which computation would give them,
    and ``replay`` is the command that judges the saved tensors again.
    """

    nodeid: str
    op: str
    output: str
    dtype: str
    standard: str
    label: str = ""
    drawn: bool = False
    failed: bool = False
    checks: int = 0
    elements: int = 0
    normal: int = 0
    worse: int = 0
    wrong: int = 0
    ratio: float = 0.0
    seconds: float = 0.0
    vacuous: int = 0
    asked: dict[str, list[int]] = field(default_factory=dict)
    shown: dict[str, Any] = field(default_factory=dict)
    histogram: list[list[int]] = field(default_factory=list)
    outcome: str = ""
    where: str = ""
    looks_like: str = ""
    replay: str = ""

    def lets_pass(self, question: str) -> bool:
        """Whether what a check should refuse would pass: one check of several, or every example.

        An example with all-zero inputs says nothing about the others, so of drawn examples all
        must be unable to tell, and one that fails could; a call of ``check`` stands for itself.
        """
        _, blind, _ = self.asked.get(question, (0, 0, 0))
        return blind > 0 and not self.is_refused(question)

    def is_refused(self, question: str) -> bool:
        """Whether a drawn example has refused it, or failed, which settles it for all of them."""
        return self.drawn and (self.failed or self.asked.get(question, [0])[0] > 0)

    def is_settled(self, question: str) -> bool:
        """Whether no further check is asked: it is refused, or so many checks have answered."""
        refused, blind, _ = self.asked.get(question, (0, 0, 0))
        return self.is_refused(question) or refused + blind >= ASKED

    def answer(self, question: str, passes: bool, elements: int) -> None:
        """Add what one check says to a question."""
        counts = self.asked.setdefault(question, [0, 0, 0])
        counts[1 if passes else 0] += 1
        counts[2] += elements if passes else 0

    def to_plain(self) -> dict[str, Any]:
        """The record as a dict of builtins only, whatever number types were added into it."""
        plain = asdict(self)
        return {item.name: _PLAIN[str(item.type)](plain[item.name]) for item in fields(self)}

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> CheckRecord:
        """The record that ``to_plain`` was called on."""
        return cls(**plain)


_PLAIN: Final[dict[str, Any]] = {
    "str": str,
    "bool": bool,
    "int": int,
    "float": float,
    # Made of builtins where they are made (`showing`).
    "dict[str, Any]": dict,
    "list[list[int]]": list,
    "dict[str, list[int]]": dict,
}


def attach(report: pytest.TestReport, records: list[CheckRecord]) -> None:
    """Hang records on a report."""
    setattr(report, ATTRIBUTE, [record.to_plain() for record in records])


def _outcome(report: pytest.TestReport) -> str:
    if hasattr(report, "wasxfail"):
        return "xpassed" if report.passed else "xfailed"
    return str(report.outcome)


class Ledger:
    """The records of a session by test, taken from the reports, from xdist workers or not."""

    def __init__(self) -> None:
        self._records: dict[str, list[CheckRecord]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take a report's records; those of a later run of the same test replace earlier ones."""
        plain = getattr(report, ATTRIBUTE, None)
        if plain is not None:
            outcome = _outcome(report)
            self._records[report.nodeid] = [
                replace(CheckRecord.from_plain(item), outcome=outcome) for item in plain
            ]

    def records(self) -> list[CheckRecord]:
        """Every record, by test in the order of the node ids (workers finish in any order)."""
        return [record for nodeid in sorted(self._records) for record in self._records[nodeid]]


KEY: Final = pytest.StashKey[Ledger]()
