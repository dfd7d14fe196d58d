"""What the name of a tensor says: the key styles of LoRA files and models in the wild.

| style | example | written by |
|---|---|---|
| `diffusers` | `unet.down_blocks.0…attn2.to_k.lora.down.weight` | diffusers |
| `diffusers-processor` | `down_blocks.0…attn2.processor.to_k_lora.down.weight` | older diffusers |
| `peft` | `unet.down_blocks.0…to_k.lora_A.weight`, `base_model.model.…lora_A.weight` | PEFT |
| `kohya` | `lora_unet_down_blocks_0_…_attn2_to_k.lora_down.weight`, `.alpha` | sd-scripts |
| `lycoris` | the same with `.lokr_w1_a`, `.hada_w1_a` … | LyCORIS |
| `indexed` | `unet:7:down` | cloneofsimo/lora |
| `diffusers-model` | `down_blocks.0…attn2.to_k.weight` | diffusers (unet/) |
| `single-file` | `model.diffusion_model.input_blocks.1.1…` | CompVis, Stability |
| `embedding` | `<s1>`, `emb_params`, `bundle_emb.<trigger>.string_to_param.*` | textual inversion |
"""

from __future__ import annotations

import re
from dataclasses import dataclass

#: Roles of a tensor in an adapter of a layer.
DOWN, UP, ALPHA, OTHER = "down", "up", "alpha", "other"
# Further ones: "mid", "dora_scale", and LyCORIS' own.


@dataclass(frozen=True, kw_only=True)
class KeyMeaning:
    """What one key stands for.

    Attributes:
        style: a row of the table above.
        component: "unet", "text_encoder", "text_encoder_2", "transformer", "vae", "token".
        module: the layer's name in the component (dots), its index, or the token.
        role: DOWN, UP, ALPHA, a LyCORIS factor such as "lokr_w1_a", or "weight".
    """

    style: str
    component: str
    module: str
    role: str


_PEFT = re.compile(
    r"(?:(?P<component>unet|text_encoder(?:_2|_3)?|transformer)\.)?(?:base_model\.model\.)?"
    r"(?P<module>.+)\.lora(?:_embedding)?_(?P<role>[AB]|magnitude_vector)"
    r"(?:\.(?!weight$)[^.]+)?(?:\.weight)?"
)
_DIFFUSERS = re.compile(
    r"(?:(?P<component>unet|text_encoder(?:_2|_3)?|transformer)\.)?"
    r"(?P<module>.+)\.lora(?:_linear_layer)?\.(?P<role>down|up)\.weight"
)
_PROCESSOR = re.compile(
    r"(?:(?P<component>unet|text_encoder(?:_2|_3)?)\.)?"
    r"(?P<module>.+?)(?:\.processor)?\.(?P<layer>to_q|to_k|to_v|to_out)_lora\.(?P<role>down|up)"
    r"\.weight"
)
_LAYER_ALPHA = re.compile(r"(?:(?P<component>unet|text_encoder(?:_2|_3)?)\.)(?P<module>.+)\.alpha")
_KOHYA = re.compile(
    r"(?:lora|lycoris)_(?P<component>unet|te|te1|te2|te3|transformer)_(?P<module>.+?)\."
    r"(?P<role>lora_down\.weight|lora_up\.weight|lora_mid\.weight|alpha|dora_scale"
    r"|lokr_w1|lokr_w1_a|lokr_w1_b|lokr_w2|lokr_w2_a|lokr_w2_b|lokr_t1|lokr_t2"
    r"|hada_w1_a|hada_w1_b|hada_w2_a|hada_w2_b|hada_t1|hada_t2"
    r"|on_input|oft_blocks|diff|diff_b)(?:\.weight)?"
)
_INDEXED = re.compile(r"(?P<component>unet|text_encoder):(?P<module>\d+):(?P<role>down|up)")
_BUNDLE = re.compile(r"bundle_emb\.(?P<token>.+)\.string_to_param\..+")
_SINGLE_FILE = re.compile(
    r"(?P<prefix>model\.diffusion_model|model_ema|first_stage_model|cond_stage_model"
    r"|conditioner\.embedders)\.(?P<module>.+)"
)
_UNET_LAYER = re.compile(
    r"(?:unet\.)?(?P<module>(?:down_blocks\.\d+|up_blocks\.\d+|mid_block|conv_in|conv_out"
    r"|conv_norm_out|time_embedding|time_proj|add_embedding|class_embedding|encoder_hid_proj)"
    r"\..+)"
)
_SINGLE_FILE_COMPONENTS = {
    "model.diffusion_model": "unet",
    "model_ema": "unet",
    "first_stage_model": "vae",
    "cond_stage_model": "text_encoder",
    "conditioner.embedders": "text_encoder",
}
_KOHYA_COMPONENTS = {
    "unet": "unet",
    "te": "text_encoder",
    "te1": "text_encoder",
    "te2": "text_encoder_2",
    "te3": "text_encoder_3",
    "transformer": "transformer",
}
_ROLES = {
    "A": DOWN,
    "B": UP,
    "down": DOWN,
    "up": UP,
    "lora_down.weight": DOWN,
    "lora_up.weight": UP,
    "alpha": ALPHA,
    "magnitude_vector": "dora_scale",
    "lora_mid.weight": "mid",
}
_UNET_START = re.compile(r"(?:down_blocks|up_blocks|mid_block|conv_in|conv_out|time_embedding)\b")
_TEXT_START = re.compile(r"(?:text_model|encoder\.layers|embeddings)\b")
_TRANSFORMER_START = re.compile(
    r"(?:transformer_blocks|single_transformer_blocks|double_blocks|single_blocks|blocks)\b"
)


def adapter_meaning(key: str) -> KeyMeaning | None:
    """What `key` is in an adapter (LoRA, LoKr, LoHa …), None when it is in none."""
    if match := _KOHYA.fullmatch(key):
        role = match["role"]
        style = "lycoris" if role.startswith(("lokr", "hada", "oft", "diff", "on_")) else "kohya"
        return KeyMeaning(
            style=style,
            component=_KOHYA_COMPONENTS[match["component"]],
            module=match["module"],
            role=_ROLES.get(role, role),
        )
    if match := _INDEXED.fullmatch(key):
        return KeyMeaning(
            style="indexed",
            component=match["component"],
            module=match["module"],
            role=match["role"],
        )
    for style, pattern in (
        ("diffusers-processor", _PROCESSOR),
        ("diffusers", _DIFFUSERS),
        ("peft", _PEFT),
        ("peft", _LAYER_ALPHA),
    ):
        if match := pattern.fullmatch(key):
            groups = match.groupdict()
            module = groups["module"].removeprefix("unet.").removeprefix("base_model.model.")
            component = groups["component"] or _component_of(module)
            if component is None:
                return None
            if groups.get("layer"):
                module = f"{module}.{groups['layer']}"
            role = _ROLES.get(groups.get("role", ALPHA), OTHER)
            return KeyMeaning(style=style, component=component, module=module, role=role)
    return None


def model_meaning(key: str) -> KeyMeaning | None:
    """What `key` is in a whole model, None when it is in none we know."""
    if match := _SINGLE_FILE.fullmatch(key):
        component = _SINGLE_FILE_COMPONENTS[match["prefix"]]
        return KeyMeaning(
            style="single-file", component=component, module=match["module"], role="weight"
        )
    if match := _UNET_LAYER.fullmatch(key):
        return KeyMeaning(
            style="diffusers-model", component="unet", module=match["module"], role="weight"
        )
    return None


def token_of(key: str, shape: tuple[int, ...]) -> KeyMeaning | None:
    """The trained token that `key` holds the embedding of, None when it is none.

    `module` is the token's text, "" where the key does not tell it (`emb_params`, `clip_l`).
    """
    if len(shape) not in (1, 2) or not shape[-1]:
        return None
    if match := _BUNDLE.fullmatch(key):
        token = match["token"]
    elif key in ("emb_params", "clip_l", "clip_g") or key.startswith("string_to_param."):
        token = ""
    elif re.fullmatch(r"<[^<>]{1,80}>", key):
        token = key
    else:
        return None
    return KeyMeaning(style="embedding", component="token", module=token, role="weight")


def is_cross_attention_input(module: str) -> bool:
    """Whether the layer reads the text: `attn2.to_k` or `attn2.to_v`, in any spelling."""
    return module.replace("_", ".").endswith(("attn2.to.k", "attn2.to.v"))


def _component_of(module: str) -> str | None:
    """Which model a layer without a component's prefix belongs to."""
    if _UNET_START.match(module):
        return "unet"
    if _TEXT_START.match(module):
        return "text_encoder"
    if _TRANSFORMER_START.match(module):
        return "transformer"
    return None
