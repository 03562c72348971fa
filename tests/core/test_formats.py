"""The catalogue against numpy's and ml_dtypes' own facts, and the codec over every pattern."""

from __future__ import annotations

import re
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from exactref_core.errors import DTypeError, InputError, UnknownNameError
from exactref_core.formats.catalogue import FORMATS, get_format, part_format, register_format
from exactref_core.formats.codec import decode, encode, storage_dtype
from exactref_core.formats.format import Format
from tests.core.rounding_oracle import FLOATS, SMALL, dtype_of, nonnegative_values, same

LIBRARY = [fmt for fmt in FLOATS if fmt.name != "tfloat32"]


@pytest.mark.parametrize("fmt", LIBRARY, ids=lambda f: f.name)
def test_ranges_agree_with_finfo(fmt):
    info = ml_dtypes.finfo(dtype_of(fmt))
    assert fmt.unit_roundoff == Fraction(1, 2 ** (info.nmant + 1))
    assert fmt.smallest_normal == Fraction(float(info.smallest_normal))
    assert fmt.eta == Fraction(float(info.smallest_subnormal)) == Fraction(2) ** fmt.eta_exponent
    assert fmt.max == Fraction(float(info.max))


@pytest.mark.parametrize("fmt", LIBRARY, ids=lambda f: f.name)
def test_special_values_agree_with_the_library(fmt):
    one = np.ones((), np.float64)
    with np.errstate(all="ignore"):
        infinity = float((one * np.inf).astype(dtype_of(fmt)))
        missing = float((one * np.nan).astype(dtype_of(fmt)))
        zero = float((-0.0 * one).astype(dtype_of(fmt)))
    assert fmt.infinity == np.isinf(infinity)
    assert fmt.nan == np.isnan(missing)
    assert fmt.signed_zero == np.signbit(zero)


def test_tfloat32_keeps_the_range_of_float32_and_the_precision_of_float16():
    fmt = get_format("tfloat32")
    assert fmt.unit_roundoff == get_format("float16").unit_roundoff
    assert fmt.smallest_normal == get_format("float32").smallest_normal
    assert fmt.max == Fraction(2) ** 128 - Fraction(2) ** 117
    assert fmt.storage == "float32"


@pytest.mark.parametrize("fmt", SMALL, ids=lambda f: f.name)
def test_parameters_generate_exactly_the_values_of_the_patterns(fmt):
    unit = Fraction(2) ** (fmt.emin - fmt.precision + 1)
    generated = [m * unit for m in range(2 ** (fmt.precision - 1))]
    for exponent in range(fmt.emin, fmt.emax + 1):
        step = Fraction(2) ** (exponent - fmt.precision + 1)
        normal = range(2 ** (fmt.precision - 1), 2**fmt.precision)
        generated += [m * step for m in normal if m * step <= fmt.max]
    assert generated == [Fraction(v) for v in nonnegative_values(fmt)]


@pytest.mark.parametrize(
    ("name", "threshold"),
    [
        ("float16", 65520),
        ("float8_e5m2", 61440),
        ("float8_e4m3fn", 464),
        ("float4_e2m1fn", 7),
        ("float32", 2**128 - 2**103),
        ("float64", 2**1024 - 2**970),
    ],
)
def test_overflow_threshold_is_half_an_ulp_above_the_largest_value(name, threshold):
    assert get_format(name).overflow_threshold == threshold


def test_integers_have_limits_and_no_roundoff():
    for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
        fmt, info = get_format(name), np.iinfo(name)
        assert (fmt.low, fmt.high, fmt.max) == (info.min, info.max, info.max)
        assert fmt.is_integer
    assert (FORMATS["bool"].low, FORMATS["bool"].high) == (0, 1)
    for ask in ("unit_roundoff", "eta", "smallest_normal", "overflow_threshold"):
        with pytest.raises(DTypeError, match="int8 is not a floating-point format"):
            getattr(get_format("int8"), ask)


def test_complex_formats_answer_for_their_parts():
    assert part_format(get_format("complex64")) is get_format("float32")
    assert part_format(get_format("complex128")) is get_format("float64")
    assert part_format(get_format("float16")) is get_format("float16")
    assert get_format("complex64").eta == get_format("float32").eta
    assert get_format("complex64").is_complex
    assert not get_format("complex64").is_float


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("bfloat16", "bfloat16"),
        (np.float32, "float32"),
        (np.dtype(">f8"), "float64"),
        (np.longlong, "int64"),
        (np.bool_, "bool"),
        (ml_dtypes.bfloat16, "bfloat16"),
        (np.dtype(ml_dtypes.float8_e5m2), "float8_e5m2"),
        (float, "float64"),
        (int, "int64"),
        (bool, "bool"),
        (complex, "complex128"),
        (FORMATS["tfloat32"], "tfloat32"),
    ],
    ids=str,
)
def test_spellings(spec, name):
    assert get_format(spec) is FORMATS[name]


@pytest.mark.parametrize("spec", ["float33", np.longdouble, None, 3, np.float32(1), [], np.void])
def test_unknown_spellings_list_the_known(spec):
    with pytest.raises(UnknownNameError, match=re.compile("known are .*float64.*bool")):
        get_format(spec)


@pytest.mark.parametrize(
    ("spelt", "meant"),
    [
        ("fp16", "'float16'"),
        ("BF16", "'bfloat16'"),
        ("tf32", "'tfloat32'"),
        ("f64", "'float64'"),
        ("half", "'float16'"),
        ("fp8_e5m2", "'float8_e5m2' or 'float8_e5m2fnuz'"),
        ("e3m4", "'float8_e3m4'"),
        ("flaot16", "'float16' or"),
    ],
)
def test_other_libraries_spellings_are_understood_but_not_taken(spelt, meant):
    with pytest.raises(UnknownNameError, match=re.escape(f"{spelt!r}; did you mean {meant}")):
        get_format(spelt)


def test_registering_adds_a_name_once():
    fmt = Format("float5_e2m2", "float", "float8_e4m3fn", precision=3, emin=0, emax=2)
    try:
        assert register_format(fmt) is fmt
        assert register_format(fmt) is get_format("float5_e2m2") is fmt
        other = Format("float5_e2m2", "float", "float8_e4m3fn", precision=2, emin=0, emax=2)
        with pytest.raises(InputError, match="different format"):
            register_format(other)
    finally:
        FORMATS.pop("float5_e2m2", None)
    with pytest.raises(InputError, match="part 'float99'"):
        register_format(Format("c", "complex", "complex64", 24, -126, 127, part="float99"))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"precision": 52, "emin": -100, "emax": 100}, "precision 52"),
        ({"precision": 0, "emin": -1, "emax": 1}, "precision 0"),
        ({"precision": 8, "emin": -1070, "emax": 100}, "reach beyond float64"),
        ({"precision": 8, "emin": -10, "emax": 1024}, "reach beyond float64"),
        ({"precision": 3, "emin": -1, "emax": 1, "largest_significand": 3}, "have 3 bits"),
    ],
)
def test_formats_that_float64_cannot_carry_are_refused(values, message):
    with pytest.raises(InputError, match=message):
        Format("f", "float", "float64", **values)
    with pytest.raises(InputError, match="low 3 is above high 2"):
        Format("i", "integer", "int8", low=3, high=2)


@pytest.mark.parametrize("fmt", SMALL, ids=lambda f: f.name)
def test_every_pattern_survives_decoding_and_encoding(fmt):
    dtype = dtype_of(fmt)
    carrier = np.uint16 if dtype.itemsize == 2 else np.uint8
    patterns = np.arange(np.iinfo(carrier).max + 1).astype(carrier).view(dtype)
    values = decode(patterns, fmt)
    scalars = np.array([float(p) for p in patterns])  # ml_dtypes' scalar path
    assert values.dtype == np.float64
    assert same(values, scalars)
    again = encode(values, fmt)
    assert again.dtype == storage_dtype(fmt)
    assert same(decode(again, fmt), scalars)


@pytest.mark.parametrize("name", ["float64", "float32", "complex64", "complex128"])
def test_wide_formats_survive_too(name):
    fmt = get_format(name)
    part = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, float(fmt.max), float(fmt.eta)])
    values = part if fmt.is_float else part[:, None] + 1j * np.ones(7)
    stored = encode(values, fmt)
    assert stored.dtype == np.dtype(name)
    assert same(decode(stored, fmt).view(np.float64), np.asarray(values).view(np.float64))


def test_encode_copies_and_keeps_shapes():
    values = np.zeros((2, 3))[:, ::2]
    stored = encode(values, get_format("float64"))
    assert stored.shape == (2, 2)
    assert stored.flags.c_contiguous
    assert not np.shares_memory(stored, values)
    assert encode(1.5, get_format("bfloat16")).shape == ()
    assert decode(encode(1.5, get_format("float8_e4m3fn")), get_format("float8_e4m3fn")) == 1.5
    integers = np.array([1, 2], np.int16)
    assert decode(integers, get_format("int16")) is integers


def test_nan_has_no_place_in_a_format_without_it():
    with pytest.raises(InputError, match="float6_e3m2fn has no NaN"):
        encode(np.array([1.0, np.nan]), get_format("float6_e3m2fn"))
