"""The libraries that are swept: how they hold numbers, their kernels, and their gradients."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from exactref_core.op import Op
from exactref_core.registry import ops
from tests.sweep import numpy_kernels, torch_kernels

Kernel = Callable[..., Any]
FORMATS = ("float64", "float32", "bfloat16", "float16")


@dataclass(frozen=True)
class Library:
    """``array`` holds values of a format in a layout; ``kernel_of`` finds kernels by operation,
    ``none`` has the reasons that there is none; ``gradients`` runs a kernel and its gradient."""

    name: str
    array: Callable[[np.ndarray, str, str], Any]
    kernel_of: Callable[[str], Kernel | None]
    none: Mapping[str, str]
    gradients: Callable[[Kernel, Any, tuple[Any, ...]], list[Any]] | None = None

    def reason(self, op: Op) -> str | None:
        """Why there is no kernel of an operation; None where there is one."""
        if op.forward is None:
            return self.none.get(op.name)
        if self.gradients is None:
            return f"{self.name} computes no gradients"
        return self.none.get(op.forward.name)


def torch_array(values: np.ndarray, form: str, layout: str) -> Any:
    """A tensor; float64 to a narrower format is exact for values of that format."""
    torch = torch_kernels.torch()
    narrow = torch.from_numpy(np.array(values, order="C")).to(getattr(torch, form))
    if layout == "strided" and values.ndim:
        return narrow.repeat_interleave(2, -1)[..., ::2]
    if layout == "transposed" and values.ndim:
        axes = tuple(reversed(range(values.ndim)))
        return narrow.permute(axes).contiguous().permute(axes)
    return narrow


def autograd(kernel: Kernel, grad: Any, tensors: tuple[Any, ...]) -> list[Any]:
    """The gradient of each tensor."""
    leaves = [x.detach().requires_grad_() for x in tensors]
    kernel(*leaves).backward(grad)
    return [leaf.grad for leaf in leaves]


def numpy_array(values: np.ndarray, form: str, layout: str) -> Any:
    """An array; every second element of one, or one in the other order of axes."""
    dtype = ml_dtypes.bfloat16 if form == "bfloat16" else np.dtype(form)
    narrow = np.array(values, dtype, order="C")
    if layout == "strided" and values.ndim:
        return np.repeat(narrow, 2, axis=-1)[..., ::2]
    return np.array(narrow, order="F") if layout == "transposed" else narrow


TORCH = Library("torch", torch_array, torch_kernels.kernel_of, torch_kernels.NONE, autograd)
NUMPY = Library("numpy", numpy_array, numpy_kernels.KERNELS.get, numpy_kernels.none(ops()))
LIBRARIES = {library.name: library for library in (TORCH, NUMPY)}
