"""Quotients of sums of exponentials, with logarithms of such sums: their algebra.

A number is sum N / D + sum k ln S: each D a product of positive sums that are known by their place
in a table, so that numbers over one denominator are added up as numerators, and what cancels among
them is seen; each k rational.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from exactref_core.exact.exponential_sums import (
    ORIGIN,
    Exponent,
    ExponentialSum,
    Field,
    Unsupported,
)
from exactref_core.exact.interval import rational

__all__ = ["MOST_FACTORS", "Denominator", "Quotient", "Quotients"]

# Places of the table with their powers, in order.
Denominator: TypeAlias = tuple[tuple[int, int], ...]

NOTHING: Denominator = ()
# Logarithms are compared by powers of sums; higher ones have too many terms.
MOST_FACTORS = 16


@dataclass(frozen=True, slots=True, eq=False)
class Quotient:
    """sum N / D over ``parts``, and sum k ln S over ``logs`` (places of the table)."""

    parts: dict[Denominator, ExponentialSum]
    logs: dict[int, Any] = field(default_factory=dict)


class Quotients:
    """The algebra of `Quotient` over one field."""

    def __init__(self, sums: Field) -> None:
        self.sums = sums
        self.table: list[ExponentialSum] = []
        self.places: dict[Any, int] = {}

    # -- making them ---------------------------------------------------------------------------

    def constant(self, number: Any) -> Quotient:
        """Return a rational."""
        return self.whole(self.sums.monomial(rational(number)))

    def root(self, square: Any) -> Quotient:
        """Return the square root of a positive rational."""
        return self.whole(self.sums.root(square))

    def algebraic(self, x: Exponent) -> Quotient:
        """Return a number r + q sqrt(s)."""
        return self.whole(ExponentialSum({(*ORIGIN, h): c for h, c in enumerate(x) if c}))

    def whole(self, f: ExponentialSum) -> Quotient:
        """Return a sum of exponentials."""
        return Quotient({NOTHING: f})

    def place(self, terms: dict[Exponent, Any]) -> int:
        """Return the place of a positive sum, given by rational factors: the same for the same."""
        name = frozenset(terms.items())
        if name not in self.places:
            self.places[name] = len(self.table)
            items = (((r, q, 0), c) for (r, q), c in terms.items())
            self.table.append(self.sums.collected(items))
        return self.places[name]

    def over(self, f: ExponentialSum, place: int) -> Quotient:
        """Return a sum over one in the table."""
        return Quotient({((place, 1),): f})

    def log_of_place(self, place: int) -> Quotient:
        """Return the logarithm of a sum in the table."""
        return Quotient({}, {place: rational(1)})

    # -- algebra -------------------------------------------------------------------------------

    def total(self, values: Iterable[Quotient]) -> Quotient:
        """Return a sum."""
        parts: dict[Denominator, list[ExponentialSum]] = {}
        logs: dict[int, Any] = {}
        for value in values:
            for key, f in value.parts.items():
                parts.setdefault(key, []).append(f)
            for place, k in value.logs.items():
                logs[place] = logs.get(place, 0) + k
        sums = {key: self.sums.add(*some) for key, some in parts.items()}
        kept = {key: f for key, f in sums.items() if f.terms or f.rest is not None}
        return Quotient(kept, {place: k for place, k in logs.items() if k})

    def negative(self, x: Quotient) -> Quotient:
        """Return -x."""
        parts = {key: self.sums.negative(f) for key, f in x.parts.items()}
        return Quotient(parts, {place: -k for place, k in x.logs.items()})

    def multiply(self, x: Quotient, y: Quotient) -> Quotient:
        """Return a product; logarithms are multiplied by rationals only."""
        if x.logs or y.logs:
            logs, factor = (x, y) if x.logs else (y, x)
            k = self.rational_value(factor)
            scaled = {place: k * c for place, c in logs.logs.items() if k}
            rest = self.multiply(Quotient(logs.parts), factor)
            return Quotient(rest.parts, scaled)
        products = []
        for key, f in x.parts.items():
            for other, g in y.parts.items():
                powers = dict(key)
                for place, power in other:
                    powers[place] = powers.get(place, 0) + power
                products.append(Quotient({tuple(sorted(powers.items())): self.sums.times(f, g)}))
        return self.total(products)

    def rational_value(self, x: Quotient) -> Any:
        """Return a number that is seen to be rational."""
        r, q = self.algebraic_value(x)
        if q:
            raise Unsupported
        return r

    def algebraic_value(self, x: Quotient) -> Exponent:
        """Return a number that is seen to be one of Q(sqrt s)."""
        found = list(ORIGIN)
        if x.logs or any(key != NOTHING for key in x.parts):
            raise Unsupported
        for f in x.parts.values():
            self.sums.check_whole(f)
            if any((r, q) != ORIGIN for r, q, _ in f.terms):
                raise Unsupported
            for (_, _, h), c in f.terms.items():
                found[h] += c
        return found[0], found[1]

    def divide(self, x: Quotient, y: Quotient) -> Quotient:
        """Return a quotient; of one by a number of Q(sqrt s), or by a sum with rational factors."""
        ((key, f),) = self.single(y)
        if key == NOTHING and f.exponents == {ORIGIN}:
            r, q = self.algebraic_value(y)
            size = r * r - q * q * (self.sums.radicand or 0)
            return self.multiply(x, self.algebraic((r / size, -q / size)))
        side, top, terms = self.positive(f)
        factor = self.whole(self.sums.monomial(rational(side), (-top[0], -top[1])))
        for place, power in key:
            factor = self.multiply(factor, self.whole(self.sums.power(self.table[place], power)))
        found = self.multiply(x, factor)
        one = self.sums.monomial(rational(1))
        return self.multiply(found, self.over(one, self.place(terms)))

    def log(self, x: Quotient) -> Quotient:
        """Return the logarithm of a positive quotient of sums."""
        ((key, f),) = self.single(x)
        side, top, terms = self.positive(f)
        if side < 0:
            raise Unsupported
        logs = [self.algebraic(top), self.log_of_place(self.place(terms))]
        for place, power in key:
            logs.append(Quotient({}, {place: rational(-power)}))
        return self.total(logs)

    def single(self, x: Quotient) -> list[tuple[Denominator, ExponentialSum]]:
        """Return the one part of a number that has no other, whole."""
        if x.logs or len(x.parts) != 1:
            raise Unsupported
        found = list(x.parts.items())
        self.sums.check_whole(found[0][1])
        return found

    def positive(self, f: ExponentialSum) -> tuple[int, Exponent, dict[Exponent, Any]]:
        """Return a sum's sign, its largest exponent, and by their exponents less that the factors
        of the sum with the sign taken away."""
        side = self.sums.sign(f)
        if side == 0 or any(h for _, _, h in f.terms):
            raise Unsupported
        top = self.sums.largest(f.exponents)
        terms = {(r - top[0], q - top[1]): side * c for (r, q, _), c in f.terms.items()}
        return side, top, terms

    def exp(self, x: Quotient) -> Quotient:
        """Return an exponential of a number of Q(sqrt s), and of logarithms taken whole times."""
        exponent = self.algebraic_value(Quotient(x.parts))
        found = self.whole(self.sums.monomial(rational(1), exponent))
        for place, k in x.logs.items():
            if k.denominator != 1 or abs(k) > MOST_FACTORS:
                raise Unsupported
            if k < 0:
                factor = Quotient({((place, int(-k)),): self.sums.monomial(rational(1))})
            else:
                factor = self.whole(self.sums.power(self.table[place], int(k)))
            found = self.multiply(found, factor)
        return found
