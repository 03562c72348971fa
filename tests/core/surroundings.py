"""What operations answer on a few inputs, as a digest that no surroundings of a call may change.

``python -m tests.core.surroundings`` prints it, for a process that is set up otherwise.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from typing import Any

import numpy as np

import exactref as er
from exactref_core.op import Op
from exactref_core.registry import get_op

__all__ = ["FEW", "digest", "every", "large"]

SIDE = 4
# Every kind of definition: sums, products, MPFR's functions, rows, roots, complex parts, gradients.
FEW = (
    "sum",
    "matmul",
    "softmax",
    "logsumexp",
    "exp",
    "pow",
    "atan2",
    "erfinv",
    "divide",
    "layer_norm",
    "vector_norm",
    "matrix_exp",
    "scaled_dot_product_attention",
    "backward.gelu",
    "backward.digamma",
)
PARAMETERS: dict[str, dict[str, Any]] = {
    "astype": {"dtype": "float16"},
    "batch_norm": {"training": True},
    "cross_entropy": {"target": [0, 3, 1, 2]},
    "cumulative_prod": {"axis": -1},
    "cumulative_sum": {"axis": -1},
    "einsum": {"subscripts": "ij->ji"},
    "group_norm": {"num_groups": 2},
    "layer_norm": {"normalized_shape": SIDE},
    "nll_loss": {"target": [0, 3, 1, 2]},
    "rms_norm": {"normalized_shape": SIDE},
    "where": {"condition": [True, False] * 4},
}
# Elementwise operations get these, so that zeros, infinities and subnormal numbers are among them.
NUMBERS = (0.7, -0.0, np.inf, -2.5, 1e-40, np.nan, 3e38, 1.0)


def tensors(op: Op) -> list[er.Array]:
    """One array for each tensor: all sides alike, and values in the operation's domain."""
    cores = re.findall(r"\(([^)]*)\)", op.domain.signature.partition("->")[0])
    found = []
    for role, (name, core) in enumerate(zip(op.tensors, cores, strict=True)):
        sides = [SIDE for axis in core.split(",") if axis]
        if sides:
            sides[-1] *= 2 if name in op.domain.doubled else 1
            x = np.random.Generator(np.random.PCG64([7, role])).standard_normal(sides)
        else:
            x = np.roll(NUMBERS, role)
        x = np.abs(x) if name in op.domain.nonnegative else x
        found.append(er.asarray(x.tolist(), "float32"))
    return found


def result_of(name: str) -> er.Result:
    """The result of a call of an operation."""
    op = get_op(name)
    if op.forward is None:
        return called(getattr(er, name), op, tensors(op))
    arrays = tensors(op.forward)
    rounded = called(getattr(er, op.forward.name), op.forward, arrays)
    grad = rounded[next(iter(rounded.outputs))].rounded
    return called(getattr(er.backward, op.forward.name), op, arrays, grad)


def called(function: Any, op: Op, arrays: list[er.Array], *grad: er.Array) -> er.Result:
    """The result of a function on arrays, with the parameters that the operation asks for."""
    given = dict(PARAMETERS.get((op.forward or op).name, {}))
    lead = [given.pop(name) for name in op.first]
    result: er.Result = function(*grad, *lead, *arrays, **given)
    return result


def told(result: er.Result) -> list[er.Array]:
    """All that an output tells about every element."""
    found = [result.rounded]
    for standard in ("normal", "any_order"):
        found += [result.tolerance(standard), *result.finite_range(standard)]
        found += [result.may_be(what, standard) for what in ("+inf", "-inf", "nan")]
        found.append(result.covers(result.rounded, standard))
    return found


def answers(name: str) -> bytes:
    """What the result of an operation tells, as bits."""
    result, found = result_of(name), hashlib.sha256()
    for output in result.outputs:
        add(found, told(result[output]))
        add_exact(found, result[output])
    return found.digest()


def add(found: Any, arrays: list[er.Array]) -> None:
    for array in arrays:
        found.update(repr((array.dtype, array.shape)).encode() + array.data.tobytes())


def add_exact(found: Any, result: er.Result) -> None:
    """Add the enclosures of the exact values that are numbers."""
    for index in np.ndindex(*result.shape):
        try:
            one = result.exact.value(*index)
        except ValueError:  # an infinity or NaN
            continue
        for part in (one.midpoint.to_fraction(), one.radius):
            found.update(f"{part.numerator:x}/{part.denominator:x} ".encode())


def large() -> dict[str, str]:
    """The answers of sums and products that are long enough for threads and tiles."""
    rng = np.random.Generator(np.random.PCG64(7))
    a, b = rng.standard_normal((70, 300)), rng.standard_normal((300, 65))
    a[3] = np.exp2(rng.integers(-60, 60, 300))
    b[150:] = -b[:150]
    one, two = a.astype(np.float32), b.astype(np.float32)
    results = {
        "matmul": er.matmul(one, two),
        "matmul float64": er.matmul(a, b),
        "sum": er.sum(np.repeat(one, 9, axis=1), axis=1),
        "softmax": er.softmax(one),
        "attention": er.scaled_dot_product_attention(one[:40], two.T, two.T)["output"],
    }
    found = {}
    for name, result in results.items():
        digest = hashlib.sha256()
        add(digest, [result.rounded, result.tolerance(), result.tolerance("any_order")])
        found[f"large {name}"] = digest.hexdigest()[:16]
    return found


def every() -> tuple[str, ...]:
    """The names of all operations."""
    return tuple(op.name for op in er.ops())


def digest(names: tuple[str, ...] = FEW) -> dict[str, str]:
    """The answers of some operations."""
    return {name: answers(name).hex()[:16] for name in names}


if __name__ == "__main__":
    print(json.dumps({**digest(every() if "every" in sys.argv else FEW), **large()}))
