"""A user's own operations: a function over the verbs becomes one, with everything that one has."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.verbs import Complex, Value
from exactref_core.errors import InputError
from exactref_core.evaluate.call import function as function_of
from exactref_core.evaluate.chain_rule import Tape, chain_rule
from exactref_core.evaluate.definition_verbs import Definitions
from exactref_core.op import Domain, Op
from exactref_core.registry import own

__all__ = ["define"]

FLOATS = ("float64", "float32", "bfloat16", "float16")
GROUPS = re.compile(r"\((\w+\??(,\w+\??)*)?\)(,\((\w+\??(,\w+\??)*)?\))*")
CHAIN = "chain_rule"
KINDS = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def define(
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    signature: str | None = None,
    domain: Domain | None = None,
    outputs: tuple[str, ...] = ("output",),
    backward: Callable[..., Any] | str | None = None,
    real_output: bool = False,
) -> Any:
    """Make an operation of a definition, a function ``f(v, *tensors, **parameters)`` of verbs.

    Parameters without a default are tensors, the others the operation's own parameters. The
    function returns a value, or with ``outputs`` a mapping of values by those names. ``signature``
    is a NumPy generalised-ufunc signature ("(n),(n)->(n)"; elementwise by default), from which
    inputs are drawn; ``domain`` (`exactref_core.extend.Domain`) says more, such as
    that inputs may be complex; ``real_output`` that the outputs of those are real.

    ``backward(v, grad_output, *tensors, **parameters)`` returns the gradients by tensor, and makes
    ``er.backward.<name>``; where there are several outputs, it takes ``grad_<output>`` of those
    after the first as well, which may be None. ``backward="chain_rule"`` composes it of the
    gradients of the operations that the definition calls, as automatic differentiation does.

    Every verb rounds where an implementation may. Returns the operation's function, like those of
    this module; by its name the marker `exactref.op` finds it. InputError where the name is taken
    or nothing is a tensor.
    """
    if function is None:
        return partial(
            define,
            name=name,
            signature=signature,
            domain=domain,
            outputs=outputs,
            backward=backward,
            real_output=real_output,
        )
    parameters, tensors = parameters_of(function)
    if domain is None:
        given = signature or ",".join(["()"] * len(tensors)) + "->()"
        domain = Domain(given, FLOATS)
    check(name or function.__name__, domain.signature, len(tensors), outputs, backward)
    slopes = None if backward is None else gradient(backward, function, tensors, outputs)
    op = Op(
        name or function.__name__,
        definition(function, outputs),
        tensors,
        domain,
        {p.name: p.default for p in parameters if p.default is not p.empty},
        outputs,
        real_output=real_output,
        backward=slopes,
        grad_outputs=() if slopes is None else outputs[1:],
    )
    own(op, function.__module__)
    return function_of(op)


def parameters_of(function: Any) -> tuple[list[inspect.Parameter], tuple[str, ...]]:
    """Return the parameters of a definition, and the names of its tensors; InputError for others.

    A keyword-only parameter needs a default, since all others are tensors.
    """
    if not callable(function):
        raise InputError(f"define() takes a function f(v, x, ...), not {function!r}")
    given = list(inspect.signature(function).parameters.values())[1:]
    parameters = [p for p in given if p.kind in KINDS]
    tensors = tuple(p.name for p in parameters if p.default is p.empty)
    others = [p.name for p in given if p.kind not in KINDS]
    if others or not tensors:
        what = f"takes {others} otherwise than by position" if others else "has no tensor"
        raise InputError(
            f"{function.__name__} {what}: a definition is a function f(v, x, ...) whose "
            "parameters without a default are tensors"
        )
    return parameters, tensors


def check(name: str, signature: str, tensors: int, outputs: Any, backward: Any) -> None:
    """Raise InputError where what `define` is given does not fit together."""
    if not name.isidentifier() and not name.startswith("<"):
        raise InputError(f"name must be a Python identifier, not {name!r}")
    if not isinstance(outputs, tuple) or not outputs:
        raise InputError(f"outputs must be a tuple of names, not {outputs!r}")
    inputs, arrow, results = signature.partition("->")
    whole = all(GROUPS.fullmatch(side) for side in (inputs, results))
    if not arrow or not whole or inputs.count("(") != tensors:
        raise InputError(
            f"signature {signature!r} is none of {tensors} tensors, such as "
            f"{','.join(['(n)'] * tensors)}->(n)"
        )
    if backward is None or backward == CHAIN:
        return
    if not callable(backward):
        raise InputError(f"backward must be a function or {CHAIN!r}, not {backward!r}")
    more = [f"grad_{name}" for name in outputs[1:]]
    taken = inspect.signature(backward).parameters
    if any(p.kind is p.VAR_KEYWORD for p in taken.values()):
        return
    if missing := [n for n in more if n not in taken]:
        raise InputError(
            f"backward of an operation with the outputs {outputs} takes {missing} as well: the "
            "gradients of the others, or None"
        )


def gradient(
    backward: Callable[..., Any] | str,
    function: Callable[..., Any],
    tensors: tuple[str, ...],
    outputs: tuple[str, ...],
) -> Callable[..., Any]:
    """Return the gradient of a definition over the core's verbs, as a user states it."""
    if isinstance(backward, str):
        return by_chain_rule(function, tensors, outputs)
    stated = backward

    def over_verbs(verbs: Any, *tensors: Any, **parameters: Any) -> Any:
        found = stated(Definitions(verbs), *tensors, **parameters)
        values = found.values() if isinstance(found, Mapping) else (found,)
        for value in values:
            if not isinstance(found, Mapping) or not isinstance(value, (Node, Complex)):
                raise InputError(
                    f"{stated.__name__} returned {type(value).__name__}; a gradient returns a "
                    "mapping of values by the names of the tensors"
                )
        return found

    over_verbs.__doc__ = stated.__doc__
    return over_verbs


def by_chain_rule(
    function: Callable[..., Any], tensors: tuple[str, ...], outputs: tuple[str, ...]
) -> Callable[..., Any]:
    """Return the gradient of a definition over the core's verbs, by the chain rule."""

    def over_verbs(verbs: Any, grad_output: Any, *given: Any, **parameters: Any) -> Any:
        beside = {name: parameters.pop(f"grad_{name}") for name in outputs[1:]}

        def trace(verbs: Any, tape: Tape) -> Mapping[str, Value]:
            return traced(function, outputs, Definitions(verbs, tape), given, parameters)

        operands = dict(zip(tensors, given, strict=True))
        return chain_rule(trace, verbs, {outputs[0]: grad_output, **beside}, operands)

    over_verbs.__doc__ = "By the chain rule: the gradients of its operations, in reverse order."
    return over_verbs


def definition(function: Callable[..., Any], outputs: tuple[str, ...]) -> Callable[..., Any]:
    """Return the definition over the core's verbs."""

    def over_verbs(verbs: Any, *tensors: Any, **parameters: Any) -> Any:
        return traced(function, outputs, Definitions(verbs), tensors, parameters)

    over_verbs.__doc__ = function.__doc__
    over_verbs.__name__ = function.__name__
    return over_verbs


def traced(
    function: Callable[..., Any],
    outputs: tuple[str, ...],
    verbs: Definitions,
    tensors: tuple[Any, ...],
    parameters: Mapping[str, Any],
) -> dict[str, Value]:
    """Return the outputs of a definition by name; InputError for what is no value of its verbs."""
    value = function(verbs, *tensors, **parameters)
    named = isinstance(value, Mapping)
    if named and tuple(value) != outputs:
        raise InputError(f"{function.__name__} returned the outputs {[*value]}, not {outputs}")
    for one in value.values() if named else (value,):
        if not isinstance(one, (Node, Complex)):
            raise InputError(
                f"{function.__name__} returned {type(one).__name__}; a definition returns a "
                "value of its verbs, or a mapping of them by the names of its outputs"
            )
    if not named and len(outputs) > 1:
        raise InputError(f"{function.__name__} returned one value, not the outputs {outputs}")
    return dict(value) if named else {outputs[0]: value}
