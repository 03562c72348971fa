"""``python -m docs.examples NAME``: run a library kernel of docs/findings.md and judge it."""

from __future__ import annotations

import argparse
import importlib.metadata
import sys

import numpy as np

import exactref as er
from docs.examples import (
    findings_gradients,
    findings_narrow,
    findings_numpy,
    findings_rows,
    findings_torch,
    findings_worse,
)
from docs.examples.finding import FINDINGS, Finding, only, shown

MODULES = (
    findings_numpy,
    findings_torch,
    findings_gradients,
    findings_narrow,
    findings_rows,
    findings_worse,
)


@np.errstate(all="ignore")
def report(one: Finding) -> str:
    """What a kernel returns on its input, what is right, and the verdict."""
    case = one.case()
    output = er.asarray(only(case.output()))
    form = str(output.dtype)
    inside = np.asarray(case.result.covers(output, one.standard)).reshape(output.size, -1)
    tolerance = case.result.tolerance(one.standard).scalars()[case.at]
    lines = {
        "kernel": f"{one.kernel}, {one.form}",
        "library": f"{one.library} {importlib.metadata.version(one.library)}",
        "input": one.inputs,
        "returns": shown(output.scalars()[case.at], form),
        "exact": shown(case.result.rounded.scalars()[case.at], form),
        "tolerance": f"{tolerance:.8g} under {one.standard}",
        "verdict": "inside" if inside[case.at].all() else one.verdict,
    }
    return "\n".join(f"{word:9}  {text}" for word, text in lines.items())


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m docs.examples", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="findings; all if none is given")
    given = parser.parse_args().names or list(FINDINGS)
    unknown = sorted(set(given) - set(FINDINGS))
    if unknown:
        parser.error(f"there is no finding {', '.join(unknown)}; docs/findings.md has the names")
    for name in given:
        sys.stdout.write(report(FINDINGS[name]) + "\n\n")


if __name__ == "__main__":
    main()
