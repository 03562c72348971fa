"""Whether checks tell anything: what they should refuse is judged too, under --exactref."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from pytest_exactref.records import CheckRecord

if TYPE_CHECKING:
    from exactref_core.compare import Judgement

__all__ = ["PASSES_TOO", "ask", "passing"]

# What a check should refuse, by the question of `exactref_core.vacuity`.
PASSES_TOO: Final = {
    "zeros": "an output of zeros",
    "permuted": "the result of an input in reverse order",
    "narrower": "the result of inputs in the next narrower format",
}


def ask(
    records: Sequence[CheckRecord],
    judgements: Sequence[Judgement],
    result: Any,
    judge: Callable[[Any], Sequence[Judgement]],
    fails: Callable[[Judgement], bool],
) -> None:
    """Judge in place of an output that passed what should not pass, until each has been refused."""
    from exactref_core.vacuity import impostors

    wanted = [judgement.output for judgement in judgements if judgement.total]
    for question in PASSES_TOO:
        if not wanted or all(record.is_settled(question) for record in records):
            continue
        outputs = impostors(result, question, wanted)
        if outputs is None:
            continue
        found: Mapping[str, Judgement] = {one.output: one for one in judge(outputs)}
        for record, judgement in zip(records, judgements, strict=True):
            if judgement.output in found:
                passes = not fails(found[judgement.output])
                record.answer(question, passes, judgement.total)


def passing(record: CheckRecord) -> list[str]:
    """Return what would pass too, in words."""
    return [words for question, words in PASSES_TOO.items() if record.lets_pass(question)]
