"""Large arrays are rounded part by part: the answers are those of the whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core.arithmetic import ladder, level_choices, parts
from exactref_core.arithmetic.approx import Approx
from exactref_core.arithmetic.boxes import local_parts
from exactref_core.arithmetic.graph import Store
from exactref_core.arithmetic.rounded_blocks import round_some
from exactref_core.formats.catalogue import get_format
from exactref_core.formats.rounding import Overflow, Rounding

RNG = np.random.default_rng(17)
X = RNG.standard_normal((6, 7, 50)).astype(np.float32)
X[0, 0, :5] = [np.inf, -np.inf, np.nan, 0.0, -0.0]
Y = RNG.standard_normal((7, 1)).astype(np.float32)
CALLS: dict[str, Callable[[], er.Result]] = {
    "exp": lambda: er.exp(X),
    "log": lambda: er.log(X),
    "broadcast": lambda: er.multiply(X, Y),
    "chain": lambda: er.add(er.multiply(X, Y), er.tanh(X)),
    "transposed": lambda: er.exp(X.transpose(2, 0, 1)),
    "sum": lambda: er.sum(X, axis=1),
    "softmax": lambda: er.softmax(X, axis=-1, dtype="bfloat16"),
    "softmax over the first axis": lambda: er.softmax(X, axis=0),
    "logsumexp": lambda: er.logsumexp(X, axis=-1),
    "cumulative_sum": lambda: er.cumulative_sum(X, axis=-1),
    "where": lambda: er.where(X > 0, X, Y),
    "layer_norm": lambda: er.layer_norm(X, (50,)),
    "bfloat16": lambda: er.gelu(X, dtype="bfloat16"),
    "float8": lambda: er.exp(X * 4, dtype="float8_e4m3fn"),
    "complex": lambda: er.multiply(X + 0j, Y + 2j),
    "flat": lambda: er.exp(X.reshape(-1)),
    "matmul": lambda: er.matmul(X, X.swapaxes(1, 2)),
}


@pytest.mark.parametrize("name", CALLS)
def test_answers_are_those_of_the_whole(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole: Any = CALLS[name]().rounded
    split = []
    monkeypatch.setattr(ladder, "program_of", lambda node: None)  # which has blocks of its own
    monkeypatch.setattr(ladder, "CACHED", 400)
    monkeypatch.setattr(level_choices, "SMALL", 0)
    monkeypatch.setattr(
        ladder, "local_parts", lambda *args: split.append(local_parts(*args)) or split[-1]
    )
    found: Any = CALLS[name]().rounded
    assert whole.data.tobytes() == found.data.tobytes()
    assert split
    assert all(split) is (name not in ("softmax over the first axis", "matmul"))
    for runs in filter(None, split):
        stops = [run.stop for run, _ in runs]
        assert [run.start for run, _ in runs] == [0, *stops[:-1]]
        assert stops[-1] == found.size


def test_small_graphs_are_not_split() -> None:
    node = er.exp(X[:1, :1]).outputs["output"].parts[0].source  # type: ignore[attr-defined]
    assert local_parts(node, 1 << 10) == []
    assert len(local_parts(node, 10)) > 5


@pytest.mark.parametrize("form", ["float8_e4m3fn", "float8_e5m2fnuz", "float32"])
@pytest.mark.parametrize("radius", [np.inf, 1e300])
def test_overflows_on_both_sides_decide_nothing(form: str, radius: float) -> None:
    """In a format without infinities both ends are stored as NaN, and numbers lie between."""
    store = Store(get_format(form), Rounding.NEAREST_EVEN, Overflow.IEEE, False)
    for low in (None, np.zeros(2)):
        x = Approx(np.ones(2), low, np.array([radius, 0.0]))
        value, undecided = round_some(x, store)
        assert undecided.tolist() == [True, False]
        assert value[1] == 1


@pytest.mark.parametrize("form", ["float8_e4m3fn", "float8_e5m2fnuz", "float8_e5m2"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_overflows_on_one_side_are_decided(form: str, sign: float) -> None:
    store = Store(get_format(form), Rounding.NEAREST_EVEN, Overflow.IEEE, False)
    for low in (None, np.zeros(2)):
        value, undecided = round_some(Approx(sign * np.full(2, 1e6), low, np.full(2, 10.0)), store)
        assert not undecided.any()
        assert (np.isnan(value) if form != "float8_e5m2" else value == sign * np.inf).all()


def test_products_beyond_a_format_without_infinities_need_no_precision(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An overflow that float64 sees is NaN for certain; 448 is the largest number, 480 the next."""
    rng = np.random.default_rng(5)
    a, b = (rng.integers(-40, 41, (16, 16)) for _ in range(2))
    exact = np.abs(a @ b) / 4
    for name in ("round_one", "range_one"):
        monkeypatch.setattr(parts.Part, name, lambda *_: pytest.fail("a certified reading"))
    found = er.matmul(np.float32(a) / 2, np.float32(b) / 2, dtype="float8_e4m3fn")
    over = exact > 464
    assert over.sum() > 50
    assert (~over).sum() > 50
    assert not (exact == 464).any()
    assert (np.isnan(found.rounded.values()) == over).all()
    assert (np.asarray(found.may_be("nan")) == over).all()
