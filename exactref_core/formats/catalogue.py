"""The formats there are, one block each, and how a user's spelling finds one."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from exactref_core.errors import InputError, UnknownNameError
from exactref_core.formats.format import Format
from exactref_core.providers import ask, cached

__all__ = ["FORMATS", "formats", "get_format", "part_format", "register_format"]

FORMATS: dict[str, Format] = {}

PYTHON_TYPES: dict[object, str] = {
    float: "float64",
    int: "int64",
    bool: "bool",
    complex: "complex128",
}


def register_format(fmt: Format) -> Format:
    """Make ``fmt`` known by its name and return it.

    Registering the same format again changes nothing; another format under a name that is taken,
    or a complex format whose part is not a registered float format, is an InputError.
    """
    if FORMATS.get(fmt.name, fmt) != fmt:
        raise InputError(f"a different format is already registered as {fmt.name!r}")
    if fmt.is_complex and (fmt.part not in FORMATS or not FORMATS[fmt.part].is_float):
        raise InputError(f"format {fmt.name}: part {fmt.part!r} is not a registered float format")
    return FORMATS.setdefault(fmt.name, fmt)


# Names that other libraries use.
SHORT = {"half": "float16", "single": "float32", "double": "float64"}
LONG = {"bf": "bfloat", "tf": "tfloat", "fp": "float", "f": "float"}


def get_format(spec: object) -> Format:
    """The format that ``spec`` spells.

    ``spec`` is a Format, a name ("bfloat16"), a numpy dtype or scalar type (np.float32), an
    ml_dtypes type, a torch or jax dtype (read from its text, so neither is imported), or one of
    Python's float, int, bool and complex (float64, int64, bool, complex128). UnknownNameError,
    which lists the names, for anything else.
    """
    if isinstance(spec, Format):
        return spec
    name = _name_of(spec)
    if name in FORMATS:
        return FORMATS[name]
    if name in provided():
        return provided()[name]
    known = [fmt.name for fmt in formats()]
    hint = f"known are {', '.join(known)}"
    close = similar(str(name), known)
    if close:
        hint = f"did you mean {' or '.join(map(repr, close))}? {hint}"
    raise UnknownNameError(f"unknown dtype {spec!r}; {hint}")


def similar(name: str, known: Sequence[str]) -> list[str]:
    """Return the names that an abbreviation or a slip may stand for."""
    spelt = name.lower()
    if spelt in SHORT:
        return [SHORT[spelt]]
    spelt = re.sub(r"^(bf|tf|fp|f)(?=\d)", lambda m: LONG[m[0]], spelt)
    found = [one for one in known if one.startswith(spelt)]
    if not found and len(spelt) > 3:
        found = [one for one in known if spelt in one]
    return found or difflib.get_close_matches(spelt, known, n=3, cutoff=0.8)


def formats() -> tuple[Format, ...]:
    """All formats: the built-in ones, the registered ones, and those that packages add."""
    return (*FORMATS.values(), *provided().values())


@cached
def provided() -> dict[str, Format]:
    """The formats that packages and conftests add, by name; InputError for a name that is taken."""
    found: dict[str, Format] = {}
    for fmt in ask("exactref_formats"):
        if {**FORMATS, **found}.get(fmt.name, fmt) != fmt:
            raise InputError(f"a different format is already registered as {fmt.name!r}")
        found[fmt.name] = fmt
    return found


def part_format(fmt: Format) -> Format:
    """The format of the real and the imaginary part of a complex format; others are their own."""
    return fmt if fmt.part is None else get_format(fmt.part)


def _name_of(spec: object) -> str:
    if isinstance(spec, str):
        return spec
    if isinstance(spec, np.dtype):
        return str(spec.name)
    if isinstance(spec, type):
        if spec in PYTHON_TYPES:
            return PYTHON_TYPES[spec]
        if issubclass(spec, np.generic):
            return str(np.dtype(spec).name)
    inner = getattr(spec, "dtype", None)  # jax.numpy.float32 is an object that holds a dtype
    if isinstance(inner, np.dtype) and not hasattr(spec, "shape"):
        return str(inner.name)
    return str(spec).removeprefix("torch.")


def _ieee(name: str, storage: str, precision: int, emin: int, emax: int) -> Format:
    return register_format(
        Format(
            name,
            "float",
            storage,
            precision=precision,
            emin=emin,
            emax=emax,
            infinity=True,
            nan=True,
            signed_zero=True,
        )
    )


FLOAT64 = _ieee("float64", "float64", precision=53, emin=-1022, emax=1023)
FLOAT32 = _ieee("float32", "float32", precision=24, emin=-126, emax=127)
# The inputs of tensor cores: float32's exponents with float16's precision, kept as float32.
TFLOAT32 = _ieee("tfloat32", "float32", precision=11, emin=-126, emax=127)
BFLOAT16 = _ieee("bfloat16", "bfloat16", precision=8, emin=-126, emax=127)
FLOAT16 = _ieee("float16", "float16", precision=11, emin=-14, emax=15)

# IEEE-style 8-bit formats: the highest exponent holds infinities and NaN.
FLOAT8_E5M2 = _ieee("float8_e5m2", "float8_e5m2", precision=3, emin=-14, emax=15)
FLOAT8_E4M3 = _ieee("float8_e4m3", "float8_e4m3", precision=4, emin=-6, emax=7)
FLOAT8_E3M4 = _ieee("float8_e3m4", "float8_e3m4", precision=5, emin=-2, emax=3)

# The highest exponent holds finite values; only all ones in both fields is NaN, so the largest
# significand is 1.110.
FLOAT8_E4M3FN = register_format(
    Format(
        "float8_e4m3fn",
        "float",
        "float8_e4m3fn",
        precision=4,
        emin=-6,
        emax=8,
        nan=True,
        signed_zero=True,
        largest_significand=0b1110,
    )
)

# One zero: the pattern of -0 is the only NaN.
FLOAT8_E4M3FNUZ = register_format(
    Format("float8_e4m3fnuz", "float", "float8_e4m3fnuz", precision=4, emin=-7, emax=7, nan=True)
)
FLOAT8_E5M2FNUZ = register_format(
    Format("float8_e5m2fnuz", "float", "float8_e5m2fnuz", precision=3, emin=-15, emax=15, nan=True)
)

# The element formats of OCP microscaling: every pattern is a finite value.
FLOAT6_E2M3FN = register_format(
    Format("float6_e2m3fn", "float", "float6_e2m3fn", precision=4, emin=0, emax=2, signed_zero=True)
)
FLOAT6_E3M2FN = register_format(
    Format(
        "float6_e3m2fn", "float", "float6_e3m2fn", precision=3, emin=-2, emax=4, signed_zero=True
    )
)
FLOAT4_E2M1FN = register_format(
    Format("float4_e2m1fn", "float", "float4_e2m1fn", precision=2, emin=0, emax=2, signed_zero=True)
)

COMPLEX64 = register_format(
    replace(FLOAT32, name="complex64", kind="complex", storage="complex64", part="float32")
)
COMPLEX128 = register_format(
    replace(FLOAT64, name="complex128", kind="complex", storage="complex128", part="float64")
)

for _bits in (8, 16, 32, 64):
    _name, _half = f"int{_bits}", 1 << (_bits - 1)
    register_format(Format(_name, "integer", _name, low=-_half, high=_half - 1))
for _bits in (8, 16, 32, 64):
    _name = f"uint{_bits}"
    register_format(Format(_name, "integer", _name, low=0, high=(1 << _bits) - 1))
BOOL = register_format(Format("bool", "bool", "bool", low=0, high=1))
