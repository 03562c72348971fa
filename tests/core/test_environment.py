"""A thread that flushes subnormal numbers, or rounds otherwise, gets the same answers as any."""

import ctypes
import platform
import threading
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest

import exactref as er
from exactref_core.environment import default_environment, is_default
from exactref_core.errors import ExactRefError

# FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO.
DIRECTIONS = {
    "x86_64": (0x800, 0x400, 0xC00),
    "aarch64": (0x400000, 0x800000, 0xC00000),
}
DIRECTIONS |= {"AMD64": DIRECTIONS["x86_64"], "arm64": DIRECTIONS["aarch64"]}


def flushing():
    torch = pytest.importorskip("torch")
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor does not flush")
    return lambda: torch.set_flush_denormal(False)


def directed(which):
    library = ctypes.CDLL(None)
    known = DIRECTIONS.get(platform.machine())
    if known is None or library.fesetround(known[which]):
        pytest.skip("no such rounding")
    return lambda: library.fesetround(0)


upward, downward, toward_zero = (partial(directed, which) for which in range(3))
EVERY = {
    "flushing": flushing,
    "upward": upward,
    "downward": downward,
    "toward zero": toward_zero,
}


@contextmanager
def strange(enter):
    leave = enter()
    try:
        yield
    finally:
        leave()


def bits(array):
    return array.dtype, array.shape, np.asarray(array).tobytes()


# Made here: a conversion to float32 would itself flush.
X = np.array([1e-40, 3e-41, 2e-40], np.float32)
D = np.array([1e-310, 3e-311], np.float64)
MORE = np.array([0.25, 0.75], np.float64)
SMALL = np.array([[1e-20, 1e-25], [3e-21, 1e-24]], np.float32)
FACTORS = np.array([2, 3, 0.5], np.float32)
SCORES = np.array([0, -90, -100], np.float32)


def answers():
    """What results on subnormal numbers say, as bits."""
    x, d, small = X, D, SMALL
    results = [
        er.sum(x),
        er.multiply(x, FACTORS),
        er.divide(x, FACTORS),
        er.matmul(small, small),
        er.softmax(SCORES),
        er.exp(SCORES),
        er.sum(d),
        er.multiply(d, MORE),
        er.gelu(x),
        er.astype(x, "bfloat16"),
        er.layer_norm(x),
        er.sum([0.1, 0.2, 0.3, 1e-320]),
        er.sum(er.asarray([1e-45, 2e-40], "float32"), dtype="bfloat16"),
        er.divide(er.sum(x), np.float32(3)),
    ]
    found = []
    for r in results:
        for standard in ("normal", "any_order"):
            low, high = r.finite_range(standard)
            found += [bits(a) for a in (r.tolerance(standard), low, high)]
            found.append(r.covers(r.rounded, standard).tolist())
        found += [bits(r.rounded), bits(r.normal()), r.exact.value(*(0 for _ in r.shape))]
        found.append(r.rounded.tolist())
    return found


@pytest.mark.parametrize("enter", EVERY.values(), ids=EVERY)
def test_the_answers_are_those_of_the_default_environment(enter):
    usual = answers()
    with strange(enter):
        assert not is_default()
        assert answers() == usual
        assert not is_default()
    assert is_default()


@pytest.mark.parametrize("enter", [flushing, upward])
def test_another_thread_has_its_own(enter):
    usual, found = answers(), []

    def work():
        with strange(enter):
            found.append(answers())

    enter()()  # skips here, not in the thread
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [usual]


def test_an_output_that_was_flushed_is_told_from_one_that_was_not():
    with strange(flushing):
        x = er.asarray([2.0**-130], "float32")
        r = er.multiply(x, er.asarray([0.5], "float32"))
        zero = np.float32([0])
        with pytest.raises(AssertionError, match="1 wrong"):
            er.assert_covers(zero, r)
        assert r.covers(zero, flush_to_zero=True).all()
        er.assert_covers(er.asarray([2.0**-131], "float32"), r)


def test_where_it_cannot_be_changed_the_call_says_so(monkeypatch):
    with strange(flushing):

        def refuse(_):
            raise OSError("no library")

        monkeypatch.setattr(ctypes, "CDLL", refuse)
        with pytest.raises(ExactRefError, match="flushes subnormal numbers"):
            er.sum([1.0])


def test_the_environment_comes_back_after_an_error():
    inside = []
    with strange(flushing):
        with pytest.raises(ZeroDivisionError), default_environment():
            inside.append(1 / (is_default() - 1))
        assert not is_default()
    assert inside == []
