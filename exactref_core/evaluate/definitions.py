"""What a user's definition sees: every operation by its name, over values instead of arrays."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.verbs import Complex
from exactref_core.errors import DTypeError, InputError, UnknownNameError
from exactref_core.evaluate.call import HINTS, signature
from exactref_core.evaluate.defined_verbs import Compared, DefinedVerbs
from exactref_core.evaluate.origin import snapshots
from exactref_core.evaluate.parameters import checked
from exactref_core.gradients import PREFIX
from exactref_core.op import Op
from exactref_core.registry import get_op

__all__ = ["Definitions", "definition", "gradient"]

# What other libraries call verbs.
KNOWN_AS = {
    "cat": "concat",
    "concatenate": "concat",
    "clamp": "clip",
    "mul": "multiply",
    "sub": "subtract",
    "div": "divide",
    "neg": "negative",
    "norm": "vector_norm",
    "power": "pow",
    "transpose": "permute_dims",
    "permute": "permute_dims",
    "view": "reshape",
    "gather": "take",
}


class Definitions(DefinedVerbs):
    """The verbs that a definition is written in: every operation by its name.

    ``v.gelu(v.add(x, bias))`` takes values of the definition and numbers, and parameters as the
    operation's function does. Whatever else a verb of the core is called is there as well.
    """

    def __init__(self, verbs: Any) -> None:
        self._verbs = verbs

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
        tensors = [self._value(given.pop(name), f"{op.name}: {name}") for name in op.tensors]
        for name in op.optional:
            if given[name] is not None:
                given[name] = self._value(given[name], f"{op.name}: {name}")
        return op.define(self._verbs, *tensors, **given)


class Gradients:
    """The gradients of the operations, as verbs: ``v.backward.gelu(grad_output, x)["grad_x"]``."""

    def __init__(self, verbs: Definitions) -> None:
        self._definitions = verbs

    def __getattr__(self, name: str) -> Any:
        return self._definitions._verb(PREFIX + name, f"backward.{name}")


def traced(function: Callable[..., Any], verbs: Any, *tensors: Any, **parameters: Any) -> Any:
    """Return what a user's function returns; InputError where it calls itself without an end."""
    try:
        return function(Definitions(verbs), *tensors, **parameters)
    except RecursionError:
        raise InputError(
            f"{name_of(function)} calls itself without an end: a definition is traced, so that "
            "recursion ends by a parameter or a shape, not by a value"
        ) from None


def name_of(function: Any) -> str:
    """Return what a function is called; that of what a partial stands for."""
    found = getattr(function, "__name__", None) or getattr(function, "func", None)
    return found if isinstance(found, str) else name_of(found) if found else "the definition"


def gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a user's gradient over the core's verbs."""

    def over_verbs(verbs: Any, *tensors: Any, **parameters: Any) -> Any:
        found = traced(function, verbs, *tensors, **parameters)
        values = found.values() if isinstance(found, Mapping) else (found,)
        for value in values:
            if not isinstance(found, Mapping) or not isinstance(value, (Node, Complex)):
                raise InputError(
                    f"{name_of(function)} returned {type(value).__name__}; a gradient returns a "
                    "mapping of values by the names of the tensors"
                )
        return found

    over_verbs.__doc__ = function.__doc__
    return over_verbs


def definition(function: Callable[..., Any], outputs: tuple[str, ...]) -> Callable[..., Any]:
    """Return the definition over the core's verbs."""

    def over_verbs(verbs: Any, *tensors: Any, **parameters: Any) -> Any:
        value = traced(function, verbs, *tensors, **parameters)
        called, named = name_of(function), isinstance(value, Mapping)
        if named and {*value} != {*outputs}:
            raise InputError(
                f"{called} returned the outputs {[*value]}, not {outputs}: name them in define() "
                "with outputs="
            )
        for one in value.values() if named else (value,):
            if not isinstance(one, (Node, Complex)):
                raise InputError(
                    f"{called} returned {type(one).__name__}; a definition returns a value of its "
                    "verbs, or a mapping of them by the names of its outputs"
                )
        if not named and len(outputs) > 1:
            raise InputError(f"{called} returned one value, not the outputs {outputs}")
        return {name: value[name] for name in outputs} if named else value

    over_verbs.__doc__ = function.__doc__
    over_verbs.__name__ = name_of(function)
    return over_verbs
