"""Soundness where roundings are large: kernels that compute in formats of a few bits."""

from __future__ import annotations

import numpy as np
import pytest

from tests.every_op.kernels import Machine, NarrowMachine
from tests.every_op.kernels_formats import Spec, store
from tests.every_op.kernels_judging import COUNTS, budget, some
from tests.every_op.kernels_orders import any_orders, columns, evaluate, normal_orders, shuffled
from tests.every_op.kernels_tiny import allowed, narrow, ranges
from tests.every_op.test_sound_complex import simulated

SIZES = [(3, -4, 4), (4, -8, 8), (6, -20, 20), (8, -40, 40), (11, -14, 15)]
LENGTHS = (2, 3, 5, 31, 33, 64, 100, 200)


def drawn(rng: np.random.Generator, shape: tuple[int, ...], spec: Spec, kind: str) -> np.ndarray:
    top = int(np.frexp(spec.largest)[1])
    low, high = {
        "all": (spec.emin - spec.bits, top - 1),
        "moderate": (-2, 2),
        "large": (top - 5, top),
        "small": (spec.emin - 3, spec.emin + 3),
        "positive": (-1, 1),
    }[kind]
    x = np.ldexp(rng.uniform(0.5, 1, shape), rng.integers(low, high, shape))
    signs = 1.0 if kind == "positive" else rng.choice([-1.0, 1.0], shape)
    return store(signs * x, spec)


@pytest.mark.parametrize("kind", ["all", "moderate", "large", "small", "positive"])
@pytest.mark.parametrize("size", SIZES)
def test_sums_and_dots(size: tuple[int, int, int], kind: str) -> None:
    form, spec = narrow(*size)
    output, output_spec = narrow(size[0] - 1, size[1] + 1, size[2])
    rng = np.random.default_rng([15, SIZES.index(size), len(kind)])
    count = budget(3, 40)
    for n in some(rng, LENGTHS, 3):
        x, y = (drawn(rng, (count, n), spec, k) for k in (kind, "moderate"))
        m = NarrowMachine(spec)
        for standard, orders in (
            ("normal", normal_orders(n)),
            ("any_order", any_orders(rng, n, 3)),
        ):
            a, b = x[:, None, :], y[:, :, None]
            (sums,) = ranges("sum", x, standard=standard, form=form)
            (dots,) = ranges("matmul", a, b, standard=standard, form=form)
            (less,) = ranges("sum", x, standard=standard, form=form, output=output)
            COUNTS["cases"] += 3 * count
            for order, tree in orders:
                p, q = (x, y) if standard == "normal" else shuffled(rng, x, y)
                total = evaluate(tree, columns(p), m)
                check(allowed(sums, total), x, total, f"sum {standard} {order}")
                stored = store(total, output_spec)
                check(allowed(less, stored), x, stored, f"narrower sum {standard} {order}")
                dot = evaluate(tree, list(zip(columns(p), columns(q), strict=True)), m, rng)
                check(allowed(dots, dot), (x, y), dot, f"dot {standard} {order}")


def check(ok: np.ndarray, inputs: object, values: np.ndarray, label: str) -> None:
    COUNTS["outputs"] += ok.size
    assert ok.all(), (label, np.flatnonzero(~ok), values[~ok], inputs)


@pytest.mark.parametrize("op", ["multiply", "divide", "abs", "sqrt"])
@pytest.mark.parametrize("size", SIZES)
def test_complex(size: tuple[int, int, int], op: str) -> None:
    form, spec = narrow(*size)
    rng = np.random.default_rng([16, SIZES.index(size), ord(op[0])])
    machine: Machine = NarrowMachine(spec)
    count = budget(10 if op == "divide" and size[0] < 4 else 60, 600)
    for kind in ("all", "moderate", "large", "small"):
        if op == "sqrt" and kind != "moderate":
            continue  # the simulated root scales by what float64 needs
        a, b = ([drawn(rng, (count,), spec, kind) for _ in range(2)] for _ in range(2))
        inputs = [tuple(a), tuple(b)][: 1 if op in ("abs", "sqrt") else 2]
        found = ranges(op, *inputs, standard="normal", form=form)
        COUNTS["cases"] += count
        for label, output in simulated(op, machine, tuple(a), tuple(b), spec):
            parts = output if isinstance(output, tuple) else (output,)
            for part, r in zip(parts, found, strict=True):
                values = store(part, spec)
                check(allowed(r, values), (a, b), values, f"{op} {kind} {label}")
