"""Inputs of the sweep: an operation, a call, a format, sizes, a layout and a class of values."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from exactref_core.formats.catalogue import get_format
from exactref_core.op import Op
from tests.arena.data import CLASSES, applies, drawn
from tests.every_op.hostile import elements
from tests.every_op.kernels_formats import SPECS, store
from tests.sweep.calls import Call, calls_of

# Beside the classes of the strategies: magnitudes where functions bend, and every exponent.
KINDS = (*CLASSES, "moderate", "every_exponent")
# The most terms of a sample: torch's bfloat16 products take another kernel beyond 4096; softmax and
# norms are judged more slowly.
MANY, FEW = 17**3, 300
BLOCKS = 2100  # beyond a vectorised kernel's blocks of 2048
Rng = np.random.Generator


@dataclass(frozen=True)
class Sample:
    """A call with its numbers; ``grad`` is the gradient of its output, where it is a gradient that
    is judged, and ``draws`` are numbers in [0, 1) that choose what is no tensor."""

    op: Op
    call: Call
    form: str
    layout: str
    tensors: tuple[np.ndarray, ...]
    grad: np.ndarray | None
    draws: Mapping[str, np.ndarray]

    @property
    def forward(self) -> Op:
        """The operation whose kernel runs."""
        return self.op if self.op.forward is None else self.op.forward

    @property
    def sizes(self) -> dict[str, int]:
        """The size of each axis of a tensor."""
        found: dict[str, int] = {}
        for axes, x in zip(self.call.tensors, self.tensors, strict=True):
            found.update(zip(axes, x.shape, strict=True))
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tensors."""
        places = (*self.forward.tensors, *self.forward.optional)
        count = len(self.tensors) - len(self.call.named)
        return (*places[:count], *self.call.named)

    @property
    def output_form(self) -> str:
        """The format of the output."""
        return str(self.call.params.get("dtype", self.form))

    def arrays(self) -> dict[str, np.ndarray]:
        """The arguments that are other arrays."""
        made = self.call.arrays
        return {name: made[name][1](u, self.sizes) for name, u in self.draws.items()}

    def params(self) -> dict[str, Any]:
        """The arguments that are no tensors, but for those that come first."""
        return {**self.call.params, **self.arrays()}

    def cut(self, letter: str, keep: np.ndarray) -> Sample:
        """Some of the places along an axis only."""

        def kept(axes: str, x: np.ndarray) -> np.ndarray:
            for place, one in enumerate(axes):
                if one == letter:
                    x = np.take(x, keep, axis=place)
            return x

        made, grad = self.call.arrays, self.grad
        return replace(
            self,
            tensors=tuple(map(kept, self.call.tensors, self.tensors)),
            grad=None if grad is None else kept(self.call.output, grad),
            draws={name: kept(made[name][0], u) for name, u in self.draws.items()},
        )


@dataclass(frozen=True)
class Profile:
    """Sizes by what an axis is for, and a layout; ``empty`` says which axis has no places."""

    summed: int
    other: int
    layout: str = "contiguous"
    empty: int | None = None

    def sizes(self, call: Call, turn: int) -> dict[str, int]:
        """The size of each axis of a call."""
        along = call.summed or call.letters[-1:]
        found = {}
        for place, letter in enumerate(call.letters):
            size = self.summed if letter in along[-1:] else self.other
            if letter in call.sizes:
                options = call.sizes[letter]
                size = options[(turn + self.summed) % len(options)]
            found[letter] = 0 if place == self.empty else size
        return limited(found, FEW if call.along else MANY)


def limited(sizes: dict[str, int], most: int) -> dict[str, int]:
    """Sizes of a sample that is not too large to be judged: the largest halved while it is."""
    found = dict(sizes)
    while np.prod([max(n, 1) for n in found.values()]) > most:
        largest = max(found, key=lambda letter: found[letter])
        found[largest] //= 2
    return found


PROFILES = (
    Profile(5, 2),
    Profile(33, 3, "strided"),
    Profile(1, 1),
    Profile(17, 17),
    Profile(9, 4, "transposed"),
    Profile(130, 2),
    Profile(3, 3, empty=0),
    Profile(3, 3, empty=1),
    Profile(BLOCKS, 1),
)


def draw(rng: Rng, kind: str, form: str, shape: tuple[int, ...], axis: int | None) -> np.ndarray:
    """A tensor of a class of values, as numbers of the format in float64."""
    spec = SPECS[form]
    if kind == "moderate":
        values = rng.standard_normal(shape) * 2.0 ** rng.uniform(-6, 8, shape)
        return store(values, spec, overflow="saturate")
    if kind == "every_exponent":
        return elements(rng, get_format(form), int(np.prod(shape)), 0.02).reshape(shape)
    terms = shape[axis] if axis is not None else 1
    return drawn(rng, kind, spec, shape, axes=(axis,), terms=terms)[0]


def sample(op: Op, call: Call, form: str, kind: str, profile: Profile, turn: int) -> Sample:
    """The sample of a place in the run; its seed is made of nothing else."""
    words = (op.name, call.text(), form, kind, str(profile))
    rng = np.random.default_rng([turn, *(zlib.crc32(word.encode()) for word in words)])
    sizes = profile.sizes(call, turn)

    def made(axes: str, form: str) -> np.ndarray:
        along = [place for place, letter in enumerate(axes) if letter in call.summed]
        # Two thirds of the tensors are of the class, so that one of them alone is hostile, too.
        one = kind if rng.random() < 2 / 3 else "well_scaled"
        shape = tuple(sizes[letter] for letter in axes)
        return draw(rng, one, form, shape, along[-1] if along else None)

    found = Sample(op, call, form, profile.layout, (), None, {})
    return replace(
        found,
        tensors=tuple(made(axes, form) for axes in call.tensors),
        grad=None if op.forward is None else made(call.output, found.output_form),
        draws={
            name: rng.random([sizes[letter] for letter in axes])
            for name, (axes, _) in call.arrays.items()
        },
    )


def samples(
    op: Op, form: str, turn: int, kinds: tuple[str, ...] = KINDS, most: int = BLOCKS
) -> Iterator[Sample]:
    """The samples of a turn: every call with every class, at sizes up to ``most`` that go round."""
    for place, call in enumerate(calls_of(op)):
        profiles = [p for p in PROFILES if (p.empty or 0) < len(call.letters) and p.summed <= most]
        for number, kind in enumerate(kinds):
            if applies_to(kind, form):
                profile = profiles[(place + number + turn) % len(profiles)]
                yield sample(op, call, form, kind, profile, turn)


def applies_to(kind: str, form: str) -> bool:
    return kind not in CLASSES or applies(kind, SPECS[form])
