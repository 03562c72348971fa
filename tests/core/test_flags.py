"""Flags and rows of a judgement: what is no bool or no count is refused, and not taken for true."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.errors import DTypeError, InputError
from exactref_core.registry import get_standard

X = np.float32([1.0, 2.0])
TINY = np.float32(1e-40)

ASKED: dict[str, Callable[..., Any]] = {
    "tolerance": lambda r, **flags: r.tolerance(**flags),
    "finite_range": lambda r, **flags: r.finite_range(**flags),
    "may_be": lambda r, **flags: r.may_be("nan", **flags),
    "covers": lambda r, **flags: r.covers(np.float32(3), **flags),
    "assert_covers": lambda r, **flags: er.assert_covers(np.float32(3), r, **flags),
}


@pytest.mark.parametrize("value", ["no", "", 0, 1, None, X])
@pytest.mark.parametrize("method", ASKED)
def test_a_flag_is_a_bool(method: str, value: Any) -> None:
    with pytest.raises(InputError, match="flush_to_zero must be True or False, not "):
        ASKED[method](er.sum(X), flush_to_zero=value)


def test_signed_zeros_is_a_bool() -> None:
    with pytest.raises(InputError, match="signed_zeros must be True or False, not 'no'"):
        er.sum(X).covers(np.float32(3), signed_zeros="no")  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [bool, np.bool_])
def test_either_kind_of_bool_is_a_flag(kind: type[Any]) -> None:
    r = er.add(TINY, np.float32(0))
    assert not r.covers(np.float32(0), flush_to_zero=kind(False)).all()
    assert r.covers(np.float32(0), flush_to_zero=kind(True)).all()


@pytest.mark.parametrize("rows", [-1, "3", 2.0, None])
def test_rows_are_counted(rows: Any) -> None:
    with pytest.raises(InputError, match="rows must be an int of at least 0, not "):
        er.assert_covers(np.float32(3), er.sum(X), rows=rows)


def test_no_rows_leave_the_first_line() -> None:
    with pytest.raises(AssertionError, match="1 wrong"):
        er.assert_covers(np.float32(4), er.sum(X), rows=0)


def test_the_cure_for_python_numbers_is_named() -> None:
    cure = r"; or pass er\.asarray\(_, 'float32'\)"
    for output in (3.0, [3.0], 3):
        with pytest.raises(DTypeError, match=cure):
            er.sum(X).covers(output)
    with pytest.raises(DTypeError, match=r"dtype='float64'.*implementation returns$"):
        er.sum(X).covers(np.float64(3))


@pytest.mark.parametrize("standard", ["normal", "any_order"])
def test_overflow_on_the_way_takes_nothing_from_the_range(standard: str) -> None:
    # The sum overflows in every order; a wider accumulator, of the same errors, does not.
    x = np.where(np.arange(31) % 2 == 0, 1.2e38, 1.08e38).astype(np.float32)
    mean, smaller = er.mean(x), er.mean(x * np.float32(2.0**-20))
    assert mean.may_be("+inf").tolist()
    assert mean.tolerance(standard).tolist() == smaller.tolerance(standard).tolist() * 2.0**20
    below = np.nextafter(np.asarray(mean.rounded), np.float32(0))
    assert er.mean(x).covers(below, standard).tolist()
    assert mean.covers(below, standard).tolist()
    certified = mean.outputs["output"].parts[0].range_one(get_standard(standard), False, 0)
    assert certified.low[0] == mean.finite_range(standard)[0].tolist()
