"""Kernels of the arena under one ``er.op`` test with default settings, as a user writes it."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import Phase, seed, settings

import exactref as er
from exactref_core.registry import get_op
from pytest_exactref import judging
from pytest_exactref.options import THOROUGH_EXAMPLES, Options
from tests.arena.frame import Bench, Family, Fault, Kernel, Values
from tests.arena.judging import differs
from tests.arena.tally import Tally

THOROUGH = Options(thorough=True, examples=THOROUGH_EXAMPLES)
FORMATS = ("float32", "bfloat16", "float16")


@dataclass
class Verdict:
    """Whether a test failed, and whether any example's output differed from a right kernel's."""

    failed: bool
    changed: bool
    undecided: bool = False
    text: str = ""


def marked(family: Family, kernel: Kernel, form: str, options: Options | None = None) -> Verdict:
    """Run the test of a kernel in a format: draw, judge, and stop at the first failure.

    Each test has a seed of its own: with one for all, a class that it does not draw would be
    missing from all tests at once.
    """
    options = options or Options()
    bench, first = Bench.of(form), family.right[0]
    verdict = Verdict(failed=False, changed=False)

    def test(*tensors: Any) -> Any:
        given = tuple(x.astype(np.float64) for x in tensors)
        right = first.output(bench, given)
        output = right if kernel is first else attempt(kernel, bench, given, right)
        verdict.changed |= bool(differs(output, right).any())
        return er.asarray(output, form)

    standard = "normal" if isinstance(kernel, Fault) else kernel.standard
    stated = {"dtype": form, "standard": standard, "flush_to_zero": kernel.flush}
    mark = er.op(family.op, **stated, shapes=family.shapes, **family.parameters)
    run: Any = mark(named(test, family))
    # What shrinks a failure finds no further one.
    limit = settings(
        max_examples=options.examples, phases=[Phase.generate], database=None, deadline=None
    )
    judging.enter(judging.Run(options=options))
    try:
        seed(zlib.crc32(f"{family.name} {kernel.name} {form}".encode()))(limit(run))()
    except AssertionError as error:
        fail(verdict, kernel, error)
    except er.UndecidedError:
        verdict.undecided = True
    except Exception as error:
        if not hasattr(error, "exceptions"):  # hypothesis groups failures at several lines
            raise
        fail(verdict, kernel, error)
    finally:
        judging.leave(judging.current())
    return verdict


def fail(verdict: Verdict, kernel: Kernel, error: Exception) -> None:
    """Note a failure; its text, which takes time, is for what should not fail."""
    verdict.failed = True
    verdict.text = "" if isinstance(kernel, Fault) else str(error)


def named(test: Callable[..., Any], family: Family) -> Any:
    """The test with the parameters that the operation's tensors are called."""
    names = ", ".join(get_op(family.op).tensors)
    function = eval(f"lambda {names}: test({names})", {"test": test})
    function.__name__ = "test"
    return function


def attempt(kernel: Kernel, bench: Bench, given: tuple[Values, ...], right: Values) -> Values:
    """A broken kernel's output; where it cannot run, the right one, which hides the fault."""
    try:
        found = kernel.output(bench, given)
    except (IndexError, ValueError):
        if not isinstance(kernel, Fault):
            raise
        return right
    return found if found.shape == right.shape else right


def forms(family: Family) -> tuple[str, ...]:
    """The formats that marked tests of a family are run in; none where none states the op."""
    return () if family.call is not None else tuple(f for f in family.formats if f in FORMATS)


def chosen(family: Family, kernel: Kernel, number: int) -> str | None:
    """The format that the kernel of that number is tested in; None where there is none."""
    found = [form for form in forms(family) if kernel.when(Bench.of(form))]
    return found[number % len(found)] if found else None


def run_faults(families: tuple[Family, ...], tally: Tally) -> None:
    """Every fault under a marked test in one format; what it misses, again under --exactref.

    A fault that changes nothing in that format (a float32 result has no store of its own) is tried
    in the others. It is missed where none of the examples reach it that --exactref's do.
    """
    for family in families:
        for number, broken in enumerate(family.broken):
            found = tried(family, broken, number)
            if found is None:
                continue
            form, quick, thorough = found
            tally.add(
                "marked",
                (family.name, broken.kind, form),
                tests=1,
                reached=int(quick.changed),
                undecided=int(thorough.undecided),
                caught=int(quick.failed),
                caught_thorough=int(thorough.failed),
            )


def tried(family: Family, broken: Fault, number: int) -> tuple[str, Verdict, Verdict] | None:
    """A format in which the fault changes an output, and the verdicts of both tests there."""
    names = [chosen(family, broken, number + turn) for turn in range(len(forms(family)))]
    given = [form for form in dict.fromkeys(names) if form is not None]
    for form in given:
        quick = marked(family, broken, form)
        if quick.changed:
            more = quick if quick.failed else marked(family, broken, form, options=THOROUGH)
            return form, quick, more
    for form in given:
        more = marked(family, broken, form, options=THOROUGH)
        if more.changed:
            return form, Verdict(failed=False, changed=False), more
    return None


def run_right(families: tuple[Family, ...], tally: Tally) -> list[str]:
    """Every right kernel under a marked test in one format; returns what failed."""
    alarms = []
    for family in families:
        for number, kernel in enumerate(family.right):
            form = chosen(family, kernel, number)
            if form is None:
                continue
            verdict = marked(family, kernel, form)
            tally.add(
                "marked_right",
                (family.name,),
                tests=1,
                failed=int(verdict.failed),
                undecided=int(verdict.undecided),
            )
            if verdict.failed:
                alarms.append(f"er.op test of {family.name} {form}: {kernel.name}\n{verdict.text}")
    return alarms
