"""Stability's names of a UNet's layers, held to diffusers' own converters."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from diffusers.loaders.lora_conversion_utils import (
    _convert_unet_lora_key,
    _maybe_map_sgm_blocks_to_diffusers,
)
from diffusers.loaders.single_file_utils import convert_ldm_unet_checkpoint
from unit.taq.configurations import SD15, SDXL, build, narrow

from personalq.taq import layer_shapes, parse_lora, resolve
from personalq.taq.formats.original import original_names


def _built(configuration: dict[str, Any]) -> Any:
    with torch.device("meta"):
        return build(configuration)


def _by_diffusers(original: str, unet: Any) -> str:
    """Return the layer that diffusers' LoRA loader takes sd-scripts' key of `original` for."""
    key = f"lora_unet_{original.replace('.', '_')}.lora_down.weight"
    (mapped,) = _maybe_map_sgm_blocks_to_diffusers({key: None}, unet.config)
    return str(_convert_unet_lora_key(mapped).removesuffix(".lora.down.weight"))


def test_every_layer_of_sdxl_is_the_one_that_diffusers_finds() -> None:
    """All 794 of the real UNet, written as sd-scripts writes them, each once."""
    unet = _built(SDXL)
    layers = layer_shapes(unet)
    names = original_names(layers)
    assert sorted(names.values()) == sorted(layers)
    for original, layer in names.items():
        flat = _by_diffusers(original, unet).replace(".processor", "").removesuffix(".down.weight")
        flat = re.sub(r"(to_(?:q|k|v|out))_lora$", r"\1", flat)
        wanted = layer.replace("to_out.0", "to_out")
        assert flat.replace(".", "_") == wanted.replace(".", "_"), original


@pytest.mark.parametrize("configuration", [SD15, SDXL], ids=["sd15", "sdxl"])
def test_a_whole_models_converter_agrees(configuration: dict[str, Any]) -> None:
    """The names of a checkpoint in one file are the same, SD 1.5's among them."""
    unet = _built(narrow(configuration))
    names = original_names(layer_shapes(unet))
    single = {
        f"model.diffusion_model.{original}.{kind}": f"{layer}.{kind}"
        for original, layer in names.items()
        for kind in ("weight", "bias")
    }
    found = convert_ldm_unet_checkpoint(single, unet.config)
    assert found == {key: key for key in single.values()}


def test_sd_scripts_names_are_resolved_beside_others() -> None:
    """The factors get the model's names; a block that it does not have is an error of the file."""
    unet = _built(narrow(SDXL))
    shapes = layer_shapes(unet)
    layer = "down_blocks.1.attentions.0.transformer_blocks.0.attn1.to_k"
    rows, columns = shapes[layer]
    written = "lora_unet_input_blocks_4_1_transformer_blocks_0_attn1_to_k"
    factors = {"lora_down.weight": torch.ones(2, columns), "lora_up.weight": torch.ones(rows, 2)}
    plain = {"lora_unet_conv_in.lora_down.weight": torch.ones(1, 4, 3, 3),
             "lora_unet_conv_in.lora_up.weight": torch.ones(32, 1, 1, 1)}  # fmt: skip
    lora = parse_lora({f"{written}.{k}": v for k, v in factors.items()} | plain)
    assert set(resolve(lora.unet, shapes)) == {layer, "conv_in"}
    assert original_names(["text_model.encoder.layers.0.self_attn.q_proj", "text_projection"]) == {}
