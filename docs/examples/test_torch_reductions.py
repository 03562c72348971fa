"""Torch's own sums and means on the CPU, judged under `any_order`."""

import pytest

import exactref as er

torch = pytest.importorskip("torch")

FLOATS = ["float64", "float32", "bfloat16", "float16"]


def noise(shape, dtype, seed=0):
    """Normally distributed values, the same in every run."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(getattr(torch, dtype))


@er.op("sum", axis=-1, dtype=FLOATS, framework="torch", device="cpu", standard="any_order")
def test_sum_of_rows(x):
    return torch.sum(x, dim=-1)


@er.op("sum", axis=0, dtype=FLOATS, framework="torch", device="cpu", standard="any_order")
def test_sum_of_columns(x):
    return torch.sum(x, dim=0)


@er.op("mean", axis=-1, dtype=FLOATS, framework="torch", device="cpu", standard="any_order")
def test_mean_of_rows(x):
    return torch.mean(x, dim=-1)


@pytest.mark.parametrize("dtype", FLOATS)
def test_large_sum(exactref, dtype):
    x = noise((5, 10_007), dtype)
    exactref.check(torch.sum(x, dim=-1), er.sum(x, axis=-1), standard="any_order")


@pytest.mark.parametrize("dtype", FLOATS)
def test_large_mean(exactref, dtype):
    x = noise((1000, 50), dtype)
    exactref.check(torch.mean(x, dim=0), er.mean(x, axis=0), standard="any_order")


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_sum_with_a_float32_output(exactref, dtype):
    x = noise((5, 3000), dtype)
    output = torch.sum(x, dim=-1, dtype=torch.float32)
    exactref.check(output, er.sum(x, axis=-1, dtype="float32"), standard="any_order")


def test_mean_of_large_float16_values(exactref):
    x = torch.full((3,), 40_000.0, dtype=torch.float16)  # their sum is beyond float16
    exactref.check(torch.mean(x), er.mean(x), standard="any_order")


def test_sum_of_a_tensor_that_requires_grad(exactref):
    x = noise((4, 300), "float32").requires_grad_()
    exactref.check(x.sum(dim=-1), er.sum(x, axis=-1), standard="any_order")


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
def test_complex_sum(exactref, dtype):
    generator = torch.Generator().manual_seed(3)
    x = torch.randn((6, 500), generator=generator, dtype=dtype)
    exactref.check(torch.sum(x, dim=-1), er.sum(x, axis=-1), standard="any_order")
