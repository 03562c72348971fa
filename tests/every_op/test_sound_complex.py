"""Soundness of the complex operations: products, quotients, moduli, roots, sums and matmul."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import exactref as er
from tests.every_op import kernels_complex as kc
from tests.every_op.kernels import Machine
from tests.every_op.kernels_formats import SPECS, Spec, store
from tests.every_op.kernels_judging import Judge, budget, some
from tests.every_op.kernels_orders import any_orders, columns, evaluate, normal_orders, shuffled
from tests.every_op.kernels_values import KINDS, hostile

FORMATS = {"complex64": "float32", "complex128": "float64"}
OPERATIONS = ("add", "subtract", "multiply", "divide", "sqrt", "abs", "negative")


def parts(rng: np.random.Generator, kind: str, count: int, spec: Spec) -> kc.Parts:
    """Real and imaginary parts of one class, or of a class each, or one of them often zero."""
    real = hostile(rng, kind, (count, 4), spec)[:, 0]
    other = kind if rng.random() < 0.7 else str(rng.choice(KINDS))
    imag = hostile(rng, other, (count, 4), spec)[:, 1]
    if rng.random() < 0.15:
        imag = np.where(rng.random(count) < 0.5, np.copysign(0.0, imag), imag)
    if rng.random() < 0.15:
        imag = real * rng.choice([-1.0, 1.0], count)
    return real, imag


def whole(real: np.ndarray, imag: np.ndarray) -> np.ndarray:
    """A complex128 array with these parts (real + 1j * imag would turn infinities into NaN)."""
    z = np.empty(np.broadcast_shapes(real.shape, imag.shape), np.complex128)
    z.real, z.imag = real, imag
    return z


def simulated(
    op: str, m: Machine, a: kc.Parts, b: kc.Parts, spec: Spec
) -> Iterator[tuple[str, kc.Parts | np.ndarray]]:
    """The outputs of kernels of one operation."""
    with np.errstate(all="ignore"):
        if op in ("add", "subtract"):
            step = getattr(m, op)
            yield op, (step(a[0], b[0]), step(a[1], b[1]))
        elif op == "negative":
            yield op, (-a[0], -a[1])
        elif op == "multiply":
            yield from kc.products(m, a, b)
        elif op == "divide":
            yield from kc.quotients(m, a, b)
            inside = kc.in_range(m, a, b, spec.largest, spec.tiny)
            smith = kc.smith(m, a, b, kc.divided, False)
            for fused in (False, True):
                direct = kc.textbook(m, a, b, kc.divided, fused)
                mixed = tuple(np.where(inside, x, y) for x, y in zip(direct, smith, strict=True))
                yield "textbook", mixed
        elif op == "abs":
            yield from kc.moduli(m, a)
        else:
            yield from kc.roots(m, a)


@pytest.mark.parametrize("op", OPERATIONS)
@pytest.mark.parametrize("name", FORMATS)
def test_elementwise(name: str, op: str) -> None:
    rng = np.random.default_rng([5, list(FORMATS).index(name), OPERATIONS.index(op)])
    judge, spec = Judge(), SPECS[FORMATS[name]]
    machine = Machine(spec.name)
    output = spec.name if op == "abs" else name
    for kind in some(rng, KINDS, 6 if op == "divide" else 16):
        for _ in range(budget(1, 10)):
            a, b = (parts(rng, kind, 40, spec) for _ in range(2))
            inputs = [whole(*a), whole(*b)][: 1 if op in ("sqrt", "abs", "negative") else 2]
            result = getattr(er, op)(*(er.asarray(x, name) for x in inputs))
            case = judge.take(result, output, f"{op} {name}", tuple(inputs))
            loaded = [tuple(machine.load(x) for x in pair) for pair in (a, b)]
            for label, found in simulated(op, machine, *loaded, spec):
                if isinstance(found, tuple):
                    found = whole(*(store(x, spec) for x in found))
                for standard in ("normal", "any_order"):
                    case.covers(label, np.asarray(found), standard)
    judge.verdict()


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("op", ["abs", "divide", "multiply", "sqrt"])
def test_at_the_edge_of_the_range(op: str, name: str) -> None:
    """Results within a few units of the largest number: some kernels overflow, others do not."""
    rng = np.random.default_rng([7, list(FORMATS).index(name), OPERATIONS.index(op)])
    judge, spec = Judge(), SPECS[FORMATS[name]]
    machine = Machine(spec.name)
    count, output = budget(100, 4000), spec.name if op == "abs" else name
    angle = rng.uniform(0, np.pi / 2, count)
    size = 1 - rng.integers(-3, 6, count) * np.finfo(machine.dtype).epsneg / 2
    b = [rng.uniform(0.5, 2, count) * rng.choice([-1, 1], count) for _ in range(2)]
    with np.errstate(all="ignore"):
        a = [spec.largest * size * turn(angle) for turn in (np.cos, np.sin)]
        if op != "abs":
            a = [x * rng.choice([0.5, 1.0, 1.5]) for x in a]
        a, b = ([store(x, spec, overflow="saturate") for x in pair] for pair in (a, b))
        inputs = [whole(*a), whole(*b)][: 1 if op in ("sqrt", "abs") else 2]
        case = judge.take(
            getattr(er, op)(*(er.asarray(x, name) for x in inputs)), output, op, tuple(inputs)
        )
        loaded = [tuple(machine.load(x) for x in pair) for pair in (a, b)]
        for label, found in simulated(op, machine, *loaded, spec):
            if isinstance(found, tuple):
                found = whole(*(store(x, spec) for x in found))
            case.covers(label, np.asarray(found), "normal")
    judge.verdict()


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("kind", KINDS)
def test_matmul_and_sum(name: str, kind: str) -> None:
    """Running sums of fused products, real part first or last; products first; planar products."""
    rng = np.random.default_rng([6, list(FORMATS).index(name), KINDS.index(kind)])
    judge, spec = Judge(), SPECS[FORMATS[name]]
    m = Machine(spec.name)
    for n in some(rng, (1, 2, 3, 16, 17, 32, 33, 64, 100), 2):
        shape = (budget(3, 16), n)
        x, y = ([hostile(rng, kind, shape, spec) for _ in range(2)] for _ in range(2))
        if rng.random() < 0.5:
            y = [hostile(rng, "scaled", shape, spec) for _ in range(2)]
        a, b = whole(*x), whole(*y)
        left, right = er.asarray(a[:, None, :], name), er.asarray(b[:, :, None], name)
        case = judge.take(er.matmul(left, right).reshape((len(a),)), name, f"dot {name}", (a, b))
        sums = judge.take(er.sum(er.asarray(a, name), axis=-1), name, f"sum {name}", (a,))
        for standard, label, found in dots(rng, m, x, y, n):
            case.covers(label, whole(*(store(part, spec) for part in found)), standard)
        for standard, orders in (
            ("normal", normal_orders(n)),
            ("any_order", any_orders(rng, n, 2)),
        ):
            for order, tree in orders:
                total = [evaluate(tree, columns(m.load(part)), m) for part in x]
                sums.covers(order, whole(*(store(part, spec) for part in total)), standard)
    judge.verdict()


def dots(
    rng: np.random.Generator, m: Machine, x: list[np.ndarray], y: list[np.ndarray], n: int
) -> Iterator[tuple[str, str, list[np.ndarray]]]:
    """Complex dot products of rows: (standard, kernel, [real part, imaginary part])."""
    (a, b), (c, d) = ([m.load(part) for part in pair] for pair in (x, y))
    halves = ((a, c, -b, d), (a, d, b, c))
    for order, tree in normal_orders(n):
        for fused in (False, True):
            planar = [planar_part(m, half, tree, fused) for half in halves]
            yield "normal", f"planar, {order}, fused {fused}", planar
        with np.errstate(all="ignore"):
            for fused in (False, True):
                pairs = [
                    columns(kc.multiply_add(m, p, q, m.multiply(r, s), fused))
                    for p, q, r, s in halves
                ]
                found = [evaluate(tree, terms, m) for terms in pairs]
                yield "normal", f"products first, {order}, fused {fused}", found
    for order, tree in normal_orders(2 * n):
        for fused in (False, True):
            for swap in (False, True):
                found = [evaluate(tree, mixed(half, swap), m, fused) for half in halves]
                yield "normal", f"interleaved, {order}, fused {fused}", found
    for order, tree in any_orders(rng, 2 * n, 2):
        found = []
        for p, q, r, s in halves:
            left, right = shuffled(rng, np.concatenate([p, r], -1), np.concatenate([q, s], -1))
            terms = list(zip(columns(left), columns(right), strict=True))
            found.append(evaluate(tree, terms, m, rng))
        yield "any_order", order, found


def planar_part(m: Machine, half: tuple[np.ndarray, ...], tree: object, fused: bool) -> np.ndarray:
    p, q, r, s = half
    sums = [
        evaluate(tree, list(zip(columns(u), columns(v), strict=True)), m, fused)
        for u, v in ((p, q), (r, s))
    ]
    with np.errstate(all="ignore"):
        return m.add(*sums)


def mixed(half: tuple[np.ndarray, ...], swap: bool) -> list[tuple[np.ndarray, np.ndarray]]:
    """Both products of each pair in turn."""
    p, q, r, s = half
    first, second = ((r, s), (p, q)) if swap else ((p, q), (r, s))
    terms = []
    for i in range(p.shape[-1]):
        terms += [(first[0][:, i], first[1][:, i]), (second[0][:, i], second[1][:, i])]
    return terms
