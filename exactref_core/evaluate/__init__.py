"""From an operation and its inputs to a result, and to the same result called again."""

from exactref_core.evaluate.again import again
from exactref_core.evaluate.call import (
    INFINITIES,
    call,
    function,
    output_shape,
    signature,
    takes_complex,
)
from exactref_core.evaluate.origin import arrays_of, origin_of

__all__ = [
    "INFINITIES",
    "again",
    "arrays_of",
    "call",
    "function",
    "origin_of",
    "output_shape",
    "signature",
    "takes_complex",
]
