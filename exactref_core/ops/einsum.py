"""einsum: products of one or two tensors whose axes have letters."""

from __future__ import annotations

from typing import Any

from exactref_core.errors import InputError
from exactref_core.op import Domain, Op
from exactref_core.ops.dtypes import NUMBERS
from exactref_core.ops.products import contract

__all__ = ["OPS"]


def define(v: Any, x1: Any, x2: Any = None, subscripts: Any = "") -> Any:
    """Sum of products over letters: ``einsum("ij,jk->ik", x1, x2)`` is a matrix product.

    Each letter names an axis; letters that the output leaves out are summed over, and an operand
    with a letter twice gives its diagonal. Without an arrow the output has the letters that occur
    once, in alphabetical order; "..." stands for axes that broadcast. One operand or two: a product
    of three depends on the order of contraction, which two calls state. A letter that only one of
    two operands has and the output has not may be summed over before the product or with it.
    """
    inputs, output, extents = axes_by_letter(subscripts, x1, x2)
    values = [x1] if x2 is None else [x1, x2]
    values = [
        v.diagonal(full(v, x, names, extents), names)
        for x, names in zip(values, inputs, strict=True)
    ]
    inputs = [once(names) for names in inputs]
    if x2 is None:
        found, order = reduced(v, values[0], inputs[0], output), kept(inputs[0], output)
    else:
        found, order = product(v, values, inputs, output)
    return v.reorder(found, tuple(order.index(name) for name in output))


def backward(v: Any, grad_output: Any, x1: Any, x2: Any = None, subscripts: Any = "") -> Any:
    """grad_output times the conjugate of the other operand, summed over the letters that are not
    the operand's; on the diagonal of a letter that occurs twice, and 0 beside it.

    Over a broadcast letter both are added up with the other letters, or after them.
    """
    inputs, output, extents = axes_by_letter(subscripts, x1, x2)
    operands = {"x1": x1} if x2 is None else {"x1": x1, "x2": x2}
    found = {}
    for place, (name, x) in enumerate(operands.items()):
        names = inputs[place]
        others = [
            (v.diagonal(full(v, v.conjugate(y), theirs, extents), theirs), once(theirs))
            for (other, y), theirs in zip(operands.items(), inputs, strict=True)
            if other != name
        ]
        short = [n for n, extent in zip(names, x.shape, strict=True) if extent != extents[n]]
        staged = slope(v, (grad_output, output), others, names, extents, "")
        found[name] = staged
        if short and len(once(names)) == len(names):
            direct = slope(v, (grad_output, output), others, names, extents, "".join(short))
            found[name] = v.one_of(direct, direct, v.sum_to(staged, x.shape))
    return found


def slope(v: Any, grad: Any, others: Any, names: str, extents: Any, gone: str) -> Any:
    """Return an operand's gradient, with extent 1 for the letters ``gone``, which are summed over.

    ``grad`` and ``others`` are values with the letters of their axes.
    """
    own = once(names)
    known = grad[1] + "".join(letters for _, letters in others)
    target = "".join(n for n in own if n in known and n not in gone)
    if others:
        values, inputs = zip(grad, *others, strict=True)
        value, order = product(v, list(values), list(inputs), target)
    else:
        value, order = reduced(v, grad[0], grad[1], target), kept(grad[1], target)
    value = v.reorder(value, tuple(order.index(n) for n in target))
    shape = tuple(extents[n] if n in target else 1 for n in own)
    value = v.spread(v.arrange(value, shape), tuple(1 if n in gone else extents[n] for n in own))
    return v.on_diagonal(value, names)


def once(names: str) -> str:
    """Return letters without repetitions."""
    return "".join(dict.fromkeys(names))


def axes_by_letter(subscripts: Any, x1: Any, x2: Any) -> tuple[list[str], str, dict[str, int]]:
    """Return the letters of the operands' axes and of the output's, and the extent of each."""
    inputs, output, shapes = letters(subscripts, x1, x2)
    extents: dict[str, int] = {}
    for place, (names, shape) in enumerate(zip(inputs, shapes, strict=True)):
        for name, extent in zip(names, shape, strict=True):
            known = extents.setdefault(name, extent)
            if known != extent and 1 not in (known, extent):
                raise InputError(
                    f"subscripts {subscripts!r} give {name!r} {known} elements and, in operand "
                    f"{place + 1} with shape {shape}, {extent}"
                )
            extents[name] = extent if known == 1 else known
    return inputs, output, extents


def full(v: Any, x: Any, names: str, extents: dict[str, int]) -> Any:
    """Return a tensor with each axis as long as its letter says."""
    return v.spread(x, tuple(extents[name] for name in names))


def kept(names: str, output: str) -> str:
    """Return the letters that the output has."""
    return "".join(name for name in names if name in output)


def reduced(v: Any, x: Any, names: str, output: str) -> Any:
    """Return the sum over the letters that the output leaves out."""
    gone = tuple(i for i, name in enumerate(names) if name not in output)
    return v.sum(x, gone) if gone else x


def product(v: Any, values: Any, inputs: Any, output: str) -> tuple[Any, str]:
    """Return the products of two tensors summed over letters, and the letters of its axes."""
    left, right = inputs
    alone = [
        [name for name in mine if name not in other + output]
        for mine, other in ((left, right), (right, left))
    ]
    direct, order = pairwise(v, values, inputs, output)
    if not any(alone):
        return direct, order
    # Summed over before the product: n - 1 additions of elements instead of products.
    before = [
        reduced(v, x, names, "".join(name for name in names if name not in gone))
        for x, names, gone in zip(values, inputs, alone, strict=True)
    ]
    rest = [
        "".join(n for n in names if n not in gone)
        for names, gone in zip(inputs, alone, strict=True)
    ]
    return v.one_of(direct, direct, pairwise(v, before, rest, output)[0]), order


def pairwise(v: Any, values: Any, inputs: Any, output: str) -> tuple[Any, str]:
    """Return the products of two tensors, each letter summed over broadcast to both."""
    left, right = inputs
    x, y = values
    missing = [
        [n for n in other if n not in mine + output]
        for mine, other in ((left, right), (right, left))
    ]
    extents = {
        n: e
        for names, z in zip(inputs, values, strict=True)
        for n, e in zip(names, z.shape, strict=True)
    }
    for place in (0, 1):
        more = [extents[n] for n in missing[place]]
        z = (x, y)[place]
        wide = v.spread(v.arrange(z, (*z.shape, *(1 for _ in more))), (*z.shape, *more))
        x, y = (wide, y) if place == 0 else (x, wide)
    left, right = left + "".join(missing[0]), right + "".join(missing[1])
    both = [n for n in left if n in right and n in output]
    summed = [n for n in left if n in right and n not in output]
    free = [[n for n in names if n not in both + summed] for names in (left, right)]
    places = [
        [[names.index(n) for n in group] for names, group in zip((left, right), pair, strict=True)]
        for pair in ((both, both), free, (summed, summed))
    ]
    return contract(v, x, y, *places), "".join([*both, *free[0], *free[1]])


def letters(subscripts: Any, x1: Any, x2: Any) -> tuple[list[str], str, list[Any]]:
    """Return the letters of the operands' axes and of the output's, and the operands' shapes."""
    shapes = [x1.shape] if x2 is None else [x1.shape, x2.shape]
    if not isinstance(subscripts, str):
        raise InputError(f'subscripts is a string such as "ij,jk->ik", not {subscripts!r}')
    given, arrow, result = subscripts.replace(" ", "").partition("->")
    parts = given.split(",")
    if len(parts) != len(shapes):
        raise InputError(
            f"subscripts {subscripts!r} name {len(parts)} operands; {len(shapes)} are given, and "
            "einsum takes one or two (chain calls for more)"
        )
    dots = [broadcast_axes(subscripts, *pair) for pair in zip(parts, shapes, strict=True)]
    # Broadcast axes get names of their own, counted from the last one.
    wide = "".join(chr(0x100 + i) for i in reversed(range(max(dots))))
    inputs = [
        part.replace("...", wide[len(wide) - count :])
        for part, count in zip(parts, dots, strict=True)
    ]
    every = "".join(inputs)
    if arrow:
        output = result.replace("...", wide)
    else:
        once = sorted(name for name in set(every) if name.isascii() and every.count(name) == 1)
        output = wide + "".join(once)
    if len(set(output)) != len(output) or not set(output) <= set(every):
        raise InputError(
            f"subscripts {subscripts!r}: the output has letters of the operands, each once"
        )
    return inputs, output, shapes


def broadcast_axes(subscripts: str, names: str, shape: tuple[int, ...]) -> int:
    """Return how many axes "..." stands for; InputError where letters do not fit a shape."""
    plain = names.replace("...", "", 1)
    if not all(name.isascii() and name.isalpha() for name in plain):
        raise InputError(f"subscripts {subscripts!r}: axes are letters, or '...'")
    if len(plain) > len(shape) or ("..." not in names and len(plain) != len(shape)):
        raise InputError(
            f"subscripts {subscripts!r} give an operand {len(plain)} axes; its shape is {shape}"
        )
    return len(shape) - len(plain)


OPS = (
    Op(
        "einsum",
        define,
        ("x1",),
        Domain("(i,j)->(i,j)", NUMBERS, leading=False),
        {"x2": None},
        first=("subscripts",),
        optional=("x2",),
        backward=backward,
        more="a product of more operands depends on the order of contraction: chain two calls",
    ),
)
