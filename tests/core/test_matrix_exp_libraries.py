"""torch's and scipy's matrix exponentials, judged; what falls outside is known and bounded.

EXACTREF_THOROUGH=1 in the environment judges 500 matrices up to 16 x 16, as the page of guarantees
and limits counts them.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import exactref as er

THOROUGH = os.environ.get("EXACTREF_THOROUGH") == "1"
COUNT = 500 if THOROUGH else 48
FORMATS = ("float32", "float64", "complex64", "complex128")
DOUBLES = ("float64", "complex128")


def scipy_kernel() -> Callable[[np.ndarray], Any]:
    linalg = pytest.importorskip("scipy.linalg")
    return lambda x: linalg.expm(x)


def torch_kernel() -> Callable[[np.ndarray], Any]:
    torch = pytest.importorskip("torch")
    return lambda x: torch.linalg.matrix_exp(torch.from_numpy(x)).numpy()


def real_matrix(rng: np.random.Generator, n: int) -> np.ndarray:
    """General, skew, triangular, defective, negative definite, graded, small integers, a generator
    of a Markov chain; norms from 0.001 to about 160."""
    a, size = rng.normal(size=(n, n)), 10.0 ** rng.uniform(-3, 2.2)
    kind = rng.integers(8)
    if kind == 0:
        return a * size / np.linalg.norm(a, 2)
    if kind == 1:
        return (a - a.T) * size / max(np.linalg.norm(a - a.T, 2), 1e-9)
    if kind == 2:
        return np.triu(a) * size / 4
    if kind == 3:
        return np.triu(np.ones((n, n)), 1) * size / 10 + a[0, 0] * np.eye(n)
    if kind == 4:
        return -(a @ a.T) * size / 10
    if kind == 5:
        return np.diag(-np.abs(a[0]) * size) + (np.abs(a) < 0.3) * 1e-3
    if kind == 6:
        return rng.integers(-2, 3, (n, n)) * 1.0
    a = np.abs(a)
    np.fill_diagonal(a, 0)
    return (a - np.diag(a.sum(1))) * size / n


@cache
def references(count: int) -> list[tuple[str, np.ndarray, er.Result]]:
    """The matrices with what either library is judged by."""
    return [(form, a, er.matrix_exp(a)) for form, a in matrices(count)]


def matrices(count: int) -> Any:
    rng = np.random.default_rng(900)
    for index in range(count):
        n, form = int(rng.integers(1, 17)), FORMATS[index % len(FORMATS)]
        a = real_matrix(rng, n)
        if form.startswith("complex"):
            a = a + 1j * real_matrix(rng, n)
        yield form, a.astype(form)


def judge(kernel: Callable[[np.ndarray], Any], known: Callable[[str, np.ndarray], bool]) -> Counter:
    """Count the matrices of each format, and those outside; all others are covered."""
    counts: Counter = Counter()
    for form, a, result in references(COUNT):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            output = np.asarray(kernel(a))
        counts[form] += 1
        if not result.covers(output).all():
            counts[form + " outside"] += 1
            assert known(form, a), (form, a.tolist())
    print(counts)
    return counts


def test_torch() -> None:
    def known(form: str, a: np.ndarray) -> bool:
        """Doubles of small norm lose digits; some of single precision end their series early."""
        return form not in DOUBLES or 0.001 < np.linalg.norm(a, 1) < 0.1

    counts = judge(torch_kernel(), known)
    assert counts["float32 outside"] + counts["complex64 outside"] <= COUNT // 50


def test_scipy() -> None:
    counts = judge(scipy_kernel(), lambda form, a: form in DOUBLES)
    assert sum(n for name, n in counts.items() if name.endswith("outside")) <= COUNT // 25
