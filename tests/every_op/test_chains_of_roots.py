"""Chains of square roots whose exact value is rational, on a tie or zero: no enclosure tells, but
how near to 0 such a number can be at all does (`exactref_core.exact.separation`)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.formats.catalogue import get_format
from exactref_core.result import Result
from tests.every_op.hostile import elements
from tests.every_op.numbers import MODES, Numbers, of_fraction

COUNT = 12
Chain = Callable[..., Result]
CHAINS: dict[str, tuple[Chain, Callable[[Fraction, Fraction], Fraction]]] = {
    "root times root": (
        lambda x, y, **how: er.multiply(er.sqrt(x), er.sqrt(x), **how),
        lambda x, y: x,
    ),
    "root times root of 4x": (
        lambda x, y, **how: er.multiply(
            er.sqrt(er.add(er.add(x, x), er.add(x, x))), er.sqrt(x), **how
        ),
        lambda x, y: 2 * x,
    ),
    "root less root": (
        lambda x, y, **how: er.subtract(er.sqrt(x), er.sqrt(x), **how),
        lambda x, y: Fraction(0),
    ),
    "root over root": (
        lambda x, y, **how: er.divide(er.sqrt(x), er.sqrt(x), **how),
        lambda x, y: Fraction(1),
    ),
    "dot of roots": (
        lambda x, y, **how: er.sum(er.multiply(roots(x, y), roots(x, y)), axis=0, **how),
        lambda x, y: x + y,
    ),
    "sum times difference": (
        lambda x, y, **how: er.multiply(
            er.add(er.sqrt(x), er.sqrt(y)), er.subtract(er.sqrt(x), er.sqrt(y)), **how
        ),
        lambda x, y: x - y,
    ),
}


def roots(x: Any, y: Any) -> Result:
    """Both arrays' roots, as rows."""
    return er.sqrt(np.stack([np.asarray(x.data), np.asarray(y.data)]))


@pytest.mark.parametrize("form", ["float64", "float32"])
@pytest.mark.parametrize("name", sorted(CHAINS))
def test_rational_values_of_roots(name: str, form: str) -> None:
    chain, formula = CHAINS[name]
    rng = np.random.default_rng(80)
    fmt = get_format(form)
    # Midpoints of narrower formats among them, and numbers over all exponents.
    x, y = (np.abs(elements(rng, fmt, COUNT, 0.0)) for _ in range(2))
    x[::3] = 1 + 2.0**-8 + 2.0 ** -np.arange(COUNT)[::3]
    a, b = (er.Array.from_values(v, fmt) for v in (x, y))
    wanted = Numbers.of(
        [of_fraction(formula(Fraction(v), Fraction(w))) for v, w in zip(x, y, strict=True)]
    )
    for mode in MODES:
        for dtype in (form, "bfloat16", "float8_e5m2"):
            got = chain(a, b, dtype=dtype, rounding=mode).rounded.values()
            theirs = wanted.round(get_format(dtype), mode, "ieee")
            assert np.array_equal(got, theirs), (mode, dtype)


def test_complex_roots_and_moduli() -> None:
    z = np.array([3 + 1j, -3 + 1j, 1 - 2j, 1 + 2.0**-60 * 1j])
    for mode in MODES:
        w = er.sqrt(z)
        assert er.multiply(w, w, rounding=mode).rounded.tolist() == z.tolist()
        h = er.abs(z[:3])
        assert er.multiply(h, h, rounding=mode).rounded.tolist() == [10.0, 10.0, 5.0]
        gap = er.subtract(er.abs(z), er.abs(np.conj(z)), rounding=mode)
        assert gap.rounded.tolist() == [0.0] * 4


def test_a_root_of_zero_divides_as_zero() -> None:
    zero = er.subtract(er.sqrt([2.0, 3.0]), er.sqrt([2.0, 3.0]))
    assert er.sqrt(zero).rounded.tolist() == [0.0, 0.0]
    assert er.divide([1.0, 0.0], zero).rounded.tolist()[0] == np.inf
