"""What executors do that fail, and what workers raise, is told in clear words."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import exactref as er
from exactref_core.environment import is_default
from exactref_core.evaluate import compute as computing
from exactref_core.evaluate.blocks import boxed
from tests.core.block_cases import real
from tests.core.executor_helpers import (
    Cancelling,
    Recording,
    answers,
    fresh,
    process_pool,
    round_upward,
    undecidable,
)


@pytest.fixture(scope="module", params=["spawn", "fork"])
def processes(request: pytest.FixtureRequest) -> Iterator[Executor]:
    with process_pool(request.param) as pool:
        yield pool


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(computing, "LEAST_CELLS", 100)


def test_an_error_names_the_element_of_the_whole(processes: Executor) -> None:
    with pytest.raises(er.UndecidedError, match=r"element \(37, 2\) is not decided") as here:
        undecidable().rounded  # noqa: B018
    with pytest.raises(er.UndecidedError) as there:
        er.compute(undecidable(), executor=processes)
    assert str(there.value) == str(here.value)


def test_workers_evaluate_in_the_default_environment() -> None:
    context = multiprocessing.get_context("spawn")
    x = np.float32([[1.5, 2.5, 1e-40]] * 40)
    one, other = er.multiply(x, np.float32(1.1)), er.multiply(x, np.float32(1.1))
    with ProcessPoolExecutor(1, mp_context=context, initializer=round_upward) as pool:
        if pool.submit(is_default).result():
            pytest.skip("no upward rounding")
        er.compute(one, executor=pool)
        assert not pool.submit(is_default).result()
    assert answers(one) == answers(other)


def test_an_executor_that_breaks(processes: Executor) -> None:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        pool.submit(os._exit, 1)
        with pytest.raises(er.ExactRefError, match=r"broke during er.compute of exp: .*memory"):
            er.compute(er.exp(real(40, 9)), executor=pool)
        with pytest.raises(er.ExactRefError, match=r"broke during er.compute of exp"):
            er.compute(er.exp(real(40, 9)), executor=pool)


def test_an_executor_that_is_shut_down() -> None:
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(er.ExactRefError, match=r"takes no task of er.compute of exp: .*shutdown"):
        er.compute(er.exp(real(40, 9)), executor=pool)


def test_a_task_that_is_cancelled() -> None:
    result = er.exp(real(40, 9))
    with pytest.raises(er.ExactRefError, match="cancelled before it was done"):
        er.compute(result, executor=Cancelling())
    assert answers(result) == answers(fresh(result))


def test_wrong_arguments() -> None:
    result = er.exp(real(4))
    with pytest.raises(er.DTypeError, match=r"executor must have submit\(\)"):
        er.compute(result, executor=4)
    with pytest.raises(er.InputError, match="questions must be of"):
        er.compute(result, executor=Recording(), questions="covers")
    with pytest.raises(er.DTypeError, match="takes results of operations, not ndarray"):
        er.compute(real(4), executor=Recording())
    with pytest.raises(er.UnknownNameError, match="no standard is named"):
        er.compute(result, executor=Recording(), standard="strict")


def test_the_index_of_a_block_counts_from_the_start_of_the_whole() -> None:
    (part,) = er.exp(real(8, 5, 3)).outputs["output"].parts  # type: ignore[attr-defined]
    assert boxed(part, (slice(2, 4), slice(1, 3))).index(7) == (3, 1, 1)
    assert part.index(7) == (0, 2, 1)
