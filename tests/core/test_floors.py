"""Variances are never below zero: rows that hardly vary far from zero, and what is made of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.compare import judge
from exactref_core.registry import get_standard
from tests.every_op.kernels import Machine
from tests.every_op.kernels_deviations import any_kernels, normal_kernels
from tests.every_op.kernels_formats import SPECS, store
from tests.every_op.kernels_judging import Judge, budget
from tests.every_op.kernels_orders import any_orders, evaluate, normal_orders

F32 = np.float32
EPS = 1e-5
INF = float("inf")


def rows(n: int, form: str) -> np.ndarray:
    """Equal numbers, all but one or two of them, neighbours; from subnormal to near overflow."""
    found = []
    for value in (100.0, 0.1, 1e4, 12345.678, -3e-3, 3e37, 1.5e-42, 7e-20, 2.0**-126):
        near = np.nextafter(F32(value), F32(INF), dtype=F32)
        equal = np.full(n, value, F32)
        one, turns, ramp = equal.copy(), equal.copy(), equal.copy()
        one[-1] = near
        turns[::2] = near
        ramp[: n // 2] = F32(value) * F32(1.01)
        found += [equal, one, turns, ramp]
    return store(np.stack(found).astype(np.float64), SPECS[form])


def outputs(
    m: Machine, x: np.ndarray, mean: np.ndarray, total: np.ndarray, distributed: bool
) -> Iterator[tuple[str, np.ndarray]]:
    """What is made of a mean and a sum of squares."""
    n = m.load(np.asarray(float(x.shape[1])))
    inside = m.add(m.divide(total, n), m.load(np.asarray(EPS)))
    d = m.subtract(x, mean[:, None])
    inverse = m.divide(m.load(np.asarray(1.0)), m.sqrt(inside))[:, None]
    yield "quotient", m.divide(d, m.sqrt(inside)[:, None])
    yield "product", m.multiply(d, inverse)
    if distributed:
        yield (
            "distributed",
            m.subtract(m.multiply(x, inverse), m.multiply(mean[:, None], inverse)),
        )
        shift = m.multiply(-mean[:, None], inverse)
        yield "distributed, fused", m.fma(x, inverse, shift)


@pytest.mark.parametrize(("form", "flush"), [("float32", False), ("bfloat16", True)])
def test_simulated_kernels_are_inside(form: str, flush: bool) -> None:
    rng = np.random.default_rng([5, flush])
    judge, spec = Judge(), SPECS[form]
    m = Machine("float32", rng if flush else None)
    for n, count in ((3, budget(4 - 2 * flush, 36)), (33, budget(1 - flush, 36))):
        x = rng.permutation(rows(n, form))[:count]
        given, loaded = er.asarray(x, form), m.load(x, spec.tiny)
        terms = [loaded[:, k] for k in range(n)]
        rule: dict[str, Any] = {"flush_to_zero": True} if flush else {}
        var = judge.take(er.var(given, axis=1), form, f"var {n}", (x,), **rule)
        layer = judge.take(er.layer_norm(given), form, f"layer_norm {n}", (x,), **rule)
        size = m.load(np.asarray(float(n)))
        for standard, orders, kernels in (
            ("normal", list(normal_orders(n)), normal_kernels),
            ("any_order", list(any_orders(rng, n, 1)), any_kernels),
        ):
            means = [m.divide(evaluate(tree, list(terms), m), size) for _, tree in orders]
            with np.errstate(all="ignore"):
                for i, (label, total) in enumerate(kernels(m, terms, orders)):
                    assert not (total < 0).any(), label
                    var.covers(label, store(m.divide(total, size), spec), standard)
                    mean = means[i % len(means)]
                    for how, y in outputs(m, loaded, mean, total, standard == "any_order"):
                        layer.covers(f"{label}, {how}", store(y, spec), standard)
    judge.verdict()


@pytest.mark.parametrize("n", [2, 3, 9, 100])
def test_every_product_of_a_loop_has_one_sign(n: int) -> None:
    """Neighbouring numbers, subnormal ones among them, with each quotient or a reciprocal."""
    rng = np.random.default_rng(n)
    for bits in (0x3F800000, 0x00000004, 0x00800000, 0x5E000000, 0x42C80000):
        x = (bits + rng.integers(-3, 4, (500, n))).astype(np.uint32).view(F32)
        mean = x[:, 0]
        for k in range(1, n):
            d = x[:, k] - mean
            for moved in (mean + d / F32(k + 1), mean + d * (F32(1) / F32(k + 1))):
                assert (d * (x[:, k] - moved) >= 0).all()
            mean = moved


def test_variances_are_not_negative() -> None:
    x = rows(300, "float32")
    x = x[np.abs(x).max(axis=1) < 1e10]
    for result in (er.var(x.astype(F32), axis=1), er.std(x.astype(F32), axis=1)):
        for standard in ("normal", "any_order"):
            low, high = result.finite_range(standard)
            assert low.values().min() == 0 < high.values().max()
            below = np.minimum(low.values(), -np.finfo(F32).smallest_subnormal).astype(F32)
            assert not result.covers(below, standard).data.any()
    cancelling = (x * x).astype(F32).mean(axis=1) - x.astype(F32).mean(axis=1) ** 2
    negative = cancelling < 0
    assert negative.sum() > 3
    result = er.var(x.astype(F32), axis=1)
    covered = result.covers(cancelling.astype(F32), "any_order").data
    assert not covered[negative].any()


CALLS = {
    "layer_norm": lambda x, eps: er.layer_norm(x, eps=eps),
    "outside": lambda x, eps: er.layer_norm(x, eps=eps, eps_outside=True),
    "group_norm": lambda x, eps: er.group_norm(x[None], 1, eps=eps),
    "batch_norm": lambda x, eps: er.batch_norm(x.T, training=True, eps=eps),
    "gradient": lambda x, eps: er.backward.layer_norm(np.ones_like(x), x, eps=eps)["grad_x"],
    "chain": lambda x, eps: er.divide(
        x[:, :4], er.sqrt(er.add(er.var(x, axis=-1, keepdims=True), F32(eps)))
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_follows_has_a_bound(name: str) -> None:
    for n, standard in ((64, "any_order"), (2048, "normal")):
        result = CALLS[name](np.full((1, n), 100.0, F32), EPS)
        assert np.isfinite(result.tolerance(standard).values()).all()
        assert not any(result.may_be(what, standard).data.any() for what in ("nan", "+inf", "-inf"))


def test_without_an_eps_there_is_none() -> None:
    x = np.float32([[1e4, 1e4, 1e4, 1e4 + 2.0**-10]])
    assert np.isinf(er.layer_norm(x, eps=0.0).tolerance().values()).all()
    assert np.isfinite(er.layer_norm(x, eps=1e-30).tolerance().values()).all()
    tiny = er.layer_norm(x, eps=1e-40)  # which may be flushed
    assert np.isfinite(tiny.tolerance().values()).all()
    assert np.isinf(tiny.tolerance(flush_to_zero=True).values()).all()


def test_levels_agree() -> None:
    """Certified ranges, one element at a time, are those of arrays."""
    x = rows(4, "float32").astype(F32)[::5]
    for call in (er.layer_norm(x), er.var(x, axis=1), er.backward.layer_norm(x[::-1].copy(), x)):
        (part,) = next(iter(call.outputs.values())).parts  # type: ignore[attr-defined]
        for standard in ("normal", "any_order"):
            for flush in (False, True):
                rule = get_standard(standard)
                whole = part.range(rule, flush)
                for flat in range(0, part.node.size, 7):
                    one = part.range_one(rule, flush, flat)
                    mine, theirs = ([a[i] for a in r.arrays] for r, i in ((whole, flat), (one, 0)))
                    assert np.array_equal(mine, theirs, equal_nan=True), (standard, flush, flat)


def faulty(x: np.ndarray, eps: float = EPS, outside: float = 0.0) -> np.ndarray:
    """Two passes in index order, float32."""
    n = F32(x.shape[1])
    mean = (np.add.accumulate(x, axis=1)[:, -1] / n)[:, None]
    d = x - mean
    var = (np.add.accumulate(d * d, axis=1)[:, -1] / n)[:, None]
    with np.errstate(all="ignore"):
        return d / (np.sqrt(var + F32(eps)) + F32(outside))


def test_planted_faults_are_outside() -> None:
    ulp = F32(2.0**-17)
    x = np.full((4, 64), 100.1, F32)
    x[1:, ::2] += ulp * np.arange(1, 4, dtype=F32)[:, None]
    result = er.layer_norm(x)
    assert result.covers(faulty(x), "normal").data.all()
    for wrong in (faulty(x, 0.0), faulty(x, 0.0, EPS), faulty(x, 1e-12)):
        assert not result.covers(wrong, "normal").data.all(axis=1).any()
    squares = (x * x).mean(axis=1, dtype=F32) - x.mean(axis=1, dtype=F32) ** 2
    with np.errstate(all="ignore"):
        wrong = (x - x.mean(axis=1, dtype=F32)[:, None]) / np.sqrt(squares + F32(EPS))[:, None]
    lost = ~np.isfinite(wrong)
    assert not lost.any() or not result.covers(wrong, "any_order").data[lost].any()


def test_elements_without_a_bound_are_counted() -> None:
    x = np.float32([[1e4, 1e4, 1e4, 1e4 + 2.0**-10], [1, 2, 3, 4]])
    tiny = np.full((1, 4), 1e-30, F32)
    g = np.ones(2, F32)
    for result, normal, any_order in (
        (er.layer_norm(x), 0, 0),
        (er.layer_norm(x, eps=0.0), 4, 4),
        (er.rms_norm(tiny, eps=0.0), 4, 4),
        (er.rms_norm(tiny * F32(1e20), eps=0.0), 0, 0),
        (er.rsqrt(er.var(x, axis=1)), 1, 1),
        (er.backward.std(g, x, axis=1)["grad_x"], 4, 4),
    ):
        for standard, count in (("normal", normal), ("any_order", any_order)):
            (judged,) = judge(np.asarray(result.rounded.values(), F32), result, standard=standard)
            tolerance = result.tolerance(standard).values()
            assert judged.vacuous == np.isinf(tolerance).sum() == count
