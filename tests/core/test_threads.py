"""Threads that call at once, and both sides of a fork, get the same bits."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import gmpy2
import numpy as np
import pytest

import exactref as er
from tests.core.surroundings import FEW, digest, result_of, told
from tests.core.test_surrounding_processes import THOROUGH, printed

THREADS = 8


@pytest.fixture(autouse=True)
def switching() -> Iterator[None]:
    """Threads take turns as often as the interpreter can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(work: Callable[[int], Any]) -> list[Any]:
    """What each of some threads returns that start at the same moment."""
    found: list[Any] = [None] * THREADS
    start = threading.Barrier(THREADS)

    def run(number: int) -> None:
        start.wait()
        found[number] = work(number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_calls_at_once() -> None:
    names = FEW if THOROUGH else FEW[::3]
    expected = digest(names)
    assert together(lambda number: digest(names)) == [expected] * THREADS


def test_threads_that_ask_one_result() -> None:
    def bits(result: er.Result) -> list[bytes]:
        return [array.data.tobytes() for array in told(result)]

    for name in ("softmax", "pow", "matrix_exp", "sum"):
        expected = bits(result_of(name))
        shared = result_of(name)
        assert together(lambda number, one=shared: bits(one)) == [expected] * THREADS, name


def test_each_thread_has_its_own_context_of_gmpy2() -> None:
    """What one thread sets reaches no other, and comes back to it."""
    x = np.float32([0.1, 0.7, 3.0])

    def work(number: int) -> tuple[Any, int]:
        gmpy2.get_context().precision = 2 + number
        found = [repr(er.pow(x, x).tolerance().tolist()) for _ in range(5)]
        return found, gmpy2.get_context().precision

    expected = [repr(er.pow(x, x).tolerance().tolist())] * 5
    assert together(work) == [(expected, 2 + number) for number in range(THREADS)]
    assert gmpy2.get_context().precision == 53


def test_powers_are_told_exact_or_rounded_whatever_other_threads_round() -> None:
    """2**0.5 is rounded by MPFR and 4**0.5 is not; a flag that threads share would mix them up."""
    two, four, half = (np.full(40, value, np.float64) for value in (2, 4, 0.5))

    def work(number: int) -> list[list[float]]:
        base = four if number % 2 else two
        return [er.pow(base + 0, half).tolerance().tolist() for _ in range(3)]

    rounded, exact = (er.pow(base, half).tolerance().tolist() for base in (two, four))
    assert together(work) == [[rounded] * 3, [exact] * 3] * (THREADS // 2)


FORK = """
import json, os
from tests.core.surroundings import digest, large, result_of, told

def bits():
    return [array.data.tobytes().hex() for array in told(shared)]

shared = result_of("softmax")
shared.rounded
before = large()  # the threads of a BLAS are at work
reader, writer = os.pipe()
child = os.fork()
if child == 0:
    try:
        os.write(writer, json.dumps([large(), bits()]).encode())
    finally:
        os._exit(0)
os.close(writer)
with os.fdopen(reader) as file:
    theirs = json.loads(file.read())
os.waitpid(child, 0)
print(json.dumps(theirs == [before, bits()]), json.dumps(large() == before))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.skipif(not THOROUGH, reason="large products in three processes")
def test_a_process_that_forks() -> None:
    assert printed("-c", FORK).split() == ["true", "true"]
