"""The verb of the matrix exponential."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from exactref_core.arithmetic.full_verbs import FullVerbs
from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.verbs import Complex, Value

__all__ = ["Exponentials", "MatrixVerbs"]


@dataclass(frozen=True, eq=False)
class Exponentials:
    """Which part of complex matrix exponentials a node is (0: the real part), and what is known of
    each matrix, kept for all readings of both parts."""

    part: int
    memo: dict[Any, Any] = field(default_factory=dict, compare=False)


class MatrixVerbs(FullVerbs):
    """Every elementwise verb and sum, with functions of matrices."""

    def matrix_exp(self, A: Value) -> Value:
        """Return exp(A) of the square matrices on the last two axes."""
        if not isinstance(A, Complex):
            return Node("matexp", (A,), A.shape, Exponentials(0), self.compute)
        operands, memo = (A.real, A.imag), {}  # type: ignore[var-annotated]
        real, imag = (
            Node("matexp", operands, A.real.shape, Exponentials(part, memo), self.compute)
            for part in (0, 1)
        )
        return Complex(real, imag)
