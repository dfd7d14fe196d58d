"""Integer products on NVIDIA GPUs, written in Triton.

Read in this order: `weights` is what a layer's weight becomes, `tiles` what both kernels do with a
block of numbers, `gemm` and `conv2d` the kernels, `kernel` their place in the registry. Only
`tiles`, `gemm` and `conv2d` import triton, and they are imported when a layer is first executed:
the library works without it.
"""

from personalq.taq.triton.kernel import Triton

__all__ = ["Triton"]
