"""Soundness of products with an addend, and of contractions: no simulated kernel falls outside."""

from __future__ import annotations

import numpy as np
import pytest

import exactref as er
from tests.every_op.kernels import Machine
from tests.every_op.kernels_formats import SPECS, store
from tests.every_op.kernels_judging import Judge, budget, some
from tests.every_op.kernels_orders import any_orders, chain, columns, evaluate, normal_orders
from tests.every_op.kernels_values import KINDS, hostile, is_slow
from tests.every_op.test_sound_products import operands

FORMATS = ("float32", "float64", "bfloat16", "float16", "tfloat32", "float8_e5m2")
LENGTHS = (1, 2, 3, 31, 32, 33, 65, 100)


def rows_of(kind: str, n: int) -> int:
    return 2 if is_slow(kind) and n > 33 else budget(4, 20)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("kind", KINDS)
def test_addends(name: str, kind: str) -> None:
    """The addend last, first, or anywhere; alpha on the sum, on a factor, or on parts of a sum."""
    rng = np.random.default_rng([97, FORMATS.index(name), KINDS.index(kind)])
    judge, spec = Judge(), SPECS[name]
    m = Machine(spec.compute)
    for n in some(rng, LENGTHS, 2):
        x, y = operands(rng, kind, (rows_of(kind, n), n), spec)
        c = hostile(rng, str(rng.choice(["scaled", kind])), (len(x), 2), spec)[:, 0]
        a, b = m.load(x), m.load(y)
        for alpha, beta in ((1.0, 1.0), (float(rng.choice([0.1, -2.0, 1e-3])), 0.7)):
            result = er.addmm(
                er.asarray(c[:, None], name),
                er.asarray(x, name),
                er.asarray(y[:1].T.copy(), name),
                alpha=alpha,
                beta=beta,
            ).reshape((len(x),))
            case = judge.take(result, name, f"addmm {alpha} {beta}", (x, y[:1], c))
            column = np.broadcast_to(b[:1], b.shape)
            p, q = (m.load(np.asarray(factor)) for factor in (alpha, beta))
            with np.errstate(all="ignore"):
                added = m.multiply(m.load(c), q) if beta != 1 else m.load(c)
                scaled = m.multiply(a, p) if alpha != 1 else a
            terms = list(zip(columns(a), columns(column), strict=True))
            inside = [*zip(columns(scaled), columns(column), strict=True), added]
            for standard, orders in (
                ("normal", list(normal_orders(n))),
                ("any_order", list(any_orders(rng, n, 2))),
            ):
                for order, tree in orders:
                    for fused in (False, True):
                        with np.errstate(all="ignore"):
                            product = evaluate(tree, terms, m, fused)
                            product = m.multiply(product, p) if alpha != 1 else product
                            found = m.add(product, added)
                        case.covers(f"{order}, fused {fused}, last", store(found, spec), standard)
                first = chain([n, *range(n)])
                found = evaluate(first, inside, m, True)
                case.covers("the addend first", store(found, spec), standard)
            for order, tree in any_orders(rng, n + 1, 2):
                found = evaluate(tree, inside, m, rng)
                case.covers(f"{order}, addend inside", store(found, spec), "any_order")
    judge.verdict()


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("kind", KINDS)
def test_linear_maps_and_contractions(name: str, kind: str) -> None:
    rng = np.random.default_rng([98, FORMATS.index(name), KINDS.index(kind)])
    judge, spec = Judge(), SPECS[name]
    m = Machine(spec.compute)
    for n in some(rng, LENGTHS, 2):
        x, w = operands(rng, kind, (3, n), spec)
        bias = hostile(rng, "scaled", (1, 3), spec)[0]
        given, weight = er.asarray(x, name), er.asarray(w, name)
        linear = er.linear(given, weight, er.asarray(bias, name))
        cases = {
            "linear": judge.take(linear, name, "linear", (x, w)),
            "einsum": judge.take(er.einsum("ik,jk->ij", given, weight), name, "einsum", (x, w)),
            "vecdot": judge.take(er.vecdot(given, weight), name, "vecdot", (x, w)),
            "free": judge.take(er.einsum("ik,jk->i", given, weight), name, "free", (x, w)),
        }
        left = [np.repeat(t[:, None], 3, 1) for t in columns(m.load(x))]
        right = [np.repeat(t[None, :], 3, 0) for t in columns(m.load(w))]
        terms = list(zip(left, right, strict=True))
        for standard, orders in (
            ("normal", list(normal_orders(n))),
            ("any_order", list(any_orders(rng, n, 2))),
        ):
            for order, tree in orders:
                found = evaluate(tree, terms, m, rng)
                cases["einsum"].covers(order, store(found, spec), standard)
                cases["vecdot"].covers(order, store(found.diagonal(), spec), standard)
                with np.errstate(all="ignore"):
                    added = m.add(found, m.load(bias))
                    summed = m.add(m.add(m.load(w)[0], m.load(w)[1]), m.load(w)[2])
                    before = list(zip(columns(m.load(x)), summed, strict=True))
                    before = [(t, np.broadcast_to(s, t.shape)) for t, s in before]
                cases["linear"].covers(order, store(added, spec), standard)
                cases["free"].covers(
                    f"{order}, summed before", store(evaluate(tree, before, m, rng), spec), standard
                )
    judge.verdict()
