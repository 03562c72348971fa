"""A check that fails: its table, where its elements lie, and what they look like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from exactref_core.array import Array
from exactref_core.compare import judge
from exactref_core.diagnosis.explaining import SECONDS, looks_like
from exactref_core.diagnosis.findings import Findings
from exactref_core.environment import in_default_environment
from exactref_core.evaluate.supplied import supplied
from exactref_core.judgement import Judgement
from exactref_core.result import Result

__all__ = ["arrays_of", "assert_covers", "explained"]


@in_default_environment
def explained(
    judgements: Sequence[Judgement],
    outputs: Mapping[str, Array],
    result: Result,
    findings: Mapping[str, Findings],
    flush_to_zero: bool = False,
) -> list[Judgement]:
    """Return failed judgements with what can be said of them, as `judge` found it.

    Each with where its elements lie, and with the declared computation that it looks like, unless
    judging it took so long that trying others is out of the question.
    """
    found = []
    for one in judgements:
        seen = findings[one.output]
        guess = ""
        if one.seconds <= SECONDS and one.output in outputs:
            guess = looks_like(outputs[one.output], result, one.output, seen, flush_to_zero)
        found.append(replace(one, where=seen.where, looks_like=guess))
    return found


@in_default_environment
def assert_covers(
    output: Any,
    result: Result,
    *,
    standard: str = "normal",
    flush_to_zero: bool = False,
    rows: int = 10,
    executor: Any = None,
) -> None:
    """Raise AssertionError with a table of the worst elements unless every element is covered.

    ``output`` is an array of any library; for several outputs a tuple in their order or a mapping
    by name. ``standard`` is "normal" (default), "any_order", "typical", or another one's name;
    ``rows`` is the length of the table. Below it stand where the elements lie, and which declared
    computation they look like, where that can be said. With an ``executor``, as `compute` takes
    one, blocks of a huge output are judged there.
    """
    __tracebackhide__ = True  # pytest shows the test's own line
    findings: dict[str, Findings] = {}
    judged = judge(
        output,
        result,
        standard=standard,
        flush_to_zero=flush_to_zero,
        rows=rows,
        findings=findings,
        executor=executor,
    )
    failed = [one for one in judged if one.fails("fail")]
    if failed:
        arrays = arrays_of(output, result)
        told = explained(failed, arrays, result, findings, flush_to_zero)
        raise AssertionError("\n".join(one.table() for one in told))


def arrays_of(output: Any, result: Result) -> dict[str, Array]:
    """Return the outputs that are given, as arrays."""
    references: dict[str, Any] = dict(result.outputs)
    return {name: references[name].check(array) for name, array in supplied(output, result).items()}
