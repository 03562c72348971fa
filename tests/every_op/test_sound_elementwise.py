"""Soundness of lone real steps: rounded once, or through the compute format."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import exactref as er
from tests.every_op.kernels import Machine
from tests.every_op.kernels_formats import (
    MODES,
    SPECS,
    Spec,
    compute_name,
    flush_store,
    store,
    store_exactly,
)
from tests.every_op.kernels_judging import Judge, budget, some
from tests.every_op.kernels_values import KINDS, hostile

FORMATS = ("float32", "float64", "bfloat16", "float16", "tfloat32", "float8_e5m2", "float8_e4m3fn")
OPERATIONS = ("add", "subtract", "multiply", "divide", "sqrt", "negative", "abs")


def pairs(rng: np.random.Generator, count: int, spec: Spec) -> tuple[np.ndarray, np.ndarray]:
    """Operands of all classes, some of them made so that results are next to ties of formats."""
    per = -(-count // len(KINDS))
    a = np.concatenate([hostile(rng, kind, (per, 4), spec)[:, 0] for kind in KINDS])[:count]
    kinds = rng.permutation(KINDS)
    b = np.concatenate([hostile(rng, kind, (per, 4), spec)[:, 1] for kind in kinds])[:count]
    with np.errstate(all="ignore"):
        bits = rng.choice([other.bits for other in SPECS.values()], count)
        tie = np.ldexp(2.0 * rng.integers(0, 2**6, count) + np.ldexp(1.0, bits) + 1, -bits)
        tie *= np.where(rng.random(count) < 0.5, 1.0, 1 + rng.choice([-1, 1], count) * 2.0**-30)
        a = np.where(rng.random(count) < 0.2, np.fmod(a, 1), a)
        tied = rng.random(count) < 0.3
        b = store(np.where(tied, tie - a, np.where(rng.random(count) < 0.2, tie, b)), spec)
    return a, b


def step(op: str, m: Machine, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        if op in ("negative", "abs"):
            return -a if op == "negative" else np.abs(a)
        return m.sqrt(a) if op == "sqrt" else getattr(m, op)(a, b)


def directly(op: str, a: float, b: float) -> Fraction | None:
    """The exact result where it is a finite rational."""
    if not (np.isfinite(a) and np.isfinite(b)) or op == "sqrt" or (op == "divide" and b == 0):
        return None
    x, y = Fraction(a), Fraction(b)
    exact = {"add": x + y, "subtract": x - y, "multiply": x * y}
    return exact.get(op) if op != "divide" else x / y


@pytest.mark.parametrize("output", FORMATS)
@pytest.mark.parametrize("name", ["float32", "float64", "bfloat16", "float16", "float8_e4m3fn"])
def test_rounded_once_or_through_the_compute_format(name: str, output: str) -> None:
    rng = np.random.default_rng([8, FORMATS.index(name), FORMATS.index(output)])
    judge, spec = Judge(), SPECS[output]
    machine = Machine(compute_name(name, output))
    for op in OPERATIONS:
        for rounding in some(rng, list(MODES), 2):
            overflow = str(rng.choice(["ieee", "saturate"]))
            a, b = pairs(rng, budget(64, 320), SPECS[name])
            inputs = (a,) if op in ("sqrt", "negative", "abs") else (a, b)
            rule = {"dtype": output, "rounding": rounding, "overflow": overflow}
            result = getattr(er, op)(*(er.asarray(x, name) for x in inputs), **rule)
            case = judge.take(result, output, f"{op} {name} {rule}", inputs)
            through = step(op, machine, machine.load(a), machine.load(b))
            found = store(through, spec, rounding, overflow)
            exact = found.copy()
            for i, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
                value = directly(op, x, y)
                if value:
                    exact[i] = store_exactly(value, spec, rounding, overflow)
            for standard in ("normal", "any_order"):
                if machine.name != output:  # else nothing but the one rounding is on the way
                    case.covers("through the compute format", found, standard)
                if op != "sqrt" or rounding.startswith("nearest"):
                    case.covers("rounded once", exact, standard)
    judge.verdict()


@pytest.mark.parametrize("output", FORMATS)
@pytest.mark.parametrize("name", ["int8", "uint8", "int32", "int64", "uint64", "bool"])
def test_integers(name: str, output: str) -> None:
    """Integers that the compute format cannot hold are rounded on load."""
    names = ["int8", "uint8", "int32", "int64", "uint64", "bool"]
    rng = np.random.default_rng([9, names.index(name), FORMATS.index(output)])
    judge, spec = Judge(), SPECS[output]
    machine = Machine(compute_name("int", output))
    for _ in range(budget(1, 20)):
        a, b = (drawn(rng, name, 100) for _ in range(2))
        x, y = machine.load(a), machine.load(b)
        for op in ("add", "subtract", "multiply", "divide", "sqrt", "abs", "negative"):
            inputs = (a,) if op in ("sqrt", "negative", "abs") else (a, b)
            result = getattr(er, op)(*inputs, dtype=output)
            case = judge.take(result, output, f"{op} {name} to {output}", inputs)
            for standard in ("normal", "any_order"):
                case.covers("loaded", store(step(op, machine, x, y), spec), standard)
        rows = a.reshape(5, 20), x.reshape(5, 20)
        for op in ("sum", "mean"):
            result = getattr(er, op)(rows[0], axis=1, dtype=output)
            case = judge.take(result, output, f"{op} {name} to {output}", (rows[0],))
            with np.errstate(all="ignore"):
                total = np.add.accumulate(rows[1], axis=1, dtype=machine.dtype)[:, -1]
                found = total if op == "sum" else total / machine.dtype.type(20)
            case.covers("loaded", store(found, spec), "normal")
    judge.verdict()


def drawn(rng: np.random.Generator, name: str, count: int) -> np.ndarray:
    """Integers of all sizes, many of them around powers of two."""
    if name == "bool":
        return rng.random(count) < 0.5
    limits = np.iinfo(name)
    bits = rng.integers(0, limits.bits, count).tolist()
    near = [(1 << b) + int(d) for b, d in zip(bits, rng.integers(-2, 3, count), strict=True)]
    sign = 1 if limits.min == 0 else -1
    near = [n * sign if s else n for n, s in zip(near, rng.random(count) < 0.3, strict=True)]
    wild = rng.integers(limits.min, limits.max, count, dtype=name, endpoint=True).tolist()
    mixed = [w if p else n for n, w, p in zip(near, wild, rng.random(count) < 0.5, strict=True)]
    return np.array([min(max(n, limits.min), limits.max) for n in mixed], name)


@pytest.mark.parametrize("name", FORMATS)
def test_flushed(name: str) -> None:
    """Subnormal operands and results are flushed, all of them or some."""
    rng = np.random.default_rng([10, FORMATS.index(name)])
    judge, spec = Judge(), SPECS[name]
    for op in OPERATIONS:
        for _ in range(budget(1, 20)):
            a, b = pairs(rng, 160, spec)
            a, b = (np.where(np.isfinite(x), x, 1.0) for x in (a, b))
            small = np.ldexp(1.0, rng.integers(spec.emin - spec.bits, spec.emin + 3, a.shape))
            a = np.where(rng.random(a.shape) < 0.5, store(np.fmod(a, 4) * small, spec), a)
            inputs = (a,) if op in ("sqrt", "negative", "abs") else (a, b)
            result = getattr(er, op)(*(er.asarray(x, name) for x in inputs))
            case = judge.take(result, name, f"{op} {name}", inputs, flush_to_zero=True)
            for flush in ("always", rng):
                machine = Machine(spec.compute, flush)
                x, y = machine.load(a, spec.tiny), machine.load(b, spec.tiny)
                if op in ("negative", "abs"):
                    x = machine.flushed(x)
                found = store(step(op, machine, x, y), spec)
                for output in (found, flush_store(found, spec)):
                    case.covers(f"flush {flush}", output, "normal")
    judge.verdict()
