"""Error bounds of matrix_exp: the formula computed by another library, hard cases, soundness."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

import exactref as er

pytest.importorskip("flint")

from tests.core.matrix_exp_oracle import GRIDS, deltas, nearest, outward, parts

UNITS = {"float32": Fraction(1, 1 << 24), "float64": Fraction(1, 1 << 53)}
SHARP = Fraction(1, 1 << 38)


def check_range(matrix: np.ndarray, compute: str, output: str) -> None:
    """Both ends are those of a bound between the formula and 2^-38 above it."""
    form = {"complex": "complex64" if compute == "float32" else "complex128"}.get(output, output)
    inner = compute if output == "complex" else output
    low, high = er.matrix_exp(er.asarray(matrix, form)).finite_range()
    low, high = low.values().reshape(-1), high.values().reshape(-1)
    sides = [(low.real, high.real), (low.imag, high.imag)][: 1 + np.iscomplexobj(matrix)]
    bounds = deltas(matrix, UNITS[compute])
    for side, values, errors in zip(sides, parts(matrix), bounds, strict=True):
        for k, ((x, _), d) in enumerate(zip(values, errors, strict=True)):
            for got, sign in ((side[0][k], -1), (side[1][k], 1)):
                near, far = (
                    nearest(outward(x + sign * d * f, sign, compute), inner) for f in (1, 1 + SHARP)
                )
                assert min(near, far) <= got <= max(near, far), (matrix.tolist(), k, sign)


@pytest.mark.parametrize("seed", range(6))
def test_ranges_follow_the_formula(seed: int) -> None:
    rng = np.random.default_rng(800 + seed)
    n = int(rng.integers(1, 5))
    a = (rng.normal(size=(n, n)) * 2.0 ** rng.integers(-4, 3)).astype(np.float32)
    check_range(a.astype(np.float64), "float32", "float32")
    check_range(a.astype(np.float64), "float64", "float64")
    narrow = a.astype(ml_dtypes.bfloat16).astype(np.float64)
    check_range(narrow, "float32", "bfloat16")
    check_range(a.astype(np.complex64) + 1j * a.T, "float32", "complex")


def test_ranges_of_a_diagonal_matrix() -> None:
    check_range(np.diag([0.0, -50.0]), "float32", "float32")
    check_range(np.array([[0.01]], np.float32).astype(np.float64), "float32", "float32")


def test_rounding_of_the_entry_itself_counts() -> None:
    # 14 u * 0.01 is below the 4u of a library's exp.
    one = er.matrix_exp(er.asarray([[0.01]], "float32"))
    exact = parts(np.array([[0.01]], np.float32).astype(np.float64))[0][0][0]
    wanted = outward(exact + 4 * UNITS["float32"] * exact, 1, "float32")
    assert one.finite_range()[1].tolist() == [[float(wanted)]]
    steps = one.rounded.values() + np.array([-2, -1, 0, 1, 2, 3]) * 2.0**-23
    assert one.covers(np.float32(steps.reshape(1, -1)[0, 2]).reshape(1, 1)).all()


def test_second_order_term_of_large_norms() -> None:
    # e^(mu + r) would be e^500; K = |exp(A)| is about 1000.
    a = np.array([[0.0, 1000.0], [0.0, 0.0]])
    r = 28 * 2.0**-24 * 1000
    k = (1000 + np.hypot(1000, 2)) / 2  # the 2-norm of [[1, 1000], [0, 1]]
    rest = r * r / 2 * k**3 * np.exp(k * r)
    # Gradients: of an entry on the diagonal, 1 (itself), 500 twice ... by the double integral.
    tolerance = er.matrix_exp(er.asarray(a, "float32")).tolerance().values()
    assert np.all(tolerance > rest)
    assert np.all(tolerance < 1.05 * rest + r * 1000**2)
    # exp(A + D) for the D that moves an entry most.
    moved = np.array([[0.0, 1000.0], [1.6e-3, 0.0]])
    found = np.array([[float(x) for x, _ in parts(moved)[0]]]).reshape(2, 2)
    assert er.matrix_exp(er.asarray(a, "float32")).covers(np.float32(found)).all()


@pytest.mark.parametrize("form", ["float32", "float64", "complex64"])
def test_every_backward_error_is_covered(form: str) -> None:
    rng = np.random.default_rng(81)
    unit = float(UNITS["float64" if form == "float64" else "float32"])
    for n in (1, 2, 3, 5):
        for scale in (0.1, 1.0, 8.0):
            a = (rng.normal(size=(n, n)) * scale).astype(form)
            if form == "complex64":
                a = a + 1j * a.T
            result = er.matrix_exp(a)
            for _ in range(4):
                d = rng.normal(size=(n, n)) + (
                    1j * rng.normal(size=(n, n)) if form == "complex64" else 0
                )
                d *= 14 * n * unit * np.linalg.norm(a) / np.linalg.norm(d) * (1 - 2.0**-20)
                wide = a.astype(np.complex128 if form == "complex64" else np.float64)
                inner = "float64" if form == "float64" else "float32"
                found = [[nearest(x, inner) for x, _ in part] for part in parts(wide + d)]
                output = np.array(found[0]) + (1j * np.array(found[1]) if len(found) > 1 else 0)
                assert result.covers(output.reshape(n, n).astype(form)).all()


def test_errors_of_a_chain_are_added() -> None:
    a = er.asarray([[0.5, 0.25], [0.125, -0.5]], "bfloat16")
    first = er.multiply(a, er.asarray([[3.0]], "bfloat16"))
    chained = er.matrix_exp(first)
    alone = er.matrix_exp(first.rounded)
    assert chained.rounded.tolist() == alone.rounded.tolist()  # the products are exact
    assert (chained.tolerance().values() >= alone.tolerance().values()).all()
    third = er.divide(a, er.asarray([[3.0]], "bfloat16"))
    chained = er.matrix_exp(third, dtype="float64")
    stored = er.matrix_exp(third.rounded, dtype="float64")
    assert chained.covers(stored.rounded).all()
    assert not stored.covers(chained.rounded).any()
    assert (chained.tolerance().values() < 2.0**-8).all()  # half an ulp of 1/6 is 2**-12


def test_a_chain_from_a_possible_infinity_has_no_bound() -> None:
    big = er.asarray([[3e38, 3e38, -3e38]], "float32")
    result = er.matrix_exp(er.sum(big, axis=1, keepdims=True), dtype="float64")
    assert result.may_be("nan").all()
    result = er.matrix_exp(
        er.multiply(er.sum(big, axis=1, keepdims=True), er.asarray([[1e-38]], "float32"))
    )
    assert result.tolerance().tolist() == [[np.inf]]


def test_flags() -> None:
    plain = er.matrix_exp(er.asarray([[1.0, 2.0], [3.0, 4.0]], "float32"))
    assert not any(plain.may_be(flag).any() for flag in ("+inf", "-inf", "nan"))
    near = er.matrix_exp(er.asarray([[88.722839]], "float32"))  # exp is about the largest number
    assert near.may_be("+inf").all()
    assert not near.may_be("-inf").any()
    assert not er.matrix_exp(er.asarray([[88.0]], "float32")).may_be("+inf").any()


def test_flush_to_zero_covers_flushed_inputs_and_outputs() -> None:
    tiny = er.matrix_exp(er.asarray([[0.0, 1e-39], [0.0, 0.0]], "float32"))
    flushed = er.asarray([[1.0, 0.0], [0.0, 1.0]], "float32")
    assert not tiny.covers(flushed).all()
    assert tiny.covers(flushed, flush_to_zero=True).all()
    assert tiny.tolerance(flush_to_zero=True).values()[0, 1] < 1e-30


def test_planted_faults_are_outside() -> None:
    rng = np.random.default_rng(82)
    a = rng.normal(size=(4, 4)).astype(np.float32)
    result = er.matrix_exp(a)
    wide = a.astype(np.float64)
    good = np.array([float(x) for x, _ in parts(wide)[0]]).reshape(4, 4)
    assert result.covers(good.astype(np.float32)).all()
    terms = [np.eye(4)]
    for k in range(1, 40):
        terms.append(terms[-1] @ wide / k)
    assert result.covers(sum(terms).astype(np.float32)).all()
    for bad in (sum(terms[:12]), sum(terms) - terms[3], sum(terms).T, np.exp(wide)):
        assert not result.covers(bad.astype(np.float32)).all()
    narrow = wide.astype(ml_dtypes.bfloat16).astype(np.float64)
    truncated = np.array([float(x) for x, _ in parts(narrow)[0]]).reshape(4, 4)
    assert not result.covers(truncated.astype(np.float32)).all()


def test_grids_of_the_oracle() -> None:
    assert all(nearest(Fraction(2) ** least, form) > 0 for form, (_, least) in GRIDS.items())
