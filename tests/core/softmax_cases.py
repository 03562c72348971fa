"""Random calls of the softmax family, over shapes, formats, masks, scales, and hostile values."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gmpy2
import numpy as np

import exactref as er
from tests.core.softmax_oracle import Attention, default_scale

THOROUGH = os.environ.get("EXACTREF_THOROUGH") == "1"
INPUTS = ("float64", "float32", "bfloat16", "float16")
NARROW = ("float32", "bfloat16", "float16", "float8_e4m3fn", "float8_e5m2")
KINDS = ("normal", "steep", "integers", "constant", "two levels", "close", "huge", "tiny")


def stored(values: np.ndarray, form: str) -> er.Array:
    """Numbers rounded to a format; what would overflow becomes its largest value."""
    top = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38}
    limit = top.get(form, 1e300)
    held = np.where(np.isinf(values), values, np.clip(values, -limit, limit))
    return er.asarray(held.tolist(), form)


def numbers(rng: np.random.Generator, kind: str, shape: tuple[int, ...]) -> np.ndarray:
    """Scores, or values that become scores."""
    x = rng.standard_normal(shape)
    if kind == "steep":
        return x * 2.0 ** rng.integers(3, 9)
    if kind == "integers":
        return np.rint(x * 2)
    if kind == "constant":
        return np.full(shape, x.flat[0])
    if kind == "two levels":
        return np.where(rng.random(shape) < 0.5, x.flat[0], x.flat[0] - 2.0)
    if kind == "close":
        return 1.0 + np.rint(x) * 2.0**-7
    if kind == "huge":
        return x * 10.0 ** rng.uniform(2, 37)
    if kind == "tiny":
        return x * 2.0 ** rng.uniform(-150, -20)
    return x


def value_numbers(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Values: normal, constant columns, near a midpoint of a format, wide exponents."""
    x = rng.standard_normal(shape)
    kind = rng.integers(5)
    if kind == 0:
        return np.broadcast_to(x[..., :1, :], shape).copy()
    if kind == 1:
        return 1.0 + rng.integers(-2, 3, shape) * 2.0 ** -float(rng.choice([4, 8, 9, 11, 12, 24]))
    if kind == 2:
        return x * 2.0 ** rng.integers(-60, 60, shape)
    if kind == 3:
        return np.rint(x)
    return x


@dataclass(frozen=True, eq=False)
class AttentionCase:
    """One call and what an independent evaluation needs."""

    args: tuple[Any, Any, Any]
    params: dict[str, Any]
    oracle: Attention
    outputs: tuple[str, str]

    def call(self) -> er.Result:
        return er.scaled_dot_product_attention(*self.args, **self.params)


def wide(form: str) -> str:
    """The format of a log-sum-exp."""
    return form if form == "float64" else "float32"


def attention_case(rng: np.random.Generator, form: str) -> AttentionCase:
    """One random call of attention."""
    lead = [(), (2,), (2, 2)][rng.integers(3)]
    rows, keys = int(rng.integers(1, 7)), int(rng.choice([1, 2, 3, 5, 8, 13, 31, 33]))
    features, d = int(rng.choice([1, 2, 3, 4, 16])), int(rng.integers(1, 5))
    group = int(rng.choice([1, 2, 3])) if lead else 1
    heads = (*lead[:-1], lead[-1] * group) if lead else ()
    kind = str(rng.choice(KINDS))
    q = stored(numbers(rng, kind if kind != "huge" else "steep", (*heads, rows, features)), form)
    k = stored(numbers(rng, kind, (*lead, keys, features)), form)
    v = stored(value_numbers(rng, (*lead, keys, d)), form)
    params: dict[str, Any] = {"enable_gqa": True} if group > 1 else {}
    scale = default_scale(features)
    if rng.random() < 0.4:
        given = float(rng.choice([1.0, 0.5, 0.1, -0.25, 0.0, 3.0]))
        params["scale"], scale = given, gmpy2.mpq(given)
    shape = (*heads, rows, keys)
    keep, bias = masks(rng, params, shape, form)
    if rng.random() < 0.5:
        params["dtype"] = str(rng.choice(NARROW if form == "float64" else NARROW[1:]))
    output = params.get("dtype", form)
    spread = [np.repeat(x.values(), group, axis=-3) if group > 1 else x.values() for x in (k, v)]
    oracle = Attention(q.values(), *spread, keep, bias, scale)
    return AttentionCase((q, k, v), params, oracle, (output, wide(output)))


def masks(
    rng: np.random.Generator, params: dict[str, Any], shape: tuple[int, ...], form: str
) -> tuple[np.ndarray, np.ndarray]:
    """Choose a mask: which keys it keeps and what it adds."""
    keep, bias = np.ones(shape, bool), np.zeros(shape)
    choice = rng.integers(5)
    if choice == 0:
        params["is_causal"] = True
        end = bool(rng.integers(2))
        params["causal_alignment"] = "bottom_right" if end else "top_left"
        i, j = np.indices(shape[-2:])
        keep = np.broadcast_to(j <= i + (shape[-1] - shape[-2] if end else 0), shape)
    elif choice == 1:
        keep = rng.random(shape) < 0.7
        params["attn_mask"] = er.Array.from_values(keep, er.asarray([True]).format)
    elif choice == 2:
        given = np.rint(rng.standard_normal(shape[-2:]) * 4) / 4
        given[rng.random(given.shape) < 0.2] = -np.inf
        mask = stored_mask(given, form)
        params["attn_mask"] = mask
        keep = np.broadcast_to(given > -np.inf, shape)
        bias = np.broadcast_to(np.where(given > -np.inf, given, 0.0), shape)
    return keep, bias


def stored_mask(given: np.ndarray, form: str) -> er.Array:
    """A float mask of quarters, which every format holds, and of -inf."""
    return er.asarray(given.tolist(), form)


def attention_cases(form: str, elements: int, seed: int) -> Iterator[AttentionCase]:
    """Cases until their outputs hold this many elements."""
    rng = np.random.default_rng(seed)
    seen = 0
    while seen < elements:
        case = attention_case(rng, form)
        seen += int(np.prod(case.oracle.query.shape[:-1])) * case.oracle.value.shape[-1]
        yield case


@dataclass(frozen=True, eq=False)
class RowCase:
    """One call of softmax, log_softmax or logsumexp along an axis; ``rows`` has that axis last."""

    x: er.Array
    params: dict[str, Any]
    rows: np.ndarray
    output: str


def row_cases(form: str, elements: int, seed: int) -> Iterator[RowCase]:
    """Cases until their inputs hold this many elements."""
    rng = np.random.default_rng(seed)
    seen = 0
    while seen < elements:
        shape = tuple(int(s) for s in rng.integers(1, 9, int(rng.integers(1, 4))))
        axis = int(rng.integers(-len(shape), len(shape)))
        shape = tuple(
            int(rng.choice([1, 2, 7, 17, 33])) if i == axis % len(shape) else s
            for i, s in enumerate(shape)
        )
        given = numbers(rng, str(rng.choice(KINDS)), shape)
        if rng.random() < 0.15:
            given[rng.random(shape) < 0.3] = -np.inf
        x = stored(given, form)
        params: dict[str, Any] = {"axis": axis}
        if rng.random() < 0.5:
            params["dtype"] = str(rng.choice(NARROW if form == "float64" else NARROW[1:]))
        seen += x.size
        rows = np.moveaxis(x.values(), axis, -1)
        yield RowCase(x, params, rows, params.get("dtype", form))
