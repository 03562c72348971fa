"""Attention inputs where kernels and bounds break: overflow, ties, masks, cancellation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import exactref as er
from tests.core.softmax_cases import THOROUGH

F32 = np.float32
KINDS = (
    "normal", "steep", "ties", "big dots", "cancelling values", "near overflow", "subnormal values",
    "subnormal keys", "rising", "falling", "far apart", "infinite mask", "lowest mask", "bool mask",
    "causal", "flat", "huge scores",
)  # fmt: skip
LENGTHS = (1, 2, 5, 31, 32, 33, 63, 64, 65, 97, 130, *((257, 300) if THOROUGH else ()))


@dataclass(frozen=True, eq=False)
class Hostile:
    """Float32 arrays of one head: q (l, e), k (s, e), v (s, d), what is kept, added, the scale."""

    kind: str
    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    keep: np.ndarray
    bias: np.ndarray | None
    scale: float
    params: dict[str, Any]
    form: str
    cap: float = 0.0

    @property
    def tensors(self) -> list[er.Array]:
        return [er.asarray(x, self.form) for x in (self.q, self.k, self.v)]

    def call(self, **more: Any) -> er.Result:
        return er.scaled_dot_product_attention(*self.tensors, **self.params, **more)


def hostile(rng: np.random.Generator, kind: str, form: str = "float32") -> Hostile:
    """One case of a kind, with values that the format holds."""
    n, queries = int(rng.choice(LENGTHS)), int(rng.integers(1, 4))
    if kind in ("near overflow", "far apart"):
        n = min(n, 65 if THOROUGH else 33)  # their flags are decided one by one
    e, d = int(rng.choice([1, 3, 8, 32])), int(rng.integers(1, 4))
    q, k, v = (rng.standard_normal(s) for s in ((queries, e), (n, e), (n, d)))
    if kind == "steep":
        q *= 20
    elif kind == "ties":
        k = np.rint(k[rng.integers(0, min(n, 3), n)])
        q = np.rint(q * 2)
    elif kind == "big dots":
        q[:, e // 2 :] *= 100
        k[:, 0] += 200 * rng.standard_normal()
    elif kind == "cancelling values":
        v = v + 1e4 * np.where(np.arange(n) % 2 == 0, 1, -1)[:, None]
    elif kind == "near overflow":
        v = 3.3e38 * np.where(rng.random(v.shape) < 0.5, 1, rng.random(v.shape))
        v *= np.where(rng.random(v.shape) < 0.2, -1, 1)
    elif kind == "subnormal values":
        v *= 2.0 ** rng.integers(-149, -120)
    elif kind == "subnormal keys":
        k, q = k * 2.0**-130, q * 2.0 ** rng.integers(0, 126)
    elif kind in ("rising", "falling"):
        q, k = np.abs(q), np.linspace(0, 9, n)[:, None] + np.abs(k) * 0.1
        k = k[::-1].copy() if kind == "falling" else k
    elif kind == "far apart":
        k = k * 0 - rng.choice([0.0, 60.0, 90.0, 100.0, 110.0, 200.0], (n, 1))
        q = np.ones_like(q)
        v = v * 2.0 ** rng.integers(-20, 127, v.shape).astype(float)
    elif kind == "flat":
        q *= 1e-4
    elif kind == "huge scores":
        q, k = q * 1e4, k * 10.0 ** rng.integers(2, 12)
    arrays = [held(x, form) for x in (q, k, v)]
    keep, bias, params = masks(rng, kind, queries, n)
    scale = 1 / np.sqrt(e)
    if rng.random() < 0.3 or kind == "far apart":
        scale = 1.0 if kind == "far apart" else float(rng.choice([1.0, 0.3, -0.5]))
        params["scale"] = scale
    return Hostile(kind, *arrays, keep, bias, scale, params, form)


def held(x: np.ndarray, form: str) -> np.ndarray:
    """Numbers that the format holds, as float32."""
    limit = 65504.0 if form == "float16" else 3.38e38
    return er.asarray(np.clip(x, -limit, limit).tolist(), form).values().astype(F32)


def masks(
    rng: np.random.Generator, kind: str, queries: int, n: int
) -> tuple[np.ndarray, np.ndarray | None, dict[str, Any]]:
    """What is kept, what is added, and the parameters that say so."""
    keep = np.ones((queries, n), bool)
    if kind == "causal":
        return np.tri(queries, n, dtype=bool), None, {"is_causal": True}
    if kind == "bool mask":
        keep = rng.random((queries, n)) < 0.6
        return keep, None, {"attn_mask": keep}
    if kind == "infinite mask":
        bias = np.where(rng.random((queries, n)) < 0.4, -np.inf, rng.standard_normal((queries, n)))
        bias = bias.astype(F32)
        return bias > -np.inf, bias, {"attn_mask": bias}
    if kind == "lowest mask":
        bias = np.where(rng.random((queries, n)) < 0.4, np.finfo(F32).min, F32(0)).astype(F32)
        return keep, bias, {"attn_mask": bias}
    return keep, None, {}
