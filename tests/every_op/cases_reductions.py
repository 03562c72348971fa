"""Inputs of reductions and scans."""

from __future__ import annotations

from typing import Any

import numpy as np

from exactref_core.formats.format import Format
from exactref_core.op import Op

Rng = np.random.Generator
Arguments = tuple[tuple[np.ndarray, ...], dict[str, Any]]


def rows(rng: Rng, op: Op, form: Format, count: int) -> Arguments:
    from tests.every_op.cases import reduced

    return reduced(rng, op, form, count)


def factors(rng: Rng, op: Op, form: Format, count: int) -> Arguments:
    """Rows of factors: most products in range, some that leave it on the way or at the end."""
    (x,), params = rows(rng, op, form, count)
    if form.is_complex:
        from exactref_core.formats.catalogue import get_format
        from tests.every_op.hostile import complex_of

        part = get_format("float32" if form.name == "complex64" else "float64")
        return (complex_of(*(tame(rng, y, params, part) for y in (x.real, x.imag))),), params
    if form.is_float:
        x = tame(rng, x, params, form)
    if form.is_integer:
        x = np.where(rng.random(x.shape) < 0.9, x & x.dtype.type(1), x)
        x = x.astype(form.storage)
    return (x,), params


def tame(rng: Rng, x: np.ndarray, params: dict[str, Any], form: Format) -> np.ndarray:
    """Factors, or parts of them, in most cases so large that most products are in range."""
    if rng.random() < 0.8:
        n = x.shape[params["axis"]] if isinstance(params["axis"], int) else 8
        near = rng.uniform(0.5, 2, x.shape) * rng.choice([-1, 1], x.shape)
        with np.errstate(all="ignore"):
            power = np.ldexp(near, rng.integers(-2, 3, x.shape) * (30 // max(n, 1)))
        from tests.every_op.hostile import fit

        x = np.where(rng.random(x.shape) < 0.95, fit(power, form), x)
    return x


def deviations(rng: Rng, op: Op, form: Format, count: int) -> Arguments:
    (x,), params = rows(rng, op, form, count)
    if form.is_float and rng.random() < 0.5:  # a mean that is large beside the deviations
        from tests.every_op.hostile import fit

        with np.errstate(all="ignore"):
            centre = np.ldexp(1.0, int(rng.integers(-3, min(form.emax, 20))))
            x = np.where(np.isfinite(x), fit(centre + rng.standard_normal(x.shape), form), x)
    axes = params["axis"] if isinstance(params["axis"], tuple) else (params["axis"],)
    n = int(np.prod([x.shape[a] for a in axes]))
    if n > 1 and rng.random() < 0.6:
        params["correction"] = float(rng.choice([1, 0.5, n - 1]))
    return (x,), params


def norms(rng: Rng, op: Op, form: Format, count: int) -> Arguments:
    (x,), params = rows(rng, op, form, count)
    orders = (
        [2, 2, 0, 4, np.inf, -np.inf] if form.is_complex else [2, 2, 1, 0, 3, -1, np.inf, -np.inf]
    )
    return (x,), params | {"ord": float(rng.choice(orders))}


def scanned(rng: Rng, op: Op, form: Format, count: int) -> Arguments:
    side = max(count // 8, 1)
    maker = factors if op.name == "cumulative_prod" else rows
    (x,), params = maker(rng, op, form, side)
    return (x,), {
        "axis": params["axis"] if isinstance(params["axis"], int) else 1,
        "include_initial": bool(rng.random() < 0.5),
    }


MAKERS = {
    "prod": factors,
    "var": deviations,
    "std": deviations,
    "vector_norm": norms,
    "cumulative_sum": scanned,
    "cumulative_prod": scanned,
}
