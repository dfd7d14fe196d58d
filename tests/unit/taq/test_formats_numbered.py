"""Files that number the layers instead of naming them, as cloneofsimo/lora does."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from unit.taq.models import inputs, predict, tiny_unet

from personalq.taq import (
    Factors,
    LoraError,
    UnknownKeysError,
    UnsupportedFormatError,
    WidthMismatchError,
    attach_lora_,
    layer_shapes,
    parse_lora,
    read_lora,
    resolve,
)

RANK = 2


@pytest.fixture(scope="module")
def unet() -> Any:
    """A small random UNet; tests change copies of it."""
    return tiny_unet()


@pytest.fixture(scope="module")
def sd15() -> dict[str, tuple[int, ...]]:
    """The layers of Stable Diffusion 1.5's UNet."""
    from diffusers import UNet2DConditionModel

    with torch.device("meta"):
        return layer_shapes(UNet2DConditionModel(cross_attention_dim=768))


def _counted(model: nn.Module, classes: set[str]) -> Iterator[str]:
    """Yield the Linear layers within modules of `classes` in the order of a walk over them."""
    for name, module in model.named_modules():
        if type(module).__name__ in classes:
            for below, layer in module.named_modules():
                if isinstance(layer, nn.Linear):
                    yield f"{name}.{below}"


def _factors(model: nn.Module, names: list[str]) -> list[tuple[Tensor, Tensor]]:
    g = torch.Generator().manual_seed(0)
    shapes = layer_shapes(model)
    return [
        (torch.randn(RANK, shapes[n][1], generator=g), torch.randn(shapes[n][0], RANK, generator=g))
        for n in names
    ]


def _numbered(factors: list[tuple[Tensor, Tensor]]) -> dict[str, Tensor]:
    tensors: dict[str, Tensor] = {}
    for i, (down, up) in enumerate(factors):
        tensors |= {f"unet:{i}:down": down, f"unet:{i}:up": up}
    return tensors


@pytest.mark.parametrize("classes", [{"Attention", "GEGLU"}, {"Attention"}, {"GEGLU"}])
def test_numbers_mean_the_layers_that_a_walk_counts(unet: Any, classes: set[str]) -> None:
    """A numbered file changes the UNet as the same file with names does."""
    names = list(_counted(unet, classes))
    factors = _factors(unet, names)
    named: dict[str, Tensor] = {}
    for name, (down, up) in zip(names, factors, strict=True):
        named |= {f"unet.{name}.lora_A.weight": down, f"unet.{name}.lora_B.weight": up}
    first, second = copy.deepcopy(unet), copy.deepcopy(unet)
    metadata = {"unet": json.dumps(sorted(classes)), "unet:0:rank": str(RANK)}
    attach_lora_(first, parse_lora(_numbered(factors), metadata))
    attach_lora_(second, parse_lora(named))
    x = inputs()
    assert torch.equal(predict(first, x), predict(second, x))


@pytest.mark.parametrize(
    ("name", "tokens"),
    [("cloneofsimo_lora_disney", ["<s1>", "<s2>"]), ("cloneofsimo_analog_svd_rank4", [])],
)
def test_real_files_fit_stable_diffusion(
    shared_data: Path, sd15: dict[str, tuple[int, ...]], name: str, tokens: list[str]
) -> None:
    """All 144 layers and 48 of the text encoder have a name, and every width is right."""
    lora = read_lora(shared_data / f"lora/{name}.safetensors")
    resolved = resolve(lora.unet, sd15)
    assert len(lora.unet) == len(resolved) == 144
    assert {layer.rsplit(".", 2)[-1] for layer in resolved} == {
        *("to_q", "to_k", "to_v", "0", "proj")
    }
    block = "down_blocks.0.attentions.0.transformer_blocks.0"
    order = [f"{block}.attn1.to_q", f"{block}.ff.net.0.proj", f"{block}.attn2.to_q"]
    assert [_number_of(lora.unet, resolved[layer]) for layer in order] == [0, 4, 5]
    last = resolved["mid_block.attentions.0.transformer_blocks.0.attn2.to_out.0"]
    assert _number_of(lora.unet, last) == 143
    assert list(lora.embeddings) == tokens
    assert all(rows.shape == (1, 768) for rows in lora.embeddings.values())


def _number_of(layers: dict[str, Factors], found: Factors) -> int:
    return next(int(name[1:]) for name, f in layers.items() if torch.equal(f.up, found.up))


def test_a_real_file_fits_the_text_encoder(shared_data: Path) -> None:
    """Keys, values, queries, output: the order of CLIP's attention, by its names."""
    from transformers import CLIPTextConfig, CLIPTextModel

    lora = read_lora(shared_data / "lora/cloneofsimo_lora_disney.safetensors")
    config = CLIPTextConfig(hidden_size=768, intermediate_size=3072, num_attention_heads=12)
    with torch.device("meta"):
        encoder = CLIPTextModel(config)
    resolved = resolve(lora.text_encoder, layer_shapes(encoder))
    assert len(resolved) == 48
    order = {layer.rsplit(".", 1)[1]: _number_of(lora.text_encoder, f) for layer, f in
             resolved.items() if ".layers.3." in layer}  # fmt: skip
    assert order == {"k_proj": 12, "v_proj": 13, "q_proj": 14, "out_proj": 15}


def test_another_base_is_refused_at_the_first_layer_that_differs(shared_data: Path) -> None:
    """SD 2.x reads texts 1024 wide: layer 6 is the first that shows it."""
    from diffusers import UNet2DConditionModel

    with torch.device("meta"):
        shapes = layer_shapes(UNet2DConditionModel(cross_attention_dim=1024))
    lora = read_lora(shared_data / "lora/cloneofsimo_lora_disney.safetensors")
    with pytest.raises(WidthMismatchError, match=r"layer 6, .*attn2.to_k, is 768 .* 1024"):
        resolve(lora.unet, shapes)


def test_a_file_with_too_few_or_missing_layers_is_refused(unet: Any) -> None:
    """No layer is guessed: the counts are named, and so is the first gap."""
    factors = _factors(unet, list(_counted(unet, {"Attention"})))
    few = parse_lora(_numbered(factors[:5]))
    with pytest.raises(UnknownKeysError, match="numbers 5 layers; the model has"):
        resolve(few.unet, layer_shapes(unet))
    tensors = _numbered(factors)
    del tensors["unet:3:down"], tensors["unet:3:up"]
    with pytest.raises(UnknownKeysError, match=r"1 of .* missing, the first is 3"):
        resolve(parse_lora(tensors).unet, layer_shapes(unet))


def test_a_model_that_fits_in_two_ways_is_refused() -> None:
    """Where widths do not tell the old order from the new one, none is chosen."""
    block = "mid_block.attentions.0.transformer_blocks.0"
    shapes = {f"{block}.{attention}.{projection}": (8, 8) for attention in ("attn1", "attn2")
              for projection in ("to_q", "to_k", "to_v", "to_out.0")}  # fmt: skip
    shapes[f"{block}.ff.net.0.proj"] = (8, 8)
    tensors = _numbered([(torch.ones(1, 8), torch.ones(8, 1))] * 9)
    with pytest.raises(LoraError, match="several ways"):
        resolve(parse_lora(tensors).unet, shapes)


def test_classes_of_another_order_and_a_wrong_rank_are_refused() -> None:
    """What the metadata tells is held against the file."""
    tensors = _numbered([(torch.ones(1, 8), torch.ones(8, 1))])
    with pytest.raises(UnsupportedFormatError, match="ResnetBlock2D"):
        parse_lora(tensors, {"unet": '["Attention", "ResnetBlock2D"]'})
    with pytest.raises(LoraError, match="rank 1 and is said to have 4"):
        parse_lora(tensors, {"unet:0:rank": "4"})
    for text in ("[" * 100_000, "[" + "1" * 5000 + "]"):
        with pytest.raises(UnsupportedFormatError, match="whose order is not known"):
            parse_lora(tensors, {"unet": text})
