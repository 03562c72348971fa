"""What importing costs: exactref is numpy plus 30 ms at most, the plugin about a millisecond."""

from __future__ import annotations

import json

import pytest

from tests.house.tree import fastest, run_python

# The clock is the process's own: a test that runs beside others must not pay for them.
SECONDS = """
import time
import numpy
start = time.process_time()
import exactref
print(time.process_time() - start)
"""
RATIO = """
import time
start = time.process_time()
import pytest
middle = time.process_time()
import pytest_exactref.plugin
print((time.process_time() - middle) / (middle - start))
"""
LOADED = """
import json, sys
import {module}
print(json.dumps(sorted(name.partition(".")[0] for name in sys.modules)))
"""
PYTEST_RUN = """
import sys

HEAVY = {"numpy", "gmpy2", "ml_dtypes", "exactref", "exactref_core", "hypothesis", "torch"}

def test_nothing_heavy_is_loaded():
    assert "pytest_exactref.plugin" in sys.modules
    assert not HEAVY & set(sys.modules)
"""


def loaded_by(module: str) -> set[str]:
    """The top-level names in sys.modules after importing ``module`` in a fresh interpreter."""
    return set(json.loads(run_python(LOADED.format(module=module))))


def test_importing_exactref_adds_at_most_30_ms_to_numpy() -> None:
    assert fastest(SECONDS, repeats=9) <= 0.030


def test_importing_exactref_loads_no_test_library_and_no_framework() -> None:
    unwanted = {"pytest", "_pytest", "hypothesis", "torch", "jax", "cupy", "pytest_exactref"}
    assert not unwanted & loaded_by("exactref")


def test_loading_the_plugin_costs_about_a_millisecond() -> None:
    # Pytest's own import takes 60 ms on a fast idle machine and 130 on a slow busy one, and the
    # plugin's a hundredth of it: a ratio holds on both.
    assert fastest(RATIO, repeats=9) <= 0.02


def test_loading_the_plugin_imports_neither_numpy_nor_the_core() -> None:
    heavy = {"numpy", "gmpy2", "ml_dtypes", "exactref", "exactref_core", "hypothesis", "torch"}
    assert not heavy & loaded_by("pytest_exactref.plugin")


def test_a_test_run_that_asks_nothing_of_the_plugin_loads_nothing(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(PYTEST_RUN)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:benchmark")
    result.assert_outcomes(passed=1)
