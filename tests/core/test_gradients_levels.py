"""Gradients at every level: enclosures hold certified values, brackets certified bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.arithmetic.bounds import FloatBounds
from exactref_core.arithmetic.certified import CertifiedReading
from exactref_core.arithmetic.certified_bounds import CertifiedBounds
from exactref_core.arithmetic.graph import Node
from exactref_core.arithmetic.traversal import bounded
from exactref_core.exact.interval import Unsure
from exactref_core.exact.nonnegative import Unbounded
from exactref_core.registry import get_standard
from tests.every_op.levels import check_enclosures, ends, nodes_below, parts_of

F32 = np.float32
PRECISION = 1 << 9
HOSTILE = np.asarray([0.0, -0.0, 1.0, 1 + 2.0**-23, -1.0, 1e-45, 1e-40, np.inf, -np.inf, np.nan])


def real(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(F32)


def hostile(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.choice(HOSTILE, shape).astype(F32)


def near(rng: np.random.Generator, *shape: int) -> Any:
    """Exponentials a few ulps apart, of which some certainly differ."""
    x = 1 + rng.integers(0, 4, shape) * 2.0**-23 + (rng.random(shape) < 0.3)
    return er.exp(x.astype(F32))


Call = Callable[[np.random.Generator], Any]
CASES: dict[str, Call] = {
    "max": lambda r: er.backward.max(real(r, 4), hostile(r, 4, 5), axis=1),
    "max, first": lambda r: er.backward.max(real(r, 4), hostile(r, 4, 5), axis=1, ties="first"),
    "min, NaN ignored": lambda r: er.backward.min(
        real(r, 4), hostile(r, 4, 3), axis=1, nan="ignore"
    ),
    "max of a chain": lambda r: er.backward.max(real(r, 4), near(r, 4, 5), axis=1),
    "max of a chain, first": lambda r: er.backward.max(
        real(r, 4), near(r, 4, 5), axis=1, ties="first"
    ),
    "maximum": lambda r: er.backward.maximum(real(r, 20), hostile(r, 20), hostile(r, 20)),
    "maximum of chains": lambda r: er.backward.maximum(real(r, 20), near(r, 20), near(r, 20)),
    "minimum, NaN ignored": lambda r: er.backward.minimum(
        real(r, 20), hostile(r, 20), hostile(r, 20), nan="ignore"
    ),
    "clip": lambda r: er.backward.clip(real(r, 20), near(r, 20), near(r, 20), near(r, 20)),
    "vector_norm": lambda r: er.backward.vector_norm(real(r, 3), real(r, 3, 4), axis=1),
    "vector_norm, inf": lambda r: er.backward.vector_norm(
        real(r, 3), hostile(r, 3, 4), axis=1, ord=np.inf
    ),
    "vector_norm, 3": lambda r: er.backward.vector_norm(real(r, 3), real(r, 3, 4), axis=1, ord=3),
    "vector_norm, -0.5": lambda r: er.backward.vector_norm(
        real(r, 3), hostile(r, 3, 3), axis=1, ord=-0.5
    ),
    "norm of order 0.3": lambda r: er.vector_norm(hostile(r, 6, 3), axis=1, ord=0.3),
    "norm of order 3, a chain": lambda r: er.vector_norm(near(r, 4, 3), axis=1, ord=3),
    "norm of order 0": lambda r: er.vector_norm(hostile(r, 12, 3), axis=1, ord=0),
    "norm of order -3": lambda r: er.vector_norm(
        hostile(r, 6, 2) * F32(10) ** F32(r.integers(-30, 30, (6, 2))), axis=1, ord=-3
    ),
    "pow": lambda r: er.pow(hostile(r, 20), hostile(r, 20)),
    "pow of chains": lambda r: er.pow(near(r, 12), er.log(near(r, 12))),
    "relu": lambda r: er.backward.relu(hostile(r, 20), hostile(r, 20)),
    "elu": lambda r: er.backward.elu(hostile(r, 20), hostile(r, 20), 2.0),
    "acosh": lambda r: er.backward.acosh(hostile(r, 20), hostile(r, 20)),
    "abs": lambda r: er.backward.abs(hostile(r, 20), hostile(r, 20)),
    "hypot": lambda r: er.backward.hypot(hostile(r, 20), hostile(r, 20), hostile(r, 20)),
    "logaddexp": lambda r: er.backward.logaddexp(real(r, 20), 3 * real(r, 20), 30 * real(r, 20)),
    "std": lambda r: er.backward.std(real(r, 3), real(r, 3, 2), axis=1),
    "softmax": lambda r: er.backward.softmax(real(r, 3, 4), (1e38 * real(r, 3, 4)).astype(F32)),
    "prod": lambda r: er.backward.prod(real(r, 3), real(r, 3, 4), axis=1),
    "cumulative_prod": lambda r: er.backward.cumulative_prod(real(r, 2, 4), real(r, 2, 4), axis=1),
    "nll_loss": lambda r: er.backward.nll_loss(
        F32(0.3), real(r, 4, 3), np.asarray([0, 2, -100, 1]), np.abs(real(r, 3))
    ),
    "group_norm": lambda r: er.backward.group_norm(real(r, 1, 4, 2), real(r, 1, 4, 2), 2),
    "einsum": lambda r: er.backward.einsum(
        real(r, 2), "iij,kj->i", real(r, 2, 2, 3), real(r, 4, 1)
    ),
    "addmm": lambda r: er.backward.addmm(
        real(r, 2, 2), real(r, 2), real(r, 2, 3), real(r, 3, 2), 0.5, 3.0
    ),
}


def results(case: str) -> Iterator[Any]:
    rng = np.random.default_rng([*map(ord, case)])
    for _ in range(3):
        found = CASES[case](rng)
        yield from (found[key] if len(found.outputs) > 1 else found for key in found.outputs)


@pytest.mark.parametrize("case", CASES)
def test_enclosures_hold(case: str) -> None:
    rng, known = np.random.default_rng(1), 0
    for result in results(case):
        for part in parts_of(result):
            reading = CertifiedReading(PRECISION)
            for node in nodes_below(part.source):
                places = np.sort(rng.permutation(node.size)[:12])
                known += check_enclosures(part, node, places, reading)
    assert known > 20


def stored(start: Node) -> Iterator[Node]:
    """What implementations store on the way, each once; definitions are left out."""
    seen: set[int] = set()
    waiting = [start]
    while waiting:
        node = waiting.pop()
        if id(node) in seen or node.verb in ("load", "constant"):
            continue
        seen.add(id(node))
        waiting += bounded(node)
        yield node


def certified(reading: CertifiedBounds, node: Node, flat: int) -> Any:
    """One element's bound; None where no precision or no bound tells it."""
    try:
        return reading.bound(node, flat)
    except (Unsure, Unbounded):
        return None


@pytest.mark.parametrize("flush", [False, True])
@pytest.mark.parametrize("standard", ["normal", "any_order"])
@pytest.mark.parametrize("case", CASES)
def test_brackets_hold_certified_bounds(case: str, standard: str, flush: bool) -> None:
    rng, judged = np.random.default_rng(2), 0
    for result in results(case):
        for part in parts_of(result):
            exact = CertifiedReading(PRECISION)
            slow = CertifiedBounds(exact, get_standard(standard), flush)
            fast = FloatBounds(part.levels[1], get_standard(standard), flush, True)
            for node in stored(part.source):
                whole = fast.whole(node)
                for flat in np.sort(rng.permutation(node.size)[:6]).tolist():
                    judged += agree(node, whole, certified(slow, node, flat), flat, exact)
    assert judged > 20


def agree(node: Node, whole: Any, bound: Any, flat: int, exact: CertifiedReading) -> bool:
    """Check that a bracket holds a certified bound, and that the sets are the same."""
    if bound is None:
        return False
    shape = (node.size,)

    def at(part: Any, default: Any) -> Any:
        full = np.broadcast_to(default if part is None else part, node.shape or (1,))
        return full.reshape(shape)[flat]

    low, high = float(at(whole.error.low, 0)), float(at(whole.error.high, 0))
    least, most = ends(bound.error, exact)
    label = (node.verb, flat, low, high, float(least), float(most))
    assert Fraction(low) * (1 - Fraction(1, 2**40)) <= most, label
    assert high == np.inf or least <= Fraction(high), label
    if not at(whole.unsure, False):
        assert int(at(whole.states, 1)) == bound.states, (label, bound.states)
    return True
