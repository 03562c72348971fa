"""Random expressions: the arrays decide every element as certified numbers do, one at a time."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.arithmetic.parts import Part
from exactref_core.errors import UndecidedError
from exactref_core.evaluate.outputs import PartsOutput
from exactref_core.registry import get_standard
from exactref_core.result import Result

ROUNDS = 400 if os.environ.get("EXACTREF_THOROUGH") == "1" else 14
SEEDS = range(8)
# Exponents of the smallest subnormal and of the largest number.
EXPONENTS = {
    "float32": (-149, 127),
    "float64": (-1074, 1023),
    "float16": (-24, 15),
    "bfloat16": (-133, 127),
    "float8_e4m3fn": (-9, 8),
    "float8_e5m2": (-16, 15),
}
COMPLEX = {"float32": "complex64", "float64": "complex128"}
PAIRS = ("add", "subtract", "multiply", "divide", "where")
SINGLES = ("sqrt", "negative", "abs")
REDUCTIONS = ("sum", "mean")
FUNCTIONS = ("exp", "log", "log1p", "tanh", "cos", "tan", "acos", "asinh", "erfc", "cosh", "cbrt")
PRODUCTS = ("matmul", "linear", "addmm", "vecdot", "einsum")
# Of real numbers only.
REAL_PAIRS = ("maximum", "minimum")
REAL_SINGLES = ("rsqrt", "relu", "leaky_relu", "square", "reciprocal")
REAL_REDUCTIONS = ("max", "min", "prod", "var", "std", "vector_norm")
SCANS = ("cumulative_sum", "cumulative_prod")


def real_values(rng: np.random.Generator, form: str, count: int) -> np.ndarray:
    """Return numbers of one of several kinds, some with specials, some that cancel."""
    low, high = EXPONENTS[form]
    spans = (
        (low, high + 1),
        (high - 3, high + 1),
        (low, low + 12),
        (low // 2 - 5, low // 2 + 6),
        (high // 2 - 5, high // 2 + 6),
    )
    kind = int(rng.integers(8))
    if kind < len(spans):
        x = np.ldexp(rng.uniform(-2, 2, count), rng.integers(*spans[kind], count))
    elif kind == 5:
        x = rng.standard_normal(count)
    elif kind == 6:
        x = rng.integers(-4, 5, count).astype(float)
    else:
        x = rng.choice([0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 1 + 2.0**-10], count)
    x = np.array(er.asarray(x.tolist(), dtype=form).values())
    if kind != 1:
        x = np.where(np.isfinite(x), x, 1.0)
    if rng.random() < 0.25:
        specials = (np.nan, 0.0, -0.0) if form == "float8_e4m3fn" else (np.inf, -np.inf, np.nan, 0)
        x = np.where(rng.random(count) < 0.15, rng.choice(specials, count), x)
    if rng.random() < 0.3:
        half = count // 2
        x[half : 2 * half] = -x[:half]
    return x


@dataclass
class Expressions:
    """Random expressions over inputs of one format, and what they say."""

    rng: np.random.Generator
    form: str
    complex: bool
    settings: dict[str, Any]
    text: str = ""

    def leaf(self, shape: tuple[int, ...]) -> Any:
        """Return an input."""
        count = int(np.prod(shape))
        parts = [real_values(self.rng, self.form, count).reshape(shape) for _ in range(2)]
        if not self.complex:
            return er.Array.from_values(parts[0], er.asarray([], dtype=self.form).format)
        z = np.empty(shape, COMPLEX[self.form])
        z.real, z.imag = parts
        return z

    def of(self, shape: tuple[int, ...], depth: int) -> Any:
        """Return an expression of at most this depth."""
        if depth == 0:
            self.text += "x"
            return self.leaf(shape)
        products = PRODUCTS if len(shape) <= 2 else PRODUCTS[:1]
        names = (*PAIRS, *SINGLES[:2], *REDUCTIONS, *products)
        if not self.complex:
            names = (*names, "abs", *REAL_PAIRS, *REAL_SINGLES, *REAL_REDUCTIONS, *SCANS)
            names = (*names, "fma", "clip")
        name = str(self.rng.choice(names))
        if not self.complex and self.rng.random() < 0.25:
            name = str(self.rng.choice(FUNCTIONS))
        self.text += f" {name}("
        result = self.call(name, shape, depth)
        self.text += ")"
        return result

    def call(self, name: str, shape: tuple[int, ...], depth: int) -> Any:
        """Return one operation on expressions."""

        def below(extents: tuple[int, ...]) -> Any:
            return self.of(extents, depth - 1 if self.rng.random() < 0.6 else 0)

        function = getattr(er, name)
        if name in (*SINGLES, *REAL_SINGLES, *FUNCTIONS):
            return function(below(shape), **self.settings)
        if name == "where":
            condition = self.rng.random(shape) < 0.5
            return function(condition, below(shape), below(shape), **self.settings)
        if name in REAL_PAIRS:
            nan = str(self.rng.choice(["propagate", "ignore"]))
            return function(below(shape), below(shape), nan=nan, **self.settings)
        if name in PAIRS:
            return function(below(shape), below(shape), **self.settings)
        if name in SCANS:
            return function(below(shape), axis=int(self.rng.integers(len(shape))), **self.settings)
        if name in ("fma", "clip"):
            return function(below(shape), below(shape), below(shape), **self.settings)
        sizes = (1, 2, 3, 5, 33, 70) if depth == 1 else (1, 2, 3)
        n = int(self.rng.choice(sizes))
        if name in (*REDUCTIONS, *REAL_REDUCTIONS):
            return function(below((*shape, n)), axis=-1, **self.settings)
        if name in PRODUCTS[1:]:
            return self.product(name, shape, n, below)
        rows = shape if len(shape) == 1 else shape[:-1]
        columns = () if len(shape) == 1 else shape[-1:]
        return function(below((*rows, n)), below((n, *columns)), **self.settings)

    def product(self, name: str, shape: tuple[int, ...], n: int, below: Any) -> Any:
        """Return one of the operations made of products."""
        function = getattr(er, name)
        if name == "vecdot":
            return function(below((*shape, n)), below((*shape, n)), **self.settings)
        if name == "einsum":
            rows = "i" if len(shape) == 1 else "ij"
            subscripts = f"{rows}k,k{rows}l->{rows}"
            return function(subscripts, below((*shape, n)), below((n, *shape, 2)), **self.settings)
        rows, columns = (1, *shape)[-2:]
        if name == "linear":
            bias = below((columns,)) if self.rng.random() < 0.7 else None
            found = function(below((rows, n)), below((columns, n)), bias, **self.settings)
        else:
            factors = {key: float(self.rng.choice([1, 0, -0.5, 0.1])) for key in ("alpha", "beta")}
            given = (below((rows, columns)), below((rows, n)), below((n, columns)))
            found = function(*given, **factors, **self.settings)
        return found.reshape(shape)


def expression(rng: np.random.Generator) -> tuple[Result, str]:
    """Return a random expression and a description."""
    form = str(rng.choice(list(EXPONENTS), p=[0.35, 0.3, 0.1, 0.15, 0.05, 0.05]))
    kind = form in COMPLEX and rng.random() < 0.2
    settings: dict[str, Any] = {}
    if rng.random() < 0.3:
        modes = ("nearest_away", "toward_zero", "up", "down")
        settings["rounding"] = str(rng.choice(modes))
    if rng.random() < 0.2:
        settings["overflow"] = "saturate"
    # A chain takes results of one format: others are stored by the last call alone.
    depth = int(rng.choice([1, 1, 2, 3]))
    if depth == 1 and not kind and rng.random() < 0.2:
        settings["dtype"] = str(rng.choice(["float16", "bfloat16", "float64", "float32"]))
    made = Expressions(rng, form, bool(kind), settings)
    result = made.of(((3,), (2, 2))[int(rng.integers(2))], depth)
    return result, f"{form} {settings} {made.text}"


def is_beyond(text: str) -> bool:
    """Whether a number may be beyond 2**(2**30), where enclosures have no upper end."""
    return "exp(" in text or "cosh(" in text


def check_rounded(part: Part, text: str) -> None:
    """Compare the exact values rounded once, signs of zeros included."""
    try:
        found = part.rounded()
    except UndecidedError:
        if is_beyond(text):
            return
        raise
    expected = np.asarray([part.round_one(flat) for flat in range(part.node.size)])
    assert np.array_equal(found, expected, equal_nan=True), text
    told = ~np.isnan(expected)
    assert np.array_equal(np.signbit(found)[told], np.signbit(expected)[told]), text


def check_range(part: Part, standard: str, flush: bool, text: str) -> int:
    """Compare the ends of ranges and what outputs may be; return how many were undecidable."""
    rule, undecided = get_standard(standard), 0
    try:
        found = part.range(rule, flush)
    except UndecidedError:
        return part.node.size
    for flat in range(part.node.size):
        try:
            expected = part.range_one(rule, flush, flat)
        except UndecidedError:
            undecided += 1
            continue
        for mine, theirs in zip(found.arrays, expected.arrays, strict=True):
            same = mine[flat] == theirs[0] or (mine[flat] != mine[flat] and theirs[0] != theirs[0])
            assert same, (text, standard, flush, flat, mine[flat], theirs[0])
    return undecided


@pytest.mark.parametrize("seed", SEEDS)
def test_arrays_and_certified_numbers_agree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    undecided = 0
    for _ in range(ROUNDS):
        result, text = expression(rng)
        (output,) = result.outputs.values()
        assert isinstance(output, PartsOutput)
        for part in output.parts:
            check_rounded(part, text)
            for standard in ("normal", "any_order", "typical"):
                for flush in (False, True)[: 1 if standard == "typical" else 2]:
                    some = check_range(part, standard, flush, text)
                    undecided += 0 if is_beyond(text) else some
    assert undecided == 0
