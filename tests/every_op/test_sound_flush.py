"""Soundness under flush_to_zero: subnormal inputs, intermediates, outputs flushed, all or some."""

from __future__ import annotations

import numpy as np
import pytest

import exactref as er
from tests.every_op.kernels import Machine
from tests.every_op.kernels_formats import SPECS, Spec, flush_store, store
from tests.every_op.kernels_judging import Judge, budget, some
from tests.every_op.kernels_orders import any_orders, columns, evaluate, normal_orders, shuffled
from tests.every_op.kernels_values import hostile
from tests.every_op.test_sound_complex import FORMATS as COMPLEX
from tests.every_op.test_sound_complex import simulated, whole

LENGTHS = (1, 2, 3, 32, 33, 65, 100)
FORMATS = ("float32", "float64", "bfloat16", "float16", "tfloat32", "float8_e5m2")


def small(rng: np.random.Generator, shape: tuple[int, ...], spec: Spec, shift: int) -> np.ndarray:
    """Numbers around the smallest normal one (times 2**shift), some far above, some below."""
    kind = str(rng.choice(["scaled", "ties", "subnormal", "cancel", "integers", "steep"]))
    x = hostile(rng, kind, shape, spec)
    if kind != "subnormal":
        x = np.ldexp(np.fmod(x, 4), spec.emin + shift + rng.integers(-6, 7, shape))
    lone = rng.random(shape) < 0.05
    return store(np.where(lone, rng.standard_normal(shape), x), spec)


def outputs(m: Machine, values: np.ndarray, spec: Spec) -> list[tuple[str, np.ndarray]]:
    """The stored output, flushed and not."""
    found = store(values, spec)
    return [("", found), (", flushed", flush_store(found, spec))]


@pytest.mark.parametrize("name", FORMATS)
def test_sum_mean_and_dot(name: str) -> None:
    rng = np.random.default_rng([11, FORMATS.index(name)])
    judge, spec = Judge(), SPECS[name]
    bits = {"float32": 126, "float64": 1022}[spec.compute]
    for n in some(rng, LENGTHS, 3):
        for _ in range(budget(2, 14)):
            x = small(rng, (12, n), spec, 0)
            p, q = (small(rng, (12, n), spec, -spec.emin - bits // 2) for _ in range(2))
            if rng.random() < 0.5:
                p, q = x, hostile(rng, "scaled", x.shape, spec)
            rule = {"flush_to_zero": True}
            sums = judge.take(er.sum(er.asarray(x, name), axis=-1), name, "sum", (x,), **rule)
            means = judge.take(er.mean(er.asarray(x, name), axis=-1), name, "mean", (x,), **rule)
            a, b = er.asarray(p[:, None, :], name), er.asarray(q[:, :, None], name)
            dots = judge.take(er.matmul(a, b).reshape((12,)), name, "dot", (p, q), **rule)
            for flush in ("always", rng):
                m = Machine(spec.compute, flush)
                for standard, orders in (
                    ("normal", normal_orders(n)),
                    ("any_order", any_orders(rng, n, 2)),
                ):
                    for order, tree in orders:
                        total = evaluate(tree, columns(m.load(x, spec.tiny)), m)
                        mean = m.divide(total, m.load(np.asarray(float(n))))
                        u, v = m.load(p, spec.tiny), m.load(q, spec.tiny)
                        if standard == "any_order":
                            u, v = shuffled(rng, u, v)
                        terms = list(zip(columns(u), columns(v), strict=True))
                        dot = evaluate(tree, terms, m, rng)
                        for case, value in ((sums, total), (means, mean), (dots, dot)):
                            for label, found in outputs(m, value, spec):
                                case.covers(f"{order}{label}", found, standard)
    judge.verdict()


@pytest.mark.parametrize("op", ["multiply", "divide", "sqrt", "abs", "add"])
@pytest.mark.parametrize("name", COMPLEX)
def test_complex(name: str, op: str) -> None:
    rng = np.random.default_rng([12, list(COMPLEX).index(name), len(op), ord(op[0])])
    judge, spec = Judge(), SPECS[COMPLEX[name]]
    output = spec.name if op == "abs" else name
    for _ in range(budget(2, 20)):
        shift = 0 if rng.random() < 0.5 else -spec.emin // 2
        a, b = ([small(rng, (40,), spec, shift) for _ in range(2)] for _ in range(2))
        inputs = [whole(*a), whole(*b)][: 1 if op in ("sqrt", "abs") else 2]
        result = getattr(er, op)(*(er.asarray(x, name) for x in inputs))
        case = judge.take(result, output, op, tuple(inputs), flush_to_zero=True)
        for flush in ("always", rng):
            m = Machine(spec.name, flush)
            loaded = [tuple(m.load(x, spec.tiny) for x in pair) for pair in (a, b)]
            for label, found in simulated(op, m, *loaded, spec):
                both = found if isinstance(found, tuple) else (found,)
                for flushed in (False, True):
                    done = [store(x, spec) for x in both]
                    if flushed:
                        done = [flush_store(x, spec) for x in done]
                    value = whole(*done) if len(done) == 2 else done[0]
                    case.covers(f"{label}, {flush}", value, "normal")
    judge.verdict()
