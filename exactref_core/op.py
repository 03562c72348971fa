"""What an operation is: a definition over verbs, its parameters and its domain."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from exactref_core.errors import InputError

__all__ = ["REQUIRED", "Domain", "Op", "axes_of", "one_axis", "without_axes"]

# The default of a parameter that every call has to give.
REQUIRED: Any = inspect.Parameter.empty


@dataclass(frozen=True)
class Domain:
    """The inputs that make sense: what strategies, law tests and documentation draw from.

    ``signature`` is a NumPy generalised-ufunc signature over the tensor parameters, in order
    ("(),()->()" for an elementwise pair, "(m?,n),(n,p?)->(m?,p?)" for a matrix product,
    "(n)->()" for a reduction); leading axes broadcast. ``dtypes`` are the input formats.
    ``nonnegative`` names the tensor parameters whose values are drawn from [0, inf),
    ``nonzero`` those drawn without zeros; ``nonempty`` says that a reduction needs a term, and
    ``leading=False`` that tensors have no axes but those of the signature. ``doubled`` names the
    tensors whose last axis is twice as long as the signature says.
    """

    signature: str
    dtypes: tuple[str, ...]
    nonnegative: tuple[str, ...] = ()
    nonzero: tuple[str, ...] = ()
    nonempty: bool = False
    leading: bool = True
    doubled: tuple[str, ...] = ()


@dataclass(frozen=True)
class Op:
    """An operation: everything else finds what it needs here.

    ``define(verbs, *tensors, **parameters)`` returns the value of each output, written once over
    the abstract arithmetic ``verbs``. ``tensors`` are the names of the tensor parameters and
    ``defaults`` the other parameters with their default values. ``integers`` says that integer
    inputs give an exact int64 result where no dtype is given, ``real_output`` that complex inputs
    give real outputs, ``normal_answer`` that there is an index-order answer. ``wide_outputs`` are
    stored in float32 where the output format is narrower.

    ``arrays`` names the parameters that are arrays of another kind than tensors, such as masks.
    ``first`` are parameters that come before the tensors and have no default, ``optional`` those of
    ``defaults`` that are tensors, which ``define`` gets as values (None where absent): arrays of
    the inputs' dtype, or Python numbers, which take it. ``more`` says what to do about more
    arguments than there are.

    ``backward(verbs, grad_output, *tensors, **parameters)`` returns the gradients by tensor, of
    those in ``gradients`` (None: all); the registry makes an operation of it, whose ``forward``
    is this one. ``backward_defaults`` are parameters that it alone has. ``casts``: grad_output
    comes in the format ``dtype``, and the gradient has that of the tensor.

    ``grad_outputs`` are the outputs beside the first whose gradients ``backward`` takes too, as
    optional tensors ``grad_<output>``; ``wide`` names the tensors that may be in float32 where the
    others are narrower, as the outputs in ``wide_outputs`` are.
    """

    name: str
    define: Callable[..., Any]
    tensors: tuple[str, ...]
    domain: Domain
    defaults: Mapping[str, Any] = field(default_factory=dict)
    outputs: tuple[str, ...] = ("output",)
    integers: bool = False
    real_output: bool = False
    normal_answer: bool = True
    wide_outputs: tuple[str, ...] = ()
    backward: Callable[..., Mapping[str, Any]] | None = None
    gradients: tuple[str, ...] | None = None
    backward_defaults: Mapping[str, Any] = field(default_factory=dict)
    grad_outputs: tuple[str, ...] = ()
    wide: tuple[str, ...] = ()
    casts: bool = False
    forward: Op | None = None
    arrays: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    more: str = ""

    @property
    def summary(self) -> str:
        """The first line of the definition's docstring."""
        return (self.define.__doc__ or self.name).strip().splitlines()[0]


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """Return the axes to reduce, in increasing order; InputError for what is no axis."""
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = []
    for one in given:
        if isinstance(one, bool) or not hasattr(one, "__index__"):
            raise InputError(f"axis must be an int, a tuple of ints or None, not {axis!r}")
        place = one.__index__()
        if not -ndim <= place < ndim:
            raise InputError(f"axis {place} is out of range for an input with {ndim} axes")
        axes.append(place % ndim)
    if len(set(axes)) != len(axes):
        raise InputError(f"axis {axis!r} names an axis twice")
    return tuple(sorted(axes))


def one_axis(axis: Any, ndim: int) -> int:
    """Return one axis, counted from 0; InputError for what is no single axis."""
    if isinstance(axis, bool) or not hasattr(axis, "__index__"):
        raise InputError(f"axis must be an int, not {axis!r}")
    (place,) = axes_of(axis, ndim)
    return place


def without_axes(shape: tuple[int, ...], axes: tuple[int, ...], keepdims: bool) -> tuple[int, ...]:
    """Return the shape of a reduction's output."""
    if keepdims:
        return tuple(1 if i in axes else extent for i, extent in enumerate(shape))
    return tuple(extent for i, extent in enumerate(shape) if i not in axes)
