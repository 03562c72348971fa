"""NumPy's and torch's own kernels on hostile data: inside any_order, but for documented findings.

What docs/findings.md lists is left out here, or judged with flush_to_zero where that
covers it: sums of float16 columns and einsum of float16 products in NumPy, torch's vecdot of 16-bit
inputs, its bfloat16 matmul (subnormal inputs, odd inner axes), and complex quotients whose divisor
has a reciprocal beyond the range.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import exactref as er
from tests.every_op.kernels_formats import SPECS
from tests.every_op.kernels_judging import COUNTS, budget, some
from tests.every_op.kernels_values import KINDS, hostile, is_slow
from tests.every_op.test_sound_complex import FORMATS as COMPLEX
from tests.every_op.test_sound_complex import parts, whole
from tests.every_op.test_sound_products import operands

NUMPY = ("float32", "float64", "float16")
TORCH = ("float32", "float64", "bfloat16", "float16")
LENGTHS = (1, 2, 3, 7, 16, 31, 33, 64, 100)


def draws(rng: np.random.Generator, kind: str) -> Iterator[tuple[int, int]]:
    for n in some(rng, LENGTHS, 3):
        yield (2 if is_slow(kind) and n > 40 else budget(3, 12)), n


def check(label: str, output: Any, result: Any, inputs: tuple[np.ndarray, ...]) -> None:
    COUNTS["outputs"] += int(np.prod(result.shape))
    found = np.asarray(result.covers(output, "any_order").data)
    where = np.argwhere(~found).tolist()
    assert not where, (label, where[0], [x[where[0][0]].tolist() for x in inputs])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NUMPY)
def test_numpy(name: str, kind: str) -> None:
    rng = np.random.default_rng([30, NUMPY.index(name), KINDS.index(kind)])
    spec = SPECS[name]
    for rows, n in draws(rng, kind):
        x = hostile(rng, kind, (rows, n), spec).astype(name)
        total, mean = er.sum(x, axis=1), er.mean(x, axis=1)
        p, q = (v.astype(name) for v in operands(rng, kind, (rows, n), spec))
        dots = er.matmul(p[:, None, :], q[:, :, None]).reshape((rows,))
        matrix = er.matmul(p, np.ascontiguousarray(q.T))
        with np.errstate(all="ignore"):
            check("np.sum", x.sum(1), total, (x,))
            check("np.mean", x.mean(1), mean, (x,))
            check("np.einsum, sum", np.einsum("ij->i", x), total, (x,))
            check("np.matmul, rows", (p[:, None] @ q[:, :, None]).reshape(rows), dots, (p, q))
            check("np.matmul", p @ q.T, matrix, (p,))
            check("np.einsum, dots", np.einsum("ij,ij->i", p, q), dots, (p, q))
            if name != "float16":
                check("np.sum, columns", np.ascontiguousarray(x.T).sum(0), total, (x,))
                check("np.einsum, matmul", np.einsum("ik,jk->ij", p, q), matrix, (p,))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", TORCH)
def test_torch(name: str, kind: str) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng([31, TORCH.index(name), KINDS.index(kind)])
    spec = SPECS[name]

    def tensor(values: np.ndarray) -> Any:
        # float64 to float32 to a 16-bit format: exact for values of that format.
        return (
            torch.from_numpy(values)
            .to(torch.float32 if name != "float64" else torch.float64)
            .to(getattr(torch, name))
        )

    for rows, n in draws(rng, kind):
        x = hostile(rng, kind, (rows, n), spec)
        t, total = tensor(x), er.sum(er.asarray(x, name), axis=1)
        check("torch.sum", t.sum(1), total, (x,))
        check("torch.sum, columns", t.t().contiguous().sum(0), total, (x,))
        check("torch.einsum, sum", torch.einsum("ij->i", t), total, (x,))
        check("torch.mean", t.mean(1), er.mean(er.asarray(x, name), axis=1), (x,))
        p, q = operands(rng, kind, (rows, n), spec)
        a, b = tensor(p), tensor(q)
        left, right = (er.asarray(v, name) for v in (p[:, None, :], q[:, :, None]))
        dots = er.matmul(left, right).reshape((rows,))
        check("torch.bmm", torch.bmm(a[:, None], b[:, :, None]).reshape(rows), dots, (p, q))
        check(
            "torch.dot", torch.stack([torch.dot(*v) for v in zip(a, b, strict=True)]), dots, (p, q)
        )
        check("torch.einsum, dots", torch.einsum("ij,ij->i", a, b), dots, (p, q))
        if name != "bfloat16":
            matrix = er.matmul(er.asarray(p, name), er.asarray(np.ascontiguousarray(q.T), name))
            check("torch.matmul", a @ b.t(), matrix, (p,))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", COMPLEX)
def test_complex_kernels(name: str, kind: str) -> None:
    rng = np.random.default_rng([32, list(COMPLEX).index(name), KINDS.index(kind)])
    torch = pytest.importorskip("torch") if kind != "special" else None
    spec = SPECS[COMPLEX[name]]
    a, b = parts(rng, kind, budget(60, 400), spec), parts(rng, kind, budget(60, 400), spec)
    z, w = (whole(*pair).astype(name) for pair in (a, b))
    with np.errstate(all="ignore"):
        for op in ("add", "subtract", "multiply", "divide"):
            y = np.where(np.abs(w) < 8 * spec.tiny, w.dtype.type(1), w) if op == "divide" else w
            result = getattr(er, op)(z, y)
            check(f"np.{op}", getattr(np, op)(z, y), result, (z, y))
            if torch:
                p, q = z, y
                if op in ("add", "subtract"):
                    # Its sums multiply by alpha=1 first, which loses infinities.
                    some = np.isfinite(z) & np.isfinite(y)
                    p, q = z[some], y[some]
                output = getattr(torch, op)(torch.from_numpy(p.copy()), torch.from_numpy(q.copy()))
                check(f"torch.{op}", output, getattr(er, op)(p, q), (p, q))
        for op in ("sqrt", "abs"):
            check(f"np.{op}", getattr(np, op)(z), getattr(er, op)(z), (z,))
            if torch:
                check(
                    f"torch.{op}", getattr(torch, op)(torch.from_numpy(z)), getattr(er, op)(z), (z,)
                )
