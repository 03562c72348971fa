"""Says how many random cases the soundness tests judged."""

from __future__ import annotations

import pytest

from tests.every_op.kernels_judging import COUNTS


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if COUNTS["outputs"]:
        cases, outputs = COUNTS["cases"], COUNTS["outputs"]
        terminalreporter.write_line(f"soundness: {cases} random cases, {outputs} outputs judged")
