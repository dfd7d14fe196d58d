"""What judges pictures, tiny: a random CLIP as transformers saves it, a TorchScript "Inception"."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn

from personalq.miniature.places import base_dir


def make_tiny_clip(folder: Path) -> Path:
    """Write a CLIP of random weights with the miniature's tokenizer, and return its folder."""
    from transformers import (
        CLIPConfig,
        CLIPImageProcessor,
        CLIPModel,
        CLIPTextConfig,
        CLIPTokenizer,
        CLIPVisionConfig,
    )

    tokenizer = CLIPTokenizer.from_pretrained(base_dir() / "tokenizer")
    small = {
        "hidden_size": 16,
        "intermediate_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
    }
    text = CLIPTextConfig(
        **small, vocab_size=len(tokenizer), eos_token_id=tokenizer.eos_token_id
    ).to_dict()
    vision = CLIPVisionConfig(**small, image_size=32, patch_size=16).to_dict()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        clip = CLIPModel(CLIPConfig(text_config=text, vision_config=vision, projection_dim=8))
    clip.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    CLIPImageProcessor(
        size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
    ).save_pretrained(folder)
    return folder


class _Mean(nn.Module):
    """Channel means as features."""

    def forward(self, pictures: Tensor, return_features: bool = False) -> Tensor:
        """What Inception's file takes and gives."""
        assert return_features
        assert pictures.dtype == torch.uint8
        return pictures.float().mean(dim=[2, 3])


def make_tiny_inception(file: Path) -> Path:
    """Write a TorchScript file with the call of inception-2015-12-05.pt, and return it."""
    torch.jit.script(_Mean()).save(str(file))  # type: ignore[no-untyped-call]
    return file
