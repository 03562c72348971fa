"""The array that ``asarray`` returns: a private snapshot of values in one format."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from types import EllipsisType
from typing import Any, SupportsIndex, overload

import numpy as np
import numpy.typing as npt

from exactref_core.environment import in_default_environment
from exactref_core.errors import DTypeError, InputError
from exactref_core.formats.codec import decode, encode, storage_dtype
from exactref_core.formats.format import Format

__all__ = ["Array"]

SHOWN = 6


class Array:
    """Values of one format in a given shape, immutable.

    ``data`` is a read-only, native-endian, C-contiguous numpy array of the format's storage dtype
    that nothing else can write to. Elements are read as Python scalars (``scalars``, ``tolist``),
    as numbers in float64, complex128 or integers (``values``), or as storage (``data``). There
    are no operators: ``==`` is identity, and the truth of an array is asked with ``all`` or
    ``any``.
    """

    __slots__ = ("_data", "_format")

    # numpy then leaves every operator between one of its arrays and an Array to Array: TypeError.
    __array_ufunc__ = None

    def __init__(self, data: npt.NDArray[Any], fmt: Format) -> None:
        """Take over ``data``, of the storage dtype of ``fmt``, which the caller gives up.

        DTypeError where it has another dtype. A layout that is not C-contiguous is copied.
        """
        if data.dtype != storage_dtype(fmt):
            raise DTypeError(f"{fmt.name} is stored as {fmt.storage}, not as {data.dtype}")
        snapshot = np.asarray(data, order="C")
        snapshot.flags.writeable = False
        self._data = snapshot
        self._format = fmt

    @classmethod
    def from_values(cls, values: npt.ArrayLike, fmt: Format) -> Array:
        """An array of ``values``, each of which ``fmt`` can hold (see ``codec.encode``)."""
        return cls(encode(values, fmt), fmt)

    @property
    def format(self) -> Format:
        """The format of the elements."""
        return self._format

    @property
    def dtype(self) -> str:
        """The name of the format; equal to the numpy dtype of the same name."""
        return self._format.name

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        return self._data.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._data.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._data.size

    @property
    def data(self) -> npt.NDArray[Any]:
        """The elements as they are stored: read-only, native byte order, C-contiguous."""
        return self._data

    @in_default_environment
    def values(self) -> npt.NDArray[Any]:
        """The elements as float64, complex128 or, for integers and bool, as they are stored.

        Exact, in the shape of the array; read-only where that is the storage itself.
        """
        return decode(self._data, self._format)

    def scalars(self) -> list[Any]:
        """The elements in row-major order as Python floats, complexes, ints or bools."""
        flat: list[Any] = self.values().reshape(-1).tolist()
        return flat

    def tolist(self) -> Any:
        """The elements as nested lists of Python scalars; a lone scalar for no axes."""
        return self.values().tolist()

    def reshape(self, *shape: int | tuple[int, ...]) -> Array:
        """The same elements in row-major order in another shape; one length may be -1.

        InputError where the number of elements differs.
        """
        lengths = shape[0] if len(shape) == 1 else shape
        try:
            return Array(self._data.reshape(lengths), self._format)
        except ValueError:
            raise InputError(f"shape {self.shape} cannot become {lengths}") from None

    def __getitem__(self, index: Any) -> Array:
        """The array at a basic index: integers, slices, ``...``, None, or a tuple of these.

        IndexError where it is out of range, DTypeError for other kinds of index.
        """
        parts = index if isinstance(index, tuple) else (index,)
        for part in parts:
            if not _is_basic(part):
                raise DTypeError(
                    f"arrays take integers, slices, ... and None as an index, not {part!r}"
                )
        if ... not in parts:
            parts = (*parts, ...)  # so that a full index gives an array without axes, no scalar
        return Array(self._data[parts], self._format)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without axes has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Array]:
        return (self[i] for i in range(len(self)))

    @overload
    def all(self) -> bool: ...
    @overload
    def all(self, axis: Any, out: Any = None, **rest: Any) -> Any: ...
    def all(self, axis: Any = None, out: Any = None, **rest: Any) -> Any:
        """Whether every element is nonzero (NaN is nonzero); true without elements.

        With NumPy's arguments, as ``np.all`` passes them on, over axes of the array.
        """
        return _truth((self.values() != 0).all(axis, out=out, **rest))

    @overload
    def any(self) -> bool: ...
    @overload
    def any(self, axis: Any, out: Any = None, **rest: Any) -> Any: ...
    def any(self, axis: Any = None, out: Any = None, **rest: Any) -> Any:
        """Whether some element is nonzero (NaN is nonzero); false without elements.

        With NumPy's arguments, as ``np.any`` passes them on, over axes of the array.
        """
        return _truth((self.values() != 0).any(axis, out=out, **rest))

    def __bool__(self) -> bool:
        raise DTypeError("the truth of an array is ambiguous: use .all() or .any()")

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        """The storage as a numpy array: ``data`` itself unless ``copy`` or ``dtype`` ask for more.

        ValueError where ``copy`` is False and ``dtype`` needs a copy.
        """
        if dtype is not None and np.dtype(dtype) != self._data.dtype:
            if copy is False:
                raise ValueError(f"a copy is needed to turn {self._data.dtype} into {dtype}")
            return self._data.astype(dtype)
        return self._data.copy() if copy else self._data

    def __dlpack__(self, **options: Any) -> Any:
        """A DLPack capsule of a copy, which its consumer may write to.

        BufferError for the formats that numpy cannot export (bfloat16 and narrower), and where
        ``copy=False`` refuses the copy.
        """
        if options.pop("copy", None) is False:
            raise BufferError("only a copy of this array can be exported")
        return self._data.copy().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        kind, number = self._data.__dlpack_device__()
        return int(kind), int(number)

    def __reduce__(self) -> tuple[Any, ...]:
        return Array, (self._data, self._format)  # through __init__: a copy is read-only as well

    def __repr__(self) -> str:
        shown = ", ".join(repr(value) for value in self._head())
        rest = ", ..." if self.size > SHOWN else ""
        return f"Array({self.dtype}, shape {self.shape}{': ' if shown else ''}{shown}{rest})"

    def _head(self) -> list[Any]:
        return Array(self._data.reshape(-1)[:SHOWN], self._format).scalars()


def _is_basic(part: object) -> bool:
    if part is None or isinstance(part, (slice, EllipsisType)):
        return True
    if isinstance(part, (bool, np.bool_)) or not isinstance(part, SupportsIndex):
        return False
    try:
        operator.index(part)
    except TypeError:
        return False
    return True


def _truth(found: Any) -> Any:
    """Return one truth as a bool of Python's, several as they are."""
    return found if isinstance(found, np.ndarray) else bool(found)
