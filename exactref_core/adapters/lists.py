"""Python numbers and nested lists of them: the only input that is rounded on the way in.

Without a dtype the numbers choose one (bool, int64, float64, complex128) and must be values of
it; with one, each real number is rounded into it once, however large or fine it is.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from exactref_core.adapters.cast import place, round_parts
from exactref_core.adapters.nesting import Load, flatten
from exactref_core.array import Array
from exactref_core.errors import DTypeError, InputError
from exactref_core.formats.catalogue import get_format, part_format
from exactref_core.formats.codec import storage_dtype
from exactref_core.formats.format import FLOAT64_PRECISION, Format
from exactref_core.formats.rounding import round_ratio

__all__ = ["load_python"]

# Every integer up to here is a float64 value.
LARGEST_PLAIN = 1 << FLOAT64_PRECISION
LONGEST_SHOWN = 256  # bits of an integer in a message; Python refuses to print very long ones


def load_python(x: Any, fmt: Format | None, name: str, load: Load) -> Array:
    """The numbers of x as an array of ``fmt``, or of the format that suits them if it is None.

    ``load`` reads elements that are arrays or scalars of a library. InputError for ragged lists
    and for numbers that the format cannot hold where nothing is rounded; DTypeError for elements
    that are no numbers, for floats into integers and for complex numbers into reals.
    """
    numbers, shape = flatten(x, name, load)
    kinds = set(map(type, numbers))
    target = _natural_format(kinds, name) if fmt is None else fmt
    _refuse_lossy(kinds, target, name)
    if target.is_integer:
        return _load_integers(numbers, shape, target, name)
    values = _round_numbers(numbers, kinds, target)
    if fmt is None and int in kinds:
        _refuse_rounded(numbers, values, shape, target, name)
    return Array.from_values(values.reshape(shape), target)


def _natural_format(kinds: set[type], name: str) -> Format:
    if Fraction in kinds:
        raise DTypeError(f"{name} holds Fractions, which choose no format: give a dtype")
    if complex in kinds:
        return get_format("complex128")
    if float in kinds or not kinds:
        return get_format("float64")
    return get_format("int64" if int in kinds else "bool")


def _refuse_lossy(kinds: set[type], fmt: Format, name: str) -> None:
    if fmt.is_integer and kinds & {float, complex, Fraction}:
        raise DTypeError(
            f"{name} holds numbers that are not Python integers, which do not become {fmt.name} "
            f"by themselves: convert them, saying how they round"
        )
    if fmt.is_float and complex in kinds:
        raise DTypeError(
            f"{name} holds complex numbers, and {fmt.name} would drop the imaginary parts"
        )


def _load_integers(numbers: list[int], shape: tuple[int, ...], fmt: Format, name: str) -> Array:
    if numbers and not fmt.low <= min(numbers) <= max(numbers) <= fmt.high:
        first = next(i for i, n in enumerate(numbers) if not fmt.low <= n <= fmt.high)
        raise _misfit(numbers, first, shape, fmt, name)
    return Array(np.array(numbers, storage_dtype(fmt)).reshape(shape), fmt)


def _round_numbers(numbers: list[Any], kinds: set[type], fmt: Format) -> npt.NDArray[Any]:
    """Each number rounded once into a float or complex format, as flat float64 or complex128."""
    hard = [i for i, n in enumerate(numbers) if _is_hard(n)] if kinds & {int, Fraction} else []
    plain = list(numbers)
    for position in hard:
        plain[position] = 0.0
    values = round_parts(np.array(plain, complex if complex in kinds else float), fmt)
    for position in hard:
        numerator, denominator = numbers[position].as_integer_ratio()
        values[position] = round_ratio(numerator, denominator, part_format(fmt))
    return values


def _is_hard(number: Any) -> bool:
    """Whether the number may not be a float64 value (or a pair of them) already."""
    return type(number) is Fraction or (type(number) is int and abs(number) > LARGEST_PLAIN)


def _refuse_rounded(
    numbers: list[Any],
    values: npt.NDArray[Any],
    shape: tuple[int, ...],
    fmt: Format,
    name: str,
) -> None:
    for position, number in enumerate(numbers):
        # Python compares a float with an integer exactly; numpy would round the integer first.
        if _is_hard(number) and float(values[position].real) != number:
            raise _misfit(numbers, position, shape, fmt, name)


def _misfit(
    numbers: list[Any], position: int, shape: tuple[int, ...], fmt: Format, name: str
) -> InputError:
    number = numbers[position]
    bits = number.bit_length()
    shown = number if bits <= LONGEST_SHOWN else f"an integer of {bits} bits"
    return InputError(
        f"{name}{place(position, shape)} is {shown}, which {fmt.name} cannot hold: "
        f"give a float dtype to have it rounded"
    )
