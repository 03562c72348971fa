"""Tasks on an executor that the caller passes: results in order, failures in clear words."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import BrokenExecutor, CancelledError
from typing import Any, Final

from exactref_core.errors import DTypeError, ExactRefError

__all__ = ["checked", "outcomes"]

# Tasks that are handed over before their results are waited for: executors that send arguments at
# once hold no more of them.
AHEAD: Final = 64


def checked(executor: Any) -> Any:
    """Return an executor; DTypeError for what is none."""
    if callable(getattr(executor, "submit", None)):
        return executor
    raise DTypeError(
        "executor must have submit() as a concurrent.futures.Executor does, not be "
        f"{executor!r}; pass a ProcessPoolExecutor, a dask client's get_executor() or mpi4py's"
    )


def outcomes(
    executor: Any, task: Callable[..., Any], arguments: Iterable[tuple[Any, ...]], what: str
) -> Generator[Any, None, None]:
    """Yield what a task returns for each tuple of arguments, in their order.

    What a task raises is raised here. ExactRefError where the executor does not take a task, loses
    or cancels it. Tasks that have not begun are cancelled when the caller goes no further.
    """
    waiting: deque[Any] = deque()
    try:
        for one in arguments:
            if len(waiting) >= AHEAD:
                yield outcome(waiting.popleft(), what)
            waiting.append(submitted(executor, task, one, what))
        while waiting:
            yield outcome(waiting.popleft(), what)
    finally:
        for future in waiting:
            future.cancel()


def submitted(executor: Any, task: Callable[..., Any], given: tuple[Any, ...], what: str) -> Any:
    """Return the future of a task."""
    try:
        return executor.submit(task, *given)
    except BrokenExecutor as error:
        raise broken(error, what) from error
    except RuntimeError as error:
        raise ExactRefError(f"the executor takes no task of {what}: {error}") from error


def outcome(future: Any, what: str) -> Any:
    """Return what a task returned."""
    try:
        return future.result()
    except BrokenExecutor as error:
        raise broken(error, what) from error
    except CancelledError as error:
        raise ExactRefError(
            f"a task of {what} was cancelled before it was done; nothing of the result is kept"
        ) from error


def broken(error: BrokenExecutor, what: str) -> ExactRefError:
    """Return the error of an executor that lost a worker."""
    return ExactRefError(
        f"the executor broke during {what}: {error} A worker may have run out of memory: use "
        "fewer of them; or it could not start: where processes are spawned, a script needs "
        'if __name__ == "__main__":'
    )
