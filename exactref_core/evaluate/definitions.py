"""A user's own operations: a function over the verbs becomes one, with everything that one has."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from numbers import Real
from typing import Any

from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.verbs import Complex, Value, Verbs
from exactref_core.errors import DTypeError, InputError, UnknownNameError
from exactref_core.evaluate.call import function as function_of
from exactref_core.evaluate.call import signature
from exactref_core.evaluate.parameters import plain
from exactref_core.exact.rationals import exactly
from exactref_core.formats.catalogue import get_format, part_format
from exactref_core.op import Domain, Op
from exactref_core.registry import get_op, own
from exactref_core.result import Result

__all__ = ["Definitions", "define", "store"]

FLOATS = ("float64", "float32", "bfloat16", "float16")
GROUPS = re.compile(r"\((\w+\??(,\w+\??)*)?\)(,\((\w+\??(,\w+\??)*)?\))*")
KINDS = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Definitions:
    """The verbs that a definition is written in: every operation by its name.

    ``v.gelu(v.add(x, bias))`` takes values of the definition and numbers, and parameters as the
    operation's function does. Whatever else a verb of the core is called is there as well.
    """

    def __init__(self, verbs: Any) -> None:
        self._verbs = verbs

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
        tensors = [self._value(given.pop(name), f"{op.name}: {name}") for name in op.tensors]
        return op.define(self._verbs, *tensors, **given)

    def _value(self, x: Any, name: str) -> Value:
        """Return a value of the definition; a number is a constant."""
        if isinstance(x, (Node, Complex)):
            return x
        x = plain(x)
        if not isinstance(x, bool) and isinstance(x, Real):
            try:
                constant: Node = self._verbs.constant(exactly(x))
            except (ValueError, OverflowError):
                raise InputError(f"{name} must be a finite number, not {x!r}") from None
            return constant
        raise DTypeError(
            f"{name} must be a value of the definition or a number, not {type(x).__name__}"
        )

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
    return Verbs(form).within(x, 1, Fraction(1, 2))


def define(
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    signature: str | None = None,
    domain: Domain | None = None,
    outputs: tuple[str, ...] = ("output",),
    backward: Callable[..., Any] | None = None,
) -> Any:
    """Make an operation of a definition, a function ``f(v, *tensors, **parameters)`` of verbs.

    Parameters without a default are tensors, the others the operation's own parameters. The
    function returns a value, or with ``outputs`` a mapping of values by those names. ``signature``
    is a NumPy generalised-ufunc signature ("(n),(n)->(n)"; elementwise by default), from which
    inputs are drawn; ``domain`` (`exactref_core.extend.Domain`) says more. ``backward(v,
    grad_output, *tensors, **parameters)`` returns the gradients by tensor, and makes
    ``er.backward.<name>``. Every verb rounds where an implementation may. Returns the operation's
    function, like those of this module; by its name the marker `exactref.op` finds it. InputError
    where the name is taken or nothing is a tensor.
    """
    if function is None:
        return partial(
            define,
            name=name,
            signature=signature,
            domain=domain,
            outputs=outputs,
            backward=backward,
        )
    parameters, tensors = parameters_of(function)
    if domain is None:
        given = signature or ",".join(["()"] * len(tensors)) + "->()"
        domain = Domain(given, FLOATS)
    check(name or function.__name__, domain.signature, len(tensors), outputs, backward)
    op = Op(
        name or function.__name__,
        definition(function, outputs),
        tensors,
        domain,
        {p.name: p.default for p in parameters if p.default is not p.empty},
        outputs,
        backward=None if backward is None else gradient(backward),
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
    if backward is not None and (not callable(backward) or len(outputs) > 1):
        raise InputError(
            "backward must be a function of an operation with one output, "
            f"not {backward!r} with the outputs {outputs}"
        )


def gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a user's gradient over the core's verbs."""

    def over_verbs(verbs: Any, *tensors: Any, **parameters: Any) -> Any:
        found = function(Definitions(verbs), *tensors, **parameters)
        values = found.values() if isinstance(found, Mapping) else (found,)
        for value in values:
            if not isinstance(found, Mapping) or not isinstance(value, (Node, Complex)):
                raise InputError(
                    f"{function.__name__} returned {type(value).__name__}; a gradient returns a "
                    "mapping of values by the names of the tensors"
                )
        return found

    over_verbs.__doc__ = function.__doc__
    return over_verbs


def definition(function: Callable[..., Any], outputs: tuple[str, ...]) -> Callable[..., Any]:
    """Return the definition over the core's verbs."""

    def over_verbs(verbs: Any, *tensors: Any, **parameters: Any) -> Any:
        value = function(Definitions(verbs), *tensors, **parameters)
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
        return value

    over_verbs.__doc__ = function.__doc__
    over_verbs.__name__ = function.__name__
    return over_verbs
