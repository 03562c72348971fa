"""What most outputs of the softmax family are judged by, against the bounds and the ranges."""

from __future__ import annotations

from typing import Any

import gmpy2
import numpy as np
import pytest

import exactref as er
from exactref_core.arithmetic import level_choices
from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.bounds import FloatBounds
from exactref_core.arithmetic.fast import FastReading
from exactref_core.arithmetic.softmax_least import least_bound
from exactref_core.arithmetic.softmax_steps import coarse_log_sums, coarse_log_weights
from exactref_core.registry import get_standard

PRECISION = 200
STANDARDS = ("normal", "any_order", "typical")
RNG = np.random.default_rng(5)


def rows(kind: str, shape: tuple[int, ...]) -> np.ndarray:
    rng = np.random.default_rng([len(kind), *shape])
    x = rng.standard_normal(shape)
    if kind == "steep":
        x *= rng.choice([1, 30, 200], (*shape[:-1], 1))
    if kind == "equal":
        x[:] = x[..., :1]
    if kind == "one":  # all but one key vanish
        x[..., 1:] -= 150
    return x.astype(np.float32)


def attended(kind: str, n: int, rules: dict[str, Any]) -> er.Result:
    q, k, v = rows(kind, (2, 6, 8)), rows("plain", (2, n, 8)), rows(kind, (2, n, 3))
    v[..., 0] = np.abs(v[..., 0])
    v[..., 1] *= 2.0**-130
    if "attn_mask" in rules:
        keep = np.random.default_rng(n).random((2, 6, n)) < 0.5
        keep[..., -1], keep[1, 1, : n // 2] = True, True
        keep[0, 0] &= rules["attn_mask"] != "none of a row"
        rules = {"attn_mask": keep}
    return er.scaled_dot_product_attention(q, k, v, **rules)["output"]


CALLS = {
    "weights": lambda kind, n: er.softmax(rows(kind, (9, n)), axis=-1),
    "logs": lambda kind, n: er.log_softmax(rows(kind, (9, n)), axis=-1),
    "sums": lambda kind, n: er.logsumexp(rows(kind, (9, n)), axis=-1),
    "chain": lambda kind, n: er.softmax(er.multiply(rows(kind, (9, n)), np.float32(3)), axis=-1),
    "means": lambda kind, n: attended(kind, n, {}),
    "causal": lambda kind, n: attended(kind, n, {"is_causal": True}),
    "masked": lambda kind, n: attended(kind, n, {"attn_mask": "random"}),
    "empty": lambda kind, n: attended(kind, n, {"attn_mask": "none of a row"}),
}


@pytest.mark.parametrize("n", [1, 2, 33, 140])
@pytest.mark.parametrize("kind", ["plain", "steep", "equal", "one"])
@pytest.mark.parametrize("call", CALLS)
def test_they_lie_below_the_bounds(call: str, kind: str, n: int) -> None:
    (part,) = CALLS[call](kind, n).outputs["output"].parts  # type: ignore[attr-defined]
    node = part.source
    for name in STANDARDS:
        standard = get_standard(name)
        for flush in (False, True):
            low = FloatBounds(FastReading(False, narrow=True), standard, flush, precise=False)
            with np.errstate(all="ignore"):
                least = least_bound(low, node, None)
            assert (least is None) == (call == "empty")  # a row that keeps no key has no mean
            if least is None:
                continue
            full = FloatBounds(FastReading(True), standard, flush, precise=True)
            bound = full.whole(node)
            assert (least.error.low <= bound.error.high).all()
            if kind == "plain" and n == 140:
                assert np.mean(least.error.low * 8 >= bound.error.high) > 0.5
            if least.clip is None:
                continue
            assert bound.clip is not None
            assert (least.clip.low[1] >= bound.clip.low[0]).all()
            assert (least.clip.high[1] <= bound.clip.high[0]).all()


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        *((call, "plain") for call in CALLS if call != "empty"),
        ("weights", "steep"),
        ("logs", "one"),
        ("means", "one"),
    ],
)
def test_ends_of_the_range_are_covered_and_nothing_beyond(
    call: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(level_choices, "SMALL", 0)
    result = CALLS[call](kind, 40)
    for standard in STANDARDS:
        low, high = (
            end.values().astype(np.float32) for end in result.finite_range(standard=standard)
        )
        middle = ((low.astype(np.float64) + high) / 2).astype(np.float32)
        for out, expected in (
            (low, True),
            (high, True),
            (middle, True),
            (np.nextafter(low, np.float32(-np.inf)), False),
            (np.nextafter(high, np.float32(np.inf)), False),
        ):
            finite = np.isfinite(low) & np.isfinite(out)
            found = CALLS[call](kind, 40).covers(out, standard).values()
            assert (found[finite] == expected).all()


@pytest.mark.parametrize("off", [0.0, 2.0**-30])
@pytest.mark.parametrize("kind", ["plain", "steep", "equal", "one"])
@pytest.mark.parametrize("n", [1, 70])
def test_logarithms_are_inside(kind: str, n: int, off: float) -> None:
    x = rows(kind, (4, n)).astype(np.float64)
    radius = np.full(x.shape, off) if off else None
    sums = coarse_log_sums(Approx(x, None, radius), None)
    weights = coarse_log_weights(Approx(x, None, radius))
    assert sums is not None
    assert weights is not None
    signs = np.random.default_rng(1).choice([-1.0, 1.0], x.shape)
    with gmpy2.context(precision=PRECISION):
        for i, row in enumerate(x):
            scores = [
                gmpy2.mpfr(s) + off * side for s, side in zip(row.tolist(), signs[i], strict=True)
            ]
            total = gmpy2.log(sum(map(gmpy2.exp, scores)))
            assert abs(total - value(sums, i)) <= float(np.asarray(sums.radius)[i])
            for j, score in enumerate(scores):
                apart = abs(score - total - value(weights, (i, j)))
                assert apart <= float(np.asarray(weights.radius)[i, j])
    assert (np.asarray(weights.radius) <= 4 * off + 2.0**-38).all()


def value(x: Approx, index: Any) -> gmpy2.mpfr:
    """The middle of an enclosure, exactly."""
    low = 0.0 if x.low is None else float(x.low[index])
    return gmpy2.mpfr(float(x.high[index])) + gmpy2.mpfr(low)


def test_losses_of_many_rows_take_the_filter() -> None:
    """One number made of many is no small graph."""
    x = rows("plain", (300, 50))
    result = er.cross_entropy(x, np.arange(300) % 50)
    (part,) = result.outputs["output"].parts  # type: ignore[attr-defined]
    assert len(part.levels) == 2
    assert result.rounded.values() == part.round_one(0)
