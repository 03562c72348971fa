"""Matrix products of complex numbers whose single products recover infinities, as C99 Annex G's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.infinities import PARTS, Special
from exactref_core.arithmetic.verbs import Complex

if TYPE_CHECKING:
    from exactref_core.arithmetic.full_verbs import FullVerbs

__all__ = ["recovered"]


def recovered(v: FullVerbs, product: Complex, x: Complex, y: Complex) -> Complex:
    """Return x @ y with what sums of Annex G's products are beside it, or as the rule says.

    They differ where an input holds an infinity or NaN: without one nothing more is traced.
    """
    if v.infinities == PARTS or not (holds_specials(x) or holds_specials(y)):
        return product
    shape = (*product.shape, x.shape[-1])
    rows, columns = v.arrange(x, (*x.shape[:-1], 1, x.shape[-1])), turned(v, y)
    terms: Any = v.multiply(v.spread(rows, shape), v.spread(columns, shape))
    total: Any = v.sum(terms, (len(shape) - 1,))
    pairs = (product.real, total.real), (product.imag, total.imag)
    real, imag = (
        Node("special", pair, product.shape, Special("dot", part, v.infinities))
        for part, pair in enumerate(pairs)
    )
    return Complex(real, imag)


def turned(v: FullVerbs, y: Complex) -> Any:
    """Return matrices (..., k, n) as (..., 1, n, k)."""
    count = len(y.shape)
    axes = (*range(count - 2), count - 1, count - 2)
    columns = Complex(v.transpose(y.real, axes), v.transpose(y.imag, axes))
    return v.arrange(columns, (*columns.shape[:-2], 1, *columns.shape[-2:]))


def holds_specials(x: Complex) -> bool:
    """Return whether an input that a value is made of holds an infinity or NaN."""
    seen: set[Node] = set()
    stack = [x.real, x.imag]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack += node.operands
            if node.verb == "load" and not node.attrs.finite:
                return True
    return False
