"""Planted faults of softmax and attention kernels are outside under ``normal`` on random inputs."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

import exactref as er

F32 = np.float32
Kernel = Callable[..., tuple[np.ndarray, np.ndarray]]
SEEDS = range(5)
L, N, E, D = 16, 48, 16, 4


def attention(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    fault: str = "",
) -> tuple[np.ndarray, np.ndarray]:
    """Causal attention (aligned at the end) in blocks of 16 keys, in float32, with a fault."""
    scale = F32(1) if fault == "missing scale" else F32(1 / np.sqrt(E))
    s = np.einsum("ie,je->ij", q, k).astype(F32) * scale
    offset = N - L + {"mask one late": 1, "mask one early": -1}.get(fault, 0)
    s = np.where(np.tri(L, N, offset, dtype=bool), s, F32(-np.inf))
    if fault == "a dropped key":
        s[:, 7] = -np.inf
    if fault == "a doubled key":
        s[:, 7] += F32(np.log(2))
    if fault == "scores in bfloat16":
        s = s.astype(ml_dtypes.bfloat16).astype(F32)
    top, total = np.full(L, F32(-np.inf)), np.zeros(L, F32)
    mean = np.zeros((L, D), F32)
    for start in range(0, N, 16):
        part = slice(start, start + 16)
        new = np.maximum(top, s[:, part].max(axis=-1))
        p = np.exp(s[:, part] - new[:, None])
        moved = np.exp(top - new)
        if fault == "stale maximum" and start == 32:
            moved = np.ones_like(moved)
        sums = p.sum(axis=-1, dtype=F32)
        if fault == "weights in bfloat16":
            p = p.astype(ml_dtypes.bfloat16).astype(F32)
        total = total * moved + sums
        if fault == "denominator in bfloat16":
            total = total.astype(ml_dtypes.bfloat16).astype(F32)
        rest = p @ v[part]
        mean = rest + (mean if fault == "mean not rescaled" else mean * moved[:, None])
        top = new
    log = np.log2(total) if fault == "log2 for log" else np.log(total)
    return mean / total[:, None], top + log


def inputs(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    q, k, v = (rng.standard_normal(s).astype(F32) for s in ((L, E), (N, E), (N, D)))
    return q, k, v


def verdicts(seed: int, fault: str) -> dict[str, np.ndarray]:
    """Which outputs and log-sum-exps of a faulty kernel are covered under normal."""
    q, k, v = inputs(seed)
    r = er.scaled_dot_product_attention(q, k, v, is_causal=True, causal_alignment="bottom_right")
    with np.errstate(all="ignore"):
        found = attention(q, k, v, fault)
    return {
        name: r[name].covers(array).values().astype(bool)
        for name, array in zip(("output", "logsumexp"), found, strict=True)
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_without_a_fault_everything_is_covered(seed: int) -> None:
    assert all(covered.all() for covered in verdicts(seed, "").values())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("fault", "output", "share"),
    [
        ("mask one late", "output", 0.9),
        ("mask one early", "output", 0.9),
        ("missing scale", "output", 0.9),
        ("missing scale", "logsumexp", 0.9),
        ("stale maximum", "output", 0.06),
        ("stale maximum", "logsumexp", 0.06),
        ("mean not rescaled", "output", 0.2),
        ("weights in bfloat16", "output", 0.7),
        ("scores in bfloat16", "output", 0.7),
        ("scores in bfloat16", "logsumexp", 0.7),
        ("a dropped key", "output", 0.9),
        ("a doubled key", "output", 0.9),
        ("denominator in bfloat16", "output", 0.7),
        ("denominator in bfloat16", "logsumexp", 0.7),
        ("log2 for log", "logsumexp", 0.9),
    ],
)
def test_faults_are_outside(fault: str, output: str, share: float, seed: int) -> None:
    covered = verdicts(seed, fault)[output]
    # A stale maximum shows in the rows whose maximum lies in the last block.
    assert (~covered).mean() >= share


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp"])
@pytest.mark.parametrize("fault", ["narrow sum", "narrow input", "log2 for log", "dropped"])
def test_faults_of_rows_are_outside(name: str, fault: str, seed: int) -> None:
    x = np.random.default_rng(seed).standard_normal((20, 40)).astype(F32)
    given = x.astype(ml_dtypes.bfloat16).astype(F32) if fault == "narrow input" else x
    top = given.max(axis=-1, keepdims=True)
    p = np.exp(given - top)
    total = np.zeros((20, 1), F32)
    for j in range(39 if fault == "dropped" else 40):
        total += p[:, j : j + 1]
        if fault == "narrow sum":
            total = total.astype(ml_dtypes.bfloat16).astype(F32)
    log = np.log2(total) if fault == "log2 for log" else np.log(total)
    outputs = {"softmax": p / total, "log_softmax": given - top - log, "logsumexp": top + log}
    params = {"axis": -1, "keepdims": True} if name == "logsumexp" else {"axis": -1}
    covered = getattr(er, name)(x, **params).covers(outputs[name]).values().astype(bool)
    if name == "softmax" and fault == "log2 for log":
        assert covered.all()  # no logarithm in it
    else:
        assert (~covered).mean() > 0.6
