"""Hypothesis strategies: arrays by dtype, shape and value class, and the inputs of an operation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from exactref_core.formats.catalogue import get_format
from exactref_core.registry import get_op
from pytest_exactref.drawing import Plan, class_names, domain_shapes, plan_for, tensors
from pytest_exactref.frameworks import check_framework, to_framework
from pytest_exactref.shapes import QUICK_WORK, any_shape, given_shapes

__all__ = ["arrays", "inputs", "value_classes"]


def value_classes(dtype: Any = "float32") -> tuple[str, ...]:
    """The names that ``values=`` takes for a dtype."""
    return class_names(None, get_format(dtype))


def arrays(
    dtype: Any = "float32",
    shape: Any = None,
    *,
    values: str | Sequence[str] | None = None,
    framework: str = "numpy",
    device: str | None = None,
) -> st.SearchStrategy[Any]:
    """Arrays of one dtype.

    Args:
        dtype: any dtype that ``exactref.asarray`` takes.
        shape: a shape, a list of shapes, or a strategy of shapes; unless given, up to two axes
            with sides 0, 1, odd, prime, and tile sizes and their neighbours.
        values: the name of a value class (see ``value_classes``) or several, of which an array may
            mix some; all unless given.
        framework: "numpy", "torch", "jax" or "cupy".
        device: where the tensor is put, in the framework's own words.

    Raises:
        pytest.UsageError: an unknown value class or framework, or a shape that is none.
    """
    check_framework(framework, device)
    fmt = get_format(dtype)
    shapes = any_shape() if shape is None else given_shapes(shape, ("x",))
    drawn = tensors(shapes, Plan(fmt, fmt, class_names(values, fmt)))
    return drawn.map(lambda each: to_framework(each[0], framework, device))


def inputs(
    op: str,
    *,
    dtype: Any = "float32",
    values: str | Sequence[str] | None = None,
    shapes: Any = None,
    framework: str = "numpy",
    device: str | None = None,
    **parameters: Any,
) -> st.SearchStrategy[tuple[Any, ...]]:
    """The tensors of a call of an operation, in its order, as ``er.op`` hands them to a test.

    Args:
        op: the name of an operation.
        dtype, values, framework, device: as for ``arrays``.
        shapes: a shape for every tensor, a shape for each (in order, or by name), a list of such
            choices, or a strategy of them; from the operation's signature unless given.
        parameters: parameters of the operation that its inputs depend on, such as ``axis``.

    Raises:
        exactref_core.errors.UnknownNameError: no operation has this name.
        pytest.UsageError: as for ``arrays``.
    """
    check_framework(framework, device)
    found = get_op(op)
    drawn = (
        domain_shapes(found, parameters, QUICK_WORK)
        if shapes is None
        else given_shapes(shapes, found.tensors)
    )
    return tensors(drawn, plan_for(found, dtype, parameters, values)).map(
        lambda each: tuple(to_framework(array, framework, device) for array in each)
    )
