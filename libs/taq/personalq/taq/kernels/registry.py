"""How quantized layers are executed: one registry, each kernel tested against the reference.

A kernel computes y = ((x_q − z_x) s_x) · ((w_q − z_w) s_w) + b, where x_q are the input's codes
(unsigned, one static scale and zero point per layer, or one scale per row of a `row_scaled` layer)
and w_q the weight's (one scale per output channel).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from torch import Tensor

from personalq.taq.errors import RecipeError

if TYPE_CHECKING:
    from personalq.taq.modules import QuantConv2d, QuantModule


class Kernel(Protocol):
    """One way to execute quantized layers."""

    def supports(self, layer: QuantModule, x: Tensor) -> bool:
        """Tell whether this kernel can compute `layer` for inputs like `x`."""
        ...

    def pack_linear(self, layer: QuantModule) -> Any:
        """Return the weights as `linear` wants them, kept from first use on.

        None: `linear` reads the layer's own buffers. Otherwise they are not needed any more.
        """
        ...

    def pack_conv2d(self, layer: QuantConv2d) -> Any:
        """Return the weights as `conv2d` wants them, as `pack_linear` does."""
        ...

    def linear(self, layer: QuantModule, packed: Any, x: Tensor) -> Tensor:
        """Return (…, out) for x (…, in), in the dtype of `x`.

        Of a `row_scaled` layer, which may be a 1×1 convolution, every row has a scale of its own.
        """
        ...

    def conv2d(self, layer: QuantConv2d, packed: Any, x: Tensor) -> Tensor:
        """Return (B, out, H', W') for x (B, in, H, W), in the dtype of `x`."""
        ...


#: every kernel by name, the preferred first
KERNELS: dict[str, Kernel] = {}

_forced: ContextVar[str | None] = ContextVar("forced_kernel", default=None)


def choose(layer: QuantModule, x: Tensor) -> tuple[str, Kernel]:
    """Return the preferred kernel that supports `layer` and `x`, with its name."""
    forced = _forced.get()
    for name, kernel in KERNELS.items():
        if forced in (None, name) and kernel.supports(layer, x):
            return name, kernel
    raise RecipeError(f"No kernel named {forced} supports a {type(layer).__name__} on {x.device}.")


@contextmanager
def use_kernel(name: str) -> Iterator[None]:
    """Execute every quantized layer within the block by the kernel `name` (tests, comparisons).

    A UNet that was prepared for another kernel cannot be executed then. Attention, too, is
    computed as written within `use_kernel("reference")`.

    Raises:
        RecipeError: there is no such kernel.
    """
    if name not in KERNELS:
        raise RecipeError(f"There is no kernel {name}; there are {', '.join(KERNELS)}.")
    token = _forced.set(name)
    try:
        yield
    finally:
        _forced.reset(token)


def is_native_allowed() -> bool:
    """Tell whether attention may be computed by other means than torch's own operators."""
    return _forced.get() != "reference"
