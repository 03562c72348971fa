"""What is kept of the failing elements of an output while it is judged, block by block."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from exactref_core.diagnosis.places import place_of
from exactref_core.diagnosis.values import Sample, moved_of, values_of

__all__ = ["Findings"]

SAMPLE: Final = 1 << 14  # failing elements of a larger output whose values are compared
SHARE: Final = 0.25  # of the elements that fail at least where everything rounds more
WHOLE: Final = 1 << 20  # elements of an output whose values are compared with their neighbours'


class Findings:
    """The verdicts on an output's elements, and values of failing ones.

    Nothing is kept where nothing fails: a byte an element from the first failing block on.
    ``wrong_only`` says that elements that are correct but worse do not fail.
    """

    def __init__(
        self, op: str, shape: tuple[int, ...], spacing: float, parts: int, wrong_only: bool
    ) -> None:
        self.op, self.shape, self.spacing = op, shape, spacing
        self.parts, self.wrong_only = parts, wrong_only
        self.severity: npt.NDArray[np.uint8] | None = None
        self.samples: list[tuple[Any, ...]] = []
        self.whole: tuple[Any, ...] | None = None

    def add(
        self,
        normal: npt.NDArray[np.bool_],
        any_order: npt.NDArray[np.bool_],
        values: tuple[Any, Any, Any],
        box: Sequence[slice] = (),
    ) -> None:
        """Keep what a block says: flat verdicts, and outputs, rounded values and tolerances.

        Complex elements have two of each. ``box`` holds the ranges of the block along the first
        axes; it has the others whole.
        """
        part = np.where(any_order, np.where(normal, 0, 1), 2).astype(np.uint8)
        severity = part.reshape(-1, self.parts).max(axis=1)
        if not severity.any():
            return
        if self.severity is None:
            self.severity = np.zeros(self.shape, np.uint8)
        inside: Any = (*box, ...)
        block = self.severity[inside]
        block[...] = severity.reshape(block.shape)
        failing = part > int(self.wrong_only)
        left = SAMPLE - sum(sample[0].size for sample in self.samples)
        chosen = np.flatnonzero(failing)[: max(left, 0)]
        self.samples.append(tuple(np.asarray(x, np.float64)[chosen] for x in values))
        if not box and math.prod(self.shape) <= WHOLE and self.parts == 1:
            self.whole = tuple(np.asarray(x, np.float64).reshape(self.shape) for x in values)

    @cached_property
    def failing(self) -> npt.NDArray[np.bool_]:
        """Which elements fail."""
        if self.severity is None:
            return np.zeros(self.shape, bool)
        return np.asarray(self.severity > int(self.wrong_only))

    @cached_property
    def where(self) -> str:
        """Where the failing elements lie, and what their values have in common."""
        if self.failing.sum() < 2:
            return ""  # of one the table says it all
        place = self.place
        if place.startswith("scattered") or not place:
            apart = self.place_of_wrong
            place = place if "scattered" in apart else apart or place
        return "; ".join(filter(None, (place, self.common)))

    @property
    def is_noise(self) -> bool:
        """Whether much fails, at no place of its own, and its values have nothing in common."""
        share = self.failing.mean() if self.failing.size else 0.0
        is_spread = self.place.startswith(("everywhere", "nearly", "scattered"))
        return bool(share >= SHARE) and is_spread and not self.common

    @cached_property
    def place(self) -> str:
        """Where the failing elements lie."""
        return place_of(self.failing, self.has_heads)

    @property
    def place_of_wrong(self) -> str:
        """Where those lie that are wrong, if others fail that are correct but worse."""
        found = "" if self.severity is None else place_of(self.severity == 2, self.has_heads)
        return f"of the wrong ones {found}" if found else ""

    @property
    def has_heads(self) -> bool:
        """Whether the axes are those of attention."""
        return self.op.endswith("scaled_dot_product_attention")

    @cached_property
    def common(self) -> str:
        """What the failing values have in common, in words."""
        if self.whole is not None:
            failing = self.failing
            values, rounded, tolerance = (x[failing] for x in self.whole)
        elif self.samples:
            values, rounded, tolerance = map(np.concatenate, zip(*self.samples, strict=True))
        else:
            return ""
        found = values_of(Sample(values, rounded, tolerance, self.spacing))
        if found and self.whole is None and values.size == SAMPLE:
            return f"of the first {SAMPLE} {found}"
        if found or self.whole is None:
            return found
        values, rounded, tolerance = self.whole
        return moved_of(self.failing, Sample(values, rounded, tolerance, self.spacing))
