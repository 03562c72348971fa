"""What can be checked of the Triton page without Triton: all but the kernel itself."""

from __future__ import annotations

import importlib.util

import pytest

from tests.docs.projects import projects, write
from tests.house.tree import ROOT

# The page's kernel in torch, block by block with as many running sums as a block has elements.
STAND_IN = """
import torch

BLOCK = 64

def row_sums(x):
    padded = torch.nn.functional.pad(x.to(torch.float32), (0, -x.shape[1] % BLOCK))
    return padded.reshape(len(x), -1, BLOCK).sum(1).sum(-1).to(x.dtype)
"""
FAULT = STAND_IN.replace("len(x), -1, BLOCK)", "len(x), -1, BLOCK)[:, :, 1:]")


@pytest.mark.parametrize(("kernels", "ret"), [(STAND_IN, 0), (FAULT, 1)], ids=["right", "wrong"])
def test_the_pages_test_judges_a_kernel_of_that_name(
    kernels: str, ret: int, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Not imported: pytester takes back what a test imports, and torch cannot be imported twice.
    if importlib.util.find_spec("torch") is None:
        pytest.skip("needs torch")
    ((_, files),) = projects((ROOT / "docs" / "how-to" / "triton.md").read_text())
    compile(files["kernels.py"], "kernels.py", "exec")
    write({**files, "kernels.py": kernels}, pytester.path)
    monkeypatch.setenv("PYTHONPATH", f"{pytester.path}:{ROOT}")
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:benchmark")
    assert result.ret == ret, result.stdout.str()
