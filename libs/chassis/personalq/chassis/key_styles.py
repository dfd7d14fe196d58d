"""What the name of a tensor says: the key styles of LoRA files and models in the wild.

Adapters are read by `personalq.taq.formats.names`, which needs torch and is not imported here; a
test holds the two to the same answers.

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
| `embedding` | `<s1>`, `emb_params`, `clip_g`, `bundle_emb.<trigger>.…` | textual inversion |
"""

from __future__ import annotations

import re
from dataclasses import dataclass

#: Roles of a tensor in an adapter of a layer.
DOWN, UP, ALPHA = "down", "up", "alpha"
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


#: What a tensor is to its layer, and how such tensors are called.
_TENSOR = re.compile(
    r"(?P<layer>.+?)\.(?:"
    r"(?P<peft>lora_[AB])(?:\.[^.]+)?\.weight"  # a module's own keys name the adapter: `.default`
    r"|lora(?:_linear_layer)?\.(?P<diffusers>down|up)\.weight"
    r"|(?<=_lora\.)(?P<processor>down|up)\.weight"
    r"|(?P<kohya>lora_(?:down|up|mid))\.weight"
    r"|(?P<lycoris>lokr_w[12](?:_[ab])?|lokr_t[12]|hada_w[12]_[ab]|hada_t[12]|on_input"
    r"|oft_blocks|oft_diag|rescale|diff|diff_b|w_norm|b_norm|[ab][12]\.weight)"
    r"|(?P<other>alpha|dora_scale)"
    r"|(?P<unread>lora_magnitude_vector|lora_embedding_[AB])(?:\..+)?"
    r")"
)
_PROJECTION = re.compile(r"(?P<block>.+?)(?:\.processor)?\.(?P<layer>to_[qkv]|to_out)_lora")
#: Their layers: diffusers once called those of the text encoder by the UNet's names.
_PROJECTIONS = {"to_q": "to_q", "to_k": "to_k", "to_v": "to_v", "to_out": "to_out.0"}
_TEXT_PROJECTIONS = {"to_q": "q_proj", "to_k": "k_proj", "to_v": "v_proj", "to_out": "out_proj"}
#: Beginnings of a layer's name, and the component that they tell. Conversions have stacked them.
_PREFIXES = {
    "base_model.model.": None,
    "unet.": "unet",
    "unet_": "unet",
    "text_encoder.": "text_encoder",
    "text_encoder_2.": "text_encoder_2",
    "text_encoder_3.": "text_encoder_3",
    "transformer.": "transformer",
    **{
        f"{writer}_{short}_": component
        for writer in ("lora", "lycoris")
        for short, component in (
            ("unet", "unet"),
            ("te", "text_encoder"),
            ("te1", "text_encoder"),
            ("te2", "text_encoder_2"),
            ("te3", "text_encoder_3"),
            ("transformer", "transformer"),
        )
    },
    "lycoris_": None,  # of LyCORIS' own wrapper, around any model
}
_INDEXED = re.compile(r"(?P<component>unet|text_encoder):(?P<module>\d{1,6}):(?P<role>down|up)")
_BUNDLE = re.compile(r"bundle_emb\.(?P<token>.+)\.(?:string_to_param\..+|clip_[lg])")
_SINGLE_FILE = re.compile(
    r"(?P<prefix>model\.diffusion_model|model_ema|first_stage_model|cond_stage_model"
    r"|conditioner\.embedders\.1|conditioner\.embedders)\.(?P<module>.+)"
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
    "conditioner.embedders.1": "text_encoder_2",
}
_STYLES = {"processor": "diffusers-processor", "other": "peft", "unread": "peft"}
_ROLES = {
    "lora_A": DOWN,
    "lora_B": UP,
    "lora_down": DOWN,
    "lora_up": UP,
    "lora_mid": "mid",
    "lora_magnitude_vector": "dora_scale",
}
_UNET_START = re.compile(
    r"(?:down_blocks|up_blocks|mid_block|conv_in|conv_out|time_embedding|add_embedding"
    r"|class_embedding|encoder_hid_proj)(?:[._]|$)"
)
_TEXT_START = re.compile(r"(?:text_model|encoder[._]layers|embeddings)(?:[._]|$)")
_TEXT_LAYER = re.compile(r"(?:text_model\.)?encoder\.layers\.")
_TRANSFORMER_START = re.compile(
    r"(?:transformer_blocks|single_transformer_blocks|double_blocks|single_blocks|blocks)[._]"
)


def adapter_meaning(key: str) -> KeyMeaning | None:
    """What `key` is in an adapter (LoRA, LoKr, LoHa …), None when it is in none."""
    if match := _INDEXED.fullmatch(key):
        return KeyMeaning(
            style="indexed",
            component=match["component"],
            module=match["module"],
            role=match["role"],
        )
    if match := _TENSOR.fullmatch(key):
        kind, written = next((k, v) for k, v in match.groupdict().items() if v and k != "layer")
        component, module = _layer(match["layer"])
        if component is None:
            return None
        flat = kind == "other" and key.startswith(("lora_", "lycoris_"))
        return KeyMeaning(
            style="kohya" if flat else _STYLES.get(kind, kind),
            component=component,
            module=module,
            role=_ROLES.get(written, written),
        )
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
    elif re.fullmatch(r"emb_params|clip_[lg]|string_to_param(\..*)?", key):
        token = ""
    elif re.fullmatch(r"<[^<>]{1,80}>", key):
        token = key
    else:
        return None
    return KeyMeaning(style="embedding", component="token", module=token, role="weight")


def is_cross_attention_input(module: str) -> bool:
    """Whether the layer reads the text: `attn2.to_k` or `attn2.to_v`, in any spelling."""
    return module.replace("_", ".").endswith(("attn2.to.k", "attn2.to.v"))


def _layer(written: str) -> tuple[str | None, str]:
    """The component and the layer that a key's beginning means; None for one that tells neither."""
    component = None
    while prefix := next((prefix for prefix in _PREFIXES if written.startswith(prefix)), ""):
        component = _PREFIXES[prefix] or component
        written = written.removeprefix(prefix)
    if _TEXT_LAYER.match(written) and component in (None, "unet"):
        component = "text_encoder"
    component = component or _component_of(written)
    if match := _PROJECTION.fullmatch(written):
        layers = _PROJECTIONS if component == "unet" else _TEXT_PROJECTIONS
        written = f"{match['block']}.{layers[match['layer']]}"
    return component, written


def _component_of(module: str) -> str | None:
    """Which model a layer without a component's prefix belongs to."""
    if _UNET_START.match(module):
        return "unet"
    if _TEXT_START.match(module):
        return "text_encoder"
    if _TRANSFORMER_START.match(module):
        return "transformer"
    return None
