"""How others decide whether an output is right, each rule as its documentation states it.

All get the exact result rounded once as the expected value, which is more than their users have.
The rules of installed libraries are compared with the libraries themselves in test_rivals.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tests.every_op.kernels_formats import SPECS

Values = np.ndarray


class Seen(NamedTuple):
    """What a rule sees: the output, what is expected, the framework's own run, sum |a||b|, n."""

    form: str
    output: Values
    expected: Values
    own: Values | None
    magnitude: Values | None
    terms: int


Rule = Callable[[Seen], bool | None]  # None: the rule has nothing to say of this format or op

# torch.testing.assert_close, defaults by dtype: (rtol, atol). torch/testing/_comparison.py.
TORCH = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
}
# jax/_src/public_test_util.py, default_tolerance(); used as both, times nothing.
JAX = {
    "float8_e4m3fn": 1e-1,
    "float8_e5m2": 1e-1,
    "bfloat16": 1e-2,
    "float16": 1e-3,
    "float32": 1e-6,
    "float64": 1e-15,
}
# gpucheck 0.1.0, assertions/tolerances.py: (atol, rtol), atol times sqrt(k / 128) of sums.
GPUCHECK = {
    "float64": (1e-10, 1e-7),
    "float32": (1e-4, 1e-4),
    "float16": (1e-2, 1e-2),
    "bfloat16": (5e-2, 5e-2),
    "float8_e4m3fn": (0.125, 0.125),
    "float8_e5m2": (0.25, 0.25),
}


def close(seen: Seen, rtol: float, atol: float, equal_nan: bool) -> bool:
    """|output - expected| <= atol + rtol |expected|; infinities have to be equal."""
    a, b = seen.output, seen.expected
    near = np.isfinite(a) & np.isfinite(b) & (np.abs(a - b) <= atol + rtol * np.abs(b))
    near |= a == b
    if equal_nan:
        near |= np.isnan(a) & np.isnan(b)
    return bool(near.all())


def torch_assert_close(seen: Seen) -> bool | None:
    if seen.form not in TORCH:
        return None
    rtol, atol = TORCH[seen.form]
    return close(seen, rtol, atol, equal_nan=False)


def numpy_assert_allclose(seen: Seen) -> bool | None:
    return close(seen, 1e-7, 0.0, equal_nan=True)


def array_max_ulp(seen: Seen) -> bool | None:
    """numpy.testing.assert_array_max_ulp, maxulp=1, for the formats that NumPy has."""
    if seen.form not in ("float64", "float32", "float16"):
        return None
    a, b = (ordered(np.asarray(x).astype(seen.form)) for x in (seen.output, seen.expected))
    if np.isnan(seen.output).any() or np.isnan(seen.expected).any():
        return False
    return bool((np.abs(a - b) <= 1).all())


def ordered(x: Values) -> Values:
    """Floats as float64 counts of steps from zero; float64's own counts lose their last bits."""
    bits = x.view(f"i{x.itemsize}").astype(np.int64)
    low = np.int64(np.iinfo(f"i{x.itemsize}").min)
    steps = np.where(bits < 0, low - bits, bits)
    return steps.astype(object) if x.itemsize == 8 else steps


def pytest_approx(seen: Seen) -> bool | None:
    """rel=1e-6 of the expected value or abs=1e-12, whichever is larger; NaN equals nothing."""
    a, b = seen.output, seen.expected
    near = np.isfinite(a) & np.isfinite(b)
    near &= np.abs(a - b) <= np.maximum(1e-6 * np.abs(b), 1e-12)
    return bool((near | (a == b)).all())


def jax_default(seen: Seen) -> bool | None:
    tolerance = JAX.get(seen.form)
    return None if tolerance is None else close(seen, tolerance, tolerance, equal_nan=True)


def chex_default(seen: Seen) -> bool | None:
    """chex.assert_trees_all_close: rtol=1e-6, atol=0."""
    return close(seen, 1e-6, 0.0, equal_nan=True)


def gpucheck(seen: Seen) -> bool | None:
    if seen.form not in GPUCHECK:
        return None
    atol, rtol = GPUCHECK[seen.form]
    if seen.magnitude is not None:
        atol *= math.sqrt(max(seen.terms, 1) / 128)
    return close(seen, rtol, atol, equal_nan=False)


def twice_own(seen: Seen) -> bool | None:
    """The largest error is at most twice that of the framework's own run in the output format."""
    if seen.own is None:
        return None
    errors = []
    for found in (seen.output, seen.own):
        same = (found == seen.expected) | (np.isnan(found) & np.isnan(seen.expected))
        errors.append(np.where(same, 0.0, np.abs(found - seen.expected)))
    return bool(np.max(errors[0], initial=0.0) <= 2 * np.max(errors[1], initial=0.0))


def blas_ratio(seen: Seen) -> bool | None:
    """error / (eps sum |a||b|) at most 16, as the BLAS test programs ask; eps of the output."""
    if seen.magnitude is None:
        return None
    eps = 2.0 ** (1 - SPECS[seen.form].bits)
    same = (seen.output == seen.expected) | (np.isnan(seen.output) & np.isnan(seen.expected))
    error = np.where(same, 0.0, np.abs(seen.output - seen.expected))
    scale = np.where(seen.magnitude > 0, seen.magnitude, 1.0)
    return bool((error / (eps * scale) <= 16).all())


def cosine(seen: Seen) -> bool | None:
    """The cosine between output and expectation is at least 0.999."""
    a, b = seen.output.reshape(-1), seen.expected.reshape(-1)
    top = max(np.max(np.abs(a), initial=0.0), np.max(np.abs(b), initial=0.0))
    if top == 0:
        return True
    a, b = a / top, b / top
    size = math.sqrt(float(a @ a)) * math.sqrt(float(b @ b))
    return bool(float(a @ b) >= 0.999 * size) if size > 0 else bool(np.array_equal(a, b))


RIVALS: dict[str, Rule] = {
    "torch.testing.assert_close": torch_assert_close,
    "numpy.testing.assert_allclose": numpy_assert_allclose,
    "assert_array_max_ulp": array_max_ulp,
    "pytest.approx": pytest_approx,
    "jax default tolerance": jax_default,
    "chex.assert_trees_all_close": chex_default,
    "gpucheck": gpucheck,
    "twice the framework's error": twice_own,
    "error / (eps sum |a||b|) <= 16": blas_ratio,
    "cosine >= 0.999": cosine,
}
