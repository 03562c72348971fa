"""The entry point that pytest loads: hooks of a line or two; what they need loads on first use.

PYTEST_DONT_REWRITE: there is no assert here, and rewriting would cost more than loading.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from functools import partial
from types import ModuleType
from typing import Any

import pytest

from pytest_exactref import hookspecs, options
from pytest_exactref.fixtures import dtype_of_the_test, exactref, exactref_executor

__all__ = ["dtype_of_the_test", "exactref", "exactref_executor"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register the options."""
    options.add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare the hooks of extensions."""
    pluginmanager.add_hookspecs(hookspecs)


def pytest_configure(config: pytest.Config) -> None:
    """Fix the options of the session, its seed among them."""
    for kind in ("formats", "adapters", "standards", "ops"):
        hook = getattr(config.hook, f"pytest_exactref_{kind}")
        hook.call_historic(partial(_add, config, kind), {"config": config})
    config.stash[options.KEY] = options.resolve(config)
    config.addinivalue_line("markers", "exactref_op(name): an er.op test, judged on drawn inputs")
    asked = config.stash[options.KEY]
    if asked.cache:
        _running().open_cache(config)
    reports = config.hook.pytest_exactref_report.get_hookimpls()
    if asked.thorough or asked.json or asked.html or reports:
        _running().open_ledger(config)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Give an xdist worker the seed of the session."""
    options.share_seed(node)


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say what was asked for, and the seed."""
    return options.header(config)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Start recording for a test that has the marker or uses the fixture."""
    if item.get_closest_marker("exactref_op") or "exactref" in getattr(item, "fixturenames", ()):
        _running().begin(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Stop recording."""
    try:
        return (yield)
    finally:
        if options.RUN in item.stash:
            _running().end(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Hang the records on the report."""
    report = yield
    if options.RUN in item.stash:
        _running().report(item, report)
    return report


def pytest_unconfigure(config: pytest.Config) -> None:
    """Take back what the session added to the core."""
    if "pytest_exactref.extensions" in sys.modules:
        _extensions().take_back(config)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the reports, once: xdist's workers leave them to their controller."""
    config = session.config
    if hasattr(config, "workerinput"):
        return
    if config.stash[options.KEY].json or config.stash[options.KEY].html:
        _running().write_reports(config)
    if config.hook.pytest_exactref_report.get_hookimpls():
        _running().hand_over(config)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the summary section under --exactref, and where the HTML report is."""
    asked = config.stash[options.KEY]
    if asked.thorough or asked.html:
        _running().summarise(terminalreporter, config)


def _add(config: pytest.Config, kind: str, found: Any) -> None:
    _extensions().add(config, kind, found)


def _extensions() -> ModuleType:
    from pytest_exactref import extensions

    return extensions


def _running() -> ModuleType:
    # Loaded on first use: a session that uses nothing pays for nothing.
    from pytest_exactref import running

    return running
