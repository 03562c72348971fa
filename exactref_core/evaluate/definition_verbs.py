"""The verbs of a user's definition: every operation by its name."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import partial
from numbers import Number
from typing import Any

from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.verbs import Complex, Value, Verbs
from exactref_core.errors import DTypeError, UnknownNameError
from exactref_core.evaluate.adjoints import STORE
from exactref_core.evaluate.call import signature
from exactref_core.evaluate.chain_rule import Tape
from exactref_core.evaluate.parameters import plain
from exactref_core.formats.catalogue import get_format, part_format
from exactref_core.op import Op
from exactref_core.registry import get_op
from exactref_core.result import Result

__all__ = ["Definitions", "store"]


class Definitions:
    """The verbs that a definition is written in: every operation by its name.

    ``v.gelu(v.add(x, bias))`` takes values of the definition and numbers, and parameters as the
    operation's function does. Whatever else a verb of the core is called is there as well.
    """

    def __init__(self, verbs: Any, tape: Tape | None = None) -> None:
        self._verbs, self._tape = verbs, tape

    def __getattr__(self, name: str) -> Any:
        try:
            op = get_op(name)
        except UnknownNameError as error:
            if not name.startswith("_") and hasattr(self._verbs, name):
                return getattr(self._verbs, name)
            raise AttributeError(f"a definition has no verb {name!r}; {error}") from None
        return partial(self._apply, op)

    def _apply(self, op: Op, *args: Any, **kwargs: Any) -> Any:
        """Return an operation's value, or its outputs by name."""
        form = signature(op)
        common = inspect.Signature(
            [p for p in form.parameters.values() if p.kind is not p.KEYWORD_ONLY]
        )
        try:
            bound = common.bind(*args, **kwargs)
        except TypeError as error:
            raise DTypeError(f"{op.name}{common} in a definition: {error}") from None
        bound.apply_defaults()
        given = dict(bound.arguments)
        tensors = self._values(op, {name: given.pop(name) for name in op.tensors})
        found = op.define(self._verbs, *tensors, **given)
        return found if self._tape is None else self._tape.record(op, tensors, given, found)

    def _values(self, op: Op, given: Mapping[str, Any]) -> list[Value]:
        """Return an operation's tensors; a number is a constant, complex beside complex values."""
        values = {name: x for name, x in given.items() if isinstance(x, (Node, Complex))}
        kinds = {isinstance(x, Complex) for x in values.values()}
        if len(kinds) > 1:
            what = {
                name: "complex" if isinstance(x, Complex) else "real" for name, x in values.items()
            }
            raise DTypeError(
                f"{op.name} in a definition: {what}; all are real, or all complex (v.complex(x) "
                "makes a real one complex)"
            )
        like = next((x for x in values.values() if isinstance(x, Complex)), None)
        return [
            values[name] if name in values else self._number(x, f"{op.name}: {name}", like)
            for name, x in given.items()
        ]

    def _number(self, x: Any, name: str, like: Value | None) -> Value:
        """Return a number as a constant of the definition."""
        x = plain(x)
        if isinstance(x, bool) or not isinstance(x, Number):
            raise DTypeError(
                f"{name} must be a value of the definition or a number, not {type(x).__name__}"
            )
        constant: Value = self._verbs.number(x, name, like)
        return constant

    def complex(self, x: Any) -> Value:
        """Return a real value as a complex one, whose imaginary part is 0."""
        if not isinstance(x, Node):
            raise DTypeError(f"complex() takes a real value of the definition, not {x!r}")
        return Complex(x, self._verbs.zeros_like(x))

    def store(self, x: Any, dtype: Any) -> Value:
        """Return ``x`` as implementations store it that round it to ``dtype`` on the way."""
        return store(x, dtype)


def store(x: Any, dtype: Any) -> Value:
    """Return a value of a definition, which implementations may store in ``dtype``.

    The exact value stays what it is; the bounds grow by one rounding to the format, and what
    overflows it may be an infinity. DTypeError for arrays and results, whose calls take dtype=.
    """
    form = get_format(dtype)
    if not form.is_float:
        raise DTypeError(f"dtype={form.name}: intermediates are stored in float formats")
    if not (form.nan and form.eta) or form.name.startswith("float8_e8m0"):
        raise DTypeError(f"dtype={form.name}: intermediates are stored in formats with a NaN and 0")
    if isinstance(x, Complex):
        return Complex(stored(x.real, part_format(form)), stored(x.imag, part_format(form)))
    if isinstance(x, Node):
        return stored(x, form)
    kind = "a result" if isinstance(x, Result) else type(x).__name__
    raise DTypeError(
        f"store() declares an intermediate store inside a definition; x is {kind}. Give the call "
        "whose output is stored dtype= instead"
    )


def stored(x: Node, form: Any) -> Node:
    """Return a node rounded once more, to a format."""
    return Verbs(form).within(x, *STORE)
