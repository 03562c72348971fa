"""where: elements of one array or another, as a condition says."""

from __future__ import annotations

from typing import Any

from exactref_core.op import Domain, Op
from exactref_core.ops.dtypes import NUMBERS

__all__ = ["OPS"]


def define(v: Any, x1: Any, x2: Any, condition: Any = None) -> Any:
    """Elements of x1 where ``condition`` is True, of x2 where it is False; all three broadcast.

    The condition is an array of bool. What is not chosen does not matter, NaN included.
    """
    return v.where(v.condition(condition, "condition"), x1, x2)


def backward(v: Any, grad_output: Any, x1: Any, x2: Any, condition: Any = None) -> Any:
    """grad_output where x1 (x2) is chosen, else exactly 0, whatever grad_output is there."""
    mask = v.condition(condition, "condition")
    zero = v.zeros_like(grad_output)
    return {"x1": v.where(mask, grad_output, zero), "x2": v.where(mask, zero, grad_output)}


OPS = (
    Op(
        "where",
        define,
        ("x1", "x2"),
        Domain("(),()->()", NUMBERS),
        integers=True,
        first=("condition",),
        backward=backward,
    ),
)
