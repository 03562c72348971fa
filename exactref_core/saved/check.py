"""What a saved check is, and how it becomes plain data and named arrays, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from exactref_core.array import Array
from exactref_core.errors import InputError, UnknownNameError
from exactref_core.evaluate import again
from exactref_core.evaluate.origin import Call, Origin, View
from exactref_core.formats.catalogue import FORMATS, get_format
from exactref_core.formats.format import Format
from exactref_core.registry import get_op
from exactref_core.result import Result
from exactref_core.saved.plain import NotPlain, from_plain, to_plain

__all__ = ["SavedCheck", "from_data", "to_data"]

TERMS: Final[dict[str, type]] = {
    "standard": str,
    "worse": str,
    "flush_to_zero": bool,
    "rows": int,
    "label": str,
    "nodeid": str,
    "drawn": bool,
    "version": str,
}


@dataclass(frozen=True)
class SavedCheck:
    """A check: outputs by name, how their reference came about, and the terms they are judged on.

    ``worse`` is what "correct but worse" does, ``nodeid`` the test's; ``drawn`` says that inputs
    were drawn for a marked test. ``modules`` are the files or modules to import before the check
    can be judged, since they define its operation or standard; ``version`` is that of the library
    that saved it.
    """

    outputs: Mapping[str, Array]
    origin: Origin
    standard: str = "normal"
    worse: str = "fail"
    flush_to_zero: bool = False
    rows: int = 10
    label: str = ""
    nodeid: str = ""
    drawn: bool = False
    modules: tuple[str, ...] = ()
    version: str = ""

    @property
    def result(self) -> Result:
        """The reference."""
        return again(self.origin)

    @property
    def inputs(self) -> Mapping[str, Array] | None:
        """The tensors by name that a marked test was given; None for other checks."""
        if not self.drawn or not isinstance(self.origin, Call):
            return None
        given = self.origin.inputs
        arrays = {name: given[name] for name in self.origin.op.tensors}
        return {name: x for name, x in arrays.items() if isinstance(x, Array)}


class Writer:
    """Collects the steps, formats and arrays of a check."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self.formats: dict[str, Format] = {}
        self.steps: list[dict[str, Any]] = []
        self.numbers: dict[Origin, int] = {}

    def keep(self, array: Array, name: str) -> str:
        """Keep an array, once, and return its name."""
        for known, other in self.arrays.items():
            if other is array:
                return known
        key = f"{len(self.arrays)}.{name}"
        self.arrays[key] = array
        self.form(array.format)
        return key

    def form(self, form: Format) -> str:
        """Keep a format, and return its name."""
        if self.formats.setdefault(form.name, form) != form:
            raise NotPlain(f"two formats are named {form.name!r}")
        return form.name

    def plain(self, name: str, value: Any) -> Any:
        """Return a parameter as plain data."""
        try:
            return to_plain(value, lambda array: self.keep(array, name), self.form)
        except NotPlain as error:
            raise NotPlain(f"{name} is {error}") from None

    def step(self, origin: Origin) -> int:
        """Return the number of a step, its own steps before it."""
        if origin in self.numbers:
            return self.numbers[origin]
        if isinstance(origin, View):
            found = {
                "view": origin.kind,
                "source": self.step(origin.source),
                "argument": self.plain("index", origin.argument),
            }
        elif isinstance(origin, Call):
            found = self.call(origin)
        else:
            raise NotPlain("its result was put together by hand")
        self.steps.append(found)
        self.numbers[origin] = len(self.steps) - 1
        return self.numbers[origin]

    def call(self, origin: Call) -> dict[str, Any]:
        """Return a call as plain data."""
        inputs: dict[str, Any] = {}
        for name, value in origin.inputs.items():
            inputs[name] = (
                {"step": self.step(value)} if isinstance(value, Origin) else self.plain(name, value)
            )
        parameters = {name: self.plain(name, x) for name, x in origin.parameters.items()}
        return {"op": origin.op.name, "inputs": inputs, "parameters": parameters}


def to_data(check: SavedCheck) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return a check as plain data and arrays by name; NotPlain where it has other parameters."""
    writer = Writer()
    writer.step(check.origin)
    outputs = {name: writer.keep(array, name) for name, array in check.outputs.items()}
    data = {
        "terms": {name: getattr(check, name) for name in TERMS},
        "modules": list(check.modules),
        "steps": writer.steps,
        "outputs": outputs,
        "arrays": {name: [x.dtype, list(x.shape)] for name, x in writer.arrays.items()},
        "formats": {
            name: {field.name: getattr(form, field.name) for field in fields(form)}
            for name, form in writer.formats.items()
        },
    }
    return data, writer.arrays


def from_data(data: Mapping[str, Any], arrays: Mapping[str, Array]) -> SavedCheck:
    """Return the check that ``to_data`` was given; ``arrays`` are all that it names.

    UnknownNameError where an operation is not known here; KeyError, TypeError or ValueError where
    the data is not what ``to_data`` writes.
    """
    origins: list[Origin] = []

    def back(value: Any) -> Any:
        return from_plain(value, lambda key: arrays[key], lambda name: read_format(data, name))

    def source(value: Any) -> Any:
        is_step = isinstance(value, dict) and set(value) == {"step"}
        found = earlier(value["step"]) if is_step else back(value)
        if not isinstance(found, (Array, Origin)):
            raise TypeError("an input is neither an array nor an earlier step")
        return found

    def earlier(number: Any) -> Origin:
        if type(number) is not int or not 0 <= number < len(origins):
            raise ValueError(f"there is no step {number!r} before step {len(origins)}")
        return origins[number]

    for step in data["steps"]:
        if "view" in step:
            found: Origin = View(earlier(step["source"]), step["view"], back(step["argument"]))
        else:
            inputs = {name: source(value) for name, value in step["inputs"].items()}
            parameters = {name: back(value) for name, value in step["parameters"].items()}
            found = Call(get_op(step["op"]), inputs, parameters)
        origins.append(found)
    outputs = {name: arrays[key] for name, key in data["outputs"].items()}
    return replace(SavedCheck(outputs, origins[-1]), modules=modules_of(data), **terms_of(data))


def terms_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the terms; TypeError where one is of another type."""
    for name, kind in TERMS.items():
        if type(data["terms"][name]) is not kind:
            raise TypeError(f"{name} is no {kind.__name__}")
    return {name: data["terms"][name] for name in TERMS}


def modules_of(data: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the modules that the check needs; TypeError where they are no strings."""
    if not all(isinstance(name, str) for name in data["modules"]):
        raise TypeError("modules are named by strings")
    return tuple(data["modules"])


def read_format(data: Mapping[str, Any], name: str) -> Format:
    """Return a format by the description in the data; InputError where it means another here."""
    described = Format(**data["formats"][name])
    stored = FORMATS.get(described.storage)  # a dtype that some format has, and no other
    if stored is None or stored.kind != described.kind:
        raise ValueError(f"{name} is not stored as {described.storage}")
    try:
        known = get_format(name)
    except UnknownNameError:
        return described
    if known != described or described.name != name:
        raise InputError(f"the format {name!r} is another one here")
    return known
