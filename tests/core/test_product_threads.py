"""Threads of a BLAS that flush subnormal numbers, or round otherwise, take part in no product."""

from __future__ import annotations

import json
import platform
import sys

import pytest

from tests.core.surroundings import large
from tests.core.test_surrounding_processes import THOROUGH, printed

# glibc's fenv_t of x86-64 has MXCSR at byte 28; its bits 15 and 6 flush results and operands.
ENTER = """
import ctypes, struct
library = ctypes.CDLL(None)
usual = ctypes.create_string_buffer(512)
library.fegetenv(usual)
other = bytearray(usual.raw)
(control,) = struct.unpack_from("<I", other, 28)
struct.pack_into("<I", other, 28, control | CONTROL)
library.fesetenv(bytes(other))
import numpy as np  # makes the threads of its BLAS
library.fesetenv(usual)
"""
CHECKS = """
import json
from fractions import Fraction
from exactref_core.exact.float_products import threads_are_default
from exactref_core.exact.products import filtered_matmul, magnitude_matmul
from tests.core.surroundings import large

n = 160
a = np.full((n, n), 2.0**-512)
a[:, 0], b = 1.0, np.full((n, n), 1.5 * 2.0**-512)
b[0] = np.arange(n) % 2.0
low, high = magnitude_matmul(a, b)
value, radius = filtered_matmul(a, b)
rest = (n - 1) * Fraction(1.5 * 2.0**-1024)
for i, j in ((0, 0), (n - 1, n - 1), (n - 1, n - 2), (n // 2, n // 2 + 1)):
    exact = Fraction(b[0, j]) + rest
    assert Fraction(low[i, j]) <= exact <= Fraction(high[i, j]), (i, j)
    assert abs(Fraction(value[i, j]) - exact) <= Fraction(radius[i, j]), (i, j)
print(json.dumps([threads_are_default(), large()]))
"""


CONTROLS = {"flushing": 0x8040, "upward": 0x4000}


@pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"), reason="x86-64's own environment"
)
@pytest.mark.parametrize("name", CONTROLS if THOROUGH else ["flushing"])
def test_threads_made_in_another_environment(name: str) -> None:
    control = CONTROLS[name]
    code = f"CONTROL = {control}\n{ENTER}{CHECKS}"
    default, found = json.loads(printed("-c", code, OPENBLAS_NUM_THREADS="4"))
    assert found == large()
    if default:
        pytest.skip("this NumPy multiplies on one thread")
