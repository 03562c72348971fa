"""Gradients of attention with its rules: torch's autograd, kernels of its kind, planted faults."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.errors import DTypeError, InputError

torch = pytest.importorskip("torch")

QUERIES, KEYS, E, D = 9, 12, 4, 3
RULES: dict[str, dict[str, Any]] = {
    "cap": {"softcap": 1.5},
    "large cap": {"softcap": 30.0},
    "window": {"window": (3, 1), "causal_alignment": "bottom_right"},
    "causal window": {"window": (2, -1), "is_causal": True, "causal_alignment": "bottom_right"},
    "both": {"softcap": 2.0, "window": (4, 0), "causal_alignment": "bottom_right", "scale": 0.7},
}


def kept(window: tuple[int, int], causal: bool) -> Any:
    """The keys of a window that is aligned at the last query."""
    after = torch.arange(KEYS)[None] - torch.arange(QUERIES)[:, None] - (KEYS - QUERIES)
    left, right = window
    right = 0 if causal else right
    found = after >= -left
    return found if right < 0 else found & (after <= right)


def composed(q: Any, k: Any, v: Any, rules: dict[str, Any], cap: float | None = None) -> Any:
    """Attention from torch's operations: output and log-sum-exp."""
    scores = q @ k.transpose(-1, -2) * rules.get("scale", 0.5)
    cap = rules.get("softcap", 0.0) if cap is None else cap
    if cap:
        scores = torch.tanh(scores / cap) * cap
    if "window" in rules:
        mask = kept(rules["window"], rules.get("is_causal", False))
        scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(-1) @ v, scores.logsumexp(-1)


def inputs(seed: int, dtype: Any) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    shapes = ((2, QUERIES, D), (2, QUERIES, E), (2, KEYS, E), (2, KEYS, D))
    return tuple(torch.tensor(rng.standard_normal(s) * 1.5).to(dtype) for s in shapes)


def autograd(g: Any, args: Any, rules: dict[str, Any], cap: float | None = None) -> Any:
    leaves = [x.clone().requires_grad_() for x in args]
    output, _ = composed(*leaves, rules, cap)
    return torch.autograd.grad(output, leaves, g)


@pytest.mark.parametrize("case", RULES)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_autograd_is_inside(case: str, dtype: Any) -> None:
    g, *args = inputs(1, dtype)
    rules = RULES[case]
    found = er.backward.scaled_dot_product_attention(g, *args, **rules)
    for name, given in zip(("query", "key", "value"), autograd(g, args, rules), strict=True):
        one = found[f"grad_{name}"]
        assert one.covers(given, standard="any_order").all(), name


@pytest.mark.parametrize("case", RULES)
def test_the_exact_gradient_is_that_of_float64(case: str) -> None:
    """Of float32 inputs, rounded once: autograd in float64 says the same, but for close ties."""
    g, *args = inputs(2, torch.float32)
    found = er.backward.scaled_dot_product_attention(g, *args, **RULES[case])
    wide = autograd(g.double(), [x.double() for x in args], RULES[case])
    for name, given in zip(("query", "key", "value"), wide, strict=True):
        rounded = found[f"grad_{name}"].rounded.values()
        assert np.array_equal(rounded, given.float().numpy()), name


FAULTS = {
    "no slope of the cap": ("cap", {"query", "key"}),
    "another cap": ("both", {"query", "key", "value"}),
    "window one longer": ("both", {"query", "key", "value"}),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_outside(fault: str) -> None:
    case, wrong = FAULTS[fault]
    rules = RULES[case]
    g, *args = inputs(3, torch.float32)
    found = er.backward.scaled_dot_product_attention(g, *args, **rules)
    if fault == "another cap":
        given = autograd(g, args, rules, cap=2.5)
    elif fault == "window one longer":
        given = autograd(g, args, {**rules, "window": (5, 0)})
    else:
        given = without_slope(g, args, rules)
    for name, array in zip(("query", "key", "value"), given, strict=True):
        covered = found[f"grad_{name}"].covers(array, standard="any_order")
        assert covered.all() == (name not in wrong), name


def without_slope(g: Any, args: Any, rules: dict[str, Any]) -> Any:
    """A backward kernel that takes the cap for the identity."""
    q, k, v = args
    cap, scale = rules["softcap"], 0.5
    p = (torch.tanh(q @ k.transpose(-1, -2) * scale / cap) * cap).softmax(-1)
    pull = g @ v.transpose(-1, -2)
    s = p * (pull - (p * pull).sum(-1, keepdim=True))
    return s @ k * scale, s.transpose(-1, -2) @ q * scale, p.transpose(-1, -2) @ g


@pytest.mark.parametrize("case", [*RULES, "plain"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_the_gradient_of_the_log_sum_exp_counts(case: str, dtype: Any) -> None:
    g, *args = inputs(4, dtype)
    rules = RULES.get(case, {})
    h = torch.tensor(np.random.default_rng(5).standard_normal((2, QUERIES))).to(dtype)
    found = er.backward.scaled_dot_product_attention(g, *args, grad_logsumexp=h, **rules)
    leaves = [x.clone().requires_grad_() for x in args]
    given = torch.autograd.grad(composed(*leaves, rules), leaves, (g, h))
    other = autograd(g, args, rules)
    for name, one, without in zip(("query", "key", "value"), given, other, strict=True):
        result = found[f"grad_{name}"]
        assert result.covers(one, standard="any_order").all(), name
        # Without it the gradients of queries and keys are others; that of the value is the same.
        assert result.covers(without, standard="any_order").all() == (name == "value")
        wide = [x.double().requires_grad_() for x in args]
        exact = torch.autograd.grad(composed(*wide, rules), wide, (g.double(), h.double()))
        if dtype == torch.float32:
            near = exact[("query", "key", "value").index(name)].float().numpy()
            assert np.array_equal(result.rounded.values(), near)


def test_a_log_sum_exp_in_float32_has_a_gradient_in_float32() -> None:
    g, *args = inputs(6, torch.bfloat16)
    h = torch.full((2, QUERIES), 0.3)
    found = er.backward.scaled_dot_product_attention(g, *args, grad_logsumexp=h)
    wide = [x.double().requires_grad_() for x in args]
    exact = torch.autograd.grad(composed(*wide, {}), wide, (g.double(), h.double()))
    for name, one in zip(("query", "key", "value"), exact, strict=True):
        near = one.to(torch.bfloat16).double().numpy()
        assert np.array_equal(found[f"grad_{name}"].rounded.values(), near)
    with pytest.raises(DTypeError, match="one dtype"):
        er.backward.scaled_dot_product_attention(g, *args, grad_logsumexp=h.double())
    with pytest.raises(InputError, match="grad_logsumexp has shape"):
        er.backward.scaled_dot_product_attention(g, *args, grad_logsumexp=h[0])
