"""Where failures lie and what they have in common: true of every failing element, or not said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.compare import judge
from exactref_core.diagnosis.findings import SAMPLE, Findings
from exactref_core.diagnosis.places import CHANCE, place_of

F32 = np.float32
ALL = slice(None)


def mask(shape: tuple[int, ...], *places: Any) -> Any:
    """A mask that is True at these places."""
    found = np.zeros(shape, bool)
    for place in places:
        found[place] = True
    return found


def some(count: int, whole: Any, seed: int = 1) -> Any:
    """As many elements of a mask, drawn evenly."""
    found = np.zeros_like(whole)
    rng = np.random.default_rng(seed)
    found.reshape(-1)[rng.choice(np.flatnonzero(whole), count, replace=False)] = True
    return found


UPPER = np.triu(np.ones((64, 64), bool), 1)
TAILS = (np.arange(64)[None, :] % 16 >= 14) & np.ones((64, 1), bool)
MEMORY = np.arange(7 * 13).reshape(7, 13) >= 71
PLACES: dict[str, tuple[Any, str]] = {
    "nothing": (mask((8, 8)), ""),
    "a lone element": (mask((), ()), ""),
    "all": (mask((8, 8), ALL), "everywhere (all 64 elements)"),
    "the last columns": (
        mask((64, 64), (ALL, slice(60, 64))),
        "every element of columns 60-63 (the last 4 of 64)",
    ),
    "some of the last columns": (
        some(20, mask((64, 64), (ALL, slice(60, 64)))),
        "all 20 in columns 60-63 (the last 4 of 64)",
    ),
    "the first row": (mask((64, 64), 0), "every element of row 0 (the first of 64)"),
    "a row": (mask((64, 64), 5), "every element of row 5"),
    "some rows": (mask((64, 64), [5, 9, 40]), "every element of rows 5, 9, 40"),
    "a block": (
        mask((64, 64), (slice(16, 32), slice(32, 48))),
        "every element of rows 16-31, columns 32-47",
    ),
    "the diagonal": (np.eye(64, dtype=bool), "every element of the diagonal"),
    "another diagonal": (
        np.eye(64, k=3, dtype=bool),
        "every element of the diagonal where column - row is 3",
    ),
    "above the diagonal": (UPPER, "every element of the part above the diagonal"),
    "below the diagonal": (UPPER.T, "every element of the part below the diagonal"),
    "some on or below the diagonal": (
        some(200, ~UPPER),
        "all 200 in the part on or below the diagonal",
    ),
    "odd columns": (mask((64, 64), (ALL, slice(1, None, 2))), "every element of odd columns"),
    "one column of each tile": (
        mask((64, 64), (ALL, slice(3, None, 16))),
        "every element of columns 3, 19, ... (one of each 16)",
    ),
    "the tails of tiles": (TAILS, "every element of the last 2 of each 16 columns"),
    "the end of the memory": (
        MEMORY,
        "every element of elements 71-90 (the last 20 of 91), counted in memory order",
    ),
    "one axis": (
        mask((100,), slice(96, None)),
        "every element of elements 96-99 (the last 4 of 100)",
    ),
    "a slice": (mask((2, 8, 32), 1), "every element of index 1 on axis 0 (the last of 2)"),
    "two heads": (
        mask((2, 3, 8, 8), (0, 1, slice(2, 4)), (1, 2)),
        "all 80 in [0, 1, :, :] and [1, 2, :, :]",
    ),
    "an axis of extent 1": (
        mask((1, 64), (0, slice(0, 8))),
        "every element of columns 0-7 (the first 8 of 64)",
    ),
    "all over": (
        some(100, np.ones((64, 64), bool)),
        "scattered (100 of 4096 elements)",
    ),
    "two": (mask((64, 64), (3, 7), (40, 12)), ""),
}


@pytest.mark.parametrize("name", PLACES)
def test_places_in_words(name: str) -> None:
    failing, words = PLACES[name]
    assert place_of(failing) == words


def test_heads_and_batches_have_names() -> None:
    assert place_of(mask((2, 8, 32, 16), (ALL, 3)), heads=True) == "every element of head 3"
    found = place_of(mask((4, 8, 32, 16), (2, 3)), heads=True)
    assert found == "every element of batch 2, head 3"
    found = place_of(mask((4, 8, 32, 16), (2, 3)))
    assert found == "every element of index 2 on axis 0, index 3 on axis 1"


def test_places_are_seldom_seen_where_there_are_none() -> None:
    rng = np.random.default_rng(5)
    shapes = [(64, 48), (100,), (3, 5, 20), (16, 16)]
    told = 0
    for trial in range(2000):
        whole = np.ones(shapes[trial % 4], bool)
        found = place_of(some(int(rng.integers(2, 40)), whole, seed=trial))
        told += bool(found) and not found.startswith("scattered")
    # Several kinds of places share what each is granted.
    assert told <= 2000 * CHANCE * 3


# -- values ----------------------------------------------------------------------------------------

RNG = np.random.default_rng(31)
A = RNG.standard_normal((12, 40)).astype(F32)
B = RNG.standard_normal((40, 12)).astype(F32)
RIGHT = (A.astype(np.float64) @ B).astype(F32)


def where(output: Any, result: Any, standard: str = "any_order") -> str:
    findings: dict[str, Findings] = {}
    judge(output, result, standard=standard, findings=findings)
    return findings["output"].where


VALUES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "NaN": (lambda x: np.full_like(x, np.nan), "each is NaN"),
    "infinity": (lambda x: x / 0, "each is an infinity"),
    "zero": (lambda x: 0 * x, "each is 0"),
    "one number": (lambda x: 0 * x + F32(2.5), "each is 2.5"),
    "twice": (lambda x: 2 * x, "each is 2 times the exact value"),
    "a third": (lambda x: x / 3, "each is 0.333333 times the exact value"),
    "the opposite": (lambda x: -x, "each has the opposite sign"),
    "an offset": (lambda x: x + F32(0.125), "each is 0.125 too large"),
    "a negative offset": (lambda x: x - F32(3), "each is 3 too small"),
    "the next row": (
        lambda x: np.roll(x, -1, 0),
        "each has the value of the next element on axis 0",
    ),
    "the previous column": (
        lambda x: np.roll(x, 1, 1),
        "each has the value of the previous element on axis 1",
    ),
    "a mirror image": (
        lambda x: x[:, ::-1],
        "each has the value of its mirror image on axis 1",
    ),
    "exchanged axes": (lambda x: x.T, "the last two axes are exchanged"),
    "noise": (lambda x: x + RNG.standard_normal(x.shape).astype(F32), ""),
    "a little noise": (
        lambda x: x * (1 + RNG.choice([-1, 1], x.shape) * F32(1e-4)).astype(F32),
        "",
    ),
}


@pytest.mark.parametrize("name", VALUES)
@np.errstate(all="ignore")
def test_values_in_words(name: str) -> None:
    change, words = VALUES[name]
    place, _, found = where(change(RIGHT), er.matmul(A, B)).partition("; ")
    assert found == words
    assert place.startswith(("everywhere", "nearly", "scattered", "all 1", "every element"))


def test_values_of_a_part() -> None:
    output = RIGHT.copy()
    output[:, 8:] *= 2
    found = where(output, er.matmul(A, B))
    assert found == (
        "every element of columns 8-11 (the last 4 of 12); each is 2 times the exact value"
    )


def test_a_factor_is_told_from_rounding() -> None:
    # A sum in float16 is off by more than its tolerance, and by no factor.
    x = np.random.default_rng(3).random((300, 24)).astype(np.float16)
    total = np.zeros(300, np.float16)
    for column in x.T:
        total += column
    assert "times" not in where(total, er.sum(x, axis=1), "normal")
    assert "too" not in where(total, er.sum(x, axis=1), "normal")


def test_what_only_the_wrong_ones_have_in_common() -> None:
    row = [1e16, 0.0, 0.0, 0.0, -1e16, 0.0, 0.0, 0.0] + [1.0] * 96 + [0.0] * 104
    x = np.tile(row, (64, 1))
    output = np.full(64, 96.0)
    output[::3] = 72.0  # correct but worse
    output[60:] = -1e9
    found = where(output, er.sum(x, axis=1), "normal")
    assert found.startswith("of the wrong ones every element of elements 60-63")


def test_nothing_is_said_of_a_lone_failure_or_of_none() -> None:
    output = RIGHT.copy()
    assert where(output, er.matmul(A, B)) == ""
    output[3, 3] = 99
    assert where(output, er.matmul(A, B)) == ""


def test_complex_outputs() -> None:
    z = (A + 1j * A[::-1]).astype(np.complex64)
    right = z.astype(np.complex128).sum(axis=1).astype(np.complex64)
    found = where(2 * right, er.sum(z, axis=1))
    assert found == "everywhere (all 12 elements); each is 2 times the exact value"


def test_integers() -> None:
    x = np.arange(64).reshape(16, 4)
    found = where(x.sum(axis=1) + 5, er.sum(x, axis=1))
    assert found == "everywhere (all 16 elements); each is 5 too large"


def test_blocks_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from exactref_core import compare
    from exactref_core.evaluate.blocks import blocks

    x = RNG.standard_normal((64, 32)).astype(F32)
    y = RNG.standard_normal((32, 48)).astype(F32)
    output = (x.astype(np.float64) @ y).astype(F32)
    output[40:, 44:] *= 4
    whole = where(output, er.matmul(x, y))
    monkeypatch.setattr(compare, "blocks", lambda reference: blocks(reference, 1000))
    assert where(output, er.matmul(x, y)) == whole
    assert whole == (
        "every element of rows 40-63 (the last 24 of 64), columns 44-47 (the last 4 of 48); "
        "each is 4 times the exact value"
    )


def test_of_very_many_a_part_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    from exactref_core import compare
    from exactref_core.evaluate.blocks import blocks

    monkeypatch.setattr(compare, "blocks", lambda reference: blocks(reference, 10_000))
    x = RNG.uniform(0.5, 1, (SAMPLE + 99, 2)).astype(F32)
    output = 2 * x.sum(axis=1)
    found = where(output, er.sum(x, axis=1))
    assert found.endswith(f"; of the first {SAMPLE} each is 2 times the exact value")
