"""Complex functions: `rounded` against flint's balls, cuts and signed zeros, libraries, faults."""

from __future__ import annotations

import cmath
import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.arithmetic.complex_functions import UNITS
from exactref_core.formats.catalogue import get_format
from tests.every_op import hostile

pytest.importorskip("flint")
from tests.core import complex_oracle as oracle  # needs flint
from tests.core.test_pow import same  # needs flint

UNIT = 2.0**-24
THOROUGH = os.environ.get("EXACTREF_THOROUGH") == "1"
COUNT = 5000 if THOROUGH else 240
NAMES = oracle.NAMES
PARTS = {"complex64": "float32", "complex128": "float64"}
ENTIRE = oracle.ENTIRE
# Those that no standard library has; C99 does not name their values at infinities and NaN.
DERIVED: dict[str, Callable[[complex], complex]] = {
    "exp2": lambda z: cmath.exp(complex(z.real * math.log(2), z.imag * math.log(2))),
    "expm1": lambda z: cmath.exp(z) - 1,
    "log1p": lambda z: cmath.log(complex(z.real + 1, z.imag)),
}
POINTS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.0, 1 + 2.0**-20, 1 - 2.0**-20, 1e-3, -3.0)


def arguments(name: str, form: str, count: int, seed: int = 0) -> np.ndarray:
    """Numbers of every size, on the axes and the cuts, near branch points and the unit circle."""
    rng = np.random.default_rng([95, seed, *map(ord, name + form)])
    fmt = get_format(PARTS[form])
    x, y = (hostile.elements(rng, fmt, count) for _ in range(2))
    x, y = (np.where(np.isfinite(z), z, 1.0) for z in (x, y))
    if name in ENTIRE:
        x, y = (np.where(np.abs(z) < 300, z, rng.standard_normal(count) * 30) for z in (x, y))
    kind = rng.integers(0, 4, count)
    angle = rng.uniform(-4, 4, count)
    some = rng.standard_normal((2, count)) * 10.0 ** rng.integers(-4, 3, (2, count))
    x = np.choose(kind, [x, rng.choice(POINTS, count), np.cos(angle), some[0]])
    y = np.choose(kind, [y, rng.choice(POINTS, count), np.sin(angle), some[1]])
    z = np.empty(count, np.complex128)
    z.real, z.imag = x, y
    return z.astype(form).astype(np.complex128)


def wrong(result: Any, parts: Any, form: str, mode: str = "nearest_even") -> np.ndarray:
    rounded = np.asarray(result.rounded.values(), np.complex128)
    bad = np.zeros(rounded.shape, bool)
    for got, exact in zip((rounded.real, rounded.imag), parts, strict=True):
        bad |= ~same(got, exact.round(get_format(PARTS[form]), mode, "ieee"))
    return np.flatnonzero(bad)


@pytest.mark.parametrize("form", PARTS)
@pytest.mark.parametrize("name", NAMES)
def test_rounded_is_exact(name: str, form: str) -> None:
    z = arguments(name, form, COUNT)
    result = getattr(er, name)(z.astype(form))
    bad = wrong(result, oracle.values(name, z), form)
    assert bad.size == 0, [(z[i], result.rounded.values()[i]) for i in bad[:5]]


@pytest.mark.parametrize("name", NAMES)
def test_rounded_in_other_modes(name: str) -> None:
    z = arguments(name, "complex64", 60, 1)
    exact = oracle.values(name, z)
    for mode in ("up", "down", "toward_zero"):
        result = getattr(er, name)(z.astype("complex64"), rounding=mode)
        bad = wrong(result, exact, "complex64", mode)
        assert bad.size == 0, [(z[i], mode, result.rounded.values()[i]) for i in bad[:5]]


GRID = (0.0, -0.0, 1.5, -1.5, np.inf, -np.inf, np.nan)


@pytest.mark.parametrize("name", NAMES)
def test_special_values_are_annex_gs(name: str) -> None:
    """Against Python's cmath, whose tables are C99's own, and against numpy's library.

    exp2, expm1 and log1p have the tables of exp and log (array API standard).
    """
    x, y = (v.ravel() for v in np.meshgrid(GRID, GRID))
    z = np.empty(x.shape, np.complex128)
    z.real, z.imag = x, y
    result = getattr(er, name)(z)
    rounded = np.asarray(result.rounded.values(), np.complex128)
    with np.errstate(all="ignore"):
        library = oracle.numpy_function(name)(z)
    inside = np.asarray(result.covers(library)).reshape(z.size, -1).all(axis=-1)
    if name == "expm1":  # numpy multiplies an infinity by 0, and takes the cosine of one
        inside |= ~np.isfinite(z) & np.isnan(library)
    assert inside.all(), list(zip(z[~inside], library[~inside], rounded[~inside], strict=True))
    compared = 0
    for one, got in zip(z.tolist(), rounded.tolist(), strict=True):
        try:
            function = DERIVED.get(name) or getattr(cmath, name, None)
            wanted = function(one) if function is not None else cmath.log(one, 2)
        except (ValueError, OverflowError):
            continue
        if name == "log2":
            continue
        compared += 1
        for mine, theirs in ((got.real, wanted.real), (got.imag, wanted.imag)):
            if np.isfinite(theirs):
                assert abs(mine - theirs) <= 1e-14 * abs(theirs), (one, got, wanted)
                # The sign of a zero beside NaN, or of e^-inf cis(inf), is nobody's promise.
                promised = theirs != 0 or np.isfinite(complex(one.real, one.imag))
                promised = promised and (name, one) != ("expm1", 0)
                assert not promised or np.signbit(mine) == np.signbit(theirs), (one, got, wanted)
            else:
                # C17 has pi/2, or 0, where C99 has NaN.
                axis = {"acosh": one.real, "tanh": one.real, "tan": one.imag}.get(name, 1)
                later = axis == 0 and np.isnan(theirs)
                assert np.isnan(mine) == np.isnan(theirs) or later, (one, got, wanted)
                # Beside NaN an infinity may have either sign, where it stands alone in the table.
                loose = np.isnan(got.real) or np.isnan(got.imag)
                assert np.isnan(mine) or later or mine == theirs or (loose and mine == -theirs)
    assert name == "log2" or compared > 15


def test_cuts_by_signs_of_zeros() -> None:
    above, below = complex(-2.0, 0.0), complex(-2.0, -0.0)
    for name, part in (("log", 1), ("acosh", 1), ("asin", 1), ("acos", 1), ("atanh", 1)):
        values = [
            np.asarray(getattr(er, name)(np.asarray([z])).rounded.values())[0]
            for z in (above, below)
        ]
        parts = [(z.real, z.imag)[part] for z in values]
        assert parts[0] == -parts[1] != 0, name
    for name in ("asinh", "atan"):
        values = [
            np.asarray(getattr(er, name)(np.asarray([complex(x, 2.0)])).rounded.values())[0]
            for x in (0.0, -0.0)
        ]
        assert values[0].real == -values[1].real != 0, name


# Of torch 2.13 on CPUs and of numpy 2.4; docs/findings.md has the smallest inputs.
FINDINGS = {
    ("acos", "complex128"): "the real part is a difference from pi/2",
    **dict.fromkeys(
        (("log1p", "complex64"), ("log1p", "complex128")), "log(1 + z) is corrected by a quotient"
    ),
}
NUMPY_FINDINGS = {"log1p": "the modulus of 1 + z is rounded before its logarithm is taken"}


@pytest.mark.parametrize("form", PARTS)
@pytest.mark.parametrize("name", NAMES)
def test_numpy_is_inside(name: str, form: str) -> None:
    z = arguments(name, form, 5 * COUNT, 2).astype(form)
    with np.errstate(all="ignore"):
        output = oracle.numpy_function(name)(z)
    result = getattr(er, name)(z)
    inside = np.asarray(result.covers(output)).reshape(z.size, -1).all(axis=-1)
    if name not in NUMPY_FINDINGS:
        assert inside.all(), [(z[i], output[i]) for i in np.flatnonzero(~inside)[:3]]
    normal = np.asarray(result.covers(result.normal())).reshape(z.size, -1).all(axis=-1)
    assert normal.all()


@pytest.mark.parametrize("form", PARTS)
@pytest.mark.parametrize("name", NAMES)
def test_torch_is_inside(name: str, form: str) -> None:
    torch = pytest.importorskip("torch")
    z = torch.tensor(arguments(name, form, 5 * COUNT, 3)).to(getattr(torch, form))
    output = getattr(torch, name)(z)
    inside = np.asarray(getattr(er, name)(z).covers(output)).reshape(z.numel(), -1).all(axis=-1)
    if (name, form) in FINDINGS and not inside.all():
        pytest.xfail(FINDINGS[name, form])
    assert inside.all(), [(z[i], output[i]) for i in np.flatnonzero(~inside)[:3]]


@pytest.mark.parametrize("name", NAMES)
def test_the_bound_is_what_it_says(name: str) -> None:
    """Parts ``units`` * u off are inside; those 5u further are not, but where formulas err more."""
    z = arguments(name, "complex64", 300, 4).astype("complex64")
    result = getattr(er, name)(z)
    parts = oracle.values(name, z.astype("complex128"))
    real, imag = (p.round(get_format("float64"), "nearest_even", "ieee") for p in parts)
    for index, (part, other) in enumerate(((real, imag), (imag, real))):
        some = np.isfinite(real) & np.isfinite(imag) & (abs(part) > 1e-35) & (abs(part) < 1e37)
        some &= abs(other) < 1e37
        assert some.sum() > 20
        for sign in (1, -1):
            for far in (False, True):
                units = UNITS[name][index]
                moved = part * (1 + sign * (units + 5 if far else units * (1 - 2.0**-20)) * UNIT)
                output = np.empty(z.shape, "complex64")
                moved, other = (np.where(some, v, 1.0) for v in (moved, other))
                output.real, output.imag = (moved, other) if index == 0 else (other, moved)
                inside = np.asarray(result.covers(output)).reshape(z.size, -1).all(axis=-1)
                if not (far and name in DERIVED):
                    assert (~inside if far else inside)[some].all(), (name, index, far)


FAULTS: dict[str, tuple[str, Callable[[np.ndarray], np.ndarray]]] = {
    "the conjugate": ("exp", lambda z: np.conj(np.exp(z))),
    "the modulus alone": ("exp", lambda z: np.exp(z.real) + 0j),
    "log of the square": ("log", lambda z: 2 * np.log(np.abs(z)) + 1j * np.angle(z)),
    "the angle by a quotient": (
        "log",
        lambda z: np.log(np.abs(z)) + 1j * np.arctan(z.imag / z.real),
    ),
    "no hyperbolic part": ("sin", lambda z: np.sin(z.real) + 1j * np.cos(z.real) * z.imag),
    "cos by sin's sign": ("cos", lambda z: np.conj(np.cos(z))),
    "twice the argument missing": ("tan", lambda z: np.tan(z / 2)),
    "the other branch of the root": (
        "acosh",
        lambda z: np.log(z - np.sqrt(z - 1) * np.sqrt(z + 1)),
    ),
    "one root of a product": ("asin", lambda z: -1j * np.log(1j * z + 1j * np.sqrt(z * z - 1))),
    "no half": ("atanh", lambda z: np.log((1 + z) / (1 - z))),
    "the sign of acos": ("acos", lambda z: np.pi / 2 + np.arcsin(z)),
    "log2 by log": ("log2", np.log),
    "exp2 by exp": ("exp2", np.exp),
    "the angle not halved": (
        "expm1",
        lambda z: np.exp(z) - 1 + 2 * np.sin(z.imag / 2) ** 2 - 2 * np.sin(z.imag) ** 2,
    ),
    "the angle of z": ("log1p", lambda z: np.log(np.abs(1 + z)) + 1j * np.angle(z)),
    "an angle in the wrong units": ("log10", lambda z: np.log10(np.abs(z)) + 1j * np.angle(z)),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_outside(fault: str) -> None:
    name, kernel = FAULTS[fault]
    rng = np.random.default_rng(11)
    z = (rng.uniform(-3, 3, 300) + 1j * rng.uniform(-3, 3, 300)).astype("complex64")
    output = kernel(z.astype("complex128")).astype("complex64")
    inside = np.asarray(getattr(er, name)(z).covers(output, "any_order")).reshape(300, -1)
    assert inside.all(axis=-1).mean() < 0.6


@pytest.mark.parametrize("name", NAMES)
def test_functions_of_stored_sums(name: str) -> None:
    """Whatever order the argument is added in, near cuts and branch points: inside."""
    rng = np.random.default_rng([12, *map(ord, name)])
    a = (rng.standard_normal((120, 6)) + 1j * rng.standard_normal((120, 6))).astype("complex64")
    a[:40, 1] = -a[:40, 0] * np.float32(1 + 2.0**-20) + rng.choice([0, 1, -1], 40)
    a[:40, 2:] *= np.float32(1e-7)
    a[40:60].imag = 0
    result = getattr(er, name)(er.sum(a, axis=1))
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(6)
        total = np.add.accumulate(a[:, order], axis=1)[:, -1].astype("complex128")
        with np.errstate(all="ignore"):
            output = oracle.numpy_function(name)(total).astype("complex64")
        inside = np.asarray(result.covers(output, "any_order")).reshape(120, -1).all(axis=-1)
        bad = np.flatnonzero(~inside)
        assert bad.size == 0, (a[bad[0]], total[bad[0]], output[bad[0]])


@pytest.mark.parametrize("form", PARTS)
@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_torchs(name: str, form: str) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng([13, *map(ord, name)])
    z, g = (
        torch.tensor(2 * rng.standard_normal(200) + 2j * rng.standard_normal(200)).to(
            getattr(torch, form)
        )
        for _ in range(2)
    )
    z.requires_grad_()
    getattr(torch, name)(z).backward(g)
    result = getattr(er.backward, name)(g, z.detach())
    assert np.asarray(result.covers(z.grad, "any_order")).all()
    right = torch.tensor(np.asarray(result.rounded.values())).to(z.dtype)
    assert np.asarray(result.covers(right)).all()
    for fault in (right.conj(), right * 1.0001, -right):
        inside = np.asarray(result.covers(fault, "any_order")).reshape(200, -1).all(axis=-1)
        assert inside.mean() < 0.2


def test_quotients_and_roots_of_stored_values_have_bounds() -> None:
    """Where parts are equal, or one is 0, choices by size or sign may flip: the values do not."""
    z = np.asarray([1 + 1j, 1 - 1j, 2.0, 2j, -3 + 1e-3j, 0.5 + 0.5j])
    for name in ("sqrt", "log2", "asin", "atan", "acosh"):
        result = getattr(er.backward, name)(np.ones_like(z), z)
        sizes = np.abs(np.asarray(result.rounded.values()))
        tolerance = np.abs(np.asarray(result.tolerance("any_order").values()))
        assert (tolerance <= 1e-13 * sizes).all(), (name, tolerance / sizes)
    halves = er.divide(z, er.sum(np.stack([z, z], axis=1), axis=1))
    assert np.asarray(halves.covers(np.full_like(z, 0.5))).all()
    assert not np.asarray(halves.covers(np.full_like(z, 0.5 + 1e-12))).reshape(6, 2)[:, 0].any()
