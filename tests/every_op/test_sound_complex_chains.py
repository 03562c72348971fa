"""Soundness of complex chains, and of complex dot products in narrow formats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import exactref as er
from tests.every_op import kernels_complex as kc
from tests.every_op.kernels import Machine, NarrowMachine
from tests.every_op.kernels_formats import SPECS, Spec, store
from tests.every_op.kernels_judging import COUNTS, Judge, budget, some
from tests.every_op.kernels_orders import Tree, any_orders, columns, evaluate, normal_orders
from tests.every_op.kernels_tiny import allowed, narrow, ranges
from tests.every_op.kernels_values import COMMON, hostile
from tests.every_op.test_sound_complex import FORMATS, dots, simulated, whole
from tests.every_op.test_sound_narrow import drawn

KINDS = [kind.__name__ for kind in COMMON]
STEPS = ("add", "subtract", "multiply", "divide", "abs", "sqrt")
SIZES = [(3, -4, 4), (6, -20, 20)]


def total(m: Machine, spec: Spec, tree: Tree, parts: list[np.ndarray]) -> kc.Parts:
    """A complex sum, stored, in the compute format."""
    sums = [store(evaluate(tree, columns(m.load(part)), m), spec) for part in parts]
    return m.load(sums[0]), m.load(sums[1])


@pytest.mark.parametrize("op", STEPS)
@pytest.mark.parametrize("name", FORMATS)
def test_a_step_on_sums(name: str, op: str) -> None:
    rng = np.random.default_rng([40, list(FORMATS).index(name), STEPS.index(op)])
    judge, spec = Judge(), SPECS[FORMATS[name]]
    m = Machine(spec.name)
    output = spec.name if op == "abs" else name
    for kind in some(rng, KINDS, 4):
        for n in some(rng, (1, 2, 5, 33), 2):
            shape = (budget(4, 20), n)
            x, y = ([hostile(rng, kind, shape, spec) for _ in range(2)] for _ in range(2))
            inputs = [whole(*x), whole(*y)][: 1 if op in ("abs", "sqrt") else 2]
            sums = [er.sum(er.asarray(z, name), axis=1) for z in inputs]
            result: Any = getattr(er, op)(*sums)
            case = judge.take(result, output, f"{op} of sums", tuple(inputs))
            for standard, orders in (
                ("normal", normal_orders(n)),
                ("any_order", any_orders(rng, n, 1)),
            ):
                for order, tree in orders:
                    a, b = total(m, spec, tree, x), total(m, spec, tree, y)
                    for label, found in simulated(op, m, a, b, spec):
                        if isinstance(found, tuple):
                            found = whole(*(store(part, spec) for part in found))
                        case.covers(f"{order}, {label}", np.asarray(found), standard)
    judge.verdict()


@pytest.mark.parametrize("kind", ["all", "moderate", "large", "small"])
@pytest.mark.parametrize("size", SIZES)
def test_dots_in_narrow_formats(size: tuple[int, int, int], kind: str) -> None:
    form, spec = narrow(*size)
    rng = np.random.default_rng([41, SIZES.index(size), len(kind)])
    m = NarrowMachine(spec)
    for n in some(rng, (1, 2, 3, 17, 33), 3):
        shape = (budget(10, 60), n)
        x = [drawn(rng, shape, spec, kind) for _ in range(2)]
        y = [drawn(rng, shape, spec, "moderate") for _ in range(2)]
        if kind == "large":
            sparse = rng.random(shape) < 0.5
            x = [np.where(sparse, 0.0, part) for part in x]
        left, right = ((p[:, None, :], q[:, None, :]) for p, q in (x, y))
        right = tuple(part.transpose(0, 2, 1) for part in right)
        found = {
            standard: ranges("matmul", left, right, standard=standard, form=form)
            for standard in ("normal", "any_order")
        }
        COUNTS["cases"] += shape[0]
        for standard, label, parts in dots(rng, m, x, y, n):
            for part, r in zip(parts, found[standard], strict=True):
                values = store(part, spec)
                ok = allowed(r, values)
                COUNTS["outputs"] += ok.size
                assert ok.all(), (label, np.flatnonzero(~ok), values[~ok], x, y)
