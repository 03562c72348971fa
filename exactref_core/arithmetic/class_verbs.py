"""The verbs of targets: rows that count, and their elements at the target classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from exactref_core.adapters import asarray
from exactref_core.arithmetic.graph import Indices, Leaf, Node
from exactref_core.arithmetic.power_verbs import PowerVerbs
from exactref_core.errors import DTypeError, InputError

__all__ = ["ClassVerbs", "Kept"]


@dataclass(frozen=True, eq=False)
class Kept:
    """The rows that count, of ``rows``, and the target class of each."""

    rows: int
    places: Indices
    target: Indices

    @property
    def count(self) -> int:
        """How many rows count."""
        return int(self.places.size)


class ClassVerbs(PowerVerbs):
    """Every verb so far, with those that look up classes."""

    def classes(
        self, target: Any, name: str, shape: tuple[int, ...], classes: int, ignored: Any
    ) -> Kept:
        """Return the rows whose target is not ``ignored``; InputError for a class that is none."""
        if target is None:
            raise InputError(f"{name} is missing: an array of class indices of shape {shape}")
        if isinstance(ignored, bool) or not hasattr(ignored, "__index__"):
            raise InputError(f"ignore_index must be an integer, not {ignored!r}")
        given = asarray(target, name=name)
        if not given.format.is_integer or given.format.kind == "bool":
            raise DTypeError(f"{name} is {given.dtype}; it holds class indices, integers")
        if given.shape != shape:
            raise InputError(f"{name} has shape {given.shape}; x needs {shape}")
        flat = np.asarray(given.data).reshape(-1).astype(np.int64)
        places = np.flatnonzero(flat != ignored)
        chosen = flat[places]
        if np.any((chosen < 0) | (chosen >= classes)):
            bad = int(chosen[(chosen < 0) | (chosen >= classes)][0])
            raise InputError(
                f"{name} holds {bad}, which is none of the {classes} classes of x (and not "
                f"ignore_index={ignored})"
            )
        return Kept(flat.size, places.astype(np.intp), chosen.astype(np.intp))

    def shares(self, target: Any, name: str, shape: tuple[int, ...], ignored: Any) -> Node | None:
        """Return targets that are probabilities of the classes; None for class indices."""
        if target is None or not (given := asarray(target, name=name)).format.is_float:
            return None
        if given.shape != shape:
            raise InputError(
                f"{name} is {given.dtype} with shape {given.shape}: class indices are integers, "
                f"and probabilities of classes have the shape of x, {shape}"
            )
        if hasattr(ignored, "__index__") and ignored >= 0:
            raise InputError(f"ignore_index={ignored} is for targets that are class indices")
        return Node("load", (), shape, Leaf(given.data, given.format), self.compute)

    def at_classes(self, rows: Node, kept: Kept) -> Node:
        """Return the element at the target class of each row that counts."""
        return self.pick((rows,), 0, kept.places * rows.shape[-1] + kept.target)

    def class_weights(self, weight: Node, kept: Kept) -> Node:
        """Return the weight of the target class of each row that counts."""
        return self.pick((weight,), 0, kept.target)

    def kept_rows(self, rows: Node, kept: Kept) -> Node:
        """Return the rows that count."""
        width = rows.shape[-1]
        return self.pick((rows,), 0, kept.places[:, None] * width + np.arange(width))

    def kept_values(self, values: Node, kept: Kept) -> Node:
        """Return one value for each row that counts, of one for each row."""
        return self.pick((values,), 0, kept.places)

    def at_target(self, others: Node, chosen: Node, kept: Kept) -> Node:
        """Return rows with the elements of ``chosen`` at their target classes."""
        mask = np.arange(others.shape[-1]) == kept.target[:, None]
        return self.pick((others, chosen), mask, np.arange(others.size).reshape(others.shape))

    def placed(self, values: Node, kept: Kept) -> Node:
        """Return one value for each row: 0 for those that do not count."""
        return self.among(values, kept, np.arange(kept.count), kept.places, (kept.rows,))

    def placed_rows(self, rows: Node, kept: Kept) -> Node:
        """Return all rows: 0 for those that do not count."""
        width = rows.shape[-1]
        columns = np.arange(width)
        source = np.arange(kept.count)[:, None] * width + columns
        places = kept.places[:, None] * width + columns
        flat = self.among(rows, kept, source, places, (kept.rows * width,))
        return self.reshape(flat, (kept.rows, width))

    def among(self, x: Node, kept: Kept, source: Any, places: Any, shape: tuple[int, ...]) -> Node:
        """Return zeros, but for elements of x at some places."""
        which, index = np.ones(shape, np.uint8), np.zeros(shape, np.intp)
        which[places], index[places] = 0, source
        return self.pick((x, self.exact.constant(0)), which, index)
