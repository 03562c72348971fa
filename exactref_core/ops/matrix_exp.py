"""matrix_exp: exponentials of square matrices."""

from __future__ import annotations

from typing import Any

from exactref_core.errors import InputError
from exactref_core.op import Domain, Op
from exactref_core.ops.dtypes import NUMBERS

__all__ = ["OPS"]


def define(v: Any, A: Any) -> Any:
    """Matrix exponential sum_k A^k / k! of square matrices A (..., n, n), real or complex.

    A matrix with a NaN or an infinity gives NaN everywhere. The tolerance is a backward error: a
    correct result is exp(A + D) with |D|_F <= 14 n u |A|_F, rounded to the compute format and then
    to the output format; there is no normal answer.
    """
    if len(A.shape) < 2 or A.shape[-1] != A.shape[-2]:
        raise InputError(f"A has shape {A.shape}; matrix_exp takes square matrices (..., n, n)")
    return v.matrix_exp(A)


def backward(v: Any, grad_output: Any, A: Any) -> Any:
    """Frechet derivative of the exponential at A^H in the direction grad_output.

    The tolerance is a backward error of the block matrix [[A^H, s grad_output], [0, A^H]], whose
    exponential holds s times the derivative, with the power of two s that makes both of one size: a
    kernel that takes s = 1 is worse where grad_output is far larger than A.
    """
    return {"A": v.matrix_exp_slope(v.adjoint(A), grad_output)}


OPS = (
    Op(
        "matrix_exp",
        define,
        ("A",),
        Domain("(n,n)->(n,n)", NUMBERS),
        normal_answer=False,
        backward=backward,
    ),
)
