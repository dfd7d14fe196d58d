"""Bit operations, against counts by hand and the known count of Stable Diffusion 1.5."""

from __future__ import annotations

import pytest
import torch
from diffusers import UNet2DConditionModel
from diffusers.models.attention_processor import Attention
from torch import Tensor, nn
from unit.taq.models import tiny_unet

from personalq.bench.fidelity.bops import (
    Products,
    bits_of,
    count_products,
    counting,
    uniform,
)
from personalq.taq.simulation import method


class _Block(nn.Module):
    """A convolution, a linear layer and a cross-attention, called like a UNet."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(4, 8, 3, padding=1, stride=2)
        self.fc = nn.Linear(8, 6)
        self.attn = Attention(6, cross_attention_dim=5, heads=2, dim_head=3)

    def forward(self, latents: Tensor, _: Tensor, text: Tensor) -> Tensor:
        """(B, 4, H, W) -> (B, H W / 4, 6)."""
        states = self.fc(self.conv(latents).flatten(2).transpose(1, 2))
        attended: Tensor = self.attn(states, encoder_hidden_states=text)
        return attended


BY_HAND = {
    "conv": 2 * 8 * 4 * 4 * (4 * 9),  # outputs (2, 8, 4, 4)
    "fc": 2 * 16 * 6 * 8,
    "attn.to_q": 2 * 16 * 6 * 6,
    "attn.to_k": 2 * 7 * 6 * 5,
    "attn.to_v": 2 * 7 * 6 * 5,
    "attn.to_out.0": 2 * 16 * 6 * 6,
    "attn.scores": 2 * 2 * 16 * 7 * 3,  # (B, heads, N, T) sums over 3
    "attn.values": 2 * 2 * 16 * 3 * 7,
}


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_every_product_is_counted_as_by_hand(device: str) -> None:
    """Really and without computing anything."""
    block = _Block().to(device)
    assert count_products(block, (2, 4, 8, 8), (2, 7, 5)).macs == BY_HAND


def test_hooks_are_gone_afterwards() -> None:
    """Calls outside of the block are not counted."""
    layer = nn.Linear(2, 3)
    with counting(layer) as macs:
        layer(torch.zeros(1, 2))
    layer(torch.zeros(1, 2))
    assert dict(macs) == {"": 6}


def test_every_product_has_its_own_bits() -> None:
    """Weight times activation bits; two activations in attention."""
    products = Products({"a.to_q": 10, "a.scores": 3, "a.values": 3})
    assert products.total_macs == 16
    assert products.bops(uniform(4, 8)) == 10 * 4 * 8 + 6 * 64
    assert products.bops(lambda name: (16, 16) if "to_q" in name else (8, 4)) == 2560 + 6 * 32


def test_stable_diffusion_has_its_known_count() -> None:
    """401.6 G multiply-accumulates at 64x64 latents and 77 tokens, 63 G of them in attention."""
    with torch.device("meta"):
        unet = UNet2DConditionModel(sample_size=64, cross_attention_dim=768)
    products = count_products(unet, (1, 4, 64, 64), (1, 77, 768))
    inside = sum(n for name, n in products.macs.items() if name.endswith((".scores", ".values")))
    assert (products.total_macs, inside) == (401_636_720_640, 63_026_135_040)


def test_bits_of_a_method() -> None:
    """What is precise counts 32 bits, attention has the bits of both factors."""
    unet = tiny_unet()
    bits = bits_of(method("taq", 4, 8), unet)
    assert bits("conv_in") == (32, 32)
    name = "mid_block.attentions.0.transformer_blocks.0.attn1.to_q"
    assert bits(name) == (4, 8)
    block = name.removesuffix(".attn1.to_q")
    assert bits(f"{block}.attn1.scores") == bits(f"{block}.attn2.values") == (8, 8)
    assert bits(f"{block}.attn2.to_k")[1] == 32  # weight-only
    precise = bits_of(method("full", None, None), unet)
    assert precise(name) == precise(f"{block}.attn1.scores") == (32, 32)
