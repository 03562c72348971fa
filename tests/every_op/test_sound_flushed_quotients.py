"""Complex quotients by divisors whose parts may be flushed: bounds are finite, sound and sharp."""

from __future__ import annotations

import numpy as np
import pytest

import exactref as er
from exactref_core.evaluate.outputs import PartsOutput
from tests.core.test_ladder_fuzz import check_range
from tests.every_op.kernels_flushing import quotients
from tests.every_op.kernels_judging import Judge, budget
from tests.every_op.test_sound_complex import FORMATS, whole

FLUSH = {"flush_to_zero": True}


def near(rng: np.random.Generator, dtype: str, kind: str, count: int) -> np.ndarray:
    """Numbers of one size relative to the smallest normal number."""
    limits = np.finfo(dtype)
    least, bits = limits.minexp, limits.nmant
    spans = {
        "subnormal": (least - bits, least),
        "threshold": (least - 1, least + 2),
        "small": (least - 3, least + bits),
        "around": (least // 2 - 5, least // 2 + 6),
        "one": (-2, 3),
    }
    if kind == "zero":
        return np.zeros(count, dtype)
    size = np.ldexp(rng.uniform(1, 2, count), rng.integers(*spans[kind], count))
    return (size * rng.choice([-1.0, 1.0], count)).astype(dtype)


def draw(rng: np.random.Generator, dtype: str, count: int) -> np.ndarray:
    """Parts of complex numbers, of a kind each."""
    kinds = ("subnormal", "subnormal", "threshold", "small", "around", "one", "zero")
    drawn = np.stack([near(rng, dtype, kind, count) for kind in kinds])
    return drawn[rng.integers(0, len(kinds), count), np.arange(count)]


def alone(a: complex, b: complex, dtype: str = "complex64") -> er.Result:
    """The quotient of two numbers."""
    return er.divide(er.asarray([a], dtype), er.asarray([b], dtype))


def check_finite(result: er.Result) -> None:
    """Every part has a bound; a distance between two float64 numbers may still leave float64."""
    tolerance = result.tolerance(**FLUSH).values().view(float)
    low, high = (end.values().view(float) for end in result.finite_range(**FLUSH))
    with np.errstate(over="ignore"):
        beyond = np.isinf(high - low)
    assert not (np.isinf(low) | np.isinf(high) | (np.isinf(tolerance) & ~beyond)).any()


def judge_all(
    result: er.Result, dtype: str, parts: tuple[np.ndarray, ...], rng: np.random.Generator
) -> None:
    """Every quotient that an implementation may return is covered, and every bound is finite."""
    check_finite(result)
    judge = Judge()
    inputs = (whole(*parts[:2]), whole(*parts[2:]))
    case = judge.take(result, dtype, "divide", inputs, **FLUSH)
    with np.errstate(all="ignore"):
        for name, found in quotients(parts, rng, budget(12, 40)):
            for real, imag in zip(*found, strict=True):
                case.covers(name, whole(real, imag), "normal")
    judge.verdict()


def check_widened(result: er.Result) -> None:
    """Flushes take nothing away."""
    plain, wide = (
        [end.values().view(float) for end in result.finite_range(flush_to_zero=flush)]
        for flush in (False, True)
    )
    given = ~np.isnan(plain[0])
    assert (wide[0] <= plain[0])[given].all()
    assert (plain[1] <= wide[1])[given].all()
    for flag in ("+inf", "-inf", "nan"):
        assert (result.may_be(flag, **FLUSH).values() >= result.may_be(flag).values()).all()


@pytest.mark.parametrize("dtype", FORMATS)
def test_every_quotient_is_covered(dtype: str) -> None:
    rng = np.random.default_rng([21, list(FORMATS).index(dtype)])
    count = budget(60, 300)
    for _ in range(2):
        a, b, c, d = (draw(rng, FORMATS[dtype], count) for _ in range(4))
        d = np.where((c == 0) & (d == 0), np.finfo(a.dtype).tiny / 2, d).astype(a.dtype)
        mirrored = rng.random(count) < 0.2  # cancelling tops, divisors of equal parts
        b, d = np.where(mirrored, a, b), np.where(mirrored, -c, d)
        result = er.divide(er.asarray(whole(a, b), dtype), er.asarray(whole(c, d), dtype))
        judge_all(result, dtype, (a, b, c, d), rng)


def test_the_tolerance_is_what_the_flush_of_a_part_can_do() -> None:
    # Without 1e-39i the quotient moves by 1e-2 of its size.
    tolerance = alone(1 + 1j, 1e-37 + 1e-39j).tolerance(**FLUSH).values()[0]
    assert 0.9e-2 < tolerance.real / 1e37 < 2e-2
    assert 0.9e-2 < tolerance.imag / 1e37 < 2e-2
    # Nor does a tiny part beside 1 matter at all.
    one = alone(1 + 1j, 1 + 1e-39j)
    assert one.tolerance(**FLUSH).values()[0] == one.tolerance().values()[0]


def test_numbers_stay_finite_where_the_divisor_may_vanish() -> None:
    result = alone(1e-39 + 2e-39j, 1e-39 + 3e-39j)
    low, high = (end.values()[0] for end in result.finite_range(**FLUSH))
    # Two flushes of a top, by up to 2^-126 each, over 1e-39; what divisors 0 apart do is less.
    most = 4 * 2.0**-126 / 1e-39
    assert -most < low.real < high.real < most
    assert -most < low.imag < high.imag < most
    assert all(result.may_be(flag, **FLUSH).values().all() for flag in ("+inf", "-inf", "nan"))


def test_normal_divisors_are_never_zero() -> None:
    result = alone(1 + 1j, 1.2e-38 + 1.2e-38j)
    assert not result.may_be("nan", **FLUSH).values().any()
    tolerance = result.tolerance(**FLUSH).values()[0]
    assert tolerance.real / 8.3e37 < 1.1  # the product of Smith's divisor may be flushed


@pytest.mark.parametrize("dtype", FORMATS)
def test_normal_divisors_do_not_depend_on_their_neighbours(dtype: str) -> None:
    rng = np.random.default_rng(22)
    a, b, c, d = (rng.standard_normal(40).astype(FORMATS[dtype]) for _ in range(4))
    bounds = []
    for last in (1.0, np.finfo(FORMATS[dtype]).tiny / 8):
        d[-1] = last
        result = er.divide(er.asarray(whole(a, b), dtype), er.asarray(whole(c, d), dtype))
        bounds.append(result.tolerance(**FLUSH).values()[:-1])
    assert np.array_equal(*bounds)


def test_signs_keep_a_flushed_divisor_zero_or_whole() -> None:
    x = er.asarray([1e-39, 2e-39, 1e-37, 3.0], "float32")
    top = er.asarray([1e-39, 1.0, 1.0, 1.0], "float32")
    plain = er.divide(top, x)
    turned = er.divide(top, er.negative(er.negative(x)))
    for result in (turned, er.divide(top, er.abs(x))):
        for mine, theirs in zip(
            result.finite_range(**FLUSH), plain.finite_range(**FLUSH), strict=True
        ):
            assert np.array_equal(mine.values(), theirs.values(), equal_nan=True)
        for flag in ("+inf", "-inf", "nan"):
            assert np.array_equal(
                result.may_be(flag, **FLUSH).values(), plain.may_be(flag, **FLUSH).values()
            )
    z = er.asarray([1e-37 + 1e-39j], "complex64")
    result = er.divide(er.asarray([-1 - 1j], "complex64"), er.negative(z))
    expected = alone(1 + 1j, 1e-37 + 1e-39j)
    assert result.tolerance(**FLUSH).values() == expected.tolerance(**FLUSH).values()


@pytest.mark.parametrize("chain", [False, True])
@pytest.mark.parametrize("dtype", FORMATS)
def test_arrays_and_certified_numbers_agree(dtype: str, chain: bool) -> None:
    rng = np.random.default_rng([23, list(FORMATS).index(dtype), chain])
    count = budget(30, 1000)
    x, y = (whole(*(draw(rng, FORMATS[dtype], count) for _ in range(2))) for _ in range(2))
    divisor = er.asarray(y, dtype)
    result = er.divide(er.asarray(x, dtype), er.negative(divisor) if chain else divisor)
    (output,) = result.outputs.values()
    assert isinstance(output, PartsOutput)
    for part in output.parts:
        assert check_range(part, "normal", True, f"{dtype} {x} / {y}") == 0


@pytest.mark.parametrize("dtype", FORMATS)
def test_flushes_only_widen(dtype: str) -> None:
    rng = np.random.default_rng([24, list(FORMATS).index(dtype)])
    x, y = (whole(*(draw(rng, FORMATS[dtype], 200) for _ in range(2))) for _ in range(2))
    result = er.divide(er.asarray(x, dtype), er.asarray(y, dtype))
    check_widened(result)


@pytest.mark.parametrize("dtype", FORMATS)
def test_textbook_quotients_near_the_root_of_the_smallest_normal(dtype: str) -> None:
    rng = np.random.default_rng([25, list(FORMATS).index(dtype)])
    root = np.sqrt(np.finfo(FORMATS[dtype]).tiny)
    signs = rng.choice([-1, 1], (2, 60))
    c, d = (root * rng.uniform(0.5, 2.2, (2, 60)) * signs).astype(FORMATS[dtype])
    exponents = rng.integers(np.finfo(FORMATS[dtype]).nmant * -2, 8, (2, 60))
    a, b = (root * np.ldexp(rng.uniform(1, 2, (2, 60)), exponents)).astype(FORMATS[dtype])
    result = er.divide(er.asarray(whole(a, b), dtype), er.asarray(whole(c, d), dtype))
    judge_all(result, dtype, (a, b, c, d), rng)
    check_widened(result)
