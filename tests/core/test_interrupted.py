"""Calls that Ctrl-C ends, or the limit of memory: the next one, in the same process, is right."""

from __future__ import annotations

import hashlib
import json
import random
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.environment import is_default
from tests.core.surroundings import FEW, result_of, told
from tests.core.test_surrounding_processes import THOROUGH, printed

TIMES = 25 if THOROUGH else 3


class Interruption:
    """Ctrl-C at the line of the library that has this number, counted as it runs; 0: never."""

    def __init__(self, number: int) -> None:
        self.number, self.seen = number, 0

    def called(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self.line if "exactref_core" in frame.f_code.co_filename else None

    def line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self.seen += 1
            if self.seen == self.number:
                raise KeyboardInterrupt
        return self.line

    def during(self, ask: Callable[[], Any]) -> None:
        before = sys.gettrace()
        sys.settrace(self.called)
        try:
            ask()
        finally:
            sys.settrace(before)


def bits(result: er.Result) -> str:
    found = hashlib.sha256()
    for output in result.outputs:
        for array in told(result[output]):
            found.update(array.data.tobytes())
    return found.hexdigest()


@pytest.mark.skipif(sys.gettrace() is not None, reason="something else traces lines, as pytest-cov")
@pytest.mark.parametrize("name", FEW if THOROUGH else FEW[1::3])
def test_a_result_that_was_interrupted_is_right_when_asked_again(name: str) -> None:
    expected, whole = bits(result_of(name)), Interruption(0)
    whole.during(lambda: bits(result_of(name)))
    rng, stopped = random.Random(name), 0
    for number in (rng.randrange(1, whole.seen) for _ in range(TIMES)):
        result = result_of(name)
        try:
            Interruption(number).during(lambda: bits(result))  # noqa: B023  # runs here
        except KeyboardInterrupt:
            stopped += 1
        assert bits(result) == expected, number
        assert bits(result_of(name)) == expected, number
        assert is_default()
    # What is remembered since, or collected as garbage, may leave a run with fewer lines.
    assert stopped


@pytest.fixture
def alarm() -> Iterator[None]:
    """Ctrl-C as the system sends it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals reach the main one"
)
@pytest.mark.usefixtures("alarm")
def test_a_signal_in_the_middle_of_a_long_reference() -> None:
    x = np.random.default_rng(0).standard_normal((20, 30))
    expected, result = bits(er.softmax(x)), er.softmax(x)
    timer = threading.Timer(0.02, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        again_and_again(lambda: bits(er.softmax(x)))
    timer.join()
    assert bits(result) == expected
    assert bits(er.softmax(x)) == expected


def again_and_again(ask: Callable[[], Any]) -> None:
    while True:
        ask()


MEMORY = """
import hashlib, json, resource
import numpy as np
import exactref as er

rng = np.random.default_rng(0)
x = rng.standard_normal((60, 2000)).astype(np.float32)
a, b = x[:, :300], x[:, 300:600]
calls = {
    "sum": lambda: er.sum(x, axis=1),
    "matmul": lambda: er.matmul(a, b.T),
    "softmax": lambda: er.softmax(a),
}
for call in calls.values():  # what is imported or made once
    call().tolerance()

def bits(call):
    result, found = call(), hashlib.sha256()
    for array in (result.rounded, result.tolerance(), *result.finite_range("any_order")):
        found.update(array.data.tobytes())
    wrong = result.rounded.values().copy()
    wrong.reshape(-1)[7] = -wrong.reshape(-1)[7]
    verdicts = result.covers(er.asarray(wrong, "float32")).data
    assert verdicts.sum() == verdicts.size - 1 and not verdicts.reshape(-1)[7]
    return found.hexdigest()

def limited(call, room):
    size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (size + room, most))
    try:
        return bits(call)
    except MemoryError:
        return "MemoryError"
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (most, most))

usual = {name: bits(call) for name, call in calls.items()}
found = {
    name: [limited(call, room << 20) for room in (0, 4, 512)] for name, call in calls.items()
}
again = {name: bits(call) for name, call in calls.items()}
print(json.dumps([usual, found, again]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a limit of addresses, and /proc")
def test_a_process_without_memory_says_so() -> None:
    usual, found, again = json.loads(printed("-c", MEMORY, OPENBLAS_NUM_THREADS="1"))
    assert again == usual
    for name, outcomes in found.items():
        assert set(outcomes) <= {usual[name], "MemoryError"}
        assert outcomes[-1] == usual[name]
    assert any("MemoryError" in outcomes for outcomes in found.values())
