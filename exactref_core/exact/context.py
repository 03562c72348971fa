"""What exact/ presumes of its surroundings: IEEE 754's defaults, and those of gmpy2's context.

Arithmetic here names its context. Conversions from float64, comparisons, signs and powers of two
take the current one: 53 bits, to nearest, exponents that reach far, no traps. A caller's context
of 10 bits would round them, and one with traps would stop at the first number that is rounded.
gmpy2 keeps the current context apart for each thread.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import gmpy2

from exactref_core.environment import in_default_environment

__all__ = ["DEFAULT", "sheltered"]

P = ParamSpec("P")
T = TypeVar("T")

DEFAULT = gmpy2.context()


def sheltered(function: Callable[P, T]) -> Callable[P, T]:
    """Make a function run in these surroundings, and leave the caller's as they were."""

    @in_default_environment
    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        __tracebackhide__ = True  # from a failing test's traceback, where pytest runs it
        before = gmpy2.get_context()
        gmpy2.set_context(DEFAULT)
        try:
            return function(*args, **kwargs)
        finally:
            gmpy2.set_context(before)

    return run
