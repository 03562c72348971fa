"""exp2, expm1 and log1p of complex numbers by real formulas: inside, unless they cancel."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import exactref as er

pytest.importorskip("flint")
from tests.core.test_complex_functions import COUNT, DERIVED, arguments  # needs flint


def small_steps(name: str, z: np.ndarray) -> list[np.ndarray]:
    """Parts by real formulas in float32, one rounding a step."""
    x, y = z.real, z.imag
    one, two, half = (np.float32(v) for v in (1, 2, 0.5))
    if name == "exp2":
        ln = np.float32(math.log(2))
        return [np.exp((x * ln) + (y * ln) * np.complex64(1j))]
    if name == "expm1":
        sine = np.sin(y / two)
        squares = (two * sine * sine, two * (sine * sine))
        return [
            parts(np.expm1(x) * np.cos(y) - square, np.exp(x) * np.sin(y)) for square in squares
        ]
    angle, modulus = np.arctan2(y, x + one), np.log(np.hypot(x + one, y))
    ratios = (x * (two + x) + y * y, two * x + (x * x + y * y), (x * x + two * x) + y * y)
    near = np.hypot(x, y) < half
    return [parts(np.where(near, half * np.log1p(r), modulus), angle) for r in ratios]


def parts(real: np.ndarray, imag: np.ndarray) -> np.ndarray:
    z = np.empty(real.shape, np.complex64)
    z.real, z.imag = real, imag
    return z


@pytest.mark.parametrize("name", DERIVED)
def test_formulas_are_inside(name: str) -> None:
    z = arguments(name, "complex64", 8 * COUNT, 5).astype("complex64")
    circle = np.exp(1j * np.linspace(-3, 3, COUNT)).astype("complex64")
    near = circle[circle.real > 0.1]
    zeros = {"log1p": circle - 1, "expm1": 1j * np.angle(near) - np.log(near.real)}
    z = np.concatenate([z, zeros.get(name, circle).astype("complex64")])
    result = getattr(er, name)(z)
    with np.errstate(all="ignore"):
        outputs = small_steps(name, z)
    for output in outputs:
        inside = np.asarray(result.covers(output)).reshape(z.size, -1).all(axis=-1)
        assert inside.all(), [(z[i], output[i]) for i in np.flatnonzero(~inside)[:3]]


CANCELLING: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "exp2": lambda z: np.exp(z * np.float32(0.6931469)),  # a few ulp off
    "expm1": lambda z: np.exp(z) - 1,
    "log1p": lambda z: np.log(z + 1),
}


@pytest.mark.parametrize("name", CANCELLING)
def test_what_cancels_is_outside(name: str) -> None:
    rng = np.random.default_rng(14)
    z = (rng.standard_normal(400) + 1j * rng.standard_normal(400)).astype("complex64")
    z = z * (np.float32(2.0**-12) if name != "exp2" else np.float32(20))
    output = CANCELLING[name](z)
    inside = np.asarray(getattr(er, name)(z).covers(output)).reshape(400, -1).all(axis=-1)
    assert inside.mean() < 0.1
