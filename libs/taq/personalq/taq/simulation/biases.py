"""Biases that take out what rounding adds to the mean of a layer's output.

Nagel et al., Data-Free Quantization (2019), Section 4.2: E[ŷ] − E[y] of each output channel, here
measured over calibration calls, on the inputs that the layer has in full precision.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor, nn

from personalq.taq.rounding import UNetCall
from personalq.taq.simulation.layers import Simulated


class _Error:
    """The mean error of a layer's output by channel, over calls."""

    def __init__(self, layer: Simulated) -> None:
        self._layer: Any = layer
        self._sum: Tensor | float = 0.0
        self._count = 0

    def watch(self, _: nn.Module, args: tuple[Tensor, ...], y: Tensor) -> None:
        """Compare an output in full precision, (B, C, H, W) or (…, C), with the rounded one."""
        error = y - self._layer(args[0])
        channels = 1 if error.ndim == 4 else error.ndim - 1
        rest = [dim for dim in range(error.ndim) if dim != channels]
        self._sum = self._sum + error.double().sum(rest)
        self._count += error.numel() // error.shape[channels]

    def take_out_(self) -> None:
        """Add the mean to the layer's bias."""
        mean = torch.as_tensor(self._sum).float() / self._count
        bias = self._layer.bias
        self._layer.bias = nn.Parameter(mean if bias is None else bias + mean, requires_grad=False)


@torch.no_grad()
def correct_biases_(simulated: nn.Module, precise: nn.Module, calls: Iterable[UNetCall]) -> None:
    """Let the mean output of every rounded layer be what it is in full precision.

    Args:
        simulated: what `simulate_` made of a copy of `precise`.
        calls: of `precise`, that reach every layer.
    """
    layers = {
        name: layer for name, layer in simulated.named_modules() if isinstance(layer, Simulated)
    }
    errors = {name: _Error(layer) for name, layer in layers.items()}
    with ExitStack() as stack:
        for clock in {id(layer.clock): layer.clock for layer in layers.values()}.values():
            stack.callback(clock.attach(precise).remove)
        for name, error in errors.items():
            layer = precise.get_submodule(name)
            stack.callback(layer.register_forward_hook(error.watch).remove)
        for call in calls:
            call.run(precise)
    for error in errors.values():
        error.take_out_()
