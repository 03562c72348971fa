"""Exponentials of matrices and the formula of their error bounds, by another library's balls."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import flint
import numpy as np

# Significand bits and exponent of the least positive number; float32's range is bfloat16's too.
GRIDS = {"float64": (53, -1074), "float32": (24, -149), "bfloat16": (8, -133), "float16": (11, -24)}
TOPS = {"float64": 1024, "float32": 128, "bfloat16": 128, "float16": 16}


def exponential(matrix: Any, bits: int = 300) -> Any:
    """The exponential of a square matrix of floats or complex numbers, as flint's balls."""
    flint.ctx.prec = bits
    rows = np.asarray(matrix).tolist()
    size = len(rows)
    entries = [flint.acb(complex(x).real, complex(x).imag) for row in rows for x in row]
    return flint.acb_mat(size, size, entries).exp()


def fraction(ball_end: Any) -> Fraction:
    man, exp = ball_end.man_exp()
    return Fraction(int(man)) * Fraction(2) ** int(exp)


def ends(ball: Any) -> tuple[Fraction, Fraction]:
    """Rationals below and above a real ball."""
    middle, radius = fraction(ball.mid()), fraction(ball.rad())
    return middle - radius, middle + radius


def unit_at(x: Fraction, form: str) -> Fraction:
    """The distance of numbers of the format around x, as if its exponents were unbounded above."""
    precision, least = GRIDS[form]
    top = abs(x.numerator).bit_length() - x.denominator.bit_length()
    exponent = top if abs(x) >= Fraction(2) ** top else top - 1
    return Fraction(2) ** max(exponent - precision + 1, least)


def nearest(x: Fraction, form: str) -> float:
    """x rounded to nearest, ties to even."""
    if x == 0:
        return 0.0
    unit = unit_at(x, form)
    rounded = round(x / unit) * unit
    if abs(rounded) >= Fraction(2) ** TOPS[form]:
        return float("inf") if x > 0 else float("-inf")
    return float(rounded)


def outward(x: Fraction, side: int, form: str) -> Fraction:
    """The number of the format's grid at x or next to it on one side (-1 or 1)."""
    if x == 0:
        return x
    quotient = x / unit_at(x, form)
    whole = quotient.numerator // quotient.denominator
    return (whole if side < 0 or quotient.denominator == 1 else whole + 1) * unit_at(x, form)


def parts(matrix: Any, bits: int = 300) -> list[list[tuple[Fraction, Fraction]]]:
    """Ends of all real parts and, for complex matrices, of all imaginary ones, row-major."""
    balls = exponential(matrix, bits).entries()
    found = [[ends(x.real) for x in balls]]
    return [*found, [ends(x.imag) for x in balls]] if np.iscomplexobj(matrix) else found


def gradient_norms(matrix: Any, bits: int = 300) -> list[Fraction]:
    """The norm of every entry's gradient, from exp([[A, E], [0, A]]) for each unit matrix E."""
    matrix = np.asarray(matrix)
    n = len(matrix)
    squares = [Fraction(0)] * (n * n)
    for k in range(n * n):
        wide = np.zeros((2 * n, 2 * n), matrix.dtype)
        wide[:n, :n] = wide[n:, n:] = matrix
        wide[k // n, n + k % n] = 1
        balls = exponential(wide, bits).entries()
        for place in range(n * n):
            ball = balls[place // n * 2 * n + n + place % n]
            squares[place] += fraction(ball.real.mid()) ** 2 + fraction(ball.imag.mid()) ** 2
    return [root(x) for x in squares]


def root(x: Fraction) -> Fraction:
    """The square root of a rational to 300 bits."""
    flint.ctx.prec = 300
    return fraction((flint.arb(x.numerator) / flint.arb(x.denominator)).sqrt().mid())


def power_of_e(x: Fraction) -> Fraction:
    flint.ctx.prec = 300
    return fraction((flint.arb(x.numerator) / flint.arb(x.denominator)).exp().mid())


def deltas(matrix: Any, unit: Fraction) -> list[list[Fraction]]:
    """The bound of every part where e^(mu + r) is the smaller one of its two factors."""
    matrix = np.asarray(matrix)
    n = len(matrix)
    exact = [
        Fraction(v) for x in matrix.reshape(-1).tolist() for v in (complex(x).real, complex(x).imag)
    ]
    r = 14 * n * unit * root(sum(v * v for v in exact))
    mean = (matrix + matrix.conj().T) / 2
    mu = Fraction(float(np.linalg.eigvalsh(mean.astype(np.complex128))[-1]))
    rest = r * r / 2 * power_of_e(mu + r)
    norms = gradient_norms(matrix)
    return [
        [
            max(r * g + rest, 4 * unit * max(abs(low), abs(high)))
            for g, (low, high) in zip(norms, part, strict=True)
        ]
        for part in parts(matrix)
    ]
