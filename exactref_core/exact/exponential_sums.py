"""Sums of c e^x with c and x in Q, or in Q(sqrt s) for one s: their algebra, and their signs.

Collected by exponent, such a sum is 0 exactly where all its coefficients are: by the Lindemann-
Weierstrass theorem the exponentials of different algebraic numbers are linearly independent over
the algebraic numbers, and a + b sqrt(s) is 0 only for a = b = 0, s being no square. The sign of any
other sum is that of the sum divided by its largest exponential, which is a coefficient other than 0
and smaller terms: enclosures of rising precision tell it. No exponential is formed of an exponent
but relative to the largest, so that e**-3e38 beside e**-6e38 is as good as 1 beside nothing.

Sums are kept down to a ``cut``: of the terms with exponents below it only a bound is kept. Where
that is not small enough `Deeper` asks for a lower cut. Terms are few then, however many products of
vanishing ones there are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cmp_to_key
from typing import Any, NoReturn, TypeAlias

import gmpy2

from exactref_core.exact.interval import Arithmetic, Interval, Number, Unsure

__all__ = ["ORIGIN", "Deeper", "Exponent", "ExponentialSum", "Field", "Unsupported"]

PRECISIONS = tuple(64 << i for i in range(8))
# Products of terms that a field may form in all, unless it is told another number.
WORK = 1 << 20

ZERO = gmpy2.mpq(0)
ONE = gmpy2.mpq(1)

Exponent: TypeAlias = tuple[Any, Any]  # (r, q): r + q sqrt(s)
Term: TypeAlias = tuple[Any, Any, int]  # (r, q, h): sqrt(s)**h e**(r + q sqrt(s))
ORIGIN: Exponent = (ZERO, ZERO)
UNIT: Term = (ZERO, ZERO, 0)
# (b, (r, q)): a number of magnitude at most 2**b e**(r + q sqrt(s)).
Rest: TypeAlias = tuple[int, Exponent]


class Unsupported(ArithmeticError):
    """A number that is no quotient of sums of exponentials, or one of too many terms."""


class Deeper(ArithmeticError):
    """A sign depends on terms below the cut, the largest of which has the exponent ``below``."""

    def __init__(self, below: Any) -> None:
        super().__init__(below)
        self.below = below


@dataclass(frozen=True, slots=True, eq=False)
class ExponentialSum:
    """sum c sqrt(s)**h e**(r + q sqrt(s)) over ``terms`` (no c is 0), and what is below the cut."""

    terms: dict[Term, Any]
    rest: Rest | None = None

    @property
    def exponents(self) -> set[Exponent]:
        """The exponents, at most once each."""
        return {(r, q) for r, q, _ in self.terms}


def bits_of(number: Any) -> int:
    """Return b with |number| < 2**b."""
    return int(number.numerator.bit_length() - number.denominator.bit_length() + 1)


class Field:
    """The sums over one ``radicand`` s (None: rational numbers), kept down to one cut."""

    def __init__(self, cut: Any, radicand: Any = None) -> None:
        self.cut = cut
        self.radicand = radicand
        self.work = WORK
        self.powers: dict[tuple[int, Exponent], Number] = {}
        self.arithmetics: dict[int, Arithmetic] = {}

    # -- numbers of Q(sqrt s) ------------------------------------------------------------------

    def root(self, square: Any) -> ExponentialSum:
        """Return the square root of a positive rational; it says what s is, if nothing did."""
        product = square.numerator * square.denominator
        if gmpy2.is_square(product):
            return self.monomial(gmpy2.mpq(gmpy2.isqrt(product), square.denominator))
        if self.radicand is None:
            self.radicand = product
        whole = product * self.radicand
        if not gmpy2.is_square(whole):
            raise Unsupported
        # sqrt(n d) / d = sqrt(n d s) / (s d) sqrt(s).
        size = gmpy2.mpq(gmpy2.isqrt(whole), self.radicand * square.denominator)
        return ExponentialSum({(ZERO, ZERO, 1): size})

    def side(self, exponent: Exponent) -> int:
        """Return the sign of r + q sqrt(s)."""
        r, q = exponent
        if q == 0 or r == 0 or (r > 0) == (q > 0):
            return int(gmpy2.sign(r) or gmpy2.sign(q))
        return int(gmpy2.sign(r) if r * r > q * q * self.radicand else gmpy2.sign(q))

    def largest(self, exponents: Iterable[Exponent]) -> Exponent:
        """Return the largest of some exponents."""

        def compare(x: Exponent, y: Exponent) -> int:
            return self.side((x[0] - y[0], x[1] - y[1]))

        return max(exponents, key=cmp_to_key(compare))

    def number(self, arithmetic: Arithmetic, r: Any, q: Any) -> Number:
        """Return r + q sqrt(s)."""
        if q == 0:
            return r
        return arithmetic.add(r, arithmetic.multiply(q, arithmetic.sqrt(gmpy2.mpq(self.radicand))))

    # -- algebra -------------------------------------------------------------------------------

    def spend(self, count: int) -> None:
        """Count products of terms; `Unsupported` where they are too many."""
        self.work -= count
        if self.work < 0:
            raise Unsupported

    def monomial(self, factor: Any, exponent: Exponent = ORIGIN) -> ExponentialSum:
        """Return a rational times an exponential."""
        return self.collected([((*exponent, 0), factor)])

    def collected(
        self, terms: Iterable[tuple[Term, Any]], rest: Rest | None = None
    ) -> ExponentialSum:
        """Return the sum of terms, and of others that are bounded, down to the cut."""
        found: dict[Term, Any] = {}
        lost: list[Rest] = [] if rest is None else [rest]
        for key, factor in terms:
            r, q, h = key
            if r < self.cut if q == 0 else self.side((r - self.cut, q)) < 0:
                lost.append((bits_of(factor) + h * self.root_bits, (r, q)))
            else:
                found[key] = found.get(key, ZERO) + factor
        return ExponentialSum({k: c for k, c in found.items() if c}, self.bounded(lost))

    @property
    def root_bits(self) -> int:
        """b with sqrt(s) < 2**b."""
        return 0 if self.radicand is None else int(self.radicand.bit_length() // 2 + 1)

    def bounded(self, rests: list[Rest]) -> Rest | None:
        """Return a bound of a sum of numbers that are bounded."""
        if len(rests) < 2:
            return rests[0] if rests else None
        bits = max(b for b, _ in rests) + len(rests).bit_length()
        return bits, self.largest({exponent for _, exponent in rests})

    def add(self, *sums: ExponentialSum) -> ExponentialSum:
        """Return a sum."""
        if len(sums) == 1:
            return sums[0]
        rest = self.bounded([f.rest for f in sums if f.rest is not None])
        return self.collected((item for f in sums for item in f.terms.items()), rest)

    def negative(self, f: ExponentialSum) -> ExponentialSum:
        """Return -f."""
        return ExponentialSum({key: -c for key, c in f.terms.items()}, f.rest)

    def times(self, f: ExponentialSum, g: ExponentialSum) -> ExponentialSum:
        """Return a product."""
        for one, other in ((f, g), (g, f)):
            if one.rest is None and [*one.terms] == [UNIT]:
                return self.scaled(other, one.terms[UNIT])
        self.spend(len(f.terms) * len(g.terms))
        rests = [
            (b + d, (x[0] + y[0], x[1] + y[1]))
            for (b, x), (d, y) in (*self.beside(f, g), *self.beside(g, f))
        ]
        if f.rest is not None and g.rest is not None:
            (b, x), (d, y) = f.rest, g.rest
            rests.append((b + d, (x[0] + y[0], x[1] + y[1])))
        found = []
        for (r, q, h), c in f.terms.items():
            for (t, w, k), d in g.terms.items():
                size = c * d * self.radicand if h and k else c * d
                found.append(((r + t, q + w, h ^ k), size))
        return self.collected(found, self.bounded(rests))

    def scaled(self, f: ExponentialSum, factor: Any) -> ExponentialSum:
        """Return f times a rational other than 0."""
        self.spend(len(f.terms))
        rest = None if f.rest is None else (f.rest[0] + bits_of(factor), f.rest[1])
        return ExponentialSum({key: c * factor for key, c in f.terms.items()}, rest)

    def beside(self, f: ExponentialSum, g: ExponentialSum) -> list[tuple[Rest, Rest]]:
        """Return a bound of what f keeps, with that of what g does not; none without either."""
        if g.rest is None or not f.terms:
            return []
        sizes = [(bits_of(c) + h * self.root_bits, (r, q)) for (r, q, h), c in f.terms.items()]
        kept = self.bounded(sizes)
        return [] if kept is None else [(kept, g.rest)]

    def check_whole(self, f: ExponentialSum) -> None:
        """Raise `Deeper` where terms are below the cut."""
        if f.rest is not None:
            self.ask_deeper([f.rest])

    def ask_deeper(self, rests: list[Rest]) -> NoReturn:
        """Raise `Deeper` for the largest of some rests."""
        raise Deeper(self.rational_below(self.largest([exponent for _, exponent in rests])))

    def power(self, f: ExponentialSum, exponent: int) -> ExponentialSum:
        """Return f**exponent for an exponent that is not negative."""
        found = self.monomial(ONE)
        for _ in range(exponent):
            found = self.times(found, f)
        return found

    # -- signs and enclosures ------------------------------------------------------------------

    def sign(self, f: ExponentialSum) -> int:
        """Return the sign of a sum, 0 exactly where it is 0.

        Proof: without a rest and without terms the sum is 0, and with terms it is not (see above),
        so that it has the sign of any enclosure that excludes 0. A rest is part of the enclosure.
        """
        if not f.terms:
            if f.rest is None:
                return 0
            self.ask_deeper([f.rest])
        top = self.largest(f.exponents)
        for precision in PRECISIONS:
            arithmetic = self.arithmetic(precision)
            low, high = arithmetic.ends(self.terms_over(arithmetic, f, top))
            if low <= 0 <= high:
                continue
            if f.rest is None:
                return 1 if low > 0 else -1
            room = arithmetic.ends(self.rest_over(arithmetic, f.rest, top))[1]
            if max(low, -high) > room:
                return 1 if low > 0 else -1
            self.ask_deeper([f.rest])
        raise Unsure

    def arithmetic(self, precision: int) -> Arithmetic:
        """Return the arithmetic of one precision."""
        if precision not in self.arithmetics:
            self.arithmetics[precision] = Arithmetic(precision)
        return self.arithmetics[precision]

    def rational_below(self, exponent: Exponent) -> Any:
        """Return a rational at or below an exponent."""
        arithmetic = self.arithmetic(PRECISIONS[0])
        return gmpy2.mpq(arithmetic.ends(self.number(arithmetic, *exponent))[0])

    def exp(self, arithmetic: Arithmetic, exponent: Exponent) -> Number:
        """Return the exponential of an exponent."""
        key = arithmetic.precision, exponent
        if key not in self.powers:
            self.powers[key] = arithmetic.exp(self.number(arithmetic, *exponent))
        return self.powers[key]

    def terms_over(self, arithmetic: Arithmetic, f: ExponentialSum, top: Exponent) -> Number:
        """Return an enclosure of the terms divided by e**top."""
        total: Number = ZERO
        for (r, q, h), c in f.terms.items():
            factor = self.number(arithmetic, ZERO, c) if h else c
            power = self.exp(arithmetic, (r - top[0], q - top[1]))
            total = arithmetic.add(total, arithmetic.multiply(power, factor))
        return total

    def rest_over(self, arithmetic: Arithmetic, rest: Rest, top: Exponent) -> Number:
        """Return an enclosure of a rest's bound divided by e**top."""
        bits, (r, q) = rest
        power = arithmetic.exp(self.number(arithmetic, r - top[0], q - top[1]))
        factor = gmpy2.mpq(2) ** abs(bits)
        return arithmetic.multiply(power, factor if bits >= 0 else 1 / factor)

    def enclosed(self, arithmetic: Arithmetic, f: ExponentialSum, top: Exponent = ORIGIN) -> Number:
        """Return an enclosure of a sum divided by e**top."""
        found = self.terms_over(arithmetic, f, top)
        if f.rest is None:
            return found
        room = arithmetic.ends(self.rest_over(arithmetic, f.rest, top))[1]
        return arithmetic.add(found, Interval(arithmetic.down.minus(room), room, arithmetic))
