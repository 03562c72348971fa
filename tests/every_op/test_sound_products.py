"""Soundness of matmul: no simulated dot product falls outside, fused or not."""

from __future__ import annotations

import numpy as np
import pytest

import exactref as er
from tests.every_op.kernels import Machine
from tests.every_op.kernels_formats import SPECS, Spec, compute_name, store
from tests.every_op.kernels_judging import Judge, budget, some
from tests.every_op.kernels_orders import any_orders, columns, evaluate, normal_orders, shuffled
from tests.every_op.kernels_values import KINDS, hostile, is_slow

LENGTHS = (1, 2, 3, 31, 32, 33, 64, 65, 100, 300)
FORMATS = ("float32", "float64", "bfloat16", "float16", "tfloat32", "float8_e5m2", "float8_e4m3fn")


def operands(
    rng: np.random.Generator, kind: str, shape: tuple[int, int], spec: Spec
) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose products are of a hostile class, split between both factors."""
    x = hostile(rng, kind, shape, spec)
    which = int(rng.integers(5))
    if which == 0:
        y = hostile(rng, "scaled", shape, spec)
    elif which == 1:
        y = store(np.ldexp(1.0, rng.integers(-3, 3, shape)), spec, overflow="saturate")
    elif which == 2:
        y = hostile(rng, "constant", shape, spec)
    elif which == 3:  # products around the smallest subnormal numbers
        y = hostile(rng, str(rng.choice(["scaled", "ties"])), shape, spec)
        bits = {"float64": 1074, "float32": 149}[spec.compute]
        x = np.ldexp(hostile(rng, "scaled", shape, spec), -(bits // 2) + rng.integers(-4, 5, shape))
        y = np.ldexp(y, -(bits // 2) + int(rng.integers(-4, 5)))
        x, y = store(x, spec), store(y, spec, overflow="saturate")
    else:
        y = hostile(rng, str(rng.choice(KINDS)), shape, spec)
    return x, y


def rows_of(kind: str, n: int) -> int:
    """How many rows: fewer where each is certified alone."""
    slow = is_slow(kind)
    return budget(2, 6) if slow and n > 64 else budget(4 if slow else 6, 20 if slow else 80)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("kind", KINDS)
def test_dot_products(name: str, kind: str) -> None:
    rng = np.random.default_rng([3, FORMATS.index(name), KINDS.index(kind)])
    judge, spec = Judge(), SPECS[name]
    machine = Machine(spec.compute)
    for n in some(rng, LENGTHS, 2):
        x, y = operands(rng, kind, (rows_of(kind, n), n), spec)
        a, b = (er.asarray(part, name) for part in (x[:, None, :], y[:, :, None]))
        case = judge.take(er.matmul(a, b).reshape((len(x),)), name, f"dot {name}", (x, y))
        for standard, orders in (
            ("normal", normal_orders(n)),
            ("any_order", any_orders(rng, n, 3)),
        ):
            for order, tree in orders:
                p, q = machine.load(x), machine.load(y)
                if order.startswith("random"):
                    p, q = shuffled(rng, p, q)
                terms = list(zip(columns(p), columns(q), strict=True))
                for fused in (False, True, rng):
                    total = evaluate(tree, terms, machine, fused)
                    label = (
                        f"{order}, fused {fused if isinstance(fused, bool) else 'here and there'}"
                    )
                    case.covers(label, store(total, spec), standard)
    judge.verdict()


@pytest.mark.parametrize("output", FORMATS)
@pytest.mark.parametrize("name", ["float32", "float64", "bfloat16", "float16"])
def test_output_format(name: str, output: str) -> None:
    """dtype=, every rounding of the final store, saturating and not."""
    rng = np.random.default_rng([4, FORMATS.index(name), FORMATS.index(output)])
    judge, spec = Judge(), SPECS[output]
    machine = Machine(compute_name(name, output))
    for rounding in ("nearest_even", "nearest_away", "toward_zero", "up", "down"):
        for overflow in ("ieee", "saturate"):
            for kind in some(rng, KINDS, 2):
                n = int(rng.choice(LENGTHS[:8]))
                x, y = operands(rng, kind, (budget(2, 6), n), SPECS[name])
                rule = {"dtype": output, "rounding": rounding, "overflow": overflow}
                a, b = (er.asarray(part, name) for part in (x[:, None, :], y[:, :, None]))
                result = er.matmul(a, b, **rule).reshape((len(x),))
                case = judge.take(result, output, f"dot {name} {rule}", (x, y))
                for standard, orders in (
                    ("normal", normal_orders(n)),
                    ("any_order", any_orders(rng, n, 0)),
                ):
                    for order, tree in orders:
                        terms = [
                            (machine.load(p), machine.load(q))
                            for p, q in zip(columns(x), columns(y), strict=True)
                        ]
                        total = evaluate(tree, terms, machine, rng)
                        case.covers(order, store(total, spec, rounding, overflow), standard)
    judge.verdict()
