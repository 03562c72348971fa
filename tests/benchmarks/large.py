"""What references of large products and of long attention rows cost, from sizes that fit a desk.

``python -m tests.benchmarks.large`` prints CPU time and memory of one block of each, at growing
depth, the last of which is the size that docs/how-to/large-references.md tells of.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import exactref as er

SIDE = 256  # rows and columns of a block of a product
QUERIES, FEATURES = 8, 128
DEPTHS = (1024, 2048, 4096, 8192)
KEYS = (8192, 32768, 131072)


def products() -> Iterator[tuple[str, int, Callable[[], Any], Any]]:
    """Blocks of bfloat16 matrix products and what float32 accumulators make of them."""
    rng = np.random.default_rng(0)
    for depth in DEPTHS:
        shapes = (SIDE, depth), (depth, SIDE)
        given = (rng.standard_normal(shape).astype(np.float32) for shape in shapes)
        a, b = (er.astype(x, "bfloat16").rounded for x in given)
        kernel = a.values().astype(np.float32) @ b.values().astype(np.float32)
        output = er.astype(kernel, "bfloat16").rounded
        yield "matmul", SIDE * SIDE * depth, lambda a=a, b=b: er.matmul(a, b), output  # type: ignore[misc]


def rows() -> Iterator[tuple[str, int, Callable[[], Any], Any]]:
    """Some queries of float32 attention, against ever more keys."""
    rng = np.random.default_rng(0)
    for keys in KEYS:
        q = rng.standard_normal((QUERIES, FEATURES)).astype(np.float32)
        k, v = (rng.standard_normal((keys, FEATURES)).astype(np.float32) for _ in range(2))
        s = q @ k.T / np.float32(FEATURES**0.5)
        p = np.exp(s - s.max(axis=-1, keepdims=True))
        output = (p @ v) / p.sum(axis=-1, keepdims=True)

        def call(q: Any = q, k: Any = k, v: Any = v) -> Any:
            return er.scaled_dot_product_attention(q, k, v)["output"]

        yield "attention", 2 * QUERIES * keys * FEATURES, call, output


QUESTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "rounded": lambda result, _: result.rounded,
    "covers, any_order": lambda result, output: result.covers(output, "any_order").all(),
    "covers, normal": lambda result, output: result.covers(output).all(),
    "tolerance, normal": lambda result, _: result.tolerance(),
}


def measured(
    ask: Callable[[Any, Any], Any], call: Callable[[], Any], output: Any
) -> tuple[float, float]:
    """Return the seconds of one question, and the peak of its memory in MB."""
    ask(call(), output)
    start = time.process_time()
    ask(call(), output)
    seconds = time.process_time() - start
    tracemalloc.start()
    ask(call(), output)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return seconds, peak


def main() -> None:
    """Print a table of every question and size."""
    print("| block | multiply-adds | question | s | ns each | MB |")
    print("| --- | --- | --- | --- | --- | --- |")
    for case in (products, rows):
        for name, work, call, output in case():
            for question, ask in QUESTIONS.items():
                seconds, peak = measured(ask, call, output)
                cost = f"{seconds:.2g} | {seconds / work * 1e9:.2g} | {peak:.0f}"
                print(f"| {name} | {work:.2g} | {question} | {cost} |", flush=True)


if __name__ == "__main__":
    main()
