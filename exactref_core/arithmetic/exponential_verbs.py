"""The verb of matrix exponentials' gradients."""

from __future__ import annotations

import numpy as np

from exactref_core.arithmetic.class_verbs import ClassVerbs
from exactref_core.arithmetic.fast import FastReading
from exactref_core.arithmetic.graph import Leaf, Node
from exactref_core.arithmetic.verbs import Complex, Value
from exactref_core.exact.double_double import Floats
from exactref_core.formats.catalogue import get_format

__all__ = ["ExponentialVerbs"]

# Powers of two, and their reciprocals, that a scale in float64 may be.
FARTHEST = 1000


class ExponentialVerbs(ClassVerbs):
    """Every verb so far, with derivatives of matrix exponentials."""

    def matrix_exp_slope(self, A: Value, E: Value) -> Value:
        """Return the Frechet derivative of exp at A in the direction E, of square matrices.

        It is a block of exp([[A, s E], [0, A]]), over s (Mathias, A chain rule for matrix functions
        and applications, SIAM J. Matrix Anal. Appl. 17, 1996). s is the power of two that brings
        E's largest part into the binade of A's (of 1/2 where A is 0): the derivative is linear in
        E, and the backward error of the block matrix is relative to both.
        """
        n = A.shape[-1]
        scale = np.ldexp(1.0, np.clip(binades(A, 0) - binades(E, -FARTHEST), -FARTHEST, FARTHEST))
        upper = self.join(A, self.scaled_by(E, scale), -1)
        whole = self.matrix_exp(self.join(upper, self.join(self.zeros_like(A), A, -1), -2))
        block = self.part(whole, (..., slice(0, n), slice(n, 2 * n)))
        return self.scaled_by(block, 1 / scale)

    def scaled_by(self, x: Value, scale: Floats) -> Value:
        """Return a value times powers of two, one a matrix, exactly."""
        form = get_format("float64")
        factor = Node("load", (), scale.shape, Leaf(scale, form))

        def step(part: Node) -> Node:
            return self.exact.step("multiply", part, factor)

        return Complex(step(x.real), step(x.imag)) if isinstance(x, Complex) else step(x)


def binades(x: Value, of_zero: int) -> np.ndarray:
    """Return the exponents of the largest parts of matrices, under two more axes."""
    parts = (x.real, x.imag) if isinstance(x, Complex) else (x,)
    sizes = [np.abs(FastReading(False).whole(part).high) for part in parts]
    top = np.maximum.reduce(sizes).max(axis=(-2, -1), keepdims=True, initial=0.0)
    return np.where(top > 0, np.frexp(top)[1], of_zero)
