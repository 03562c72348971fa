"""The arena's counts as tables: what is judged, what is missed, by whom, and how tight it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tests.arena.tally import Counts, Tally

Data = dict[str, Any]
OWN = ("normal", "any_order", "typical")


def grouped(data: Data, table: str, places: Sequence[int]) -> dict[tuple[str, ...], Counts]:
    """Rows of a table added up over the other parts of their keys."""
    found = Tally()
    for key, counts in data["tables"].get(table, {}).items():
        parts = key.split(" | ")
        found.add(table, tuple(parts[i] for i in places), **counts)
    return {tuple(key.split(" | ")): row for key, row in found.tables.get(table, {}).items()}


def percent(part: float, whole: float) -> str:
    return "-" if not whole else f"{100 * part / whole:.1f} %"


def percent_of(row: Counts, part: str, among: str) -> str:
    """A share that a kept run may not have counted."""
    return percent(row[part], row[among]) if part in row else "-"


def whole(number: float) -> str:
    return f"{int(number):,}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [line(head), "|" + " --- |" * len(head)]
    return "\n".join([*lines, *map(line, rows)])


def line(cells: Sequence[str]) -> str:
    """A row of a table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def soundness(data: Data) -> str:
    """Right kernels by operation: false verdicts, and the worst error over tolerance."""
    rows = [
        (
            op,
            whole(row["elements"]),
            whole(row["false_wrong"]),
            whole(row["asked_normal"]),
            whole(row["false_worse"]),
            f"{row.get('ratio_normal', 0):.2f}",
            f"{row['ratio_any_order']:.2f}",
        )
        for (op,), row in grouped(data, "right", [1]).items()
    ]
    head = ("operation", "elements", "false wrong", "of normal kernels", "false worse")
    return table((*head, "error/normal", "error/any_order"), rows)


def typical(data: Data) -> str:
    """Right kernels under `typical` by value class: those of normal, and all others."""
    rows = [
        (
            kind,
            who,
            whole(row["elements"]),
            whole(row["worse"]),
            whole(row["unlikely"]),
            percent(row["refused"], row["outputs"]),
            f"{row['ratio_typical']:.2f}",
        )
        for (kind, who), row in grouped(data, "typical", [0, 1]).items()
    ]
    if not rows:
        return "The kept run has not counted them."
    head = ("class", "kernels", "elements", "outside normal", "outside typical")
    return table((*head, "outputs with one outside", "error/typical"), rows)


def guided(data: Data) -> str:
    """The largest ratios that the guided search found, and those it began with."""
    found = grouped(data, "guided", [0, 1])
    rows = []
    for op in dict.fromkeys(op for op, _ in found):
        normal, free = (found.get((op, s), {}) for s in ("normal", "any_order"))
        elements = normal.get("elements", 0) + free.get("elements", 0)
        pairs = [(row.get(f"ratio{at}", 0.0)) for row in (normal, free) for at in ("_start", "")]
        rows.append((op, whole(elements), *(f"{ratio:.2f}" for ratio in pairs)))
    if not rows:
        return "The kept run has not searched."
    head = ("operation", "elements", "error/normal at first", "at last")
    return table((*head, "error/any_order at first", "at last"), rows)


def sharpness(data: Data) -> str:
    """Broken kernels by operation."""
    rows = [
        (
            op,
            whole(row["tensors"]),
            percent(row["tensors_caught"], row["tensors"]),
            percent(row["tensors_caught_free"], row["tensors"]),
            percent_of(row, "tensors_caught_likely", "tensors"),
            whole(row["beyond"]),
            whole(row["missed_beyond"]),
        )
        for (op,), row in grouped(data, "faults", [0]).items()
    ]
    head = ("operation", "faulty outputs", "caught, normal", "caught, any_order")
    return table((*head, "caught, typical", "elements beyond any_order", "missed"), rows)


def marked(data: Data) -> str:
    """Faults under one test with er.op, by operation."""
    rows = [
        (
            op,
            whole(row["tests"]),
            percent(row["caught"], row["tests"]),
            percent(row["caught_thorough"], row["tests"]),
        )
        for (op,), row in [*grouped(data, "marked", [0]).items(), *total(data, "marked")]
    ]
    return table(("operation", "faulty kernels", "caught", "caught with --exactref"), rows)


def total(data: Data, name: str) -> list[tuple[tuple[str, ...], Counts]]:
    """All rows of a table added up."""
    found = Tally()
    for counts in data["tables"].get(name, {}).values():
        found.add(name, ("all",), **counts)
    return [(("all",), row) for row in found.tables.get(name, {}).values()]


def missed(data: Data) -> str:
    """The faults that a test with er.op does not catch."""
    rows = [
        (op, kind, form, "caught" if row["caught_thorough"] else "missed")
        for (op, kind, form), row in grouped(data, "marked", [0, 1, 2]).items()
        if row["tests"] and not row["caught"]
    ]
    return table(("operation", "fault", "format", "with --exactref"), rows)


def rivals(data: Data, kind: str) -> str:
    """Every rule on the same outputs of plain or of hostile data."""
    rows = []
    for (which, name), row in grouped(data, "rivals", [0, 1]).items():
        if which == kind:
            right, broken, far = (row.get(k, 0) for k in ("right", "broken", "far"))
            alarms, missed, missed_far = (row.get(k, 0) for k in ("alarms", "missed", "missed_far"))
            rows.append(
                (
                    f"exactref, {name}" if name in OWN else name,
                    whole(right),
                    percent(alarms, right),
                    whole(broken),
                    percent(missed, broken),
                    percent(missed_far, far),
                )
            )
    head = ("rule", "right outputs", "false alarms", "faulty outputs", "missed")
    return table((*head, "missed though beyond any_order"), rows)


def rivals_by(data: Data, name: str, what: str) -> str:
    """False alarms and misses of each rule, by operation, format or size."""
    found = grouped(data, name, [0, 1])
    rules = list(dict.fromkeys(rule for _, rule in found))
    rows = []
    keys = list(dict.fromkeys(key for key, _ in found))
    for key in sorted(keys, key=int) if all(map(str.isdigit, keys)) else keys:
        cells = [key]
        for rule in rules:
            row = found.get((key, rule), {})
            alarms = percent(row.get("alarms", 0), row.get("right", 0))
            missed = percent(row.get("missed", 0), row.get("broken", 0))
            cells.append(f"{alarms} / {missed}".replace(" %", ""))
        rows.append(cells)
    return table((what, *rules), rows)


def tightness(data: Data) -> str:
    """The worst error over tolerance of right kernels by operation and size."""
    rows = [
        (op, size, *(ratio(row, name) for name in OWN))
        for (op, size), row in grouped(data, "right", [1, 3]).items()
    ]
    return table(("operation", "size", *(f"error/{name}" for name in OWN)), rows)


def ratio(row: Counts, standard: str) -> str:
    """The worst error over tolerance under a standard, if it was asked."""
    found = row.get(f"ratio_{standard}")
    return "-" if found is None else f"{found:.3f}"


def summary(data: Data) -> str:
    parts = [soundness(data), typical(data), sharpness(data)]
    parts += [rivals(data, "plain"), rivals(data, "hostile")]
    if "marked" in data["tables"]:
        parts += [marked(data), missed(data)]
    return "\n\n".join((*parts, tightness(data)))
