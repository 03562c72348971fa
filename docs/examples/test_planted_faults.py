"""Kernels with a fault planted in each: every one of these checks has to fail.

`strict` makes the test-suite fail where a fault goes unnoticed.
"""

import numpy as np
import pytest

import exactref as er

TILE = 16


def fault(reason):
    """The check below is expected to find this fault."""
    return pytest.mark.xfail(strict=True, raises=AssertionError, reason=reason)


def noise(shape, seed=0):
    """Normally distributed float32 values, the same in every run."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def tiled_matmul(A, B, last_tile=0, stale=None):
    """A matrix product in tiles over the inner axis; ``stale`` reads one tile of A twice."""
    inner = A.shape[1] // TILE + last_tile
    out = np.zeros((A.shape[0], B.shape[1]), dtype=np.float32)
    for tile in range(inner):
        columns = slice(tile * TILE, (tile + 1) * TILE)
        read = slice((tile - 1) * TILE, tile * TILE) if tile == stale else columns
        out += A[:, read] @ B[columns]
    return out


def test_the_tiled_product_without_a_fault(exactref):
    A, B = noise((20, 64), 1), noise((64, 24), 2)
    exactref.check(tiled_matmul(A, B), er.matmul(A, B), standard="any_order")


@fault("the last term is dropped")
def test_dropped_term(exactref):
    x = noise((10, 257))
    exactref.check(np.sum(x[:, :-1], axis=1), er.sum(x, axis=1), standard="any_order")


@fault("adds along the other axis")
def test_wrong_axis(exactref):
    x = noise((64, 64))
    exactref.check(np.sum(x, axis=0), er.sum(x, axis=1), standard="any_order")


@fault("products added in float16")
def test_narrower_accumulator(exactref):
    A, B = noise((8, 64), 1).astype(np.float16), noise((64, 8), 2).astype(np.float16)
    out = np.zeros((8, 8), dtype=np.float16)
    for k in range(64):
        out += np.outer(A[:, k], B[k])
    exactref.check(out, er.matmul(A, B), standard="any_order")


@fault("the float16 store cuts bits off instead of rounding to nearest")
def test_truncated_store(exactref):
    x = np.abs(noise((50, 100)))
    total = np.sum(x.astype(np.float64), axis=1)
    nearest = total.astype(np.float16)
    above = nearest.astype(np.float64) > total
    truncated = np.where(above, np.nextafter(nearest, np.float16(0)), nearest)
    exactref.check(truncated, er.sum(x, axis=1, dtype="float16"), standard="any_order")


@fault("tile 2 is multiplied with the tile of A that was loaded before it")
def test_stale_block(exactref):
    A, B = noise((20, 64), 1), noise((64, 24), 2)
    exactref.check(tiled_matmul(A, B, stale=2), er.matmul(A, B), standard="any_order")


@fault("one tile too few where the inner axis is no multiple of the tile")
def test_off_by_one_tile(exactref):
    A, B = noise((20, 70), 1), noise((70, 24), 2)
    exactref.check(tiled_matmul(A, B), er.matmul(A, B), standard="any_order")


def test_the_odd_tile_without_a_fault(exactref):
    A, B = noise((20, 70), 1), noise((70, 24), 2)
    exactref.check(tiled_matmul(A, B, last_tile=1), er.matmul(A, B), standard="any_order")


@fault("the mean divides by one less than the number of elements")
def test_wrong_divisor(exactref):
    x = noise((4, 256)) + 1
    exactref.check(np.sum(x, axis=1) / np.float32(255), er.mean(x, axis=1), standard="any_order")


@fault("a reciprocal estimate of twelve bits in place of a division")
def test_reciprocal_estimate(exactref):
    x1, x2 = noise(100, 1), np.abs(noise(100, 2)) + 1
    estimate = (1 / x2).astype(np.float16).astype(np.float32)
    exactref.check(x1 * estimate, er.divide(x1, x2))


@fault("one element in a corner is never written")
def test_unwritten_corner(exactref):
    A, B = noise((33, 20), 1), noise((20, 33), 2)
    out = A @ B
    out[-1, -1] = 0
    exactref.check(out, er.matmul(A, B), standard="any_order")


@fault("rows shorter than two are skipped")
@er.op("sum", axis=-1, shapes=[(8, 1), (8, 5)], values="one_sign", standard="any_order")
def test_a_fault_that_only_some_shapes_show(x):
    if x.shape[-1] < 2:
        return np.zeros(x.shape[:-1], dtype=x.dtype)
    return np.sum(x, axis=-1)
