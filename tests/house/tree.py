"""The tree that the house rules are checked on: the packages, their files and their modules."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("exactref", "exactref_core", "pytest_exactref")


def sources(*folders: str) -> list[Path]:
    """The Python files (and stubs) below ``folders`` of the repository, sorted."""
    found = (path for folder in folders for path in (ROOT / folder).rglob("*.py*"))
    return sorted(path for path in found if path.suffix in {".py", ".pyi"})


def run_python(code: str) -> str:
    """What a fresh interpreter prints for ``code``; a warning or an error fails."""
    command = [sys.executable, "-W", "error", "-c", code]
    # Users' interpreters keep bytecode; a setting against it would time the compiler.
    settings = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, env=settings
    )
    if done.returncode:
        raise RuntimeError(f"a fresh interpreter failed on:\n{code}\n{done.stderr}")
    return done.stdout


def fastest(code: str, repeats: int) -> float:
    """The least number that ``code`` prints in ``repeats`` fresh interpreters.

    The least is the robust statistic of a cost: noise of the machine only adds. One run before
    the first writes the bytecode.
    """
    run_python(code)
    return min(float(run_python(code)) for _ in range(repeats))
