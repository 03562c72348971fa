"""Inputs of the arena: the value classes that marked tests draw from, seeded, in any shape."""

from __future__ import annotations

import numpy as np

from exactref_core.formats.catalogue import get_format
from pytest_exactref.source import Source
from pytest_exactref.value_classes import VALUE_CLASSES, Facts
from tests.every_op.kernels_formats import Spec, store

CLASSES = tuple(VALUE_CLASSES)
PLAIN = ("integers", "well_scaled", "one_sign", "constant_rows")  # what a test usually draws
LARGE = ("well_scaled", "one_sign", "integers")  # sizes beyond 5000: cheap to enclose


def facts(spec: Spec, terms: int, axis: int | None) -> Facts:
    form = get_format(spec.name)
    return Facts(
        precision=form.precision,
        emin=form.emin,
        emax=form.emax,
        eta_exponent=form.eta_exponent,
        largest=float(form.max),
        infinity=form.infinity,
        nan=form.nan,
        signed_zero=form.signed_zero,
        stored=form.precision,
        computed=53 if spec.compute == "float64" else 24,
        terms=terms,
        axis=axis,
    )


def applies(kind: str, spec: Spec) -> bool:
    return VALUE_CLASSES[kind].applies(facts(spec, 1, None))


def drawn(
    rng: np.random.Generator,
    kind: str,
    spec: Spec,
    *shapes: tuple[int, ...],
    axes: tuple[int | None, ...] = (-1,),
    terms: int | None = None,
) -> tuple[np.ndarray, ...]:
    """One tensor a shape, of one value class, as numbers of the format in float64."""
    seed = int(rng.integers(2**32))
    found = []
    for role, shape in enumerate(shapes):
        length = terms if terms is not None else (shape[-1] if shape else 1)
        own = facts(spec, max(1, length), axes[min(role, len(axes) - 1)])
        with np.errstate(all="ignore"):
            made = VALUE_CLASSES[kind].make(Source(b"", seed, role), shape, own)
        saturate = kind != "infinities_and_nan"
        found.append(store(made, spec, overflow="saturate" if saturate else "ieee"))
    return tuple(found)
