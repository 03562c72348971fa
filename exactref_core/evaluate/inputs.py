"""The inputs of a call: arrays and earlier results become nodes; formats are checked and chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from exactref_core.adapters import asarray
from exactref_core.arithmetic.graph import Leaf, Node
from exactref_core.arithmetic.stochastic import StochasticPart
from exactref_core.arithmetic.traced import Traced
from exactref_core.arithmetic.verbs import Complex, Value
from exactref_core.array import Array
from exactref_core.errors import DTypeError, InputError
from exactref_core.evaluate.outputs import PartsOutput
from exactref_core.evaluate.parameters import takes_complex
from exactref_core.formats.catalogue import get_format, part_format
from exactref_core.formats.format import Format
from exactref_core.op import Op
from exactref_core.result import Result

__all__ = ["compute_format", "formats", "nodes", "take", "take_optional", "taken", "widened"]

Source = Array | PartsOutput


def take(value: Any, name: str) -> Source:
    """Return an input: one output of an earlier result as it is, anything else as an array."""
    if isinstance(value, Traced):
        raise DTypeError(
            f"{name} is a value of a definition; inside it operations are verbs: v.exp(x), not "
            "er.exp(x)"
        )
    if not isinstance(value, Result):
        return asarray(value, name=name)
    if len(value.outputs) != 1:
        raise DTypeError(
            f"{name} is a result with the outputs {list(value.outputs)}; pass one of them, such as "
            f"r[{next(iter(value.outputs))!r}]"
        )
    output = next(iter(value.outputs.values()))
    if not isinstance(output, PartsOutput):
        raise DTypeError(f"{name} is a result of another evaluator")
    if any(isinstance(part, StochasticPart) for part in output.parts):
        raise InputError(
            f"{name} is a result with rounding='stochastic', of which either neighbour is correct; "
            "pass the stored numbers instead"
        )
    return output


def taken(op: Op, tensors: Sequence[Any]) -> dict[str, Source]:
    """Return the inputs by name; Python numbers take the format of the first that is none.

    InputError for a number that a format narrower than float32 does not hold: whether kernels round
    it first, as NumPy does, or compute with it in float32, as torch does, is for the caller to say.
    """
    given = dict(zip(op.tensors, tensors, strict=True))
    sources = {name: take(x, name) for name, x in given.items() if not is_number(x)}
    if not sources:
        return {name: take(x, name) for name, x in given.items()}
    form = next(iter(sources.values())).format
    for name, x in given.items():
        if name not in sources:
            sources[name] = number_as(x, name, form)
    return {name: sources[name] for name in op.tensors}


def is_number(x: Any) -> bool:
    """Return whether an input is a Python number, of no dtype of its own; bool is none."""
    own = isinstance(x, (bool, np.generic))
    return isinstance(x, (int, float, complex)) and not own


def number_as(x: Any, name: str, form: Format) -> Source:
    """Return a Python number in the format of the arrays beside it."""
    if form.is_integer and not isinstance(x, int):
        return asarray(x, name=name)  # whose format is refused beside integers
    found = asarray(x, dtype=form, name=name)
    part, kept = part_format(form), found.values().item()
    narrow = part.is_float and part.precision < get_format("float32").precision
    if x == x and kept != x and (narrow or not np.isfinite(kept)):
        raise InputError(
            f"{name}={x!r} is no {form.name} number: give er.asarray({x!r}, {form.name!r}), which "
            f"is rounded, or all inputs in a wider format and dtype={form.name!r}, if the kernel "
            "computes with it there"
        )
    return found


def take_optional(value: Any, name: str, form: Format) -> Source:
    """Return an optional tensor; a Python number takes the format of the others, as in `taken`."""
    return number_as(value, name, form) if is_number(value) else take(value, name)


def formats(op: Op, sources: Mapping[str, Source], dtype: Format | None) -> tuple[Format, Format]:
    """Return the format of a call's inputs and that of its outputs."""
    if op.forward is not None and op.forward.casts:
        return cast_formats(op, sources, dtype)
    if op.forward is not None and op.forward.real_output:
        given = complex_format(op, sources)
    else:
        given = input_format(op, sources)
    return given, output_format(op, given, dtype)


def complex_format(op: Op, sources: Mapping[str, Source]) -> Format:
    """Return the format of a real function's inputs, of whose outputs the gradients are real."""
    tensors = () if op.forward is None else (*op.forward.tensors, *op.forward.optional)
    given = {n: x for n, x in sources.items() if n not in tensors}
    others = {name: x for name, x in sources.items() if name not in given}
    form = next(iter(others.values())).format
    if not form.is_complex:
        return input_format(op, sources)
    for name, grad in given.items():
        if grad.format != part_format(form):
            raise DTypeError(
                f"{op.name}: {name} is {grad.format.name}; of {form.name} inputs it is "
                f"{part_format(form).name}"
            )
    return one_format(op, others)


def cast_formats(
    op: Op, sources: Mapping[str, Source], dtype: Format | None
) -> tuple[Format, Format]:
    """Return the formats of a cast's gradient: from that of its output back to its input's."""
    grad, x = (source.format for source in sources.values())
    if grad != dtype:
        wanted = "none" if dtype is None else dtype.name
        raise DTypeError(
            f"{op.name}: grad_output is {grad.name}; it has the format that dtype names, {wanted}"
        )
    if x.is_integer or x.is_complex != grad.is_complex:
        raise DTypeError(
            f"{op.name}: x is {x.name} and grad_output {grad.name}; there are gradients from "
            "floats to floats and from complex to complex numbers"
        )
    return grad, x


def input_format(op: Op, sources: Mapping[str, Source]) -> Format:
    """Return the one format that all inputs have; DTypeError where the operation takes none."""
    form = one_format(op, sources)
    if form.is_complex and not takes_complex(op):
        raise DTypeError(f"{op.name} takes real inputs; {op.tensors[0]} is {form.name}")
    return form


def one_format(op: Op, sources: Mapping[str, Source]) -> Format:
    """Return the one format that inputs have; DTypeError where they differ."""
    forms = [source.format for source in sources.values()]
    alike, wide = forms[:1], (forms[0], widened(forms[0]))
    if any(x.format not in (wide if name in op.wide else alike) for name, x in sources.items()):
        given = ", ".join(f"{name} is {x.format.name}" for name, x in sources.items())
        raise DTypeError(
            f"{op.name} takes inputs of one dtype: {given}; convert with er.asarray(x, dtype) "
            "to the widest, and name the output's format with dtype="
        )
    return forms[0]


def widened(form: Format) -> Format:
    """Return a format, float32 for what is narrower."""
    least = get_format("float32")
    return least if form.precision < least.precision else form


def output_format(op: Op, given: Format, dtype: Any) -> Format:
    """Return the output format: ``dtype``, or what the inputs have."""
    if dtype is None:
        if given.is_integer:
            if op.integers:
                return get_format("int64")
            raise DTypeError(
                f"{op.name} of {given.name} inputs needs dtype=, the float format of its output"
            )
        return part_format(given) if op.real_output else given
    form = get_format(dtype)
    if form.is_integer:
        if given.is_integer and op.integers and form.name == "int64":
            return form
        more = ", or int64 for integer inputs" if op.integers else ""
        raise DTypeError(f"dtype={form.name}: {op.name} gives float or complex outputs{more}")
    complex_output = given.is_complex and not op.real_output
    if form.is_complex != complex_output:
        kind = "complex" if complex_output else "real"
        raise DTypeError(f"dtype={form.name}: {op.name} of {given.name} inputs has a {kind} output")
    return form


def compute_format(given: Format, output: Format) -> Format:
    """Return what a correct implementation works in: float64 if it occurs, else float32."""
    wide = get_format("float64")
    parts = (part_format(form) for form in (given, output) if not form.is_integer)
    return wide if wide in parts else get_format("float32")


def nodes(source: Source, compute: Format | None) -> Value:
    """Return the value of an input, as nodes."""
    if isinstance(source, PartsOutput) and source.format.is_integer:
        # Integers are exact: they go on as inputs, which the next call rounds to its own format.
        return Node("load", (), source.shape, Leaf(source.rounded().data, source.format), compute)
    if isinstance(source, PartsOutput):
        parts = source.nodes
        return parts[0] if len(parts) == 1 else Complex(*parts)
    form = source.format
    part = part_format(form)
    if not form.is_complex:
        return Node("load", (), source.shape, Leaf(source.data, part), compute)
    data = source.data
    real, imag = (
        Node("load", (), source.shape, Leaf(x, part), compute) for x in (data.real, data.imag)
    )
    return Complex(real, imag)
