"""Every verb that a definition may use."""

from __future__ import annotations

from exactref_core.arithmetic.exponential_verbs import ExponentialVerbs

__all__ = ["AllVerbs"]


class AllVerbs(ExponentialVerbs):
    """The verbs of all modules."""
