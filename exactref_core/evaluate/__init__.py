"""From an operation and its inputs to a result, and to the same result called again."""

from exactref_core.evaluate.again import again
from exactref_core.evaluate.call import call, function, output_shape, signature
from exactref_core.evaluate.origin import arrays_of, origin_of
from exactref_core.evaluate.parameters import INFINITIES, takes_complex

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
