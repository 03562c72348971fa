"""Complex pow: `rounded` against flint's balls and rationals, libraries, products, faults."""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

import exactref as er
from exactref_core.formats.catalogue import get_format

pytest.importorskip("flint")
import flint

from tests.core.function_oracle import leading, near  # needs flint
from tests.core.test_complex_functions import PARTS  # needs flint
from tests.every_op import kernels_complex as kc
from tests.every_op.kernels import Machine
from tests.every_op.kernels_orders import any_orders, evaluate, normal_orders
from tests.every_op.numbers import Number, Numbers, of_fraction
from tests.every_op.test_sound_complex_prod import Multiplying

COUNT = 1500 if os.environ.get("EXACTREF_THOROUGH") == "1" else 60
ROWS = 60 if COUNT > 60 else 10
KINDS = ("any", "integers", "near one", "small", "real")


def operands(kind: str, form: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Bases and exponents: of any kind, integers, near the unit circle, of few bits."""
    rng = np.random.default_rng([106, seed, *map(ord, kind + form)])
    z = rng.standard_normal(COUNT) + 1j * rng.standard_normal(COUNT)
    w = 3 * rng.standard_normal(COUNT) + 1j * rng.standard_normal(COUNT)
    if kind == "integers":
        z, w = z * 2.0 ** rng.integers(-9, 10, COUNT), rng.integers(-12, 13, COUNT)
    elif kind == "near one":
        z = np.exp(1j * rng.uniform(-3, 3, COUNT)) * (1 + 1e-4 * rng.standard_normal(COUNT))
        w = rng.integers(-100, 101, COUNT)
    elif kind == "small":
        z = rng.integers(-4, 5, COUNT) + 1j * rng.integers(-4, 5, COUNT)
        z = np.where(z == 0, 1, z)
        w = rng.integers(-6, 7, COUNT) / 4 + 1j * (rng.random(COUNT) < 0.2)
    elif kind == "real":
        w = w.real
    return z.astype(form), w.astype(form)


def power(z: complex, w: complex) -> list[Number]:
    """Both parts: by rationals for integer exponents, else by balls."""
    if w.imag == 0 and w.real == int(w.real):
        return [of_fraction(part) if part else 0.0 for part in integer_power(z, int(w.real))]
    found: list[Number] = []
    for index in range(2):
        for precision in (300, 1200, 4800):
            flint.ctx.prec = precision
            value = (flint.acb(z.real, z.imag).log() * flint.acb(w.real, w.imag)).exp()
            part = value.imag if index else value.real
            ends = [leading(end) for end in (part.lower(), part.upper())]
            if ends[0] == ends[1]:
                break
        if ends[0] != ends[1]:  # it closes in on a number of few bits
            ends[0] = leading(near(part)) if abs(part.mid()) > flint.arb(2) ** -2000 else 0.0
        found.append(ends[0])
    return found


def integer_power(z: complex, n: int) -> tuple[Fraction, Fraction]:
    a, b = Fraction(z.real), Fraction(z.imag)
    real, imag = Fraction(1), Fraction(0)
    for _ in range(abs(n)):
        real, imag = real * a - imag * b, real * b + imag * a
    if n >= 0:
        return real, imag
    square = real * real + imag * imag
    return real / square, -imag / square


@pytest.mark.parametrize("form", PARTS)
@pytest.mark.parametrize("kind", KINDS)
def test_rounded_is_exact(kind: str, form: str) -> None:
    z, w = operands(kind, form)
    pairs = zip(z.astype(complex).tolist(), w.astype(complex).tolist(), strict=True)
    exact = [Numbers.of(part) for part in zip(*(power(*pair) for pair in pairs), strict=True)]
    for mode in ("nearest_even", "up", "toward_zero"):
        # Signs of zeros are not compared.
        values = np.asarray(er.pow(z, w, rounding=mode).rounded.values()) + 0.0
        for index, part in enumerate((values.real, values.imag)):
            wanted = exact[index].round(get_format(PARTS[form]), mode, "ieee") + 0.0
            bad = np.flatnonzero(~((part == wanted) | (np.isnan(part) & np.isnan(wanted))))
            assert bad.size == 0, (mode, z[bad[0]], w[bad[0]], values[bad[0]], wanted[bad[0]])


EXACT = [
    (3 + 4j, 0.5, 2 + 1j),
    (-4, 0.25, 1 + 1j),
    (2j, 0.5, 1 + 1j),
    (-7 - 24j, 0.5, 3 - 4j),
    (1j, 1e6 + 1, 1j),
    (-1, 0.5, 1j),
    (complex(-1, -0.0), 0.5, -1j),
    (2, -3, 0.125),
    (16, 0.75, 8),
    (1 + 1j, 40, 2.0**20),
    (5 - 2j, 0, 1),
]


@pytest.mark.parametrize(("z", "w", "value"), EXACT)
def test_what_algebra_decides(z: complex, w: complex, value: complex) -> None:
    for mode in ("nearest_even", "up", "down", "toward_zero"):
        found = er.pow(np.array([z], complex), np.array([w], complex), rounding=mode)
        assert np.asarray(found.rounded.values())[0] == value, mode
    for half in (er.pow(np.array([-2 + 0j]), np.array([0.5 + 0j])),):
        assert np.asarray(half.rounded.values())[0] == 1j * np.sqrt(2)
    real = er.pow(np.array([1j]), np.array([1j]), rounding="up")
    assert np.asarray(real.rounded.values())[0].imag == 0


def test_zero_infinities_and_nan() -> None:
    grid = (0.0, 1.5, -np.inf, np.nan)
    a, b, c, d = (v.ravel() for v in np.meshgrid(*[grid] * 4))
    z, w = np.empty(a.shape, complex), np.empty(a.shape, complex)
    z.real, z.imag, w.real, w.imag = a, b, c, d
    result = er.pow(z, w)
    rounded = np.asarray(result.rounded.values())
    finite, zero = np.isfinite(z) & np.isfinite(w), z == 0
    assert np.isnan(rounded[~finite]).all()
    assert (rounded[finite & (w == 0)] == 1).all()
    assert (rounded[finite & zero & (c > 0)] == 0).all()
    assert np.isnan(rounded[finite & zero & (c <= 0) & (w != 0)]).all()
    with np.errstate(all="ignore"):
        outputs = [np.power(z, w), np.exp(w * np.log(z))]
    for output in outputs:
        inside = np.asarray(result.covers(output)).reshape(-1, 2).all(axis=-1)
        assert inside.all(), [(z[i], w[i], output[i]) for i in np.flatnonzero(~inside)[:4]]
    origin = er.pow(np.array([0j]), np.array([2 + 0j]))
    assert not np.asarray(origin.covers(np.array([1e-300 + 0j]))).reshape(2)[0]


@pytest.mark.parametrize("form", PARTS)
@pytest.mark.parametrize("kind", KINDS)
def test_libraries_are_inside(kind: str, form: str) -> None:
    torch = pytest.importorskip("torch")
    z, w = operands(kind, form, 1)
    result = er.pow(z, w)
    outputs = [np.power(z, w), torch.pow(torch.tensor(z), torch.tensor(w)).numpy()]
    for output in (*outputs, result.normal()):
        inside = np.asarray(result.covers(output)).reshape(COUNT, 2).all(axis=-1)
        bad = np.flatnonzero(~inside)
        assert bad.size == 0, (z[bad[0]], w[bad[0]], np.asarray(output)[bad[0]])


def multiplied(z: np.complex64, n: int, order: str) -> np.complex64:
    """Products of n factors in complex64, one after the other, by squares, or from halves."""
    if n == 1:
        return z
    if order == "loop":
        return multiplied(z, n - 1, order) * z
    half = multiplied(z, n // 2, order)
    if order == "squares":
        return half * half * z if n % 2 else half * half
    return half * multiplied(z, n - n // 2, order)


@pytest.mark.parametrize("size", [0.0, 1.0, 9.0, -9.0])
def test_products_are_inside(size: float) -> None:
    """Also where they overflow or underflow."""
    rng = np.random.default_rng(107)
    z = rng.standard_normal(40) + 1j * rng.standard_normal(40)
    z = (z / abs(z) if size == 0 else z * 2.0**size).astype(np.complex64)
    n = rng.integers(1, 30, 40)
    result = er.pow(z, n.astype(np.complex64))
    with np.errstate(all="ignore"):
        for order in ("loop", "squares", "halves"):
            rows = [multiplied(x, int(k), order) for x, k in zip(z, n, strict=True)]
            inside = np.asarray(result.covers(np.array(rows, np.complex64))).reshape(-1, 2)
            assert inside.all(), (order, z[~inside.all(axis=1)][:2], n[~inside.all(axis=1)][:2])


@pytest.mark.parametrize("flush", [None, "always"])
@pytest.mark.parametrize("inverse", [False, True])
def test_products_and_reciprocals_by_steps(flush: str | None, inverse: bool) -> None:
    """Any tree of fused steps or not, near the smallest numbers, flushed or not."""
    rng = np.random.default_rng([109, inverse])
    machine, steps = Multiplying("float32", flush), Machine("float32", flush)
    z = (rng.standard_normal(ROWS) + 1j * rng.standard_normal(ROWS)).astype(np.complex64)
    z[ROWS // 2 :].imag *= np.float32(2.0**-20)
    for n in (2, 5):
        top = -126 + (26 if inverse else 0)
        base = z * np.float32(2.0) ** np.round(rng.uniform(top, 20, ROWS) / n).astype(np.float32)
        base = np.where(np.abs(base) ** n < 2.0 ** (top + 2) * inverse, z, base)
        result = er.pow(base, np.full(ROWS, -n if inverse else n, np.complex64))
        rule = {"flush_to_zero": True} if flush else {}
        for _, tree in (*normal_orders(n), *any_orders(rng, n, 2)):
            column = machine.load(np.stack([base.real, base.imag]))
            found = evaluate(tree, [column] * n, machine)
            ways = [("", tuple(found))]
            if inverse:
                one = np.ones(ROWS, np.float32), np.zeros(ROWS, np.float32)
                with np.errstate(all="ignore"):
                    ways = list(kc.quotients(steps, one, (found[0], found[1])))[::2]
            for label, (real, imag) in ways:
                output = np.empty(ROWS, np.complex64)
                output.real, output.imag = real, imag
                inside = np.asarray(result.covers(output, **rule)).reshape(ROWS, 2).all(axis=1)
                bad = np.flatnonzero(~inside)
                assert bad.size == 0, (label, n, base[bad[0]], output[bad[0]])


FAULTS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "the conjugate": lambda z, w: np.conj(z**w),
    "the exponent's conjugate": lambda z, w: z ** np.conj(w),
    "another branch": lambda z, w: np.exp(w * (np.log(z) + 2j * np.pi)),
    "the modulus alone": lambda z, w: np.abs(z) ** w,
    "one factor more": lambda z, w: z ** (w + 1),
    "log2 for log": lambda z, w: np.exp(w * np.log2(z)),
    "a narrow logarithm": lambda z, w: np.exp(
        w * (np.log(z).real.astype(np.float16) + 1j * np.log(z).imag.astype(np.float16))
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_outside(fault: str) -> None:
    z, w = operands("any", "complex64", 2)
    output = FAULTS[fault](z.astype(complex), w.astype(complex)).astype(np.complex64)
    inside = np.asarray(er.pow(z, w).covers(output, "any_order")).reshape(COUNT, 2).all(axis=-1)
    assert inside.mean() < 0.05


@pytest.mark.parametrize("form", PARTS)
def test_gradients_are_torchs(form: str) -> None:
    torch = pytest.importorskip("torch")
    z, w = operands("any", form, 3)
    w[:5], z[5:8] = 2, 0
    w[5:8] = 2.5
    g = np.conj(z) + 1
    leaves = [torch.tensor(x).requires_grad_() for x in (z, w)]
    torch.pow(*leaves).backward(torch.tensor(g))
    result = er.backward.pow(g, z, w)
    for name, leaf in zip(("grad_x1", "grad_x2"), leaves, strict=True):
        found, one = leaf.grad.numpy(), result[name]
        assert np.asarray(one.covers(found, "any_order")).all(), name
        inside = np.asarray(one.covers(np.conj(found), "any_order")).reshape(COUNT, 2)
        assert inside.all(axis=-1).mean() < 0.15


def test_powers_of_stored_sums() -> None:
    rng = np.random.default_rng(108)
    a, w = (rng.standard_normal((30, 5)) + 1j * rng.standard_normal((30, 5)) for _ in range(2))
    a, w = a.astype(np.complex64), w[:, 0].astype(np.complex64)
    result = er.pow(er.sum(a, axis=1), w)
    total = np.add.accumulate(a[:, ::-1], axis=1)[:, -1]
    assert np.asarray(result.covers(np.power(total, w), "any_order")).all()
    off = np.asarray(result.covers(np.power(total * np.float32(1.001), w), "any_order"))
    assert off.reshape(30, 2).all(axis=-1).mean() < 0.1


def test_the_polar_form_is_inside_away_from_the_unit_circle_alone() -> None:
    """|z|^c e^(-d angle), with |z|^2 squared and added up: near 1 its logarithm loses digits."""
    rng = np.random.default_rng(12)
    inside = {}
    for label, size in (("far", rng.uniform(2, 4, 300)), ("near", 1 + rng.normal(0, 1e-4, 300))):
        z = (size * np.exp(1j * rng.uniform(-3, 3, 300))).astype(np.complex64)
        c, d = rng.standard_normal((2, 300)).astype(np.float32) * np.float32(4)
        c[150:] *= np.float32(5)
        square, angle = z.real * z.real + z.imag * z.imag, np.arctan2(z.imag, z.real)
        grown = np.power(square, c * np.float32(0.5)) * np.exp(-d * angle)
        turn = c * angle + np.float32(0.5) * d * np.log(square)
        found = np.empty_like(z)
        found.real, found.imag = grown * np.cos(turn), grown * np.sin(turn)
        inside[label] = np.asarray(
            er.pow(z, (c + 1j * d).astype(np.complex64)).covers(found)
        ).mean()
    assert inside["far"] == 1
    assert inside["near"] < 1
