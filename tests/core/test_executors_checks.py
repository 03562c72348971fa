"""Checks on an executor say what checks without say."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core import compare
from exactref_core.evaluate import compute as computing
from exactref_core.evaluate.blocks import blocks
from tests.core.block_cases import real
from tests.core.executor_helpers import (
    Loose,
    Recording,
    process_pool,
)


@pytest.fixture(scope="module", params=["spawn", "fork"])
def processes(request: pytest.FixtureRequest) -> Iterator[Executor]:
    with process_pool(request.param) as pool:
        yield pool


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(computing, "LEAST_CELLS", 100)


def judged(output: Any, result: Any, executor: Any, **how: Any) -> tuple[Any, Any]:
    """How an output is judged, but for the time it takes, and what is known of what fails."""
    findings: dict[str, Any] = {}
    (one,) = compare.judge(output, result, findings=findings, executor=executor, **how)
    (found,) = findings.values()
    return replace(one, seconds=0.0), (found.where, found.samples, found.failing.tolist())


@pytest.mark.parametrize("standard", ["normal", "any_order"])
@pytest.mark.parametrize("picture", [False, True])
def test_checks_say_the_same(
    processes: Executor, monkeypatch: pytest.MonkeyPatch, standard: str, picture: bool
) -> None:
    monkeypatch.setattr(compare, "blocks", partial(blocks, most=4000))
    a, b = real(60, 40), real(40, 50)
    out = a @ b
    out[7, 41:] *= 1.5
    out[59, 49] = np.nan
    told: list[float] = []
    how: dict[str, Any] = {"standard": standard, "picture": picture, "rows": 5}
    here = judged(out, er.matmul(a, b), None, **how)
    there = judged(out, er.matmul(a, b), processes, progress=told.append, **how)
    assert repr(here) == repr(there)  # NaN differs from itself, its text does not
    assert here[0].wrong == 10
    assert len(told) > 3
    assert told[-1] == 1


def test_assert_covers_on_an_executor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "blocks", partial(blocks, most=500))
    x, recording = real(50, 30), Recording()
    er.assert_covers(x + x, er.add(x, x), executor=recording)
    assert len(recording.tasks) > 1
    with pytest.raises(AssertionError, match=r"\[49, 29\].*wrong") as here:
        er.assert_covers(spoilt(x + x), er.add(x, x))
    with pytest.raises(AssertionError) as there:
        er.assert_covers(spoilt(x + x), er.add(x, x), executor=recording)
    assert str(here.value) == str(there.value)
    with pytest.raises(er.DTypeError, match=r"executor must have submit\(\)"):
        er.assert_covers(x + x, er.add(x, x), executor="pool")  # type: ignore[arg-type]


def spoilt(output: Any) -> Any:
    """An output with a wrong last element."""
    output[-1, -1] += 1
    return output


def test_checks_of_standards_of_somebody_else(
    processes: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare, "blocks", partial(blocks, most=500))
    provider = type("Provider", (), {"exactref_standards": lambda self: [Loose()]})()
    er.extend.register(provider)
    try:
        x = real(50, 30)
        er.assert_covers(x + x, er.add(x, x), standard="loose", executor=processes)
    finally:
        er.extend.unregister(provider)


def test_checks_use_what_was_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    x = real(60, 20)
    result, output = er.exp(x), np.exp(x)
    er.compute(result, executor=Recording())
    monkeypatch.setattr(compare, "blocks", lambda reference: blocks(reference, 100))
    monkeypatch.setattr(
        "exactref_core.arithmetic.parts.Part.round_all", lambda self: pytest.fail("evaluated")
    )
    monkeypatch.setattr(
        "exactref_core.arithmetic.parts.Part.range_at", lambda *_: pytest.fail("evaluated")
    )
    er.assert_covers(output, result)
