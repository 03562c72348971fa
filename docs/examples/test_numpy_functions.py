"""NumPy's functions, and kernels of activations and normalizations written with them."""

import numpy as np
import pytest

import exactref as er

NAMES = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "log2": np.log2,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "atan": np.arctan,
    "cbrt": np.cbrt,
}


def judged(name, dtype):
    """Make the test of one function, on inputs that hypothesis draws."""

    @er.op(name, dtype=dtype, standard="any_order")
    def kernel(x):
        return NAMES[name](x)

    return kernel


test_exp = judged("exp", ["float32", "float64"])
test_expm1 = judged("expm1", ["float32", "float64"])
test_log = judged("log", ["float32", "float64"])
test_log1p = judged("log1p", ["float32", "float64"])
test_tanh = judged("tanh", ["float32", "float64"])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions_everywhere(exactref, name, dtype):
    rng = np.random.default_rng(0)
    x = (rng.standard_normal(500) * 10.0 ** rng.integers(-8, 3, 500)).astype(dtype)
    with np.errstate(all="ignore"):
        exactref.check(NAMES[name](x), getattr(er, name)(x))


@er.op("sigmoid", dtype="float32")
def test_sigmoid(x):
    return np.float32(1) / (np.float32(1) + np.exp(-x))


@er.op("gelu", approximate="tanh", dtype="float32")
def test_gelu(x):
    inner = np.float32(0.7978845608) * (x + np.float32(0.044715) * x * x * x)
    return np.float32(0.5) * x * (np.float32(1) + np.tanh(inner))


@er.op("backward.silu", dtype="float32", shapes=(4, 5), values="well_scaled")
def test_gradient_of_silu(grad_output, x):
    s = np.float32(1) / (np.float32(1) + np.exp(-x))
    return grad_output * (s * (np.float32(1) + x * (np.float32(1) - s)))


def rows():
    return np.random.default_rng(1).standard_normal((16, 96)).astype(np.float32)


def test_layer_norm(exactref):
    x = rows()
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    output = (x - mean) / np.sqrt(variance + np.float32(1e-5))
    exactref.check(output, er.layer_norm(x), standard="any_order")


def test_rms_norm_and_its_gradient(exactref):
    x, grad, weight = rows(), rows()[::-1].copy(), np.linspace(0.5, 1.5, 96, dtype=np.float32)
    inverse = np.float32(1) / np.sqrt((x * x).mean(axis=-1, keepdims=True) + np.float32(1e-6))
    exactref.check(x * inverse * weight, er.rms_norm(x, 96, weight, 1e-6), standard="any_order")
    h, g = x * inverse, grad * weight
    slopes = inverse * (g - h * (g * h).mean(axis=-1, keepdims=True))
    result = er.backward.rms_norm(grad, x, 96, weight, 1e-6)
    exactref.check((slopes, (grad * h).sum(axis=0)), result, standard="any_order")


def test_rotary_embedding(exactref):
    x = rows().reshape(2, 8, 96)
    angles = np.arange(8)[:, None] * 10000.0 ** (-np.arange(48) / 48)
    cos, sin = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    a, b = x[..., :48], x[..., 48:]
    output = np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)
    exactref.check(output, er.rope(x, cos, sin))


def test_cross_entropy(exactref):
    x, target = rows(), np.arange(16)
    shifted = x - x.max(axis=-1, keepdims=True)
    losses = np.log(np.exp(shifted).sum(axis=-1)) - shifted[np.arange(16), target]
    exactref.check(losses.mean(), er.cross_entropy(x, target), standard="any_order")
