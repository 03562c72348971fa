"""Saved checks: what is read judges as what was written, bit for bit, and nothing else is read."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref.nn.attention import AttentionAlgorithm
from exactref_core.array import Array
from exactref_core.evaluate import origin_of
from exactref_core.formats.catalogue import FORMATS
from exactref_core.formats.codec import storage_dtype
from exactref_core.formats.format import Format
from exactref_core.op import Op
from exactref_core.saved import SavedCheck, read, unsaved, write
from exactref_core.saved.plain import NotPlain, from_plain, to_plain
from tests.core.saved_checks import check_of, steps
from tests.every_op.simple import simple_call

RNG = np.random.default_rng(21)
F32 = np.float32
ONE = np.float32(1)


def back(check: SavedCheck, path: Path) -> SavedCheck:
    """The check, written and read."""
    write(path / "check.npz", check)
    return read(path / "check.npz")


@pytest.mark.parametrize("op", er.ops(), ids=lambda op: op.name)
def test_a_call_of_every_operation_comes_back(op: Op, tmp_path: Path) -> None:
    result = simple_call(op)
    assert steps(back(check_of(result), tmp_path).result) == steps(result)


@pytest.mark.parametrize("name", [*FORMATS])
def test_arrays_of_every_format_keep_their_bits(name: str, tmp_path: Path) -> None:
    form = FORMATS[name]
    size = storage_dtype(form).itemsize
    bits = RNG.integers(0, 256, (3, 5, size), dtype=np.uint8)
    if form.kind == "bool":
        bits &= 1
    elif form.storage.startswith(("float6", "float4")):
        bits &= 15
    array = Array(bits.view(storage_dtype(form)).reshape(3, 5), form)
    origin = origin_of(er.sum(np.float32([1])))
    for shape in ((3, 5), (15, 1), (0, 4), ()):
        chosen = array.reshape(-1)[: int(np.prod(shape))].reshape(shape)
        found = back(SavedCheck({"output": chosen}, origin), tmp_path).outputs["output"]
        assert found.format == form
        assert found.shape == shape
        assert found.data.tobytes() == chosen.data.tobytes()


def test_terms_come_back(tmp_path: Path) -> None:
    terms = {
        "standard": "any_order",
        "worse": "allow",
        "flush_to_zero": True,
        "rows": 3,
        "label": "größer",
        "nodeid": "a.py::b[c::d]",
        "drawn": True,
        "modules": ("a.py", "b.c"),
        "version": "0.1.0",
    }
    found = back(check_of(er.sum(np.ones(3, F32)), **terms), tmp_path)
    assert {name: getattr(found, name) for name in terms} == terms
    assert found.inputs is not None
    assert [*found.inputs] == ["x"]


def test_views_chains_masks_and_algorithms_come_back(tmp_path: Path) -> None:
    heads = [RNG.standard_normal((2, 4, 8)).astype(F32) for _ in "qkv"]
    mask = RNG.random((4, 4)) > 0.2
    algorithm = AttentionAlgorithm(weights="bfloat16", scores="float16")
    attention = er.scaled_dot_product_attention(
        *heads, attn_mask=mask, scale=Fraction(1, 3), algorithm=algorithm
    )
    rows = attention["output"][..., 1:3, ::-1].transpose(1, 0, 2).reshape(2, -1)
    result = er.divide(er.add(rows, rows), er.sum(rows, axis=(1,), keepdims=True), rounding="up")
    found = back(check_of(result), tmp_path)
    assert steps(found.result) == steps(result)
    assert found.result.shape == result.shape


def test_a_format_of_ones_own_is_described(tmp_path: Path) -> None:
    form = Format(
        "mine_9", "float", "float32", precision=9, emin=-20, emax=20, infinity=True, nan=True
    )
    x = er.asarray([1.001, 3.0], form)
    result = er.multiply(x, x)
    found = back(check_of(result), tmp_path)
    assert found.result.rounded.format == form
    assert steps(found.result) == steps(result)


VALUES: list[Any] = [
    None,
    True,
    -3,
    2**80,
    0.1,
    -0.0,
    float("inf"),
    complex(-0.0, float("inf")),
    "text",
    Fraction(-1, 3),
    (1, (2.5, None)),
    [1, [2]],
    {"a": 1.5, 2: (3,)},
    slice(None, -1, 2),
    (..., 3, slice(1, 2)),
    er.Rounding.UP,
    er.Overflow.SATURATE,
    AttentionAlgorithm(accumulator="float16", exp2=True),
]


def nothing(_: Any) -> Any:
    raise AssertionError("no array and no format is in it")


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_parameters_come_back_as_they_were(value: Any) -> None:
    text = json.dumps(to_plain(value, nothing, nothing), allow_nan=False)
    found = from_plain(json.loads(text), nothing, nothing)
    assert repr(found) == repr(value)


def test_nan_comes_back() -> None:
    found = from_plain(to_plain(float("nan"), nothing, nothing), nothing, nothing)
    assert found != found


@pytest.mark.parametrize("value", [lambda: 1, object(), {1, 2}, b"x"], ids=["f", "o", "s", "b"])
def test_other_parameters_are_refused(value: Any) -> None:
    with pytest.raises(NotPlain, match="which files do not hold"):
        to_plain((value,), nothing, nothing)


def test_what_cannot_be_saved_says_why(tmp_path: Path) -> None:
    big = check_of(er.sum(np.ones(10**6, F32)))
    assert unsaved(big, 4_000_004) == ""
    assert unsaved(big, 4_000_003) == "its tensors take 4 MB, more than 4 MB"
    assert unsaved(big, 1_000_000) == "its tensors take 4 MB, more than 1 MB"

    @er.define(name="shifted")
    def shifted(v: Any, x: Any, by: Any = None) -> Any:
        return v.add(x, by())

    odd = check_of(er.shifted(np.ones(3, F32), by=lambda: 2))
    assert unsaved(odd, 10**9) == "by is a function, which files do not hold"
    with pytest.raises(NotPlain):
        write(tmp_path / "odd.npz", odd)
    assert [*tmp_path.iterdir()] == []


def test_an_array_that_is_used_twice_is_kept_once(tmp_path: Path) -> None:
    x = er.asarray(np.ones(1000, F32))
    write(tmp_path / "check.npz", check_of(er.multiply(x, x)))
    with np.load(tmp_path / "check.npz") as found:
        assert sorted(found.files) == ["0.x1", "1.output", "exactref"]


def test_numpy_reads_the_arrays(tmp_path: Path) -> None:
    x = er.asarray([[1.5, -2.0]], "bfloat16")
    write(tmp_path / "check.npz", check_of(er.negative(x)))
    with np.load(tmp_path / "check.npz", allow_pickle=False) as found:
        assert found["0.x"].tolist() == [[0x3FC0, 0xC000]]
    write(tmp_path / "check.npz", check_of(er.negative(np.float32([[1.5, -2.0]]))))
    with np.load(tmp_path / "check.npz", allow_pickle=False) as found:
        assert found["0.x"].dtype == F32
        assert found["0.x"].tolist() == [[1.5, -2.0]]
