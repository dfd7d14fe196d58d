"""A tiny random Stable Diffusion and checkpoints of it, in the layouts of the real ones.

Built in about a second. The weights mean nothing; shapes, file names and key names are real.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

# For tensors this small, threads only wait for each other; on a busy machine for seconds.
torch.set_num_threads(1)

BASE_MODEL = "tests/tiny-sd"
TRIGGER = "<bear-v4>"
HIDDEN = 32  # width of the text encoder, so of the cross-attention
LATENT_SIDE = 8
VAE_FACTOR = 2
MAX_TOKENS = 77
START, END = "<|startoftext|>", "<|endoftext|>"
LORA_TARGETS = ("to_q", "to_k", "to_v", "to_out.0")


def make_tiny_sd(folder: Path, *, seed: int = 0, hidden: int = HIDDEN) -> Path:
    """Write a diffusers folder with all parts of a Stable Diffusion and return it."""
    from diffusers import DDIMScheduler, UNet2DConditionModel
    from transformers import CLIPTextModel

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        vocabulary = write_tokenizer(folder / "tokenizer")
        unet = UNet2DConditionModel(
            sample_size=LATENT_SIDE,
            in_channels=4,
            out_channels=4,
            block_out_channels=(32, 64),
            layers_per_block=1,
            norm_num_groups=8,
            cross_attention_dim=hidden,
            attention_head_dim=4,
            down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
            up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
        )
        vae = tiny_vae()
        text_encoder = tiny_text_encoder(CLIPTextModel, vocabulary, hidden)
    scheduler = DDIMScheduler(
        beta_start=0.00085,
        beta_end=0.012,
        beta_schedule="scaled_linear",
        clip_sample=False,
        set_alpha_to_one=False,
        steps_offset=1,
    )
    unet.save_pretrained(folder / "unet")
    vae.save_pretrained(folder / "vae")
    text_encoder.save_pretrained(folder / "text_encoder")
    scheduler.save_pretrained(folder / "scheduler")
    index = {
        "_class_name": "StableDiffusionPipeline",
        "scheduler": ["diffusers", "DDIMScheduler"],
        "text_encoder": ["transformers", "CLIPTextModel"],
        "tokenizer": ["transformers", "CLIPTokenizer"],
        "unet": ["diffusers", "UNet2DConditionModel"],
        "vae": ["diffusers", "AutoencoderKL"],
    }
    (folder / "model_index.json").write_text(json.dumps(index))
    return folder


def make_lora(
    base: Path,
    file: Path,
    *,
    seed: int = 1,
    rank: int = 2,
    strength: float = 0.3,
    trigger_embedding: str | None = None,
    vectors: int = 1,
    metadata: dict[str, str] | None = None,
    targets: Sequence[str] = LORA_TARGETS,
) -> Path:
    """Write a PEFT-style LoRA of the base's attention layers and return the file.

    `trigger_embedding` names a trigger whose `vectors` trained token embeddings are in the file.
    """
    shapes = _unet_shapes(base)
    generator = torch.Generator().manual_seed(seed)
    tensors: dict[str, torch.Tensor] = {}
    for name, (rows, columns) in shapes.items():
        if not name.endswith(tuple(targets)):
            continue
        down = torch.randn(rank, columns, generator=generator) / columns**0.5
        up = torch.randn(rows, rank, generator=generator) * strength
        tensors[f"unet.{name}.lora_A.weight"] = down
        tensors[f"unet.{name}.lora_B.weight"] = up
    if trigger_embedding is not None:
        width = json.loads((base / "text_encoder/config.json").read_text())["hidden_size"]
        key = f"bundle_emb.{trigger_embedding}.string_to_param.*"
        tensors[key] = torch.randn(vectors, width, generator=generator)
    file.parent.mkdir(parents=True, exist_ok=True)
    save_file(tensors, file, metadata=metadata)
    return file


def make_full(base: Path, folder: Path, *, seed: int = 2, strength: float = 0.02) -> Path:
    """Write a full fine-tune (`unet/` only) whose weights differ a little from the base's."""
    from diffusers import UNet2DConditionModel

    unet = UNet2DConditionModel.from_pretrained(base / "unet")
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in unet.parameters():
            parameter.add_(strength * torch.randn(parameter.shape, generator=generator))
    unet.save_pretrained(folder / "unet")
    return folder


def train_text_encoder(
    base: Path,
    folder: Path,
    *,
    seed: int = 3,
    strength: float = 0.5,
    part: str = "text_encoder",
) -> Path:
    """Write the base's text encoder into the model `folder`, every weight changed strongly."""
    generator = torch.Generator().manual_seed(seed)
    trained = {
        key: tensor + strength * tensor.std() * torch.randn(tensor.shape, generator=generator)
        for key, tensor in load_file(base / part / "model.safetensors").items()
    }
    (folder / part).mkdir()
    shutil.copy(base / part / "config.json", folder / part)
    save_file(trained, folder / part / "model.safetensors", metadata={"format": "pt"})
    return folder


def tiny_vae(**configuration: Any) -> Any:
    """Return a random VAE of two blocks."""
    from diffusers import AutoencoderKL

    return AutoencoderKL(
        block_out_channels=(8, 16),
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
        norm_num_groups=4,
        sample_size=LATENT_SIDE * VAE_FACTOR,
        **configuration,
    )


def tiny_text_encoder(
    kind: Any, vocabulary: Mapping[str, int], hidden: int, **configuration: Any
) -> Any:
    """Return a random text encoder of two layers, of a class of transformers'."""
    from transformers import CLIPTextConfig

    text_encoder = kind(
        CLIPTextConfig(
            vocab_size=len(vocabulary),
            hidden_size=hidden,
            intermediate_size=2 * hidden,
            num_hidden_layers=2,
            num_attention_heads=4,
            max_position_embeddings=MAX_TOKENS,
            **{
                "bos_token_id": vocabulary[START],
                "eos_token_id": vocabulary[END],
                "pad_token_id": vocabulary[END],
            }
            | configuration,
        )
    )
    # Wide, so that words differ from each other.
    torch.nn.init.normal_(text_encoder.get_input_embeddings().weight, std=1.0)
    return text_encoder


def _unet_shapes(base: Path) -> dict[str, tuple[int, int]]:
    """Return (out, in) of each Linear of the base's UNet, by module name."""
    from safetensors import safe_open

    shapes = {}
    with safe_open(base / "unet/diffusion_pytorch_model.safetensors", "pt") as file:
        for key in file.keys():  # noqa: SIM118 - safe_open is no mapping
            shape = file.get_slice(key).get_shape()
            if key.endswith(".weight") and len(shape) == 2:
                shapes[key.removesuffix(".weight")] = (shape[0], shape[1])
    return shapes


def write_tokenizer(folder: Path, *, pad: str = END) -> dict[str, int]:
    """Write a byte-level BPE tokenizer with a few merges, in CLIP's files and order."""
    alphabet = _byte_alphabet()
    merges = []
    for word in ("photo", "of", "bear", "dog", "forest"):
        parts = [*word[:-1], word[-1] + "</w>"]
        while len(parts) > 1:
            pair = (parts[0], parts[1])
            if pair not in merges:
                merges.append(pair)
            parts = ["".join(pair), *parts[2:]]
    tokens = [*alphabet, *(letter + "</w>" for letter in alphabet)]
    tokens += ["".join(pair) for pair in merges]
    tokens += [START, END]
    vocabulary = {token: index for index, token in enumerate(dict.fromkeys(tokens))}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    lines = ["#version: 0.2", *(" ".join(pair) for pair in merges)]
    (folder / "merges.txt").write_text("\n".join(lines) + "\n")
    special = {"bos_token": START, "eos_token": END, "unk_token": END, "pad_token": pad}
    (folder / "special_tokens_map.json").write_text(json.dumps(special))
    config = {
        **special,
        "do_lower_case": True,
        "model_max_length": MAX_TOKENS,
        "tokenizer_class": "CLIPTokenizer",
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return vocabulary


def _byte_alphabet() -> list[str]:
    """Return GPT-2's printable stand-ins for the 256 bytes, in CLIP's order."""
    kept = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    return [chr(byte) for byte in kept] + [chr(256 + i) for i in range(256 - len(kept))]
