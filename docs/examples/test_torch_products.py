"""Torch's own matrix products on the CPU, judged under `any_order`.

Some CPUs multiply bfloat16 matrices with instructions that flush subnormals to zero, and then mix
infinities and NaN of neighbouring rows up (see the page of guarantees and limits). So bfloat16 gets
the other values from the marker, and a check of its own with `flush_to_zero=True`.
"""

import pytest

import exactref as er

torch = pytest.importorskip("torch")

FLOATS = ["float64", "float32", "bfloat16", "float16"]


def noise(shape, dtype, seed=0):
    """Normally distributed values, the same in every run."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(getattr(torch, dtype))


@er.op("matmul", dtype=["float64", "float32", "float16"], framework="torch", standard="any_order")
def test_matmul(A, B):
    return torch.matmul(A, B)


@er.op(
    "matmul",
    dtype="bfloat16",
    framework="torch",
    standard="any_order",
    values=["integers", "well_scaled", "one_sign", "cancellation", "ties", "constant_rows"],
)
def test_matmul_of_bfloat16(A, B):
    return torch.matmul(A, B)


def test_bfloat16_matmul_that_may_flush():
    exponents = torch.randint(-133, -60, (2, 32, 32), generator=torch.Generator().manual_seed(12))
    A, B = torch.ldexp(noise((2, 32, 32), "float32", 13), exponents).bfloat16()
    result = er.matmul(A, B)
    assert result.covers(A @ B, standard="any_order", flush_to_zero=True).all()


@pytest.mark.parametrize("dtype", FLOATS)
def test_square_matmul(exactref, dtype):
    A, B = noise((96, 96), dtype, 1), noise((96, 96), dtype, 2)
    exactref.check(A @ B, er.matmul(A, B), standard="any_order")


@pytest.mark.parametrize("dtype", FLOATS)
def test_batched_matmul(exactref, dtype):
    A, B = noise((4, 9, 130), dtype, 3), noise((4, 130, 7), dtype, 4)
    exactref.check(torch.bmm(A, B), er.matmul(A, B), standard="any_order")


@pytest.mark.parametrize("dtype", FLOATS)
def test_dot(exactref, dtype):
    a, b = noise((3000,), dtype, 5), noise((3000,), dtype, 6)
    exactref.check(torch.dot(a, b), er.matmul(a, b), standard="any_order")


@pytest.mark.parametrize("dtype", FLOATS)
def test_matrix_times_vector(exactref, dtype):
    A, b = noise((40, 500), dtype, 7), noise((500,), dtype, 8)
    exactref.check(torch.mv(A, b), er.matmul(A, b), standard="any_order")


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_einsum(exactref, dtype):
    A, B = noise((20, 300), dtype, 9), noise((300, 25), dtype, 10)
    output = torch.einsum("ik,kj->ij", A, B)
    exactref.check(output, er.matmul(A, B), standard="any_order")


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
def test_complex_matmul(exactref, dtype):
    generator = torch.Generator().manual_seed(11)
    A = torch.randn((30, 60), generator=generator, dtype=dtype)
    B = torch.randn((60, 20), generator=generator, dtype=dtype)
    exactref.check(A @ B, er.matmul(A, B), standard="any_order")
