"""The ordinary reading: what an index-order loop returns, by NumPy in the compute format."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic.families import FAMILIES, family
from exactref_core.arithmetic.graph import Leaf, Node, Store
from exactref_core.arithmetic.traversal import Layered, node_layers, stored
from exactref_core.exact.fused import fused
from exactref_core.formats.format import Format
from exactref_core.formats.rounding_arrays import round_pair

__all__ = ["OrdinaryReading"]

Values = npt.NDArray[Any]

SINGLE = 24  # bits of the narrowest compute format

REARRANGING = ("view", "stack", "special", "flushable")

STEPS = {
    "add": np.add,
    "subtract": np.subtract,
    "negative": np.negative,
    "absolute": np.abs,
    "multiply": np.multiply,
    "divide": np.divide,
    "sqrt": np.sqrt,
    "hypot": np.hypot,
    "with_sign": np.copysign,
}


class OrdinaryReading(Layered):
    """Values of every node as an unfused index-order kernel stores them."""

    def __init__(self) -> None:
        self.memo: dict[Node, Values] = {}

    def whole(self, node: Node) -> Values:
        """Return all elements, in the compute format's dtype."""
        if node not in self.memo:
            self.descend(node, lambda: node_layers(node, self.memo, stored), self.whole)
            with np.errstate(all="ignore"):
                self.memo[node] = self.compute(node)
        return self.memo[node]

    def compute(self, node: Node) -> Values:
        """Evaluate one node."""
        verb = node.verb
        if verb == "load":
            return load(node)
        if verb == "constant":
            return np.asarray(float(node.attrs), dtype_of(node.compute))
        if verb == "store":
            return self.store(node)
        if verb in FAMILIES or verb == "scaled":
            readings = family(verb).ordinary
            coarse = readings.scaled if verb == "scaled" else readings.exact
            return np.asarray(coarse(self, node))
        if verb == "admit":
            return self.whole(node.operands[1])
        operands = [self.whole(x) for x in node.operands]
        if verb in REARRANGING:
            return self.rearranged(node, operands)
        if verb == "within" and is_fma(node.operands[0]):
            return self.fused(node.operands[0], node.compute)
        # Stored values come in float64 or integers; the step itself runs in the compute format.
        operands = [x.astype(dtype_of(node.compute), copy=False) for x in operands]
        if verb in ("within", "inside"):
            return rounded_between(node, operands[0])
        if verb == "larger":
            c, d, x, y = operands
            return np.where(np.abs(c) >= np.abs(d), x, y)
        if verb == "by_sign":
            a, x, y = operands
            return np.where(np.signbit(a) & ~np.isnan(a), y, x)
        if verb == "sum":
            return index_order(operands[0])
        if verb == "dot":
            return index_order_dot(*operands)
        result: Values = STEPS[verb](*operands)
        return result

    def rearranged(self, node: Node, operands: list[Values]) -> Values:
        """Return a node's values where they are those of its operands, moved or chosen."""
        if node.verb == "view":
            return np.asarray(node.attrs.apply(operands[0]))
        if node.verb == "stack":
            return np.stack(operands, axis=-1)
        if node.verb == "special" and node.attrs.name == "sqrt":
            # NumPy's complex root: the definition's own formula cancels.
            part, real, imag = operands
            z = np.empty(part.shape, np.result_type(part, np.complex64))
            z.real, z.imag = real, imag
            return np.asarray(np.sqrt(z).imag if node.attrs.part else np.sqrt(z).real)
        return operands[0]

    def lone(self, node: Node, compute: Format | None) -> Values:
        """Return the values of a step that is an output by itself, in the compute format."""
        if node.verb == "view":
            return np.asarray(node.attrs.apply(self.lone(node.operands[0], compute)))
        if is_fma(node):
            return self.fused(node, compute)
        return self.compute(replace(node, compute=compute))

    def fused(self, node: Node, compute: Format | None) -> Values:
        """Return x * y + z rounded once."""
        product, addend = node.operands
        dtype = dtype_of(compute)
        x, y, z = (self.whole(part).astype(dtype) for part in (*product.operands, addend))
        return np.asarray(fused(x, y, z, dtype))

    def store(self, node: Node) -> Values:
        """Return values as an output holds them, in float64 (or int64), which hold them exactly."""
        store: Store = node.attrs
        source = node.operands[0]
        values = self.lone(source, node.compute) if store.lone else self.whole(source)
        if store.format.is_integer:
            return values
        wide = values.astype(np.float64)
        return round_pair(wide, None, store.format, store.rounding, store.overflow)


def rounded_between(node: Node, values: Values) -> Values:
    """Return values that are stored in a narrow format on the way, in float64 or as they are."""
    if node.verb != "within" or node.compute is None or node.compute.precision >= SINGLE:
        return values
    return round_pair(values.astype(np.float64), None, node.compute)


def is_fma(node: Node) -> bool:
    """Return whether a node is a sum with a product, neither of which is rounded."""
    steps = (node, node.operands[0]) if node.verb == "add" else ()
    verbs = [step.verb for step in steps if step.compute is None]
    return verbs == ["add", "multiply"]


def dtype_of(form: Format | None) -> type[np.floating[Any]]:
    """Return NumPy's dtype of a compute format (definitions without one run in float64)."""
    return np.float32 if form is not None and form.name == "float32" else np.float64


def load(node: Node) -> Values:
    """Return inputs rounded to the compute format (only integers may need it)."""
    leaf: Leaf = node.attrs
    dtype = dtype_of(node.compute)
    high, low = leaf.pair
    if low is None or node.compute is None or dtype is np.float64:
        return high.astype(dtype)
    return round_pair(high, low, node.compute).astype(dtype)


def index_order(terms: Values) -> Values:
    """Return sums along the last axis, added one after the other."""
    if terms.shape[-1] == 0:
        return np.zeros(terms.shape[:-1], terms.dtype)
    return np.asarray(np.add.accumulate(terms, axis=-1)[..., -1])


def index_order_dot(a: Values, b: Values) -> Values:
    """Return matrix products: each product rounded, then added in index order."""
    result: Values = np.zeros((*a.shape[:-1], b.shape[-1]), np.result_type(a, b))
    for k in range(a.shape[-1]):
        product = a[..., :, k, None] * b[..., k, None, :]
        result = product if k == 0 else result + product
    return result
