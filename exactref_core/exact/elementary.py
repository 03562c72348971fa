"""Elementary functions of one real number, certified: values, extremes, limits, exact points.

A `Function` is data: a correctly rounded MPFR evaluation, where it is defined, how it goes, the
points where its value is rational, and its values at the ends of its domain. Sources: C99 Annex F
for special values; Lindemann-Weierstrass (exponentials, logarithms, trigonometric and hyperbolic
functions and their inverses are transcendental at rational arguments other than those listed).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from exactref_core.exact.interval import (
    Arithmetic,
    Interval,
    Number,
    Unsure,
    opened,
    opens_of,
    rational,
)
from exactref_core.exact.limits import near
from exactref_core.exact.nonnegative import Unbounded
from exactref_core.exact.rationals import Rational

__all__ = ["Function", "Monotone", "never"]


def named(name: str) -> Function:
    """Return the function of a name in the table."""
    from exactref_core.exact.elementary_table import FUNCTIONS, INTERNAL

    return FUNCTIONS[name] if name in FUNCTIONS else INTERNAL[name]


def never(value: Rational) -> Rational | None:
    """Return the rational value at a rational argument, of a function that has none."""
    return None


@dataclass(frozen=True)
class Function:
    """A real function of one variable.

    ``low`` and ``high`` close the domain (None: no end); outside the value is NaN. ``at_low``,
    ``at_high`` are its values there where they are infinite, ``at_minus`` and ``at_plus`` those at
    -inf and +inf. ``exact`` gives the value at a rational argument where it is rational; elsewhere
    it is irrational if ``irrational``. ``poles``: its values
    at the negative integers, +0 and -0, where these have none that is a number. ``keeps_zero``: a
    zero is its own value, with its sign; so it is of all that are ``odd``. ``floor`` and
    ``ceiling`` are never reached. A correct library function errs by ``units`` * u of the value.
    """

    name: str
    method: str
    formula: str
    units: int
    low: int | None = None
    high: int | None = None
    at_low: float | None = None
    at_high: float | None = None
    at_minus: float = math.nan
    at_plus: float = math.nan
    exact: Callable[[Rational], Rational | None] = never
    irrational: bool = True
    keeps_zero: bool = False
    odd: bool = False
    even: bool = False
    floor: int | None = None
    ceiling: int | None = None
    poles: tuple[float, float, float] | None = None

    def __reduce__(self) -> Any:
        # Rules are functions, which do not travel to other processes: the table has them there.
        return named, (self.name,)

    @property
    def documentation(self) -> str:
        """What the operation's docstring says."""
        lines = [f"Elementary function {self.formula} of each element.", ""]
        if self.bounded_domain:
            ends = [
                "-inf" if self.low is None else str(self.low),
                "inf" if self.high is None else str(self.high),
            ]
            lines.append(f"NaN outside [{ends[0]}, {ends[1]}].")
        for end, value in ((self.low, self.at_low), (self.high, self.at_high)):
            if value is not None:
                lines.append(f"{value} at {end}.")
        if self.poles is not None:
            lines.append(f"{self.poles[1]} at 0, {self.poles[0]} at the negative integers.")
        lines.append(f"A correct library function errs by at most {self.units}u of the value.")
        return "\n".join(lines)

    @property
    def bounded_domain(self) -> bool:
        """Whether some numbers have no value."""
        return self.low is not None or self.high is not None

    @property
    def parts_flushed(self) -> bool:
        """Whether 0, which is stored for flushed inputs, is a pole or the end of the domain."""
        return self.low == 0 or self.poles is not None

    @property
    def is_exponential(self) -> bool:
        """Whether the function is an exponential, of which a stored infinity leaves no bound."""
        return self.method.startswith("exp")

    @property
    def is_steady(self) -> bool:
        """Whether the function rises, or falls, all over its domain, without poles inside."""
        return False

    @property
    def rounds_to_nearest(self) -> bool:
        """Whether `evaluate` rounds correctly to the nearest, not only downward and upward."""
        return True

    @property
    def has_irrational_limits(self) -> bool:
        """Whether the values at the infinities are irrational numbers."""
        return False

    @property
    def etas(self) -> int:
        """How many smallest subnormals a correct library function errs by: half of ``units``."""
        return max(2, (self.units + 1) // 2)

    def special(self, arithmetic: Arithmetic, x: float) -> Any:
        """Return the value at an infinity or NaN: a number where it is one, else a float."""
        if math.isnan(x):
            return x
        limit = self.at_plus if x > 0 else self.at_minus
        return rational(limit) if math.isfinite(limit) else limit

    def near_limit(self, side: int) -> float:
        """Return the value at an infinity, rounded to a float64 number where it is irrational."""
        return self.at_plus if side > 0 else self.at_minus

    def evaluate(self, context: Any, x: Any) -> Any:
        """Return the function of an MPFR number, rounded as the context says."""
        return getattr(context, self.method)(x)

    def value(self, arithmetic: Arithmetic, x: Number) -> Any:
        """Return the value at a number; a float where it is an infinity or NaN.

        `Unsure` where an enclosure does not tell whether the number lies in the domain.
        """
        if isinstance(x, Interval):
            if self.beyond(x):
                return math.nan
        else:
            special = self.outside(x)
            if special is not None:
                return special
            found = self.exact(x)
            if found is not None:
                return found
        if (beside := near(self.name, arithmetic, x)) is not None:
            return beside
        low, high = self.hull(arithmetic, *arithmetic.ends(x))
        return opened(low, high, arithmetic, *self.opens(x, low, high))

    def outside(self, x: Rational) -> float | None:
        """Return the value at a rational where it is no number, else None."""
        if self.low is not None and x <= self.low:
            return math.nan if x < self.low else self.at_low
        if self.high is not None and x >= self.high:
            return math.nan if x > self.high else self.at_high
        if self.poles is not None and x <= 0 and x.denominator == 1:
            return self.poles[0 if x < 0 else 1]
        return None

    def beyond(self, x: Interval) -> bool:
        """Return whether an enclosure lies outside the domain; `Unsure` where only a part does."""
        below, above = opens_of(x)
        if self.low is not None:
            if x.high < self.low or (x.high == self.low and above):
                return True
            if x.low < self.low or (x.low == self.low and self.at_low is not None and not below):
                raise Unsure
        if self.high is not None:
            if x.low > self.high or (x.low == self.high and below):
                return True
            if x.high > self.high or (
                x.high == self.high and self.at_high is not None and not above
            ):
                raise Unsure
        return False

    def opens(self, x: Number, low: Any, high: Any) -> tuple[bool, bool]:
        """Return whether the value is certainly none of the ends of its hull.

        An irrational number is no MPFR number, rounded down or up.
        """
        strict = self.irrational and not isinstance(x, Interval)
        below = strict or (self.floor is not None and low == self.floor)
        return below, strict or (self.ceiling is not None and high == self.ceiling)

    def hull(self, arithmetic: Arithmetic, low: Any, high: Any) -> tuple[Any, Any]:
        """Return MPFR numbers below and above all values between two arguments of the domain."""
        raise NotImplementedError

    def extremes(self, arithmetic: Arithmetic, low: Number, high: Number) -> tuple[Number, Number]:
        """Return the least and the largest value between two numbers of the domain."""
        raise NotImplementedError

    def at(self, arithmetic: Arithmetic, x: Number) -> Number:
        """Return a value that is a number; `Unbounded` where it is infinite, or none."""
        found = self.value(arithmetic, x)
        if isinstance(found, float):
            raise Unbounded
        return found


@dataclass(frozen=True)
class Monotone(Function):
    """A function that rises everywhere in its domain, or falls everywhere (``falls``)."""

    falls: bool = False

    @property
    def is_steady(self) -> bool:
        """Whether the function rises, or falls, all over its domain, without poles inside."""
        return True

    def hull(self, arithmetic: Arithmetic, low: Any, high: Any) -> tuple[Any, Any]:
        """Return MPFR numbers below and above all values between two arguments of the domain."""
        first, last = (high, low) if self.falls else (low, high)
        return self.evaluate(arithmetic.down, first), self.evaluate(arithmetic.up, last)

    def opens(self, x: Number, low: Any, high: Any) -> tuple[bool, bool]:
        """Return whether the value is certainly none of the ends of its hull.

        A strictly monotone function maps open ends to open ends.
        """
        below, above = super().opens(x, low, high)
        first, last = opens_of(x)[:: -1 if self.falls else 1]
        return below or first, above or last

    def extremes(self, arithmetic: Arithmetic, low: Number, high: Number) -> tuple[Number, Number]:
        """Return the least and the largest value between two numbers of the domain."""
        first, last = (high, low) if self.falls else (low, high)
        return self.at(arithmetic, first), self.at(arithmetic, last)
