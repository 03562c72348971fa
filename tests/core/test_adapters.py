"""asarray over lists, numpy, ml_dtypes and whatever speaks DLPack or numpy's protocols."""

from __future__ import annotations

import enum
import random
from decimal import Decimal
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from exactref_core.adapters import asarray
from exactref_core.errors import DTypeError, InputError, UnknownNameError
from exactref_core.formats.catalogue import FORMATS, get_format
from exactref_core.formats.codec import storage_dtype
from exactref_core.formats.rounding import round_ratio
from tests.core.rounding_oracle import same

BIG = 2**53 + 1


class Colour(enum.IntEnum):
    RED = 3


@pytest.mark.parametrize(
    ("numbers", "dtype", "shape"),
    [
        ([1, 2], "int64", (2,)),
        ([[1.0, 2], [3, 4]], "float64", (2, 2)),
        ([True, False], "bool", (2,)),
        ([True, 2], "int64", (2,)),
        ([True, 0.5], "float64", (2,)),
        ([1, 2.5, 3j], "complex128", (3,)),
        (((1, 2), [3, 4]), "int64", (2, 2)),
        (range(3), "int64", (3,)),
        (3, "int64", ()),
        (-0.0, "float64", ()),
        (True, "bool", ()),
        (1j, "complex128", ()),
        ([], "float64", (0,)),
        ([[], []], "float64", (2, 0)),
        ([[[1.5]]], "float64", (1, 1, 1)),
        ([2**60, 0.5], "float64", (2,)),
        ([Colour.RED, 1], "int64", (2,)),
        ([np.float64(0.5), np.int8(3), np.True_], "float64", (3,)),
        ([ml_dtypes.bfloat16(3), np.float32(0.1)], "float64", (2,)),
        ([np.arange(3), [7, 8, 9]], "int64", (2, 3)),
        ([np.array(2.0), 1], "float64", (2,)),
    ],
    ids=repr,
)
def test_lists_choose_their_format(numbers, dtype, shape):
    result = asarray(numbers)
    assert (result.dtype, result.shape) == (dtype, shape)
    flat = np.asarray(np.array(numbers), dtype)  # numpy's own reading, exact for these
    assert result.scalars() == flat.reshape(-1).tolist()
    assert np.array_equal(np.signbit(result.values().real), np.signbit(flat.real))


@pytest.mark.parametrize("fmt", [f for f in FORMATS.values() if f.is_float], ids=lambda f: f.name)
def test_numbers_are_rounded_once_into_the_dtype_asked_for(fmt):
    rng = random.Random(4)
    fractions = [Fraction(rng.getrandbits(80), rng.getrandbits(80) | 1) for _ in range(300)]
    integers = [rng.choice((1, -1)) * rng.getrandbits(rng.randint(1, 200)) for _ in range(300)]
    floats = [
        rng.choice((1, -1)) * rng.random() * 2.0 ** rng.randint(-160, 140) for _ in range(300)
    ]
    numbers = fractions + integers + floats
    expected = [round_ratio(*number.as_integer_ratio(), fmt) for number in numbers]
    assert same(asarray(numbers, fmt.name).values(), np.array(expected))
    assert same(asarray(floats, fmt).values(), np.array(expected[600:]))


def test_a_tie_is_not_rounded_through_float64():
    tie_and_more = 2**60 + 2**36 + 1  # float64 drops the 1, which decides
    assert asarray([tie_and_more], "float32").tolist() == [float(2**60 + 2**37)]
    assert asarray([1 + 2.0**-8 + 2.0**-40], "bfloat16").tolist() == [1 + 2.0**-7]
    assert asarray(2**70, "bfloat16").tolist() == 2.0**70
    assert asarray([10**400, -(10**400)], "float32").tolist() == [np.inf, -np.inf]
    assert asarray([0.1 + 2**-60 * 1j, 3], "complex64").tolist() == [
        complex(float(np.float32(0.1)), 2**-60),
        3,
    ]


def test_negative_zeros_and_nan_survive():
    for name in ("float64", "float32", "bfloat16", "float8_e5m2"):
        assert same(asarray([-0.0, float("nan")], name).values(), np.array([-0.0, np.nan]))


@pytest.mark.parametrize(
    ("numbers", "dtype", "error", "message"),
    [
        ([1, 2**63], None, InputError, r"q\[1\] is 9223372036854775808, which int64 cannot hold"),
        ([[0.5, BIG]], None, InputError, r"q\[0, 1\] is 9007199254740993, which float64 cannot"),
        ([1j, BIG], None, InputError, r"q\[1\] is 9007199254740993, which complex128 cannot"),
        ([2**20000], None, InputError, r"q\[0\] is an integer of 20001 bits"),
        ([1, 300], "uint8", InputError, r"q\[1\] is 300, which uint8"),
        ([-1], "uint64", InputError, r"q\[0\] is -1, which uint64"),
        ([2], "bool", InputError, r"q\[0\] is 2, which bool"),
        ([1.0], "int32", DTypeError, "do not become int32 by themselves"),
        ([1j], "float32", DTypeError, "would drop the imaginary parts"),
        ([Fraction(1, 3)], None, DTypeError, "Fractions, which choose no format: give a dtype"),
        ([Fraction(1, 3)], "int8", DTypeError, "do not become int8"),
        ([[1, 2], [3]], None, InputError, r"q\[1\] is a list of 1 where q\[0\] is a list of 2"),
        ([[1, 2], 3], None, InputError, r"ragged: q\[1\] is a number where q\[0\] is a list of 2"),
        ([[[1], 2], [[3], [4]]], None, InputError, r"q\[0, 1\] is a number where q\[0, 0\] is a l"),
        ([[1], [2], np.ones(3)], None, InputError, r"ragged: q\[2\] is a list of 3"),
        ([[1, "a"]], None, DTypeError, r"q\[0, 1\] is of type str"),
        ([None], None, DTypeError, r"q\[0\] is of type NoneType"),
        ([Decimal(1)], "float64", DTypeError, r"q\[0\] is of type decimal.Decimal"),
        ([np.longdouble(1)], None, DTypeError, r"q\[0\] has dtype .*astype\('float64'\)"),
        (["a"], None, DTypeError, r"q\[0\] is of type str"),
        ([float("nan")], "float4_e2m1fn", InputError, "float4_e2m1fn has no NaN"),
        ([1], "float33", UnknownNameError, "unknown dtype 'float33'"),
    ],
)
def test_lists_that_are_refused(numbers, dtype, error, message):
    with pytest.raises(error, match=message):
        asarray(numbers, dtype, name="q")


def test_lists_may_not_hold_themselves():
    endless: list = []
    endless.append(endless)
    with pytest.raises(InputError, match="nested more than 32 deep"):
        asarray(endless)


NUMPY_FORMATS = [f for f in FORMATS.values() if f.name != "tfloat32"]


@pytest.mark.parametrize("fmt", NUMPY_FORMATS, ids=lambda f: f.name)
def test_numpy_arrays_keep_format_and_values_in_any_layout(fmt):
    plain = np.ones((2, 3, 4)) if fmt.kind == "bool" else np.arange(24).reshape(2, 3, 4) % 4
    stored = plain.astype(storage_dtype(fmt))
    frozen = stored.copy()
    frozen.flags.writeable = False
    for each in (
        stored,
        stored.T,
        stored[::-1, :, ::2],
        np.asfortranarray(stored),
        np.broadcast_to(stored[0], (5, 3, 4)),
        stored[:0],
        stored[1, 2, 3],
        stored[1, 2, 3, ...],
        frozen,
    ):
        result = asarray(each)
        assert result.format is fmt
        assert result.shape == each.shape
        assert result.tolist() == each.tolist()
        assert result.data.flags.c_contiguous
        assert not np.shares_memory(result.data, stored)


@pytest.mark.parametrize("name", ["f2", "f4", "f8", "c8", "c16", "i2", "i4", "u8"])
def test_both_byte_orders(name):
    native = np.array([1, 2, 100], name)
    for order in "<>":
        result = asarray(native.astype(order + name))
        assert result.tolist() == native.tolist()
        assert result.data.dtype.isnative


def test_later_writes_do_not_reach_the_array():
    source = np.zeros(3, np.float32)
    result = asarray(source)
    source[:] = 1.0
    assert result.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_nan_payloads_are_harmless(name):
    carrier = {"float16": np.uint16, "float32": np.uint32, "float64": np.uint64}[name]
    quiet = np.array([np.nan, -np.nan], name).view(carrier)
    signalling = (np.array([np.inf, -np.inf], name).view(carrier) + 1).astype(carrier)
    patterns = np.concatenate([quiet, quiet + 3, signalling]).view(name)
    assert np.isnan(asarray(patterns).values()).all()
    assert np.isnan(asarray(patterns, "bfloat16").values()).all()
    assert np.array_equal(asarray(patterns).data.view(carrier), patterns.view(carrier))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.longdouble(1), r"use .astype\('float64'\)"),
        (np.ones(2, np.clongdouble), r"use .astype\('complex128'\)"),
        (np.array([1, None], object), "pass a list"),
        (np.array(["1"]), "parse the text"),
        (np.array([b"1"]), "parse the text"),
        (np.array(["2020"], "datetime64[D]"), r"'int64'\) for their ticks"),
        (np.array([1], "timedelta64[s]"), "ticks"),
        (np.zeros(2, "f4,i4"), r"x\['field'\]"),
        (np.ma.array([1.0, 2.0], mask=[0, 1]), r"masked array: pass x.filled"),
        (np.zeros(1, ml_dtypes.int4), "use .astype"),
        (ml_dtypes.float8_e8m0fnu(1), "use .astype"),
        ("1.0", "of type str: pass an array"),
        (b"1.0", "of type bytes"),
        (None, "of type NoneType"),
        ({1, 2}, "of type set"),
        (Decimal(1), "of type decimal.Decimal"),
    ],
    ids=lambda v: type(v).__name__,
)
def test_what_holds_no_numbers_that_a_format_has(value, message):
    with pytest.raises(DTypeError, match=message):
        asarray(value)


def test_arrays_become_other_formats_only_without_loss():
    third = np.array([1 / 3, -0.0])
    assert same(asarray(third, "float32").values(), third.astype(np.float32).astype(float))
    assert asarray(np.array([2049.0]), np.float16).tolist() == [2048.0]
    assert asarray(np.array([1 / 3, 2.0]), "complex64").tolist() == [float(np.float32(1 / 3)), 2]
    assert asarray(np.array([0.1 - 0.1j]), "complex64").tolist() == [np.complex64(0.1 - 0.1j)]
    assert asarray(np.arange(257), "bfloat16").scalars() == list(range(257))
    assert asarray(np.array([2**63], np.uint64), "float32").tolist() == [2.0**63]
    assert asarray(np.array([0, 1], np.uint8), "bool").tolist() == [False, True]
    assert asarray(np.array([True]), "int8").tolist() == [1]
    assert asarray(np.array([True]), "float16").tolist() == [1.0]
    assert asarray(np.array([127, -128]), "int8").dtype == "int8"
    assert asarray(np.float32(0.1), "tfloat32").tolist() == round_ratio(
        *float(np.float32(0.1)).as_integer_ratio(), get_format("tfloat32")
    )
    for values, dtype, error, message in (
        (np.array([[0, 257]]), "bfloat16", InputError, r"x\[0, 1\] is 257, which bfloat16"),
        (np.array(BIG), "float64", InputError, "x is 9007199254740993, which float64"),
        (np.array([2**64 - 1], np.uint64), "int64", InputError, "which int64 cannot hold"),
        (np.array([-1], np.int8), "uint64", InputError, "which uint64 cannot hold"),
        (np.array([2]), "bool", InputError, "which bool cannot hold"),
        (np.array([1.0]), "int64", DTypeError, "floats do not become int64"),
        (np.array([1.0]), "bool", DTypeError, "floats do not become bool"),
        (np.array([1 + 0j]), "float64", DTypeError, "imaginary parts"),
    ):
        with pytest.raises(error, match=message):
            asarray(values, dtype)


def test_an_array_comes_back_as_it_is():
    array = asarray([1.0, 0.1])
    assert asarray(array) is array
    assert asarray(array, "float64") is array
    assert asarray(array, "float16").tolist() == [1.0, float(np.float16(0.1))]
    assert asarray([array, array]).tolist() == [[1.0, 0.1]] * 2
