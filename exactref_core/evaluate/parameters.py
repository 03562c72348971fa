"""The parameters of a call, checked against their defaults: numbers, flags, no arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from exactref_core.arithmetic.infinities import EITHER, parse_infinities
from exactref_core.errors import InputError
from exactref_core.formats.format import Format
from exactref_core.op import Op

__all__ = ["INFINITIES", "checked", "of_complex", "takes_complex"]

INFINITIES = "complex_infinities"


def checked(op: Op, given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments with NumPy's scalars as Python's numbers.

    InputError where an array takes the place of a parameter, or a flag is no bool.
    """
    apart = {*op.tensors, *op.first, *op.optional, *op.arrays}
    found = dict(given)
    for name, default in op.defaults.items():
        if name in apart or name == "dtype":
            continue
        value = found[name] = plain(found[name])
        if is_array(value):
            hint = f"; name the arguments, such as {op.optional[0]}=" if op.optional else ""
            if not op.define.__module__.startswith("exactref_core.ops"):
                hint = "; define() takes optional= for such tensors, arrays= for masks and indices"
            raise InputError(
                f"{op.name}: {name} is an array of shape {tuple(value.shape)}, and no tensor{hint}"
            )
        if isinstance(default, bool) and not isinstance(value, bool):
            raise InputError(f"{op.name}: {name} must be True or False, not {value!r}")
    return found


def plain(value: Any) -> Any:
    """Return a NumPy scalar (or an array without axes) as a Python number."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return value.item()
    return value


def is_array(value: Any) -> bool:
    """Return whether a value is an array of any library."""
    return hasattr(value, "shape") and hasattr(value, "dtype")


def takes_complex(op: Op) -> bool:
    """Return whether an operation takes complex inputs."""
    return any(name.startswith("complex") for name in op.domain.dtypes)


def of_complex(value: object, op: Op, form: Format) -> str:
    """Return the rule of infinities; InputError for no rule, and for real inputs."""
    infinities = parse_infinities(value)
    if infinities != EITHER and not form.is_complex:
        raise InputError(
            f"{op.name}: complex_infinities={infinities!r} is about complex numbers, and the "
            f"inputs are {form.name}; leave it out"
        )
    return infinities
