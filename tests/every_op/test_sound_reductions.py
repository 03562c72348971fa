"""Soundness of products, variances, norms and scans: no simulated kernel falls outside."""

from __future__ import annotations

import numpy as np
import pytest

import exactref as er
from tests.every_op.kernels import Machine
from tests.every_op.kernels_deviations import any_kernels, normal_kernels, number
from tests.every_op.kernels_formats import SPECS, Spec, flush_store, store
from tests.every_op.kernels_judging import Judge, budget, some
from tests.every_op.kernels_orders import any_orders, columns, evaluate, normal_orders, shuffled
from tests.every_op.kernels_values import KINDS, hostile, is_slow

FORMATS = ("float32", "float64", "bfloat16", "float16", "tfloat32", "float8_e5m2")
LENGTHS = (1, 2, 3, 5, 31, 32, 33, 65, 100)


class Multiplying(Machine):
    """A machine whose trees multiply."""

    def add(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return self.multiply(a, b)


def factors(rng: np.random.Generator, kind: str, shape: tuple[int, int], spec: Spec) -> np.ndarray:
    """Factors of a class; many rows around 1, some whose parts leave the range and come back."""
    x = hostile(rng, kind, shape, spec)
    choice = int(rng.integers(4))
    if choice == 0:
        return x
    near = rng.uniform(0.5, 2, shape) * rng.choice([-1, 1], shape)
    reach = {1: 0, 2: 6, 3: 60}[choice]
    with np.errstate(all="ignore"):
        near = np.ldexp(near, rng.integers(-reach, reach + 1, shape))
        near[:, ::2] = np.where(rng.random(near[:, ::2].shape) < 0.5, near[:, ::2], 1.0)
    made = store(near, spec, overflow="saturate")
    return np.where(rng.random(shape) < 0.03, x, made)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("kind", KINDS)
def test_products(name: str, kind: str) -> None:
    rng = np.random.default_rng([90, FORMATS.index(name), KINDS.index(kind)])
    judge, spec = Judge(), SPECS[name]
    for n in some(rng, LENGTHS, 3):
        x = factors(rng, kind, (budget(6, 40), n), spec)
        for flush in (None, "always"):
            machine = Multiplying(spec.compute, flush)
            terms = machine.load(x, spec.tiny if flush else 0.0)
            rule = {"flush_to_zero": True} if flush else {}
            result = er.prod(er.asarray(x, name), axis=1)
            case = judge.take(result, name, f"prod {name}", (x,), **rule)
            for standard, orders in (
                ("normal", normal_orders(n)),
                ("any_order", any_orders(rng, n, 3)),
            ):
                for order, tree in orders:
                    values = columns(terms)
                    if order.startswith("random"):
                        values = columns(shuffled(rng, terms)[0])
                    found = store(evaluate(tree, values, machine), spec)
                    case.covers(order, flush_store(found, spec) if flush else found, standard)
    judge.verdict()


def shifted(rng: np.random.Generator, kind: str, shape: tuple[int, int], spec: Spec) -> np.ndarray:
    """Terms of a class, in half of the cases around a mean of any size."""
    x = hostile(rng, kind, shape, spec)
    if rng.random() < 0.5:
        with np.errstate(all="ignore"):
            x = store(x + np.ldexp(1.0, int(rng.integers(-2, 14))), spec, overflow="saturate")
    return x


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("kind", KINDS)
def test_variances(name: str, kind: str) -> None:
    rng = np.random.default_rng([91, FORMATS.index(name), KINDS.index(kind)])
    judge, spec = Judge(), SPECS[name]
    machine = Machine(spec.compute)
    for n in some(rng, LENGTHS, 1):
        x = shifted(rng, kind, (budget(3 if is_slow(kind) else 6, 30), n), spec)
        given, terms = er.asarray(x, name), columns(machine.load(x))
        correction = float(rng.choice([0, 1, 0.5])) if n > 1 else 0.0
        cases = [
            judge.take(op(given, axis=1, correction=correction), name, f"{op.__name__} {n}", (x,))
            for op in (er.var, er.std)
        ]
        divisor = number(machine, n - correction)
        for standard, kernels in (
            ("normal", normal_kernels(machine, terms, list(normal_orders(n)))),
            ("any_order", any_kernels(machine, terms, list(any_orders(rng, n, 2)))),
        ):
            with np.errstate(all="ignore"):
                for label, total in kernels:
                    found = machine.divide(total, divisor)
                    cases[0].covers(label, store(found, spec), standard)
                    root = np.sqrt(found)
                    cases[1].covers(label, store(root, spec), standard)
    judge.verdict()


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("kind", KINDS)
def test_norms(name: str, kind: str) -> None:
    """Roots of dot products, fused or not, and of quotients by the largest magnitude."""
    rng = np.random.default_rng([92, FORMATS.index(name), KINDS.index(kind)])
    judge, spec = Judge(), SPECS[name]
    machine = Machine(spec.compute)
    for n in some(rng, LENGTHS, 3):
        x = hostile(rng, kind, (budget(4, 30), n), spec)
        terms = columns(machine.load(x))
        case = judge.take(er.vector_norm(er.asarray(x, name), axis=1), name, f"norm {n}", (x,))
        for standard, orders in (
            ("normal", normal_orders(n)),
            ("any_order", any_orders(rng, n, 2)),
        ):
            with np.errstate(all="ignore"):
                size = np.abs(machine.load(x)).max(axis=1)
                exact = machine.load(np.ldexp(1.0, np.frexp(np.where(size > 0, size, 1))[1] - 1))
                for order, tree in orders:
                    for fused in (False, True):
                        square = evaluate(tree, [(t, t) for t in terms], machine, fused)
                        found = store(machine.sqrt(square), spec)
                        case.covers(f"{order}, fused {fused}", found, standard)
                    for divisor in (size, exact):
                        ratios = [machine.divide(t, divisor) for t in terms]
                        square = evaluate(tree, [(t, t) for t in ratios], machine, True)
                        found = machine.multiply(divisor, machine.sqrt(square))
                        found = np.where(np.isfinite(size) & (size > 0), found, size)
                        case.covers(f"{order}, scaled", store(found, spec), standard)
    judge.verdict()


def doubling(machine: Machine, terms: list[np.ndarray]) -> list[np.ndarray]:
    """Hillis and Steele's scan: each element joined with the one 1, 2, 4, ... before it."""
    step = 1
    while step < len(terms):
        terms = [
            machine.add(terms[i - step], term) if i >= step else term
            for i, term in enumerate(terms)
        ]
        step *= 2
    return terms


def chunked(machine: Machine, terms: list[np.ndarray], size: int) -> list[np.ndarray]:
    """Scans of chunks, then what lies before each is joined to all of it."""
    found, before = [], None
    for start in range(0, len(terms), size):
        part = sequential(machine, terms[start : start + size])
        part = part if before is None else [machine.add(before, term) for term in part]
        before = part[-1]
        found += part
    return found


def sequential(machine: Machine, terms: list[np.ndarray]) -> list[np.ndarray]:
    found = [terms[0]]
    for term in terms[1:]:
        found.append(machine.add(found[-1], term))
    return found


@pytest.mark.parametrize("name", FORMATS[:4])
@pytest.mark.parametrize("kind", KINDS)
def test_scans(name: str, kind: str) -> None:
    rng = np.random.default_rng([93, FORMATS.index(name), KINDS.index(kind)])
    judge, spec = Judge(), SPECS[name]
    for op, machine in ((er.cumulative_sum, Machine), (er.cumulative_prod, Multiplying)):
        m = machine(spec.compute)
        for n in some(rng, LENGTHS[:-2], 2):
            x = hostile(rng, kind, (budget(2, 12), n), spec)
            if op is er.cumulative_prod:
                x = factors(rng, kind, x.shape, spec)
            case = judge.take(op(er.asarray(x, name), axis=1), name, f"{op.__name__} {n}", (x,))
            terms = columns(m.load(x))
            with np.errstate(all="ignore"):
                kernels = {
                    "sequential": sequential(m, terms),
                    "doubling": doubling(m, terms),
                    "chunked": chunked(m, terms, int(rng.integers(2, 9))),
                }
            for label, found in kernels.items():
                standards = ("normal", "any_order") if label == "sequential" else ("any_order",)
                for standard in standards:
                    case.covers(label, store(np.stack(found, -1), spec), standard)
    judge.verdict()
