"""What the arena runs: families of kernels, right ones and broken ones, and where they run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

import exactref as er
from tests.every_op.kernels import Machine
from tests.every_op.kernels_formats import SPECS, Spec, store

Values = np.ndarray
Rng = np.random.Generator
Finish = Callable[[Values, Spec], Values]


@dataclass(frozen=True)
class Bench:
    """Where a kernel runs: the output format, and the machine of the compute format."""

    spec: Spec
    m: Machine

    @staticmethod
    def of(name: str) -> Bench:
        return Bench(SPECS[name], Machine(SPECS[name].compute))

    @property
    def narrow(self) -> bool:
        """Whether the output format has fewer bits than the compute format."""
        return self.spec.name != self.spec.compute

    def number(self, value: float) -> Any:
        """A constant as the compute format holds it."""
        return self.m.dtype.type(value)


def nearest(values: Values, spec: Spec) -> Values:
    """The store of every right kernel: one rounding to nearest, ties to even."""
    return store(values, spec)


@dataclass(frozen=True)
class Kernel:
    """One implementation: from a bench and inputs in the compute format to values to be stored.

    ``standard`` is the strictest that has to accept it; ``longest`` the largest size it is run on;
    ``when`` says in which output formats it is what it says. With ``flush`` it turns every
    subnormal number into zero, and is judged by the rule that admits it.
    """

    name: str
    run: Callable[..., Values]
    standard: str = "any_order"
    finish: Finish = nearest
    longest: int = 10**7
    when: Callable[[Bench], bool] = lambda bench: True
    library: bool = False
    flush: bool = False

    def output(self, bench: Bench, tensors: tuple[Values, ...]) -> Values:
        """What the kernel returns for input values of the format, as float64."""
        if self.flush:
            bench = Bench(bench.spec, Machine(bench.m.name, "always"))
        with np.errstate(all="ignore"):
            tiny = bench.spec.tiny if self.flush else 0.0
            given = tensors if self.library else tuple(bench.m.load(x, tiny) for x in tensors)
            found = self.run(bench, *given)
            return self.finish(np.asarray(found, np.float64), bench.spec)


@dataclass(frozen=True)
class Fault(Kernel):
    """A broken implementation; ``kind`` is the mistake, which other families may share."""

    kind: str = ""


Tensors = Callable[[Rng, str, int, int, Spec], tuple[Values, ...]]


@dataclass(frozen=True)
class Family:
    """An operation with its kernels, its inputs by value class, and its sizes.

    ``tensors`` makes inputs of a class, of so many rows and of a size, for a format. Each element
    of the classes in ``slow`` is certified one by one: there are ``few`` terms of them at most.
    In a guided search ``climbers`` rows climb, of the sizes ``climbed`` if any are named.
    ``magnitude`` gives sum |a||b| of each output for the rule that divides by it; ``own`` is the
    framework's own run in the output format.
    """

    group: str
    op: str
    tensors: Tensors
    right: tuple[Kernel, ...]
    broken: tuple[Fault, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    formats: tuple[str, ...] = ("float32", "bfloat16", "float16", "float64")
    sizes: tuple[int, ...] = (1,)
    slow: tuple[str, ...] = ("near_overflow",)
    few: int = 1024
    most: int = 256
    climbers: int = 16
    climbed: tuple[int, ...] = ()
    work: int = 2**15
    magnitude: Callable[..., Values] | None = None
    own: Callable[..., Values] | None = None
    output: str | None = None
    label: str = ""
    shapes: Any = None  # of a marked test, where the kernels take fewer than it draws
    call: Callable[..., Any] | None = None  # where the reference is more than the op and parameters

    @property
    def name(self) -> str:
        return self.label or self.op

    def rows(self, kind: str, size: int) -> int:
        """How many rows of a size are drawn."""
        if kind in self.slow:
            return self.few // max(1, size)
        return max(1, min(self.most, self.work // max(1, size)))

    def reference(self, tensors: tuple[Values, ...], name: str) -> Any:
        """The result of the library for these inputs."""
        if self.call is not None:
            return self.call(tensors, name)
        function: Any = er
        for part in self.op.split("."):
            function = getattr(function, part)
        result = function(*(er.asarray(x, name) for x in tensors), **self.parameters)
        return result if self.output is None else result[self.output]


def right(
    name: str, run: Callable[..., Values], standard: str = "any_order", **more: Any
) -> Kernel:
    return Kernel(name, run, standard, **more)


def fault(kind: str, run: Callable[..., Values], **more: Any) -> Fault:
    return Fault(kind, run, kind=kind, **more)


def finishing(mode: str) -> Finish:
    """A store that rounds in another mode."""
    return partial(_stored, mode)


def _stored(mode: str, values: Values, spec: Spec) -> Values:
    return store(values, spec, mode)


def through(name: str) -> Finish:
    """A store that rounds to another format first."""
    return partial(_through, name)


def _through(name: str, values: Values, spec: Spec) -> Values:
    return store(store(values, SPECS[name]), spec)


def flushing(values: Values, spec: Spec) -> Values:
    """A store that flushes subnormal results."""
    found = store(values, spec)
    return np.where(np.abs(found) < spec.tiny, 0.0, found)


def flushed(name: str, run: Callable[..., Values], longest: int = 100) -> Kernel:
    """A right kernel that flushes, made of a machine's steps."""
    return right(f"{name}, flushed", run, "normal", finish=flushing, flush=True, longest=longest)


def finite_only(values: Values, spec: Spec) -> Values:
    """A store that clamps infinities and keeps no NaN."""
    found = store(np.where(np.isnan(values), 0.0, values), spec)
    return np.clip(found, -spec.largest, spec.largest)


def clamped(values: Values, spec: Spec) -> Values:
    """A store that turns infinities into the largest value."""
    found = store(values, spec)
    return np.where(np.isinf(found), np.copysign(spec.largest, found), found)


# The stores that any kernel can get wrong. A float32 or float64 result has no store of its own.
STORES = (
    fault("truncating store", np.ndarray.__pos__, finish=finishing("toward_zero")),
    fault("store rounds up", np.ndarray.__pos__, finish=finishing("up")),
    fault("ties away from zero", np.ndarray.__pos__, finish=finishing("nearest_away")),
    fault("flush to zero, undeclared", np.ndarray.__pos__, finish=flushing),
    fault("NaN swallowed", np.ndarray.__pos__, finish=finite_only),
    fault("infinity becomes the largest value", np.ndarray.__pos__, finish=clamped),
)


def with_stores(run: Callable[..., Values], *kinds: str) -> tuple[Fault, ...]:
    """A right kernel with each of the broken stores (those named)."""
    chosen = [f for f in STORES if not kinds or f.kind in kinds]
    return tuple(fault(f.kind, run, finish=f.finish) for f in chosen)
