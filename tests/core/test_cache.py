"""The cache: hits are bit-identical, damage is no hit, nothing is taken for something else."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import exactref as er
from exactref_core import cache, compare
from exactref_core.arithmetic import remembered
from exactref_core.arithmetic.graph_digest import NotDigestible, digest
from exactref_core.errors import InputError

F32 = np.float32


def real(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(F32)


def answers(result: Any) -> list[Any]:
    """All that a result tells about its first output, as bits."""
    first = result[next(iter(result.outputs))]
    found = [first.rounded]
    for standard in ("normal", "any_order"):
        found += [first.tolerance(standard), *first.finite_range(standard)]
        found += [first.may_be(what, standard) for what in ("+inf", "-inf", "nan")]
    return [np.asarray(array.data).tobytes() for array in found]


@pytest.fixture(autouse=True)
def everything_is_worth_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "LEAST_CELLS", 0)
    monkeypatch.setattr(remembered, "LEAST_SECONDS", 0.0)


def special() -> Any:
    x = real(40, 30)
    x[3, 4], x[5, 6], x[7, :] = np.inf, np.nan, -0.0
    return x


CASES: dict[str, Callable[[], Any]] = {
    "sum": lambda: er.sum(special(), axis=-1),
    "divide": lambda: er.divide(special(), real(30)),
    "matmul": lambda: er.matmul(real(20, 30), real(30, 10)),
    "complex multiply": lambda: er.multiply(
        real(20) + 1j * real(20), real(20) * 1j, dtype="complex64"
    ),
    "softmax": lambda: er.softmax(special()),
    "attention": lambda: er.scaled_dot_product_attention(
        real(2, 6, 4), real(2, 6, 4, seed=1), real(2, 6, 4, seed=2), is_causal=True
    ),
    "gelu": lambda: er.gelu(special()),
    "matrix_exp": lambda: er.matrix_exp(real(3, 3)),
    "cumulative_sum": lambda: er.cumulative_sum(real(5, 6), axis=-1),
    "where": lambda: er.where(real(4, 5) > 0, real(4, 5), real(4, 5, seed=3)),
    "layer_norm": lambda: er.layer_norm(real(4, 8), 8),
    "gradient": lambda: er.backward.softmax(real(4, 8), real(4, 8, seed=4)),
}


@pytest.mark.parametrize("case", CASES)
def test_a_hit_is_bit_identical(tmp_path: Path, case: str) -> None:
    expected = answers(CASES[case]())
    with cache.use(tmp_path) as first:
        assert answers(CASES[case]()) == expected
    assert first is not None
    assert (first.hits, first.misses > 0) == (0, True)
    with cache.use(tmp_path) as second:
        assert answers(CASES[case]()) == expected
    assert second is not None
    assert (second.hits > 0, second.misses) == (True, 0)


def test_verdicts_from_the_cache(tmp_path: Path) -> None:
    a = real(20, 30)
    out = a @ a.T
    out[3, 4] += 1
    plain = compare.judge(out, er.matmul(a, a.T.copy()))[0]
    with cache.use(tmp_path):
        tables = [compare.judge(out, er.matmul(a, a.T.copy()))[0].table() for _ in range(2)]
    assert tables == [plain.table()] * 2


@pytest.mark.parametrize("harm", ["shorter", "flipped", "empty", "folder"])
def test_a_damaged_file_is_evaluated_again(tmp_path: Path, harm: str) -> None:
    expected = answers(CASES["sum"]())
    with cache.use(tmp_path):
        answers(CASES["sum"]())
    for path in tmp_path.glob("*.exactref"):
        data = path.read_bytes()
        if harm == "folder":
            path.unlink()
            path.mkdir()
            continue
        worse = {
            "shorter": data[:-1],
            "empty": b"",
            "flipped": data[:50] + bytes([data[50] ^ 1]) + data[51:],
        }
        path.write_bytes(worse[harm])
    with cache.use(tmp_path) as again:
        assert answers(CASES["sum"]()) == expected
    assert again is not None
    assert again.hits == 0


def test_another_version_has_its_own_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with cache.use(tmp_path):
        answers(CASES["sum"]())
    before = set(tmp_path.iterdir())
    monkeypatch.setattr(cache, "fingerprint", lambda: b"another")
    with cache.use(tmp_path) as other:
        answers(CASES["sum"]())
    assert other is not None
    assert other.hits == 0
    assert before < set(tmp_path.iterdir())


def test_what_differs_in_anything_is_another_thing() -> None:
    x, y = real(4, 6), real(4, 6, seed=1)
    negative = x.copy()
    negative[0, 0] = 0.0
    other = negative.copy()
    other[0, 0] = -0.0
    results = [
        er.sum(x, axis=0),
        er.sum(x, axis=1),
        er.sum(x),
        er.sum(x, axis=1, keepdims=True),
        er.sum(y, axis=1),
        er.sum(negative),
        er.sum(other),
        er.sum(x, dtype="bfloat16"),
        er.sum(x, dtype="float64"),
        er.sum(x, rounding="toward_zero"),
        er.sum(x, overflow="saturate"),
        er.sum(er.asarray(x.tolist(), "float64"), dtype="float32"),
        er.mean(x),
        er.add(x, x),
        er.add(x, y),
        er.add(y, x),
        er.multiply(x, x),
        er.softmax(x),
        er.softmax(x, axis=0),
        er.log_softmax(x),
        er.exp(x),
        er.exp2(x),
        er.square(x),
        er.scaled_dot_product_attention(x, x, x)["output"],
        er.scaled_dot_product_attention(x, x, x, is_causal=True)["output"],
        er.scaled_dot_product_attention(x, x, x, scale=0.5)["output"],
        er.add(er.add(x, y), y),
        er.add(er.add(x, y, rounding="up"), y),
    ]
    keys = [digest(result.outputs["output"].parts[0].node) for result in results]
    assert len(set(keys)) == len(keys)
    assert digest(er.sum(x.copy()).outputs["output"].parts[0].node) == keys[2]


def test_layouts_of_the_same_numbers_are_the_same() -> None:
    x = real(6, 4)
    turned = np.asfortranarray(x)
    one, other = (er.sum(a, axis=0).outputs["output"].parts[0].node for a in (x, turned))
    assert digest(one) == digest(other)


def test_a_step_that_cannot_be_told_is_not_kept(tmp_path: Path) -> None:
    from exactref_core.arithmetic.graph import Node

    node = er.sum(real(3)).outputs["output"].parts[0].node
    strange = Node("function", node.operands, node.shape, lambda: None)
    with pytest.raises(NotDigestible):
        digest(strange)
    with cache.use(tmp_path) as found:
        remembered.remembered(strange, "rounded", lambda: (np.zeros(1),))
    assert list(tmp_path.iterdir()) == []
    assert found is not None


def test_a_standard_of_somebody_else_is_not_kept(tmp_path: Path) -> None:
    class Mine(er.extend.AnyOrder):  # type: ignore[name-defined]
        """A rule that may be another one tomorrow."""

        name = "mine"

    provider = type("Provider", (), {"exactref_standards": lambda self: [Mine()]})()
    er.extend.register(provider)
    try:
        with cache.use(tmp_path):
            er.sum(real(9)).finite_range("mine")
        assert list(tmp_path.iterdir()) == []
    finally:
        er.extend.unregister(provider)


def test_the_limit_lets_the_oldest_go(tmp_path: Path) -> None:
    with cache.use(tmp_path, limit=6_000) as found:
        assert found is not None
        for key, age in ((b"a", 200), (b"b", 100)):
            found.save(key, [np.zeros(300)])
            then = time.time() - age
            os.utime(found.path(key), (then, then))
        assert found.load(b"a") is not None
        found.save(b"c", [np.ones(300)])
        assert found.load(b"b") is None
        assert found.load(b"a") is not None
        assert found.load(b"c") is not None
        found.save(b"d", [np.ones(3000)])
        assert found.load(b"d") is None
        assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 6_000


def write(folder: Path, value: int) -> None:
    """Save one value under one key, many times."""
    found = cache.Cache(folder)
    for _ in range(50):
        found.save(b"key", [np.full(2000, value)])


def test_writers_at_the_same_time(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write, args=(tmp_path, value)) for value in (1, 2)]
    for writer in writers:
        writer.start()
    reader, seen = cache.Cache(tmp_path), []
    while any(writer.is_alive() for writer in writers):
        found = reader.load(b"key")
        if found is not None:
            seen.append(set(found[0].tolist()))
    for writer in writers:
        writer.join()
    assert all(len(values) == 1 for values in seen)
    assert [path.suffix for path in tmp_path.iterdir()] == [".exactref"]


def test_a_folder_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(InputError, match=r"cache folder .* cannot be used"),
        cache.use(tmp_path / "file"),
    ):
        pass


def test_small_and_quick_things_make_no_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    with cache.use(tmp_path):
        er.sum(F32([1, 2, 3])).tolerance()
    assert list(tmp_path.iterdir()) == []
