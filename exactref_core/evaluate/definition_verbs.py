"""The verbs of a user's definition: every operation by its name."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from functools import partial
from numbers import Number
from typing import Any

from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.traced import KNOWN_AS
from exactref_core.arithmetic.verbs import Complex, Value, Verbs
from exactref_core.errors import DTypeError, UnknownNameError
from exactref_core.evaluate.adjoints import STORE
from exactref_core.evaluate.call import HINTS, signature
from exactref_core.evaluate.chain_rule import Tape
from exactref_core.evaluate.definition_views import Compared, DefinitionViews, no_value
from exactref_core.evaluate.origin import snapshots
from exactref_core.evaluate.parameters import checked, plain
from exactref_core.formats.catalogue import get_format, part_format
from exactref_core.gradients import PREFIX
from exactref_core.op import Op
from exactref_core.registry import get_op
from exactref_core.result import Result

__all__ = ["Definitions", "store"]


class Definitions(DefinitionViews):
    """The verbs that a definition is written in: every operation by its name.

    ``v.gelu(v.add(x, bias))`` takes values of the definition and numbers, and parameters as the
    operation's function does. Whatever else a verb of the core is called is there as well.
    """

    def __init__(self, verbs: Any, tape: Tape | None = None) -> None:
        self._verbs, self._tape = verbs, tape

    @property
    def backward(self) -> Gradients:
        """The gradients of the operations by name."""
        return Gradients(self)

    def __getattr__(self, name: str) -> Any:
        return self._verb(name, name)

    def _verb(self, name: str, shown: str) -> Any:
        """Return an operation over values, or a verb of the core."""
        try:
            op = get_op(name)
        except UnknownNameError as error:
            if name in KNOWN_AS:
                hint = f"it is v.{KNOWN_AS[name]}"
            elif not name.startswith("_") and hasattr(self._verbs, name):
                return getattr(self._verbs, name)
            else:
                hint = str(error)
            raise AttributeError(f"a definition has no verb {shown!r}; {hint}") from None
        return partial(self._apply, op)

    def where(self, condition: Any, x1: Any, x2: Any) -> Any:
        """Return x1 where a comparison of values, or an array of bool, says so, else x2."""
        if isinstance(condition, Compared):
            return self._chosen(condition, x1, x2)
        if isinstance(condition, (Node, Complex)):
            raise DTypeError(
                "where: condition is a value of the definition; it is an array of bool, or a "
                "comparison such as v.greater(x, 0)"
            )
        return self._apply(get_op("where"), condition, x1, x2)

    def _apply(self, op: Op, *args: Any, **kwargs: Any) -> Any:
        """Return an operation's value, or its outputs by name."""
        form = signature(op)
        common = inspect.Signature(
            [p for p in form.parameters.values() if p.kind is not p.KEYWORD_ONLY]
        )
        try:
            bound = common.bind(*args, **kwargs)
        except TypeError as error:
            hints = [f"; {name} is {HINTS[name]}" for name in kwargs if name in HINTS]
            text = f"{op.name}{common} in a definition: {error}{''.join(hints)}"
            raise DTypeError(text) from None
        bound.apply_defaults()
        given = snapshots(op, checked(op, dict(bound.arguments)))
        tensors = self._values(op, {name: given.pop(name) for name in op.tensors})
        more = {name: given[name] for name in op.optional if given[name] is not None}
        given |= dict(zip(more, self._values(op, more), strict=True))
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
            raise no_value(x, name)
        if like is None and isinstance(x, float) and abs(x) == math.inf:
            return self.constant(x)
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

    def astype(self, x: Any, dtype: Any) -> Value:
        """Return what `store` does: the exact value is not rounded."""
        return store(x, dtype)


class Gradients:
    """The gradients of the operations, as verbs: ``v.backward.gelu(grad_output, x)["grad_x"]``."""

    def __init__(self, verbs: Definitions) -> None:
        self._definitions = verbs

    def __getattr__(self, name: str) -> Any:
        return self._definitions._verb(PREFIX + name, f"backward.{name}")


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
