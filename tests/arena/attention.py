"""Attention of one head: whole rows, online by key and by block, and the faults of flash kernels.

The right kernels are those of `tests.core.softmax_kernels`; the broken ones are a flash kernel in
blocks of 16 keys with one line changed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.arena.data import drawn
from tests.arena.frame import Bench, Family, Fault, Rng, Values, fault, right, with_stores
from tests.arena.library import TORCH, kernel
from tests.core import softmax_kernels as core
from tests.every_op.kernels_formats import SPECS, Spec, store

Run = Callable[..., Values]
E, D, QUERIES = 8, 4, 4
F32 = np.float32


def heads(causal: bool) -> Callable[..., tuple[Values, ...]]:
    def make(rng: Rng, kind: str, count: int, size: int, spec: Spec) -> tuple[Values, ...]:
        queries = size if causal else min(count, QUERIES)
        return drawn(rng, kind, spec, (queries, E), (size, E), (size, D), terms=E)

    return make


def case(q: Values, k: Values, v: Values, causal: bool) -> Any:
    shape = (q.shape[0], k.shape[0])
    keep = np.tri(*shape, dtype=bool) if causal else np.ones(shape, bool)
    scale = 1 / math.sqrt(q.shape[-1])
    return SimpleNamespace(q=q, k=k, v=v, keep=keep, bias=None, cap=None, scale=scale)


def each_head(run: Run) -> Run:
    """A kernel of one head over leading axes."""

    def over(b: Bench, q: Values, k: Values, v: Values) -> Values:
        lead = np.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
        q, k, v = (np.broadcast_to(x, (*lead, *x.shape[-2:])) for x in (q, k, v))
        found = np.zeros((*lead, q.shape[-2], v.shape[-1]), b.m.dtype)
        for index in np.ndindex(*lead):
            found[index] = run(b, q[index], k[index], v[index])
        return found

    return over


def known(causal: bool, **options: Any) -> Run:
    def run(b: Bench, q: Values, k: Values, v: Values) -> Values:
        found: Values = core.Kernel(**options).run(core.Machine(), case(q, k, v, causal))[0]
        return found

    return each_head(run)


NORMAL: dict[str, dict[str, Any]] = {
    "whole rows": {},
    "scale by division, reciprocal": {"scaling": "divide", "divide": "late reciprocal"},
    "weights divided": {"divide": "early"},
    "weights times a reciprocal, blocks": {
        "divide": "early reciprocal", "order": core.block_order, "features": core.block_order,
    },
    "online, blocks of 32": {"block": 32},
    "online, blocks of 64, base 2": {"block": 64, "scaling": "exp2", "divide": "late reciprocal"},
    "base 2, blocks": {"scaling": "exp2", "order": core.block_order},
}  # fmt: skip
FREE: dict[str, dict[str, Any]] = {
    "online, key by key": {"block": 1},
    "online, key by key, base 2": {"block": 1, "scaling": "exp2", "divide": "late reciprocal"},
    "online, blocks of 8": {"block": 8},
    "scaled queries, lanes": {"scaling": "query", "features": core.lanes, "order": core.lanes},
    "scaled queries and keys": {"scaling": "both"},
    "scaled queries, blocks of 16": {"block": 16, "scaling": "query", "order": core.lanes},
}


def torch_math(b: Bench, q: Values, k: Values, v: Values) -> Values:
    """torch's own, step by step. (With a mask it adds -inf, which leaves NaN where it was.)"""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    given = [torch.from_numpy(np.array(x, b.spec.name))[None, None] for x in (q, k, v)]
    with sdpa_kernel(SDPBackend.MATH):
        found = torch.nn.functional.scaled_dot_product_attention(*given)
    return np.asarray(found[0, 0].double().numpy())


# -- what is broken ------------------------------------------------------------------------------


def narrow(x: Values, name: str = "bfloat16") -> Values:
    return store(x.astype(np.float64), SPECS[name]).astype(x.dtype)


def flash(what: str, causal: bool) -> Run:
    """Blocks of 16 keys, with the fault that ``what`` names."""

    def run(b: Bench, q: Values, k: Values, v: Values) -> Values:
        scores = scored(what, causal, q, k)
        top = np.full(len(q), -np.inf, F32)
        total, mean = np.zeros(len(q), F32), np.zeros((len(q), v.shape[-1]), F32)
        for start in range(0, len(k), 16):
            part = slice(start, start + 16)
            new = np.maximum(top, scores[:, part].max(axis=-1))
            safe = np.where(new == -np.inf, F32(0), new)
            p = np.exp(scores[:, part] - safe[:, None])
            moved = np.exp(top - safe) if start else np.ones_like(top)
            if what == "maximum of the last block kept" and start:
                moved = np.ones_like(moved)
            added = p.sum(axis=-1, dtype=F32)
            if what == "weights in a narrower format":
                p = narrow(p)
            total = total * moved + added
            if what == "sum in a narrower format":
                total = narrow(total)
            mean = p @ v[part] + (mean if what == "mean not rescaled" else mean * moved[:, None])
            top = new
        return finished(what, total, mean, v)

    return each_head(run)


def scored(what: str, causal: bool, q: Values, k: Values) -> Values:
    """Scaled and masked scores, with the fault, if it is one of theirs."""
    scale = {"scale missing": 1.0, "scale 1 / E": 1 / q.shape[-1]}.get(
        what, 1 / math.sqrt(q.shape[-1])
    )
    scores = (q @ k.T).astype(F32) * F32(scale)
    offset = {"mask one late": 1, "mask one early": -1}.get(what, 0)
    if causal:
        scores = np.where(np.tri(*scores.shape, offset, dtype=bool), scores, F32(-np.inf))
    place = scores.shape[-1] // 2
    if what == "key dropped" and scores.shape[-1] > 1:
        scores[:, place] = -np.inf
    if what == "key counted twice":
        scores[:, place] += F32(math.log(2))
    if what == "scores in a narrower format":
        scores = narrow(scores)
    if what == "last block skipped" and scores.shape[-1] > 16:
        scores[:, (scores.shape[-1] - 1) // 16 * 16 :] = -np.inf
    if what == "padding counted":
        short = -scores.shape[-1] % 8
        scores = np.concatenate([scores, np.zeros((len(q), short), F32)], axis=-1)
    return scores


def finished(what: str, total: Values, mean: Values, v: Values) -> Values:
    safe = np.where(total == 0, F32(1), total)[:, None]
    if what == "not normalized":
        return mean
    if what == "eps added to the sum":
        return mean / (safe + F32(1e-6))
    return np.where(total[:, None] == 0, F32(0), mean / safe)


def padded(b: Bench, q: Values, k: Values, v: Values) -> Values:
    """Keys of zeros up to a multiple of 8, not masked."""
    short = -k.shape[-2] % 8
    more = [np.concatenate([x, np.zeros_like(x[..., :1, :]).repeat(short, -2)], -2) for x in (k, v)]
    return flash("", False)(b, q, *more)


def swapped(b: Bench, q: Values, k: Values, v: Values) -> Values:
    """Keys read in the reverse order, values not."""
    return flash("", False)(b, q, k[..., ::-1, :], v)


KINDS = (
    "scale missing", "scale 1 / E", "key dropped", "key counted twice",
    "scores in a narrower format", "last block skipped", "maximum of the last block kept",
    "weights in a narrower format", "sum in a narrower format", "mean not rescaled",
    "not normalized", "eps added to the sum",
)  # fmt: skip


def broken(causal: bool) -> tuple[Fault, ...]:
    kinds = (*KINDS, "mask one late", "mask one early") if causal else KINDS
    more = () if causal else (fault("padding counted", padded), fault("keys reversed", swapped))
    stores = with_stores(known(causal), "truncating store", "NaN swallowed")
    return (*(fault(kind, flash(kind, causal)) for kind in kinds), *more, *stores)


def family(causal: bool) -> Family:
    return Family(
        group="attention",
        op="scaled_dot_product_attention",
        label="attention, causal" if causal else "attention",
        tensors=heads(causal),
        right=(
            *(right(name, known(causal, **o), "normal") for name, o in NORMAL.items()),
            *(right(name, known(causal, **o)) for name, o in FREE.items()),
            *((kernel("torch", torch_math, ("float32",)),) if TORCH and not causal else ()),
        ),
        broken=broken(causal),
        parameters={"is_causal": causal},
        output="output",
        formats=("float32", "bfloat16", "float16"),
        sizes=(1, 2, 7, 17, 33) if causal else (1, 2, 7, 33, 100, 256),
        slow=(
            "near_overflow",
            "wide_exponents",
            "subnormal",
            "cancellation",
            "ties",
            "signed_zeros",
            "infinities_and_nan",
        ),
        few=33,
        most=QUERIES,
        own=known(causal),
    )


FAMILIES = (family(False), family(True))
