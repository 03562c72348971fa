"""Results evaluated on an executor are those evaluated without, to the last bit."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core import cache
from exactref_core.evaluate import compute as computing
from tests.core.block_cases import CASES, real
from tests.core.executor_helpers import (
    Loose,
    Recording,
    answers,
    fresh,
    process_pool,
    undecidable,
)

SENT = (
    "matmul",
    "complex matmul",
    "linear",
    "softmax over the first axis",
    "causal attention",
    "max's gradient",
    "matrix_exp",
    "cumulative_sum",
    "chain",
)


@pytest.fixture(scope="module", params=["spawn", "fork"])
def processes(request: pytest.FixtureRequest) -> Iterator[Executor]:
    with process_pool(request.param) as pool:
        yield pool


@pytest.fixture(scope="module")
def threads() -> Iterator[Executor]:
    with ThreadPoolExecutor(3) as pool:
        yield pool


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(computing, "LEAST_CELLS", 100)


@pytest.mark.parametrize("case", SENT)
def test_processes_give_the_same_bits(processes: Executor, case: str) -> None:
    one = CASES[case]()
    other = fresh(one)
    er.compute(one, executor=processes)
    assert answers(one) == answers(other)


@pytest.mark.parametrize("case", CASES)
def test_threads_give_the_same_bits(threads: Executor, case: str) -> None:
    one = CASES[case]()
    other = fresh(one)
    er.compute(one, executor=threads, standard="any_order")
    assert answers(one, "any_order") == answers(other, "any_order")


def test_what_is_known_is_not_asked_again() -> None:
    recording, result = Recording(), er.exp(real(40, 9))
    er.compute(result, executor=recording, questions=["rounded"])
    first = len(recording.tasks)
    assert first > 1
    er.compute(result, executor=recording)
    assert {args[1] for _, args in recording.tasks[first:]} == {("tolerance",)}
    second = len(recording.tasks)
    er.compute(result, result[3:], executor=recording)
    assert len(recording.tasks) == second
    er.compute(result, executor=recording, flush_to_zero=True)
    assert len(recording.tasks) > second


def test_several_results_are_one_batch_of_tasks(threads: Executor) -> None:
    x = real(50, 7)
    recording = Recording()
    results = [er.sum(x), er.exp(x), er.sum(np.arange(9))]
    er.compute(*results, executor=recording)
    assert len(recording.tasks) > 2
    assert [answers(r) for r in results[:2]] == [answers(er.sum(x)), answers(er.exp(x))]
    recording.tasks.clear()
    er.compute(er.sum(x), executor=recording)
    assert recording.tasks == []  # one task is not worth sending


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), ()])
def test_empty_and_tiny_results(shape: tuple[int, ...]) -> None:
    x = real(*shape)
    one, other = er.exp(x), er.exp(x)
    er.compute(one, executor=Recording())
    assert answers(one) == answers(other)


def test_the_cache_is_read_and_written_here(tmp_path: Path) -> None:
    x, recording = real(70, 80), Recording()
    with cache.use(tmp_path):
        er.compute(er.exp(x), executor=recording)
        assert recording.tasks
        recording.tasks.clear()
        one = er.exp(x)
        er.compute(one, executor=recording)
        assert recording.tasks == []
    assert answers(one) == answers(er.exp(x))


def test_own_operations_need_nothing_in_the_workers(processes: Executor) -> None:
    @er.define(name="executor_own")
    def own(v: Any, x: Any, scale: float = 2.0) -> Any:
        return v.multiply(v.sigmoid(x), scale)

    x = real(30, 9)
    one, other = own(x, scale=3.0), own(x, scale=3.0)
    er.compute(one, executor=processes)
    assert answers(one) == answers(other)


def test_a_standard_of_somebody_else(processes: Executor) -> None:
    class Local(Loose):
        name = "local"

    provider = type("Provider", (), {"exactref_standards": lambda self: [Loose(), Local()]})()
    er.extend.register(provider)
    try:
        x = real(30, 9)
        one, other = er.sum(x, axis=1), er.sum(x, axis=1)
        er.compute(one, executor=processes, standard="loose")
        assert answers(one, "loose") == answers(other, "loose")
        with pytest.raises(er.InputError, match="'local' cannot be sent"):
            er.compute(one, executor=processes, standard="local")
    finally:
        er.extend.unregister(provider)


@pytest.mark.filterwarnings("ignore")  # of dask's own, whatever they are in its next version
def test_a_dask_cluster_gives_the_same_bits() -> None:
    distributed = pytest.importorskip("distributed")
    x, y = real(60, 24), real(24, 50)
    one, other = er.softmax(er.matmul(x, y)), er.softmax(er.matmul(x, y))
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=None, memory_limit=0
        ) as cluster,
        distributed.Client(cluster) as client,
        client.get_executor() as executor,
    ):
        er.compute(one, executor=executor)
        with pytest.raises(er.UndecidedError, match=r"element \(37, 2\) is not decided"):
            er.compute(undecidable(), executor=executor)
    assert answers(one) == answers(other)
