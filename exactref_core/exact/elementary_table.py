"""The elementary functions, one row each.

``units``: a correct library function errs by 4u (2 ulp), or by what the largest k of two tables of
maximum errors says where that is more: k ulp beyond a correctly rounded result, as both tables
count, are (2k + 1)u of the exact one. A table counts if a library's makers publish it, for all
arguments, for functions that C programs call; both precisions of it do. They are

- NVIDIA's: CUDA C++ Programming Guide 13.0, 17.1 Standard Functions, tables 17 and 18. It says of
  itself that it comes from extensive, not exhaustive tests. Earlier editions had more (powf: 8).
- the GNU C library's: manual, Known Maximum Errors in Math Functions, x86_64, rounding to nearest,
  which is made of sysdeps/x86_64/fpu/libm-test-ulps (as of 2025; lgammaf: 7 by its alias gamma).

Not counted are intrinsics (__expf, -use_fast_math) and vector libraries that grant 4 ulp (libmvec).
digamma is in neither table. Below, in ulp, CUDA's single and double, then glibc's:

    exp 2 1, 1 1       sin   2 2, 1 1     sinh  3 2, 2 2     erf    2 2, 1 1
    exp2 2 1, 1 1      cos   2 2, 1 1     cosh  2 1, 2 2     erfc   4 5, 3 5
    expm1 1 1, 1 1     tan   4 2, 1 1     tanh  2 1, 2 2     erfinv 2 5, - -
    log 1 1, 1 1       asin  2 2, 1 1     asinh 3 3, 2 2     cbrt   1 1, 1 4
    log2 1 1, 1 2      acos  2 2, 1 1     acosh 4 3, 2 2     lgamma 6 4, 7 4
    log10 2 1, 2 2     atan  2 2, 1 1     atanh 3 2, 2 2
    log1p 1 1, 1 1     atan2 3 2, 2 1     pow   4 2, 1 1     hypot  3 2, 1 1
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import gmpy2

from exactref_core.exact.elementary import Function, Monotone
from exactref_core.exact.elementary_kinds import (
    Arctangent,
    Even,
    InverseErf,
    ScaledErfc,
    Tangent,
    Wave,
)
from exactref_core.exact.gammas import Digamma, LogGamma
from exactref_core.exact.rationals import Rational
from exactref_core.exact.trigamma import Trigamma

__all__ = ["FUNCTIONS", "INTERNAL"]

INF, NAN = math.inf, math.nan
Rule = Callable[[Rational], Rational | None]
# Powers with larger exponents stay enclosures: no format comes near them.
LARGEST_POWER = 1 << 15


def value_at(argument: int, value: int) -> Rule:
    """Return the rule of a function with one rational value at rational arguments."""
    return lambda x: gmpy2.mpq(value) if x == argument else None


def power_of(base: int) -> Rule:
    """Return the rule of base**x: rational at integers."""

    def rule(x: Rational) -> Rational | None:
        if x.denominator != 1 or abs(x) > LARGEST_POWER:
            return None
        return gmpy2.mpq(base) ** int(x)

    return rule


def log_of(base: int) -> Rule:
    """Return the rule of the logarithm: rational at integer powers of the base, prime or 10."""

    def rule(x: Rational) -> Rational | None:
        top, bottom = x.numerator, x.denominator
        if top != 1 and bottom != 1:
            return None
        whole = top if bottom == 1 else bottom
        rest, exponent = gmpy2.remove(whole, 2)
        if base != 2:
            rest, fives = gmpy2.remove(rest, 5)
            exponent = exponent if fives == exponent else -1
        if rest != 1 or exponent < 0:
            return None
        return gmpy2.mpq(exponent if bottom == 1 else -exponent)

    return rule


def cube_root(x: Rational) -> Rational | None:
    """Return the cube root of a rational where it is one."""
    parts = []
    for part in (abs(x.numerator), x.denominator):
        root, exact = gmpy2.iroot(part, 3)
        if not exact:
            return None
        parts.append(root)
    return gmpy2.mpq(-parts[0] if x < 0 else parts[0], parts[1])


def at_zero(value: int = 0) -> Rule:
    """Return the rule of a function that is rational at 0 alone."""
    return value_at(0, value)


R = Monotone
ENDLESS: Any = {"at_minus": -INF, "at_plus": INF}
THROUGH_ZERO: Any = {"exact": at_zero(), "keeps_zero": True}
ODD: Any = {**THROUGH_ZERO, "odd": True}

FUNCTIONS: dict[str, Function] = {
    f.name: f
    for f in (
        R("exp", "exp", "e^x", 5, at_minus=0.0, at_plus=INF, exact=at_zero(1), floor=0),
        R("exp2", "exp2", "2^x", 5, at_minus=0.0, at_plus=INF, exact=power_of(2), floor=0),
        R("expm1", "expm1", "e^x - 1", 4, at_minus=-1.0, at_plus=INF, floor=-1, **THROUGH_ZERO),
        R("log", "log", "log x", 4, 0, at_low=-INF, at_plus=INF, exact=value_at(1, 0)),
        R("log2", "log2", "log_2 x", 5, 0, at_low=-INF, at_plus=INF, exact=log_of(2)),
        R("log10", "log10", "log_10 x", 5, 0, at_low=-INF, at_plus=INF, exact=log_of(10)),
        R("log1p", "log1p", "log(1 + x)", 4, -1, at_low=-INF, at_plus=INF, **THROUGH_ZERO),
        Wave("sin", "sin", "sin x", 5, top=1, **ODD),
        Wave("cos", "cos", "cos x", 5, top=0, exact=at_zero(1), even=True),
        Tangent("tan", "tan", "tan x", 9, **ODD),
        R("asin", "asin", "arcsin x", 5, -1, 1, **ODD),
        R("acos", "acos", "arccos x", 5, -1, 1, exact=value_at(1, 0), falls=True),
        Arctangent("atan", "atan", "arctan x", 5, **ODD),
        R("sinh", "sinh", "(e^x - e^-x) / 2", 7, **ENDLESS, **ODD),
        Even(
            "cosh",
            "cosh",
            "(e^x + e^-x) / 2",
            5,
            at_minus=INF,
            at_plus=INF,
            exact=at_zero(1),
            even=True,
        ),
        R(
            "tanh",
            "tanh",
            "(e^x - e^-x) / (e^x + e^-x)",
            5,
            at_minus=-1.0,
            at_plus=1.0,
            floor=-1,
            ceiling=1,
            **ODD,
        ),
        R("asinh", "asinh", "log(x + sqrt(x^2 + 1))", 7, **ENDLESS, **ODD),
        R("acosh", "acosh", "log(x + sqrt(x^2 - 1))", 9, 1, at_plus=INF, exact=value_at(1, 0)),
        R("atanh", "atanh", "log((1 + x) / (1 - x)) / 2", 7, -1, 1, -INF, INF, **ODD),
        R(
            "erf",
            "erf",
            "2 / sqrt(pi) * integral of e^(-t^2) from 0 to x",
            5,
            at_minus=-1.0,
            at_plus=1.0,
            floor=-1,
            ceiling=1,
            irrational=False,
            **ODD,
        ),
        R(
            "erfc",
            "erfc",
            "1 - erf x",
            11,
            at_minus=2.0,
            at_plus=0.0,
            exact=at_zero(1),
            irrational=False,
            floor=0,
            ceiling=2,
            falls=True,
        ),
        InverseErf(
            "erfinv",
            "erfinv",
            "the y with erf y = x",
            11,
            -1,
            1,
            -INF,
            INF,
            irrational=False,
            **ODD,
        ),
        R(
            "cbrt",
            "cbrt",
            "x^(1/3)",
            9,
            at_minus=-INF,
            at_plus=INF,
            exact=cube_root,
            keeps_zero=True,
            odd=True,
        ),
        LogGamma(
            "lgamma",
            "lgamma",
            "log |gamma(x)|",
            15,
            at_minus=INF,
            at_plus=INF,
            exact=lambda x: gmpy2.mpq(0) if x in (1, 2) else None,
            irrational=False,
            poles=(INF, INF, INF),
        ),
        Digamma(
            "digamma",
            "digamma",
            "derivative of log gamma(x)",
            14,
            at_plus=INF,
            irrational=False,
            poles=(NAN, -INF, INF),
        ),
    )
}

# Of definitions alone: no operations of their own.
INTERNAL: dict[str, Function] = {
    "erfcx": ScaledErfc(
        "erfcx",
        "erfcx",
        "e^(x^2) erfc(x)",
        4,
        low=0,
        at_plus=0.0,
        exact=at_zero(1),
        irrational=False,
        floor=0,
        falls=True,
    ),
    "trigamma": Trigamma(
        "trigamma",
        "trigamma",
        "derivative of digamma(x)",
        24,
        at_plus=0.0,
        irrational=False,
        floor=0,
        poles=(INF, INF, INF),
        falls=True,
    ),
}
