"""Elementary functions in plain float64 with proven radii, which decide most of a narrow output."""

from __future__ import annotations

import numpy as np

from exactref_core.exact.double_double import Floats
from exactref_core.exact.elementary import Function
from exactref_core.exact.plain_circular import CIRCULAR
from exactref_core.exact.plain_erfinv import erfinv
from exactref_core.exact.plain_exponentials import EXPONENTIALS, Found, told
from exactref_core.exact.plain_hyperbolic import HYPERBOLIC
from exactref_core.exact.plain_reflected import GAMMAS
from exactref_core.exact.plain_tables import erfcx, tabled
from exactref_core.exact.taylor_tables import TABLES

__all__ = ["KERNELS", "plain"]

KERNELS = {
    **EXPONENTIALS,
    **CIRCULAR,
    **HYPERBOLIC,
    **GAMMAS,
    "erfcx": erfcx,
    "erfinv": erfinv,
    **dict.fromkeys(TABLES, None),
}


@np.errstate(all="ignore")
def plain(function: Function, x: Floats, spread: Floats | None) -> Found | None:
    """Return values and radii of a function where the true arguments lie within ``spread`` of x.

    All arrays are flat, a radius of inf says nothing; None where there is no such kernel.
    """
    name = function.name
    if name not in KERNELS:
        return None
    kernel = KERNELS[name]
    found = told(tabled(TABLES[name], x, spread) if kernel is None else kernel(x, spread))
    if spread is None and function.keeps_zero:
        zero = x == 0
        if np.any(zero):
            return np.where(zero, x, found[0]), np.where(zero, 0.0, found[1])
    return found
