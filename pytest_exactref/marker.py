"""``er.op``: a test that returns what a kernel returns, run on inputs drawn for an operation."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactref_core import evaluate
from exactref_core.adapters import asarray
from exactref_core.errors import DTypeError, InputError, UnknownNameError
from exactref_core.formats.catalogue import get_format
from exactref_core.op import REQUIRED
from exactref_core.registry import get_op
from pytest_exactref import budget, judging
from pytest_exactref.drawing import class_names, domain_shapes, plan_for, tensors
from pytest_exactref.frameworks import check_framework, to_framework
from pytest_exactref.located import standing_at
from pytest_exactref.reports.text import input_text
from pytest_exactref.shapes import QUICK_WORK, THOROUGH_WORK, given_shapes

if TYPE_CHECKING:
    from exactref_core.array import Array
    from exactref_core.op import Op

__all__ = ["op"]

Test = TypeVar("Test", bound=Callable[..., Any])

# What operations take besides their own parameters.
_CALL: Final = ("rounding", "overflow", "complex_infinities")


def op(
    name: str,
    *,
    dtype: Any = None,
    output_dtype: Any = None,
    framework: str = "numpy",
    device: str | None = None,
    values: Any = None,
    shapes: Any = None,
    standard: str | None = None,
    worse: str | None = None,
    label: str | None = None,
    flush_to_zero: bool | None = None,
    **parameters: Any,
) -> Callable[[Test], Test]:
    """Judge what a test returns against an operation, on inputs that hypothesis draws.

    Parameters of the test that are named as the operation's tensors are supplied; all others stay
    fixtures and parametrize arguments, and one named as a parameter of the operation (``axis``) is
    handed to the operation too. The test runs with numpy's floating-point warnings off, since the
    inputs overflow on purpose.

    Args:
        name: the name of the operation.
        dtype: the dtype of the inputs; a list makes a test of each. float32 unless given.
        output_dtype: the dtype of the output, if it is not that of the inputs.
        framework: "numpy", "torch", "jax" or "cupy"; the test is skipped where it is absent.
        device: where the inputs are put, in the framework's words.
        values: a value class, or several, of ``exactref.strategies.value_classes()``.
        shapes: a shape for every tensor, one for each (in order, or by name), a list of such
            choices, or a strategy of them.
        standard, worse, label, flush_to_zero: as for ``exactref.check``.
        parameters: parameters of the operation.

    Raises:
        exactref_core.errors.UnknownNameError: no operation has this name.
        pytest.UsageError: an argument that the operation or the framework cannot take, or a test
            without a parameter for one of the tensors.
    """
    if not isinstance(name, str):
        raise pytest.UsageError(
            f'er.op takes an operation\'s name, as in er.op("sum"), not {name!r}'
        )
    check_framework(framework, device)
    found = get_op(name)
    if output_dtype is not None:
        parameters["dtype"] = get_format(output_dtype).name
    _check_parameters(found, parameters)
    dtypes = _dtypes(found, dtype, output_dtype is not None)
    for each in dtypes:
        class_names(values, get_format(each))
    marking = Marking(
        op=found,
        parameters=parameters,
        dtypes=dtypes,
        framework=framework,
        device=device,
        values=values,
        shapes=None if shapes is None else given_shapes(shapes, found.tensors),
        terms=judging.Terms(standard, worse, label, flush_to_zero),
    )

    def decorate(test: Test) -> Test:
        marked = _with_inputs(test, marking)
        if isinstance(dtype, (list, tuple)):
            marked = pytest.mark.parametrize(judging.DTYPE, list(dtypes))(marked)
            marked = pytest.mark.usefixtures(judging.DTYPE)(marked)
        registered: Test = pytest.mark.exactref_op(name)(marked)
        return registered

    return decorate


def _check_parameters(op: Op, parameters: Mapping[str, Any]) -> None:
    known = {*op.first, *op.defaults, *_CALL, "dtype"}
    for name in parameters:
        if name not in known:
            own = ", ".join(sorted(known - {"dtype"}))
            raise pytest.UsageError(
                f"{op.name} has no parameter {name}{_hint(name, known)} (it has {own})"
            )


def _hint(name: str, known: Collection[str]) -> str:
    """Return what may be meant: a parameter of the operation, or an argument of `op`."""
    if name == "dim":
        return ": it is called axis here"
    arguments = inspect.signature(op).parameters.values()
    own = [each.name for each in arguments if each.kind is each.KEYWORD_ONLY]
    close = difflib.get_close_matches(name, sorted({*known, *own}), n=1)
    return f": did you mean {close[0]}=?" if close else ""


def _dtypes(op: Op, dtype: Any, output_stated: bool) -> tuple[str, ...]:
    if dtype is None:
        return ("float32" if "float32" in op.domain.dtypes else op.domain.dtypes[0],)
    formats = [
        get_format(each) for each in (dtype if isinstance(dtype, (list, tuple)) else [dtype])
    ]
    if not formats:
        raise pytest.UsageError("dtype= is empty")
    for fmt in formats:
        if fmt.is_integer and not (op.integers or output_stated):
            raise pytest.UsageError(f"{op.name} of {fmt.name} needs output_dtype=")
        if fmt.is_complex and fmt.name not in op.domain.dtypes:
            raise pytest.UsageError(f"{op.name} takes no complex inputs")
    return tuple(fmt.name for fmt in formats)


@dataclass(frozen=True)
class Marking:
    """What a test's marker asks for."""

    op: Op
    parameters: Mapping[str, Any]
    dtypes: tuple[str, ...]
    framework: str
    device: str | None
    values: Any
    shapes: st.SearchStrategy[Any] | None
    terms: judging.Terms


class Drawn:
    """An array that hypothesis drew: printed as an expression that makes it again.

    (No dataclass: hypothesis prints the fields of those, whatever their repr.)
    """

    def __init__(self, array: Array) -> None:
        self.array = array

    def __repr__(self) -> str:
        return input_text(self.array)


def _with_inputs(test: Test, marking: Marking) -> Test:
    """``test`` as a hypothesis test, without the parameters that are the operation's tensors."""
    names = marking.op.tensors
    shared = _shared_parameters(test, marking)

    def judged(*args: Any, **kwargs: Any) -> None:
        __tracebackhide__ = True
        run = judging.current() or judging.Run()
        dtype = run.dtype or marking.dtypes[0]
        arrays = {name: _array(kwargs.pop(name), dtype) for name in names}
        supplied = {
            name: to_framework(array, marking.framework, marking.device)
            for name, array in arrays.items()
        }
        with np.errstate(all="ignore"):
            output = test(*args, **kwargs, **supplied)
        if output is None:
            raise pytest.UsageError(f"{test.__name__} returned None: return the kernel's output")
        parameters = {**_values(run, shared), **marking.parameters}
        try:
            result = evaluate.call(marking.op, tuple(arrays.values()), parameters)
        except (DTypeError, InputError, UnknownNameError) as error:
            # The marker is at fault: show the test, without the depths of the core.
            raise error.with_traceback(None) from None
        judging.check(output, result, marking.terms, run, arrays)

    def is_drawn(*args: Any, **kwargs: Any) -> bool:
        # hypothesis shows the test above what it raises, but not above an explicit example.
        return isinstance(kwargs[names[0]], Drawn)

    # One draw for all tensors, whose shapes belong together; hypothesis sees each by its name.
    together = st.shared(_together(marking, shared))
    each = {name: _one(together, role) for role, name in enumerate(names)}
    marked: Any = given(**each)(standing_at(test, judged, is_drawn))
    marked.exactref_test = marked  # found again behind further decorators
    budget.prepare(marked)
    return cast(Test, marked)


def _shared_parameters(test: Callable[..., Any], marking: Marking) -> tuple[str, ...]:
    """The test's own arguments that are parameters of the operation too."""
    own = inspect.signature(test).parameters
    for name in marking.op.tensors:
        if name not in own:
            raise pytest.UsageError(
                f"{test.__name__}({', '.join(own)}) has no parameter {name}: "
                f"{marking.op.name} supplies {', '.join(marking.op.tensors)}"
            )
    for name in marking.parameters:
        if name in own and name != "dtype":
            raise pytest.UsageError(f"{test.__name__} gets {name}, and er.op states it: do one")
    needed = [name for name, value in marking.op.defaults.items() if value is REQUIRED]
    for name in (*marking.op.first, *needed):
        if name not in own and name not in marking.parameters and name != "dtype":
            raise pytest.UsageError(
                f"{marking.op.name} needs {name}: give er.op({marking.op.name!r}, {name}=...), or "
                f"let {test.__name__} take {name} from a fixture or parametrize"
            )
    parameters = (*marking.op.first, *marking.op.defaults, *_CALL)
    return tuple(name for name in own if name in parameters and name != "dtype")


def _values(run: judging.Run, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: run.arguments[name] for name in names if name in run.arguments}


def _array(value: Any, dtype: str) -> Array:
    """The array behind a drawn input, or behind a value that ``@example`` states."""
    return value.array if isinstance(value, Drawn) else asarray(value, dtype)


# Not a map: hypothesis would print the call that maps, all tensors in it, instead of the value.
@st.composite
def _one(draw: st.DrawFn, together: st.SearchStrategy[tuple[Array, ...]], role: int) -> Drawn:
    return Drawn(draw(together)[role])


@st.composite
def _together(draw: st.DrawFn, marking: Marking, shared: tuple[str, ...]) -> tuple[Array, ...]:
    # The strategy depends on the running test: its dtype, its arguments and the budget.
    run = judging.current() or judging.Run()
    dtype = run.dtype or draw(st.sampled_from(marking.dtypes))
    if dtype not in run.strategies:
        parameters = {**_values(run, shared), **marking.parameters}
        work = THOROUGH_WORK if run.options.thorough else QUICK_WORK
        shapes = marking.shapes
        if shapes is None:
            shapes = domain_shapes(marking.op, parameters, work)
        plan = plan_for(marking.op, dtype, parameters, marking.values)
        run.strategies[dtype] = tensors(shapes, plan)
    return cast("tuple[Array, ...]", draw(run.strategies[dtype]))
