"""What `inspect` says of the keys of an adapter or an embedding is what reading it finds."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path

import pytest
import torch
from support.safetensors_files import write_safetensors

from personalq.chassis.errors import CorruptFile
from personalq.chassis.inspection import inspect
from personalq.chassis.key_styles import adapter_meaning
from personalq.taq import (
    PARTS,
    TEXT_PARTS,
    LoraError,
    UnsupportedFormatError,
    read_lora,
    resolve,
)
from personalq.taq.formats.names import meaning_of

BLOCK = "down_blocks.0.attentions.0.transformer_blocks.0"
LAYER = f"{BLOCK}.attn2.to_k"
FLAT = LAYER.replace(".", "_")
TEXT = "text_model.encoder.layers.0.self_attn.q_proj"
FLAT_TEXT = TEXT.replace(".", "_")
UNET_SHAPES = {
    LAYER: (320, 768),
    f"{BLOCK}.attn1.to_out.0": (320, 320),
    "conv_in": (320, 4, 3, 3),
    "add_embedding.linear_1": (1280, 2816),
    "down_blocks.0.resnets.0.conv1": (320, 320, 3, 3),
}
TEXT_SHAPES = {TEXT: (768, 768)}
DOWN, UP = (4, 768), (320, 4)
TEXT_DOWN, TEXT_UP = (4, 768), (768, 4)

Shapes = Mapping[str, tuple[int, ...]]


def _pair(down: str, up: str) -> Shapes:
    """The two factors of LAYER under these keys."""
    return {down: DOWN, up: UP}


def _text(down: str, up: str) -> Shapes:
    return {down: TEXT_DOWN, up: TEXT_UP}


def _peft(layer: str, adapter: str = "") -> Shapes:
    return _pair(f"{layer}.lora_A{adapter}.weight", f"{layer}.lora_B{adapter}.weight")


def _kohya(layer: str) -> Shapes:
    return _pair(f"{layer}.lora_down.weight", f"{layer}.lora_up.weight")


LOKR: Shapes = {"lokr_w1": (16, 32), "lokr_w2": (20, 24)}
LOHA: Shapes = {
    "hada_w1_a": (320, 4), "hada_w1_b": (4, 768), "hada_w2_a": (320, 4), "hada_w2_b": (4, 768)
}  # fmt: skip


def _of(layer: str, roles: Shapes) -> Shapes:
    return {f"{layer}.{role}": shape for role, shape in roles.items()}


READ: Mapping[str, Shapes] = {
    "diffusers": _pair(f"unet.{LAYER}.lora.down.weight", f"unet.{LAYER}.lora.up.weight"),
    "diffusers, twice": _pair(f"unet.unet.{LAYER}.lora.down.weight",
                              f"unet.unet.{LAYER}.lora.up.weight"),
    "diffusers, bare": _pair(f"{LAYER}.lora.down.weight", f"{LAYER}.lora.up.weight"),
    "diffusers, linear layer": _pair(f"unet.{LAYER}.lora_linear_layer.down.weight",
                                     f"unet.{LAYER}.lora_linear_layer.up.weight"),
    "processor": _pair(f"{BLOCK}.attn2.processor.to_k_lora.down.weight",
                       f"{BLOCK}.attn2.processor.to_k_lora.up.weight"),
    "processor, unet": _pair(f"unet.{LAYER}_lora.down.weight", f"unet.{LAYER}_lora.up.weight"),
    "processor, output": {f"{BLOCK}.attn1.processor.to_out_lora.down.weight": (4, 320),
                          f"{BLOCK}.attn1.processor.to_out_lora.up.weight": (320, 4)},
    "PEFT": _peft(f"unet.{LAYER}"),
    "PEFT, bare": _peft(LAYER),
    "PEFT, base_model": _peft(f"base_model.model.{LAYER}"),
    "PEFT, unet and base_model": _peft(f"unet.base_model.model.{LAYER}"),
    "PEFT, base_model and unet": _peft(f"base_model.model.unet.{LAYER}"),
    "PEFT, default": _peft(f"unet.{LAYER}", ".default"),
    "PEFT, named adapter": _peft(f"base_model.model.{LAYER}", ".bear-v4"),
    "PEFT, alpha": {**_peft(f"unet.{LAYER}"), f"unet.{LAYER}.alpha": ()},
    "PEFT, bare alpha": {**_peft(LAYER), f"{LAYER}.alpha": ()},
    "PEFT, flat": _peft(f"lora_unet_{FLAT}"),
    "PEFT, SDXL's embedding": {"unet.add_embedding.linear_1.lora_A.weight": (4, 2816),
                               "unet.add_embedding.linear_1.lora_B.weight": (1280, 4)},
    "PEFT, SDXL's embedding, bare": {
        "base_model.model.add_embedding.linear_1.lora_A.weight": (4, 2816),
        "base_model.model.add_embedding.linear_1.lora_B.weight": (1280, 4)},
    "PEFT, first layer": {"unet.conv_in.lora_A.weight": (4, 4, 3, 3),
                          "unet.conv_in.lora_B.weight": (320, 4, 1, 1)},
    "PEFT, text encoder": _text(f"text_encoder.{TEXT}.lora_A.weight",
                                f"text_encoder.{TEXT}.lora_B.weight"),
    "PEFT, text encoder, base_model": _text(f"base_model.model.{TEXT}.lora_A.weight",
                                            f"base_model.model.{TEXT}.lora_B.weight"),
    "PEFT, text encoder in base_model": _text(
        f"base_model.model.text_encoder.{TEXT}.lora_A.weight",
        f"base_model.model.text_encoder.{TEXT}.lora_B.weight"),
    "diffusers, text encoder": _text(f"text_encoder.{TEXT}.lora_linear_layer.down.weight",
                                     f"text_encoder.{TEXT}.lora_linear_layer.up.weight"),
    "diffusers, text encoder, older": _text(
        f"text_encoder.{TEXT.replace('q_proj', 'to_q')}_lora.down.weight",
        f"text_encoder.{TEXT.replace('q_proj', 'to_q')}_lora.up.weight"),
    "kohya": _kohya(f"lora_unet_{FLAT}"),
    "kohya, twice": _kohya(f"lora_unet_unet_{FLAT}"),
    "kohya, alpha": {**_kohya(f"lora_unet_{FLAT}"), f"lora_unet_{FLAT}.alpha": ()},
    "kohya, dots": _kohya(f"unet.{LAYER}"),
    "kohya, bare": _kohya(LAYER),
    "kohya, no beginning": _kohya(FLAT),
    "kohya, text encoder, no beginning": _text(f"{FLAT_TEXT}.lora_down.weight",
                                               f"{FLAT_TEXT}.lora_up.weight"),
    "kohya, text encoder": _text(f"lora_te_{FLAT_TEXT}.lora_down.weight",
                                 f"lora_te_{FLAT_TEXT}.lora_up.weight"),
    "kohya, first text encoder": _text(f"lora_te1_{FLAT_TEXT}.lora_down.weight",
                                       f"lora_te1_{FLAT_TEXT}.lora_up.weight"),
    "second text encoder": _text(f"text_encoder_2.{TEXT}.lora_A.weight",
                                 f"text_encoder_2.{TEXT}.lora_B.weight"),
    "second text encoder in base_model": _text(
        f"base_model.model.text_encoder_2.{TEXT}.lora_A.weight",
        f"base_model.model.text_encoder_2.{TEXT}.lora_B.weight"),
    "second text encoder, older": _text(
        f"text_encoder_2.{TEXT.replace('q_proj', 'to_q')}_lora.down.weight",
        f"text_encoder_2.{TEXT.replace('q_proj', 'to_q')}_lora.up.weight"),
    "second text encoder, kohya": _text(f"lora_te2_{FLAT_TEXT}.lora_down.weight",
                                        f"lora_te2_{FLAT_TEXT}.lora_up.weight"),
    "Stability's layers": _kohya("lora_unet_input_blocks_1_1_transformer_blocks_0_attn2_to_k"),
    "LyCORIS": _kohya(f"lycoris_unet_{FLAT}"),
    "LyCORIS, its own wrapper": _kohya(f"lycoris_{FLAT}"),
    "LyCORIS, its own wrapper, text encoder": _text(f"lycoris_{FLAT_TEXT}.lora_down.weight",
                                                    f"lycoris_{FLAT_TEXT}.lora_up.weight"),
    "LoKr": _of(f"lora_unet_{FLAT}", LOKR),
    "LoKr, dots": _of(f"unet.{LAYER}", LOKR),
    "LoHa": _of(f"lycoris_unet_{FLAT}", LOHA),
    "tokens": {"<s1>": (768,), "<s2>": (1, 768)},
    "tokens, numbered apart": {"<s>": (2, 768), "bundle_emb.<s>_2.clip_l": (768,)},
    "tokens, rows of two keys": {"emb_params": (2, 768), "string_to_param.*": (75, 768)},
    "tokens of SDXL": {"clip_l": (3, 768), "clip_g": (3, 1280)},
    "tokens of SDXL, bundled": {**_kohya(f"lora_unet_{FLAT}"), "bundle_emb.x.clip_l": (768,),
                                "bundle_emb.x.clip_g": (1, 1280)},
}  # fmt: skip
REFUSED: Mapping[str, Shapes] = {
    "PEFT, two adapters": {**_peft(f"unet.{LAYER}"), **_peft(f"unet.{LAYER}", ".other")},
    "PEFT, no weight": _pair(f"unet.{LAYER}.lora_A", f"unet.{LAYER}.lora_B"),
    "PEFT, adapter without weight": _pair(f"unet.{LAYER}.lora_A.default",
                                          f"unet.{LAYER}.lora_B.default"),
    "PEFT, two names": _peft(f"unet.{LAYER}", ".a.b"),
    "PEFT, embedding": _pair(f"unet.{LAYER}.lora_embedding_A", f"unet.{LAYER}.lora_embedding_B"),
    "PEFT, named embedding": _pair(f"text_encoder.{TEXT}.lora_embedding_A.default",
                                   f"text_encoder.{TEXT}.lora_embedding_B.default"),
    "PEFT, bias": {**_peft(f"unet.{LAYER}"), f"unet.{LAYER}.lora_B.bias": (320,)},
    "DoRA": {**_peft(f"unet.{LAYER}"), f"unet.{LAYER}.lora_magnitude_vector": (320,)},
    "DoRA, named": {**_peft(f"unet.{LAYER}"),
                    f"unet.{LAYER}.lora_magnitude_vector.default.weight": (320,)},
    "DoRA, kohya": {**_kohya(f"lora_unet_{FLAT}"), f"lora_unet_{FLAT}.dora_scale": (320, 1)},
    "two styles for one layer": {**_peft(f"unet.{LAYER}"), **_kohya(f"lora_unet_{FLAT}")},
    "halves that are no LoRA's": _pair(f"unet.{LAYER}.down.weight", f"unet.{LAYER}.up.weight"),
    "a half alone": {**_peft(f"unet.{LAYER}"), "unet.conv_in.lora_A.weight": (4, 4, 3, 3)},
    "an alpha alone": {**_peft(f"unet.{LAYER}"), "unet.conv_in.alpha": ()},
    "a middle alone": {**_kohya(f"lora_unet_{FLAT}"),
                       "lora_unet_conv_in.lora_mid.weight": (4, 4, 3, 3)},
    "half a LoKr": {**_kohya(f"lora_unet_{FLAT}"), "lora_unet_conv_in.lokr_w1": (4, 4)},
    "a LoKr with a suffix": _of(f"lora_unet_{FLAT}", {f"{k}.weight": v for k, v in LOKR.items()}),
    "an alpha with a suffix": {**_kohya(f"lora_unet_{FLAT}"),
                               f"lora_unet_{FLAT}.alpha.weight": ()},
    "OFT": _of(f"lycoris_unet_{FLAT}", {"oft_blocks": (4, 80, 80)}),
    "full": _of(f"lycoris_unet_{FLAT}", {"diff": (320, 768)}),
    "norm": {**_kohya(f"lora_unet_{FLAT}"), f"lycoris_unet_{FLAT}.w_norm": (320,)},
    "GLoRA": _of(f"lycoris_unet_{FLAT}", {"a1.weight": (4, 4), "b1.weight": (4, 4)}),
    "third text encoder": _text(f"text_encoder_3.{TEXT}.lora_A.weight",
                                f"text_encoder_3.{TEXT}.lora_B.weight"),
    "third text encoder, kohya": _text(f"lora_te3_{FLAT_TEXT}.lora_down.weight",
                                       f"lora_te3_{FLAT_TEXT}.lora_up.weight"),
    "transformer": _peft("transformer.transformer_blocks.0.attn.to_k"),
    "transformer in base_model": _peft("base_model.model.transformer_blocks.0.attn.to_k"),
    "tokens of SDXL, other numbers": {"clip_l": (3, 768), "clip_g": (2, 1280)},
    "tokens of SDXL, the second alone": {"clip_g": (1, 1280)},
    "tokens of SDXL, the second alone in a LoRA": {**_kohya(f"lora_unet_{FLAT}"),
                                                   "bundle_emb.x.clip_g": (1, 1280)},
    "tokens of SDXL, other numbers in a LoRA": {**_kohya(f"lora_unet_{FLAT}"),
                                                "bundle_emb.x.clip_l": (2, 768),
                                                "bundle_emb.x.clip_g": (1, 1280)},
    "tokens of SDXL, one of them unnamed": {"<s1>": (1, 768), "clip_g": (1, 1280)},
    "tokens of one name": {"bundle_emb.<x>.clip_l": (2, 768), "bundle_emb.<x>_1.clip_l": (768,)},
    "tokens in another case": {**_kohya(f"lora_unet_{FLAT}"), "<s1>": (768,), "<S1>": (768,)},
    "tokens, more rows than a prompt": {"emb_params": (78, 768)},
    "tokens without rows": {"emb_params": (0, 768)},
    "tokens of two widths": {"string_to_param.a": (1, 768), "string_to_param.b": (1, 1024)},
    "an unknown beginning": {**_kohya(f"lora_unet_{FLAT}"), **_kohya(f"lora_prior_{FLAT}")},
    "an unknown layer": {**_kohya(f"lora_unet_{FLAT}"), **_peft("decoder.mid.to_k")},
}  # fmt: skip


ODD_KEYS = {
    "control characters": "a" + ".lora_embedding_A" * 4 + "\n\n",
    "too long": f"unet.{LAYER}" + ".a" * 300 + ".lora_A.weight",
}


def _inspects(path: Path) -> bool:
    try:
        return not inspect(path).problems
    except CorruptFile:
        return False


def _reads(path: Path) -> bool:
    try:
        lora = read_lora(path, token="<bear>")
        text = (resolve(lora.layers(part), TEXT_SHAPES) for part in TEXT_PARTS)
        return any([resolve(lora.unet, UNET_SHAPES), *text, lora.embeddings])
    except LoraError:
        return False


@pytest.mark.parametrize(
    ("shapes", "is_read"),
    [*((shapes, True) for shapes in READ.values()), *((s, False) for s in REFUSED.values())],
    ids=[*READ, *REFUSED],
)
def test_inspecting_and_reading_give_one_answer(
    tmp_path: Path, shapes: Shapes, is_read: bool
) -> None:
    """Who publishes a file is told at once what the quantizer would say of its keys."""
    path = write_safetensors(tmp_path / "bear.safetensors", shapes)
    assert (_inspects(path), _reads(path)) == (is_read, is_read)


@pytest.mark.parametrize("key", ODD_KEYS.values(), ids=ODD_KEYS)
@pytest.mark.parametrize("form", ["safetensors", "pickle", "state_dict", "token"])
def test_keys_that_no_trainer_writes_are_refused(tmp_path: Path, key: str, form: str) -> None:
    """Before they are matched with anything, which can take seconds."""
    path = tmp_path / "bear.bin"
    tensor = torch.zeros(4, 768)
    if form == "safetensors":
        path = write_safetensors(tmp_path / "bear.safetensors", {key: (4, 768)})
    elif form == "pickle":
        torch.save({key: tensor}, path)
    elif form == "state_dict":
        torch.save({"state_dict": {key: tensor}}, path)
    else:
        torch.save({"string_to_param": {"*": tensor}, "name": key}, path)
    refusal = r"a key is too long or has control characters"
    with pytest.raises(CorruptFile, match=refusal):
        inspect(path)
    with pytest.raises(UnsupportedFormatError, match=refusal):
        read_lora(path)


@pytest.mark.parametrize("beginning", ["text_encoder.", ""])
@pytest.mark.parametrize(
    ("written", "layer"),
    [("to_q", "q_proj"), ("to_k", "k_proj"), ("to_v", "v_proj"), ("to_out", "out_proj")],
)
def test_older_names_of_the_text_encoders_layers(beginning: str, written: str, layer: str) -> None:
    """Diffusers called them as the UNet's before it had a prefix for each."""
    attention = TEXT.removesuffix("q_proj")
    key = f"{beginning}{attention}{written}_lora.down.weight"
    assert meaning_of(key) == ("text_encoder", f"{attention}{layer}", "down")
    seen = adapter_meaning(key)
    assert seen is not None
    assert (seen.component, seen.module) == ("text_encoder", f"{attention}{layer}")


BEGINNINGS = (
    "", "unet.", "unet.unet.", "unet_", "text_encoder.", "text_encoder_", "text_encoder_2.", "te_",
    "base_model.model.", "base_model.model.unet.", "base_model.model.text_encoder.", "transformer.",
    "lora_unet_", "lora_te_", "lora_te1_", "lora_te2_", "lora_te3_", "lora_transformer_", "lora_",
    "lora_prior_", "lycoris_", "lycoris_unet_", "lycoris_te_", "lycoris_te2_", "diffusion_model.",
    "model.", "vae.",
)  # fmt: skip
LAYERS = (
    LAYER, TEXT, TEXT.removeprefix("text_model."), TEXT.replace("q_proj", "to_out"), "conv_in",
    "conv_inx", "mid_block.proj_in",
    "time_embedding.linear_1", "class_embedding", "encoder_hid_proj", "time_proj", "blocks.0.to_k",
    "text_model.embeddings.token_embedding", "embeddings.position_embedding", "a.q",
    "transformer_blocks.0.attn.to_k", "input_blocks.1.1.proj_in", "encoder.mid", "text_projection",
)  # fmt: skip
ENDS = (
    ".lora_A.weight", ".lora_down.weight", ".lora.up.weight", "_lora.down.weight", ".alpha",
    ".lokr_w1", ".lora_A.default.weight", ".weight", ".lora_linear_layer.up.weight",
)  # fmt: skip


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_every_beginning_means_one_thing(beginning: str) -> None:
    """Inspecting and reading name the same part and layer, or neither serves the key."""
    for layer, end in product((*LAYERS, *(name.replace(".", "_") for name in LAYERS)), ENDS):
        key = f"{beginning}{layer}{end}"
        seen, read = adapter_meaning(key), meaning_of(key)
        served = seen is not None and seen.component in PARTS
        told = (seen.component, seen.module, seen.role) if seen is not None and served else None
        assert told == read, key
