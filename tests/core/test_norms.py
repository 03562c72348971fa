"""Normalizations: exact values by rationals, torch's and simulated kernels, faults, gradients."""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import gmpy2
import numpy as np
import pytest

import exactref as er
from exactref_core.errors import InputError

THOROUGH = os.environ.get("EXACTREF_THOROUGH") == "1"
ROUNDS = 60 if THOROUGH else 4
F32 = np.float32
BITS = 400
EPS = 1e-5


def root(x: Fraction) -> Fraction:
    """A square root within 2**-BITS, relative."""
    with gmpy2.context(precision=BITS):
        found = gmpy2.mpq(gmpy2.sqrt(gmpy2.mpq(x.numerator, x.denominator)))
    return Fraction(int(found.numerator), int(found.denominator))


def exact_rows(x: np.ndarray, centre: bool, eps: float) -> list[list[Fraction]]:
    """Rows less their mean, if asked, over the root of their mean square and eps."""
    found = []
    for row in x.tolist():
        terms = [Fraction(t) for t in row]
        mean = sum(terms, Fraction(0)) / len(terms) if centre else Fraction(0)
        terms = [t - mean for t in terms]
        spread = root(sum((t * t for t in terms), Fraction(0)) / len(terms) + Fraction(eps))
        found.append([t / spread for t in terms])
    return found


def rows(seed: int, count: int, n: int, form: str = "float32") -> np.ndarray:
    """Rows of several kinds: centred, shifted, steep, tiny, constant."""
    rng = np.random.default_rng([seed, n])
    x = rng.standard_normal((count, n))
    kind = np.arange(count) % 5
    x = np.where(kind[:, None] == 1, x + 100, x)
    x = np.where(kind[:, None] == 2, x * 10.0 ** rng.integers(-8, 9, (count, n)), x)
    x = np.where(kind[:, None] == 3, x * 1e-20, x)
    x = np.where(kind[:, None] == 4, 3.0, x)
    return np.asarray(er.asarray(x.tolist(), dtype=form).values(), np.float64)


@pytest.mark.parametrize("form", ["float64", "float32", "bfloat16", "float16"])
@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
def test_rounded_is_exact(name: str, form: str) -> None:
    for n in (1, 2, 5, 33):
        x = rows(1, 20, n, form)
        x = np.where(np.isfinite(x), x, 1.0)
        source = er.asarray(x.tolist(), dtype=form)
        result = getattr(er, name)(source, eps=EPS)
        wanted = exact_rows(x, name == "layer_norm", EPS)
        for i, row in enumerate(wanted):
            for j, value in enumerate(row):
                found = result.exact.value(i, j)
                size = abs(value) * Fraction(1, 2**BITS) * 8
                assert abs(found.midpoint.to_fraction() - value) <= found.radius + size, (i, j)
                assert found.radius <= abs(value) / 2**60
        near = er.asarray([[float(v) for v in row] for row in wanted], "float64")
        if form != "float64":
            stored = np.asarray(er.astype(near, form).rounded.values(), np.float64)
            ulps = np.asarray(result.rounded.values(), np.float64) != stored
            assert ulps.mean() < 0.01  # the float64 detour may round twice


def turned(rng: np.random.Generator, y: np.ndarray, units: float = 1.0) -> np.ndarray:
    """A float32 step that errs by up to ``units`` u beyond its rounding."""
    extra = rng.choice([-1.0, 1.0], y.shape) * (units - 1) * 2.0**-24
    return (y.astype(np.float64) * (1 + extra)).astype(F32)


def total(x: np.ndarray) -> np.ndarray:
    """Sums along rows in index order, in float32."""
    return np.add.accumulate(x.astype(F32), axis=-1)[..., -1:]


def welford(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of rows by updates, in float32."""
    mean, squares = np.zeros((len(x), 1), F32), np.zeros((len(x), 1), F32)
    for k in range(x.shape[1]):
        gap = x[:, k : k + 1] - mean
        mean = mean + gap / F32(k + 1)
        squares = squares + gap * (x[:, k : k + 1] - mean)
    return mean, squares / F32(x.shape[1])


def layer_kernels(rng: np.random.Generator, x: np.ndarray) -> dict[str, np.ndarray]:
    """Float32 kernels: two passes, updates, quotients, products with reciprocals."""
    n = F32(x.shape[1])
    mean = total(x) / n
    spread = total((x - mean) * (x - mean)) / n
    moving, updated = welford(x)
    found = {}
    for label, m, s in (("two passes", mean, spread), ("updates", moving, updated)):
        inside = s + F32(EPS)
        found[f"{label}, quotient"] = (x - m) / np.sqrt(inside)
        inverse = turned(rng, 1 / np.sqrt(inside.astype(np.float64)), 4)
        found[f"{label}, product"] = (x - m) * inverse
    return found


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_simulated_kernels_are_inside(seed: int) -> None:
    rng = np.random.default_rng([3, seed])
    for n in (1, 2, 7, 32, 100):
        x = rows(seed, 25, n).astype(F32)
        with np.errstate(all="ignore"):
            found = layer_kernels(rng, x)
            squares = total(x * x) / F32(n) + F32(EPS)
            rms = {
                "quotient": x / np.sqrt(squares),
                "product": x * turned(rng, 1 / np.sqrt(squares.astype(np.float64)), 4),
            }
        for name, outputs in (("layer_norm", found), ("rms_norm", rms)):
            result = getattr(er, name)(x, eps=EPS)
            assert np.asarray(result.covers(result.normal())).all()
            for label, output in outputs.items():
                # Updates are an order of their own for more than a few terms.
                standard = "any_order" if "updates" in label else "normal"
                outside = ~np.asarray(result.covers(output.astype(F32), standard))
                assert not outside.any(), (name, label, n, x[outside.any(axis=1)][:1])


def apart(x: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    mean = x.mean(axis=-1, keepdims=True, dtype=F32)
    inverse = F32(1) / np.sqrt(x.var(axis=-1, keepdims=True, dtype=F32) + F32(EPS))
    return x * (inverse * w) + (b - mean * inverse * w)


def plain(
    x: np.ndarray, w: np.ndarray, b: np.ndarray, eps: float = EPS, ddof: int = 0, **fault: Any
) -> np.ndarray:
    """A float32 layer norm with a fault."""
    some = x[:, : fault.get("first", x.shape[1])]
    mean = some.mean(axis=-1, keepdims=True, dtype=F32)
    spread = some.var(axis=-1, keepdims=True, ddof=ddof, dtype=F32)
    outer = fault.get("outside", 0.0)
    root_of = np.sqrt(spread + F32(eps - outer)) + F32(outer)
    found = (x - mean) / root_of
    if fault.get("narrow"):
        found = np.asarray(er.asarray(found.tolist(), "bfloat16").values(), F32)
    return found * (w if not fault.get("unweighted") else F32(1)) + b


FAULTS: dict[str, Callable[..., np.ndarray]] = {
    "another eps": lambda x, w, b: plain(x, w, b, eps=1e-3),
    "no eps": lambda x, w, b: plain(x / 100, w, b, eps=0.0),
    "eps outside the root": lambda x, w, b: plain(x, w, b, eps=1e-3, outside=1e-3),
    "unbiased variance": lambda x, w, b: plain(x, w, b, ddof=1),
    "the last element left out": lambda x, w, b: plain(x, w, b, first=-1),
    "the weight left out": lambda x, w, b: plain(x, w, b, unweighted=True),
    "stored in bfloat16": lambda x, w, b: plain(x, w, b, narrow=True),
    "mean of squares less the squared mean": lambda x, w, b: (
        (x - x.mean(axis=-1, keepdims=True))
        / np.sqrt((x * x).mean(axis=-1, keepdims=True) - x.mean(axis=-1, keepdims=True) ** 2)
        * w
        + b
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_outside(fault: str) -> None:
    rng = np.random.default_rng(5)
    x = (rng.standard_normal((8, 64)) + 1000 * fault.startswith("mean")).astype(F32)
    w, b = (rng.standard_normal(64).astype(F32) for _ in range(2))
    scale = F32(1 / 100) if fault == "no eps" else F32(1)
    result = er.layer_norm(x * scale, 64, w, b, EPS)
    # Far from 0 the bound of any merges is as large as what the difference of squares loses.
    standard = "normal" if fault.startswith("mean") else "any_order"
    outside = ~np.asarray(result.covers(FAULTS[fault](x, w, b).astype(F32), standard))
    assert outside.mean() > 0.3, outside.mean()
    assert np.asarray(result.covers(plain(x * scale, w, b), "any_order")).all()


def test_distributed_products_are_worse() -> None:
    rng = np.random.default_rng(7)
    x = (rng.standard_normal((8, 64)) + 1000).astype(F32)
    w, b = (rng.standard_normal(64).astype(F32) for _ in range(2))
    result = er.layer_norm(x, 64, w, b)
    output = apart(x, w, b)
    assert np.asarray(result.covers(output, "any_order")).all()


# Of torch 2.13 on CPUs; docs/findings.md has the smallest inputs.
FINDINGS = {
    ("batch_norm", form): "the statistics are stored in 16 bits" for form in ("bfloat16", "float16")
}


@pytest.mark.parametrize("form", ["float64", "float32", "bfloat16", "float16"])
@pytest.mark.parametrize("name", ["layer_norm", "rms_norm", "group_norm", "batch_norm"])
def test_torch_is_inside(name: str, form: str) -> None:
    torch = pytest.importorskip("torch")
    functional = torch.nn.functional
    for seed in range(ROUNDS):
        rng = np.random.default_rng(seed)
        x = torch.tensor(rng.standard_normal((4, 8, 6)) * 2 + seed).to(getattr(torch, form))
        w, b = (torch.tensor(rng.standard_normal(8)).to(x.dtype) for _ in range(2))
        if name == "layer_norm":
            y = x.transpose(1, 2).contiguous()
            pair = er.layer_norm(y, 8, w, b), functional.layer_norm(y, (8,), w, b)
        elif name == "rms_norm":
            y = x.transpose(1, 2).contiguous()
            pair = er.rms_norm(y, 8, w), functional.rms_norm(y, (8,), w)
        elif name == "group_norm":
            pair = er.group_norm(x, 4, w, b), functional.group_norm(x, 4, w, b)
        else:
            known = functional.batch_norm(x, None, None, w, b, training=True)
            pair = er.batch_norm(x, None, None, w, b, training=True), known
        inside = np.asarray(pair[0].covers(pair[1], "any_order"))
        if (name, form) in FINDINGS and not inside.all():
            pytest.xfail(FINDINGS[name, form])
        assert inside.all(), (seed, pair[0].rounded, pair[1])


@pytest.mark.parametrize("form", ["float64", "float32"])
def test_gradients_of_torch_are_inside(form: str) -> None:
    torch = pytest.importorskip("torch")
    functional = torch.nn.functional
    rng = np.random.default_rng(1)
    x, w, b, g = (
        torch.tensor(rng.standard_normal(s)).to(getattr(torch, form))
        for s in ((6, 32), 32, 32, (6, 32))
    )
    for name, args in (("layer_norm", (w, b)), ("rms_norm", (w,))):
        leaves = [t.clone().requires_grad_() for t in (x, *args)]
        getattr(functional, name)(leaves[0], (32,), *leaves[1:], eps=EPS).backward(g)
        result = getattr(er.backward, name)(g, x, 32, *args, eps=EPS)
        for key, leaf in zip(("x", "weight", "bias"), leaves, strict=False):
            inside = np.asarray(result[f"grad_{key}"].covers(leaf.grad, "any_order"))
            assert inside.all(), (name, key)
    alone = er.backward.layer_norm(g, x)
    assert list(alone.outputs) == ["grad_x"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: er.layer_norm(x, 3), "normalized_shape is 3"),
        (lambda x: er.layer_norm(x, 4, np.ones(3, F32)), r"weight has shape \(3,\)"),
        (lambda x: er.layer_norm(x, eps="1"), "eps must be a number"),
        (lambda x: er.layer_norm(x, eps=-1.0), "eps must not be negative"),
        (lambda x: er.rms_norm(x[:, :0]), "has no elements to normalize"),
        (lambda x: er.group_norm(x, 3), "num_groups is 3"),
        (lambda x: er.batch_norm(x), "running_mean is missing"),
        (lambda x: er.batch_norm(x[0]), "takes \\(n, channels"),
    ],
)
def test_bad_arguments(call: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call(np.ones((2, 4), F32))
