"""hypot, logaddexp, pow, atan2: functions of two numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from exactref_core.op import Domain, Op
from exactref_core.ops.activations import logistic
from exactref_core.ops.complex_gradients import shifted
from exactref_core.ops.dtypes import FLOATS, NUMBERS

__all__ = ["OPS"]

# 3 ulp beyond a correctly rounded result (CUDA C++ Programming Guide 13.0, table 17, hypotf).
HYPOT_UNITS, HYPOT_ETAS = 7, 4


def hypot(v: Any, x1: Any, x2: Any) -> Any:
    """Length sqrt(x1^2 + x2^2) of the vector of two numbers, broadcast against each other.

    An infinity beside anything, NaN included, gives inf. A correct library function errs by at most
    7u (3 ulp beyond rounding), and no square of it overflows.
    """
    v.broadcast_shapes(x1.shape, x2.shape, "x1 and x2")
    return v.within(v.exact.step("hypot", x1, x2), HYPOT_UNITS, HYPOT_ETAS)


def hypot_backward(v: Any, grad_output: Any, x1: Any, x2: Any) -> Any:
    """grad_output x1 / hypot and grad_output x2 / hypot, in any order of the two steps.

    NaN at the origin. A kernel that multiplies first may overflow, and lose small products.
    """
    length = hypot(v, x1, x2)
    g = v.broadcast(grad_output, length.shape)
    return {
        name: v.shared_product(g, v.broadcast(x, length.shape), length)
        for name, x in (("x1", x1), ("x2", x2))
    }


def logaddexp(v: Any, x1: Any, x2: Any) -> Any:
    """Logarithm log(e^x1 + e^x2), broadcast against each other.

    As `logsumexp` of both: the larger, and the logarithm of a sum of exponentials of differences.
    Of -inf twice it is -inf.
    """
    shape = v.broadcast_shapes(x1.shape, x2.shape, "x1 and x2")
    both = v.stack((v.broadcast(x1, shape), v.broadcast(x2, shape)))
    return v.logsumexp(both, v.keep_all())


def logaddexp_backward(v: Any, grad_output: Any, x1: Any, x2: Any) -> Any:
    """grad_output / (1 + e^(x2 - x1)) and grad_output / (1 + e^(x1 - x2)), the softmax weights.

    The power may overflow, which those weights do not; an infinity makes these NaN. With
    e^(x - output) from the stored output as well, which errs by about u |output|.
    """
    shape = v.broadcast_shapes(x1.shape, x2.shape, "x1 and x2")
    pair = [v.broadcast(x, shape) for x in (x1, x2)]
    both, one = v.stack(pair), v.constant(1)
    weights, output = v.weights(both, v.keep_all()), v.logsumexp(both, v.keep_all())
    found = {}
    for i, name in enumerate(("x1", "x2")):
        gap = v.exact.step("subtract", pair[i], pair[1 - i])
        definition = v.exact.step("multiply", grad_output, logistic(v.exact, gap))
        bottom = v.add(one, v.apply("exp", v.subtract(pair[1 - i], pair[i])))
        stored = v.apply("exp", v.subtract(pair[i], output))
        found[name] = v.admit(
            definition,
            v.multiply(grad_output, v.index(weights, (..., i))),
            v.divide(grad_output, bottom),
            v.multiply(grad_output, v.divide(one, bottom)),
            v.multiply(grad_output, stored),
        )
    return found


def pow(v: Any, x1: Any, x2: Any) -> Any:
    """Power x1^x2, broadcast against each other.

    By C99: 1^y = x^0 = 1 of everything, NaN included; NaN of a negative x1 and an x2 that is no
    integer; of a zero or an infinity the sign is that of x1 where x2 is an odd integer. A correct
    library function errs by at most 9u (4 ulp beyond rounding), but where C99 says 1 it returns 1.

    Complex: exp(x2 log x1), the principal value; it errs by what the steps of that formula round
    (7u the logarithm, 10u the exponential), for integers x2 up to 100 also by what products of
    factors x1 do. The polar form with |x1|^2 (XLA's) is worse: its logarithm loses digits near |x1|
    = 1. 0^0 is 1, or NaN by the formula; powers of 0 with a positive real part of x2 are
    0, with others NaN or infinities. Of infinities and NaN no standard says what is stored: it may
    be anything (C99 G.6.4.1).
    """
    v.broadcast_shapes(x1.shape, x2.shape, "x1 and x2")
    return v.power(x1, x2)


def pow_backward(v: Any, grad_output: Any, x1: Any, x2: Any) -> Any:
    """grad_output x2 x1^(x2 - 1), 0 for x2 = 0; grad_output y log x1, 0 for x1 = 0 and x2 >= 0.

    x2 - 1 may be rounded. Where x1 is negative x2 is an integer, and x2 - 1 is exact but beyond the
    integers that the compute format holds without gaps: there it may be odd or even. Of a negative
    x1 and a fraction x2 the result is NaN, or a number where x2 - 1 is stored as an integer.
    Complex: of conjugates; the second is 0 for x1 = 0 where the real part of x2 is not negative.
    """
    if hasattr(x1, "imag"):
        return complex_pow_backward(v, grad_output, x1, x2)
    e = v.exact
    less = e.binary("pow", x1, e.step("subtract", x2, e.constant(1)))
    exact = v.within(less, less.attrs.units, less.attrs.etas)
    exponent = v.subtract(x2, v.constant(1))
    rounded = v.apply_binary("pow", x1, exponent)
    size = v.apply_binary("pow", e.step("absolute", x1), exponent)
    # |x2 - 1/2| > 2^p: of the integers x2 those in (-2^p, 2^p] have an exact difference.
    middle = e.step("absolute", e.step("subtract", x2, e.constant(Fraction(1, 2))))
    gaps = e.step("subtract", middle, e.constant(2**v.compute.precision))
    # Either sign is within 2 |power|, and the size within 1000u: a power of a finite size has
    # |x2 log|x1|| < 750, of which the rounding of x2 - 1 changes 1u, and the function errs by 9u.
    either = v.within(less, 2 ** (v.compute.precision + 1) + 1000, less.attrs.etas)
    ways = (e.step("by_sign", gaps, way, exact) for way in (either, size, v.negative(size)))
    # The power of a negative x1 and a fraction x2 is NaN, but a number where x2 - 1 is stored as an
    # integer, as -1 for |x2| <= 2^-p and -2 for -1 - 2u: (-1)^x2 tells integers from fractions.
    whole = e.binary("pow", e.constant(-1), x2)
    below = v.if_number(whole, v.admit(exact, *ways), rounded)
    power = e.step("by_sign", x1, rounded, below)
    base = v.multiply(grad_output, v.multiply(x2, power))
    slope = v.multiply(grad_output, v.multiply(pow(v, x1, x2), v.apply("log", x1)))
    none = missing(v, x2)
    kept = v.above_zero(v.negative(x2), slope, e.step("add", none, missing(v, x1)))
    return {
        "x1": v.above_zero(x2, base, v.above_zero(v.negative(x2), base, none)),
        "x2": v.above_zero(e.step("absolute", x1), slope, kept),
    }


def complex_pow_backward(v: Any, grad_output: Any, x1: Any, x2: Any) -> Any:
    """grad_output times the conjugates of x2 x1^(x2 - 1) and of x1^x2 log x1."""
    e = v.exact
    base = v.multiply(x2, pow(v, x1, shifted(v, x2, -1)))
    power = pow(v, x1, x2)
    log = v.each_part(v.apply("log", x1), lambda part: v.broadcast(part, power.shape))
    size = e.step("add", e.step("absolute", x1.real), e.step("absolute", x1.imag))
    found = v.multiply(grad_output, v.conjugate(v.multiply(power, log)))

    def settled(part: Any) -> Any:
        zero = v.broadcast(e.constant(0), part.shape)
        return v.above_zero(size, part, e.step("by_sign", x2.real, zero, part))

    return {
        "x1": v.multiply(grad_output, v.conjugate(base)),
        "x2": v.each_part(found, settled),
    }


def missing(v: Any, x: Any) -> Any:
    """Return 0, but NaN of NaN: what a choice by sign falls to."""
    e = v.exact
    return e.step("multiply", e.function("atan", x), e.constant(0))


def atan2(v: Any, x1: Any, x2: Any) -> Any:
    """Angle of the point with ordinate x1 and abscissa x2, from -pi to pi, broadcast.

    By C99: the sign of a zero x1 tells the sides of the negative real axis apart. A correct library
    function errs by at most 7u (3 ulp beyond rounding).
    """
    v.broadcast_shapes(x1.shape, x2.shape, "x1 and x2")
    return v.apply_binary("atan2", x1, x2)


def atan2_backward(v: Any, grad_output: Any, x1: Any, x2: Any) -> Any:
    """grad_output x2 / (x1^2 + x2^2) and -grad_output x1 / (x1^2 + x2^2).

    At the origin, where the angle has no derivative, NaN, or zero times grad_output, as of torch.
    """
    e = v.exact
    square = v.add(v.multiply(x1, x1), v.multiply(x2, x2))
    size = e.step("add", e.step("absolute", x1), e.step("absolute", x2))
    found = []
    for x in (x2, v.negative(x1)):
        top = v.multiply(grad_output, x)
        quotient = v.divide(top, square)
        over = v.multiply(top, v.divide(v.constant(1), square))
        plain = v.admit(quotient, quotient, over)
        origin = v.admit(quotient, quotient, v.multiply(top, v.constant(0)))
        found.append(v.above_zero(size, plain, v.if_number(size, origin, plain)))
    return dict(zip(("x1", "x2"), found, strict=True))


PAIR, TWO = ("x1", "x2"), Domain("(),()->()", FLOATS)

OPS = (
    Op("hypot", hypot, PAIR, TWO, backward=hypot_backward),
    Op("logaddexp", logaddexp, PAIR, TWO, backward=logaddexp_backward),
    Op("pow", pow, PAIR, Domain("(),()->()", NUMBERS), backward=pow_backward),
    Op("atan2", atan2, PAIR, TWO, backward=atan2_backward),
)
