"""Parameters of a call as plain JSON, and back: only kinds of values that are listed here.

Numbers keep every bit: floats are written in hexadecimal. What is not a JSON value by itself is an
object with one key, which names its kind. Reading builds values of these kinds, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, fields
from fractions import Fraction
from typing import Any, Final

from exactref_core import algorithms
from exactref_core.array import Array
from exactref_core.errors import InputError
from exactref_core.formats.format import Format
from exactref_core.formats.rounding import Overflow, Rounding

__all__ = ["ARRAY", "NotPlain", "from_plain", "to_plain"]

ARRAY: Final = "array"  # the kind that stands for an array, which is kept elsewhere

ALGORITHMS: Final = {name: getattr(algorithms, name) for name in algorithms.__all__}


class NotPlain(InputError):
    """A value of a kind that files do not hold."""


def to_plain(value: Any, keep: Callable[[Array], str], form: Callable[[Format], str]) -> Any:
    """Return a value as JSON has it; NotPlain for a kind that is not known.

    ``keep`` is given arrays, and ``form`` formats; each returns the name to find them by.
    """

    def plain(x: Any) -> Any:
        if x is None or isinstance(x, (bool, str)):
            return x
        if isinstance(x, (Rounding, Overflow)):
            return {type(x).__name__: x.value}
        if isinstance(x, int):
            return x
        if isinstance(x, float):
            return {"float": x.hex()}
        if isinstance(x, complex):
            return {"complex": [x.real.hex(), x.imag.hex()]}
        if isinstance(x, Fraction):
            return {"Fraction": f"{x.numerator}/{x.denominator}"}
        if isinstance(x, list):
            return [plain(item) for item in x]
        if isinstance(x, tuple):
            return {"tuple": [plain(item) for item in x]}
        if isinstance(x, dict):
            return {"dict": [[plain(key), plain(item)] for key, item in x.items()]}
        if isinstance(x, slice):
            return {"slice": [plain(part) for part in (x.start, x.stop, x.step)]}
        if x is Ellipsis:
            return {"ellipsis": None}
        if isinstance(x, Array):
            return {ARRAY: keep(x)}
        if isinstance(x, Format):
            return {"Format": form(x)}
        if type(x) in ALGORITHMS.values():
            return {type(x).__name__: plain(asdict(x))}
        if hasattr(x, "__index__"):
            return int(x.__index__())
        raise NotPlain(f"a {type(x).__name__}, which files do not hold")

    return plain(value)


def from_plain(value: Any, kept: Callable[[str], Array], form: Callable[[str], Format]) -> Any:
    """Return what ``to_plain`` wrote; ValueError, TypeError or KeyError for what it cannot have."""

    def back(x: Any) -> Any:
        if x is None or isinstance(x, (bool, str, int)):
            return x
        if isinstance(x, list):
            return [back(item) for item in x]
        if not isinstance(x, dict) or len(x) != 1:
            raise ValueError(f"{x!r} stands for no value")
        ((kind, content),) = x.items()
        return KINDS[kind](content) if kind in KINDS else built(kind, content)

    def built(kind: str, content: Any) -> Any:
        if kind == "tuple":
            return tuple(back(item) for item in content)
        if kind == "dict":
            return {back(key): back(item) for key, item in content}
        if kind == "slice":
            return slice(*(back(part) for part in content))
        if kind == ARRAY:
            return kept(content)
        if kind == "Format":
            return form(content)
        made = ALGORITHMS[kind]
        known = {field.name for field in fields(made)}
        found = back(content)
        if not set(found) <= known:
            raise ValueError(f"{kind} has no {sorted(set(found) - known)}")
        return made(**found)

    return back(value)


KINDS: Final[dict[str, Callable[[Any], Any]]] = {
    "float": float.fromhex,
    "complex": lambda parts: complex(*map(float.fromhex, parts)),
    "Fraction": lambda text: Fraction(*map(int, text.split("/"))),
    "ellipsis": lambda _: Ellipsis,
    "Rounding": Rounding,
    "Overflow": Overflow,
}
