"""Simulated sums and dot products: trees over the terms, evaluated for many rows at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.every_op.kernels import Machine

# A tree over terms: the index of a term, or two trees that one addition joins.
Tree = Any
Terms = list[Any]  # a column of values, or a pair of columns that are still to be multiplied


def chain(parts: list[Tree]) -> Tree:
    """The parts added one after the other, from the left."""
    tree = parts[0]
    for part in parts[1:]:
        tree = (tree, part)
    return tree


def halves(parts: list[Tree]) -> Tree:
    """Recursive halving."""
    if len(parts) == 1:
        return parts[0]
    middle = (len(parts) + 1) // 2
    return halves(parts[:middle]), halves(parts[middle:])


def neighbours(parts: list[Tree]) -> Tree:
    """Neighbours joined level by level, a part without one moving up."""
    while len(parts) > 1:
        joined = [tuple(parts[i : i + 2]) for i in range(0, len(parts) - 1, 2)]
        parts = joined + parts[len(joined) * 2 :]
    return parts[0]


def strides(parts: list[Tree]) -> Tree:
    """Part i joined with part i + half, as thread blocks reduce."""
    while len(parts) > 1:
        half = (len(parts) + 1) // 2
        parts = [
            (part, parts[i + half]) if i + half < len(parts) else part
            for i, part in enumerate(parts[:half])
        ]
    return parts[0]


def blocks(n: int, size: int, merge: Callable[[list[Tree]], Tree]) -> Tree:
    """Index-order blocks, merged."""
    return merge([chain(list(range(i, min(i + size, n)))) for i in range(0, n, size)])


def lanes(n: int, width: int, merge: Callable[[list[Tree]], Tree]) -> Tree:
    """Strided accumulators, merged."""
    return merge([chain(list(range(i, n, width))) for i in range(min(width, n))])


def random_tree(rng: np.random.Generator, n: int) -> Tree:
    """Random joins: of any two parts (bushy), or of one of the last parts made (deep)."""
    parts: list[Tree] = list(rng.permutation(n).tolist())
    deep = rng.random() < 0.5
    while len(parts) > 1:
        first = parts.pop() if deep else parts.pop(int(rng.integers(len(parts))))
        second = parts.pop(int(rng.integers(len(parts))))
        parts.append((first, second) if rng.random() < 0.5 else (second, first))
    return parts[0]


def normal_orders(n: int) -> Iterator[tuple[str, Tree]]:
    """The orders that the standard "normal" admits by definition."""
    yield "loop", chain(list(range(n)))
    if n > 32:
        for merge in (halves, neighbours, strides):
            yield f"blocks of 32, {merge.__name__}", blocks(n, 32, merge)


def any_orders(rng: np.random.Generator, n: int, count: int) -> Iterator[tuple[str, Tree]]:
    """Orders that only "any_order" admits: reversed, pairwise, lanes, split-K, random."""
    yield "reversed", chain(list(range(n - 1, -1, -1)))
    yield "pairwise", halves(list(range(n)))
    width = int(rng.choice([2, 4, 8, 16]))
    yield f"{width} lanes", lanes(n, width, chain)
    yield f"{width} lanes, tree", lanes(n, width, neighbours)
    yield "split-K", blocks(n, max(1, -(-n // int(rng.integers(2, 5)))), chain)
    for i in range(count):
        yield f"random tree {i}", random_tree(rng, n)


def evaluate(
    tree: Tree, terms: Terms, machine: Machine, fused: bool | np.random.Generator = False
) -> np.ndarray:
    """The value of a tree. A product that is added may be fused: always, or at random."""
    with np.errstate(all="ignore"):
        return value_of(tree, terms, machine, fused)


def value_of(tree: Tree, terms: Terms, machine: Machine, fused: Any) -> np.ndarray:
    done: list[np.ndarray] = []
    work: list[Tree] = [tree]
    while work:  # an explicit stack, as loops are trees as deep as they are long
        item = work.pop()
        if item is None:
            right, left = done.pop(), done.pop()
            done.append(machine.add(left, right))
        elif isinstance(item, dict):
            a, b = terms[item["leaf"]]
            done.append(machine.fma(a, b, done.pop()))
        elif not isinstance(item, tuple):
            term = terms[item]
            done.append(machine.multiply(*term) if isinstance(term, tuple) else term)
        else:
            work.extend(steps(item, terms, fused))
    return done.pop()


def steps(pair: tuple[Tree, Tree], terms: Terms, fused: Any) -> list[Tree]:
    """What an addition pushes: both parts and the join, or one part and a fused step."""
    for leaf, other in (pair[::-1], pair):
        product = not isinstance(leaf, tuple) and isinstance(terms[leaf], tuple)
        if product and (fused is True or (fused is not False and fused.random() < 0.5)):
            return [{"leaf": leaf}, other]
    return [None, pair[1], pair[0]]


def columns(values: np.ndarray) -> list[np.ndarray]:
    """The terms of rows, one column a term."""
    return [values[..., i] for i in range(values.shape[-1])]


def shuffled(rng: np.random.Generator, *rows: np.ndarray) -> list[np.ndarray]:
    """The same random permutation of each row's terms in every array."""
    order = rng.permuted(np.tile(np.arange(rows[0].shape[-1]), (rows[0].shape[0], 1)), axis=-1)
    return [np.take_along_axis(x, order, -1) for x in rows]
