"""All families of the arena: ADD A FAMILY HERE."""

from __future__ import annotations

from tests.arena import (
    attention,
    elementwise,
    functions,
    gradients,
    norms,
    products,
    reductions,
    signs,
    softmaxes,
    sums,
)
from tests.arena.frame import Family

FAMILIES: tuple[Family, ...] = (
    *elementwise.FAMILIES,
    *functions.FAMILIES,
    *signs.FAMILIES,
    *sums.FAMILIES,
    *reductions.FAMILIES,
    *products.FAMILIES,
    *softmaxes.FAMILIES,
    *norms.FAMILIES,
    *attention.FAMILIES,
    *gradients.FAMILIES,
)
