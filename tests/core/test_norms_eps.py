"""Normalizations with eps outside the root: rationals, simulated kernels, torch's gradients."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import gmpy2
import numpy as np
import pytest

import exactref as er
from exactref_core.errors import InputError

F32 = np.float32
EPS = 2.0**-7


def normalized(name: str, x: Any, eps: float = EPS) -> Any:
    """Torch's composition, with eps outside."""
    if name == "batch_norm":
        axes: tuple[int, ...] = (0, *range(2, x.ndim))
    else:
        axes = tuple(range(1 if name == "group_norm" else x.ndim - 1, x.ndim))
    centred = x if name == "rms_norm" else x - x.mean(axes, keepdim=True)
    return centred / ((centred * centred).mean(axes, keepdim=True).sqrt() + eps)


RULES: dict[str, dict[str, Any]] = {
    "layer_norm": {},
    "rms_norm": {},
    "group_norm": {},
    "batch_norm": {"training": True},
}


@pytest.mark.parametrize("name", RULES)
def test_gradients_are_those_of_the_composition(name: str) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(1)
    for shape in ((3, 5), (2, 3, 4)):
        x = rng.standard_normal(shape)
        g = rng.standard_normal(shape)
        leaf = torch.tensor(x, requires_grad=True)
        out = normalized(name, leaf)
        out.backward(torch.tensor(g))
        rules = {**RULES[name], "eps": EPS, "eps_outside": True}
        forward = getattr(er, name)(x, **rules)
        assert np.abs(np.asarray(forward.rounded.values()) - out.detach().numpy()).max() < 1e-14
        found = getattr(er.backward, name)(g, x, **rules)
        assert bool(found.covers(leaf.grad.numpy()).all())
        inside = getattr(er.backward, name)(g, x, **{**rules, "eps_outside": False})
        assert not bool(inside.covers(leaf.grad.numpy()).any())


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
def test_kernels_and_the_other_rule(name: str) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(2)
    x = (rng.standard_normal((6, 20)) * 2.0 ** rng.integers(-9, 4, (6, 1))).astype(F32)
    result = getattr(er, name)(x, eps=EPS, eps_outside=True)
    out = normalized(name, torch.tensor(x)).numpy()
    assert bool(result.covers(out).all())
    inside = getattr(torch.nn.functional, name)(torch.tensor(x), (20,), eps=EPS).numpy()
    assert not bool(result.covers(inside).any())
    none = getattr(er, name)(x, eps=0.0, eps_outside=True)
    assert none.rounded.tolist() == getattr(er, name)(x, eps=0.0).rounded.tolist()


def test_exact_value() -> None:
    x = np.asarray([3.0, 4.0, 0.0, 1.0], F32)
    found = er.rms_norm(x, eps=0.5, eps_outside=True).exact.value(1)
    with gmpy2.context(precision=200):
        want = int(4 / (gmpy2.sqrt(gmpy2.mpq(26, 4)) + 0.5) * 2**150)
    gap = found.midpoint.to_fraction() - Fraction(want, 2**150)
    assert abs(gap) <= found.radius + Fraction(1, 2**149)


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
def test_rows_without_spread_have_a_slope(name: str) -> None:
    """h = c / (|c| + eps) near c = 0: the slope is 1 / eps, less that of the mean."""
    x, g = np.zeros((1, 4), F32), np.asarray([[1.0, 2.0, 4.0, 9.0]], F32)
    found = getattr(er.backward, name)(g, x, eps=0.5, eps_outside=True).rounded.tolist()
    want = g * 2 if name == "rms_norm" else (g - 4) * 2
    assert found == want.tolist()


def test_the_flag_is_a_bool() -> None:
    with pytest.raises(InputError, match="eps_outside must be True or False"):
        er.layer_norm(np.ones((2, 3), F32), eps_outside="outside")
