"""matrix_exp: rounded and exact against another library's enclosures, special matrices."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

import exactref as er
from exactref_core.arithmetic.fast import FastReading
from exactref_core.errors import InputError
from exactref_core.evaluate.outputs import PartsOutput

pytest.importorskip("flint")

from tests.core.matrix_exp_oracle import nearest, parts

FORMATS = ("float64", "float32", "bfloat16", "complex128", "complex64")
PART = {"complex128": "float64", "complex64": "float32"}


def random_matrix(rng: np.random.Generator, n: int, form: str) -> np.ndarray:
    """A matrix of one of several kinds, in float64 or complex128, representable in the format."""
    a = rng.normal(size=(n, n)) * 10.0 ** rng.uniform(-3, 1.3)
    if form in PART:
        a = a + 1j * rng.normal(size=(n, n))
    kind = rng.integers(6)
    if kind == 1:
        a = np.triu(a, 1)
    elif kind == 2:
        a = np.triu(np.ones((n, n)), 1) + a[0, 0] * np.eye(n)  # defective
    elif kind == 3:
        a = 40 * (a - a.conj().T) / max(np.abs(a).max(), 1)
    elif kind == 4:
        a = a * (rng.random((n, n)) < 0.4)
    elif kind == 5:
        a = np.rint(4 * a / np.abs(a).max()) / 2
    dtype = {"bfloat16": ml_dtypes.bfloat16}.get(form, form)
    with np.errstate(all="ignore"):
        rounded = a.astype(dtype)
    return rounded.astype(np.complex128 if form in PART else np.float64)


def check(matrix: np.ndarray, form: str) -> None:
    """rounded and exact agree with the enclosures, at a precision that decides."""
    result = er.matrix_exp(er.asarray(matrix, form))
    got = result.rounded.values().reshape(-1)
    sides = [got.real, got.imag] if form in PART else [got]
    bits = 300 + min(4 * int(np.abs(matrix).sum() + 1), 8000)
    for side, wanted in zip(sides, parts(matrix, bits), strict=True):
        for value, (low, high) in zip(side.tolist(), wanted, strict=True):
            near = {nearest(low, PART.get(form, form)), nearest(high, PART.get(form, form))}
            assert near == {value}, (matrix.tolist(), value, float(low))
    contains(result, matrix, bits)


def contains(result: er.Result, matrix: np.ndarray, bits: int) -> None:
    """The enclosure of one entry meets the other library's."""
    n = len(matrix)
    found = result.exact.value(n - 1, 0)
    for one, wanted in zip(
        found if isinstance(found, tuple) else (found,), parts(matrix, bits), strict=True
    ):
        low, high = wanted[(n - 1) * n]
        middle, radius = one.midpoint.to_fraction(), one.radius
        assert middle - radius <= high
        assert low <= middle + radius
        assert radius <= Fraction(1, 2**60) * max(abs(high), 1)


@pytest.mark.parametrize("form", FORMATS)
def test_rounded_agrees_with_another_library(form: str) -> None:
    rng = np.random.default_rng(70)
    for n in (1, 2, 2, 3, 3, 4, 5, 6, 7, 8) * 4:
        check(random_matrix(rng, n, form), form)


@pytest.mark.parametrize("form", ["float64", "float32"])
def test_large_norms(form: str) -> None:
    check(np.array([[0.0, 1000.0], [0.0, 0.0]]), form)
    check(np.array([[0.0, 500.0], [-500.0, 0.0]]), form)
    check(np.array([[-1000.0, 999.0], [1000.0, -1001.0]]), form)
    check(np.array([[1.0, 2.0**20], [-(2.0**-20), 1.0]]), form)
    check(np.array([[80.0, 3.0], [5.0, 60.0]]), form)


def test_exact_where_the_series_ends() -> None:
    zero = er.matrix_exp(er.asarray(np.zeros((3, 3)), "float32"))
    assert zero.rounded.tolist() == np.eye(3).tolist()
    chain = er.matrix_exp([[0.0, 2.0, 3.0], [0.0, 0.0, 4.0], [0.0, 0.0, 0.0]])
    assert chain.rounded.tolist() == [[1.0, 2.0, 7.0], [0.0, 1.0, 4.0], [0.0, 0.0, 1.0]]
    assert chain.exact.value(0, 2).radius == 0
    assert chain.exact.value(0, 2).midpoint.to_fraction() == 7
    mixed = er.matrix_exp([[0.0, 0.0], [0.0, -50.0]], rounding="up")
    assert mixed.rounded.tolist()[0] == [1.0, 0.0]


def test_the_gradient_of_zeros_is_exact_in_float64() -> None:
    """It is scaled by powers of two that are far from 1; a product with 0 rounds nothing."""
    zeros = np.zeros((3, 3), np.float32)
    (output,) = er.backward.matrix_exp(zeros, zeros)._outputs.values()
    assert isinstance(output, PartsOutput)
    found = FastReading(False).whole(output.parts[0].source)
    assert not np.any(found.high)
    assert not np.any(found.spread)


@pytest.mark.parametrize("mode", ["up", "down", "toward_zero", "nearest_even", "nearest_away"])
def test_rational_entries_are_decided_by_algebra(mode: str) -> None:
    # Nilpotent without zeros: exp = 1 + A.
    assert er.matrix_exp([[3.0, -1.0], [9.0, -3.0]], rounding=mode).rounded.tolist() == [
        [4.0, -1.0],
        [9.0, -2.0],
    ]
    # 1 + 2^-24 is halfway between two numbers of float32.
    tie = er.asarray([[2.0**-24, -(2.0**-24)], [2.0**-24, -(2.0**-24)]], "float32")
    wanted = {"up": 1 + 2.0**-23, "nearest_away": 1 + 2.0**-23}.get(mode, 1.0)
    assert er.matrix_exp(tie, rounding=mode).rounded.tolist()[0][0] == wanted
    # e (N + N^2 / 2) cancels in one entry: 1 * 2 / 2 - 1 = 0; no zero of the matrix shows it.
    a = np.array([[1.0, 1.0, -1.0], [0.0, 1.0, 2.0], [0.0, 0.0, 1.0]])
    assert er.matrix_exp(a, rounding=mode).rounded.tolist()[0][2] == 0.0
    # Two paths that cancel, among eigenvalues that are not rational.
    b = np.zeros((4, 4))
    b[0, 1], b[0, 2], b[1, 3], b[2, 3] = 1.0, -1.0, 1.0, 1.0
    b[3, 0] = b[1, 2] = b[2, 1] = 2.0
    assert er.matrix_exp(b, rounding=mode).rounded.tolist()[0][3] == 0.0


def test_entries_beyond_every_format() -> None:
    assert er.matrix_exp([[1e30]]).rounded.tolist() == [[np.inf]]
    assert er.matrix_exp([[1e30]], overflow="saturate").rounded.tolist() == [[np.finfo(float).max]]
    assert er.matrix_exp([[-1e30]], rounding="up").rounded.tolist() == [[5e-324]]
    with pytest.raises(InputError, match="beyond"):
        er.matrix_exp([[1e30]]).exact.value(0, 0)
    grown = er.matrix_exp([[0.0, 1e30], [1e30, 0.0]])
    assert np.all(grown.rounded.values() == np.inf)
    shrunk = er.matrix_exp([[-1e6, 1.0], [-1.0, -1e6]])
    assert shrunk.rounded.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert np.signbit(shrunk.rounded.values()).tolist() == [[False, False], [True, False]]
    assert shrunk.tolerance().tolist() == [[5e-324, 5e-324], [5e-324, 5e-324]]


def test_special_inputs_give_nan() -> None:
    a = np.array(
        [[[np.nan, 1.0], [0.0, 0.0]], [[0.0, np.inf], [0.0, 0.0]], [[0.0, 1.0], [0.0, 0.0]]]
    )
    result = er.matrix_exp(a)
    assert np.isnan(result.rounded.values()[:2]).all()
    assert result.rounded.tolist()[2] == [[1.0, 1.0], [0.0, 1.0]]
    assert result.may_be("nan").data[:2].all()
    assert not result.may_be("nan").data[2].any()
    assert result.covers(result.rounded).all()


def test_shapes() -> None:
    for shape in [(0, 0), (3, 0, 0), (0, 2, 2), (1, 1), (2, 1, 3, 3)]:
        result = er.matrix_exp(np.zeros(shape, np.float32))
        assert result.shape == shape
        assert np.array_equal(result.rounded.values(), np.broadcast_to(np.eye(shape[-1]), shape))
        assert result.tolerance().shape == shape
    for shape in [(), (3,), (2, 3), (2, 2, 1)]:
        with pytest.raises(InputError, match="A has shape"):
            er.matrix_exp(np.zeros(shape))


def test_there_is_no_normal_answer() -> None:
    with pytest.raises(NotImplementedError, match="matrix_exp has no normal answer"):
        er.matrix_exp([[1.0]]).normal()


def test_views_and_batches_agree() -> None:
    rng = np.random.default_rng(71)
    a = rng.normal(size=(4, 3, 3)).astype(np.float32)
    result = er.matrix_exp(a)
    for k in range(4):
        one = er.matrix_exp(a[k])
        assert one.rounded.tolist() == result.rounded.tolist()[k]
        assert one.tolerance().tolist() == result.tolerance().tolist()[k]


def test_32_by_32() -> None:
    rng = np.random.default_rng(72)
    a = rng.normal(size=(32, 32)).astype(np.float32)
    result = er.matrix_exp(a)
    wanted = [nearest(low, "float32") for low, _ in parts(a.astype(np.float64))[0]]
    assert result.rounded.values().reshape(-1).tolist() == wanted
    assert (result.tolerance().data > 0).all()


def test_badly_scaled_matrices() -> None:
    # D^-1 [[0, 1], [1, 0]] D with D = diag(2^-1000, 1): cosh 1 and sinh 1 times powers of two.
    wide = er.matrix_exp([[0.0, 2.0**1000], [2.0**-1000, 0.0]]).rounded.values()
    cosh, sinh = 1.5430806348152437, 1.1752011936438014  # correctly rounded
    assert wide.tolist() == [[cosh, sinh * 2.0**1000], [sinh * 2.0**-1000, cosh]]
    # Blocks of their own scale: the signs of entries far below every format.
    blocks = np.zeros((3, 3))
    blocks[1:, 1:] = [[-1e30, 1e29], [-1e29, -1e30]]
    found = er.matrix_exp(blocks)
    assert found.rounded.values()[0, 0] == 1
    assert not found.rounded.values()[1:].any()
    assert (found.tolerance().values()[1:, 1:] == np.finfo(float).max).all()


def test_random_exponents_are_decided() -> None:
    rng = np.random.default_rng(73)
    for _ in range(25):
        n = int(rng.integers(1, 4))
        a = rng.normal(size=(n, n)) * 10.0 ** rng.integers(-30, 31, (n, n))
        result = er.matrix_exp(a)
        low, high = (end.values() for end in result.finite_range())
        finite = np.isfinite(result.rounded.values())
        assert (low <= result.rounded.values())[finite].all()
        assert (result.rounded.values() <= high)[finite].all()
