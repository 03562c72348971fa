"""What a failing output looks like: kernels with a known fault are told by name, others by none."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import exactref as er
from exactref_core import failure
from exactref_core.compare import judge
from exactref_core.diagnosis import explaining
from exactref_core.diagnosis.declared import declared, rounded
from exactref_core.diagnosis.explaining import looks_like
from exactref_core.diagnosis.findings import Findings
from exactref_core.evaluate import origin_of
from exactref_core.failure import arrays_of, explained
from exactref_core.formats.rounding import Rounding
from exactref_core.providers import changed
from exactref_core.registry import OWN
from exactref_core.result import Result
from tests.core.narrow_kernels import added_up, cut_bfloat16, tfloat32, through

F16, F32, F64 = np.float16, np.float32, np.float64
BF16: Any = ml_dtypes.bfloat16
RNG = np.random.default_rng(17)
A = RNG.standard_normal((24, 64)).astype(F32)
B = RNG.standard_normal((64, 20)).astype(F32)
HEADS = [RNG.standard_normal((2, 8, 16)).astype(F32) for _ in "qkv"]


def told(output: Any, result: Result, standard: str = "any_order", name: str = "output") -> str:
    """What a failing output looks like, without what every such line ends in."""
    findings: dict[str, Findings] = {}
    judged = judge(output, result, standard=standard, findings=findings)
    assert any(one.fails("fail") for one in judged)
    found = looks_like(arrays_of(output, result)[name], result, name, findings[name], seconds=60)
    return found.removesuffix(" (every element covered)")


def attention(weights: Any) -> Any:
    """Attention of HEADS, its weights rounded."""
    q, k, v = (x.astype(F64) for x in HEADS)
    scores = q @ np.swapaxes(k, -1, -2) / 4
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return ((e / e.sum(axis=-1, keepdims=True)).astype(weights).astype(F64) @ v).astype(F32)


SMALL = np.float32([3e-39, 1.0, 2.5, 1e-39])
LANES = [1e16, 0.0, 0.0, 0.0, -1e16, 0.0, 0.0, 0.0] + [1.0] * 96 + [0.0] * 104
TERMS = RNG.random((50, 300)).astype(F16)
Case = tuple[Callable[[], Any], Callable[[], Result], str]
KERNELS: dict[str, Case] = {
    "tensor cores": (
        lambda: tfloat32(A, False) @ tfloat32(B, False),
        lambda: er.matmul(A, B),
        "inputs rounded to tfloat32",
    ),
    "bits cut off": (
        lambda: tfloat32(A, True) @ tfloat32(B, True),
        lambda: er.matmul(A, B),
        "inputs truncated to tfloat32",
    ),
    "bfloat16 inputs": (
        lambda: through(A, BF16) @ through(B, BF16),
        lambda: er.matmul(A, B),
        "inputs rounded to bfloat16",
    ),
    "a narrow weight": (
        lambda: A @ through(B, BF16),
        lambda: er.matmul(A, B),
        "B rounded to bfloat16",
    ),
    "a float32 that is returned as float64": (
        lambda: through(A.astype(F64) @ B.astype(F64), F32),
        lambda: er.matmul(A.astype(F64), B.astype(F64)),
        "the output stored in float32 on the way",
    ),
    "sums in float32": (
        lambda: added_up(RNG_ROWS.astype(F32), F32).astype(F64),
        lambda: er.sum(RNG_ROWS, axis=1),
        "intermediates kept in float32",
    ),
    "sums in float16": (
        lambda: added_up(TERMS, F16),
        lambda: er.sum(TERMS, axis=1),
        "intermediates kept in float16",
    ),
    "a store that truncates": (
        lambda: cut_bfloat16((A.astype(F64) @ B).astype(F32)),
        lambda: er.matmul(A, B, dtype="bfloat16"),
        "the store truncates (rounding toward zero)",
    ),
    "a store on the way": (
        lambda: through((A.astype(F64) @ B).astype(F32), BF16),
        lambda: er.matmul(A, B),
        "the output stored in bfloat16 on the way",
    ),
    "double rounding to float8": (
        lambda: (A.astype(F64) @ B).astype(F32).astype(BF16).astype(ml_dtypes.float8_e4m3fn),
        lambda: er.matmul(A, B, dtype="float8_e4m3fn"),
        "the output stored in bfloat16 on the way",
    ),
    "flushed": (
        lambda: np.where(np.abs(SMALL) < 2.0**-126, 0, SMALL * 1).astype(F32),
        lambda: er.multiply(SMALL, np.ones(4, F32)),
        "subnormal numbers flushed to zero",
    ),
    "saturating": (
        lambda: F16([65504, 3, -65504]),
        lambda: er.add(F16([6e4, 1, -6e4]), F16([6e4, 2, -6e4])),
        "overflow stores the largest number",
    ),
    "narrow weights of attention": (
        lambda: attention(BF16),
        lambda: er.scaled_dot_product_attention(*HEADS)["output"],
        "softmax weights rounded to bfloat16",
    ),
    "a chain": (
        lambda: np.exp(through(A, BF16).astype(F64)).sum(axis=1).astype(F32),
        lambda: er.sum(er.exp(A), axis=1),
        "inputs rounded to bfloat16",
    ),
    "complex inputs": (
        lambda: (C.astype(np.complex128) ** 2).astype(np.complex64),
        lambda: er.multiply(D, D),
        "inputs rounded to bfloat16",
    ),
}
RNG_ROWS = RNG.standard_normal((40, 64))
D = (A[0, :20] + 1j * A[1, :20]).astype(np.complex64)
C = through(D.view(F32), BF16).view(np.complex64)


@pytest.mark.parametrize("name", KERNELS)
@np.errstate(all="ignore")
def test_a_kernel_with_a_known_fault_is_told(name: str) -> None:
    output, result, words = KERNELS[name]
    assert told(output(), result()) == words


def test_another_order_is_told_without_a_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explaining, "declared", lambda *_: 1 / 0)
    found = told(np.float64(72.0), er.sum(LANES), "normal")
    assert found == "another order of the operations"


def spoilt(change: Callable[[Any], None]) -> Any:
    output = (A.astype(F64) @ B).astype(F32)
    change(output)
    return output


FAULTS: dict[str, Any] = {
    "noise": lambda x: x.__iadd__(RNG.standard_normal(x.shape).astype(F32)),
    "twice": lambda x: x.__imul__(F32(2)),
    "zeros": lambda x: x.fill(0),
    "NaN": lambda x: x.fill(np.nan),
    "a tile": lambda x: x[:, 16:].fill(0),
    "one element": lambda x: x.put(7, 1e3),
    "one that narrow sums might give": lambda x: x.put(7, x.flat[7] + F32(1e-3)),
}


@pytest.mark.parametrize("name", FAULTS)
def test_other_faults_look_like_nothing(name: str) -> None:
    assert told(spoilt(FAULTS[name]), er.matmul(A, B)) == ""


def test_what_would_cover_anything_explains_nothing() -> None:
    # In bfloat16 these sums have no correct digit: garbage would be covered, and is not named.
    x = np.concatenate([A * F32(1e6), -A * F32(1e6), A[:, :1]], axis=1)
    output = A[:, 0] + RNG.standard_normal(24).astype(F32) * F32(1e3)
    assert told(output, er.sum(x, axis=1)) == ""


def test_every_computation_that_is_told_covers_every_element() -> None:
    # The name may be another than the kernel's, but never one that an element contradicts.
    for seed in range(8):
        rng = np.random.default_rng(seed)
        x = rng.standard_normal((10, 48)).astype(F32)
        output = through(x, BF16).astype(F64).sum(axis=1).astype(F32)
        output[seed % 10] += F32(seed / 4)
        findings: dict[str, Findings] = {}
        result = er.sum(x, axis=1)
        judge(output, result, standard="any_order", findings=findings)
        actual = er.asarray(output)
        words = looks_like(actual, result, "output", findings["output"], seconds=60)
        # Outputs that are spoilt have too many bits to be values of a narrower format.
        covering = [
            one.words
            for one in declared(origin_of(result), er.get_format("float32"))
            if one.held is None
            and one.make().covers(actual, "any_order", flush_to_zero=one.flush).all()
        ]
        assert not words or words.removesuffix(" (every element covered)") in covering
        assert words or seed


def test_views_and_outputs_by_name() -> None:
    result = er.scaled_dot_product_attention(*HEADS)
    outputs = {"output": attention(BF16), "logsumexp": result["logsumexp"].rounded}
    assert told(outputs, result) == "softmax weights rounded to bfloat16"
    view = er.matmul(A, B).transpose()[3:, ::2]
    assert told((tfloat32(A, True) @ tfloat32(B, True)).T[3:, ::2], view) == (
        "inputs truncated to tfloat32"
    )


def test_no_trial_is_begun_when_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []

    def slow(*given: Any) -> Any:
        for one in declared(*given):
            begun.append(one.words)
            time.sleep(0.02)
            yield one

    monkeypatch.setattr(explaining, "declared", slow)
    output = spoilt(FAULTS["noise"])
    findings: dict[str, Findings] = {}
    judge(output, er.matmul(A, B), standard="any_order", findings=findings)
    actual = er.asarray(output)
    assert looks_like(actual, er.matmul(A, B), "output", findings["output"], seconds=0.01) == ""
    assert len(begun) == 1


def test_what_took_long_to_judge_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    output = tfloat32(A, True) @ tfloat32(B, True)
    result = er.matmul(A, B)
    findings: dict[str, Findings] = {}
    (judged,) = judge(output, result, standard="any_order", findings=findings)
    arrays = arrays_of(output, result)
    (one,) = explained([judged], arrays, result, findings)
    assert one.looks_like == "inputs truncated to tfloat32 (every element covered)"
    monkeypatch.setattr(failure, "SECONDS", judged.seconds / 2)
    (one,) = explained([judged], arrays, result, findings)
    assert (one.looks_like, one.where) == ("", one.where)
    assert one.where.startswith(("everywhere", "nearly", "scattered"))


def test_rounding_inputs_keeps_their_format_and_specials() -> None:
    x = er.asarray([1 + 2.0**-8, np.inf, np.nan, -3e38, 1e-40], "float32")
    found = rounded(x, er.get_format("bfloat16"), Rounding.NEAREST_EVEN)
    assert found.dtype == "float32"
    expected = x.data.astype(BF16).astype(F32)
    assert found.data.tobytes() == expected.tobytes()
    integers = er.asarray([1, 2], "int64")
    assert rounded(integers, er.get_format("bfloat16"), Rounding.NEAREST_EVEN) is integers


def test_assert_covers_says_it() -> None:
    output = tfloat32(A, True) @ tfloat32(B, True)
    with pytest.raises(AssertionError) as caught:
        er.assert_covers(output, er.matmul(A, B), rows=2)
    lines = str(caught.value).splitlines()
    assert lines[-1] == "  looks like: inputs truncated to tfloat32 (every element covered)"
    assert lines[-2].startswith("  where: ")
    assert lines[-3].startswith("  ... and ")


def test_a_definition_that_refuses_a_trial_hides_nothing() -> None:
    seen = []

    @er.define(name="picky", signature="()->()")
    def picky(v: Any, x: Any) -> Any:
        seen.append(1)
        if len(seen) > 1:
            raise RuntimeError("only once")
        return v.multiply(x, x)

    try:
        assert told(through(A, BF16) ** 2 + 1, er.picky(A)) == ""
        assert len(seen) > 5
    finally:
        OWN.clear()
        changed()
