"""Every exception the core raises."""

from __future__ import annotations

__all__ = ["DTypeError", "ExactRefError", "InputError", "UndecidedError", "UnknownNameError"]


class ExactRefError(Exception):
    """Base of every exception that exactref raises on purpose."""


class InputError(ExactRefError, ValueError):
    """An argument has a value, shape or combination that the call cannot take."""


class DTypeError(ExactRefError, TypeError):
    """An argument has a dtype or type that the call cannot take."""


class UnknownNameError(ExactRefError, LookupError):
    """A name (of an operation, format, standard, output) that nothing is registered under."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class UndecidedError(ExactRefError, ArithmeticError):
    """Enclosures at the highest precision allowed could not decide a rounding."""
