"""A result called again: the same calls and views, on other inputs or with other parameters."""

from __future__ import annotations

from typing import Any

from exactref_core.errors import InputError
from exactref_core.evaluate.call import call
from exactref_core.evaluate.origin import Call, Change, Origin, View
from exactref_core.formats.format import Format
from exactref_core.result import Result

__all__ = ["again"]


def again(
    origin: Origin,
    change: Change | None = None,
    *,
    compute: Format | None = None,
    **parameters: Any,
) -> Result:
    """Return the result that an origin describes, called again.

    ``change(name, array)`` returns what takes the place of an input array, of the same shape and in
    the format of the others; ``name`` is the tensor's in its call. It is asked for every input of
    every call of a chain, not for parameters such as masks. ``parameters`` replace those of the
    last call, such as ``rounding`` or ``algorithm``, and ``compute`` the format in which every call
    stores its intermediates. A result used twice is called once, so that
    the new one has the same steps. InputError where the last call has no such parameter.
    """
    known: dict[Origin, Result] = {}

    def input_of(name: str, value: Any) -> Any:
        if isinstance(value, Origin):
            return visit(value)
        return value if change is None else change(name, value)

    def visit(one: Origin, **new: Any) -> Result:
        if one not in known:
            known[one] = view(one) if isinstance(one, View) else anew(one, new)
        return known[one]

    def view(one: View, **new: Any) -> Result:
        source = visit(one.source, **new)
        if one.kind == "name":
            return source[one.argument]
        method = {"reshape": source.reshape, "transpose": source.transpose}.get(one.kind)
        return source[one.argument] if method is None else method(one.argument)

    def anew(one: Origin, new: dict[str, Any]) -> Result:
        if not isinstance(one, Call):
            raise InputError(f"origin must be of a call or a view, not {type(one).__name__}")
        check_parameters(one, new)
        inputs = {name: input_of(name, value) for name, value in one.inputs.items()}
        tensors = [inputs.pop(name) for name in one.op.tensors]
        return call(one.op, tensors, {**one.parameters, **inputs, **new}, compute)

    last = origin
    while isinstance(last, View):
        last = last.source
    visit(last, **parameters)
    return visit(origin)


def check_parameters(one: Call, new: dict[str, Any]) -> None:
    """Raise InputError for parameters that a call does not have."""
    known = {*one.op.first, *one.op.defaults, *one.parameters} - {*one.op.optional}
    for name in new:
        if name not in known:
            raise InputError(f"{one.op.name} has no parameter {name}; it has {sorted(known)}")
