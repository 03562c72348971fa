"""define: a function over the verbs becomes an operation, with everything that one has."""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from exactref_core.errors import InputError
from exactref_core.evaluate.call import COMMON_NAMES
from exactref_core.evaluate.call import function as function_of
from exactref_core.evaluate.definitions import CHAIN, definition, gradient, name_of
from exactref_core.formats.catalogue import get_format
from exactref_core.op import REQUIRED, Domain, Op
from exactref_core.registry import own

__all__ = ["define"]

FLOATS = ("float64", "float32", "bfloat16", "float16")
GROUPS = re.compile(r"\((\w+\??(,\w+\??)*)?\)(,\((\w+\??(,\w+\??)*)?\))*")
BY_PLACE = inspect.Parameter.POSITIONAL_OR_KEYWORD
BY_NAME = inspect.Parameter.KEYWORD_ONLY


def define(
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    signature: str | None = None,
    domain: Domain | None = None,
    outputs: tuple[str, ...] = ("output",),
    optional: tuple[str, ...] = (),
    arrays: tuple[str, ...] = (),
    backward: Callable[..., Any] | str | None = None,
    gradients: tuple[str, ...] | None = None,
    real_output: bool = False,
) -> Any:
    """Make an operation of a definition, a function ``f(v, *tensors, **parameters)`` of verbs.

    Parameters without a default are tensors, the others the operation's own parameters. Of these
    ``optional`` names tensors that may be absent (their default is None), and ``arrays`` arrays of
    another kind, such as masks and class indices, which are passed on to verbs as they are; one
    without a default has to be given. The function returns a value, or with ``outputs`` a mapping
    of values by those names. ``signature`` is a NumPy generalised-ufunc signature ("(n),(n)->(n)";
    elementwise by default) of the tensors, from which inputs are drawn; ``domain``
    (`exactref_core.extend.Domain`), in its place, says more, such as that inputs may be complex;
    ``real_output`` that the outputs of those are real.

    ``backward(v, grad_output, *tensors, **parameters)`` returns the gradients by tensor, of those
    that ``gradients`` names (None: all), and makes ``er.backward.<name>``; where there are several
    outputs, it takes ``grad_<output>`` of those after the first as well, which may be None.
    ``backward="chain_rule"`` composes it of the gradients of the operations that the definition
    calls, as automatic differentiation does.

    Every verb rounds where an implementation may. Returns the operation's function, like those of
    this module; by its name the marker `exactref.op` finds it. InputError where the name is taken
    or the arguments do not fit the function.
    """
    if function is None:
        given = {name: value for name, value in locals().items() if name != "function"}
        return partial(define, **given)
    outputs, optional, arrays = (
        names(what, given)
        for what, given in (("outputs", outputs), ("optional", optional), ("arrays", arrays))
    )
    if not outputs:
        raise InputError("outputs must be a tuple of names, not ()")
    tensors, defaults = parameters_of(function, optional, arrays)
    named = name_of(function) if name is None else name
    check_name(named)
    if gradients is not None:
        gradients = among("gradients", names("gradients", gradients), (*tensors, *optional))
    slopes = None
    if backward is not None:
        check_gradient(backward, tensors, defaults, outputs)
        slopes = gradient(backward, function, tensors, optional, outputs)
    op = Op(
        named,
        definition(function, outputs),
        tensors,
        domain_of(signature, domain, tensors),
        defaults,
        outputs,
        real_output=real_output,
        backward=slopes,
        gradients=gradients,
        grad_outputs=() if slopes is None else outputs[1:],
        arrays=arrays,
        optional=optional,
    )
    own(op, getattr(function, "func", function).__module__)  # of a partial, its function's
    return function_of(op)


def names(what: str, given: Any) -> tuple[str, ...]:
    """Return a tuple of names; InputError for anything else."""
    found = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    wrong = isinstance(given, str) or not all(isinstance(name, str) for name in found)
    if wrong or len({*found}) < len(found):
        raise InputError(f"{what} must be a tuple of names, not {given!r}")
    return found


def among(
    what: str, given: tuple[str, ...], known: Any, those: str = "there are"
) -> tuple[str, ...]:
    """Return names, InputError for those that are none of the known ones."""
    if other := [name for name in given if name not in known]:
        raise InputError(f"{what} names {other}; {those} {[*known]}")
    return given


def check_name(name: Any) -> None:
    """Raise InputError for what no operation can be called."""
    fits = isinstance(name, str) and (name.isidentifier() or name.startswith("<"))
    if not fits or keyword.iskeyword(name):
        raise InputError(f"name must be a Python identifier, not {name!r}")


def parameters_of(
    function: Any, optional: tuple[str, ...], arrays: tuple[str, ...]
) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return the tensors of a definition, and the other parameters with their defaults.

    A keyword-only parameter needs a default, since all others are tensors.
    """
    if not callable(function) or isinstance(function, type):
        raise InputError(f"define() takes a function f(v, x, ...), not {function!r}")
    called = name_of(function)
    given = list(inspect.signature(function).parameters.values())[1:]
    absent = [p.name for p in given if p.default is None]
    among("optional", optional, absent, "parameters whose default is None are")
    among("arrays", arrays, [p.name for p in given])
    tensors, defaults, others = [], {}, []
    for p in given:
        bare = p.default is p.empty
        if p.name in arrays or (not bare and p.kind in (BY_PLACE, BY_NAME)):
            defaults[p.name] = REQUIRED if bare else p.default
        elif bare and p.kind in (BY_PLACE, inspect.Parameter.POSITIONAL_ONLY):
            tensors.append(p.name)
            if defaults:
                raise InputError(f"{called}: {p.name} is a tensor and comes after {[*defaults]}")
        else:
            others.append(p.name)
    if others or not tensors:
        what = f"takes {others} otherwise than by position" if others else "has no tensor"
        raise InputError(
            f"{called} {what}: a definition is a function f(v, x, ...) whose "
            "parameters without a default are tensors"
        )
    if taken := [name for name in (*tensors, *defaults) if name in COMMON_NAMES]:
        raise InputError(f"{called} has {taken}, which every call takes: give them other names")
    return tuple(tensors), defaults


def domain_of(signature: Any, domain: Any, tensors: tuple[str, ...]) -> Domain:
    """Return the domain that a definition's signature or domain states; InputError for others."""
    if domain is None:
        given = ",".join(["()"] * len(tensors)) + "->()" if signature is None else signature
        domain = Domain(given, FLOATS)
    elif signature is not None:
        raise InputError("define() takes signature or domain, which has one, and not both")
    if not isinstance(domain, Domain):
        raise InputError(f"domain must be an exactref.extend.Domain, not {domain!r}")
    inputs, arrow, results = str(domain.signature).partition("->")
    whole = all(GROUPS.fullmatch(side) for side in (inputs, results))
    if not arrow or not whole or inputs.count("(") != len(tensors):
        raise InputError(
            f"signature {domain.signature!r} is none of {len(tensors)} tensors, such as "
            f"{','.join(['(n)'] * len(tensors))}->(n)"
        )
    for dtype in names("the dtypes of a domain", domain.dtypes):
        get_format(dtype)
    for what in ("nonnegative", "nonzero", "doubled"):
        among(f"{what} of a domain", names(what, getattr(domain, what)), tensors)
    return domain


def check_gradient(
    backward: Any, tensors: tuple[str, ...], defaults: dict[str, Any], outputs: tuple[str, ...]
) -> None:
    """Raise InputError where a user's gradient cannot be called as it will be."""
    if isinstance(backward, str) and backward == CHAIN:
        return
    if not callable(backward):
        raise InputError(f"backward must be a function or {CHAIN!r}, not {backward!r}")
    more = [f"grad_{name}" for name in outputs[1:]]
    taken = inspect.signature(backward).parameters
    open_ended = any(p.kind is p.VAR_KEYWORD for p in taken.values())
    if not open_ended and (missing := [name for name in more if name not in taken]):
        raise InputError(
            f"backward of an operation with the outputs {outputs} takes {missing} as well: the "
            "gradients of the others, or None"
        )
    try:
        inspect.signature(backward).bind(None, None, *tensors, **defaults, **dict.fromkeys(more))
    except TypeError as error:
        wanted = ", ".join(("v", "grad_output", *tensors, *defaults, *more))
        raise InputError(f"backward is called as {wanted}: {error}") from None
