"""Merges of partial outputs: exact values, kernels of every kind inside, planted faults outside."""

from __future__ import annotations

from typing import Any

import gmpy2
import numpy as np
import pytest

import exactref as er
from exactref_core.errors import InputError
from exactref_core.formats.catalogue import get_format
from tests.core.softmax_kernels import LOG2E, Machine, block_order, index_order, random_tree
from tests.core.softmax_oracle import logsumexp, mean, round_real, row_of

F32 = np.float32
PARTS = (1, 2, 3, 8, 33, 70)
KINDS = ("normal", "large", "steep", "empty parts", "cancelling", "ties", "tiny outputs", "far")


def parts(rng: np.random.Generator, kind: str, form: str = "float32") -> tuple[Any, Any]:
    """Outputs (p, l, d) in a format and log-sum-exps (p, l) in float32."""
    p, rows, d = int(rng.choice(PARTS)), int(rng.integers(1, 4)), int(rng.integers(1, 4))
    outputs, logs = rng.standard_normal((p, rows, d)), rng.standard_normal((p, rows)) * 2 + 5
    if kind == "large":
        logs += 3000 * rng.standard_normal()
    elif kind == "steep":
        logs *= 30
    elif kind == "empty parts":
        gone = rng.random((p, rows)) < 0.5
        logs[gone], outputs[gone] = -np.inf, 0
    elif kind == "cancelling":
        outputs *= 10.0 ** rng.integers(0, 6, (p, 1, 1))
    elif kind == "ties":
        logs, outputs = np.rint(logs), np.rint(outputs)
    elif kind == "tiny outputs":
        outputs *= 2.0 ** rng.integers(-149, -120)
    elif kind == "far":
        logs = rng.choice([0.0, -80.0, -95.0, -104.0], (p, rows))
    return er.asarray(outputs.tolist(), form), er.asarray(logs.astype(F32), "float32")


def answer(outputs: Any, logs: Any, form: str) -> tuple[np.ndarray, np.ndarray]:
    """The merge to 300 bits and more, rounded once, ties proved."""
    o, s = outputs.values(), logs.values()
    found = np.zeros(o.shape[1:])
    wide = np.full(s.shape[1:], -np.inf)
    for i in range(s.shape[1]):
        kept = np.flatnonzero(s[:, i] > -np.inf).tolist()
        if not kept:
            continue
        zero = [gmpy2.mpq(0)] * len(kept)
        row = row_of([gmpy2.mpq(float(s[j, i])) for j in kept], zero, gmpy2.mpq(1))
        wide[i] = round_real(logsumexp(row), get_format("float32"))
        for d in range(o.shape[2]):
            values = [gmpy2.mpq(float(o[j, i, d])) for j in kept]
            found[i, d] = round_real(mean(row, values), get_format(form))
    return found, wide


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["float32", "bfloat16"])
def test_merges_are_exact(kind: str, form: str) -> None:
    rng = np.random.default_rng([1, KINDS.index(kind)])
    for _ in range(3):
        outputs, logs = parts(rng, kind, form)
        result = er.merge_attention(outputs, logs)
        wanted = answer(outputs, logs, form)
        for name, exact in zip(("output", "logsumexp"), wanted, strict=True):
            assert np.array_equal(result[name].rounded.values(), exact), (name, outputs, logs)
        assert result["logsumexp"].dtype == "float32"


@np.errstate(all="ignore")
def kernel(
    m: Machine, o: Any, s: Any, order: Any, way: str, fault: str = ""
) -> tuple[np.ndarray, np.ndarray]:
    """A merge in float32: by a late division, by weights, or from the stored log-sum-exp."""
    o, s = m.store(np.moveaxis(o, 0, -1)), m.store(np.moveaxis(s, 0, -1))
    top = s.max(axis=-1)
    safe = np.where(top == -np.inf, F32(0), top)
    gaps = m.store(s - safe[..., None])
    powers = m.exp2(m.store(gaps * F32(LOG2E))) if way == "base 2" else m.exp(gaps)
    total = order(m, powers)
    logs = m.store(safe + m.log(total))
    logs = np.where(top == -np.inf, F32(-np.inf), logs)
    if way in ("late", "base 2"):
        sums = order(m, m.store(powers[..., None, :] * o))
        mean = m.store(sums / total[..., None])
    else:
        if way == "weights":
            weights = m.store(powers / total[..., None])
        else:
            weights = m.exp(m.store(s - np.where(top == -np.inf, F32(0), logs)[..., None]))
        mean = order(m, m.store(weights[..., None, :] * o))
    return np.where(top[..., None] == -np.inf, F32(0), mean), logs


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("standard", ["normal", "any_order"])
@pytest.mark.parametrize("flush", [False, True])
def test_kernels_are_inside(kind: str, standard: str, flush: bool) -> None:
    rng = np.random.default_rng([2, KINDS.index(kind)])
    for form in ("float32", "bfloat16", "float16"):
        outputs, logs = parts(rng, kind if form != "float16" else "normal", form)
        result = er.merge_attention(outputs, logs)
        for order in (index_order, block_order, *((random_tree,) * (standard == "any_order"))):
            for way in ("late", "base 2", "weights", "stored"):
                m = Machine(flush=flush, ulps=int(rng.integers(2)), rng=rng)
                found = kernel(m, outputs.values().astype(F32), logs.values(), order, way)
                for name, array in zip(("output", "logsumexp"), found, strict=True):
                    given = er.asarray(array, form if name == "output" else "float32")
                    covered = result[name].covers(given, standard, flush_to_zero=flush)
                    assert covered.all(), (name, way, order.__name__, outputs, logs)


def test_pairs_merged_one_after_the_other_are_chains() -> None:
    """A merge of a merge's stored outputs is judged with what its inputs carry."""
    rng = np.random.default_rng(3)
    o, s = rng.standard_normal((2, 4, 3)).astype(F32), rng.standard_normal((2, 4)).astype(F32)
    whole = er.merge_attention(o, s)
    again = er.merge_attention(whole["output"][None], whole["logsumexp"][None])
    once, logs = kernel(Machine(), o, s, index_order, "late")
    twice, _ = kernel(Machine(), once[None], logs[None], index_order, "stored")
    assert again["output"].covers(twice).all()


FAULTS = ("plain mean", "a part left out", "log-sum-exps swapped", "base 2", "not normalised")


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_outside(fault: str) -> None:
    rng = np.random.default_rng(4)
    for count in (2, 5, 40):
        o = rng.standard_normal((count, 6, 4)).astype(F32)
        s = (rng.standard_normal((count, 6)) + 4).astype(F32)
        result = er.merge_attention(o, s)
        wrong = s.copy()
        if fault == "plain mean":
            wrong[:] = 0
        elif fault == "a part left out":
            wrong[-1] = -np.inf
        elif fault == "log-sum-exps swapped":
            wrong[[0, 1]] = wrong[[1, 0]]
        elif fault == "base 2":
            wrong = (s * F32(np.log(2))).astype(F32)
        mean, logs = kernel(Machine(), o, wrong, index_order, "late")
        if fault == "not normalised":
            mean = mean * np.exp(s - s.max(axis=0)).sum(axis=0)[:, None]
        assert not result["output"].covers(mean, standard="any_order").values().any()
        if fault in ("a part left out", "plain mean", "base 2"):
            assert not result["logsumexp"].covers(logs, standard="any_order").values().any()


def test_parts_without_keys() -> None:
    o = np.asarray([[[1.0], [0.0]], [[np.nan], [0.0]]], F32)
    s = np.asarray([[2.0, -np.inf], [-np.inf, -np.inf]], F32)
    r = er.merge_attention(o, s)
    assert r["output"].rounded.tolist() == [[1.0], [0.0]]
    assert r["logsumexp"].rounded.tolist() == [2.0, -np.inf]
    assert r["output"].may_be("nan").tolist() == [[True], [True]]  # 0 * nan; a kernel's -inf + inf
    assert r["logsumexp"].may_be("nan").tolist() == [False, False]


def test_attention_over_parts_of_the_keys_merges_to_attention_over_all() -> None:
    """Certified: the exact merge of the exact parts is the exact whole."""
    rng = np.random.default_rng(5)
    q, k, v = (rng.standard_normal(n).astype(F32) for n in ((4, 3), (10, 3), (10, 2)))
    whole = er.scaled_dot_product_attention(q, k, v)
    found = [
        er.scaled_dot_product_attention(q, k[a:b], v[a:b], dtype="float64")
        for a, b in ((0, 3), (3, 10))
    ]
    outputs = np.stack([r.rounded.output.values() for r in found])
    logs = np.stack([r.rounded.logsumexp.values() for r in found])
    merged = er.merge_attention(outputs, logs)
    for name in ("output", "logsumexp"):
        assert np.allclose(
            merged[name].rounded.values(), whole[name].rounded.values(), rtol=1e-6, atol=1e-7
        )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_gradients_are_torchs(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(6)
    form = getattr(torch, dtype)
    shapes = ((3, 5, 4), (3, 5), (5, 4), (5,))
    o, s, g, h = (torch.tensor(rng.standard_normal(n)).to(form) for n in shapes)

    def gradients(o: Any, s: Any, g: Any, h: Any) -> Any:
        leaves = [x.clone().requires_grad_() for x in (o, s)]
        w = leaves[1].softmax(0)
        made = (w[..., None] * leaves[0]).sum(0), leaves[1].logsumexp(0)
        return torch.autograd.grad(made, leaves, (g, h))

    found = er.backward.merge_attention(g, o, s, grad_logsumexp=h)
    given = gradients(o, s, g, h)
    wide = gradients(*(x.double() for x in (o, s, g, h)))
    without = gradients(o, s, g, 0 * h)
    for place, name in enumerate(("grad_outputs", "grad_logsumexps")):
        assert found[name].covers(given[place], standard="any_order").all()
        assert found[name].covers(without[place], standard="any_order").all() == (place == 0)
        if dtype == "float32":
            assert np.array_equal(found[name].rounded.values(), wide[place].float().numpy())


def test_gradients_of_narrow_outputs_come_in_their_formats() -> None:
    o = er.asarray([[[1.0]], [[2.0]]], "bfloat16")
    s = er.asarray([[0.5], [0.25]], "float32")
    found = er.backward.merge_attention(er.asarray([[1.0]], "bfloat16"), o, s)
    assert found["grad_outputs"].dtype == "bfloat16"
    assert found["grad_logsumexps"].dtype == "float32"


@pytest.mark.parametrize("shapes", [((2, 3, 4), (3, 2)), ((3, 4), (3,)), ((0, 3, 4), (0, 3))])
def test_shapes_that_do_not_fit_are_named(shapes: Any) -> None:
    with pytest.raises(InputError, match="outputs has shape"):
        er.merge_attention(*(np.ones(shape, F32) for shape in shapes))
