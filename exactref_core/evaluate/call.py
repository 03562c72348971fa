"""Calls: arguments bound and checked, the definition traced, the result made."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from exactref_core.arithmetic.all_verbs import AllVerbs
from exactref_core.arithmetic.graph import Leaf, Node, Store
from exactref_core.arithmetic.infinities import ANY, EITHER, Special
from exactref_core.arithmetic.parts import Part
from exactref_core.arithmetic.stochastic import StochasticPart
from exactref_core.arithmetic.verbs import Complex, Value
from exactref_core.errors import DTypeError
from exactref_core.evaluate.inputs import (
    compute_format,
    formats,
    nodes,
    take_optional,
    taken,
    widened,
)
from exactref_core.evaluate.origin import Call, snapshots
from exactref_core.evaluate.outputs import PartsOutput
from exactref_core.evaluate.parameters import INFINITIES, checked, of_complex, takes_complex
from exactref_core.evaluate.tables import table_of
from exactref_core.exact.context import sheltered
from exactref_core.formats.catalogue import get_format, part_format
from exactref_core.formats.format import Format
from exactref_core.formats.rounding import (
    Overflow,
    Rounding,
    parse_overflow,
    parse_store_rounding,
    round_ratio,
)
from exactref_core.op import REQUIRED, Op
from exactref_core.result import Result

__all__ = [
    "COMMON_NAMES",
    "call",
    "function",
    "output_shape",
    "signature",
]

# Steps that round once; alone over inputs, they are no rounding point of a longer computation.
LONE = ("add", "subtract", "multiply", "divide", "sqrt", "negative", "absolute")
SOURCES = ("load", "store")
# Steps that round nothing: they move elements, choose among them, or change signs.
EXACT = ("view", "stack", "pick", "largest", "negative", "absolute")
# The parameters of every call.
COMMON_NAMES = ("dtype", "rounding", "overflow", INFINITIES)
HINTS = {
    "dim": "axis",
    "dims": "axes",
    "keepdim": "keepdims",
    "out": "covers(output)",
    "input": "x",
    "other": "x2",
    "unbiased": "correction",
    "ddof": "correction",
    "p": "ord",
    "mask": "attn_mask",
}


@sheltered
def call(
    op: Op, tensors: Sequence[Any], params: Mapping[str, Any], compute: Format | None = None
) -> Result:
    """Return the result of an operation on inputs, given in the order of ``op.tensors``.

    ``params`` holds the operation's own parameters and those of every call (``COMMON_NAMES``).
    ``compute`` is the format that intermediates are stored in, unless that of the inputs and the
    output says.
    """
    usual = {name: value for name, value in op.defaults.items() if value is not REQUIRED}
    own = {**usual, **dict.fromkeys(op.optional), **snapshots(op, params)}
    dtype = None if (dtype := own.pop("dtype", None)) is None else get_format(dtype)
    rounding = parse_store_rounding(own.pop("rounding", Rounding.NEAREST_EVEN))
    overflow = parse_overflow(own.pop("overflow", Overflow.IEEE))
    rule: dict[str, Any] = {"rounding": rounding, "overflow": overflow}
    sources = taken(op, tensors)
    first = next(iter(sources.values())).format
    given = dict(zip(op.tensors, tensors, strict=True))
    for name in op.optional:
        if (value := own.pop(name)) is not None:
            given[name], sources[name] = value, take_optional(value, name, first)
    form, output = formats(op, sources, dtype)
    infinities = of_complex(own.pop(INFINITIES, EITHER), op, form)
    rule |= {INFINITIES: infinities} if takes_complex(op) else {}
    compute = compute_format(form, output) if compute is None else compute
    table = table_of(op, sources, own)
    evaluated = sources if table is None else dict.fromkeys(sources, table.array)
    values = {name: nodes(source, compute) for name, source in evaluated.items()}
    operands = [values.pop(name) for name in op.tensors]
    absent = dict.fromkeys(op.optional)
    defined = op.define(AllVerbs(compute, infinities), *operands, **{**absent, **values, **own})
    results = defined if isinstance(defined, dict) else {op.outputs[0]: defined}
    wide = {name: widened(output) for name in op.wide_outputs}
    rules = (rounding, overflow), infinities
    outputs: dict[str, Any] = {
        name: make_output(op, name, value, wide.get(name, output), compute, *rules)
        for name, value in results.items()
    }
    if table is not None:
        outputs = {name: table.spread(one) for name, one in outputs.items()}
    return Result(
        outputs,
        recorded(op, given, sources, {**own, "dtype": dtype, **rule}),
    )


def recorded(
    op: Op, given: Mapping[str, Any], sources: Mapping[str, Any], parameters: Mapping[str, Any]
) -> Call | None:
    """Return the record of a call; None where an input's own is missing."""
    inputs: dict[str, Any] = {
        name: x.origin if isinstance(x, Result) else sources[name] for name, x in given.items()
    }
    return None if any(x is None for x in inputs.values()) else Call(op, inputs, parameters)


def output_shape(
    op: Op, shapes: Sequence[tuple[int, ...]], params: Mapping[str, Any]
) -> tuple[int, ...]:
    """Return the shape of an operation's (first) output, from the shapes of its tensors."""
    form = get_format("float32")
    own = {name: params.get(name, default) for name, default in op.defaults.items()}
    own |= {name: params[name] for name in op.first}
    own.pop("dtype", None)  # which is the store's
    inputs = [
        Node("load", (), shape, Leaf(np.broadcast_to(np.float32(1), shape), form), form)
        for shape in shapes
    ]
    defined = op.define(AllVerbs(form), *inputs, **own)
    value = next(iter(defined.values())) if isinstance(defined, Mapping) else defined
    shape: tuple[int, ...] = value.shape
    return shape


def make_output(
    op: Op,
    name: str,
    value: Value,
    form: Format,
    compute: Format,
    rule: tuple[Rounding | str, Overflow],
    infinities: str = EITHER,
) -> PartsOutput:
    """Return one output: its parts stored in the output format."""
    roots = (value.real, value.imag) if isinstance(value, Complex) else (value,)
    rounding, overflow = rule
    kind = Part
    if not isinstance(rounding, Rounding):
        kind = Part if form.is_integer else StochasticPart
        rounding = Rounding.NEAREST_EVEN
    if form.is_float and not (form.infinity or form.nan):
        overflow = Overflow.SATURATE  # the format has nothing else to store
    parts = []
    found = [lone_root(root, compute) for root in roots]
    if infinities == ANY and len(roots) > 1:
        both = [stored for _, stored in found]
        special = [Special("any", part, ANY) for part in range(2)]
        found = [
            (lone, Node("special", (stored, *both), stored.shape, step))
            for (lone, stored), step in zip(found, special, strict=True)
        ]
    for root, (lone, stored) in zip(roots, found, strict=True):
        store = Store(part_format(form), rounding, overflow, lone)
        parts.append(kind(Node("store", (stored,), root.shape, store, compute), op.name))
    nodes = [part.node for part in parts]
    return PartsOutput(op.name, name, form, parts, nodes, None, op.normal_answer)


def lone_root(root: Node, compute: Format) -> tuple[bool, Node]:
    """Return whether a definition is one step over inputs, and it without a rounding point.

    A declared store in another format than ``compute`` is a rounding of its own.
    """
    if root.verb == "store":
        return True, root  # an earlier call's rounding, which is none of this one's
    if root.verb == "load":
        return True, Node(root.verb, root.operands, root.shape, root.attrs, None)
    if root.verb == "view":
        lone, source = lone_root(root.operands[0], compute)
        return lone, Node("view", (source,), root.shape, root.attrs, root.compute) if lone else root
    if root.verb in LONE and all(is_source(x) for x in root.operands):
        return True, Node(root.verb, root.operands, root.shape, root.attrs, None)
    once = root.verb == "within" and root.attrs[0] == 1 and root.compute == compute
    if once and is_fused(root.operands[0]):
        return True, root.operands[0]
    return is_source(root), root


def is_fused(node: Node) -> bool:
    """Return whether a node is made of inputs by steps that are not rounded."""
    return is_source(node) or (node.compute is None and all(is_fused(x) for x in node.operands))


def is_source(node: Node) -> bool:
    """Return whether a node is made of inputs, and of numbers held exactly, without a rounding."""
    if node.verb in EXACT:
        return all(is_source(x) for x in node.operands)
    if node.verb == "constant" and node.compute is not None:
        value = node.attrs
        return bool(round_ratio(value.numerator, value.denominator, node.compute) == value)
    return node.verb in SOURCES


def signature(op: Op) -> inspect.Signature:
    """Return the signature of the operation's function; a gradient's begins with grad_output."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    lead = 0 if op.forward is None else 1
    names = (*op.tensors[:lead], *op.first, *op.tensors[lead:])
    parameters = [inspect.Parameter(name, kind) for name in names]
    parameters += [
        inspect.Parameter(name, kind, default=value) for name, value in op.defaults.items()
    ]
    common: dict[str, Any] = {
        "dtype": None,
        "rounding": Rounding.NEAREST_EVEN,
        "overflow": Overflow.IEEE,
    }
    if takes_complex(op):
        common[INFINITIES] = EITHER
    parameters += [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value)
        for name, value in common.items()
        if name not in op.defaults
    ]
    return inspect.Signature(parameters, return_annotation="Result")


def function(op: Op) -> Callable[..., Result]:
    """Return the function that users call."""
    form = signature(op)

    def operation(*args: Any, **kwargs: Any) -> Result:
        bound = bind(op, form, args, kwargs)
        tensors = [bound.pop(name) for name in op.tensors]
        return call(op, tensors, bound)

    operation.__name__ = operation.__qualname__ = op.name
    more = COMPLEX if takes_complex(op) else ""
    operation.__doc__ = inspect.cleandoc(op.define.__doc__ or "") + COMMON + more
    operation.__signature__ = form  # type: ignore[attr-defined]
    operation.__module__ = "exactref"
    return operation


COMMON = """

Parameters common to all operations: ``dtype``, the output format (default: that of the inputs);
``rounding``, how the exact value is rounded to it; ``overflow``, "ieee" or "saturate". Inputs are
arrays of any known library, lists, or earlier results, of one dtype. Returns a `Result`. InputError
or DTypeError names an argument that cannot be taken.
"""

COMPLEX = """
``complex_infinities``, of complex inputs: what products and quotients of infinities, NaN and zeros
may be: "either" the IEEE rules part by part ("parts") or C99 Annex G's ("annex_g"); or "any"
infinity or NaN in both parts of an output where one may be.
"""


def bind(op: Op, form: inspect.Signature, args: Any, kwargs: Any) -> dict[str, Any]:
    """Return the arguments by name; DTypeError with a hint where they do not fit."""
    for name in kwargs:
        if name not in form.parameters:
            hint = HINTS.get(name)
            known = [p for p in form.parameters if p not in kwargs]
            more = f"use {hint}" if hint in form.parameters else f"there are {known}"
            raise DTypeError(f"{op.name}() has no parameter {name!r}; {more}")
    try:
        bound = form.bind(*args, **kwargs)
    except TypeError as error:
        hint = f"; {op.more}" if op.more and "too many" in str(error) else ""
        known = [str(p) for p in form.parameters.values() if p.kind is not p.KEYWORD_ONLY]
        raise DTypeError(f"{op.name}({', '.join(known)}): {error}{hint}") from None
    bound.apply_defaults()
    return checked(op, dict(bound.arguments))
