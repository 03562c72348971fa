"""Library kernels that fall outside, each on the smallest input that is known: docs/findings.md.

They are no faults of these tests: each one is expected to fail where the library, or the CPU, does
what ours did, and may pass elsewhere. `--runxfail -k NAME` shows the table of one.
"""

import re

import numpy as np
import pytest

import exactref as er
from docs.examples.__main__ import main
from docs.examples.finding import FINDINGS, only
from tests.docs.findings_page import PAGE


@pytest.fixture
def finding(name):
    found = FINDINGS[name]
    if found.needs != "numpy":
        pytest.importorskip(found.needs)
    return found


def marked():
    """The names, with what is expected where a kernel is run and judged."""
    return [
        pytest.param(
            name, marks=pytest.mark.xfail(strict=False, raises=AssertionError, reason=one.why)
        )
        for name, one in FINDINGS.items()
    ]


@pytest.mark.parametrize("name", marked())
def test_the_kernel_is_outside(exactref, finding):
    case = finding.case()
    with np.errstate(all="ignore"):
        output = case.output()
    exactref.check(output, case.result, standard=finding.standard)


@pytest.mark.parametrize("name", [name for name, one in FINDINGS.items() if one.case().declared])
def test_it_is_covered_once_it_is_declared(finding):
    case = finding.case()
    with np.errstate(all="ignore"):
        output = only(case.output())
    assert case.declared(output)


def numbers(text, count):
    """The number that a row of the page shows, one for each part."""
    found = [float(one) for one in re.findall(r"-?(?:inf|nan|[\d.]+(?:e[+-]\d+)?)", text)]
    assert len(found) == count
    return found


@pytest.mark.parametrize("name", FINDINGS)
def test_what_the_page_says_is_outside(name):
    finding = FINDINGS[name]
    case = finding.case()
    rounded = case.result.rounded
    values = np.array(rounded.values()).reshape(-1)
    parts = numbers(finding.returned, 2 if np.iscomplexobj(values) else 1)
    values[case.at] = complex(*parts) if len(parts) == 2 else parts[0]
    output = er.asarray(values.reshape(rounded.shape), rounded.dtype)
    covered = np.asarray(case.result.covers(output, finding.standard)).reshape(len(values), -1)
    assert not covered[case.at].all()
    assert np.delete(covered, case.at, axis=0).all()


@pytest.mark.parametrize("name", FINDINGS)
def test_the_command_shows_what_the_page_says(finding, monkeypatch, capsys):
    if not finding.ours:
        pytest.skip(f"another {finding.library}, or another processor, may return something else")
    (row,) = [
        line for line in PAGE.read_text().splitlines() if line.endswith(f"`{finding.name}` |")
    ]
    kernel, form, library, verdict, given, returned, exact = row[2:].split(" | ")[:7]
    monkeypatch.setattr("sys.argv", ["examples", finding.name])
    main()
    told = dict(
        re.split(r"  +", line, maxsplit=1) for line in capsys.readouterr().out.split("\n") if line
    )
    assert told.pop("library").startswith(library.split(", ")[0])
    told.pop("tolerance")
    assert told == {
        "kernel": f"{kernel}, {form}",
        "input": given,
        "returns": returned,
        "exact": exact,
        "verdict": verdict,
    }
