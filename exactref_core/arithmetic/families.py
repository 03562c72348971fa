"""Verbs whose readings live in modules of their own, loaded on first use."""

from __future__ import annotations

import importlib
from functools import cache
from types import SimpleNamespace

__all__ = ["BY_ROWS", "ELEMENTWISE", "FAMILIES", "family"]

# The family of each verb that a reading evaluates in modules of its own.
FAMILIES = {
    "weights": "softmax",
    "log_weights": "softmax",
    "logsumexp": "softmax",
    "attend": "softmax",
    "less_mean": "mean",
    "matexp": "matexp",
    "function": "function",
    "pair": "pair",
    "annex": "annex",
    "complex_power": "complex_power",
    "pick": "pick",
    "order": "order",
    "ties": "order",
    "largest": "largest",
    "prod": "prod",
    "complex_prod": "complex_prod",
    "prefix": "prefix",
    "deviations": "deviation",
}
# Those among them whose elements depend on the same elements of their operands alone.
ELEMENTWISE = ("function", "pair", "order", "annex", "complex_power")
# Those whose rows cost as much for one of their elements as for all.
BY_ROWS = ("weights", "log_weights")
# Verbs that belong to a family without being coarse.
MEMBERS = {**FAMILIES, "scaled": "softmax"}


@cache
def family(verb: str) -> SimpleNamespace:
    """Return the modules of a verb's family, one a reading."""
    home = "exactref_core.arithmetic." + MEMBERS[verb]
    readings = ("fast", "certified", "bounds", "certified_bounds", "ordinary")
    return SimpleNamespace(**{name: Lazy(f"{home}_{name}") for name in readings})


class Lazy:
    """A module that is imported when one of its names is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> object:
        return getattr(importlib.import_module(self._name), name)
