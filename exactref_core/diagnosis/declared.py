"""Computations that a kernel may have done instead: each a result that its outputs are tried on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np

from exactref_core.algorithms import AttentionAlgorithm
from exactref_core.array import Array
from exactref_core.evaluate import INFINITIES, again, arrays_of, function
from exactref_core.evaluate.origin import Call, Origin, View
from exactref_core.formats.catalogue import get_format, part_format
from exactref_core.formats.format import Format
from exactref_core.formats.rounding import Overflow, Rounding
from exactref_core.formats.rounding_arrays import round_pair
from exactref_core.registry import get_op
from exactref_core.result import Result

__all__ = ["Declared", "declared"]

# Formats that kernels round to on the way, from wide to narrow.
NARROW: Final = (
    "float32",
    "tfloat32",
    "float16",
    "bfloat16",
    "float8_e4m3fn",
    "float8_e5m2",
)
# Those that kernels keep sums and other intermediates in.
KEPT: Final = ("float32", "float16", "bfloat16")


@dataclass(frozen=True)
class Declared:
    """A computation in words, and its result, made when it is asked for.

    ``flush`` says that it is the given one with subnormal numbers flushed; such a computation
    differs from the given one by less than the smallest normal numbers, so that it explains
    nothing by being vague. ``widens`` says that it rounds more and leaves the exact value as it is:
    its bounds cover what a right kernel returns as well. ``held`` is a format that all its outputs
    are values of. ``infinities``: it differs in which infinities and NaN are right, of either sign.
    """

    words: str
    make: Callable[[], Result]
    flush: bool = False
    widens: bool = False
    held: Format | None = None
    infinities: bool = False


def declared(origin: Origin, output: Format) -> Iterator[Declared]:
    """Yield computations, those that differ least from the given one first.

    ``output`` is the format of the output that they are for.
    """
    call = last_call(origin)
    yield Declared("subnormal numbers flushed to zero", partial(again, origin), flush=True)
    yield from stores(origin, call, output)
    yield from inputs(origin)
    yield from algorithms(origin, call)
    yield from intermediates(origin, output)


def last_call(origin: Origin) -> Call:
    """Return the call that a result is a view of."""
    while isinstance(origin, View):
        origin = origin.source
    if not isinstance(origin, Call):
        raise TypeError("an origin is a call or a view of one")
    return origin


def narrower(form: Format, names: tuple[str, ...]) -> list[Format]:
    """Return the formats among these that hold fewer significant bits than one."""
    part = part_format(form)
    return [found for found in map(get_format, names) if found.precision < part.precision]


# -- the final store -------------------------------------------------------------------------------


def stores(origin: Origin, call: Call, output: Format) -> Iterator[Declared]:
    """Yield other ways to store the output."""
    if call.parameters["overflow"] is Overflow.IEEE:
        yield Declared(
            "overflow stores the largest number",
            partial(again, origin, overflow=Overflow.SATURATE),
        )
    if output.is_complex and call.parameters.get(INFINITIES) == "either":
        yield Declared(
            f'an infinity or NaN in one part made one of the other ({INFINITIES}="any")',
            partial(again, origin, complex_infinities="any"),
            infinities=True,
        )
    if call.parameters["rounding"] is Rounding.NEAREST_EVEN:
        yield Declared(
            "the store truncates (rounding toward zero)",
            partial(again, origin, rounding=Rounding.TOWARD_ZERO),
        )
        yield Declared(
            "the store rounds ties away from zero",
            partial(again, origin, rounding=Rounding.NEAREST_AWAY),
        )
    if output.is_float:
        yield from stored_on_the_way(origin, output)


def stored_on_the_way(origin: Origin, form: Format) -> Iterator[Declared]:
    """Yield outputs stored in another format before they are stored in theirs.

    In a narrower one, they are values of that; in a wider one than theirs but narrower than
    intermediates are kept in, they are rounded twice.
    """
    words = "the output stored in {} on the way"
    for narrow in narrower(form, NARROW):
        make = partial(again, origin, dtype=narrow)
        yield Declared(words.format(narrow.name), make, held=narrow)
    for between in narrower(get_format("float32"), NARROW):
        if between.precision > form.precision:
            make = partial(twice, origin, between, form)
            yield Declared(words.format(between.name), make)


def twice(origin: Origin, narrow: Format, form: Format) -> Result:
    """Return a result stored in a narrow format, then in its own."""
    result: Result = function(get_op("astype"))(again(origin, dtype=narrow), form)
    return result


# -- inputs ----------------------------------------------------------------------------------------


def inputs(origin: Origin) -> Iterator[Declared]:
    """Yield narrower inputs: all of them, rounded or cut off, then each alone."""
    arrays = arrays_of(origin)
    widest = max((array.format.precision for _, array in arrays), default=0)
    forms = [found for found in map(get_format, NARROW) if found.precision < widest]
    names = list(dict.fromkeys(name for name, _ in arrays))
    for form in forms:
        for words, rounding in (
            ("rounded", Rounding.NEAREST_EVEN),
            ("truncated", Rounding.TOWARD_ZERO),
        ):
            yield Declared(
                f"inputs {words} to {form.name}", partial(narrowed, origin, form, rounding, names)
            )
    for form in forms if len(names) > 1 else ():
        for name in names:
            make = partial(narrowed, origin, form, Rounding.NEAREST_EVEN, [name])
            yield Declared(f"{name} rounded to {form.name}", make)


def narrowed(origin: Origin, form: Format, rounding: Rounding, names: list[str]) -> Result:
    """Return a result of inputs of which those of these names are rounded to a format."""

    def change(name: str, array: Array) -> Array:
        return rounded(array, form, rounding) if name in names else array

    return again(origin, change)


def rounded(array: Array, form: Format, rounding: Rounding) -> Array:
    """Return values as a narrow format holds them, in the format they are in; integers as are."""
    own = part_format(array.format)
    if own.is_integer or form.precision >= own.precision:
        return array
    values = array.values()
    if not np.iscomplexobj(values):
        return Array.from_values(held(values, form, own, rounding), array.format)
    joined = np.empty(array.shape, np.complex128)
    joined.real = held(values.real, form, own, rounding)
    joined.imag = held(values.imag, form, own, rounding)
    return Array.from_values(joined, array.format)


def held(values: Any, form: Format, own: Format, rounding: Rounding) -> Any:
    """Return numbers rounded to a format, then to another that need not reach as far."""
    first = round_pair(np.asarray(values, np.float64), None, form, rounding)
    return round_pair(first, None, own)


# -- intermediates ---------------------------------------------------------------------------------


def intermediates(origin: Origin, output: Format) -> Iterator[Declared]:
    """Yield narrower intermediates: sums, products and everything else on the way."""
    forms = [get_format(name) for name in KEPT]
    given = [output, *(array.format for _, array in arrays_of(origin))]
    wide = get_format("float64") in map(part_format, given)
    for form in forms if wide else forms[1:]:
        # The last of them is the output, if its format holds more.
        held = form if narrower(output, (form.name,)) and output.is_float else None
        make = partial(again, origin, compute=form)
        yield Declared(f"intermediates kept in {form.name}", make, widens=True, held=held)


def algorithms(origin: Origin, call: Call) -> Iterator[Declared]:
    """Yield the algorithms that attention is declared with, if none was."""
    op = call.op if call.op.forward is None else call.op.forward
    if op.name != "scaled_dot_product_attention" or call.parameters.get("algorithm") is not None:
        return
    kinds: list[tuple[str, Callable[[str], AttentionAlgorithm]]] = [
        ("softmax weights rounded to", lambda name: AttentionAlgorithm(weights=name)),
        ("scores rounded to", lambda name: AttentionAlgorithm(scores=name)),
        ("dot products and sums kept in", lambda name: AttentionAlgorithm(accumulator=name)),
    ]
    for words, declare in kinds:
        for name in KEPT[1:]:
            make = partial(again, origin, algorithm=declare(name))
            yield Declared(f"{words} {name}", make, widens=True)
