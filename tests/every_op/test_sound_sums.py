"""Soundness of sum and mean: no simulated kernel falls outside, whatever the values."""

from __future__ import annotations

import numpy as np
import pytest

import exactref as er
from tests.every_op.kernels import Machine
from tests.every_op.kernels_formats import SPECS, compute_name, store
from tests.every_op.kernels_judging import Judge, budget, some
from tests.every_op.kernels_orders import (
    any_orders,
    chain,
    columns,
    evaluate,
    normal_orders,
    shuffled,
)
from tests.every_op.kernels_values import KINDS, hostile, is_slow

LENGTHS = (1, 2, 3, 31, 32, 33, 64, 65, 100, 300)
FORMATS = ("float32", "float64", "bfloat16", "float16", "tfloat32", "float8_e5m2", "float8_e4m3fn")


def rows_of(kind: str, n: int) -> int:
    """How many rows: fewer where each is certified alone."""
    slow = is_slow(kind)
    return budget(3, 6) if slow and n > 64 else budget(6 if slow else 8, 30 if slow else 120)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("kind", KINDS)
def test_sum_and_mean(name: str, kind: str) -> None:
    rng = np.random.default_rng([1, FORMATS.index(name), KINDS.index(kind)])
    judge, spec = Judge(), SPECS[name]
    machine = Machine(spec.compute)
    for n in some(rng, LENGTHS, 3):
        x = hostile(rng, kind, (rows_of(kind, n), n), spec)
        terms = columns(machine.load(x))
        sums = judge.take(er.sum(er.asarray(x, name), axis=-1), name, f"sum {name}", (x,))
        means = judge.take(er.mean(er.asarray(x, name), axis=-1), name, f"mean {name}", (x,))
        for standard, orders in (
            ("normal", normal_orders(n)),
            ("any_order", any_orders(rng, n, 3)),
        ):
            for order, tree in orders:
                values = terms
                if order.startswith("random"):
                    values = columns(shuffled(rng, machine.load(x))[0])
                total = evaluate(tree, values, machine)
                sums.covers(order, store(total, spec), standard)
                for how, mean in divided(machine, total, n):
                    means.covers(f"{order}, {how}", store(mean, spec), standard)
    judge.verdict()


def divided(machine: Machine, total: np.ndarray, n: int) -> list[tuple[str, np.ndarray]]:
    """A mean divides its sum, or multiplies it by a reciprocal."""
    count = machine.load(np.asarray(float(n)))
    with np.errstate(all="ignore"):
        reciprocal = machine.divide(machine.load(np.asarray(1.0)), count)
        return [
            ("divided", machine.divide(total, count)),
            ("times 1/n", machine.multiply(total, reciprocal)),
        ]


@pytest.mark.parametrize("output", FORMATS)
@pytest.mark.parametrize("name", ["float32", "float64", "float16"])
def test_output_format(name: str, output: str) -> None:
    """dtype=, every rounding of the final store, saturating and not."""
    rng = np.random.default_rng([2, FORMATS.index(name), FORMATS.index(output)])
    judge, spec = Judge(), SPECS[output]
    machine = Machine(compute_name(name, output))
    for rounding in ("nearest_even", "nearest_away", "toward_zero", "up", "down"):
        for overflow in ("ieee", "saturate"):
            for kind in some(rng, KINDS, 2):
                n = int(rng.choice(LENGTHS[:8]))
                x = hostile(rng, kind, (budget(2, 8), n), SPECS[name])
                if rng.random() < 0.5:
                    x = hostile(rng, kind, x.shape, spec)
                    x = store(x, SPECS[name], overflow="saturate")
                rule = {"dtype": output, "rounding": rounding, "overflow": overflow}
                label = f"sum {name} {rule}"
                case = judge.take(er.sum(er.asarray(x, name), axis=-1, **rule), output, label, (x,))
                for standard, tree in (
                    ("normal", chain(list(range(n)))),
                    ("any_order", chain(rng.permutation(n).tolist())),
                ):
                    total = evaluate(tree, columns(machine.load(x)), machine)
                    case.covers("loop", store(total, spec, rounding, overflow), standard)
    judge.verdict()


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3), (0, 0), (2, 0, 3)])
def test_zero_sizes(shape: tuple[int, ...]) -> None:
    for axis in range(len(shape)):
        result = er.sum(er.asarray(np.zeros(shape), "float32"), axis=axis)
        zero = np.zeros([n for i, n in enumerate(shape) if i != axis])
        for standard in ("normal", "any_order"):
            assert result.covers(er.asarray(zero, "float32"), standard).all()
            assert np.array_equal(result.tolerance(standard).values(), zero)


@pytest.mark.parametrize("name", FORMATS)
def test_of_nothing(name: str) -> None:
    result = er.sum(er.asarray(np.zeros((3, 0)), name), axis=-1)
    for standard in ("normal", "any_order"):
        assert result.covers(er.asarray(np.zeros(3), name), standard).all()
        assert not result.covers(er.asarray(np.ones(3), name), standard).any()
    assert not any(result.may_be(flag, "any_order").any() for flag in ("+inf", "-inf", "nan"))
