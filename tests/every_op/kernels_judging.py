"""What the soundness tests share: budgets, verdicts on simulated outputs, counts."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

import exactref as er

T = TypeVar("T")
THOROUGH = bool(os.environ.get("EXACTREF_THOROUGH"))
# Random cases (elements judged) and outputs (one for each kernel run on a case) of this session.
COUNTS: Counter[str] = Counter()


def budget(regular: int, thorough: int) -> int:
    """How many random rows a test draws: ``thorough`` where EXACTREF_THOROUGH is set."""
    return thorough if THOROUGH else regular


def some(rng: np.random.Generator, items: Sequence[T], count: int) -> list[T]:
    """All items in a thorough run, else ``count`` of them at random, in their order."""
    if THOROUGH or count >= len(items):
        return list(items)
    chosen = np.sort(rng.choice(len(items), count, replace=False)).tolist()
    return [items[i] for i in chosen]


class Judge:
    """Collects the outputs of one result that are not covered, with what reproduces them."""

    def __init__(self) -> None:
        self.alarms: list[str] = []
        self.judged = 0

    def take(
        self, result: Any, dtype: str, label: str, inputs: tuple[np.ndarray, ...], **rule: Any
    ) -> Case:
        COUNTS["cases"] += int(np.prod(result.shape))
        return Case(self, result, dtype, label, inputs, rule)

    def verdict(self) -> None:
        assert self.judged, "nothing was judged"
        assert not self.alarms, f"{len(self.alarms)} alarms\n" + "\n".join(self.alarms[:5])


class Case:
    """One result and the rows it was computed from."""

    def __init__(
        self,
        judge: Judge,
        result: Any,
        dtype: str,
        label: str,
        inputs: tuple[np.ndarray, ...],
        rule: dict[str, Any],
    ) -> None:
        self.judge, self.result, self.dtype = judge, result, dtype
        self.label, self.inputs, self.rule = label, inputs, rule

    def covers(self, kernel: str, output: np.ndarray, standard: str) -> None:
        """Judge one kernel's output (float64 or complex128 values of the output format)."""
        COUNTS["outputs"] += output.size
        self.judge.judged += output.size
        array = er.asarray(output, dtype=self.dtype)
        found = np.asarray(self.result.covers(array, standard, **self.rule).data)
        if found.all():
            return
        for index in np.argwhere(~found).tolist():
            self.judge.alarms.append(self.alarm(kernel, output, standard, tuple(index)))

    def alarm(self, kernel: str, output: np.ndarray, standard: str, index: tuple[int, ...]) -> str:
        place = index[: output.ndim]
        low, high = (end.values()[place] for end in self.result.finite_range(standard, **self.rule))
        flags = [
            flag
            for flag in ("+inf", "-inf", "nan")
            if self.result.may_be(flag, standard, **self.rule).values()[index]
        ]
        rows = [x[place[0]].tolist() if x.ndim else x.tolist() for x in self.inputs]
        return (
            f"{self.label} {standard} {kernel}: {output[place]} is not within [{low}, {high}] "
            f"nor among {flags}; inputs {rows}"
        )
