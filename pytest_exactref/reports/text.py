"""The text of a failed check: the failure tables, and drawn inputs as a line to paste."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from exactref_core.array import Array
    from exactref_core.compare import Judgement

__all__ = ["failure_text", "input_text", "paste_line"]

_LONGEST_PASTE = 64  # elements; hypothesis shrinks a failure well below it as a rule


def failure_text(
    judgements: Iterable[Judgement], label: str = "", inputs: Mapping[str, Array] | None = None
) -> str:
    """The tables of the judgements, the label in front, the line to paste behind."""
    front = f"{label}: " if label else ""
    lines = [front + judgement.table() for judgement in judgements]
    if inputs is not None and (line := paste_line(inputs)):
        lines.append(f"paste: {line}")
    return "\n".join(lines)


def paste_line(inputs: Mapping[str, Array]) -> str:
    """A decorator that makes these inputs an explicit example of a marked test; "" if too long."""
    if any(array.size > _LONGEST_PASTE for array in inputs.values()):
        return ""
    arguments = ", ".join(f"{name}={input_text(array)}" for name, array in inputs.items())
    return f"@hypothesis.example({arguments})"


def input_text(array: Array) -> str:
    """An expression that evaluates to ``array``; a description where it would be too long."""
    if array.size > _LONGEST_PASTE:
        return f"Array({array.dtype!r}, shape={array.shape})"
    text = f'er.asarray({_literal(array.tolist())}, "{array.dtype}")'
    if array.size == 0:  # nested empty lists forget every axis behind the first empty one
        text = f'er.asarray([], "{array.dtype}").reshape({array.shape})'
    return text


def _literal(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, complex):
        finite = math.isfinite(value.real) and math.isfinite(value.imag)
        # The repr of a complex number drops the sign of a zero part when it is evaluated.
        plain = finite and value.real != 0 and value.imag != 0
        parts = f"complex({_literal(value.real)}, {_literal(value.imag)})"
        return repr(value) if plain else parts
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value)
