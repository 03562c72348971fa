"""vecdot, outer, tensordot, einsum: products of elements along axes that the caller names."""

from __future__ import annotations

from typing import Any

from exactref_core.errors import InputError
from exactref_core.op import Domain, Op, axes_of, one_axis
from exactref_core.ops.dtypes import NUMBERS

__all__ = ["OPS"]


def size(extents: Any) -> int:
    """Return the number of elements of a shape."""
    count = 1
    for extent in extents:
        count *= extent
    return count


def vecdot(v: Any, x1: Any, x2: Any, axis: int = -1) -> Any:
    """Dot products of vectors along ``axis``, sum_k conj(x1_k) x2_k; the other axes broadcast.

    The first vector is conjugated where it is complex. Both have the same extent along ``axis``,
    which is counted from the end unless they have as many axes.
    """
    for name, x in (("x1", x1), ("x2", x2)):
        if not x.shape:
            raise InputError(f"{name} has no axes; vecdot takes vectors (use multiply)")
    if hasattr(axis, "__index__") and axis >= 0 and len(x1.shape) != len(x2.shape):
        raise InputError(
            f"axis {axis} names different axes of x1 with shape {x1.shape} and x2 with shape "
            f"{x2.shape}; count from the end, axis=-1 being the last"
        )
    places = [one_axis(axis, len(x.shape)) for x in (x1, x2)]
    n, m = (x.shape[place] for x, place in zip((x1, x2), places, strict=True))
    if n != m:
        raise InputError(
            f"x1 with shape {x1.shape} has {n} elements along axis {axis} and x2 with shape "
            f"{x2.shape} has {m}; they must be equal"
        )
    a, b = (
        v.reorder(x, (*(i for i in range(len(x.shape)) if i != place), place))
        for x, place in zip((v.conjugate(x1), x2), places, strict=True)
    )
    shape = v.broadcast_shapes(a.shape[:-1], b.shape[:-1], "the other axes of x1 and x2")
    left = v.arrange(a, (*a.shape[:-1], 1, n))
    return v.arrange(v.matmul(left, v.arrange(b, (*b.shape[:-1], n, 1))), shape)


def vecdot_backward(v: Any, grad_output: Any, x1: Any, x2: Any, axis: int = -1) -> Any:
    """grad_output times the other vector, of real ones; complex: conj(grad_output) x2 and
    grad_output x1."""
    count = max(len(x1.shape), len(x2.shape))
    place = count + one_axis(axis, len(x1.shape)) - len(x1.shape)
    shape = v.broadcast_shapes(x1.shape, x2.shape, "x1 and x2")
    kept = tuple(1 if i == place else n for i, n in enumerate(shape))
    g = v.spread(v.arrange(grad_output, kept), shape)
    return {"x1": v.multiply(v.conjugate(g), x2), "x2": v.multiply(g, x1)}


def outer(v: Any, x1: Any, x2: Any) -> Any:
    """Outer product of two vectors: x1_i * x2_j."""
    for name, x in (("x1", x1), ("x2", x2)):
        if len(x.shape) != 1:
            raise InputError(f"{name} has shape {x.shape}; outer takes vectors (reshape to (-1,))")
    m, n = x1.shape[0], x2.shape[0]
    rows, columns = v.arrange(x1, (m, 1)), v.arrange(x2, (1, n))
    return v.multiply(v.spread(rows, (m, n)), v.spread(columns, (m, n)))


def outer_backward(v: Any, grad_output: Any, x1: Any, x2: Any) -> Any:
    """grad_output x2, and x1 grad_output: sums over the other axis, of conjugates."""
    first, second = (v.conjugate(x) for x in (x1, x2))
    columns = v.matmul(grad_output, v.arrange(second, (*x2.shape, 1)))
    rows = v.matmul(v.arrange(first, (1, *x1.shape)), grad_output)
    return {"x1": v.arrange(columns, x1.shape), "x2": v.arrange(rows, x2.shape)}


def tensordot(v: Any, x1: Any, x2: Any, axes: Any = 2) -> Any:
    """Products of x1 and x2 summed over pairs of axes.

    ``axes`` is a number n (the last n axes of x1 meet the first n of x2; 0: all products) or two
    sequences of as many axes, which meet in their order. The other axes of x1, then those of x2,
    are those of the output.
    """
    mine, theirs, left, right = sides(axes, len(x1.shape), len(x2.shape))
    for i, j in zip(mine, theirs, strict=True):
        if x1.shape[i] != x2.shape[j]:
            raise InputError(
                f"axes={axes!r} lets axis {i} of x1 with shape {x1.shape} meet axis {j} of x2 with "
                f"shape {x2.shape}; their extents must be equal"
            )
    return contract(v, x1, x2, ((), ()), (left, right), (mine, theirs))


def tensordot_backward(v: Any, grad_output: Any, x1: Any, x2: Any, axes: Any = 2) -> Any:
    """Products of grad_output with the conjugate of the other tensor, over the axes that it shares
    with the output.
    """
    mine, theirs, left, right = sides(axes, len(x1.shape), len(x2.shape))
    rows, columns = [*range(len(left))], [*range(len(left), len(grad_output.shape))]
    first = contract(v, grad_output, v.conjugate(x2), ((), ()), (rows, theirs), (columns, right))
    second = contract(v, v.conjugate(x1), grad_output, ((), ()), (mine, columns), (left, rows))
    return {
        "x1": v.reorder(first, inverse([*left, *mine])),
        "x2": v.reorder(second, inverse([*theirs, *right])),
    }


def inverse(order: list[int]) -> tuple[int, ...]:
    """Return the order that undoes one."""
    return tuple(order.index(i) for i in range(len(order)))


def sides(axes: Any, first: int, second: int) -> tuple[list[int], list[int], list[int], list[int]]:
    """Return the axes of both tensors that meet, and those of both that are left."""
    mine, theirs = pairs_of(axes, first, second)
    left = [i for i in range(first) if i not in mine]
    return mine, theirs, left, [i for i in range(second) if i not in theirs]


def pairs_of(axes: Any, first: int, second: int) -> tuple[list[int], list[int]]:
    """Return the axes of both tensors that meet, counted from 0."""
    if hasattr(axes, "__index__") and not isinstance(axes, bool):
        n = axes.__index__()
        if not 0 <= n <= min(first, second):
            raise InputError(f"axes={n}: x1 has {first} axes and x2 has {second}")
        return list(range(first - n, first)), list(range(n))
    try:
        mine, theirs = ([part] if hasattr(part, "__index__") else list(part) for part in axes)
    except (TypeError, ValueError):
        raise InputError(f"axes is a number or two sequences of axes, not {axes!r}") from None
    if len(mine) != len(theirs):
        raise InputError(f"axes={axes!r} names {len(mine)} axes of x1 and {len(theirs)} of x2")
    found = [[one_axis(i, n) for i in part] for part, n in ((mine, first), (theirs, second))]
    for part, n in ((mine, first), (theirs, second)):
        axes_of(tuple(part), n)  # none twice
    return found[0], found[1]


def contract(v: Any, x: Any, y: Any, both: Any, free: Any, summed: Any) -> Any:
    """Return products over axes: those in ``both``, ``free`` of x and y, ``summed`` over.

    Each is a pair of lists of axes. Without an axis to sum over, an element is one product.
    """
    batch = [x.shape[i] for i in both[0]]
    m, n = ([z.shape[i] for i in part] for z, part in zip((x, y), free, strict=True))
    k = size(x.shape[i] for i in summed[0])
    left = v.arrange(v.reorder(x, (*both[0], *free[0], *summed[0])), (*batch, size(m), k))
    right = v.arrange(v.reorder(y, (*both[1], *summed[1], *free[1])), (*batch, k, size(n)))
    if summed[0]:
        return v.arrange(v.matmul(left, right), (*batch, *m, *n))
    shape = (*batch, size(m), size(n))
    return v.arrange(v.multiply(v.spread(left, shape), v.spread(right, shape)), (*batch, *m, *n))


OPS = (
    Op(
        "vecdot",
        vecdot,
        ("x1", "x2"),
        Domain("(n),(n)->()", NUMBERS),
        {"axis": -1},
        backward=vecdot_backward,
    ),
    Op(
        "outer",
        outer,
        ("x1", "x2"),
        Domain("(m),(n)->(m,n)", NUMBERS, leading=False),
        backward=outer_backward,
    ),
    Op(
        "tensordot",
        tensordot,
        ("x1", "x2"),
        Domain("(m,j,k),(j,k,n)->(m,n)", NUMBERS, leading=False),
        {"axes": 2},
        backward=tensordot_backward,
    ),
)
