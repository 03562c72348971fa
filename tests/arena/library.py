"""Kernels of installed libraries, as they come: numpy's, scipy's, torch's and those of math."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.arena.frame import Bench, Kernel, Values

TORCH = importlib.util.find_spec("torch") is not None
SCIPY = importlib.util.find_spec("scipy") is not None


def kernel(
    name: str,
    run: Callable[..., Values],
    formats: tuple[str, ...],
    longest: int = 10**7,
) -> Kernel:
    return Kernel(
        name,
        run,
        "any_order",
        longest=longest,
        when=lambda b: b.spec.name in formats,
        library=True,
    )


def of_numpy(
    name: str, function: Callable[..., Any], formats: tuple[str, ...] = ("float32", "float64")
) -> tuple[Kernel, ...]:
    def run(b: Bench, *tensors: Values) -> Values:
        return np.asarray(function(*(x.astype(b.spec.name) for x in tensors)))

    return (kernel(f"numpy {name}", run, formats),)


def of_torch(
    name: str,
    *rest: Any,
    formats: tuple[str, ...] = ("float32", "float64"),
    where: str = "torch",
    **options: Any,
) -> tuple[Kernel, ...]:
    """torch's function of that name, on tensors of the format; a callable in ``rest`` sees them."""
    if not TORCH:
        return ()

    def run(b: Bench, *tensors: Values) -> Values:
        torch: Any = importlib.import_module("torch")
        form = getattr(torch, b.spec.name)
        function = getattr(importlib.import_module(where), name)
        given = (torch.from_numpy(np.array(x)).to(form) for x in tensors)
        more = (each(*tensors) if callable(each) else each for each in rest)
        found: Values = function(*given, *more, **options).double().numpy()
        return found

    return (kernel(f"torch {name}", run, formats),)


def of_scipy(name: str, where: str = "scipy.special", **options: Any) -> tuple[Kernel, ...]:
    if not SCIPY:
        return ()

    def run(b: Bench, *tensors: Values) -> Values:
        function = getattr(importlib.import_module(where), name)
        return np.asarray(function(*(x.astype(b.spec.name) for x in tensors), **options))

    return (kernel(f"scipy {name}", run, ("float32", "float64")),)
