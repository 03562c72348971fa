"""One call compared with its expectation; what differs is named with the inputs that show it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from exactref_core.enclosures import Enclosure
from exactref_core.errors import InputError
from exactref_core.formats.catalogue import get_format, part_format
from exactref_core.result import Result
from tests.every_op.cases import Case
from tests.every_op.expected import term_rows

SHOWN = 3


def parts_of(array: np.ndarray) -> list[np.ndarray]:
    """The real parts of an output, flat."""
    flat = array.reshape(-1)
    return [flat.real, flat.imag] if flat.dtype.kind == "c" else [flat]


def differing(got: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Where two arrays differ, the signs of zeros included and the payloads of NaN left out."""
    missing = np.isnan(wanted)
    same = (got == wanted) & (np.signbit(got) == np.signbit(wanted))
    return np.flatnonzero(~np.where(missing, np.isnan(got), same))


def check_rounded(case: Case, dtype: str, mode: str, overflow: str) -> int:
    """Compare ``rounded`` of one call with its expectation; return the number of elements."""
    form = part_format(get_format(dtype))
    shape, parts = case.answer
    wanted = [part.round(form, mode, overflow) for part in parts]
    result = case.call(dtype=dtype, rounding=mode, overflow=overflow)
    assert result.shape == shape
    if not form.nan and any(np.isnan(side).any() for side in wanted):
        with pytest.raises(InputError, match="has no NaN"):
            result.rounded  # noqa: B018  # evaluated when asked for
        return 0
    got = result.rounded
    assert (got.shape, got.dtype) == (shape, dtype)
    for place, (mine, theirs) in enumerate(zip(parts_of(got.values()), wanted, strict=True)):
        wrong = differing(mine, theirs)
        if wrong.size:
            call = f"{case.op.name}(..., {case.params}, {dtype=}, rounding={mode!r}, {overflow=})"
            rows = [
                f"{shown(mine[i])}, not {shown(theirs[i])}: {source(case, i)}"
                for i in wrong[:SHOWN].tolist()
            ]
            raise AssertionError(
                f"{call}: part {place}, {wrong.size} of {mine.size} differ\n" + "\n".join(rows)
            )
    return int(np.prod(shape, dtype=int))


def enclosures(result: Result, flat: int) -> list[Enclosure]:
    """The enclosures of the parts of one element."""
    index = tuple(int(i) for i in np.unravel_index(flat, result.shape))
    found = result.exact.value(*index)
    return list(found) if isinstance(found, tuple) else [found]


def shown(x: Any) -> str:
    """A number that reads back as it is."""
    value = x.item() if isinstance(x, np.generic) else x
    if isinstance(value, complex):
        return f"complex({shown(value.real)}, {shown(value.imag)})"
    return value.hex() if isinstance(value, float) and np.isfinite(value) else repr(value)


def source(case: Case, flat: int) -> str:
    """The inputs of one output element, or where it is."""
    shape = case.answer[0]
    if case.op.domain.signature == "(n)->()":
        rows = [term_rows(case.tensors[0], case.params["axis"], False)[1][flat]]
    elif case.op.domain.signature.endswith("()->()"):
        rows = [np.broadcast_to(x, shape).reshape(-1)[flat : flat + 1] for x in case.tensors]
    else:
        shapes = [x.shape for x in case.tensors]
        return f"element {np.unravel_index(flat, shape)} of {case.form.name} {shapes}"
    return f"{case.form.name} " + ", ".join(f"[{', '.join(map(shown, row))}]" for row in rows)
