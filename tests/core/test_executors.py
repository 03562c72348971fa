"""Results evaluated on an executor are those evaluated without, to the last bit."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core import cache, compare
from exactref_core.environment import is_default
from exactref_core.evaluate import compute as computing
from exactref_core.evaluate.blocks import blocks, boxed
from tests.core.block_cases import CASES, real
from tests.core.test_environment import UPWARD

RNG = np.random.default_rng(5)
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


def round_upward() -> None:
    """Make this process round up, as a library might."""
    import platform

    ctypes.CDLL(None).fesetround(UPWARD.get(platform.machine(), -1))


@pytest.fixture(scope="module", params=["spawn", "fork"])
def processes(request: pytest.FixtureRequest) -> Iterator[Executor]:
    context = multiprocessing.get_context(request.param)
    with warnings.catch_warnings():
        # Python 3.12 warns of forks beside the threads of a BLAS, which workers do not use.
        warnings.simplefilter("ignore", DeprecationWarning)
        with ProcessPoolExecutor(2, mp_context=context) as pool:
            pool.submit(os.getpid).result()
            yield pool


@pytest.fixture(scope="module")
def threads() -> Iterator[Executor]:
    with ThreadPoolExecutor(3) as pool:
        yield pool


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(computing, "LEAST_CELLS", 100)
    monkeypatch.setattr(computing, "LEAST_SIDE", 2)


def answers(result: Any, standard: str = "normal") -> list[Any]:
    """Every answer that blocks are put together from, as bits."""
    found = []
    for output in result.outputs.values():
        arrays = [output.rounded(), output.tolerance(standard, False)]
        arrays += output.finite_range(standard, False)
        arrays += [output.may_be(value, standard, False) for value in ("+inf", "-inf", "nan")]
        found += [(x.dtype, x.shape, x.data.tobytes()) for x in arrays]
    return found


def fresh(result: Any) -> Any:
    """A result of the same graphs that knows nothing yet."""
    outputs = {}
    for name, one in result.outputs.items():
        parts = [type(part)(part.node, part.label) for part in one.parts]
        outputs[name] = type(one)(one.op, name, one.format, parts, one.nodes, one.places)
    return type(result)(outputs)


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


class Recording(Executor):
    """Runs tasks at once, and keeps what it was given."""

    def __init__(self) -> None:
        self.tasks: list[Any] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.tasks.append((fn, args))
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


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


def test_own_operations_need_nothing_in_the_workers(processes: Executor) -> None:
    @er.define(name="executor_own")
    def own(v: Any, x: Any, scale: float = 2.0) -> Any:
        return v.multiply(v.sigmoid(x), scale)

    x = real(30, 9)
    one, other = own(x, scale=3.0), own(x, scale=3.0)
    er.compute(one, executor=processes)
    assert answers(one) == answers(other)


class Loose(er.extend.AnyOrder):  # type: ignore[name-defined,misc]
    """A standard that workers can import."""

    name = "loose"


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


def undecidable() -> Any:
    """A result of which one element lies on a number that enclosures do not tell from others."""
    x = RNG.uniform(1, 2, (40, 6))
    y = RNG.uniform(1, 2, (40, 6))
    y[37, 2] = 0  # sinh(asinh(x)) is x
    return er.sinh(er.add(er.asinh(x), y), rounding="up")


def test_an_error_names_the_element_of_the_whole(processes: Executor) -> None:
    with pytest.raises(er.UndecidedError, match=r"element \(37, 2\) is not decided") as here:
        undecidable().rounded  # noqa: B018
    with pytest.raises(er.UndecidedError) as there:
        er.compute(undecidable(), executor=processes)
    assert str(there.value) == str(here.value)


def test_the_index_of_a_block_counts_from_the_start_of_the_whole() -> None:
    (part,) = er.exp(real(8, 5, 3)).outputs["output"].parts  # type: ignore[attr-defined]
    assert boxed(part, (slice(2, 4), slice(1, 3))).index(7) == (3, 1, 1)
    assert part.index(7) == (0, 2, 1)


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


class Cancelling(Recording):
    """Cancels every task but the first."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        done = super().submit(fn, *args, **kwargs)
        if len(self.tasks) == 1:
            return done
        future: Future[Any] = Future()
        future.cancel()
        return future


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
