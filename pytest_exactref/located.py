"""A frame in the source of a test: tracebacks show the test, not the plugin or hypothesis.

A marked test is judged after it has returned: a failure raised then has no frame of it left.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

__all__ = ["standing_at"]


def standing_at(
    test: Callable[..., Any], run: Callable[..., None], hidden: Callable[..., bool]
) -> Callable[..., None]:
    """A function that calls ``run``, and whose frame shows ``test`` from first decorator to def.

    ``hidden``, called with the same arguments, says whether pytest leaves the frame out.
    """
    code = test.__code__
    source = (
        "\n" * (code.co_firstlineno - 1)
        + f"def {test.__name__}(*args"
        + "\n" * _lines_above_def(test)
        + ", **kwargs): __tracebackhide__ = hidden(*args, **kwargs); run(*args, **kwargs)"
    )
    namespace: dict[str, Any] = {"run": run, "hidden": hidden}
    exec(compile(source, code.co_filename, "exec", dont_inherit=True), namespace)
    standing: Callable[..., None] = functools.wraps(test)(namespace[test.__name__])
    return standing


def _lines_above_def(test: Callable[..., Any]) -> int:
    try:
        lines, _ = inspect.getsourcelines(test)
    except (OSError, TypeError):
        return 0  # no source to point at
    starts = (number for number, line in enumerate(lines) if line.lstrip().startswith("def "))
    return next(starts, 0)
