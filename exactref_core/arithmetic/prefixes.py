"""What a standard may ask of the terms of a sum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["BLOCK", "PrefixSums", "asks_norms"]

# Terms added in index order before a block's sum is handed to the tree, under ``normal``.
BLOCK = 32


@dataclass(frozen=True, eq=False)
class PrefixSums:
    """Sums over the exact terms t_1 ... t_n and their exact index-order prefix sums s_k.

    ``magnitudes`` is sum |t_k|; ``running`` sum |s_k|; ``blocks`` sum |s_k - s_b(k)| with b(k) the
    last multiple of 32 below k. The norms are the roots of the sums of the squares: of the s_k, of
    the s_k - s_b(k), and of the sums of the blocks. Each is a nonnegative quantity of the algebra
    in use, or None where it was not asked for; norms are there for more terms than a block has.
    """

    magnitudes: Any
    running: Any = None
    blocks: Any = None
    running_norm: Any = None
    blocks_norm: Any = None
    totals_norm: Any = None


def asks_norms(standard: Any, n: int) -> bool:
    """Return whether a standard asks for the norms of n terms' prefix sums."""
    return bool(standard.norms) and n > BLOCK
