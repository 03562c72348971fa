"""The floating-point environment that evaluation presumes: nearest, ties to even; no flushing.

A thread can be made to flush subnormal numbers to zero (torch.set_flush_denormal does so, and so
does loading a library that GCC before 13 linked with -ffast-math), or to round in another direction
(fesetround). Every bound of the core is proven for IEEE 754's default, so evaluation takes the
default for as long as it runs. C17, 7.6.4: fegetenv, fesetenv and FE_DFL_ENV.

NumPy warns or raises at infinities and NaN, as the caller asked of it (numpy.seterr); to evaluation
they are values like others, so that it takes no notice of them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

import numpy as np

from exactref_core.errors import ExactRefError

__all__ = ["in_default_environment", "is_default"]

P = ParamSpec("P")
T = TypeVar("T")

# Variables, since what is computed from constants is computed once, by the compiler.
ONE, HALF, TINY, LEAST_NORMAL = 1.0, 0.5, 2.0**-60, 2.0**-1022

# Larger than any C library's fenv_t.
SIZE: Final = 512


def is_default() -> bool:
    """Whether this thread rounds to nearest and keeps subnormal numbers.

    Half the least normal number is 0 where results are flushed, and compares as 0 where operands
    are. 1 + 2^-60 is above 1 where rounding is up, 1 - 2^-60 below it where it is down or toward 0.
    """
    return HALF * LEAST_NORMAL > 0.0 and ONE + TINY == ONE and ONE - TINY == ONE


def in_default_environment(function: Callable[P, T]) -> Callable[P, T]:
    """Make a function run in the default environment; ExactRefError where that cannot be had."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        __tracebackhide__ = True  # from a failing test's traceback, where pytest runs it
        with np.errstate(all="ignore"):
            if is_default():
                return function(*args, **kwargs)
            with default_environment():
                return function(*args, **kwargs)

    return run


@contextmanager
def default_environment() -> Iterator[None]:
    """The C library's default environment, and afterwards the one that was."""
    saved = ctypes.create_string_buffer(SIZE)
    try:
        library: Any = ctypes.CDLL(None)
        library.fegetenv(saved)
        library.fesetenv(_default(library))
    except (AttributeError, OSError, TypeError):  # a system without these functions
        library = None
    if not is_default():
        raise ExactRefError(
            "this thread flushes subnormal numbers to zero, or does not round to nearest, and "
            "exactref cannot change that here: undo it before (torch.set_flush_denormal(False), "
            "no library that was linked with -ffast-math)"
        )
    try:
        yield
    finally:
        library.fesetenv(saved)


def _default(library: Any) -> Any:
    """FE_DFL_ENV: the address of an object of that name, or -1 (glibc, musl)."""
    try:
        return ctypes.byref(ctypes.c_char.in_dll(library, "_FE_DFL_ENV"))
    except ValueError:
        return ctypes.c_void_p(-1)
