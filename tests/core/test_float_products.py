"""Another library's float64 products give the same answers to the last bit, or are refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import exactref as er

use_product = er.extend.use_product

RNG = np.random.default_rng(21)
A, B = RNG.standard_normal((2, 48, 80)), RNG.standard_normal((80, 40))
Q, K, V = (RNG.standard_normal((2, 40, 32)).astype(np.float32) for _ in range(3))


@pytest.fixture(autouse=True)
def _numpy_again() -> Iterator[None]:
    yield
    use_product(None)


def answers() -> list[bytes]:
    found = []
    for dtype in (np.float64, np.float32, np.float16):
        a, b = A.astype(dtype), B.astype(dtype)
        result = er.matmul(a, b)
        found += [result.rounded, result.tolerance(), result.covers(a @ b), *result.finite_range()]
    attended = er.scaled_dot_product_attention(Q, K, V)["output"]
    found += [attended.rounded, attended.tolerance("any_order")]
    return [one.data.tobytes() for one in found]


def backwards(a: Any, b: Any) -> Any:
    """A product whose sums run the other way."""
    return np.matmul(a[..., ::-1], b[..., ::-1, :])


def in_pieces(a: Any, b: Any) -> Any:
    return sum(
        np.einsum("...ij,...jk->...ik", a[..., i : i + 7], b[..., i : i + 7, :])
        for i in range(0, a.shape[-1], 7)
    )


def kept(a: Any, b: Any) -> Any:
    """A product that its maker does not want changed."""
    found = np.matmul(a, b)
    found.flags.writeable = False
    return found


@pytest.mark.parametrize("function", [backwards, in_pieces, kept])
def test_any_order_gives_the_same_answers(function: Any) -> None:
    expected = answers()
    seen = []
    use_product(lambda a, b: seen.append(a.shape) or function(a, b))
    assert answers() == expected
    assert len(seen) > 10


def test_torch_gives_the_same_answers() -> None:
    torch = pytest.importorskip("torch")
    expected = answers()
    use_product(lambda a, b: torch.matmul(*(torch.from_numpy(x.copy()) for x in (a, b))).numpy())
    assert answers() == expected


def test_a_product_in_less_than_float64_is_refused() -> None:
    def single(a: Any, b: Any) -> Any:
        return np.matmul(a.astype(np.float32), b.astype(np.float32)).astype(np.float64)

    with pytest.raises(er.InputError, match="multiply matrices in float64"):
        use_product(single)
    with pytest.raises(er.DTypeError, match=r"float64 array of shape \(2, 256, 256\), not float32"):
        use_product(lambda a, b: np.matmul(a, b).astype(np.float32))
    with pytest.raises(er.DTypeError, match=r"not float64 of shape \(256, 256\)"):
        use_product(lambda a, b: np.matmul(a[0], b[0]))
    assert er.matmul(A, B).rounded.shape == (2, 48, 40)
