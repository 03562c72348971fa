"""Sessions of pytest inside a test: each in a process of its own, as a user's is."""

from __future__ import annotations

import re
import textwrap

import numpy  # noqa: F401  # a session in this process forgets what it imported; numpy loads once
import pytest

from tests.plugin import forked

HEAD = """
import numpy as np
import pytest
import exactref as er
"""
# Few examples, always the same; arguments that come later overrule these.
BUDGET = ("--exactref-seed=1", "--exactref-examples=12")
# A test is written once and run without pytest-xdist, with it in one process, and in two.
DISTRIBUTIONS = {"alone": ["-p", "no:xdist"], "n0": ["-n0"], "n2": ["-n2"]}


def session(
    pytester: pytest.Pytester,
    source: str,
    *arguments: str,
    warnings: str = "error",
    budget: tuple[str, ...] = BUDGET,
    server: bool = False,
    shuffled: bool = False,
    fresh: bool = False,
) -> pytest.RunResult:
    """Run the test file ``source`` (below the usual imports), warnings being errors.

    ``server``: as on a continuous-integration server; else as at a desk, wherever this runs.
    ``shuffled``: with pytest-randomly, which loads where it is installed.
    ``fresh``: in an interpreter started for it, where a fork of one that has the libraries would
    not do; always so on a server, which hypothesis recognises as it loads.
    """
    pytester.makepyfile(test_it=HEAD + textwrap.dedent(source))
    options = ["-p", "no:cacheprovider", "-p", "no:benchmark", "-W", warnings, "--strict-markers"]
    with pytest.MonkeyPatch.context() as environment:
        for name in forked.SERVERS:
            environment.delenv(name, raising=False)
        if shuffled:
            environment.delenv("PYTEST_ADDOPTS", raising=False)
        if server:
            environment.setenv("CI", "true")
        if fresh or server:
            return pytester.runpytest_subprocess(*options, *budget, *arguments)
        return run_session(pytester, *options, *budget, *arguments)


def run_session(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """Run pytest on what the folder holds, in a fork where the system has that."""
    if forked.CAN_FORK:
        return forked.run(pytester, *arguments)
    return pytester.runpytest_subprocess(*arguments)


def text(result: pytest.RunResult) -> str:
    """What the session printed."""
    return result.stdout.str()


def printed(result: pytest.RunResult, name: str) -> list[str]:
    """What follows ``name`` on the lines that the tests printed (run with -s)."""
    return re.findall(rf"{name} (.*)", text(result))
