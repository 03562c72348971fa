"""Signs of quotients of sums of exponentials, and how they round.

Without logarithms the sign is that of the numerator over the common denominator, which is positive.
With them the rest has to be a number a of Q(sqrt s): m (a + sum k ln S) has the sign of prod
S**(m k) over the positive k, less e**(-m a) times that over the negative ones, which is a sum of
exponentials for the m that makes all m k integers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gmpy2

from exactref_core.exact.exponential_quotients import (
    MOST_FACTORS,
    Denominator,
    Quotient,
    Quotients,
)
from exactref_core.exact.exponential_sums import Exponent, Field, Unsupported
from exactref_core.exact.grid import HUGE, floor_rational
from exactref_core.exact.interval import Arithmetic, Interval, Number, Unsure, opened, rational
from exactref_core.formats.format import Format

__all__ = ["Decisions"]

# What nearly all signs that do not take algebra are seen at.
FEW_BITS = (128, 512)
# Numbers of several denominators cancel; then it takes more bits than their size has.
MORE_BITS = (1024, 4096, 16384)


class Decisions(Quotients):
    """The algebra of `Quotient` over one field, with what is decided of its numbers."""

    def __init__(self, sums: Field) -> None:
        super().__init__(sums)
        self.divisors: dict[tuple[int, int], Number] = {}

    def sign(self, x: Quotient) -> int:
        """Return the sign of a number, 0 exactly where it is 0."""
        if x.logs:
            return self.sign_of_logs(x)
        found = self.sign_by_enclosure(x)
        return found or self.sums.sign(self.sums.add(*self.over_one(x).parts.values()))

    def sign_by_enclosure(self, x: Quotient) -> int:
        """Return the sign of a number of several denominators where enclosures tell it, else 0.

        Of the number divided by the largest exponential in it: their product is not formed.
        """
        sums = self.sums
        exponents = {e for f in x.parts.values() for e in f.exponents}
        rests = [f.rest for f in x.parts.values() if f.rest is not None]
        if not exponents and rests:
            sums.ask_deeper(rests)
        if len(x.parts) < 2 or not exponents:
            return 0
        top = sums.largest(exponents)
        for precision in FEW_BITS:
            arithmetic = sums.arithmetic(precision)
            if not (side := self.side_of(arithmetic, x, top, sums.terms_over)):
                continue
            if not rests or self.side_of(arithmetic, x, top, sums.enclosed):
                return side
            sums.ask_deeper(rests)
        return 0

    def side_of(self, arithmetic: Arithmetic, x: Quotient, top: Exponent, enclose: Any) -> int:
        """Return the sign of an enclosure of a number over e**top, 0 where it contains 0."""
        found: Number = rational(0)
        for key, f in x.parts.items():
            part = self.divided(arithmetic, enclose(arithmetic, f, top), key)
            found = arithmetic.add(found, part)
        low, high = arithmetic.ends(found)
        return int(low > 0) - int(high < 0)

    def over_one(self, x: Quotient) -> Quotient:
        """Return a number over the common denominator; one with logarithms as it is."""
        if x.logs or len(x.parts) < 2:
            return x
        powers: dict[int, int] = {}
        for key in x.parts:
            for place, power in key:
                powers[place] = max(power, powers.get(place, 0))
        terms = []
        for key, f in x.parts.items():
            mine = dict(key)
            for place, power in powers.items():
                missing = self.sums.power(self.table[place], power - mine.get(place, 0))
                f = self.sums.times(f, missing)
            terms.append(f)
        return Quotient({tuple(sorted(powers.items())): self.sums.add(*terms)})

    def sign_of_logs(self, x: Quotient) -> int:
        """Return the sign of a number with logarithms."""
        r, q = self.algebraic_value(Quotient(x.parts))
        m = gmpy2.mpz(1)
        for k in x.logs.values():
            m = gmpy2.lcm(m, k.denominator)
        if sum(abs(k) * m for k in x.logs.values()) > MOST_FACTORS:
            raise Unsupported
        over, under = (
            self.sums.monomial(rational(1)),
            self.sums.monomial(rational(1), (-m * r, -m * q)),
        )
        for place, k in x.logs.items():
            factor = self.sums.power(self.table[place], int(abs(k) * m))
            if k > 0:
                over = self.sums.times(over, factor)
            else:
                under = self.sums.times(under, factor)
        return self.sums.sign(self.sums.add(over, self.sums.negative(under)))

    def enclosed(self, arithmetic: Arithmetic, x: Quotient) -> Number:
        """Return an enclosure."""
        found: Number = rational(0)
        for key, f in x.parts.items():
            part = self.sums.enclosed(arithmetic, f)
            found = arithmetic.add(found, self.divided(arithmetic, part, key))
        for place, k in x.logs.items():
            log = arithmetic.log(self.sums.enclosed(arithmetic, self.table[place]))
            found = arithmetic.add(found, arithmetic.multiply(log, k))
        return found

    def divided(self, arithmetic: Arithmetic, top: Number, key: Denominator) -> Number:
        """Return an enclosure over a denominator."""
        for place, power in key:
            name = arithmetic.precision, place
            if name not in self.divisors:
                self.divisors[name] = self.sums.enclosed(arithmetic, self.table[place])
            for _ in range(power):
                top = arithmetic.divide(top, self.divisors[name])
        return top

    def settled(self, arithmetic: Arithmetic, x: Quotient, form: Format, shift: Any = 0) -> Number:
        """Return a number as near as it takes to round it, less ``shift``: on its side of a tie.

        Where a rounding changes is a value of the format or a midpoint: a number of one more bit.
        """
        precision, eta = form.precision + 1, form.eta_exponent - 1
        for bits in (arithmetic.precision, *MORE_BITS):
            value = self.enclosed(self.sums.arithmetic(bits), x)
            if not isinstance(value, Interval):
                return value
            if not (gmpy2.is_finite(value.low) and gmpy2.is_finite(value.high)):
                return self.beyond(arithmetic, x)
            low, high = (end - shift for end in arithmetic.bounds(value))
            tie = floor_rational(high, precision, eta)
            if tie < low:
                return replace(value, arithmetic=arithmetic)
            below = tie - gmpy2.mpq(1, gmpy2.mpz(1) << -eta) / 4
            if floor_rational(below, precision, eta) < low:
                return self.beside(arithmetic, x, value, tie + shift)
        raise Unsure

    def beyond(self, arithmetic: Arithmetic, x: Quotient) -> Number:
        """Return the enclosure of a number that is beyond all formats."""
        huge, infinite = gmpy2.mpz(HUGE), gmpy2.inf()
        if self.sign(self.total([x, self.constant(-huge)])) > 0:
            return opened(HUGE, infinite, arithmetic, True, False)
        if self.sign(self.total([x, self.constant(huge)])) < 0:
            return -opened(HUGE, infinite, arithmetic, True, False)
        raise Unsure

    def signed(self, arithmetic: Arithmetic, x: Quotient) -> Number:
        """Return an enclosure on one side of 0, over one denominator: what cancels is gone."""
        if x.logs:
            raise Unsupported
        x = self.over_one(x)
        side, value = self.sign(x), self.enclosed(arithmetic, x)
        if side == 0 or not isinstance(value, Interval):
            return rational(0) if side == 0 else value
        if side < 0:
            value = -value
        zero = gmpy2.mpfr(0)
        # Ends of NaN stand for a difference of numbers beyond all exponents.
        low = value.low if value.low > zero else zero
        high = value.high if value.high > zero else gmpy2.inf()
        found = opened(low, high, arithmetic, True, value.open_high)
        return found if side > 0 else -found

    def beside(self, arithmetic: Arithmetic, x: Quotient, value: Interval, tie: Any) -> Number:
        """Return a number on its side of the one tie that its enclosure contains."""
        side = self.sign(self.total([x, self.constant(-tie)]))
        if side == 0:
            return tie
        exact = gmpy2.context(arithmetic.down, precision=tie.numerator.bit_length() + 1)
        end = gmpy2.mpfr(tie, 0, exact)
        if end != tie:
            raise Unsure
        if side > 0:
            return opened(end, max(value.high, end), arithmetic, True, value.open_high)
        return opened(min(value.low, end), end, arithmetic, value.open_low, True)
