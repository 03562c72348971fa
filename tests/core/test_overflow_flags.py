"""Which sums may overflow: the rules written out with fractions, term by term."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

import exactref as er

FORMS = {"float32": (24, 127), "float64": (53, 1023)}


class Rules:
    """The flags of a sum of finite terms, under one format."""

    def __init__(self, form: str) -> None:
        precision, emax = FORMS[form]
        self.u = Fraction(1, 2**precision)
        self.top = Fraction(2) ** emax * (2 - self.u)

    def delta(self, terms: Sequence[Fraction]) -> Fraction:
        """Return the bound under "normal"."""
        n = len(terms)
        if n <= 1:
            return Fraction(0)
        size = sum(map(abs, terms), Fraction(0))
        prefixes = [sum(terms[:k], Fraction(0)) for k in range(n + 1)]
        running = sum(map(abs, prefixes), Fraction(0))
        local = sum(
            (abs(prefixes[k] - prefixes[(k - 1) // 32 * 32]) for k in range(1, n + 1)), Fraction(0)
        )
        levels = math.ceil(math.log2(math.ceil(n / 32)))
        growth = (1 + self.u) ** (n - 1)
        return min((growth - 1) * size, self.u * growth * (max(running, local) + levels * size))

    def any_order(self, terms: Sequence[tuple[Fraction, Fraction]]) -> set[str]:
        """Return the infinities of terms, each with an error, in any order."""
        found = set()
        for name, sign in (("+inf", 1), ("-inf", -1)):
            side = [p for p in (sign * t + e for t, e in terms) if p > 0]
            m = len(side)
            if m >= 2 and sum(side) * (1 + self.u) ** (m - 2) >= self.top:
                found.add(name)
        return found

    def loop(self, terms: Sequence[Fraction]) -> set[str]:
        """Return what the index-order loop may give."""
        found = {"finite"}
        for k in range(2, len(terms) + 1):
            total, error = sum(terms[:k], Fraction(0)), self.delta(terms[: k - 1])
            for name, sign in (("+inf", 1), ("-inf", -1)):
                if sign * total + error >= self.top:
                    found.add(name)
                if sign * total - error >= self.top:
                    return found - {"finite"}
        return found

    def normal(self, terms: Sequence[Fraction]) -> set[str]:
        """Return the infinities and NaN under "normal"."""
        found = self.loop(terms) - {"finite"}
        if len(terms) > 32:
            blocks = [terms[i : i + 32] for i in range(0, len(terms), 32)]
            inside = [self.loop(block) for block in blocks]
            certain = set().union(*(states for states in inside if "finite" not in states))
            merged = self.any_order([(sum(b, Fraction(0)), self.delta(b)) for b in blocks])
            merged |= set().union(*inside) - {"finite"}
            found |= {name for name in merged if certain <= {name}} if len(certain) < 2 else set()
            if len(merged) == 2 or len(certain) == 2:
                found.add("nan")
            if len(found & {"+inf", "-inf"}) == 2:
                found.add("nan")
        return found & self.closed(self.any_order([(t, Fraction(0)) for t in terms]))

    def closed(self, found: set[str]) -> set[str]:
        """Return a set with the NaN that both infinities give."""
        return found | {"nan"} if len(found) == 2 else found


def rows(rng: np.random.Generator, form: str, n: int) -> npt.NDArray[np.float64]:
    """Return rows whose sums come near the threshold, stay below it, or go far beyond."""
    top = float(np.finfo(form).max)
    kind = rng.integers(5)
    if kind == 0:
        x = rng.uniform(-1, 1, (4, n)) * rng.choice([1, 0.5, min(1, 4 / n)])
    elif kind == 1:
        x = rng.choice([0, 1, -1, 0.5, -0.5, 2.0**-20], (4, n))
    elif kind == 2:
        x = rng.uniform(0, 1, (4, n)) * min(1.0, 2 / n)
    elif kind == 3:
        x = rng.uniform(-1, 1, (4, n)) * 2.0**-20
        x[:, :2] = rng.choice([1, -1, 0.5], (4, 2))
    else:
        x = np.full((4, n), 1 / n) + rng.uniform(-1, 1, (4, n)) * 2.0**-24 / n
    return np.asarray(x * top, form).astype(np.float64)


@pytest.mark.parametrize("form", list(FORMS))
@pytest.mark.parametrize("n", [2, 3, 31, 33, 40, 65])
def test_flags_of_sums(form: str, n: int) -> None:
    rng = np.random.default_rng(n)
    rules = Rules(form)
    for _ in range(6 if n < 40 else 2):
        x = rows(rng, form, n)
        result = er.sum(x.astype(form), axis=1)
        for standard in ("normal", "any_order"):
            flags = {v: result.may_be(v, standard).tolist() for v in ("+inf", "-inf", "nan")}
            for i, row in enumerate(x.tolist()):
                terms = [Fraction(t) for t in row]
                if standard == "any_order":
                    expected = rules.closed(rules.any_order([(t, Fraction(0)) for t in terms]))
                else:
                    expected = rules.normal(terms)
                if math.isinf(result.rounded.tolist()[i]):
                    expected = expected | {str(f"{result.rounded.tolist()[i]:+}")}
                assert {v for v in flags if flags[v][i]} == expected, (standard, row)


@pytest.mark.parametrize("standard", ["normal", "any_order"])
def test_flags_of_a_million_terms(standard: str) -> None:
    x = (np.random.default_rng(0).standard_normal(10**6) * 1e33).astype(np.float32)
    size = float(np.abs(x, dtype=np.float64).sum()) / 2
    top = float(np.finfo(np.float32).max)
    assert size > top  # in some order an overflow of either sign
    assert np.abs(np.cumsum(x, dtype=np.float64)).max() < top / 100  # in index order none
    result = er.sum(x)
    for value in ("+inf", "-inf", "nan"):
        assert result.may_be(value, standard).all() == (standard == "any_order")


def test_flags_of_a_million_equal_terms() -> None:
    result = er.sum(np.full(10**6, 1e33, np.float32))
    assert result.rounded.tolist() == math.inf
    for standard in ("normal", "any_order"):
        assert result.may_be("+inf", standard).all()
        assert not result.may_be("-inf", standard).any()
        assert not result.may_be("nan", standard).any()


def test_flags_of_products_near_the_threshold() -> None:
    a = np.array([[1e19, -1e19, 1e19, 1.0], [1.0, 1.0, 1.0, 1.0]], np.float32)
    b = np.array([[3e19, 1e10], [3e19, 0.0], [3e19, 1.0], [0.0, 1.0]], np.float32)
    result = er.matmul(a, b)
    assert result.may_be("+inf", "any_order").tolist() == [[True, False], [False, False]]
    assert not result.may_be("+inf").any()
    assert not result.may_be("-inf", "any_order").any()


@pytest.mark.parametrize("standard", ["normal", "any_order"])
def test_a_squared_difference_may_overflow_where_the_variance_does_not(standard: str) -> None:
    # Welford's increment d^2 (k - 1) / k made from d^2 on: (2e19)^2 is beyond float32, 1e38 is not.
    x = np.array([1e19, -1e19], np.float32)
    d = x[1] - x[0]
    with np.errstate(over="ignore"):
        returned = (d * d) * np.float32(0.5) / np.float32(2)
    assert np.isinf(returned)
    result = er.var(x)
    assert result.rounded.tolist() == float(np.float32(1e38))
    assert result.covers(returned, standard).all()
    calm = er.var(x / np.float32(2))
    assert not calm.may_be("+inf", standard).any()


def test_merged_variances_may_overflow_in_a_multiple_of_a_squared_difference() -> None:
    # ((d d) n_A) n_B / n with n_A = 3: 3 (1.2e19)^2 is beyond float32, a quarter of it is not.
    x = np.array([1.2e19, 1.2e19, 1.2e19, 0.0], np.float32)
    d = x[3] - x[0]
    with np.errstate(over="ignore"):
        returned = d * d * np.float32(3) * np.float32(0.25) / np.float32(4)
    assert np.isinf(returned)
    result = er.var(x)
    assert result.covers(returned, "any_order").all()
    assert not result.may_be("+inf", "normal").any()


@pytest.mark.parametrize("which", ["mat1", "mat2"])
def test_alpha_may_multiply_either_factor_of_a_product(which: str) -> None:
    # alpha * mat2 in the reference BLAS, alpha * mat1 in its answer for transposed matrices.
    large, zeros = np.full((2, 1), 3e38, np.float32), np.zeros((1, 2), np.float32)
    pair = (large.T, zeros.T) if which == "mat1" else (zeros, large)
    result = er.addmm(np.zeros(1, np.float32), *pair, beta=0.75, alpha=-1.25)
    assert result.rounded.tolist() == [[0.0]]
    assert result.may_be("nan").all()  # 0 * (alpha * 3e38)
    assert not er.addmm(np.zeros(1, np.float32), *pair, alpha=0.5).may_be("nan").any()
    grad = er.backward.addmm(
        np.float32([[0.0]]), np.float32([0.0]), zeros, large, beta=0.75, alpha=-1.25
    )
    assert grad["grad_mat1"].may_be("nan").all()
