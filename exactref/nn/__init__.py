"""Neural-network operations: what they share beside their functions."""

from exactref.nn import attention

__all__ = ["attention"]
