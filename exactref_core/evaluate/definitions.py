"""What a user states as an operation and its gradient, over the core's verbs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.verbs import Complex, Value
from exactref_core.errors import InputError
from exactref_core.evaluate.chain_rule import Tape, chain_rule
from exactref_core.evaluate.definition_verbs import Definitions

__all__ = ["CHAIN", "definition", "gradient", "name_of"]

CHAIN = "chain_rule"


def gradient(
    backward: Callable[..., Any] | str,
    function: Callable[..., Any],
    tensors: tuple[str, ...],
    optional: tuple[str, ...],
    outputs: tuple[str, ...],
) -> Callable[..., Any]:
    """Return the gradient of a definition over the core's verbs, as a user states it."""
    if isinstance(backward, str):
        return by_chain_rule(function, tensors, optional, outputs)
    stated = backward

    def over_verbs(verbs: Any, *tensors: Any, **parameters: Any) -> Any:
        found = followed(stated, Definitions(verbs), tensors, parameters)
        values = found.values() if isinstance(found, Mapping) else (found,)
        for value in values:
            if not isinstance(found, Mapping) or not isinstance(value, (Node, Complex)):
                raise InputError(
                    f"{name_of(stated)} returned {type(value).__name__}; a gradient returns a "
                    "mapping of values by the names of the tensors"
                )
        return found

    over_verbs.__doc__ = stated.__doc__
    return over_verbs


def by_chain_rule(
    function: Callable[..., Any],
    tensors: tuple[str, ...],
    optional: tuple[str, ...],
    outputs: tuple[str, ...],
) -> Callable[..., Any]:
    """Return the gradient of a definition over the core's verbs, by the chain rule."""

    def over_verbs(verbs: Any, grad_output: Any, *given: Any, **parameters: Any) -> Any:
        beside = {name: parameters.pop(f"grad_{name}") for name in outputs[1:]}

        def trace(verbs: Any, tape: Tape) -> Mapping[str, Value]:
            return traced(function, outputs, Definitions(verbs, tape), given, parameters)

        operands = dict(zip(tensors, given, strict=True))
        operands |= {name: parameters[name] for name in optional if parameters[name] is not None}
        return chain_rule(trace, verbs, {outputs[0]: grad_output, **beside}, operands)

    over_verbs.__doc__ = "By the chain rule: the gradients of its operations, in reverse order."
    return over_verbs


def definition(function: Callable[..., Any], outputs: tuple[str, ...]) -> Callable[..., Any]:
    """Return the definition over the core's verbs: of one output the value, as another calls it."""

    def over_verbs(verbs: Any, *tensors: Any, **parameters: Any) -> Any:
        found = traced(function, outputs, Definitions(verbs), tensors, parameters)
        return found if len(outputs) > 1 else found[outputs[0]]

    over_verbs.__doc__ = function.__doc__
    over_verbs.__name__ = name_of(function)
    return over_verbs


def traced(
    function: Callable[..., Any],
    outputs: tuple[str, ...],
    verbs: Definitions,
    tensors: tuple[Any, ...],
    parameters: Mapping[str, Any],
) -> dict[str, Value]:
    """Return the outputs of a definition by name; InputError for what is no value of its verbs."""
    value = followed(function, verbs, tensors, parameters)
    called, named = name_of(function), isinstance(value, Mapping)
    if named and {*value} != {*outputs}:
        raise InputError(
            f"{called} returned the outputs {[*value]}, not {outputs}: name them in define() with "
            "outputs="
        )
    for one in value.values() if named else (value,):
        if not isinstance(one, (Node, Complex)):
            raise InputError(
                f"{called} returned {type(one).__name__}; a definition returns a "
                "value of its verbs, or a mapping of them by the names of its outputs"
            )
    if not named and len(outputs) > 1:
        raise InputError(f"{called} returned one value, not the outputs {outputs}")
    return {name: value[name] for name in outputs} if named else {outputs[0]: value}


def followed(
    function: Callable[..., Any],
    verbs: Definitions,
    tensors: tuple[Any, ...],
    parameters: Mapping[str, Any],
) -> Any:
    """Return what a user's function returns; InputError where it calls itself without an end."""
    try:
        return function(verbs, *tensors, **parameters)
    except RecursionError:
        raise InputError(
            f"{name_of(function)} calls itself without an end: a definition is traced, so that "
            "recursion ends by a parameter or a shape, not by a value"
        ) from None


def name_of(function: Any) -> str:
    """Return what a function is called; that of what a partial stands for."""
    found = getattr(function, "__name__", None) or getattr(function, "func", None)
    return found if isinstance(found, str) else name_of(found) if found else "the definition"
