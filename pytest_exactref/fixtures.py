"""The ``exactref`` fixture: checks of outputs that the test computed itself.

PYTEST_DONT_REWRITE: there is no assert here, and rewriting would cost more than loading.
"""

from __future__ import annotations

from typing import Any

import pytest

__all__ = ["Checker", "dtype_of_the_test", "exactref", "exactref_executor"]


class Checker:
    """What the ``exactref`` fixture hands to a test."""

    def __init__(self, executor: Any = None) -> None:
        self._executor = executor

    def check(
        self,
        output: Any,
        result: Any,
        standard: str | None = None,
        worse: str | None = None,
        label: str | None = None,
        flush_to_zero: bool | None = None,
        executor: Any = None,
    ) -> None:
        """Judge a kernel's output against a result, and count it in the summary.

        Args:
            output: an array of any library; for several outputs a tuple in their order or a
                mapping by name.
            result: what an operation of ``exactref`` returned for the kernel's inputs.
            standard: "normal", "any_order", "typical" or another's name; the option of that name
                unless given.
            worse: "fail", "warn" or "allow": what correct but worse does, but under "any_order".
            label: a name for this check in the failure and in the summary.
            flush_to_zero: whether subnormal numbers may be flushed; the option of that name unless
                given.
            executor: a concurrent.futures.Executor, or what has its submit(), on which blocks of a
                huge output are judged; the one of the fixture ``exactref_executor`` unless given.

        Raises:
            AssertionError: an element is wrong, or correct but worse where that fails. Its text is
                the table of the worst elements.
            pytest.UsageError: an argument is not what it can be, or no test is running.
        """
        __tracebackhide__ = True
        from pytest_exactref import judging

        run = judging.current()
        if run is None:
            raise pytest.UsageError("exactref.check was called while no test was running")
        try:
            executor = self._executor if executor is None else executor
            terms = judging.Terms(standard, worse, label, flush_to_zero, executor)
        except pytest.UsageError as error:
            # The call is at fault: show it, and not where that was noticed.
            raise error.with_traceback(None) from None
        judging.check(output, result, terms, run)


# One for the session: it holds nothing, the running test does. hypothesis refuses fixtures of a
# function in a hand-written @given, since they are not renewed between examples.
@pytest.fixture(scope="session")
def exactref(exactref_executor: Any) -> Checker:
    """Check a kernel's output: ``exactref.check(output, er.sum(x), standard="any_order")``."""
    return Checker(exactref_executor)


@pytest.fixture(scope="session")
def exactref_executor() -> Any:
    """The executor on which checks judge huge outputs; a conftest may return one (None: none)."""
    return None


@pytest.fixture(name="_exactref_dtype")
def dtype_of_the_test() -> None:
    """Stand in for a marker's list of dtypes where tests cannot be parametrized (unittest)."""
