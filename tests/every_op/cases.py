"""Calls of every operation on hostile inputs, in chunks, with their expected exact values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

import exactref as er
from exactref_core.array import Array
from exactref_core.formats.catalogue import get_format, part_format
from exactref_core.formats.format import Format
from exactref_core.op import Op
from exactref_core.registry import get_op
from exactref_core.result import Result
from tests.every_op import cases_choices, cases_products, cases_reductions, hostile, hostile_rows
from tests.every_op.expected import expected
from tests.every_op.hostile_quotients import hard_quotients, hard_roots
from tests.every_op.numbers import Numbers

Rng = np.random.Generator
Arguments = tuple[tuple[np.ndarray, ...], dict[str, Any]]
INTEGERS = ("int64", "uint64", "int32", "int8", "bool")
# Formats of fewer bits have no quotients or roots next to ties that others lack.
FEW_BITS = 5
LENGTHS = (1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 40)


@dataclass(frozen=True)
class Case:
    """One call: an operation, its input values, and its own parameters."""

    op: Op
    form: Format
    tensors: tuple[np.ndarray, ...]
    params: dict[str, Any]

    @cached_property
    def answer(self) -> tuple[tuple[int, ...], list[Numbers]]:
        """The expected shape and exact parts."""
        return expected(self.op.name, self.tensors, self.form, self.params)

    @property
    def size(self) -> int:
        """How many elements the output has."""
        return int(np.prod(self.answer[0], dtype=int))

    @cached_property
    def inputs(self) -> tuple[Array, ...]:
        """The input arrays."""
        return tuple(Array.from_values(x, self.form) for x in self.tensors)

    def call(self, **how: Any) -> Result:
        """The result under test."""
        names = (*self.op.tensors, *self.op.optional)[: len(self.tensors)]
        named = dict(zip(names, self.inputs, strict=True))
        if "dtype" in self.op.defaults:
            how = {"dtype": self.own_output, **how}
        result: Result = getattr(er, self.op.name)(**named, **self.params, **how)
        return result

    @property
    def is_complex(self) -> bool:
        """Whether the output has two parts."""
        return self.form.is_complex and not self.op.real_output

    def output_formats(self) -> list[str]:
        """The formats that ``dtype=`` may name."""
        if self.is_complex:
            return ["complex64", "complex128"]
        return [form.name for form in hostile.real_formats()]

    @property
    def own_output(self) -> str:
        """The output format where nothing else is asked for."""
        if self.form.is_integer:
            return "float64"
        return part_format(self.form).name if self.op.real_output else self.form.name


def tame(x: np.ndarray) -> np.ndarray:
    """Values with 1 for infinities, NaN."""
    if x.dtype.kind == "c":
        return hostile.complex_of(tame(x.real), tame(x.imag))
    return np.where(np.isfinite(x), x, 1.0) if x.dtype.kind == "f" else x


def values(rng: Rng, form: Format, count: int) -> np.ndarray:
    """Values of any format."""
    if form.is_integer:
        return hostile.integers(rng, form, (count,))
    if form.is_complex:
        return hostile.complex_operands(rng, part_format(form), count)[0]
    return hostile.elements(rng, form, count)


def pairs(rng: Rng, form: Format, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of values of any format."""
    if form.is_integer:
        x, y = (hostile.integers(rng, form, (count,)) for _ in range(2))
        return x, np.where(rng.random(count) < 0.2, x, y)
    if form.is_complex:
        return hostile.complex_operands(rng, part_format(form), count)
    return hostile.operands(rng, form, count)


def term_rows(rng: Rng, form: Format, count: int, n: int) -> np.ndarray:
    """Rows of terms of any format."""
    if form.is_integer:
        # Three quarters small enough for exact int64 sums.
        found = hostile.integers(rng, form, (count, n))
        return found if form.name != "uint64" else found >> np.uint64(8)
    part = part_format(form)
    if form.is_complex:
        return hostile.complex_of(*(hostile_rows.rows(rng, part, count, n) for _ in range(2)))
    return hostile_rows.rows(rng, part, count, n)


def two_operands(rng: Rng, op: Op, form: Format, count: int) -> Arguments:
    x, y = pairs(rng, form, count)
    if op.name == "subtract" and not form.is_integer:
        y = -y if form.is_complex else hostile.fit(-y, form)
    if op.name == "divide" and form.is_float and form.precision > FEW_BITS:
        some = rng.random(count) < 0.05
        x[some], y[some] = hard_quotients(rng, form, int(some.sum()))
    if rng.random() < 0.15:  # broadcast: a column against a row
        side = max(int(np.sqrt(count)), 1)
        return (x[:side, None], y[None, :side]), {}
    return (x, y), {}


def one_operand(rng: Rng, op: Op, form: Format, count: int) -> Arguments:
    x = values(rng, form, count)
    if op.name == "sqrt" and form.is_float:
        x = np.where(rng.random(count) < 0.9, np.abs(x), x)
        x = np.where(rng.random(count) < 0.4, hostile.squares(rng, form, count), x)
        some = rng.random(count) < (0.05 if form.precision > FEW_BITS else 0.0)
        x[some] = hard_roots(rng, form, int(some.sum()))
    return (x,), {}


def reduced(rng: Rng, op: Op, form: Format, count: int) -> Arguments:
    n = int(rng.choice(LENGTHS))
    rows = term_rows(rng, form, count, n)
    layout = rng.integers(0, 5)
    if layout < 2:
        return (rows,), {"axis": -1}
    if layout == 2:
        return (np.ascontiguousarray(rows.T),), {"axis": 0, "keepdims": True}
    # Several axes around a kept one, in row-major order of the reduced axes.
    split = next(d for d in (4, 3, 2, 1) if n % d == 0)
    cube = np.ascontiguousarray(rows.reshape(count, split, n // split).transpose(1, 0, 2))
    return (cube,), {"axis": (2, 0), "keepdims": bool(layout == 3)}


def products(rng: Rng, op: Op, form: Format, count: int) -> Arguments:
    n = int(rng.choice(LENGTHS[:11]))
    layout = rng.integers(0, 4)
    if layout < 2:  # a batch of vectors, every one with terms of its own
        a, b = factor_rows(rng, form, count, n)
        return (a[:, None, :], b[:, :, None]), {}
    side = max(int(np.sqrt(count / 4)), 1)
    a, b = factor_rows(rng, form, 4 * side, n)
    if layout == 2:  # batches of matrices, broadcast
        left = a.reshape(2, 2, side, n)
        right = b.reshape(2, 2, side, n).swapaxes(-1, -2)
        return (left[:, :1], right[:1] if rng.random() < 0.5 else right[0]), {}
    matrix = b[: 2 * side].T
    return ((a[0], matrix) if rng.random() < 0.3 else (a[: 2 * side], matrix)), {}


def factor_rows(rng: Rng, form: Format, count: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows a and b whose products are hostile terms."""
    if form.is_integer:
        x, y = (hostile.integers(rng, form, (count, n)) for _ in range(2))
        return x, y
    part = part_format(form)
    if not form.is_complex:
        return hostile_rows.factors(rng, part, hostile_rows.rows(rng, part, count, n))
    a, c = hostile_rows.factors(rng, part, hostile_rows.rows(rng, part, count, n))
    b, d = hostile_rows.factors(rng, part, hostile_rows.rows(rng, part, count, n))
    if rng.random() < 0.3:  # real and imaginary products of the same terms cancel
        b, d = a, c
    return hostile.complex_of(a, b), hostile.complex_of(c, d)


def accepted(names: list[str], forms: Iterable[str]) -> list[tuple[str, str]]:
    """The operations with the formats that they take: complex ones where the domain has them."""
    found = []
    for name, form in product(names, forms):
        takes = any(dtype.startswith("complex") for dtype in get_op(name).domain.dtypes)
        if takes or not form.startswith("complex"):
            found.append((name, form))
    return found


def maker(op: Op) -> Any:
    """The generator for an operation's signature."""
    for table in (cases_products.MAKERS, cases_choices.MAKERS, cases_reductions.MAKERS):
        if op.name in table:
            return table[op.name]
    if op.name == "matmul":
        return products
    if op.domain.signature == "(n)->()":
        return reduced
    return two_operands if len(op.tensors) == 2 else one_operand


def chunks(name: str, form_name: str, elements: int, size: int, seed: int) -> Iterator[Case]:
    """Cases with ``elements`` output elements together; every third has finite inputs only."""
    op, form = get_op(name), get_format(form_name)
    rng = np.random.default_rng([seed, sum(map(ord, name)), sum(map(ord, form_name))])
    made = 0
    index = 0
    while made < elements:
        tensors, params = maker(op)(rng, op, form, size)
        if index % 3 == 2:
            tensors = tuple(tame(x) for x in tensors)
        case = Case(op, form, tensors, params)
        yield case
        made += case.size
        index += 1
