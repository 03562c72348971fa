"""A caller's own settings, in the same process, change no answer, and stay what they were."""

from __future__ import annotations

import decimal
import locale
import os
import random
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any

import gmpy2
import numpy as np
import pytest

import exactref as er
from tests.core.surroundings import FEW, digest, every

THOROUGH = os.environ.get("EXACTREF_THOROUGH") == "1"


@cache
def usual(names: tuple[str, ...] = FEW) -> dict[str, str]:
    """The answers where nothing is set; first asked for while nothing is."""
    return digest(names)


CONTEXTS: dict[str, dict[str, Any]] = {
    "ten bits, upward": {"precision": 10, "round": gmpy2.RoundUp},
    "one bit, downward": {"precision": 1, "round": gmpy2.RoundDown},
    "many bits": {"precision": 1000, "round": gmpy2.RoundToZero},
    "few exponents": {"emin": -5, "emax": 5, "subnormalize": True},
    "traps": {
        f"trap_{what}": True
        for what in ("inexact", "underflow", "overflow", "invalid", "erange", "divzero")
    },
    "complex and rational": {"allow_complex": True, "rational_division": True},
}


@pytest.mark.parametrize("name", CONTEXTS)
def test_the_context_of_gmpy2(name: str) -> None:
    names = every() if THOROUGH else FEW
    expected = usual(names)
    before = gmpy2.get_context()
    mine = gmpy2.context(**CONTEXTS[name])
    gmpy2.set_context(mine)
    try:
        found = digest(names)
        assert gmpy2.get_context() is mine
        for setting, value in CONTEXTS[name].items():
            assert getattr(mine, setting) == value
        assert not mine.inexact
        with pytest.raises(er.InputError):  # an error on the way leaves it as well
            er.sum([1.0], axis=7)
        assert gmpy2.get_context() is mine
    finally:
        gmpy2.set_context(before)
    assert found == expected


@contextmanager
def numpy_raises() -> Iterator[None]:
    """Errors of NumPy raised; a call that is asked of instead is none of ours either."""
    with np.errstate(all="raise", call=None):
        yield
        assert np.geterr() == dict.fromkeys(("divide", "over", "under", "invalid"), "raise")


@contextmanager
def numpy_calls() -> Iterator[None]:
    called: list[Any] = []
    with np.errstate(all="call", call=lambda *what: called.append(what)):
        yield
    assert called == []


@contextmanager
def warnings_are_errors() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@contextmanager
def printed_otherwise() -> Iterator[None]:
    with np.printoptions(precision=2, threshold=0, suppress=True, legacy="1.13"):
        yield


@contextmanager
def narrow_decimals() -> Iterator[None]:
    traps = [decimal.Inexact, decimal.Rounded, decimal.FloatOperation]
    with decimal.localcontext(decimal.Context(prec=3, rounding="ROUND_UP", traps=traps)):
        yield


@contextmanager
def few_digits() -> Iterator[None]:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(sys.int_info.str_digits_check_threshold)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(before)


@contextmanager
def another_locale() -> Iterator[None]:
    """One that writes numbers with a comma, where there is one."""
    before = locale.setlocale(locale.LC_ALL)
    for name in ("de_DE.UTF-8", "fr_FR.UTF-8", "tr_TR.UTF-8", "C.UTF-8", ""):
        try:
            locale.setlocale(locale.LC_ALL, name)
        except locale.Error:
            continue
        break
    try:
        yield
    finally:
        locale.setlocale(locale.LC_ALL, before)


@contextmanager
def little_stack() -> Iterator[None]:
    """As many frames as pytest has taken by now, and two hundred."""
    frame, depth = sys._getframe(), 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1  # type: ignore[assignment]
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + 200)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


SETTINGS: dict[str, Callable[[], AbstractContextManager[None]]] = {
    "numpy raises": numpy_raises,
    "numpy calls": numpy_calls,
    "warnings are errors": warnings_are_errors,
    "print options": printed_otherwise,
    "decimal context": narrow_decimals,
    "digits of integers": few_digits,
    "locale": another_locale,
    "recursion limit": little_stack,
}


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_of_the_process(name: str) -> None:
    expected, said = usual(), message()
    with SETTINGS[name]():
        assert digest() == expected
        assert message() == said


def test_modes_of_torch() -> None:
    torch = pytest.importorskip("torch")
    x = torch.tensor([1.5, 1e-40, 3e38], dtype=torch.float32)
    narrow, pair = x.to(torch.bfloat16), torch.tensor([1 + 2j])

    def found() -> list[str]:
        results = (er.sum(x), er.exp(narrow), er.multiply(pair, pair), er.sum([x[0], x[1]]))
        return [repr((r.rounded, r.tolerance().tolist(), r.rounded.tolist())) for r in results]

    expected = found()
    defaults = torch.get_default_dtype()
    try:
        torch.set_default_device("meta")
        torch.set_default_dtype(torch.bfloat16)
        with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
            assert found() == expected
    finally:
        torch.set_default_device(None)
        torch.set_default_dtype(defaults)


def message() -> str:
    """What a failing check says."""
    x = np.float32([[1e-40, 0.1, 3e38], [np.inf, -0.0, 7]])
    with pytest.raises(AssertionError) as failure:
        er.assert_covers(x[0] + np.float32(1), er.sum(x, axis=0))
    return str(failure.value)


def test_no_random_number_is_drawn() -> None:
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002  # the state that must not move
    expected = random.random(), np.random.random()  # noqa: NPY002
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002
    digest()
    message()
    assert (random.random(), np.random.random()) == expected  # noqa: NPY002


def test_a_result_asked_later_is_judged_in_the_same_surroundings() -> None:
    """Results are lazy: the settings may change between the call and the question."""
    x = np.float32([0.1, 1e-40, 3e38, 0.7])
    expected = [repr(r.tolerance().tolist()) for r in (er.exp(x), er.sum(x), er.pow(abs(x), x))]
    results = [er.exp(x), er.sum(x), er.pow(abs(x), x)]
    with gmpy2.context(precision=3, trap_inexact=True), np.errstate(all="raise"):
        assert [repr(r.tolerance().tolist()) for r in results] == expected


def test_a_value_of_many_digits_is_written_by_its_size() -> None:
    one = er.exp([-3e3]).exact.value(0)  # 2**-4328.085
    assert re.fullmatch(
        r"Enclosure\(midpoint=ExactNumber\(value=<a Fraction of about 2\*\*-432[789]>\), "
        r"radius=<a Fraction of about 2\*\*-4\d{3}>\)",
        repr(one),
    )
    half = er.divide([1.0], [2.0]).exact.value(0)
    expected = "Enclosure(midpoint=ExactNumber(value=Fraction(1, 2)), radius=Fraction(0, 1))"
    assert repr(half) == expected
