"""The gradient of an operation as an operation of its own, from what its file says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from exactref_core.errors import InputError
from exactref_core.op import Domain, Op

__all__ = ["PREFIX", "gradient_of"]

PREFIX = "backward."


def gradient_of(op: Op) -> Op:
    """Return ``backward.<name>(grad_output, *tensors, **parameters)``, outputs ``grad_<tensor>``.

    Its inputs have the forward call's, and the gradient of its output; each gradient has the shape
    of its tensor, broadcasting undone by sums. InputError for another shape of ``grad_output``.
    """
    more = tuple(f"grad_{name}" for name in op.grad_outputs)
    wide = tuple(f"grad_{name}" for name in op.wide)
    names = (*op.tensors, *op.optional) if op.gradients is None else op.gradients
    inputs, _, results = op.domain.signature.partition("->")
    results = results.replace("),(", ")|(").split("|")[0]
    groups = inputs.replace("),(", ")|(").split("|")
    kept = [group for group, name in zip(groups, op.tensors, strict=True) if name in names]
    dtypes = op.domain.dtypes
    if op.real_output:
        dtypes = tuple(name for name in dtypes if not name.startswith("complex"))
    domain = Domain(
        f"{results},{inputs}->{','.join(kept)}",
        dtypes,
        op.domain.nonnegative,
        op.domain.nonzero,
        op.domain.nonempty,
        op.domain.leading,
        op.domain.doubled,
    )
    return Op(
        PREFIX + op.name,
        definition(op, names),
        ("grad_output", *op.tensors),
        domain,
        {**op.defaults, **op.backward_defaults, **dict.fromkeys(more)},
        tuple(f"grad_{name}" for name in names),
        normal_answer=op.normal_answer,
        wide_outputs=wide,
        arrays=op.arrays,
        first=op.first,
        optional=(*op.optional, *more),
        wide=(*op.wide, *(f"grad_{name}" for name in op.wide_outputs)),
        forward=op,
    )


def check_shape(found: tuple[int, ...], wanted: tuple[int, ...], what: str) -> None:
    """Raise InputError where a gradient's shape is no shape that its tensor broadcasts to."""
    try:
        fits = np.broadcast_shapes(found, wanted) == found
    except ValueError:
        fits = False
    if not fits:
        raise InputError(f"{what} has shape {wanted}, and its gradient {found}")


def check_gradient(name: str, gradient: Any, op: Op, output: Any) -> None:
    """Raise InputError where a gradient does not have the shape of its output."""
    if gradient.shape != output.shape:
        which = "output" if name == "grad_output" else name.removeprefix("grad_")
        raise InputError(
            f"{name} has shape {gradient.shape}; the {which} of {op.name} has shape {output.shape}"
        )


def definition(op: Op, names: tuple[str, ...]) -> Callable[..., Any]:
    """Return the definition of an operation's gradient."""
    backward = op.backward
    if backward is None:
        raise ValueError(f"{op.name} says nothing of its gradient")

    def define(v: Any, grad_output: Any, *tensors: Any, **parameters: Any) -> Any:
        beside = {*op.backward_defaults, *(f"grad_{name}" for name in op.grad_outputs)}
        given = {k: value for k, value in parameters.items() if k not in beside}
        output = op.define(v, *tensors, **given)
        output = output if isinstance(output, Mapping) else {op.outputs[0]: output}
        check_gradient("grad_output", grad_output, op, output[op.outputs[0]])
        for name in op.grad_outputs:
            if (gradient := parameters[f"grad_{name}"]) is not None:
                check_gradient(f"grad_{name}", gradient, op, output[name])
        found = backward(v, grad_output, *tensors, **parameters)
        operands = dict(zip(op.tensors, tensors, strict=True))
        operands |= {name: parameters.get(name) for name in op.optional}
        wanted = [name for name in names if operands[name] is not None]
        missing = [name for name in wanted if name not in found]
        if missing:
            raise InputError(f"the gradient of {op.name} names {[*found]}, and not {missing}")
        more = [name for name in found if name not in operands]
        if more:
            raise InputError(f"the gradient of {op.name} names {more}; its tensors are {[*names]}")
        for name in wanted:
            shape = operands[name].shape
            check_shape(found[name].shape, shape, f"the gradient of {op.name}: {name}")
        return {f"grad_{name}": v.sum_to(found[name], operands[name].shape) for name in wanted}

    define.__name__ = f"{op.name}_backward"
    define.__doc__ = (
        f"Gradient of `{op.name}`: how a loss moves with its tensors, given ``grad_output``.\n\n"
        f"{(backward.__doc__ or '').strip()}"
    )
    return define
