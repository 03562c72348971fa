"""The rules of installed libraries, as the arena states them, against the libraries themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests.arena.rivals import (
    Seen,
    array_max_ulp,
    blas_ratio,
    cosine,
    numpy_assert_allclose,
    pytest_approx,
    torch_assert_close,
    twice_own,
)
from tests.every_op.kernels_formats import SPECS, store

FORMATS = ("float64", "float32", "bfloat16", "float16")
SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e-5, 1.0)


def pairs(form: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Expected and nearly equal values: at the edge of each rule, and specials of all pairs."""
    rng = np.random.default_rng([31, FORMATS.index(form)])
    spec = SPECS[form]
    for _ in range(300):
        size = 10.0 ** rng.integers(-8, 4)
        expected = store(size * rng.standard_normal(3), spec)
        shift = 10.0 ** rng.uniform(-17, -1) * rng.choice([-1, 1], 3)
        yield store(expected * (1 + shift), spec), expected
        yield store(expected + shift, spec), expected
    for a in SPECIAL:
        for b in SPECIAL:
            yield np.array([a]), np.array([b])


def passes(check: Callable[[], Any]) -> bool:
    try:
        found = check()
    except AssertionError:
        return False
    return found is not False


def seen(form: str, output: np.ndarray, expected: np.ndarray, **more: Any) -> Seen:
    return Seen(form, output, expected, more.get("own"), more.get("magnitude"), 1)


@pytest.mark.parametrize("form", FORMATS)
@np.errstate(all="ignore")
def test_torch_assert_close(form: str) -> None:
    torch = pytest.importorskip("torch")
    for output, expected in pairs(form):
        a, b = (torch.from_numpy(x.copy()).to(getattr(torch, form)) for x in (output, expected))
        truth = passes(lambda a=a, b=b: torch.testing.assert_close(a, b))
        assert torch_assert_close(seen(form, output, expected)) == truth, (output, expected)


@pytest.mark.parametrize("form", FORMATS)
@np.errstate(all="ignore")
def test_numpy_assert_allclose_and_pytest_approx(form: str) -> None:
    for output, expected in pairs(form):
        one = seen(form, output, expected)
        truth = passes(lambda a=output, b=expected: np.testing.assert_allclose(a, b))
        assert numpy_assert_allclose(one) == truth, (output, expected)
        approx = bool(output.tolist() == pytest.approx(expected.tolist()))
        assert pytest_approx(one) == approx, (output, expected)


@pytest.mark.parametrize("form", ["float64", "float32", "float16"])
def test_array_max_ulp(form: str) -> None:
    for output, expected in pairs(form):
        if not (np.isfinite(output).all() and np.isfinite(expected).all()):
            continue
        a, b = output.astype(form), expected.astype(form)
        truth = passes(lambda a=a, b=b: np.testing.assert_array_max_ulp(a, b) is not None)
        assert array_max_ulp(seen(form, output, expected)) == truth, (output, expected)


def test_the_rules_without_a_library() -> None:
    expected = np.array([1.0, 2.0])
    near, far = np.array([1.0, 2.0 + 2.0**-22]), np.array([1.0, 2.0 + 2.0**-18])
    own = np.array([1.0 + 2.0**-22, 2.0])
    assert twice_own(seen("float32", near, expected, own=own))
    assert not twice_own(seen("float32", far, expected, own=own))
    assert twice_own(seen("float32", near, expected)) is None
    assert blas_ratio(seen("float32", near, expected, magnitude=np.array([1.0, 2.0])))
    assert not blas_ratio(seen("float32", far, expected, magnitude=np.array([1.0, 0.5])))
    assert cosine(seen("float32", far, expected))
    assert not cosine(seen("float32", np.array([1.0, -2.0]), expected))
