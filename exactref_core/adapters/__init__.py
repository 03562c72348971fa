"""Array libraries: each recognised without importing it, each array taken as a private copy."""

from exactref_core.adapters.convert import adapters, asarray, register_adapter

__all__ = ["adapters", "asarray", "register_adapter"]
