"""The elementary functions, one operation each: the rows of the table of functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from exactref_core.arithmetic.complex_functions import UNITS
from exactref_core.exact.elementary import Function
from exactref_core.exact.elementary_table import FUNCTIONS
from exactref_core.op import Domain, Op
from exactref_core.ops.complex_gradients import COMPLEX_GRADIENTS
from exactref_core.ops.dtypes import FLOATS, NUMBERS
from exactref_core.ops.function_gradients import GRADIENTS

__all__ = ["OPS"]


def definition(function: Function) -> Callable[..., Any]:
    """Return the definition of a function's operation."""

    def define(v: Any, x: Any) -> Any:
        return v.apply(function.name, x)

    define.__name__ = function.name
    define.__doc__ = function.documentation + complex_part(function.name)
    return define


def complex_part(name: str) -> str:
    """Return what a docstring says of complex inputs."""
    if name not in UNITS:
        return ""
    real, imag = UNITS[name]
    return (
        "\n\nComplex: the principal value, with branch cuts, signs of zeros, infinities and NaN\n"
        f"as in C99 Annex G. A correct library function errs by at most {real}u of the real part\n"
        f"and {imag}u of the imaginary part."
    )


def gradient(name: str) -> Callable[..., Any]:
    """Return the gradient of a function's operation."""

    def backward(v: Any, grad_output: Any, x: Any) -> Any:
        if not hasattr(x, "imag"):
            return {"x": GRADIENTS[name](v, grad_output, x)}
        # The conjugate of f'(z) is f' at the conjugate of z.
        return {"x": COMPLEX_GRADIENTS[name](v, grad_output, v.conjugate(x))}

    backward.__doc__ = GRADIENTS[name].__doc__
    return backward


def domain(name: str) -> Domain:
    """Return the domain of a function's operation."""
    return Domain("()->()", NUMBERS if name in UNITS else FLOATS)


OPS = tuple(
    Op(f.name, definition(f), ("x",), domain(f.name), backward=gradient(f.name))
    for f in FUNCTIONS.values()
)
