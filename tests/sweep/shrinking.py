"""The smallest sample that still gets a verdict: fewer places, a plain layout, plain numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from tests.every_op.kernels_formats import SPECS, Spec, store
from tests.sweep.samples import Sample

Fails = Callable[[Sample], bool]
MANTISSAS = (1, 2, 3, 4, 6, 8, 11)


def shrunk(sample: Sample, fails: Fails, tries: int = 400) -> Sample:
    """The smallest sample found in so many tries; ``fails`` holds of the first one."""
    left = [tries]

    def still(one: Sample) -> bool:
        left[0] -= 1
        return left[0] >= 0 and fails(one)

    while left[0] > 0:
        before = sample
        for step in (shorter, plain, simpler):
            sample = step(sample, still)
        if sample is before:
            return sample
    return sample


def shorter(sample: Sample, still: Fails) -> Sample:
    """Fewer places along each axis: all but one, one half, all but some."""
    for letter in sample.call.letters:
        size = sample.sizes[letter]
        part = size
        while part >= 1:
            start = 0
            while start < sample.sizes[letter]:
                size = sample.sizes[letter]
                keep = np.delete(np.arange(size), np.s_[start : start + part])
                fewer = sample.cut(letter, keep)
                if keep.size < size and still(fewer):
                    sample = fewer
                else:
                    start += part
            part //= 2
    return sample


def plain(sample: Sample, still: Fails) -> Sample:
    """The numbers in a contiguous layout."""
    moved = replace(sample, layout="contiguous")
    return moved if sample.layout != "contiguous" and still(moved) else sample


def cost(value: float) -> float:
    """How much there is to write of a number."""
    if value in (0.0, 1.0):
        return value
    if not math.isfinite(value):
        return 30.0
    mantissa, exponent = math.frexp(abs(value))
    bits = 0
    while mantissa % 1:
        mantissa, bits = mantissa * 2, bits + 1
    return 2 + 3 * bits + 0.02 * abs(exponent) + (value < 0)


def candidates(value: float, spec: Spec) -> Iterator[float]:
    """Numbers of a format that may do in the place of one: simpler ones first."""
    yield from (0.0, 1.0)
    if math.isfinite(value) and value:
        mantissa, exponent = math.frexp(value)
        for bits in MANTISSAS:
            cut = math.ldexp(round(math.ldexp(mantissa, bits)), -bits)
            near = np.array([cut, 2 * cut, math.ldexp(cut / 2, exponent) * 2])
            yield from store(near, spec, overflow="saturate").tolist()
        yield abs(value)


def simpler(sample: Sample, still: Fails) -> Sample:
    """Each number in turn replaced by the simplest that does."""
    arrays = list(sample.tensors) if sample.grad is None else [sample.grad, *sample.tensors]
    spec = SPECS[sample.form]
    for which in range(len(arrays)):
        for place in np.ndindex(arrays[which].shape):
            own = float(arrays[which][place])
            for value in candidates(own, spec):
                if cost(value) >= cost(own):
                    continue
                tried = list(arrays)
                tried[which] = arrays[which].copy()
                tried[which][place] = value
                one = with_arrays(sample, tried)
                if still(one):
                    sample, arrays = one, tried
                    break
    return sample


def with_arrays(sample: Sample, arrays: list[np.ndarray]) -> Sample:
    if sample.grad is None:
        return replace(sample, tensors=tuple(arrays))
    return replace(sample, grad=arrays[0], tensors=tuple(arrays[1:]))
