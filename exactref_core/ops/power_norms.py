"""Norms of any other order p than 1, 2 and the infinities, and their gradients.

The exact value is rational in few cases, which the numbers r_k = |x_k|^2 / M decide, M the largest
|x_k|^2 (p < 0: the smallest). With w_k = r_k^(p/2) and Q = sum_k w_k it is sqrt(M Q^(2/p)), and
the gradient's magnitude |g| (w_k / Q)^((p - 1) / p). Positive real radicals, of which no two have a
rational quotient, are linearly independent over the rationals (Siegel, Algebraische Abhaengigkeit
von Wurzeln, Acta Arithmetica 21, 1972). If one of these numbers is a rational t, then Q is a
radical, that of t and M: so all w_k, of one sign, have rational quotients, and as one of them is 1,
Q is rational. The rest is powers of rationals.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from exactref_core.errors import InputError

__all__ = ["backward", "modulus", "norm", "order_of"]


def check_range(v: Any, p: Fraction) -> None:
    """Raise InputError where the compute format does not reach p or 1/p."""
    try:
        v.constant(p)
        v.constant(1 / p)
    except InputError as error:
        raise InputError(f"ord={float(p)}: {error}") from None


def order_of(ord: Any) -> float | Fraction:
    """Return an order as an exact number or an infinity; InputError for what is none."""
    try:
        found = ord if abs(ord) == math.inf else Fraction(ord)
    except (TypeError, ValueError, OverflowError):
        found = None
    if found is None or isinstance(ord, (bool, str)):
        raise InputError(f"ord={ord!r}: an order is a real number, inf or -inf")
    return found


def norm(v: Any, x: Any, axes: tuple[int, ...], p: Fraction) -> Any:
    """Return (sum_k |x_k|^p)^(1/p), p other than 0.

    Admitted: the power of a sum of powers; and that of quotients by the largest magnitude (p < 0:
    the smallest), multiplied by it, which counts where none of its steps may leave the range.
    """
    size = v.last(v.absolute(x), axes)
    if not size.shape[-1]:
        if p > 0:
            return v.broadcast(v.constant(0), size.shape[:-1])
        raise InputError(
            f"x has shape {x.shape}, no elements along axes {axes}; of nothing there is no norm "
            f"with the negative order {float(p)}"
        )
    check_range(v, p)
    definition = exact_norm(v, x, axes, p)
    direct = v.power_of_sum(v.total(v.power_of(size, p)), p, definition)
    extreme = v.largest(size, "propagate") if p > 0 else v.smallest(size, "propagate")
    ratio = v.step("divide", size, v.keep(extreme, size.shape))
    scaled = v.multiply(extreme, v.power_of_sum(v.total(v.power_of(ratio, p)), p))
    return v.admit(definition, v.admit(definition, direct), scaled, guarded=True)


def exact_norm(v: Any, x: Any, axes: tuple[int, ...], p: Fraction) -> Any:
    """Return the definition, and the formula that is rational where the norm is."""
    e = v.exact
    total = e.total(v.exact_power(v.last(modulus(v, x), axes), p))
    plain = e.binary("pow", total, e.constant(1 / p))
    _, top, _, scaled = scaled_squares(v, x, axes, p)
    square = e.step("multiply", top, e.binary("pow", scaled, e.constant(2 / p)))
    return v.restated(plain, where_number(v, top, v.root(square), plain))


def modulus(v: Any, x: Any) -> Any:
    """Return |x| exactly."""
    return v.modulus(x) if hasattr(x, "imag") else v.absolute(x)


def scaled_squares(v: Any, x: Any, axes: tuple[int, ...], p: Fraction) -> tuple[Any, Any, Any, Any]:
    """Return the |x_k|^2 in rows, M, the w_k in rows and Q."""
    e = v.exact
    parts = [v.last(part, axes) for part in ((x.real, x.imag) if hasattr(x, "imag") else (x,))]
    square, *more = (e.step("multiply", part, part) for part in parts)
    for one in more:
        both = e.step("add", square, one)
        # Of an infinity beside NaN the modulus is one.
        square = v.if_number(both, both, v.last(modulus(v, x), axes))
    top = v.largest(square, "propagate") if p > 0 else v.smallest(square, "propagate")
    ratio = e.step("divide", square, v.keep(top, square.shape))
    powers = e.binary("pow", ratio, e.constant(p / 2))
    return square, top, powers, e.total(powers)


def where_number(v: Any, x: Any, yes: Any, no: Any) -> Any:
    """Return ``yes`` where x is a positive number, else ``no``."""
    zero = v.exact.constant(0)
    found = v.by_order(v.order(x, zero, -1), yes, no, no)
    return v.if_number(v.exact.step("multiply", x, zero), found, no)


def backward(v: Any, grad: Any, x: Any, axes: tuple[int, ...], p: Fraction) -> Any:
    """Return grad x / |x| (|x| / norm)^(p - 1), 0 where x is 0; ``grad`` has the shape of x.

    Admitted, as torch has them: for p < 1 products with |x|^(p - 1) and norm^(1 - p); above, of
    |x|^(p - 1), for p > 2 also x |x|^(p - 2), over norm^(p - 1); and the power of the quotient.
    """
    size, length = v.absolute(x), norm(v, x, axes, p)
    power, below = v.power_of(size, p - 1), spread(v, length, axes, x.shape)
    found = [v.multiply(grad, v.power_of(v.step("divide", size, below), p - 1))]
    if p < 1:
        found += products(v, grad, power, spread(v, v.power_of(length, 1 - p), axes, x.shape))
    else:
        below = spread(v, v.power_of(length, p - 1), axes, x.shape)
        found.append(v.shared_product(grad, power, below))
    computed = [v.signed(x, masked(v, size, grad, one)) for one in found]
    if p > 2:
        power = v.power_of(size, p - 2)

        def torchs(part: Any) -> Any:
            whole = v.shared_product(grad, v.multiply(part, power), below)
            return masked(v, size, grad, whole)

        computed.append(v.each_part(x, torchs))
    return v.one_of(exact_backward(v, grad, x, axes, p), *computed)


def exact_backward(v: Any, grad: Any, x: Any, axes: tuple[int, ...], p: Fraction) -> Any:
    """Return the gradient, and the formula that is rational where it is."""
    e, size = v.exact, modulus(v, x)
    length = spread(v, exact_norm(v, x, axes, p), axes, x.shape)
    share = v.exact_power(e.step("divide", size, length), p - 1)
    plain = v.signed(x, masked(v, size, grad, e.step("multiply", grad, share)))
    square, top, powers, total = scaled_squares(v, x, axes, p)
    share = e.step("divide", powers, v.keep(total, powers.shape))
    share = e.binary("pow", share, e.constant(2 * (p - 1) / p))
    top, square, share = (
        v.unlast(one, axes, x.shape) for one in (v.keep(top, square.shape), square, share)
    )

    def root(part: Any, plain: Any) -> Any:
        side = e.step("multiply", grad, part)
        whole = e.step("divide", e.step("multiply", side, side), square)
        found = e.step("with_sign", v.root(e.step("multiply", whole, share)), side)
        found = where_number(v, square, where_number(v, top, found, plain), plain)
        return v.restated(plain, found)

    return v.each_part(x, root, plain)


def spread(v: Any, x: Any, axes: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """Return a reduction over ``axes``, spread over them again."""
    kept = tuple(1 if i in axes else n for i, n in enumerate(shape))
    return v.spread(v.arrange(x, kept), shape)


def masked(v: Any, size: Any, grad: Any, value: Any) -> Any:
    """Return ``value``, but 0 where the size is 0: NaN too, of a ``grad`` that is no number."""
    zero = v.broadcast(v.exact.constant(0), size.shape)
    none = v.admit(zero, zero, v.exact.step("multiply", grad, zero))
    return v.by_order(v.order(size, v.exact.constant(0), 1), value, none, none)


def products(v: Any, x: Any, y: Any, z: Any) -> list[Any]:
    """Return x y z in any order of the two steps."""
    return [
        v.multiply(v.multiply(x, y), z),
        v.multiply(x, v.multiply(y, z)),
        v.multiply(y, v.multiply(x, z)),
    ]
