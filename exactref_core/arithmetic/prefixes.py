"""What a standard may ask of the terms of a sum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["BLOCK", "PrefixSums"]

# Terms added in index order before a block's sum is handed to the tree, under ``normal``.
BLOCK = 32


@dataclass(frozen=True, eq=False)
class PrefixSums:
    """Sums over the exact terms t_1 ... t_n and their exact index-order prefix sums s_k.

    ``magnitudes`` is sum |t_k|; ``running`` sum |s_k|; ``blocks`` sum |s_k - s_b(k)| with b(k) the
    last multiple of 32 below k. Each is a nonnegative quantity of the algebra in use; the last two
    are None where they were not asked for.
    """

    magnitudes: Any
    running: Any = None
    blocks: Any = None
