"""astype: a change of format, which is nothing but the store."""

from __future__ import annotations

from typing import Any

from exactref_core.op import REQUIRED, Domain, Op
from exactref_core.ops.dtypes import NUMBERS

__all__ = ["OPS"]


def define(v: Any, x: Any) -> Any:
    """Elements of ``x`` rounded to ``dtype``, a float format (complex for complex inputs).

    By any ``rounding`` and ``overflow`` rule. Rounding once is correct, and by way of the format
    that implementations work in (float64 where it occurs, else float32), which matters for integers
    alone.
    """
    return v.identity(x)


def backward(v: Any, grad_output: Any, x: Any) -> Any:
    """grad_output, which is in ``dtype``, rounded to the format of x."""
    return {"x": v.identity(grad_output)}


OPS = (
    Op(
        "astype",
        define,
        ("x",),
        Domain("()->()", NUMBERS),
        {"dtype": REQUIRED},
        backward=backward,
        casts=True,
    ),
)
