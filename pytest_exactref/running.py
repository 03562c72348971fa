"""What the hooks do: a run for each test that uses the plugin, its records on the report."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from pytest_exactref import judging, options, records
from pytest_exactref.progress import terminal_of

__all__ = [
    "begin",
    "end",
    "hand_over",
    "open_cache",
    "open_ledger",
    "report",
    "summarise",
    "write_reports",
]


def open_ledger(config: pytest.Config) -> None:
    """Collect the records of a session, from its own tests or from xdist's workers.

    Raises:
        pytest.UsageError: a report is to be written where a folder is, or nothing can be.
    """
    asked = config.stash[options.KEY]
    for name, path in (("exactref_json", asked.json), ("exactref_html", asked.html)):
        if path and not hasattr(config, "workerinput"):
            _try(config.invocation_params.dir / path, f"{name}: {path}")
    config.stash[records.KEY] = records.Ledger()
    config.pluginmanager.register(config.stash[records.KEY], "exactref-ledger")


def _try(path: Path, text: str) -> None:
    # Now, and not after an hour of tests.
    if path.is_dir():
        raise pytest.UsageError(f"{text} is a folder: name a file in it")
    known = path.exists()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("ab").close()
        if not known:
            path.unlink()
    except OSError as error:
        raise pytest.UsageError(f"{text} cannot be written: {error}") from None


def open_cache(config: pytest.Config) -> None:
    """Keep references in the folder of the option, relative to where pytest was started."""
    from exactref_core.cache import use
    from exactref_core.errors import InputError

    asked = config.stash[options.KEY]
    folder = config.invocation_params.dir / str(asked.cache)
    with ExitStack() as opened:
        try:
            opened.enter_context(use(folder, asked.cache_limit * 1_000_000))
        except InputError as error:
            raise pytest.UsageError(f"exactref_cache: {error}") from None
        config.add_cleanup(opened.pop_all().close)


def begin(item: pytest.Item) -> None:
    """Start a run for ``item``, which has the marker or uses the fixture."""
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    run = judging.Run(
        options=item.config.stash[options.KEY],
        nodeid=item.nodeid,
        place=(str(item.path), (item.location[1] or 0) + 1),
        dtype=parameters.get(judging.DTYPE),
        # The dict that setup is about to fill.
        arguments=getattr(item, "funcargs", {}),
        terminal=terminal_of(item.config),
        start=item.config.invocation_params.dir,
    )
    item.stash[options.RUN] = run
    judging.enter(run)
    if item.get_closest_marker("exactref_op") is not None:
        from pytest_exactref import budget

        budget.apply(getattr(item, "obj", None), item.config)


def end(item: pytest.Item) -> None:
    """End the run of ``item``."""
    judging.leave(item.stash[options.RUN])
    if item.get_closest_marker("exactref_op") is not None:
        from pytest_exactref import budget

        budget.restore(getattr(item, "obj", None))


def report(item: pytest.Item, report: pytest.TestReport) -> None:
    """Hang the records of ``item`` on its report, and the seed on a failure, which is saved."""
    run: judging.Run = item.stash[options.RUN]
    if report.when != "call":
        return
    for failure in run.failures.values() if report.failed else ():
        if problem := failure.record():
            report.sections.append(("exactref", problem))
    run.failures.clear()
    records.attach(report, list(run.records.values()))
    if report.failed and item.get_closest_marker("exactref_op") is not None:
        report.sections.append(("exactref", f"seed of this session: {run.options.seed}"))


def write_reports(config: pytest.Config) -> None:
    """Write the files that the options ask for, relative to where pytest was started."""
    asked = config.stash[options.KEY]
    folder, found = config.invocation_params.dir, config.stash[records.KEY].records()
    if asked.json:
        from pytest_exactref.reports import json_report

        json_report.write(folder / asked.json, found, asked._asdict())
    if asked.html:
        from pytest_exactref.reports import html_page

        html_page.write(folder / asked.html, found, asked._asdict())


def hand_over(config: pytest.Config) -> None:
    """Give the report of the session to whoever has the hook for it."""
    from pytest_exactref.reports.json_report import report

    found = report(config.stash[records.KEY].records(), config.stash[options.KEY]._asdict())
    config.hook.pytest_exactref_report(config=config, report=found)


def summarise(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the summary section, and where the HTML report is."""
    from pytest_exactref.reports.summary import summary_lines

    asked = config.stash[options.KEY]
    if asked.thorough:
        terminalreporter.section("exactref")
        for line in summary_lines(config.stash[records.KEY].records()):
            terminalreporter.write_line(line)
    if asked.html:
        terminalreporter.write_sep("-", f"exactref: HTML report in {asked.html}")
