"""Weights rounded in the cache: kernel and stages against MPFR, answers against the certified."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import gmpy2
import numpy as np
import pytest

import exactref as er
from exactref_core.arithmetic import ladder, softmax_fast
from exactref_core.arithmetic.softmax_rounded import rounded_rows
from exactref_core.exact import row_exponentials
from exactref_core.exact.row_exponentials import Scratch, exponentiate, row_sums

PRECISION = 200
UNIT = 2.0**-53


def given(x: np.ndarray) -> Scratch:
    found = Scratch(*x.shape)
    found.main[:] = x
    return found


def test_the_exponential_errs_by_less_than_claimed() -> None:
    rng = np.random.default_rng(2)
    step = np.log(2) / 2048
    parts = [rng.random(3000) * 690, rng.random(1000) * 8, rng.random(1000) * 2.0**-20]
    edges = (np.arange(2000) + 0.5) * step * (1 + (rng.random(2000) - 0.5) * 2.0**-48)
    x = -np.concatenate([*parts, edges, [0.0, 690.0]])[None]
    part = given(x)
    exponentiate(part, float(x.min()))
    worst = 0.0
    with gmpy2.context(precision=PRECISION):
        for argument, value in zip(x[0].tolist(), part.main[0].tolist(), strict=True):
            off = abs(gmpy2.mpfr(value) / gmpy2.exp(gmpy2.mpfr(argument)) - 1)
            worst = max(worst, float(off) / (2.0**-51 + 2 * UNIT * abs(argument)))
    assert 0.1 < worst < 1


def test_what_vanishes_is_zero() -> None:
    x = np.array([[-690.5, -1e300, -np.inf, 0.0, -1.0]])
    part = given(x)
    exponentiate(part, -np.inf)
    assert part.main[0, :4].tolist() == [0.0, 0.0, 0.0, 1.0]
    assert part.main[0, 4] == pytest.approx(np.exp(-1), rel=2.0**-50)


@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 255, 4096, 5000])
def test_row_sums_count_their_additions(n: int) -> None:
    """The largest rounding errors come from terms of very different sizes."""
    rng = np.random.default_rng(n)
    rows = rng.random((3, n)) * 2.0 ** rng.integers(-30, 30, (3, n))
    found, additions = row_sums(rows)
    assert additions <= 2 * 32 + 16
    for row, total in zip(rows, found.tolist(), strict=True):
        exact = sum(map(Fraction, row.tolist()))
        assert abs(Fraction(total) - exact) <= exact * additions * Fraction(UNIT)


def hostile(kind: str, n: int) -> np.ndarray:
    rng = np.random.default_rng([n, len(kind)])
    x = rng.standard_normal((9, n))
    if kind == "steep":
        x *= 300
    if kind == "vanishing":
        x[:, ::2] -= 600 + 200 * rng.random((9, (n + 1) // 2))
    if kind == "equal":
        x[:] = x[:, :1]
    if kind == "ties":  # weights 1/2 and 1/4, of which float32 holds every one
        x[:] = -np.inf
        x[:, : min(n, 4)] = 1.5
        x[::2, 2:4] = -np.inf
    if kind == "special":
        x[0, 0], x[1, n // 2], x[2, 0], x[3] = np.nan, np.inf, -np.inf, -np.inf
    if kind == "huge":
        x *= 1e4
    return x


@pytest.mark.parametrize("form", ["float16", "float32"])
@pytest.mark.parametrize("n", [5, 700])
@pytest.mark.parametrize(
    "kind", ["plain", "steep", "vanishing", "equal", "ties", "special", "huge"]
)
def test_weights_are_those_of_the_certified_reading(
    kind: str, n: int, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_exponentials, "BLOCK", 2 * n)
    monkeypatch.setattr("exactref_core.arithmetic.level_choices.SMALL", 0)
    x = hostile(kind, n).astype(form)
    result = er.softmax(x, axis=-1)
    rounded = result.rounded
    assert rounded.data.dtype == form
    (part,) = result.outputs["output"].parts  # type: ignore[attr-defined]
    rng = np.random.default_rng(0)
    chosen = rng.integers(0, x.size, 24).tolist() + [row * n for row in range(9)]
    for flat in chosen:
        expected = part.round_one(flat)
        found = float(rounded.data.reshape(-1)[flat])
        assert found == expected or (np.isnan(found) and np.isnan(expected))
        assert np.signbit(found) == np.signbit(expected)


def test_answers_are_bit_for_bit_those_of_the_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.concatenate([hostile(k, 700) for k in ("plain", "steep", "special", "equal")])
    taken = []

    def watched(*given: Any) -> Any:
        taken.append(rounded_rows(*given))
        return taken[-1]

    monkeypatch.setattr(ladder, "rounded_rows", watched)
    whole: Any = er.softmax(x.astype(np.float32), axis=-1).rounded
    (rows,) = taken
    assert rows is not None
    left = rows[1].reshape(len(x), -1)
    assert not left[:9].any()  # the steep rows leave what float32 holds with fewer bits
    assert not left[18:].any()
    monkeypatch.setattr(ladder, "rounded_rows", lambda *given: None)
    monkeypatch.setattr(softmax_fast, "coarse", lambda *given: None)
    again: Any = er.softmax(x.astype(np.float32), axis=-1).rounded
    assert whole.data.tobytes() == again.data.tobytes()


def test_rows_of_other_arrays_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps before the weights, other formats and modes, and a transposed input."""
    monkeypatch.setattr("exactref_core.arithmetic.level_choices.SMALL", 0)
    x = np.random.default_rng(1).standard_normal((40, 60)).astype(np.float32)
    for call in (
        lambda: er.softmax(x, axis=0),
        lambda: er.softmax(x.T, axis=-1),
        lambda: er.softmax(x, axis=-1, dtype="bfloat16"),
        lambda: er.softmax(x, axis=-1, rounding="up"),
        lambda: er.softmax(er.multiply(x, x), axis=-1),
    ):
        result = call()
        rounded = result.rounded.values().reshape(-1)
        (part,) = result.outputs["output"].parts  # type: ignore[attr-defined]
        for flat in range(0, rounded.size, 331):
            assert rounded[flat] == part.round_one(flat)
