"""The sweep in short: every operation has a kernel or a reason, and what is refused is known."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import pytest

import exactref as er
from docs.examples.finding import PROCESSORS, ours
from exactref_core.op import Op
from exactref_core.registry import get_op, ops
from tests.docs.findings_page import FINDINGS
from tests.every_op.kernels_formats import SPECS
from tests.sweep.__main__ import main
from tests.sweep.calls import CALLS, calls_of
from tests.sweep.judging import VERDICTS, verdicts
from tests.sweep.kept import load, read, written
from tests.sweep.known import ELSEWHERE, KNOWN, known
from tests.sweep.libraries import FORMATS, LIBRARIES, NUMPY, Library
from tests.sweep.running import Row, failing
from tests.sweep.samples import KINDS, Sample, samples
from tests.sweep.shrinking import candidates

SHORT = 9  # the longest axis of a sample
BUILT_IN = [op for op in ops() if op.forward is None]


def library(name: str) -> Library:
    pytest.importorskip(name)
    return LIBRARIES[name]


@pytest.mark.parametrize("name", LIBRARIES)
def test_every_operation_has_a_kernel_or_a_reason(name: str) -> None:
    own = library(name)
    for op in BUILT_IN:
        assert (own.kernel_of(op.name) is None) == (own.reason(op) is not None), op.name
    gradients = {op.name for op in ops() if op.forward is not None and own.reason(op) is None}
    kernels = {f"backward.{op.name}" for op in BUILT_IN if op.name not in own.none}
    wanted = kernels & {op.name for op in ops()} if name == "torch" else set()
    assert gradients == wanted


def test_tables_name_operations() -> None:
    names = {op.name for op in ops()}
    assert set(CALLS) <= names
    assert all(set(own.none) <= names for own in LIBRARIES.values())
    assert {op for table in KNOWN.values() for op, _ in table} <= names
    found = {why for table in KNOWN.values() for why in table.values()}
    assert found <= set(FINDINGS)
    assert {FINDINGS[name].processor for name in ELSEWHERE} == {"AMX"}


def swept() -> list[Any]:
    """The libraries with the operations that they have."""
    return [
        pytest.param(name, op, id=f"{name}-{op.name}")
        for name, one in LIBRARIES.items()
        for op in ops()
        if one.reason(op) is None
    ]


@pytest.mark.parametrize(("name", "op"), swept())
def test_what_is_refused_is_known(name: str, op: Op) -> None:
    own = library(name)
    judged = 0
    for place, form in enumerate(FORMATS):
        row = Row(op.name, form)
        start = (len(op.name) + 5 * place) % len(KINDS)
        for one in islice(samples(op, form, 0, KINDS[start:], most=SHORT), 1):
            row.take(own, one)
        judged += row.counts.sum()
        if row.wrong and known(name, op, form) is None:
            if not ours(name, PROCESSORS["AMD"]):
                pytest.xfail(f"{name} of another version, or on another processor")
            pytest.fail(str(row.failures))
    assert judged > 0


def known_places() -> list[Any]:
    """Library, operation and format of what is known, but for that of other processors."""
    return [
        pytest.param((name, *place), id=" ".join((name, *place)))
        for name, table in KNOWN.items()
        for place, why in table.items()
        if why not in ELSEWHERE
    ]


@pytest.mark.parametrize("place", known_places())
def test_what_is_known_has_an_input_of_its_own(place: tuple[str, str, str]) -> None:
    own, row = library(place[0]), Row(*place[1:])
    row.take(own, load_once()[place])
    assert not row.unjudged
    if not row.wrong:
        if not ours(place[0], PROCESSORS["AMD"]):
            pytest.xfail(f"{place[0]} of another version, or on another processor")
        pytest.fail(f"judged {row.counts}")


load_once = cache(load)


@pytest.mark.parametrize("shape", [(), (3,), (2, 2), (0, 3), (3, 0), (8, 9)])
def test_arrays_are_read_as_they_are_written(shape: tuple[int, ...]) -> None:
    array = np.full(shape, np.nan)
    array.flat[:2] = [-0.0, np.inf][: array.size]
    again = read(json.loads(json.dumps(written(array))))
    assert again.shape == shape
    assert again.tobytes() == array.tobytes()


def lossy(x: Any, axis: int) -> Any:
    """A sum that forgets what comes after the third term."""
    return np.asarray(np.take(x, range(min(3, x.shape[axis])), axis).sum(axis))


def of(op: str, form: str, kernel: Callable[..., Any], *tensors: Any) -> tuple[Library, Sample]:
    """A library of one kernel, and a sample with these tensors."""
    call = calls_of(get_op(op))[0]
    arrays = tuple(np.array(x, np.float64) for x in tensors)
    one = Sample(get_op(op), call, form, "strided", arrays, None, {})
    return replace(NUMPY, kernel_of=lambda name: kernel), one


def test_a_failure_shrinks_to_the_least_input() -> None:
    rng = np.random.default_rng(4)
    own, one = of("sum", "float32", lossy, np.round(rng.standard_normal((5, 20)) * 64) / 64)
    row = Row("sum", "float32")
    row.take(own, one)
    least = failing(own, next(iter(row.failures.values())))
    assert [x.tolist() for x in least.sample.tensors] == [[[0.0, 0.0, 0.0, 1.0]]]
    assert least.sample.layout == "contiguous"


def test_verdicts() -> None:
    x = np.float32([-2, 0, -1, 2**25, -(2**25)])
    returned = {"normal": -3, "worse": 0, "wrong": 50}
    for verdict, output in returned.items():
        assert VERDICTS[int(verdicts(er.sum(x), np.float32(output)))] == verdict
    small = np.float32([2.0**-100, 2.0**-100, 1.0, 1.0])
    found = verdicts(er.multiply(small, small[::-1] * np.float32(2.0**-40)), np.float32([0] * 4))
    assert [VERDICTS[i] for i in found] == ["flushes", "flushes", "flushes", "flushes"]


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("form", FORMATS)
def test_tensors_hold_the_numbers_in_every_layout(name: str, form: str) -> None:
    own = library(name)
    values = np.arange(6.0).reshape(2, 3)
    for layout, contiguous in (("contiguous", True), ("strided", False), ("transposed", False)):
        made = own.array(values, form, layout)
        held = er.asarray(made)
        assert (held.dtype, held.values().tolist()) == (form, values.tolist())
        flag = made.is_contiguous() if name == "torch" else made.flags.c_contiguous
        assert flag == contiguous


@pytest.mark.parametrize("form", FORMATS)
def test_candidates_are_numbers_of_the_format(form: str) -> None:
    spec = SPECS[form]
    for value in (spec.largest, -spec.largest, spec.eta, 3 * spec.eta, 3.0, 5 * spec.tiny):
        for one in candidates(value, spec):
            assert er.asarray(one, form).values().tolist() == one


def test_a_sample_is_made_of_its_place() -> None:
    op = get_op("backward.matmul")
    again = [list(samples(op, "float16", 1)) for _ in range(2)]
    for one, other in zip(*again, strict=True):
        assert all(map(np.array_equal, one.tensors, other.tensors, [True] * 2))
        assert one.grad is not None
        assert one.grad.shape == tuple(one.sizes[letter] for letter in one.call.output)


def test_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sweep", "--library", "numpy", "--ops", "negative", "rope", "--formats", "float16"]
    monkeypatch.setattr(sys, "argv", words)
    assert main() == 0
    told = capsys.readouterr().out
    assert "| negative | float16 | 24" in told
    assert "not swept: rope: NumPy has no kernel of it" in told
