"""Sessions of pytest inside a test: each in a process of its own, as a user starts it."""

from __future__ import annotations

import re
import textwrap

import numpy  # noqa: F401  # a session in this process forgets what it imported; numpy loads once
import pytest

HEAD = """
import numpy as np
import pytest
import exactref as er
"""
# Few examples, always the same; arguments that come later overrule these.
BUDGET = ("--exactref-seed=1", "--exactref-examples=12")
# A test is written once and run without pytest-xdist, with it in one process, and in two.
DISTRIBUTIONS = {"alone": ["-p", "no:xdist"], "n0": ["-n0"], "n2": ["-n2"]}
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


def session(
    pytester: pytest.Pytester,
    source: str,
    *arguments: str,
    warnings: str = "error",
    budget: tuple[str, ...] = BUDGET,
    server: bool = False,
    shuffled: bool = False,
) -> pytest.RunResult:
    """Run the test file ``source`` (below the usual imports), warnings being errors.

    ``server``: as on a continuous-integration server; else as at a desk, wherever this runs.
    ``shuffled``: with pytest-randomly, which loads where it is installed.
    """
    pytester.makepyfile(test_it=HEAD + textwrap.dedent(source))
    options = ["-p", "no:cacheprovider", "-p", "no:benchmark", "-W", warnings, "--strict-markers"]
    with pytest.MonkeyPatch.context() as environment:
        for name in SERVERS:
            environment.delenv(name, raising=False)
        if shuffled:
            environment.delenv("PYTEST_ADDOPTS", raising=False)
        if server:
            environment.setenv("CI", "true")
        return pytester.runpytest_subprocess(*options, *budget, *arguments)


def text(result: pytest.RunResult) -> str:
    """What the session printed."""
    return result.stdout.str()


def printed(result: pytest.RunResult, name: str) -> list[str]:
    """What follows ``name`` on the lines that the tests printed (run with -s)."""
    return re.findall(rf"{name} (.*)", text(result))
