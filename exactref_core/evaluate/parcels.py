"""Parts and outputs as plain data, for workers to build them from."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

from exactref_core.arithmetic.graph_steps import Steps, built, steps_of
from exactref_core.arithmetic.parts import Part
from exactref_core.errors import InputError
from exactref_core.evaluate.outputs import PartsOutput
from exactref_core.formats.format import Format
from exactref_core.providers import register
from exactref_core.registry import get_standard, standards

__all__ = ["OutputParcel", "PartParcel", "Rule", "parcel_of", "part_parcel", "rule_parcel"]


@dataclass(frozen=True, eq=False)
class PartParcel:
    """A part: the steps of its graph, and where it begins in the whole."""

    kind: type[Part]
    steps: Steps
    label: str
    start: tuple[int, ...]

    def part(self) -> Part:
        """Return the part."""
        found = self.kind(built(self.steps), self.label)
        found.start = self.start
        return found


@dataclass(frozen=True, eq=False)
class OutputParcel:
    """An output and its parts."""

    op: str
    name: str
    format: Format
    parts: tuple[PartParcel, ...]

    def output(self) -> PartsOutput:
        """Return the output."""
        parts = [one.part() for one in self.parts]
        nodes = [part.node for part in parts]
        return PartsOutput(self.op, self.name, self.format, parts, nodes, None)


def part_parcel(part: Part) -> PartParcel:
    """Return what a part is built from."""
    return PartParcel(type(part), steps_of(part.node), part.label, part.start)


def parcel_of(output: PartsOutput) -> OutputParcel:
    """Return what a block of an output is built from."""
    parts = tuple(part_parcel(part) for part in output.parts)
    return OutputParcel(output.op, output.name, output.format, parts)


@dataclass(frozen=True)
class Rule:
    """A standard by name, and as bytes where it is not one of the library."""

    name: str
    content: bytes | None = None

    def standard(self) -> Any:
        """Return the standard, which this process knows afterwards; InputError if it cannot."""
        if self.content is not None and self.name not in standards():
            try:
                register(Added(pickle.loads(self.content)))
            except (ImportError, AttributeError) as error:
                raise InputError(
                    f"the executor's worker does not know the standard {self.name!r}: {error}; "
                    "define it in a module that workers can import"
                ) from None
        return get_standard(self.name)


class Added:
    """A provider of one standard."""

    def __init__(self, rule: Any) -> None:
        self.rule = rule

    def exactref_standards(self) -> list[Any]:
        """Return the standard."""
        return [self.rule]


def rule_parcel(name: str) -> Rule:
    """Return a standard for workers; InputError for one that cannot travel."""
    rule = get_standard(name)
    if type(rule).__module__.partition(".")[0] == "exactref_core":
        return Rule(name)
    try:
        return Rule(name, pickle.dumps(rule))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            f"the standard {name!r} cannot be sent to an executor's workers: {error}; define it "
            "in a module that they can import"
        ) from None
