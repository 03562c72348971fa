"""asarray over jax's arrays."""

from __future__ import annotations

import numpy as np
import pytest

from exactref_core.adapters import asarray
from exactref_core.errors import DTypeError
from exactref_core.formats.catalogue import get_format

jax = pytest.importorskip("jax")


@pytest.mark.parametrize("name", ["float32", "bfloat16", "float16", "int32", "bool", "complex64"])
def test_arrays_keep_their_dtype(name):
    array = jax.numpy.asarray([[0, 1, 1], [1, 0, 1]], name)
    for each in (array, array.T, array[0, 1]):
        result = asarray(each)
        assert result.format is get_format(each.dtype) is get_format(name)
        assert result.tolist() == np.asarray(each).tolist()


def test_dtypes_of_jax_name_formats():
    assert get_format(jax.numpy.bfloat16).name == "bfloat16"
    assert get_format(jax.numpy.float32).name == "float32"


def test_tracers_are_refused():
    @jax.jit
    def traced(x):
        asarray(x, name="q")
        return x

    with pytest.raises(DTypeError, match="q is a jax tracer"):
        traced(jax.numpy.ones(2))
    with pytest.raises(DTypeError, match="q has dtype key"):
        asarray(jax.random.key(0), name="q")
