"""Whole products of operands that carry errors, against single elements; quick verdicts."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import exactref as er
from exactref_core.arithmetic.bounds import FloatBounds
from exactref_core.arithmetic.fast import FastReading
from exactref_core.registry import get_standard
from tests.every_op.levels import nodes_below


def results(form: str) -> list[er.Result]:
    """Gradients and chains whose products have operands with errors."""
    rng = np.random.default_rng(1)

    def array(*shape: int) -> er.Array:
        return er.asarray(rng.standard_normal(shape).tolist(), form)

    q, k, v, g = array(2, 7, 4), array(2, 9, 4), array(2, 9, 3), array(2, 7, 3)
    tiny = er.asarray((rng.standard_normal((9, 5)) * 2.0**-70).tolist(), form)
    zeros = er.asarray(np.where(rng.random((9, 5)) < 0.5, 0.0, 1.0).tolist(), form)
    chain = er.tanh(array(6, 9))
    return [
        er.backward.scaled_dot_product_attention(g, q, k, v, softcap=2.0, is_causal=True),
        er.matmul(chain, array(9, 5)),
        er.matmul(er.multiply(chain, chain), tiny),
        er.matmul(er.add(chain, chain), zeros),
    ]


def dots(result: er.Result) -> list[tuple[Any, Any]]:
    """The products under each output."""
    found = []
    for output in result._outputs.values():
        for part in output.parts:
            found += [(part, x) for x in nodes_below(part.source) if x.verb == "dot"]
    return found


@pytest.mark.parametrize("form", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("standard", ["normal", "any_order", "typical"])
@pytest.mark.parametrize("flush", [False, True])
def test_whole_and_single_bounds_overlap(form: str, standard: str, flush: bool) -> None:
    tight = 0
    for result in results(form):
        for _, node in dots(result):
            for precise in (False, True):
                readings = [
                    FloatBounds(FastReading(False), get_standard(standard), flush, precise)
                    for _ in range(2)
                ]
                whole = readings[0].whole(node).map(np.ravel, node.shape)
                # Less than half of the elements are gathered; more are taken from the whole.
                some = np.arange(0, node.size, 3)
                single = readings[1].at(node, some)
                low, high = whole.error.low[some], whole.error.high[some]
                assert np.all(low <= single.error.high)
                assert np.all(single.error.low <= high)
                tight += np.count_nonzero(high <= low * (1 + 2.0**-20))
                one, other = readings[0].value(node, None), readings[1].value(node, some)
                gap = np.abs(one.high.reshape(-1)[some] - other.high)
                room = np.broadcast_to(one.spread, node.shape).reshape(-1)[some] + other.spread
                assert np.all(gap <= room * (1 + 2.0**-40) + 2.0**-1060)
    assert tight > 100


NARROW = {"bfloat16": ml_dtypes.bfloat16, "float16": np.float16}


@pytest.mark.parametrize("form", NARROW)
@pytest.mark.parametrize(("standard", "flush"), [("normal", False), ("any_order", True)])
def test_verdicts_agree_with_the_ends_of_ranges(form: str, standard: str, flush: bool) -> None:
    """The ends are covered, the next numbers beyond them are not, whatever was asked first."""
    rng = np.random.default_rng(2)

    def array(*shape: int) -> er.Array:
        return er.asarray((rng.standard_normal(shape) * 2).tolist(), form)

    q, k, v = array(2, 40, 4), array(2, 40, 4), array(2, 40, 20)
    calls = [
        lambda: er.scaled_dot_product_attention(q, k, v)["output"],
        lambda: er.softmax(v),
        lambda: er.gelu(v),
        lambda: er.backward.softmax(v, v),
        lambda: er.sum(v, axis=-1),
    ]
    kind = NARROW[form]
    for call in calls:
        low, high = (
            x.values().astype(kind) for x in call().finite_range(standard, flush_to_zero=flush)
        )
        beyond = np.nextafter(low, kind(-np.inf)), np.nextafter(high, kind(np.inf))
        for array_, inside in ((low, True), (high, True), (beyond[0], False), (beyond[1], False)):
            finite = np.isfinite(array_.astype(np.float32))
            found = call().covers(er.asarray(array_, form), standard, flush_to_zero=flush)
            assert np.all(found.values()[finite] == inside)
