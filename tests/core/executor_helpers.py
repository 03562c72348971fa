"""Executors for tests, what they are told, and what results say, as bits."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import platform
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np

import exactref as er
from tests.core.test_environment import DIRECTIONS

RNG = np.random.default_rng(5)


@contextmanager
def process_pool(method: str) -> Iterator[Executor]:
    """Two processes that are spawned or forked."""
    with warnings.catch_warnings():
        # Python 3.12 warns of forks beside the threads of a BLAS, which workers do not use.
        warnings.simplefilter("ignore", DeprecationWarning)
        with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
            pool.submit(os.getpid).result()
            yield pool


def round_upward() -> None:
    """Make this process round up, as a library might."""
    ctypes.CDLL(None).fesetround(DIRECTIONS.get(platform.machine(), (-1,))[0])


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


class Cancelling(Recording):
    """Cancels every task but the first."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        done = super().submit(fn, *args, **kwargs)
        if len(self.tasks) == 1:
            return done
        future: Future[Any] = Future()
        future.cancel()
        return future


class Loose(er.extend.AnyOrder):  # type: ignore[name-defined,misc]
    """A standard that workers can import."""

    name = "loose"


def undecidable() -> Any:
    """A result of which one element lies on a number that enclosures do not tell from others."""
    x = RNG.uniform(1, 2, (40, 6))
    y = RNG.uniform(1, 2, (40, 6))
    y[37, 2] = 0  # sinh(asinh(x)) is x
    return er.sinh(er.add(er.asinh(x), y), rounding="up")
