"""What a call returns: a result with its exact value, range and flags, evaluated when asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from exactref_core.array import Array
from exactref_core.enclosures import Enclosure, ExactNumber
from exactref_core.errors import DTypeError, InputError, UnknownNameError

__all__ = ["Enclosure", "Exact", "ExactNumber", "Named", "Output", "Result", "Traced"]

T = TypeVar("T")


def flag(name: str, value: Any) -> bool:
    """Return a flag of a caller's; InputError where it is no bool, such as the string "no"."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name} must be True or False, not {value!r}")
    return bool(value)


class Output(Protocol):
    """One output of a call, as the evaluator gives it."""

    name: str
    op: str

    @property
    def shape(self) -> tuple[int, ...]:
        """The output's shape."""

    @property
    def dtype(self) -> str:
        """The output format's name."""

    def rounded(self) -> Array:
        """The exact values rounded once."""

    def normal(self) -> Array:
        """What an index-order loop returns."""

    def tolerance(self, standard: str, flush: bool) -> Array:
        """The largest distance of a correct output from ``rounded``."""

    def finite_range(self, standard: str, flush: bool) -> tuple[Array, Array]:
        """The lowest and highest finite output."""

    def may_be(self, value: str, standard: str, flush: bool) -> Array:
        """Where a correct output may be an infinity or NaN."""

    def covers(self, output: Any, standard: str, flush: bool, signed_zeros: bool) -> Array:
        """Which elements of an output are correct."""

    def enclosure(self, index: tuple[int, ...]) -> Any:
        """The enclosure of one exact value (a pair of them for complex outputs)."""

    def view(self, kind: str, argument: Any) -> Output:
        """The same evaluation under another shape or a choice of elements."""


class Traced(Protocol):
    """How a result came about, as the evaluator records it."""

    def view(self, kind: str, argument: Any) -> Traced:
        """The record of a view of the result."""


class Named(Mapping[str, T], Generic[T]):
    """Something for each output, by name: as a mapping and as attributes."""

    def __init__(self, items: dict[str, T]) -> None:
        self._items = items

    def __getitem__(self, name: str) -> T:
        if name not in self._items:
            raise UnknownNameError(f"no output is named {name!r}; there are {list(self._items)}")
        return self._items[name]

    def __getattr__(self, name: str) -> T:
        if name.startswith("_") or name not in self._items:
            raise AttributeError(f"no output is named {name!r}; there are {list(self._items)}")
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"Named({self._items!r})"


class Exact:
    """Certified enclosures of one output's exact values."""

    def __init__(self, output: Output) -> None:
        self._output = output

    def value(self, *index: int) -> Any:
        """Return the enclosure of the element at ``index`` (nothing for a 0-d result).

        An `Enclosure`; for complex outputs a pair of them, real then imaginary. InputError (a
        ValueError) where the exact value is an infinity or NaN, or the index does not fit.
        """
        return self._output.enclosure(index)


class Result:
    """An operation's exact result on the inputs of one call.

    ``rounded``, ``tolerance()``, ``normal()``, ``finite_range()`` and ``may_be()`` give arrays of
    the output's shape, or a mapping by output name where the operation has several outputs;
    r["name"] is a result for one of them. Nothing is evaluated before it is asked for. A result may
    be passed to a further call, which takes its exact value, its range of stored values and its
    flags along.
    """

    __array_ufunc__ = None

    def __init__(self, outputs: dict[str, Output], origin: Traced | None = None) -> None:
        self._outputs = outputs
        self._origin = origin

    # -- which outputs -------------------------------------------------------------------------

    def _each(self, function: Callable[[Output], Any]) -> Any:
        if len(self._outputs) == 1:
            return function(next(iter(self._outputs.values())))
        return Named({name: function(output) for name, output in self._outputs.items()})

    def _only(self, action: str) -> Output:
        if len(self._outputs) == 1:
            return next(iter(self._outputs.values()))
        first = next(iter(self._outputs))
        raise DTypeError(
            f"this result has the outputs {list(self._outputs)}; {action} takes one of them: "
            f"use r[{first!r}]"
        )

    @property
    def outputs(self) -> Mapping[str, Output]:
        """The outputs by name, in order."""
        return self._outputs

    @property
    def origin(self) -> Traced | None:
        """How the result came about; None where nothing recorded it."""
        return self._origin

    @property
    def shape(self) -> Any:
        """The shape of the output."""
        return self._each(lambda output: output.shape)

    @property
    def dtype(self) -> Any:
        """The name of the output format."""
        return self._each(lambda output: output.dtype)

    # -- values --------------------------------------------------------------------------------

    @property
    def rounded(self) -> Any:
        """The exact value, rounded once to the output format."""
        return self._each(lambda output: output.rounded())

    @property
    def exact(self) -> Any:
        """Certified enclosures of the exact values, element by element."""
        return self._each(Exact)

    def normal(self) -> Any:
        """Return what a kernel returns that works in index order in the compute format.

        NotImplementedError for operations without a single ordinary algorithm.
        """
        return self._each(lambda output: output.normal())

    def tolerance(self, standard: str = "normal", *, flush_to_zero: bool = False) -> Any:
        """Return how far a correct finite output can be from ``rounded``.

        float64 (complex128 for complex outputs, one bound a part); NaN where ``rounded`` is not
        finite, inf where nothing bounds the output.
        """
        flush = flag("flush_to_zero", flush_to_zero)
        return self._each(lambda output: output.tolerance(standard, flush))

    def finite_range(self, standard: str = "normal", *, flush_to_zero: bool = False) -> Any:
        """Return (lowest, highest) finite correct output; NaN where none is finite."""
        flush = flag("flush_to_zero", flush_to_zero)
        return self._each(lambda output: output.finite_range(standard, flush))

    def may_be(self, value: str, standard: str = "normal", *, flush_to_zero: bool = False) -> Any:
        """Return where a correct output may be ``value``: "+inf", "-inf" or "nan".

        Complex outputs have a last axis of 2: real, then imaginary.
        """
        flush = flag("flush_to_zero", flush_to_zero)
        return self._each(lambda output: output.may_be(value, standard, flush))

    def covers(
        self,
        output: Any,
        standard: str = "normal",
        *,
        flush_to_zero: bool = False,
        signed_zeros: bool = False,
    ) -> Array:
        """Return which elements of ``output`` are correct: a bool array of its shape.

        Finite elements inside ``finite_range()``, and the infinities and NaNs that ``may_be``
        allows.
        -0.0 equals 0.0 unless ``signed_zeros``. Complex outputs have a last axis of 2. The output
        has the result's shape and dtype. TypeError where the result has several outputs.
        """
        one = self._only("covers()")
        flush = flag("flush_to_zero", flush_to_zero)
        return one.covers(output, standard, flush, flag("signed_zeros", signed_zeros))

    # -- views ---------------------------------------------------------------------------------

    def reshape(self, *shape: Any) -> Result:
        """Return the same result in row-major order under another shape."""
        given = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return self._view("reshape", tuple(given))

    def transpose(self, *axes: Any) -> Result:
        """Return the same result with its axes reversed, or in the order given."""
        given = axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes
        return self._view("transpose", tuple(given))

    def __getitem__(self, key: Any) -> Result:
        """Return one output by name, or the elements that basic indexing selects."""
        if isinstance(key, str):
            return Result({key: Named(dict(self._outputs))[key]}, self._traced("name", key))
        if len(self._outputs) > 1:
            self._only("indexing")
        return self._view("index", key if isinstance(key, tuple) else (key,))

    def _view(self, kind: str, argument: Any) -> Result:
        views = {name: output.view(kind, argument) for name, output in self._outputs.items()}
        return Result(views, self._traced(kind, argument))

    def _traced(self, kind: str, argument: Any) -> Traced | None:
        return None if self._origin is None else self._origin.view(kind, argument)

    def __bool__(self) -> bool:
        raise DTypeError(
            "a result has no truth value; use covers(output).all() or er.assert_covers"
        )

    def __len__(self) -> int:
        shape = self._only("len()").shape
        if not shape:
            raise DTypeError("a 0-d result has no length")
        return shape[0]

    def __iter__(self) -> Iterator[Result]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        parts = [f"{name}: {o.dtype} {o.shape}" for name, o in self._outputs.items()]
        return f"<exactref result of {next(iter(self._outputs.values())).op}: {', '.join(parts)}>"

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise InputError("a result is not an array; use result.rounded")
