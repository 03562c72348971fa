"""The fast reading: every node's exact value as NumPy enclosures, whole or at chosen elements.

Two levels share the code: the filter (one float64 pass and a proven radius for sums and products)
decides most elements, the precise one (TwoSum trees) decides nearly all the rest.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from exactref_core.arithmetic.approx import Approx, signs
from exactref_core.arithmetic.families import BY_ROWS, ELEMENTWISE, FAMILIES, family
from exactref_core.arithmetic.fast_choices import STEPS
from exactref_core.arithmetic.fast_steps import finish, plus
from exactref_core.arithmetic.gathered import blocks, concatenate, row_blocks
from exactref_core.arithmetic.graph import Indices, Leaf, Node, dot_terms, sum_terms
from exactref_core.arithmetic.row_products import row_products
from exactref_core.arithmetic.traversal import Kept, Layered, enclosed, node_layers, worth_whole
from exactref_core.exact.block_sums import block_sums
from exactref_core.exact.double_double import Floats
from exactref_core.exact.products import exact_products, filtered_matmul, magnitude_matmul
from exactref_core.exact.split_products import split_matmul
from exactref_core.exact.sums import expansion_sum, relative_error
from exactref_core.formats.format import Format

__all__ = ["FastReading"]

# Multiply-adds from which BLAS products of slices cost less than expansions.
MANY = 1 << 15
# Rows that even the precise level adds up block by block: one extraction leaves little there.
LONG = 1 << 14
# So many times fewer elements of an input are read alone.
FEW = 4
SHORT_PRECISION = 26
SHORT_EXPONENT = 500


def is_short(form: Format) -> bool:
    """Return whether a format's values are `Approx.short`."""
    return form.is_float and form.precision <= SHORT_PRECISION and form.emax <= SHORT_EXPONENT


def load(leaf: Leaf) -> Approx:
    """Return input values: exact, with infinities and NaN set apart."""
    short = is_short(leaf.format)
    high, low = leaf.pair
    if leaf.finite:
        return Approx(high, low, short=short)
    finite = np.isfinite(high)
    return Approx(np.where(finite, high, 0.0), low, None, np.where(finite, 0.0, high), short)


class FastReading(Layered):
    """Enclosures of every node's exact value; ``precise`` chooses the level.

    ``split`` allows products by slices at the precise level, for whole products; ``has_split``
    says that there was one, so that expansions know more. ``narrow`` says that results are rounded
    to formats of at most 24 bits, which plain float64 decides nearly always; ``has_plain`` that a
    function was evaluated so, of which pairs know more.
    """

    def __init__(self, precise: bool, split: bool = True, narrow: bool = False) -> None:
        self.precise = precise
        self.narrow = narrow
        self.split = split
        self.has_split = False
        self.has_plain = False
        self.memo: dict[Node, Approx] = {}
        self.sizes: dict[Node, Floats] = {}  # below means of magnitudes, where these are known
        self.kept: Kept[Approx] = Kept()

    def knows(self, node: Node) -> bool:
        """Return whether a node has been evaluated as a whole."""
        return node in self.memo

    def whole(self, node: Node) -> Approx:
        """Return the enclosures of all elements, shaped as the node."""
        if node not in self.memo:
            self.descend(node, lambda: node_layers(node, self.memo, enclosed), self.whole)
            with np.errstate(all="ignore"):
                self.memo[node] = self.compute(node)
        return self.memo[node]

    def compute(self, node: Node) -> Approx:
        """Evaluate one node from its operands as wholes."""
        verb = node.verb
        if verb == "load":
            return load(node.attrs)
        if verb == "constant":
            return constant(node.attrs)
        if verb == "view":
            return self.whole(node.operands[0]).map(node.attrs.apply)
        if verb == "stack":
            return stack([self.whole(x) for x in node.operands])
        if verb in ("admit", "restated"):
            return self.whole(node.operands[0])
        if verb == "sum":
            return self.sum(node)
        if verb in ("dot", "paired_dot"):
            return self.dot(node)
        if verb in FAMILIES:
            whole: Approx = family(verb).fast.exact(self, node, None)
            return whole
        return STEPS[verb](node.attrs, *(self.whole(x) for x in node.operands))

    def at(self, node: Node, flat: Indices) -> Approx:
        """Return the enclosures of the elements at flat indices, as flat arrays."""
        if node in self.memo or worth_whole(node, flat.size):
            return self.whole(node).take(flat)
        self.descend(node, lambda: node_layers(node, self.memo, enclosed), self.whole)
        with np.errstate(all="ignore"):
            return self.kept.get(node, flat, self.gather)

    def gather(self, node: Node, flat: Indices) -> Approx:
        """Evaluate one node from its operands' gathered elements."""
        verb = node.verb
        if verb == "load" and FEW * flat.size <= node.size:
            return load(Leaf(node.attrs.data.reshape(-1)[flat], node.attrs.format))
        if verb in ("load", "constant"):
            return self.whole(node).take(flat)
        if verb == "view":
            return self.at(node.operands[0], node.attrs.gather(flat))
        if verb in ("admit", "restated"):
            return self.at(node.operands[0], flat)
        if verb == "stack":
            source, which = np.divmod(flat, len(node.operands))
            parts = stack([self.at(x, source) for x in node.operands])
            return parts.map(lambda array: array[np.arange(flat.size), which])
        if verb == "sum":
            return blocks(
                self.kept, lambda part: self.sum_at(node, part), flat, node.operands[0].shape[-1]
            )
        if verb in ("dot", "paired_dot"):
            rows = row_products(self, node, flat) if self.precise and self.split else None
            if rows is not None:
                self.has_split = True
                return rows
            return blocks(
                self.kept, lambda part: self.dot_at(node, part), flat, node.operands[0].shape[-1]
            )
        if verb in ELEMENTWISE:
            found: Approx = family(verb).fast.exact(self, node, flat)
            return found
        if verb in FAMILIES:
            terms = (1, *node.operands[0].shape)[-1]

            def read(part: Indices) -> Approx:
                found: Approx = family(verb).fast.exact(self, node, part)
                return found

            by_parts = row_blocks if verb in BY_ROWS else blocks
            return by_parts(self.kept, read, flat, terms)
        return STEPS[verb](node.attrs, *(self.at(x, flat) for x in node.operands))

    def sum(self, node: Node) -> Approx:
        """Return whole sums; those of inputs straight from their storage, block by block."""
        rows = stored_rows(node.operands[0])
        if rows is not None and rows.size and (rows.shape[-1] > LONG or not self.precise):
            form = source_leaf(node.operands[0]).format
            high, low, radius = block_sums(rows, extract=self.precise or not is_short(form))
            if np.all(np.isfinite(radius)):
                return Approx(high + 0.0, low, radius)
        return add_up(self.whole(node.operands[0]), self.precise)

    def sum_at(self, node: Node, flat: Indices) -> Approx:
        """Return the sums at some elements."""
        places = sum_terms(node, flat)
        shape = places.shape
        terms = self.at(node.operands[0], places.reshape(-1))
        return add_up(terms.map(lambda array: array.reshape(shape)), self.precise)

    def dot(self, node: Node) -> Approx:
        """Return whole matrix products: BLAS and a bound, or every element by expansions."""
        a, b = (self.whole(x) for x in node.operands)
        plain = all(x.low is None and x.radius is None for x in (a, b))
        if self.precise and plain and self.split and node.size * a.high.shape[-1] >= MANY:
            self.has_split = True
            return finish(*split_matmul(a.high, b.high), dot_specials(a, b))
        if not plain and not self.precise and is_narrow(node.compute):
            return finish(*inexact_matmul(a, b), dot_specials(a, b))
        if self.precise or not plain:
            indices = np.arange(node.size)
            gathered = blocks(
                self.kept, lambda part: self.dot_at(node, part), indices, node.operands[0].shape[-1]
            )
            return gathered.map(lambda array: array.reshape(node.shape))
        high, radius = filtered_matmul(a.high, b.high)
        return finish(high + 0.0, None, radius, dot_specials(a, b))

    def dot_at(self, node: Node, flat: Indices) -> Approx:
        """Return the products at some elements, by expansions of exact products."""
        left, right = dot_terms(node, flat)
        shape = left.shape
        a, b = (
            self.at(x, i.reshape(-1)).map(lambda array: array.reshape(shape))
            for x, i in zip(node.operands, (left, right), strict=True)
        )
        if a.low is None and b.low is None and a.radius is None and b.radius is None:
            p, e, r = exact_products(a.high, b.high, a.short and b.short)
            special = None
            if a.special is not None or b.special is not None:
                special = np.asarray(STEPS["multiply"](None, a, b).special)
            return add_up(Approx(p, e, r, special), True)
        return add_up(STEPS["multiply"](None, a, b), True)


def is_narrow(form: Format | None) -> bool:
    """Return whether float64 sums tell more than enough of what is stored in a format."""
    return form is not None and form.precision <= SHORT_PRECISION


def inexact_matmul(a: Approx, b: Approx) -> tuple[Floats, None, Floats]:
    """Return matrix products of the high words, with a radius for all that is left out."""
    high, radius = filtered_matmul(a.high, b.high)
    left, right = (np.broadcast_to(np.asarray(x.spread), x.high.shape) for x in (a, b))
    radius = radius + magnitude_matmul(np.abs(a.high) + left, right)[1]
    radius = radius + magnitude_matmul(left, b.high)[1]
    return high + 0.0, None, radius * (1 + 2.0**-50)


def add_up(terms: Approx, precise: bool) -> Approx:
    """Return the sums along the last axis, by the filter or by expansions."""
    special = None if terms.special is None else terms.special.sum(axis=-1)
    if special is not None and terms.radius is not None:
        # A term about which nothing is known may be an infinity or NaN itself.
        special = np.where(np.isinf(terms.radius).any(axis=-1), 0.0, special)
    if terms.high.shape[-1] == 0:
        return Approx(np.zeros(terms.high.shape[:-1]))
    extra = None if terms.radius is None else upper_sum(terms.radius)
    if not precise:
        high, low, radius = block_sums(terms.high, extract=not terms.short)
        if terms.low is not None:
            extra = plus(extra, upper_sum(np.abs(terms.low)))
        radius = radius if extra is None else (radius + extra) * (1 + 2.0**-48)
        return finish(high + 0.0, low, radius, special)
    parts = terms.high
    if terms.low is not None:
        parts = np.concatenate([terms.high, terms.low], axis=-1)
    high, low, radius = expansion_sum(parts)
    if extra is not None:
        radius = (radius + extra) * (1 + 2.0**-48)
    return finish(high + 0.0, low, radius, special)


def upper_sum(values: Floats) -> Floats:
    """Return an upper bound on the sum of nonnegative numbers along the last axis."""
    total: Floats = values.sum(axis=-1) * (1 + 2 * relative_error(values.shape[-1] + 4))
    return total


def source_leaf(node: Node) -> Leaf:
    """Return the input that a node is a view of."""
    while node.verb == "view":
        node = node.operands[0]
    leaf: Leaf = node.attrs
    return leaf


def stored_rows(node: Node) -> npt.NDArray[Any] | None:
    """Return a view of an input in its own storage, where float64 holds it by a plain cast."""
    if node.verb == "load":
        data: npt.NDArray[Any] = node.attrs.data
        return data if data.dtype in (np.float16, np.float32, np.float64) else None
    if node.verb != "view":
        return None
    rows = stored_rows(node.operands[0])
    return None if rows is None else node.attrs.apply(rows)


def stack(parts: list[Approx]) -> Approx:
    """Return enclosures side by side along a new last axis."""
    count = len(parts)
    shape = parts[0].high.shape
    joined = concatenate([part.map(lambda array: array.reshape(-1)) for part in parts])
    return joined.map(lambda array: np.moveaxis(array.reshape(count, *shape), 0, -1))


def constant(exact: Fraction) -> Approx:
    """Return an exact constant, as a pair with a radius where it needs one."""
    high = float(exact)
    rest = exact - Fraction(high)
    low = float(rest)
    error = abs(rest - Fraction(low))
    radius = None if error == 0 else np.asarray(np.nextafter(float(error), np.inf))
    return Approx(np.asarray(high), None if low == 0 else np.asarray(low), radius)


def dot_specials(a: Approx, b: Approx) -> Floats | None:
    """Return the specials of a matrix product: IEEE rules on the classes of its factors.

    einsum multiplies every pair; a BLAS may skip products by zero.
    """
    if a.special is None and b.special is None:
        return None
    product = np.einsum("...ij,...jk->...ik", signs(a)[0], signs(b)[0], optimize=False)
    return np.where(np.isfinite(product), 0.0, product)
