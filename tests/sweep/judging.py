"""A kernel on a sample: what it returns, and the verdict of each element."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import exactref as er
from exactref_core.gradients import PREFIX
from tests.sweep.libraries import Library
from tests.sweep.samples import Sample

# From best to worst: inside a standard, inside where subnormal numbers are flushed, outside.
VERDICTS = ("normal", "worse", "flushes", "wrong")
RULES = (("normal", False), ("any_order", False), ("any_order", True))


@dataclass(frozen=True)
class Judged:
    """An output of a kernel with its result and the place of each element in ``VERDICTS``."""

    name: str
    result: Any
    output: Any
    verdicts: np.ndarray

    def worst(self) -> int:
        """The place of the worst verdict."""
        return int(self.verdicts.max(initial=0))


def verdicts(result: Any, output: Any) -> np.ndarray:
    """The place of each element in ``VERDICTS``; a looser rule is asked where a stricter refuses.

    What ``normal`` covers, ``any_order`` does, and what that covers it does with flushing.
    """
    found = np.zeros(result.shape, int)
    for place, (standard, flush) in enumerate(RULES):
        covered = np.asarray(result.covers(output, standard, flush_to_zero=flush))
        found = np.where((found == place) & ~covered, place + 1, found)
        if (found <= place).all():
            break
    return found


def reference(sample: Sample, tensors: tuple[Any, ...], grad: Any) -> dict[str, Any]:
    """The results by name of the output."""
    call = sample.call
    named = dict(zip(sample.names, tensors, strict=True))
    first = dict(zip(sample.forward.first, call.first, strict=False))
    if sample.op.forward is not None:
        named = {"grad_output": grad, **named}
    home = er if sample.op.forward is None else er.backward
    function = getattr(home, sample.op.name.removeprefix(PREFIX))
    result = function(**first, **named, **sample.params())
    several = len(result.outputs) > 1
    return {name: result[name] if several else result for name in result.outputs}


@np.errstate(all="ignore")
def judge(library: Library, sample: Sample) -> list[Judged]:
    """Run the kernel and judge what it returns.

    Raises what the library raises where it has no such kernel, `er.UndecidedError` where nothing
    decides an exact value, and `er.InputError` where the operation is not defined.
    """
    layout = sample.layout
    tensors = tuple(library.array(x, sample.form, layout) for x in sample.tensors)
    kernel = library.kernel_of(sample.forward.name)
    if kernel is None:
        raise LookupError(f"{library.name} has no kernel of {sample.op.name}")
    first, params, named = sample.call.first, sample.params(), sample.call.named
    place = len(tensors) - len(named)

    def run(*given: Any) -> Any:
        return kernel(
            *first, *given[:place], **dict(zip(named, given[place:], strict=True)), **params
        )

    if sample.grad is None:
        results = reference(sample, tensors, None)
        name = next(iter(results))
        outputs = {name: run(*tensors)}
    else:
        grad = library.array(sample.grad, sample.output_form, layout)
        results = reference(sample, tensors, grad)
        found = library.gradients(run, grad, tensors)
        outputs = {f"grad_{n}": g for n, g in zip(sample.names, found, strict=True)}
    return [
        Judged(name, results[name], output, verdicts(results[name], output))
        for name, output in outputs.items()
        if name in results
    ]
