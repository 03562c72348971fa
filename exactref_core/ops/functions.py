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


# Complex functions that C99 does not have (the array API standard names their values), and what the
# steps of real formulas may give beside a library function.
TABLES = dict.fromkeys(("exp2", "expm1"), "'s exp") | {"log1p": "'s log"}
OTHERS = {
    "exp2": ",\nor by what rounding z log 2 on the way to exp costs.",
    "expm1": ",\nor by what the steps of expm1(x) cos(y) - 2 sin(y/2)^2 and e^x sin(y) round.",
    "log1p": ",\nor by what the steps of log1p(x(x + 2) + y^2) / 2 and atan2(y, 1 + x) round;\n"
    "from |z| of about 1/2 on log(hypot(1 + x, y)) takes the former's place.",
}


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
        f"as in C99 Annex G{TABLES.get(name, '')}. A correct library function errs by at most "
        f"{real}u of the real part\nand {imag}u of the imaginary part{OTHERS.get(name, '.')}"
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
