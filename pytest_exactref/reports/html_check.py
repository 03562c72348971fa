"""One check on the HTML report: its row as markup, and the plain data of what opens below it."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING, Any, Final

from pytest_exactref.vacuity import passing

if TYPE_CHECKING:
    from pytest_exactref.records import CheckRecord

__all__ = ["WORDS", "detail", "row", "verdict"]

# The verdicts, from good to bad, by the names that style and script have for them.
WORDS: Final = {"normal": "normal", "worse": "correct but worse", "wrong": "wrong"}


def verdict(record: CheckRecord) -> str:
    """The worst verdict of any element."""
    return "wrong" if record.wrong else "worse" if record.worse else "normal"


def row(index: int, record: CheckRecord) -> str:
    """The row of a check, in a table body of its own that what opens below it joins."""
    name = verdict(record)
    fails = str(bool(record.shown.get("fails"))).lower()
    key = list(WORDS).index(name)
    cells = [
        f'<td role="cell" data-key="{key}"><span class="verdict {name}">{WORDS[name]}</span></td>',
        f'<th scope="row" role="rowheader">{_test(record)}</th>',
        *(
            f'<td role="cell">{escape(text)}</td>'
            for text in (record.op, record.dtype, record.standard)
        ),
        _number(record.elements),
        _number(record.worse, "some-worse"),
        _number(record.wrong, "some-wrong"),
        _cell(_key(record.ratio), "∞" if math.isinf(record.ratio) else f"{record.ratio:.3g}"),
        _number(record.checks),
        _cell(_key(record.seconds), f"{record.seconds:.2f}\N{NO-BREAK SPACE}s"),
    ]
    start = f'<tbody role="rowgroup" class="check" id="check-{index}"'
    facts = f'data-verdict="{name}" data-fails="{fails}"'
    return f'{start} {facts}><tr role="row">{"".join(cells)}</tr></tbody>'


def _test(record: CheckRecord) -> str:
    path, _, test = record.nodeid.rpartition("::")
    if "[" in record.nodeid:  # what stands in the brackets of a parametrized test may hold colons
        front, _, rest = record.nodeid.partition("[")
        path, _, test = front.rpartition("::")
        test = f"{test}[{rest}"
    tags = "".join(f' <span class="tag">{escape(tag)}</span>' for tag in _tags(record))
    return (
        f'<button class="open" type="button" aria-expanded="false">{_breakable(test)}</button>'
        f'<span class="path">{_breakable(path)}{tags}</span>'
    )


def _breakable(name: str) -> str:
    # A name has no spaces: lines of it may break behind what separates its words.
    return re.sub(r"([_/]|::)(?=.)", r"\1<wbr>", escape(name))


def _tags(record: CheckRecord) -> Iterator[str]:
    if record.label:
        yield record.label
    if record.output != "output":
        yield f"output {record.output}"
    if record.outcome in ("xfailed", "xpassed"):
        yield record.outcome
    if passing(record):
        yield "vacuous"


def _number(count: int, kind: str = "") -> str:
    return _cell(str(count), f"{count:,}", kind if count else "none" if kind else "")


def _cell(key: str, text: str, kind: str = "") -> str:
    return f'<td role="cell" class="{f"number {kind}".strip()}" data-key="{key}">{text}</td>'


def _key(value: float) -> str:
    return "Infinity" if math.isinf(value) else repr(value)


def detail(record: CheckRecord, options: Mapping[str, Any]) -> dict[str, Any]:
    """What the page draws when a check is opened."""
    label = f" ({record.label})" if record.label else ""
    output = "" if record.output == "output" else f", output {record.output}"
    shown = {name: value for name, value in record.shown.items() if name not in ("ratio", "paste")}
    return {
        "title": f"{record.nodeid}{output}{label}",
        "op": record.op,
        "dtype": record.dtype,
        "standard": record.standard,
        "drawn": record.drawn,
        "examples": record.checks,
        "remarks": list(_remarks(record)),
        "shown": shown or None,
        "histogram": record.histogram,
        "again": list(_again(record, options)),
    }


def _remarks(record: CheckRecord) -> Iterator[str]:
    if record.where:
        yield f"Where: {record.where}."
    if record.looks_like:
        yield f"Looks like: {record.looks_like}."
    if record.outcome in ("xfailed", "xpassed"):
        yield f"The test was expected to fail ({record.outcome})."
    if record.vacuous:
        yield (
            f"At {record.vacuous:,} of {record.elements:,} elements {record.standard} guarantees "
            "nothing: its tolerance is infinite or reaches the sum of the magnitudes of the terms."
        )
    for words in passing(record):
        yield f"{words[0].upper()}{words[1:]} would also pass."


def _again(record: CheckRecord, options: Mapping[str, Any]) -> Iterator[list[str]]:
    """Lines that reproduce the check, each with a name."""
    flags = {
        "--exactref": record.drawn and options["thorough"],
        f"--exactref-seed={options['seed']}": record.drawn,
        f"--exactref-examples={options['examples']}": record.drawn,
        f"--exactref-standard={options['standard']}": options["standard"] != "normal",
        f"--exactref-worse={options['worse']}": options["worse"] != "fail",
        "--exactref-flush-to-zero": options["flush_to_zero"],
    }
    asked = [flag for flag, is_asked in flags.items() if is_asked]
    yield ["the test", shlex.join(["pytest", record.nodeid, *asked])]
    if paste := record.shown.get("paste"):
        yield ["this example", paste]
    if record.replay:
        yield ["these tensors", record.replay]
