"""What a number format is: its range, its precision and its special values, as data."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

from exactref_core.errors import DTypeError, InputError

__all__ = ["Format", "Kind"]

Kind = Literal["float", "complex", "integer", "bool"]

FLOAT64_PRECISION = 53
# Rounding a float64 pair to odd first decides every mode only where float64 keeps two more bits
# than the format (one for the midpoint, one for "beyond it"), hence 51 and 2**-1072.
WIDEST_PRECISION = FLOAT64_PRECISION - 2
FINEST_ETA_EXPONENT = -1072


def power_of_two(exponent: int) -> Fraction:
    """2**exponent, exactly, for an exponent of either sign."""
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


@dataclass(frozen=True)
class Format:
    """A number format.

    ``name`` is the spelling users type and ``storage`` the numpy or ml_dtypes dtype that keeps
    its values (a format such as tfloat32 has the storage of a wider one).

    Floats, and the parts of complex formats: ``precision`` significand bits with the leading one,
    normal numbers from 2**emin up to the binade 2**emax, subnormals below; whether the format has
    ``infinity``, ``nan`` and ``signed_zero``; ``largest_significand``, the integer significand of
    the largest finite value (None: all ones). ``part`` names the format of a complex part.

    Integers and bool: every integer from ``low`` to ``high``; ``precision`` is 0.

    Every value of a float format is a float64 value. A float format is either float64 itself or
    at least two bits narrower (at most 51 bits, multiples of 2**-1072 or coarser), which is what
    lets an array of float64 pairs be rounded into it once; InputError otherwise.
    """

    name: str
    kind: Kind
    storage: str
    precision: int = 0
    emin: int = 0
    emax: int = 0
    infinity: bool = False
    nan: bool = False
    signed_zero: bool = False
    largest_significand: int | None = None
    part: str | None = None
    low: int = 0
    high: int = 0

    def __post_init__(self) -> None:
        if self.is_integer:
            if self.low > self.high:
                raise InputError(f"format {self.name}: low {self.low} is above high {self.high}")
            return
        if (self.precision, self.emin, self.emax) == (FLOAT64_PRECISION, -1022, 1023):
            return
        if not 1 <= self.precision <= WIDEST_PRECISION:
            raise InputError(
                f"format {self.name}: precision {self.precision} is neither float64's nor "
                f"from 1 to {WIDEST_PRECISION}"
            )
        if not (FINEST_ETA_EXPONENT <= self.eta_exponent <= 0 and self.emin <= self.emax <= 1023):
            raise InputError(
                f"format {self.name}: exponents {self.emin} to {self.emax} reach beyond float64"
            )
        if not 1 << (self.precision - 1) <= self.top_significand < 1 << self.precision:
            raise InputError(
                f"format {self.name}: largest_significand {self.largest_significand} "
                f"does not have {self.precision} bits"
            )

    @property
    def is_float(self) -> bool:
        """Whether this is a real floating-point format."""
        return self.kind == "float"

    @property
    def is_complex(self) -> bool:
        """Whether this is a complex format."""
        return self.kind == "complex"

    @property
    def is_integer(self) -> bool:
        """Whether values are integers; bool counts, with the integers 0 and 1."""
        return self.kind in ("integer", "bool")

    @property
    def top_significand(self) -> int:
        """The integer significand, of ``precision`` bits, of the largest finite value."""
        if self.largest_significand is not None:
            return self.largest_significand
        return (1 << self.precision) - 1

    @property
    def eta_exponent(self) -> int:
        """The integer e with eta == 2**e: emin - (precision - 1). DTypeError for integers."""
        self._require_float("eta")
        return self.emin - (self.precision - 1)

    @cached_property
    def unit_roundoff(self) -> Fraction:
        """u = 2**-precision. DTypeError for integers."""
        self._require_float("unit roundoff")
        return power_of_two(-self.precision)

    @cached_property
    def eta(self) -> Fraction:
        """The smallest subnormal, 2**eta_exponent. DTypeError for integers."""
        return power_of_two(self.eta_exponent)

    @cached_property
    def smallest_normal(self) -> Fraction:
        """2**emin. DTypeError for integers."""
        self._require_float("smallest normal")
        return power_of_two(self.emin)

    @cached_property
    def max(self) -> Fraction:
        """The largest finite value; ``high`` for integers."""
        if self.is_integer:
            return Fraction(self.high)
        return self.top_significand * self._ulp_of_max

    @cached_property
    def overflow_threshold(self) -> Fraction:
        """max + half an ulp of max: from here on nearest-even goes beyond the largest value.

        Where the largest significand is odd (every format whose largest value has all ones) the
        threshold itself overflows; where it is even (float8_e4m3fn: 448) the tie still rounds to
        the largest value and only what lies above overflows. DTypeError for integers.
        """
        self._require_float("overflow threshold")
        return self.max + self._ulp_of_max / 2

    @property
    def _ulp_of_max(self) -> Fraction:
        return power_of_two(self.emax - (self.precision - 1))

    def _require_float(self, what: str) -> None:
        if self.is_integer:
            raise DTypeError(f"{self.name} is not a floating-point format: it has no {what}")
