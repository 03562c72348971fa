"""The tensors of one example: shapes, a value class, and values that hypothesis can shrink."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import strategies as st

from exactref_core.adapters import asarray
from exactref_core.evaluate import output_shape
from exactref_core.formats.catalogue import get_format, part_format
from pytest_exactref.integer_values import INTEGER_CLASSES, integer_values
from pytest_exactref.shapes import Shape, core_names, op_shapes, pick, result_names
from pytest_exactref.source import PATTERN, Numbers, Source
from pytest_exactref.value_classes import VALUE_CLASSES, Facts

if TYPE_CHECKING:
    from exactref_core.array import Array
    from exactref_core.formats.format import Format
    from exactref_core.op import Op

__all__ = ["Plan", "class_names", "domain_shapes", "plan_for", "tensors"]


@dataclass(frozen=True)
class Plan:
    """What is drawn: the formats of inputs and output, the value classes, and for each tensor the
    axis that the operation adds along, the axes along which rows may be of several classes, and the
    values that its domain leaves out."""

    fmt: Format
    output: Format
    names: tuple[str, ...]
    axes: tuple[Callable[[Shape], int | None], ...] = (lambda shape: None,)
    rows: tuple[Callable[[Shape], set[int]], ...] = (lambda shape: set(range(len(shape))),)
    nonnegative: tuple[bool, ...] = (False,)
    nonzero: tuple[bool, ...] = (False,)


def plan_for(op: Op, dtype: Any, parameters: Mapping[str, Any], values: Any) -> Plan:
    """The plan for the tensors of a call of ``op`` with these parameters."""
    fmt = get_format(dtype)
    return Plan(
        fmt=fmt,
        output=get_format(parameters.get("dtype") or dtype),
        names=class_names(values, fmt),
        axes=tuple(_axis_rule(op, role, parameters.get("axis")) for role in range(len(op.tensors))),
        rows=tuple(_rows_rule(op, role, parameters) for role in range(len(op.tensors))),
        nonnegative=tuple(name in op.domain.nonnegative for name in op.tensors),
        nonzero=tuple(name in op.domain.nonzero for name in op.tensors),
    )


def domain_shapes(
    op: Op, parameters: Mapping[str, Any], work: Sequence[int]
) -> st.SearchStrategy[tuple[Shape, ...]]:
    """Shapes for the tensors of a call of ``op``, out of its domain."""
    domain = op.domain if op.forward is None else op.forward.domain
    drawn = op_shapes(domain.signature, parameters, work, int(domain.nonempty), domain.leading)
    if domain.doubled:
        names = (op if op.forward is None else op.forward).tensors
        wide = tuple(name in domain.doubled for name in names)
        drawn = drawn.map(lambda shapes: doubled(shapes, wide))
    if op.forward is None:
        return drawn
    # The gradient of an output has its shape, which only the forward call tells.
    forward = op.forward
    return drawn.map(lambda shapes: (output_shape(forward, shapes, parameters), *shapes))


def doubled(shapes: tuple[Shape, ...], wide: tuple[bool, ...]) -> tuple[Shape, ...]:
    """Shapes of which some have a last axis twice as long."""
    return tuple(
        (*shape[:-1], 2 * shape[-1]) if twice else shape
        for shape, twice in zip(shapes, wide, strict=True)
    )


def class_names(values: str | Sequence[str] | None, fmt: Format) -> tuple[str, ...]:
    """The value classes that ``values=`` names, those that ``fmt`` has; all unless given.

    Raises:
        pytest.UsageError: a name that is none, or no class that the format has.
    """
    if fmt.is_integer:
        known: tuple[str, ...] = INTEGER_CLASSES
    else:
        facts = _facts(fmt, fmt, 1, None)
        known = tuple(name for name, each in VALUE_CLASSES.items() if each.applies(facts))
    if values is None:
        return known
    wanted = (values,) if isinstance(values, str) else tuple(values)
    unknown = [name for name in wanted if name not in VALUE_CLASSES]
    if unknown:
        raise pytest.UsageError(f"values={unknown[0]!r} is none of {', '.join(VALUE_CLASSES)}")
    if not set(wanted) & set(known):
        raise pytest.UsageError(f"values={values!r}: {fmt.name} has only {', '.join(known)}")
    return tuple(name for name in wanted if name in known)


def _axis_rule(op: Op, role: int, axis: Any) -> Callable[[Shape], int | None]:
    names = core_names(op.domain.signature)[role]
    summed = [name for name in names if name not in result_names(op.domain.signature)]
    if not summed:
        return lambda shape: None

    def rule(shape: Shape) -> int | None:
        if isinstance(axis, int) and -len(shape) <= axis < len(shape):
            return axis
        present = _present(names, shape)
        return present.index(summed[0]) - len(present)

    return rule


def _rows_rule(op: Op, role: int, parameters: Mapping[str, Any]) -> Callable[[Shape], set[int]]:
    """The axes whose elements an operation computes apart, so that one NaN is not everywhere.

    These are the leading ones and, where it adds along another axis of the tensor, those that the
    result has too: the rows of a matrix product.
    """
    names = core_names(op.domain.signature)[role]
    kept = result_names(op.domain.signature)
    apart = kept if any(name not in kept for name in names) else set()
    axis = parameters.get("axis", op.defaults.get("axis"))

    def rule(shape: Shape) -> set[int]:
        every = set(range(len(shape)))
        if "axis" in op.defaults and names:
            along = axis if isinstance(axis, (tuple, list)) else [axis]
            summed = {a % len(shape) for a in along if isinstance(a, int) and shape}
            return every - summed if summed else set()
        present = _present(names, shape)
        first = len(shape) - len(present)
        return {a for a in every if a < first or present[a - first] in apart}

    return rule


def _present(names: Sequence[str], shape: Shape) -> Sequence[str]:
    """The core axes that a shape has: optional ones may be missing."""
    return names if len(names) <= len(shape) else [n for n in names if not n.endswith("?")]


def _facts(fmt: Format, output: Format, terms: int, axis: int | None) -> Facts:
    part, stored = part_format(fmt), part_format(output)
    widest = max(part.precision, stored.precision)
    return Facts(
        precision=part.precision,
        emin=part.emin,
        emax=part.emax,
        eta_exponent=part.eta_exponent,
        largest=float(part.max),
        infinity=part.infinity,
        nan=part.nan,
        signed_zero=part.signed_zero,
        stored=stored.precision or part.precision,
        computed=53 if widest == 53 else 24,
        terms=terms,
        axis=axis,
    )


@st.composite
def tensors(
    draw: st.DrawFn, shapes: st.SearchStrategy[tuple[Shape, ...]], plan: Plan
) -> tuple[Array, ...]:
    """One array for each shape drawn, of one value class or of several, row by row."""
    drawn = draw(shapes)
    # Class by class, so that hypothesis can leave out all but the one that matters.
    often = (False,) * max(1, len(plan.names) // 4) + (True,)
    some = [name for name in plan.names if len(plan.names) > 1 and pick(draw, name, often)]
    seed = draw(st.integers(0, 2**32 - 1))
    kinds = np.random.default_rng(seed).permutation(some or plan.names[:1]).tolist()
    sizes = [math.prod(shape) * (2 if plan.fmt.is_complex else 1) for shape in drawn]
    # One string of bytes for all: hypothesis cuts it to length when it shrinks a shape.
    count = min(PATTERN, sum(sizes))
    pattern = draw(st.binary(min_size=count, max_size=count))
    terms = max([1, *sizes])
    made = []
    for role, shape in enumerate(drawn):
        given, pattern = pattern, pattern[sizes[role] :]
        parts = [
            _values(kind, Source(given, seed, role), shape, plan, terms)
            for kind in kinds[: max(1, math.prod(shape))]
        ]
        made.append(asarray(_in_turn(parts, shape, plan.rows[role](shape)), plan.fmt))
    return tuple(made)


def _in_turn(parts: Sequence[Numbers], shape: Shape, axes: set[int]) -> Numbers:
    """One row of each array in turn; the rows lie along ``axes``."""
    lengths = [side if axis in axes else 1 for axis, side in enumerate(shape)]
    turn = np.arange(math.prod(lengths)).reshape(lengths) % len(parts)
    found: Numbers = np.array(parts[0])
    for number, part in enumerate(parts):
        np.copyto(found, part, where=turn == number)
    return found


def _values(name: str, source: Source, shape: Shape, plan: Plan, terms: int) -> Numbers:
    """The values of a tensor, all of one class."""
    if plan.fmt.is_integer:
        low = 0 if plan.nonnegative[source.role] else plan.fmt.low
        whole = integer_values(name, source, shape, low, plan.fmt.high, terms)
        values = _in_domain(whole, plan, source.role)
        return values.astype(bool) if plan.fmt.kind == "bool" else values
    facts = _facts(plan.fmt, plan.output, terms, plan.axes[source.role](shape))
    make = VALUE_CLASSES[name].make
    values = _in_domain(make(source, shape, facts), plan, source.role)
    if plan.fmt.is_complex:
        # Part by part: inf * 1j has a NaN in it.
        whole = np.empty(shape, dtype=np.complex128)
        whole.real, whole.imag = values, _in_domain(make(source, shape, facts), plan, source.role)
        values = whole
    return values


def _in_domain(values: Numbers, plan: Plan, role: int) -> Numbers:
    if plan.nonnegative[role]:
        values = np.abs(values)
    if plan.nonzero[role]:
        values = np.where(values == 0, values.dtype.type(1), values)
    return values
