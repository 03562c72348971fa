"""Products of complex numbers: every tree of every kernel inside, planted faults outside."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest

import exactref as er
from tests.every_op import kernels_complex as kc
from tests.every_op.kernels import Machine
from tests.every_op.kernels_formats import SPECS, store
from tests.every_op.kernels_judging import Judge, budget, some
from tests.every_op.kernels_orders import any_orders, columns, evaluate, normal_orders
from tests.every_op.kernels_values import KINDS
from tests.every_op.test_sound_complex import FORMATS, whole
from tests.every_op.test_sound_reductions import doubling, factors, sequential

LENGTHS = (2, 3, 4, 7, 31, 32, 33, 65)


class Multiplying(Machine):
    """A machine whose trees multiply pairs of parts, each step by one of the kernels' ways."""

    rng = np.random.default_rng(0)

    def add(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        steps = Machine(self.name, self.flush)
        ways = list(kc.products(steps, (a[0], a[1]), (b[0], b[1])))
        return np.stack(ways[self.rng.integers(len(ways))][1])


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("n", LENGTHS)
def test_every_tree_is_inside(name: str, n: int) -> None:
    rng = np.random.default_rng([96, list(FORMATS).index(name), n])
    judge, spec = Judge(), SPECS[FORMATS[name]]
    for kind in some(rng, KINDS, 2 if n < 31 else 1):
        x, y = (factors(rng, kind, (budget(6, 40), n), spec) for _ in range(2))
        if rng.random() < 0.3:
            y = np.where(rng.random(y.shape) < 0.7, np.copysign(0.0, y), y)
        for flush in (None, "always"):
            machine = Multiplying(spec.compute, flush)
            terms = np.stack([machine.load(z, spec.tiny if flush else 0.0) for z in (x, y)])
            rule = {"flush_to_zero": True} if flush else {}
            result = er.prod(er.asarray(whole(x, y), name), axis=1)
            case = judge.take(result, name, f"prod {name}", (whole(x, y),), **rule)
            orders = [("normal", normal_orders(n)), ("any_order", any_orders(rng, n, 3))]
            for standard, trees in orders:
                for order, tree in trees:
                    found = evaluate(tree, columns(terms), machine)
                    case.covers(order, whole(*(store(z, spec) for z in found)), standard)
    judge.verdict()


@pytest.mark.parametrize("name", FORMATS)
def test_at_the_edge_of_the_range(name: str) -> None:
    """Moduli whose products come within a few units of the largest number, or pass it."""
    rng = np.random.default_rng([97, list(FORMATS).index(name)])
    judge, spec = Judge(), SPECS[FORMATS[name]]
    machine, count = Multiplying(spec.compute), budget(40, 1000)
    angle, size = rng.uniform(0, 2 * np.pi, (count, 4)), rng.uniform(0.5, 2, (count, 4))
    size[:, 1] = spec.largest / 4 / (size[:, 0] * size[:, 2] * size[:, 3])
    size[:, 2] *= 4 * rng.uniform(0.7, 1.5, count)
    size = rng.permuted(size, axis=1)
    x, y = (store(size * turn(angle), spec, overflow="saturate") for turn in (np.cos, np.sin))
    result = er.prod(er.asarray(whole(x, y), name), axis=1)
    case = judge.take(result, name, f"prod {name}", (whole(x, y),))
    terms = np.stack([machine.load(z) for z in (x, y)])
    for standard, trees in (("normal", normal_orders(4)), ("any_order", any_orders(rng, 4, 6))):
        for order, tree in trees:
            found = evaluate(tree, columns(terms), machine)
            case.covers(order, whole(*(store(z, spec) for z in found)), standard)
    judge.verdict()


def exactly(row: np.ndarray) -> tuple[Fraction, Fraction]:
    """The product of a row by rational numbers."""
    pairs = [(Fraction(float(z.real)), Fraction(float(z.imag))) for z in row]

    def times(x: tuple[Fraction, Fraction], y: tuple[Fraction, Fraction]) -> tuple:
        return x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]

    return reduce(times, pairs)


@pytest.mark.parametrize("name", FORMATS)
def test_rounded_is_exact(name: str) -> None:
    """Parts that cancel by chance or by construction, real factors, imaginary ones."""
    rng = np.random.default_rng([98, list(FORMATS).index(name)])
    z = whole(*(rng.integers(-9, 10, (60, 12)).astype(float) for _ in range(2)))
    z[:20] = whole(*(rng.standard_normal((20, 12)) for _ in range(2))).astype(name)
    z[20:30, 1] = np.conj(z[20:30, 0]) * 2  # a real product
    z[30:40].real, z[40:50].imag = 0.0, 0.0
    result = er.prod(z.astype(name), axis=1)
    parts = np.float32 if name == "complex64" else np.float64
    for got, row in zip(np.asarray(result.rounded.values()), z, strict=True):
        real, imag = exactly(row)
        # Division of integers rounds to float64 once; those here are exact or not halfway again.
        assert (got.real, got.imag) == (parts(float(real)), parts(float(imag)))


FAULTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "a conjugate": lambda z: np.prod(z[:, 1:], axis=1) * np.conj(z[:, 0]),
    "a factor dropped": lambda z: np.prod(z[:, 1:], axis=1),
    "a factor doubled": lambda z: np.prod(z, axis=1) * z[:, 3],
    "parts alone": lambda z: np.prod(z.real, axis=1) + 1j * np.prod(z.imag, axis=1),
    "the sign of i squared": lambda z: reduce(
        lambda a, b: a.real * b.real + a.imag * b.imag + 1j * (a.real * b.imag + a.imag * b.real),
        z.T,
    ),
    "bfloat16 parts": lambda z: np.prod(
        store(z.real, SPECS["bfloat16"]) + 1j * store(z.imag, SPECS["bfloat16"]), axis=1
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_outside(fault: str) -> None:
    rng = np.random.default_rng(99)
    z = (rng.standard_normal((200, 8)) + 1j * rng.standard_normal((200, 8))).astype(np.complex64)
    output = FAULTS[fault](z.astype(np.complex128)).astype(np.complex64)
    inside = np.asarray(er.prod(z, axis=1).covers(output, "any_order")).reshape(200, 2)
    assert inside.all(axis=-1).mean() < 0.02


def test_real_factors_are_bounded_as_real_ones() -> None:
    """An imaginary part that is 0 in every factor is 0, and the real part rounds by 2u at most."""
    x = np.random.default_rng(100).standard_normal((50, 9)).astype(np.float32)
    both, one = er.prod(x.astype(np.complex64), axis=1), er.prod(x, axis=1)
    tolerance = np.asarray(both.tolerance("any_order").values())
    assert (tolerance.imag == 0).all()
    assert (tolerance.real <= 2.1 * np.asarray(one.tolerance("any_order").values())).all()


def test_many_factors_are_bounded_by_their_moduli() -> None:
    """On the unit circle no bound grows but with the number of factors."""
    angle = np.random.default_rng(101).uniform(0, 7, (2, 200))
    z = np.exp(1j * angle)
    tolerance = np.asarray(er.prod(z, axis=1).tolerance("any_order").values())
    assert (tolerance.real < 200 * 2.5 * 2.0**-53).all()


def test_products_of_numbers_on_the_unit_circle_are_decided() -> None:
    """Their moduli are exactly 1, which no enclosure tells."""
    angles = np.random.default_rng(103).uniform(-3, 3, (4, 5))
    result = er.prod(er.exp(1j * angles), axis=1)
    wanted = np.exp(1j * angles.sum(axis=1))
    assert np.allclose(np.asarray(result.rounded.values()), wanted, rtol=1e-14)
    assert (np.abs(np.asarray(result.tolerance().values())) < 1e-13).all()


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_gradients_are_torchs(name: str, n: int) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng([102, n])
    z = (rng.standard_normal((30, n)) + 1j * rng.standard_normal((30, n))).astype(name)
    g = (rng.standard_normal(30) + 1j * rng.standard_normal(30)).astype(name)
    z[:5, 0], z[5:10, -1], z[8:10] = 0, 0, 0
    leaf = torch.tensor(z).requires_grad_()
    torch.prod(leaf, dim=1).backward(torch.tensor(g))
    found = leaf.grad.numpy()
    result = er.backward.prod(g, z, axis=1)
    for standard in ("normal", "any_order"):
        assert np.asarray(result.covers(found, standard)).all()
    for row, grad, got in zip(z, g, np.asarray(result.rounded.values()), strict=True):
        for j in range(n):
            real, imag = exactly(np.conj(np.append(np.delete(row, j), np.conj(grad))))
            assert np.isclose(got[j], complex(float(real), float(imag)), rtol=1e-6, atol=0)
    for fault in (np.conj(found), found * 1.001):
        inside = np.asarray(result.covers(fault, "any_order")).reshape(30, n, 2).all(axis=-1)
        assert inside[10:].mean() < 0.05


@pytest.mark.parametrize("name", FORMATS)
def test_products_up_to_each(name: str) -> None:
    rng = np.random.default_rng([98, list(FORMATS).index(name)])
    judge, spec = Judge(), SPECS[FORMATS[name]]
    machine = Multiplying(spec.compute)
    for n in (1, 4, 9):
        x, y = (factors(rng, "scaled", (budget(4, 40), n), spec) for _ in range(2))
        result = er.cumulative_prod(er.asarray(whole(x, y), name), axis=1)
        case = judge.take(result, name, f"cumulative_prod {name}", (whole(x, y),))
        terms = columns(np.stack([machine.load(z) for z in (x, y)]))
        for label, standard, scan in (
            ("sequential", "normal", sequential),
            ("doubling", "any_order", doubling),
        ):
            with np.errstate(all="ignore"):
                found = np.stack(scan(machine, terms), -1)
            case.covers(label, whole(*(store(z, spec) for z in found)), standard)
        # A part of the last factor that is lost moves the last product alone.
        last = terms[-1].copy()
        last[1] *= 0.5
        with np.errstate(all="ignore"):
            found = np.stack(sequential(machine, [*terms[:-1], last]), -1)
        verdicts = result.covers(er.asarray(whole(*(store(z, spec) for z in found)), name))
        assert not np.all(np.asarray(verdicts)[:, -1])
        assert np.all(np.asarray(verdicts)[:, :-1])
    judge.verdict()
