"""NaN is NaN: quiet or signalling, of either sign and any payload, in inputs and in outputs."""

from __future__ import annotations

import warnings

import ml_dtypes
import numpy as np
import pytest

import exactref as er
from exactref_core.formats.catalogue import get_format

FORMS = ("float64", "float32", "float16", "bfloat16", "float8_e5m2", "float8_e4m3fn")


def dtype_of(form: str) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, form, form))


def patterns(form: str) -> np.ndarray:
    """NaN of a format: payloads of one bit and of all, quiet and signalling, of both signs."""
    dtype = dtype_of(form)
    carrier = np.dtype(f"u{dtype.itemsize}")
    if form == "float8_e4m3fn":  # which has two
        return np.array([0x7F, 0xFF], carrier).view(dtype)
    infinity = int(np.array([np.inf], dtype).view(carrier)[0])
    bits = get_format(form).precision - 1
    payloads = [1, (1 << bits) - 1, *(1 << k for k in range(bits))]
    sign = 1 << (8 * dtype.itemsize - 1)
    found = [infinity + payload + s for payload in payloads for s in (0, sign)]
    return np.array(found, carrier).view(dtype)


@pytest.mark.parametrize("form", FORMS)
def test_outputs(form: str) -> None:
    """Required where the exact value is NaN, refused where it is a number."""
    outputs = patterns(form)
    nothing = er.asarray([np.nan] * outputs.size, form)
    number = er.asarray([1.0] * outputs.size, form)
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        for standard in ("normal", "any_order"):
            assert er.add(nothing, number).covers(outputs, standard).all()
            assert not er.add(number, number).covers(outputs, standard).any()
            assert not er.softmax(number).covers(outputs, standard).any()
            assert er.softmax(nothing).covers(outputs, standard).all()
        assert er.add(number, number).covers(outputs, flush_to_zero=True).any() is False


@pytest.mark.parametrize("form", FORMS)
def test_inputs(form: str) -> None:
    """All give what the usual NaN gives, bit for bit."""
    given = patterns(form)
    usual = er.asarray([np.nan] * given.size, form)
    ones = er.asarray([1.0] * given.size, form)

    def told(x: object) -> list[str]:
        results = (
            er.multiply(x, ones),
            er.exp(x),
            er.pow(x, ones),
            er.pow(ones, x),
            er.maximum(x, ones),
            er.maximum(x, ones, nan="ignore"),
            er.sum(x),
            er.matmul(x, ones),
            er.softmax(x),
        )
        return [
            repr((r.rounded.tolist(), r.tolerance().tolist(), r.may_be("nan").tolist()))
            for r in results
        ]

    with np.errstate(all="raise"):
        assert told(given) == told(usual)
