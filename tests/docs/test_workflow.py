"""The tutorial's workflow is one that GitHub takes, and the command in it runs."""

from __future__ import annotations

import importlib.util
import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.projects import projects, write
from tests.house.tree import ROOT

FILE = ".github/workflows/kernels.yml"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The tutorial's project, written to a folder."""
    page = (ROOT / "docs" / "tutorial.md").read_text()
    (files,) = [files for _, files in projects(page) if FILE in files]
    write(files, tmp_path)
    return tmp_path


def test_the_workflow_fits_the_schema_of_github_actions(project: Path) -> None:
    if importlib.util.find_spec("check_jsonschema") is None:
        pytest.skip("needs check-jsonschema")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    checked = [*command, "vendor.github-workflows", str(project / FILE)]
    done = subprocess.run(checked, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_its_command_judges_the_kernel_and_writes_the_reports(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    yaml = pytest.importorskip("yaml")
    (job,) = yaml.safe_load((project / FILE).read_text())["jobs"].values()
    (command,) = [s["run"] for s in job["steps"] if s.get("run", "").startswith("pytest ")]
    monkeypatch.setenv("PYTHONPATH", f"{project}:{ROOT}")
    run = [sys.executable, "-m", *shlex.split(command), "-p", "no:cacheprovider"]
    done = subprocess.run(
        run, cwd=project, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout
    report = json.loads((project / "report.json").read_text())
    assert {check["verdict"] for check in report["checks"]} == {"normal"}
    (kept,) = [s["with"]["path"] for s in job["steps"] if "upload" in s.get("uses", "")]
    assert all((project / name).is_file() for name in kept.split())
