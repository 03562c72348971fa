"""asarray over what speaks DLPack or numpy's protocols, and over adapters that are added."""

from __future__ import annotations

import array as standard_array

import ml_dtypes
import numpy as np
import pytest

from exactref_core.adapters import adapters, asarray, convert, register_adapter
from exactref_core.adapters.adapter import Adapter
from exactref_core.array import Array
from exactref_core.errors import DTypeError, InputError
from exactref_core.formats.catalogue import get_format


class Exporter:
    """An array of a library that speaks DLPack only."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Convertible:
    """An object that numpy reads through __array__."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return np.array(self.array, dtype=dtype)


def test_dlpack_and_the_array_protocol():
    source = np.arange(6, dtype=np.int16).reshape(2, 3)[:, ::-1]
    for wrap in (Exporter, Convertible):
        result = asarray(wrap(source))
        assert (result.dtype, result.tolist()) == ("int16", source.tolist())
        assert not np.shares_memory(result.data, source)
    assert asarray(standard_array.array("d", [1.0, 2.0])).tolist() == [1.0, 2.0]
    assert asarray(memoryview(source)).tolist() == source.tolist()
    assert asarray(Convertible(np.ones(2, ml_dtypes.bfloat16))).dtype == "bfloat16"
    with pytest.raises(DTypeError, match="does not cross by DLPack"):
        asarray(Exporter(np.ones(2, ml_dtypes.bfloat16)))


class Celsius:
    def __init__(self, degrees):
        self.degrees = degrees


def test_adapters_can_be_added(monkeypatch):
    monkeypatch.setattr(convert, "_ADAPTERS", list(adapters()))
    fmt = get_format("float64")
    mine = Adapter(
        "celsius",
        lambda x: isinstance(x, Celsius),
        lambda x, name: Array.from_values(np.float64(x.degrees), fmt),
    )
    register_adapter(mine)
    register_adapter(mine)
    assert adapters()[0] is mine
    assert len({adapter.name for adapter in adapters()}) == len(adapters())
    assert asarray(Celsius(21.5)).tolist() == 21.5
    assert asarray([Celsius(1.5), 2]).tolist() == [1.5, 2.0]
    with pytest.raises(InputError, match="already registered as 'celsius'"):
        register_adapter(Adapter("celsius", mine.recognises, lambda x, name: mine.load(x, name)))
