"""Rows of scores that share an irrational number: what is left of it in softmax and its kin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import exactref as er


def normalized(v: Any, x: Any) -> Any:
    """Scores less their log-sum-exp, by hand."""
    return v.subtract(x, v.logsumexp(x, axis=-1, keepdims=True))


# What each is equal to, as a function of its own: softmax(x - c) = softmax(x) for any number c.
EQUAL: dict[str, tuple[Callable[..., Any], str]] = {
    "softmax of log-softmax": (lambda v, x: v.softmax(v.log_softmax(x)), "softmax"),
    "softmax by hand": (lambda v, x: v.softmax(normalized(v, x)), "softmax"),
    "log-softmax twice": (lambda v, x: v.log_softmax(v.log_softmax(x)), "log_softmax"),
    "log-softmax by hand": (lambda v, x: v.log_softmax(normalized(v, x)), "log_softmax"),
}


def numbers(dtype: str) -> list[Any]:
    rng = np.random.default_rng(5)
    return [er.asarray(rng.standard_normal((2, 5)), dtype) for _ in range(2)]


@pytest.mark.parametrize("rounding", ["nearest_even", "up", "down"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
@pytest.mark.parametrize("case", EQUAL)
def test_what_scores_share_goes_away(case: str, dtype: str, rounding: str) -> None:
    function, name = EQUAL[case]
    er.define(function, name="shifted", signature="(n)->(n)", backward="chain_rule")
    x, grad = numbers(dtype)
    found, alone = er.shifted(x, rounding=rounding), getattr(er, name)(x, rounding=rounding)
    assert found.rounded.tolist() == alone.rounded.tolist()
    slopes = er.backward.shifted(grad, x, rounding=rounding)
    direct = getattr(er.backward, name)(grad, x, rounding=rounding)
    assert slopes.rounded.tolist() == direct.rounded.tolist()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_constant_has_a_gradient_of_zero(dtype: str) -> None:
    constants = {
        "shifted_zero": lambda v, x: v.logsumexp(v.log_softmax(x), axis=-1),
        "shifted_one": lambda v, x: v.sum(v.exp(v.log_softmax(x)), axis=-1),
    }
    x, _ = numbers(dtype)
    for value, (name, function) in enumerate(constants.items()):
        er.define(function, name=name, signature="(n)->()", backward="chain_rule")
        assert getattr(er, name)(x).rounded.tolist() == [value] * 2
        grad = er.asarray([1.5, -0.1], dtype)
        assert not np.asarray(getattr(er.backward, name)(grad, x).rounded).any()
    # Of masked keys, which count for nothing, and of a row that has one alone.
    row = er.asarray([[-np.inf, 0.3, -np.inf, 0.7], [-np.inf, 0.3, -np.inf, -np.inf]], dtype)
    assert er.shifted_zero(row).rounded.tolist() == [0.0, 0.0]
