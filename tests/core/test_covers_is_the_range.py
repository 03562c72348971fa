"""covers() of a result that has told nothing says what finite_range() of another one does."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import exactref as er

CALLS: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: er.add(x, y),
    "exp": lambda x, y: er.exp(x),
    "gelu": lambda x, y: er.gelu(x),
    "tanh": lambda x, y: er.tanh(x),
    "log1p": lambda x, y: er.log1p(er.abs(x).rounded),
    "sum": lambda x, y: er.sum(x, axis=-1),
    "mean": lambda x, y: er.mean(x, axis=-1),
    "matmul": lambda x, y: er.matmul(x, er.asarray(y.data.T, y.format)),
    "softmax": lambda x, y: er.softmax(x, axis=-1),
    "logsumexp": lambda x, y: er.logsumexp(x, axis=-1),
    "layer_norm": lambda x, y: er.layer_norm(x, x.shape[-1]),
}


def inputs(dtype: str, seed: int) -> tuple[er.Array, er.Array]:
    """Two arrays of 3 by 6, ordinary numbers or of any size that squares of them may have."""
    rng = np.random.default_rng(seed)
    spread = (0, 20)[seed % 2]
    x, y = (np.ldexp(rng.normal(size=(3, 6)), rng.integers(-spread, 3, (3, 6))) for _ in range(2))
    return er.asarray(x, dtype), er.asarray(y, dtype)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64"])
@pytest.mark.parametrize("name", CALLS)
def test_ends_are_covered_and_nothing_beyond(name: str, dtype: str) -> None:
    for seed, standard in enumerate(("normal", "any_order", "normal", "any_order")):
        given = inputs(dtype, seed)
        told = CALLS[name](*given)
        low, high = told.finite_range(standard)
        storage = low.data.dtype
        bits = f"i{storage.itemsize}"
        for end, inward in ((low, 1), (high, -1)):
            # The next numbers on both sides: patterns grow with the magnitude.
            outward = np.where(np.signbit(end.values()), inward, -inward)
            beyond = (end.data.view(bits) + outward.astype(bits)).view(storage)
            certain = np.asarray(end.values() != 0)
            assert np.all(CALLS[name](*given).covers(end, standard).data)
            outside = CALLS[name](*given).covers(er.asarray(beyond), standard).data
            assert not np.any(outside[certain])
        rounded = told.rounded
        assert np.all(CALLS[name](*given).covers(rounded, standard).data)
        known = CALLS[name](*given)
        assert np.all(known.rounded.data == rounded.data)  # known before it is asked what it covers
        mixed = np.where(
            np.arange(rounded.size).reshape(rounded.shape) % 2, rounded.data, high.data
        )
        assert np.all(known.covers(er.asarray(mixed), standard).data)


def test_an_output_after_others_under_other_rules_is_judged_as_if_it_were_the_first() -> None:
    x, y = inputs("float32", 0)
    tiny = er.asarray(np.ldexp(x.values(), -124), "float32")

    def call() -> Any:
        return er.sum(er.multiply(tiny, y), axis=-1)

    rules = list(product(("normal", "any_order"), (False, True)))
    ranges = {rule: call().finite_range(rule[0], flush_to_zero=rule[1]) for rule in rules}
    ends = [end.data for pair in ranges.values() for end in pair]
    assert len({end.tobytes() for end in ends}) == 8
    ends += [np.nextafter(end, call().rounded.data) for end in ends]  # surely inside
    for order in (rules, rules[::-1]):
        used = call()
        for (standard, flush), end in product(order, ends):
            low, high = (side.data for side in ranges[standard, flush])
            wanted = (low <= end) & (end <= high)
            assert np.all(used.covers(end, standard, flush_to_zero=flush).data == wanted)


def test_verdicts_on_means_whose_sums_overflow_do_not_depend_on_what_was_asked_before() -> None:
    x = np.full(31, 1.2e38, np.float32)
    x[1::2] *= np.float32(0.9)
    mean = er.mean(x)
    low, high = (float(end.values()) for end in mean.finite_range())
    for steps in range(-3, 4):
        near = mean.rounded.data
        for _ in range(abs(steps)):
            near = np.nextafter(near, np.float32(np.inf if steps > 0 else -np.inf))
        assert bool(er.mean(x).covers(near).data) == (low <= float(near) <= high)
    assert bool(er.mean(x).covers(np.float32(np.inf)).data)


def test_what_an_operand_may_be_counts_where_it_is_certain() -> None:
    """A quotient by a weight, of whose lower bound alone is asked, is no infinity for that."""
    x, one = er.asarray([[5.0, -4.5]], "float32"), er.asarray(1.0, "bfloat16")

    def call() -> Any:
        return er.tanh(er.divide(one, er.softmax(x, dtype="bfloat16")))

    for standard in ("normal", "any_order"):
        # tanh(1) and tanh(13359), rounded to 8 bits.
        assert call().rounded.tolist() == [[0.76171875, 1.0]]
        covered = call().covers(er.asarray([[1.0, 1.0]], "bfloat16"), standard)
        assert covered.tolist() == [[False, True]]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: er.leaky_relu(er.log_softmax(x, axis=-1)),
        lambda x: er.elu(er.scaled_dot_product_attention(x, x, x)["output"]),
        lambda x: er.hardswish(er.reciprocal(er.softmax(x, axis=-1))),
        lambda x: er.selu(er.logsumexp(x, axis=-1)),
    ],
)
def test_choices_by_the_sign_of_what_a_softmax_stored(call: Callable[..., Any]) -> None:
    for seed, dtype in enumerate(["float32", "bfloat16", "float16", "float32"]):
        x = inputs(dtype, seed)[0]
        low, high = call(x).finite_range()
        bits = f"i{low.data.dtype.itemsize}"
        for end, inward in ((low, 1), (high, -1)):
            outward = np.where(np.signbit(end.values()), inward, -inward)
            beyond = (end.data.view(bits) + outward.astype(bits)).view(end.data.dtype)
            outside = call(x).covers(er.asarray(beyond)).data
            assert not np.any(outside[end.values() != 0])


def test_numbers_that_overflow_for_certain_leave_no_room_around_the_exact_value() -> None:
    """exp(x + y - x) is beyond the range, whatever the sum errs by."""
    op = er.define(lambda v, x, y: v.exp(v.subtract(v.add(x, y), x)), name="far")
    x, y = np.float32([1e8, 3e7]), np.float32([100.0, 112.0])
    assert np.isnan(op(x, y).finite_range()[0].values()).all()
    assert op(x, y).covers(np.float32([np.inf, np.inf])).all()
    for value in (3e38, 1e30, 1.0):
        assert not op(x, y).covers(np.float32([value, value])).any()
