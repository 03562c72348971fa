"""NumPy's kernels under the operations' own names and arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from exactref_core.op import Op

Kernel = Callable[..., Any]
RENAMED = {
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "cumulative_prod": "cumprod",
    "cumulative_sum": "cumsum",
    "pow": "power",
}
SAME = (
    *("abs", "add", "cbrt", "cos", "cosh", "divide", "einsum", "exp", "exp2", "expm1", "hypot"),
    *("log", "log10", "log1p", "log2", "logaddexp", "matmul", "maximum", "minimum", "multiply"),
    *("negative", "outer", "reciprocal", "sin", "sinh", "sqrt", "square", "subtract", "tan"),
    *("tanh", "tensordot", "vecdot", "max", "mean", "min", "prod", "sum"),
)


def deviation(name: str) -> Kernel:
    def run(x: Any, axis: Any = None, correction: float = 0) -> Any:
        return getattr(np, name)(x, axis=axis, ddof=correction)

    return run


def cast(x: Any, dtype: str) -> Any:
    return x.astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)


def vector_norm(x: Any, axis: int, ord: float = 2) -> Any:
    return np.linalg.vector_norm(x, axis=axis, ord=ord)


KERNELS: dict[str, Kernel] = {
    **{name: getattr(np, name) for name in SAME},
    **{name: getattr(np, other) for name, other in RENAMED.items()},
    **{name: deviation(name) for name in ("var", "std")},
    "astype": cast,
    "clip": lambda x, min=None, max=None: np.clip(x, min, max),
    "linear": lambda x, weight: np.matmul(x, weight.T),
    "vector_norm": vector_norm,
    "where": lambda x1, x2, condition: np.where(condition, x1, x2),
}


def none(ops: tuple[Op, ...]) -> dict[str, str]:
    """The reason for each operation that NumPy does not have."""
    forward = (op.name for op in ops if op.forward is None)
    return {name: "NumPy has no kernel of it" for name in forward if name not in KERNELS}
