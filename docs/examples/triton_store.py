"""A Triton kernel that converts: imported where TRITON_INTERPRET is set."""

import triton
import triton.language as tl


@triton.jit
def store(x, out, n: tl.constexpr):
    """Copy n numbers into the format of ``out``."""
    i = tl.arange(0, n)
    tl.store(out + i, tl.load(x + i).to(out.dtype.element_ty))
