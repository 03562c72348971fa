"""Gradients, means and losses that differ from a value or a tie by vanishing weights alone.

Scores of -1e4 beside 0 weigh e**-1e4, 4343 digits down: mpmath sees them with 10000 digits. Scores
of -FLT_MAX in their place move every number to the same side, by less.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

import exactref as er

F32 = np.float32
MODES = ("nearest_even", "nearest_away", "toward_zero", "up", "down")
GAP, LARGEST = F32(-1e4), F32(np.finfo(np.float32).min)
FORMATS = {
    "float32": (24, -126),
    "bfloat16": (8, -126),
    "float16": (11, -14),
    "float64": (53, -1022),
}
DIGITS = 10_000
KEPT_BITS = 32_000  # 9633 digits


def fraction(x: Any) -> Fraction:
    """An mpmath number without its last digits, which are those of its rounding errors."""
    return Fraction(int(mpmath.nint(mpmath.ldexp(x, KEPT_BITS))), 1 << KEPT_BITS)


def rounded(x: Fraction, form: str, mode: str) -> float:
    """A number rounded to a format, as a multiple of the unit in its binade."""
    precision, least = FORMATS[form]
    bits = x.numerator.bit_length() - x.denominator.bit_length()
    exponent = max(bits if abs(x) >= Fraction(2) ** bits else bits - 1, least)
    unit = Fraction(2) ** (exponent - precision + 1)
    below = x / unit // 1
    rest = x / unit - below
    up = {
        "up": rest > 0,
        "down": False,
        "toward_zero": rest > 0 and x < 0,
        "nearest_even": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and below % 2 == 1),
        "nearest_away": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and x > 0),
    }[mode]
    return float((below + up) * unit)


def numbers(x: Any) -> list[Any]:
    """An array's rows as lists of mpmath numbers."""
    return [[mpmath.mpf(float(v)) for v in row] for row in np.atleast_2d(x)]


def softmax(scores: list[Any]) -> list[Any]:
    powers = [mpmath.exp(s) for s in scores]
    return [p / mpmath.fsum(powers) for p in powers]


def slopes(g: list[Any], w: list[Any]) -> list[Any]:
    mean = mpmath.fdot(g, w)
    return [a * (b - mean) for a, b in zip(w, g, strict=True)]


def softmax_gradient(g: Any, x: Any) -> list[list[Any]]:
    return [slopes(a, softmax(b)) for a, b in zip(numbers(g), numbers(x), strict=True)]


def log_softmax_gradient(g: Any, x: Any) -> list[list[Any]]:
    pairs = zip(numbers(g), numbers(x), strict=True)
    return [[b - w * mpmath.fsum(a) for b, w in zip(a, softmax(s), strict=True)] for a, s in pairs]


def attention_gradients(g: Any, q: Any, k: Any, v: Any, mask: Any) -> dict[str, list[list[Any]]]:
    """The gradients of one head, with the scale 1 / sqrt(e)."""
    g, q, k, v, mask = (numbers(x) for x in (g, q, k, v, mask))
    scale = 1 / mpmath.sqrt(len(q[0]))
    p, s = [], []
    for a, b, m in zip(q, g, mask, strict=True):
        scores = [scale * mpmath.fdot(a, c) + x for c, x in zip(k, m, strict=True)]
        p.append(softmax(scores))
        s.append(slopes([mpmath.fdot(b, c) for c in v], p[-1]))
    across = [list(row) for row in zip(*s, strict=True)]
    return {
        "grad_query": [[scale * x for x in row] for row in product(s, k)],
        "grad_key": [[scale * x for x in row] for row in product(across, q)],
        "grad_value": product([list(row) for row in zip(*p, strict=True)], g),
    }


def product(a: list[Any], b: list[Any]) -> list[list[Any]]:
    columns = [list(x) for x in zip(*b, strict=True)]
    return [[mpmath.fdot(row, column) for column in columns] for row in a]


def check(found: Any, wanted: list[list[Any]], form: str, mode: str) -> None:
    with mpmath.workdps(DIGITS):
        answers = [[rounded(fraction(x), form, mode) for x in row] for row in wanted]
    assert np.reshape(found.rounded.tolist(), np.shape(answers)).tolist() == answers, mode


def keys(rng: np.random.Generator, count: int) -> Any:
    """Masks that keep one, two or four of the keys, or so."""
    kept = np.arange(count) < rng.choice([1, 2, 4])
    return np.where(rng.permuted(kept), F32(0), GAP).astype(F32)


def small(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    return (rng.integers(-3, 4, shape) * float(rng.choice([1, 0.5, 2.0**-8]))).astype(F32)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("gradient", "formula"),
    [
        (er.backward.softmax, softmax_gradient),
        (er.backward.log_softmax, log_softmax_gradient),
    ],
    ids=["softmax", "log_softmax"],
)
def test_gradients_of_rows(gradient: Any, formula: Callable[..., Any], seed: int) -> None:
    rng = np.random.default_rng(seed)
    form = str(rng.choice(list(FORMATS)))
    x = np.stack([keys(rng, 5) for _ in range(3)])
    g = small(rng, (3, 5))
    with mpmath.workdps(DIGITS):
        wanted = formula(g, x)
    far = np.where(x == GAP, LARGEST, x)
    for mode in MODES:
        for scores in (x, far):
            check(gradient(g, scores, dtype=form, rounding=mode), wanted, form, mode)


@pytest.mark.parametrize("seed", range(6))
def test_gradients_of_attention(seed: int) -> None:
    rng = np.random.default_rng(seed)
    features = int(rng.choice([1, 2, 3, 4]))  # a scale that is no rational number among them
    q, k, v = (small(rng, shape) for shape in ((2, features), (4, features), (4, 2)))
    if seed % 2:
        q = np.zeros_like(q) + q[0, 0]
        k = np.zeros_like(k) + k[0, 0]
    g, mask = small(rng, (2, 2)), np.stack([keys(rng, 4) for _ in range(2)])
    with mpmath.workdps(DIGITS):
        wanted = attention_gradients(g, q, k, v, mask)
    far = np.where(mask == GAP, LARGEST, mask)
    for mode in MODES:
        for masks in (mask, far):
            found = er.backward.scaled_dot_product_attention(g, q, k, v, masks, rounding=mode)
            for name, values in wanted.items():
                check(found[name], values, "float32", mode)


@pytest.mark.parametrize("mode", MODES)
def test_groups_of_heads_behind_a_mask(mode: str) -> None:
    """Two heads of queries share keys and values: their gradients add up to a tie and a rest."""
    rng = np.random.default_rng(7)
    q, k, v = np.zeros((2, 2, 4), F32), small(rng, (1, 4, 4)), small(rng, (1, 4, 2))
    g, mask = small(rng, (2, 2, 2)), np.stack([keys(rng, 4) for _ in range(2)])
    with mpmath.workdps(DIGITS):
        heads = [attention_gradients(a, b, k[0], v[0], mask) for a, b in zip(g, q, strict=True)]
        value = [
            [x + y for x, y in zip(*rows, strict=True)]
            for rows in zip(*(one["grad_value"] for one in heads), strict=True)
        ]
    for masks in (mask, np.where(mask == GAP, LARGEST, mask)):
        found = er.backward.scaled_dot_product_attention(
            g, q, k, v, masks, enable_gqa=True, rounding=mode
        )
        for head, one in enumerate(heads):
            check(found["grad_query"][head], one["grad_query"], "float32", mode)
        check(found["grad_value"][0], value, "float32", mode)


def nudged(value: float, side: int) -> dict[str, float]:
    """A float32 number moved by nothing, or by next to nothing to one side, in every mode."""
    here = F32(value)
    with np.errstate(over="ignore"):
        up, down = (float(np.nextafter(here, F32(end))) for end in (np.inf, -np.inf))
    toward = down if value > 0 else up
    return {
        "nearest_even": value,
        "nearest_away": value,
        "toward_zero": toward if side * value < 0 else value,
        "up": up if side > 0 else value,
        "down": down if side < 0 else value,
    }


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("low", [GAP, F32(-1e20), LARGEST])
def test_losses(mode: str, low: Any) -> None:
    x, target = F32([[0, 0, 0, low], [0, low, low, low]]), np.array([0, 1])
    # 3 (1 / (3 + e) - 1) is just below -2, and 3 / (3 + e) just below 1.
    found = er.backward.cross_entropy(F32(3), x, target, reduction="sum", rounding=mode)
    wanted = [[nudged(v, -1)[mode] for v in (-2.0, 1.0, 1.0)], [nudged(3.0, -1)[mode]]]
    assert found.rounded.tolist()[0][:3] == wanted[0]
    assert found.rounded.tolist()[1][0] == wanted[1][0]
    # The mean of three losses, each log(1 + e) above the gap.
    rows = F32([[0, low, low], [low, 0, low], [low, low, 0]])
    loss = er.cross_entropy(rows, np.array([1, 2, 0]), rounding=mode)
    assert loss.rounded.tolist() == nudged(-float(low), 1)[mode]
    assert (
        er.nll_loss(er.log_softmax(rows), np.array([1, 2, 0]), rounding=mode).rounded.tolist()
        == nudged(-float(low), 1)[mode]
    )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("low", [GAP, F32(-1e20), LARGEST])
def test_results_passed_on(mode: str, low: Any) -> None:
    w = er.softmax(F32([0, 0, low, low]))
    y = er.multiply(w, F32([3, 1, 5, -4]))
    # 4 / (2 + 2 e) + e (5 - 4) / (2 + 2 e) = 2 - 3 e / 2 ...
    assert er.sum(y, rounding=mode).rounded.tolist() == nudged(2.0, -1)[mode]
    assert er.sum(y, rounding=mode)["output"].covers(F32(nudged(2.0, -1)[mode])).tolist()
    more = er.multiply(w, F32([3, 1, 5, -1]))
    # e and 2 e cancel: 4 / (2 + 2 e) + 4 e / (2 + 2 e) is 2.
    assert er.sum(more, rounding=mode).rounded.tolist() == 2.0
    whole = er.exp(er.log_softmax(F32([0, low])), rounding=mode)
    assert whole.rounded.tolist()[0] == nudged(1.0, -1)[mode]
    total = er.multiply(er.logsumexp(F32([8, 8 + float(low)])), F32(3), rounding=mode)
    assert total.rounded.tolist() == nudged(24.0, 1)[mode]
    ratio = er.divide(F32(3), er.add(y[0], y[1]), rounding=mode)
    assert ratio.rounded.tolist() == nudged(1.5, 1)[mode]
    slopes = er.multiply(er.backward.softmax(F32([1, -1, 0]), F32([0, 0, low])), F32(6))
    # w (1 - 0) 6 = 6 / (2 + e).
    assert er.negative(slopes, rounding=mode).rounded.tolist()[0] == nudged(-3.0, 1)[mode]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("low", [GAP, F32(-1e20), LARGEST])
def test_steps_on_a_gradient(mode: str, low: Any) -> None:
    """The gradient is -3 (1 + e) / (2 + e), 3 e / (2 + e) and 3 / (2 + e)."""
    b = er.backward.cross_entropy(F32(3), F32([[0, low, 0]]), np.array([0]), reduction="sum")
    results = {
        # 4.5 (1 + e + e^2) / (1 + e + e^2 / 4): e cancels, its square does not.
        "squares": (er.sum(er.square(b), rounding=mode), nudged(4.5, 1)),
        "magnitudes": (er.sum(er.abs(b), rounding=mode), nudged(3.0, 1)),
        "relu": (er.mean(er.relu(b), rounding=mode), nudged(0.5, 1)),
        "largest": (er.max(b, rounding=mode), nudged(1.5, -1)),
        "running": (er.cumulative_sum(b, axis=-1, rounding=mode)[0, 1], nudged(-1.5, 1)),
        "cancelled": (er.cumulative_sum(b, axis=-1, rounding=mode)[0, 2], dict.fromkeys(MODES, 0)),
        "ratio": (er.divide(F32(3), b, rounding=mode)[0, 2], nudged(2.0, 1)),
        "product": (er.prod(b[:, ::2], rounding=mode), nudged(-2.25, 1)),
    }
    for name, (found, wanted) in results.items():
        value = found.rounded.tolist()
        assert value == wanted[mode], name
        assert found.covers(np.asarray(value, F32)).all(), name
        assert not found.covers(np.asarray(value + 1, F32)).any(), name


@pytest.mark.parametrize("standard", ["normal", "any_order"])
@pytest.mark.parametrize("flush", [False, True])
def test_ranges_beside_vanishing_weights(standard: str, flush: bool) -> None:
    """Bounds are found too, and contain the exact value rounded."""
    rng = np.random.default_rng(2)
    mask = np.stack([keys(rng, 4) for _ in range(3)])
    far = np.where(mask == GAP, LARGEST, mask)
    parts, grad = small(rng, (4, 3, 2)), small(rng, (3, 2))
    smoothed = er.cross_entropy(far, np.array([0, 1, 2]), label_smoothing=0.25, reduction="none")
    results = [
        *smoothed.outputs.values(),
        *er.backward.merge_attention(grad, parts, far.T).outputs.values(),
        *er.merge_attention(parts * 2.0**127, far.T).outputs.values(),
    ]
    for found in results:
        low, high = (x.values() for x in found.finite_range(standard, flush))
        exact = found.rounded().values()
        known = np.isfinite(exact)
        assert np.all((low <= exact)[known] & (exact <= high)[known])
