"""The registry of kernels, the preferred first."""

from personalq.taq.kernels.codes import quantize_input
from personalq.taq.kernels.native import Native
from personalq.taq.kernels.onednn import OneDnn, onednn_is_exact
from personalq.taq.kernels.reference import Reference
from personalq.taq.kernels.registry import KERNELS, Kernel, choose, is_native_allowed, use_kernel
from personalq.taq.triton import Triton

__all__ = [
    "KERNELS",
    "Kernel",
    "choose",
    "is_native_allowed",
    "onednn_is_exact",
    "quantize_input",
    "use_kernel",
]

KERNELS["triton"] = Triton()
KERNELS["native"] = Native()
KERNELS["onednn"] = OneDnn()
KERNELS["reference"] = Reference()
