"""Torch's kernels under the operations' own names and arguments, or the reason that none is."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

NONE: dict[str, str] = {
    "cbrt": "torch has no cube root",
    "geglu": "torch has no kernel of it: a product of its gelu",
    "merge_attention": "torch merges inside of its attention kernels only",
    "reglu": "torch has no kernel of it: a product of its relu",
    "rope": "torch has no kernel of it",
    "swiglu": "torch has no kernel of it: a product of its silu",
}


def torch() -> Any:
    """The module, imported where a kernel runs."""
    return importlib.import_module("torch")


def functional() -> Any:
    return torch().nn.functional


def tensor(array: np.ndarray) -> Any:
    """An argument that is an array as a tensor."""
    return torch().from_numpy(np.ascontiguousarray(array))


def reduction(name: str) -> Callable[..., Any]:
    def run(x: Any, axis: Any = None, keepdims: bool = False, **more: Any) -> Any:
        return getattr(torch(), name)(x, axis, keepdim=keepdims, **more)

    return run


def deviation(name: str) -> Callable[..., Any]:
    def run(x: Any, axis: Any = None, correction: float = 0, keepdims: bool = False) -> Any:
        return getattr(torch(), name)(x, axis, correction=correction, keepdim=keepdims)

    return run


def of_rows(name: str) -> Callable[..., Any]:
    return lambda x, axis=-1: getattr(torch(), name)(x, axis)


def vector_norm(x: Any, axis: Any = None, keepdims: bool = False, ord: float = 2) -> Any:
    return torch().linalg.vector_norm(x, ord, axis, keepdims)


def normalised(name: str) -> Callable[..., Any]:
    def run(x: Any, **more: Any) -> Any:
        return getattr(functional(), name)(x, x.shape[-1:], **more)

    return run


def batch_norm(x: Any, running_mean: Any = None, running_var: Any = None, **more: Any) -> Any:
    return functional().batch_norm(x, running_mean, running_var, **more)


def loss(name: str) -> Callable[..., Any]:
    def run(x: Any, target: np.ndarray, weight: Any = None, **more: Any) -> Any:
        if weight is not None:  # the weights of classes have no gradient
            more["weight"] = weight.detach()
        return getattr(functional(), name)(x, tensor(target), **more)

    return run


def where(*args: Any, condition: Any = None) -> Any:
    """The condition is given by name, or before the tensors."""
    chosen, x1, x2 = args if condition is None else (condition, *args)
    return torch().where(tensor(chosen), x1, x2)


def attention(query: Any, key: Any, value: Any, attn_mask: Any = None, **more: Any) -> Any:
    mask = None if attn_mask is None else tensor(attn_mask)
    return functional().scaled_dot_product_attention(query, key, value, mask, **more)


KERNELS: dict[str, Callable[..., Any]] = {
    **{name: reduction(name) for name in ("sum", "mean", "logsumexp")},
    **{name: reduction(f"a{name}") for name in ("max", "min")},
    "prod": reduction("prod"),
    **{name: deviation(name) for name in ("var", "std")},
    **{name: of_rows(name) for name in ("softmax", "log_softmax")},
    "cumulative_sum": of_rows("cumsum"),
    "cumulative_prod": of_rows("cumprod"),
    "vector_norm": vector_norm,
    **{name: normalised(name) for name in ("layer_norm", "rms_norm")},
    "batch_norm": batch_norm,
    **{name: loss(name) for name in ("cross_entropy", "nll_loss")},
    "fma": lambda x1, x2, x3: torch().addcmul(x3, x1, x2),
    "where": where,
    "astype": lambda x, dtype: x.to(getattr(torch(), dtype)),
    "tensordot": lambda x1, x2, axes=2: torch().tensordot(x1, x2, axes),
    "scaled_dot_product_attention": attention,
}


def kernel_of(name: str) -> Callable[..., Any] | None:
    """Torch's kernel of an operation; None where it has none."""
    if name in NONE:
        return None
    if name in KERNELS:
        return KERNELS[name]
    for home in (torch(), functional(), torch().special, torch().linalg):
        if hasattr(home, name):
            found: Callable[..., Any] = getattr(home, name)
            return found
    raise LookupError(f"torch has no {name}: give the kernel, or the reason that there is none")
