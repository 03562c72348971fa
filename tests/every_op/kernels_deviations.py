"""Simulated variances: two passes in any orders, Welford's loop, merges of subsets in any tree."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.every_op.kernels import Machine
from tests.every_op.kernels_orders import Tree, evaluate

Columns = list[np.ndarray]
State = tuple[int, np.ndarray, np.ndarray]


def number(m: Machine, value: float) -> np.ndarray:
    return m.load(np.asarray(float(value)))


def two_passes(
    m: Machine, x: Columns, first: Tree, second: Tree, fused: bool, reciprocal: bool = False
) -> np.ndarray:
    """The sum of squared deviations from a stored mean."""
    n = number(m, len(x))
    total = evaluate(first, list(x), m)
    mean = m.multiply(total, m.divide(number(m, 1), n)) if reciprocal else m.divide(total, n)
    deviations = [m.subtract(column, mean) for column in x]
    return evaluate(second, [(d, d) for d in deviations], m, fused)


def welford(m: Machine, x: Columns, factored: bool, reciprocal: bool) -> np.ndarray:
    """One element at a time: (x - m_(k-1)) (x - m_k), or d^2 (k-1)/k."""
    mean, total = x[0], m.subtract(x[0], x[0])
    for k, column in enumerate(x[1:], start=2):
        d = m.subtract(column, mean)
        part = m.divide(number(m, 1), number(m, k)) if reciprocal else None
        step = m.divide(d, number(m, k)) if part is None else m.multiply(d, part)
        mean = m.add(mean, step)
        if factored:
            term = m.multiply(d, m.subtract(column, mean))
        else:
            ratio = m.divide(number(m, k - 1), number(m, k))
            term = m.multiply(m.multiply(d, d), ratio)
        total = m.add(total, term)
    return total


def merged(m: Machine, x: Columns, tree: Tree, weighted: bool) -> np.ndarray:
    """Subsets joined as a tree says; the one that is added to is no less than half the other."""
    done: list[State] = []
    work: list[Tree] = [tree]
    while work:
        item = work.pop()
        if item is None:
            b, a = done.pop(), done.pop()
            done.append(join(m, *(b, a) if b[0] > 2 * a[0] else (a, b), weighted))
        elif isinstance(item, tuple):
            work += [None, item[1], item[0]]
        else:
            done.append((1, x[item], m.subtract(x[item], x[item])))
    return done[0][2]


def join(m: Machine, a: State, b: State, weighted: bool) -> State:
    n = a[0] + b[0]
    d = m.subtract(b[1], a[1])
    if weighted:
        sides = (m.multiply(number(m, k), mean) for k, mean, _ in (a, b))
        mean = m.divide(m.add(*sides), number(m, n))
    else:
        mean = m.add(a[1], m.multiply(d, m.divide(number(m, b[0]), number(m, n))))
    factor = m.divide(number(m, a[0] * b[0]), number(m, n))
    return n, mean, m.add(m.add(a[2], b[2]), m.multiply(m.multiply(d, d), factor))


def normal_kernels(
    m: Machine, x: Columns, orders: list[tuple[str, Tree]]
) -> Iterator[tuple[str, np.ndarray]]:
    for name, tree in orders:
        for fused in (False, True):
            yield f"two passes, {name}, fused {fused}", two_passes(m, x, tree, tree, fused, fused)
    for factored in (False, True):
        yield f"Welford, factored {factored}", welford(m, x, factored, not factored)


def any_kernels(
    m: Machine, x: Columns, orders: list[tuple[str, Tree]]
) -> Iterator[tuple[str, np.ndarray]]:
    yield from normal_kernels(m, x, orders)
    for (name, tree), (_, other) in zip(orders, orders[::-1], strict=True):
        yield f"two passes, {name}, another", two_passes(m, x, tree, other, True)
        for weighted in (False, True):
            yield f"merged, {name}, weighted {weighted}", merged(m, x, tree, weighted)
