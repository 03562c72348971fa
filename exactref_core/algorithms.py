"""Declared algorithms: computations that round more than an operation's definition."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from exactref_core.errors import DTypeError
from exactref_core.evaluate import function
from exactref_core.evaluate.supplied import supplied
from exactref_core.formats.catalogue import get_format
from exactref_core.formats.format import Format
from exactref_core.registry import get_op
from exactref_core.result import Named, Result

__all__ = ["AttentionAlgorithm"]


@dataclass(frozen=True)
class AttentionAlgorithm:
    """Attention kernels that round more than `scaled_dot_product_attention` admits.

    ``weights``: the format that softmax weights are rounded to before they multiply the values;
    ``scores``: the one that scaled scores are rounded to; ``accumulator``: the one that dot
    products and sums are kept in. ``exp2`` says that exponentials are taken in base 2, which the
    definition's bounds cover as they are. An algorithm changes the bounds, never the exact value.

    The methods are those of a result, with the operation's arguments: ``covers(outputs, query, key,
    value, ...)`` answers by name for the outputs supplied (a mapping, a tuple in output order, or
    one array for the first output).
    """

    weights: str | None = None
    scores: str | None = None
    accumulator: str | None = None
    exp2: bool = False

    def __post_init__(self) -> None:
        for name in ("weights", "scores", "accumulator"):
            given = getattr(self, name)
            if given is None:
                continue
            form = get_format(given)
            if not form.is_float:
                raise DTypeError(f"{name}={form.name}: it is a float format")
            object.__setattr__(self, name, form.name)

    def format(self, name: str) -> Format | None:
        """Return a declared format."""
        given = getattr(self, name)
        return None if given is None else get_format(given)

    def result(self, *args: Any, **kwargs: Any) -> Result:
        """Return the operation's result with this algorithm's bounds."""
        attention = function(get_op("scaled_dot_product_attention"))
        return attention(*args, **kwargs, algorithm=self)

    def covers(
        self,
        outputs: Any,
        *args: Any,
        standard: str = "normal",
        flush_to_zero: bool = False,
        signed_zeros: bool = False,
        **kwargs: Any,
    ) -> Named[Any]:
        """Return which elements are correct, for each output supplied."""
        result = self.result(*args, **kwargs)
        given: Mapping[str, Any] = supplied(outputs, result)
        return Named(
            {
                name: result[name].covers(
                    array, standard, flush_to_zero=flush_to_zero, signed_zeros=signed_zeros
                )
                for name, array in given.items()
            }
        )

    def tolerance(self, *args: Any, **kwargs: Any) -> Any:
        """Return how far correct finite outputs can be from ``rounded``, by name."""
        return self.ask("tolerance", args, kwargs)

    def finite_range(self, *args: Any, **kwargs: Any) -> Any:
        """Return (lowest, highest) finite correct outputs, by name."""
        return self.ask("finite_range", args, kwargs)

    def may_be(self, value: str, *args: Any, **kwargs: Any) -> Any:
        """Return where correct outputs may be "+inf", "-inf" or "nan", by name."""
        return self.ask("may_be", args, kwargs, value)

    def ask(self, name: str, args: Any, kwargs: dict[str, Any], *first: Any) -> Any:
        """Return what a method of the result answers."""
        rule = {key: kwargs.pop(key) for key in ("standard", "flush_to_zero") if key in kwargs}
        method: Callable[..., Any] = getattr(self.result(*args, **kwargs), name)
        return method(*first, **rule)
