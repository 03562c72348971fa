"""Processes that are set up otherwise give the same answers, bit for bit.

A process has several settings at once: what one of them changed would be seen beside the others.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.core.surroundings import digest, large

THOROUGH = os.environ.get("EXACTREF_THOROUGH") == "1"
ROOT = Path(__file__).parents[2]
MODULE = ("-m", "tests.core.surroundings")
FLAGS = ("-OO", "-W", "error", "-X", "utf8=0")


@cache
def usual() -> dict[str, str]:
    return {**digest(), **large()}


def printed(*command: str, cwd: Path | None = None, **environment: str | None) -> str:
    """What a Python of its own prints; None takes a name out of the environment."""
    known = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    done = subprocess.run(
        [sys.executable, *command],
        cwd=cwd,
        env={name: value for name, value in known.items() if value is not None},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# What NumPy would dispatch to here, by the names that this version has for it.
WIDE = " ".join(np.show_config(mode="dicts")["SIMD Extensions"].get("found", ()))
PLAIN = (
    "import numpy as n; a = n.sin(n.arange(3e4)).reshape(150, 200); print((a @ a.T).sum().hex())"
)
# Each sets the threads and the kernels of NumPy's products otherwise, and what NumPy dispatches to.
LIBRARIES: dict[str, dict[str, str | None]] = {
    "one thread": {
        "OPENBLAS_NUM_THREADS": "1",
        "OPENBLAS_CORETYPE": "Nehalem",
        "NPY_DISABLE_CPU_FEATURES": WIDE,
    },
}
MORE: dict[str, dict[str, str | None]] = {
    "nonsense": {"OMP_NUM_THREADS": "many", "OPENBLAS_CORETYPE": "None", "MKL_CBWR": "COMPATIBLE"},
    "two threads": {"OPENBLAS_NUM_THREADS": "2", "OPENBLAS_CORETYPE": "Haswell"},
    "64 threads": {"OPENBLAS_NUM_THREADS": "64", "OPENBLAS_CORETYPE": "Prescott"},
    "wide registers": {"OMP_NUM_THREADS": "-3", "OPENBLAS_CORETYPE": "SkylakeX"},
    "no wide registers": {"NPY_DISABLE_CPU_FEATURES": WIDE},
}


@pytest.mark.parametrize("name", [*LIBRARIES, *MORE] if THOROUGH else LIBRARIES)
def test_libraries_and_an_interpreter_that_are_set_otherwise(name: str) -> None:
    """Asserts and docstrings are gone, hashes are seeded, and text is ASCII."""
    setting = {"PYTHONHASHSEED": "12345", "PYTHONIOENCODING": "ascii", "LC_ALL": "C", "LANG": None}
    found = printed(*FLAGS, *MODULE, **setting, **LIBRARIES.get(name, {}), **MORE.get(name, {}))
    assert json.loads(found) == usual()


@pytest.mark.skipif(not THOROUGH, reason="a product in a process for each setting")
def test_the_settings_of_libraries_change_products() -> None:
    """Without this the test above would show nothing."""
    assert (
        len(
            {
                printed("-c", PLAIN, **setting)
                for setting in (*LIBRARIES.values(), *MORE.values(), {})
            }
        )
        > 1
    )


FUNCTIONS = "import numpy as n; print(n.log(n.arange(1, 3e4)).tobytes().hex())"


@pytest.mark.skipif(not WIDE, reason="NumPy has no other loops on this machine")
def test_numpys_functions_change() -> None:
    """Without this a setting of its loops would show nothing."""
    assert printed("-c", FUNCTIONS) != printed("-c", FUNCTIONS, NPY_DISABLE_CPU_FEATURES=WIDE)


BEFORE = """
import gmpy2
gmpy2.get_context().precision = 10
gmpy2.get_context().trap_inexact = True
gmpy2.get_context().emax, gmpy2.get_context().emin = 5, -5
import runpy
runpy.run_module("tests.core.surroundings", run_name="__main__")
"""


def test_a_context_of_gmpy2_set_before_the_first_import_and_a_home_that_is_not_there(
    tmp_path: Path,
) -> None:
    """Nothing is looked for at home, in the working folder, or kept in either."""
    folder = tmp_path / "here"
    folder.mkdir(mode=0o555)
    setting = {"HOME": None, "TMPDIR": str(tmp_path / "none"), "LC_ALL": "nonsense"}
    found = printed("-c", BEFORE, cwd=folder, PYTHONDONTWRITEBYTECODE="1", **setting)
    assert json.loads(found) == usual()
    assert list(folder.iterdir()) == []
