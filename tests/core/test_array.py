"""What an Array holds, hands out and refuses."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import exactref as er
from exactref_core.array import Array
from exactref_core.errors import DTypeError, InputError
from exactref_core.formats.catalogue import FORMATS, get_format
from exactref_core.formats.codec import storage_dtype

GRID = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def grid(name: str = "bfloat16") -> Array:
    return Array.from_values(np.array(GRID), get_format(name))


def test_it_says_what_it_is():
    array = grid()
    assert array.format is FORMATS["bfloat16"]
    assert (array.dtype, array.shape, array.ndim, array.size) == ("bfloat16", (2, 3), 2, 6)
    assert grid("float32").dtype == np.dtype("float32")
    assert array.data.dtype == storage_dtype(array.format)


@pytest.mark.parametrize("name", FORMATS)
def test_values_come_back_in_every_format(name):
    fmt = get_format(name)
    numbers = {"float": [0.5, -2.0, 0.0], "complex": [0.5 - 2j, 0j, 1j], "bool": [True, False]}
    expected = numbers.get(fmt.kind, [0, 1, 100])
    array = Array.from_values(np.array(expected), fmt)
    wide = {"float": np.dtype(float), "complex": np.dtype(complex)}
    assert array.values().dtype == wide.get(fmt.kind, np.dtype(fmt.storage))
    assert array.scalars() == array.tolist() == expected
    assert {type(value) for value in array.scalars()} == {type(expected[0])}


def test_scalars_are_flat_and_row_major_and_tolist_is_nested():
    array = grid()
    assert array.scalars() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert array.tolist() == GRID
    assert type(array[1, 2].tolist()) is float
    assert array[1, 2].scalars() == [5.0]


def test_the_data_is_read_only_contiguous_and_its_own():
    source = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    array = Array.from_values(source, get_format("float32"))
    source[:] = -1.0
    assert array.tolist() == GRID
    transposed = Array(np.arange(6.0).reshape(2, 3).T, get_format("float64"))
    for each in (array, transposed, array[:, ::2], array.reshape(3, 2), copy.deepcopy(array)):
        assert each.data.flags.c_contiguous
        assert not each.data.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            each.data[...] = 0.0
    assert transposed.tolist() == [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]


def test_the_storage_must_be_of_the_format():
    with pytest.raises(DTypeError, match="float16 is stored as float16, not as float64"):
        Array(np.zeros(2), get_format("float16"))
    with pytest.raises(DTypeError, match="not as >f8"):
        Array(np.zeros(2, ">f8"), get_format("float64"))


def test_reshape():
    array = grid()
    for other in (array.reshape(3, 2), array.reshape((3, 2)), array.reshape(-1, 2)):
        assert other.tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    assert array.reshape(6).shape == array.reshape(-1).shape == (6,)
    assert array[0, 0].reshape(()).shape == ()
    with pytest.raises(InputError, match=r"shape \(2, 3\) cannot become \(4, 2\)"):
        array.reshape(4, 2)


@pytest.mark.parametrize(
    "index",
    [
        0,
        -1,
        np.int64(1),
        slice(None),
        (1, 2),
        (..., 0),
        (slice(None, None, -2), None),
        ...,
        None,
        (),
    ],
    ids=repr,
)
def test_basic_indexing_is_numpys(index):
    expected = np.array(GRID)[index]
    picked = grid()[index]
    assert isinstance(picked, Array)
    assert picked.dtype == "bfloat16"
    assert picked.shape == expected.shape
    assert picked.tolist() == expected.tolist()


def test_other_indices_are_refused():
    for index in ([0, 1], np.array([True, False]), True, 1.0, "output", (0, [1])):
        with pytest.raises(DTypeError, match="arrays take integers, slices"):
            grid()[index]
    for index in (2, (0, 3), (0, 0, 0)):
        with pytest.raises(IndexError):
            grid()[index]


def test_iteration_goes_along_the_first_axis():
    array = grid()
    assert len(array) == 2
    assert [row.tolist() for row in array] == GRID
    for ask in (len, list):
        with pytest.raises(TypeError, match="without axes"):
            ask(array[0, 0])


def test_all_and_any_give_python_bools():
    for name in ("float32", "float8_e4m3fn", "int8", "bool", "complex64"):
        fmt = get_format(name)
        mixed = Array.from_values(np.array([0, 1]).astype(storage_dtype(fmt)), fmt)
        assert (mixed.all(), mixed.any()) == (False, True)
        assert (mixed[1:].all(), mixed[:1].any()) == (True, False)
        assert (mixed[:0].all(), mixed[:0].any()) == (True, False)
        assert type(mixed.all()) is type(mixed.any()) is bool
    assert Array.from_values(np.array([np.nan]), get_format("float32")).all()


def test_there_are_no_operators():
    array = grid("float32")
    assert array == array
    assert array != grid("float32")
    for compute in (
        lambda: array + array,
        lambda: array * 2,
        lambda: 2 - array,
        lambda: np.ones(3) * array,
        lambda: -array,
        lambda: array < array,
        lambda: np.exp(array),
    ):
        with pytest.raises(TypeError):
            compute()
    for truth in (array, array[0, 0]):
        with pytest.raises(DTypeError, match=r"\.all\(\) or \.any\(\)"):
            bool(truth)


def test_numpy_reads_it():
    array = grid("float32")
    assert np.asarray(array) is array.data
    assert np.array(array, copy=True).flags.writeable
    assert np.asarray(array, dtype=np.float64).tolist() == GRID
    assert array.__array__(np.dtype("float32"), copy=False) is array.data
    with pytest.raises(ValueError, match="copy is needed"):
        array.__array__(np.dtype("int32"), copy=False)
    np.testing.assert_array_equal(array, GRID)


def test_dlpack_exports_a_copy():
    array = grid("float32")
    exported = np.from_dlpack(array)
    assert exported.tolist() == GRID
    assert not np.shares_memory(exported, array.data)
    assert array.__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError, match="only a copy"):
        array.__dlpack__(copy=False)
    with pytest.raises(BufferError):
        grid("bfloat16").__dlpack__()


def test_copies_and_pickles_are_the_same_array():
    array = grid("float8_e5m2")
    for other in (copy.copy(array), copy.deepcopy(array), pickle.loads(pickle.dumps(array))):
        assert (other.format, other.tolist()) == (array.format, array.tolist())
        assert not other.data.flags.writeable


def test_repr_is_short():
    assert repr(grid()) == "Array(bfloat16, shape (2, 3): 0.0, 1.0, 2.0, 3.0, 4.0, 5.0)"
    long = Array.from_values(np.arange(1000), get_format("int64"))
    assert repr(long) == "Array(int64, shape (1000,): 0, 1, 2, 3, 4, 5, ...)"
    assert repr(long[:0]) == "Array(int64, shape (0,))"


def test_numpy_asks_all_and_any_of_arrays() -> None:
    truth = er.asarray([[True, False], [True, True]], "bool")
    assert (np.all(truth), np.any(truth), truth.all(), truth.any()) == (False, True, False, True)
    assert np.all(truth, axis=0).tolist() == [True, False]
    assert np.any(truth, axis=1, keepdims=True).tolist() == [[True], [True]]
