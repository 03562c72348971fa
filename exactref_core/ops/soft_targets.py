"""Cross entropy and its gradient of targets that are a number for each class."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from exactref_core.errors import InputError

__all__ = ["losses_of", "pulled", "smoothed", "weighted"]


def smoothed(v: Any, shares: Any, share: Fraction) -> Any:
    """Return targets with label smoothing: y (1 - s) + s / classes."""
    if not share:
        return shares
    return v.add(
        v.multiply(shares, v.constant(1 - share)), v.constant(share / max(shares.shape[-1], 1))
    )


def weighted(v: Any, shares: Any, weight: Any) -> Any:
    """Return targets times the weights of their classes."""
    return shares if weight is None else v.multiply(shares, v.broadcast(weight, shares.shape))


def losses_of(
    v: Any, logs: Any, shares: Any, weight: Any, shape: tuple[int, ...], reduction: Any
) -> Any:
    """Return -sum_c y_c weight_c log p_c: of each row, their sum, or that over the rows.

    Which two of the three factors meet first does not matter; sums may be of all terms at once.
    """
    terms = v.multiply(logs, weighted(v, shares, weight))
    if weight is not None:
        spread = v.broadcast(weight, logs.shape)
        orders = (
            v.multiply(v.multiply(logs, shares), spread),
            v.multiply(v.multiply(logs, spread), shares),
        )
        terms = v.one_of(terms, terms, *orders)
    rows = v.total(terms)
    if reduction == "none":
        return v.negative(v.arrange(rows, shape))
    if reduction not in ("sum", "mean"):
        raise InputError(f"reduction must be 'none', 'sum' or 'mean', not {reduction!r}")
    count = 1
    for extent in shape:
        count *= extent
    flat = v.total(v.arrange(terms, (count * logs.shape[-1],)))
    total = v.one_of(v.total(rows), v.total(rows), flat)
    return v.negative(total if reduction == "sum" else v.scale(total, count))


def pulled(v: Any, p: Any, shares: Any, scale: Any) -> Any:
    """Return scale (p sum(u) - u) for targets u, and a scale of each row.

    Kernels multiply by the scale last, or the targets first.
    """
    spread = v.keep(scale, p.shape)

    def gap(u: Any) -> Any:
        return v.subtract(v.multiply(p, v.keep(v.total(u), p.shape)), u)

    last = v.multiply(gap(shares), spread)
    return v.one_of(last, last, gap(v.multiply(shares, spread)))
