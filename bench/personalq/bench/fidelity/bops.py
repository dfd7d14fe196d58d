"""Bit operations of a UNet call: BOPs = MACs · weight bits · activation bits (paper III-D).

A multiplication of two activations, as in attention, has the bits of both in place of a weight's.
Additions, norms, activation functions and softmax are not counted, as usual.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from diffusers.models.attention_processor import Attention
from torch import Tensor, nn

from personalq.taq.simulation import Method, layer_bits

FULL = 32

SCORES = "scores"
"""The product QKᵀ of an attention."""

VALUES = "values"
"""The product AV of an attention."""

Bits = Callable[[str], tuple[int, int]]
"""Name of a product to the bits of its two factors: weight and input of 'mid_block.….to_q',
Q and K of '….attn1.scores', A and V of '….attn1.values'."""


@dataclass(frozen=True)
class Products:
    """Multiply-accumulates of one call by name: modules, and `.scores`, `.values` of attentions."""

    macs: Mapping[str, int]

    @property
    def total_macs(self) -> int:
        """Of all products."""
        return sum(self.macs.values())

    def bops(self, bits: Bits) -> int:
        """Bit operations if every product has these bits."""
        return sum(count * bits(name)[0] * bits(name)[1] for name, count in self.macs.items())


def uniform(first: int, second: int) -> Bits:
    """The same bits everywhere: weights, activations; Q, A get the activations' as well as K, V."""

    def bits(name: str) -> tuple[int, int]:
        return (second, second) if name.endswith((f".{SCORES}", f".{VALUES}")) else (first, second)

    return bits


def bits_of(method: Method, unet: nn.Module) -> Bits:
    """The bits of a method's products in a UNet of full precision; 32 where it rounds nothing.

    What is protected counts as rounded: it is under 1 % of the work.
    """
    layers = layer_bits(unet, method)
    crosses = {
        name: bool(layer.is_cross_attention)
        for name, layer in unet.named_modules()
        if isinstance(layer, Attention)
    }

    def bits(name: str) -> tuple[int, int]:
        if name in layers:
            return layers[name]
        attention, _, product = name.rpartition(".")
        is_cross = crosses[attention]
        rows = (method.cross_row_bits if is_cross else method.self_row_bits) or FULL
        probabilities = (method.cross_bits if is_cross else method.self_bits) or FULL
        return (rows, rows) if product == SCORES else (probabilities, rows)

    return bits


def count_products(
    unet: nn.Module, latents: tuple[int, ...], text: tuple[int, ...], **more: Any
) -> Products:
    """Count what one call of a UNet multiplies, on whatever device it is; meta costs nothing.

    Args:
        unet: a diffusers UNet2DConditionModel, or a module that is called like one.
        latents: shape (B, 4, height, width).
        text: shape (B, tokens, width) of the text states.
        more: other arguments of the call (SDXL's `added_cond_kwargs`).
    """
    parameter = next(unet.parameters())
    empty: dict[str, Any] = {"device": parameter.device, "dtype": parameter.dtype}
    with counting(unet) as macs, torch.no_grad():
        unet(
            torch.zeros(latents, **empty),
            torch.zeros(latents[0], device=parameter.device),
            torch.zeros(text, **empty),
            **more,
        )
    return Products(dict(macs))


@contextmanager
def counting(module: nn.Module) -> Iterator[Mapping[str, int]]:
    """Count Linear, Conv2d and diffusers' Attention layers of all calls within the block."""
    macs: dict[str, int] = {}

    def add(name: str, count: int) -> None:
        macs[name] = macs.get(name, 0) + count

    handles = [
        layer.register_forward_hook(_hook(name, kind, add), with_kwargs=True)
        for name, layer in module.named_modules()
        for kind in _COUNTERS
        if isinstance(layer, kind)
    ]
    try:
        yield macs
    finally:
        for handle in handles:
            handle.remove()


def _hook(name: str, kind: type[nn.Module], add: Callable[[str, int], None]) -> Any:
    def hook(
        layer: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Tensor
    ) -> None:
        for suffix, count in _COUNTERS[kind](layer, args, kwargs, output).items():
            add(f"{name}.{suffix}" if suffix else name, count)

    return hook


def _linear(layer: Any, _: Any, __: Any, output: Tensor) -> dict[str, int]:
    return {"": output.numel() * layer.in_features}


def _conv(layer: Any, _: Any, __: Any, output: Tensor) -> dict[str, int]:
    height, width = layer.kernel_size
    return {"": output.numel() * layer.in_channels // layer.groups * height * width}


def _attention(
    layer: Any, args: tuple[Any, ...], kwargs: dict[str, Any], _: Tensor
) -> dict[str, int]:
    """QKᵀ and AV: (B, heads, N, T) scores, each a sum over the head's width, and back."""
    states: Tensor = args[0] if args else kwargs["hidden_states"]
    text = args[1] if len(args) > 1 else kwargs.get("encoder_hidden_states")
    if states.ndim == 4:  # (B, C, height, width), as VAEs attend
        states = states.flatten(2).transpose(1, 2)
    keys = states.shape[1] if text is None else text.shape[1]
    count = states.shape[0] * states.shape[1] * keys * layer.inner_dim
    return {SCORES: count, VALUES: count}


_COUNTERS: Mapping[type[nn.Module], Callable[..., dict[str, int]]] = {
    nn.Linear: _linear,
    nn.Conv2d: _conv,
    Attention: _attention,
}
