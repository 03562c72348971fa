"""Torch's own elementwise operations on the CPU: they round once, so nothing is granted.

Complex products and quotients round several times and have a tolerance.
"""

import pytest

import exactref as er
from exactref import strategies

torch = pytest.importorskip("torch")

FLOATS = ["float64", "float32", "bfloat16", "float16"]
COMPLEX = ["complex128", "complex64"]
FINITE = [name for name in strategies.value_classes() if name != "infinities_and_nan"]


@er.op("add", dtype=FLOATS, framework="torch")
def test_add(x1, x2):
    return torch.add(x1, x2)


# Torch multiplies the second operand with a complex 1 first, which makes NaN of an infinity.
@er.op("add", dtype=COMPLEX, framework="torch", values=FINITE)
def test_complex_add(x1, x2):
    return torch.add(x1, x2)


@er.op("multiply", dtype=FLOATS, framework="torch")
def test_multiply(x1, x2):
    return torch.mul(x1, x2)


@er.op("divide", dtype=FLOATS, framework="torch")
def test_divide(x1, x2):
    return torch.div(x1, x2)


@er.op("subtract", dtype=FLOATS, framework="torch")
def test_subtract(x1, x2):
    return torch.sub(x1, x2)


@er.op("subtract", dtype=COMPLEX, framework="torch", values=FINITE)
def test_complex_subtract(x1, x2):
    return torch.sub(x1, x2)


@er.op("multiply", dtype=COMPLEX, framework="torch")
def test_complex_multiply(x1, x2):
    return torch.mul(x1, x2)


@er.op("sqrt", dtype=["bfloat16", "float16"], framework="torch")
def test_sqrt(x):
    return torch.sqrt(x)


@pytest.mark.xfail(strict=False, reason="MKL's vector square root is not correctly rounded")
@er.op("sqrt", dtype=["float64", "float32"], framework="torch", values="well_scaled", shapes=1000)
def test_sqrt_of_wide_formats(x):
    return torch.sqrt(x)


@er.op("negative", dtype=FLOATS, framework="torch")
def test_negative(x):
    return torch.neg(x)


@er.op("abs", dtype=FLOATS, framework="torch")
def test_abs(x):
    return torch.abs(x)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_divide(exactref, dtype):
    generator = torch.Generator().manual_seed(1)
    x1, x2 = torch.randn((2, 1000), generator=generator, dtype=getattr(torch, dtype))
    exactref.check(torch.div(x1, x2), er.divide(x1, x2))


@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_abs(exactref, dtype):
    generator = torch.Generator().manual_seed(2)
    x = torch.randn(1000, generator=generator, dtype=getattr(torch, dtype))
    exactref.check(torch.abs(x), er.abs(x))
