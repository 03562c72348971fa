"""What gradients of normalizations share: x - mean, the mean, 1 / sqrt(variance + eps).

With eps outside the root s of the variance, h = c / (s + eps), c = x - m, the slope has c / s in
one place where it has h otherwise. Where s is 0 so is that: c / (|c| + eps) has a slope there too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from exactref_core.ops.norm_parts import Epsilon, mean_of, roots, size_over, spread_over
from exactref_core.ops.var import variance

__all__ = ["Statistics", "over", "pulled_back", "scale_slope", "shift_slope", "statistics"]


@dataclass(frozen=True)
class Statistics:
    """x less its mean over some axes, that mean, the reciprocal root 1 / sqrt(variance + eps).

    ``root`` is the root of the variance alone, where eps is outside of it.
    """

    centred: Any
    mean: Any
    inverse: Any
    root: Any = None


def statistics(v: Any, x: Any, axes: tuple[int, ...], eps: Epsilon) -> Statistics:
    """Return the statistics of x over some axes, spread over these."""
    mean = spread_over(v, mean_of(v, x, axes), x.shape, axes)
    squares = spread_over(v, variance(v, x, axes, 0), x.shape, axes)
    apart = v.root_of(squares) if eps.outside and eps.value else None
    return Statistics(v.subtract(x, mean), mean, roots(v, squares, eps)[1], apart)


def over(v: Any, x: Any, root: Any) -> Any:
    """Return x / root, as a product with its reciprocal too; 0 where the root is 0."""
    zero = v.exact.constant(0)
    quotient = v.divide(x, root)
    found = v.admit(quotient, quotient, v.multiply(x, v.divide(v.constant(1), root)))
    return v.by_order(v.order(root, zero, 1), found, zero, zero)


def less(v: Any, whole: Any, one: Any, two: Any) -> list[Any]:
    """Return whole - one - two in every order."""
    less_one, less_two = v.subtract(whole, one), v.subtract(whole, two)
    both = v.subtract(whole, v.add(one, two))
    return [v.subtract(less_one, two), v.subtract(less_two, one), both]


def pulled_back(
    v: Any, g: Any, x: Any, axes: tuple[int, ...], own: Statistics, distributed: bool = True
) -> Any:
    """Return r (g - mean(g) - h mean(g h)), the gradient of h = (x - m) r.

    Also with c r r mean(g c), c = x - m, for h mean(g h), and as (N g - sum(g) - h sum(g h)) r / N.
    Worse, and counted under "any_order": d - mean(d), d = r g - c r^3 mean(g c), back through the
    forward steps, and if ``distributed`` over x - m, r g + b x - (b m + r mean(g)) with
    b = (m sum(g) - sum(g x)) r^3 / N.
    """
    if own.root is not None:
        return pulled_outside(v, g, x, axes, own)
    r, count = own.inverse, size_over(x, axes)
    h = v.multiply(own.centred, r)

    def total(value: Any) -> Any:
        return spread_over(v, v.sum(value, axes), x.shape, axes)

    sums, pulls, raw = total(g), total(v.multiply(g, h)), total(v.multiply(g, own.centred))
    mean = v.scale(sums, count)
    inner = less(v, g, mean, v.multiply(h, v.scale(pulls, count)))
    again = v.multiply(v.multiply(v.scale(raw, count), r), r)
    inner += less(v, g, mean, v.multiply(own.centred, again))
    near = v.multiply(r, v.admit(inner[0], *inner))
    whole = less(v, v.multiply(g, v.constant(count)), sums, v.multiply(h, pulls))
    scaled = v.multiply(v.scale(r, count), v.admit(whole[0], *whole))
    cube = v.multiply(v.multiply(r, r), r)
    apart = v.subtract(
        v.multiply(r, g), v.multiply(own.centred, v.multiply(cube, v.scale(raw, count)))
    )
    composed = v.subtract(apart, v.scale(total(apart), count))
    near = v.admit(near, near, scaled, guarded=True)
    if not distributed:
        return v.admit(near, near, composed, guarded=True, extra="any_order")
    gap = v.subtract(v.multiply(own.mean, sums), total(v.multiply(g, x)))
    slope = v.multiply(gap, v.scale(cube, count))
    rest = v.add(v.multiply(slope, own.mean), v.multiply(mean, r))
    spread = v.subtract(v.add(v.multiply(r, g), v.multiply(slope, x)), rest)
    exact = v.exact.step
    pulls = exact("multiply", slope, exact("subtract", x, own.mean))
    factors = exact("add", exact("multiply", r, exact("subtract", g, mean)), pulls)
    spread = v.factored(spread, factors)
    return v.admit(near, near, composed, spread, guarded=True, extra="any_order")


def pulled_outside(v: Any, g: Any, x: Any, axes: tuple[int, ...], own: Statistics) -> Any:
    """Return r (g - mean(g) - c / s mean(g h)) with c = x - m, s its root and r = 1 / (s + eps).

    Also with mean(g c) r for mean(g h), and as r g - mean(r g) - c / s (r r mean(g c)). Worse, and
    counted under "any_order": d - mean(d), d = r g - c / s (r r mean(g c)).
    """
    r, count = own.inverse, size_over(x, axes)
    ratio = over(v, own.centred, own.root)

    def mean(value: Any) -> Any:
        return v.scale(spread_over(v, v.sum(value, axes), x.shape, axes), count)

    raw, flat = mean(v.multiply(g, own.centred)), mean(g)
    pulls = mean(v.multiply(g, v.multiply(own.centred, r))), v.multiply(raw, r)
    inner = [form for pull in pulls for form in less(v, g, flat, v.multiply(ratio, pull))]
    near = v.multiply(r, v.admit(inner[0], *inner))
    scaled = v.multiply(r, g)
    pulled = v.multiply(ratio, v.multiply(v.multiply(r, r), raw))
    forms = less(v, scaled, mean(scaled), pulled)
    near = v.admit(near, near, *forms, guarded=True)
    apart = v.subtract(scaled, pulled)
    composed = v.subtract(apart, mean(apart))
    return v.admit(near, near, composed, guarded=True, extra="any_order")


def scale_slope(
    v: Any, g: Any, x: Any, own: Statistics, inner: tuple[int, ...], outer: tuple[int, ...]
) -> Any:
    """Return the sum of g (x - m) r over axes; m and r are constant along the ``inner`` ones.

    r may be multiplied to the terms or to their sums over the inner axes; with ``outer`` axes and
    under "any_order" to those of g x, less m times those of g.
    """
    h = v.multiply(own.centred, own.inverse)
    flat = v.sum(v.multiply(g, h), tuple(sorted((*inner, *outer))))
    key = tuple(0 if i in inner else slice(None) for i in range(len(x.shape)))
    mean, inverse = v.part(own.mean, key), v.part(own.inverse, key)

    staged = v.multiply(v.sum(v.multiply(g, own.centred), inner), inverse)
    if not outer:
        return v.admit(flat, flat, staged)
    near = v.admit(flat, flat, v.sum(staged, outer))
    gap = v.subtract(v.sum(v.multiply(g, x), inner), v.multiply(mean, v.sum(g, inner)))
    return v.admit(near, near, v.sum(v.multiply(gap, inverse), outer), extra="any_order")


def shift_slope(v: Any, g: Any, inner: tuple[int, ...], outer: tuple[int, ...]) -> Any:
    """Return the sum of g over axes, or of its sums over the ``inner`` ones."""
    flat = v.sum(g, tuple(sorted((*inner, *outer))))
    return v.admit(flat, flat, v.sum(v.sum(g, inner), outer)) if outer else flat
