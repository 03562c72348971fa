"""Sessions of pytest in forks of one process that has loaded what every session loads.

A process of its own for each session, as a user's is; but the imports of numpy, hypothesis and the
library, most of what a short session costs, are paid once. They are made by a session, so that
pytest rewrites the modules that it would.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import runpy
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest

CAN_FORK = hasattr(os, "fork")
# By these pytest and hypothesis know a continuous-integration server: pytest then prints whole
# messages in its short summary, hypothesis takes fixed seeds and keeps no examples.
SERVERS = (
    "CI",
    "BUILD_NUMBER",
    "__TOX_ENVIRONMENT_VARIABLE_ORIGINAL_CI",
    "TF_BUILD",
    "bamboo.buildKey",
    "BUILDKITE",
    "CIRCLECI",
    "CIRRUS_CI",
    "CODEBUILD_BUILD_ID",
    "GITHUB_ACTIONS",
    "GITLAB_CI",
    "HEROKU_TEST_RUN_ID",
    "TEAMCITY_VERSION",
)
# Loads what most sessions load. No example is drawn: forks would go on from the same random state.
LOADED = """
import hypothesis.strategies
import numpy as np
import exactref as er

@er.op("add")
def kernel(x1, x2):
    return x1 + x2

def test_sum(exactref):
    exactref.check(np.float32(3), er.sum(np.float32([1, 2])))
"""


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """What ``pytester.runpytest_subprocess`` does, in a fork."""
    base = tempfile.mkdtemp(prefix="runpytest-", dir=pytester.path)
    outputs = [pytester.path / "stdout", pytester.path / "stderr"]
    path = [os.getcwd(), *filter(None, [os.environ.get("PYTHONPATH")])]
    order = {
        "arguments": [f"--basetemp={base}", *arguments],
        "folder": str(pytester.path),
        "environment": {**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        "outputs": list(map(str, outputs)),
    }
    start = time.perf_counter()
    server = forker()
    server.stdin.write(json.dumps(order) + "\n")
    server.stdin.flush()
    code = int(server.stdout.readline())
    texts = [output.read_text(encoding="utf-8") for output in outputs]
    for text, stream in zip(texts, (sys.stdout, sys.stderr), strict=True):
        print(text, file=stream)  # shown if the test fails
    lines = [text.splitlines() for text in texts]
    return pytest.RunResult(code, *lines, duration=time.perf_counter() - start)


@cache
def forker() -> Any:
    """The process that forks; it ends with this one."""
    environment = {name: value for name, value in os.environ.items() if name not in SERVERS}
    process = subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**environment, "PYTEST_ADDOPTS": "-p no:randomly"},
    )
    atexit.register(process.communicate)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def load() -> None:
    """Import what sessions import."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "test_loaded.py").write_text(LOADED)
        options = ["-q", "-p", "no:cacheprovider", "-p", "no:benchmark", "--rootdir", folder]
        code = pytest.main([*options, folder])
    if code:
        sys.exit(f"the imports of every session fail: {code!r}")
    sys.modules.pop("test_loaded", None)
    gc.collect()
    gc.freeze()


def serve(orders: Any, answers: Any) -> None:
    """Fork for every order, and answer with the code of its end."""
    print("ready", file=answers, flush=True)
    for line in orders:
        child = os.fork()
        if not child:
            become(**json.loads(line))
            return
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(status, file=answers, flush=True)


def become(
    arguments: list[str], folder: str, environment: dict[str, str], outputs: list[str]
) -> None:
    """Be ``python -m pytest`` in a folder."""
    for number, name in zip((1, 2), outputs, strict=True):
        target = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(target, number)
        os.close(target)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:1] = [folder, folder]
    sys.argv[:] = ["pytest", *arguments]
    runpy.run_module("pytest", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    # The pipes are the server's alone: a session reads nothing and prints into its files.
    with (
        os.fdopen(os.dup(0), "r", encoding="utf-8") as orders,
        os.fdopen(os.dup(1), "w", encoding="utf-8") as answers,
    ):
        os.dup2(2, 1)
        load()
        serve(orders, answers)
