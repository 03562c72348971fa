"""Declared attention algorithms."""

from exactref_core.algorithms import AttentionAlgorithm

__all__ = ["AttentionAlgorithm"]
