"""What a key of an adapter file means: the part of the pipeline, the layer, the tensor's role.

The chassis reads the same keys without torch (`personalq.chassis.key_styles`); a test holds the two
to the same answers.

| style | key |
|---|---|
| PEFT | `unet.<layer>.lora_A.weight`, `base_model.model.<layer>.lora_A.default.weight` |
| diffusers | `unet.<layer>.lora.down.weight`, `<block>.processor.to_q_lora.down.weight` |
| kohya | `lora_unet_<layer_>.lora_down.weight`, `.alpha`; dots are written as underscores |
| LyCORIS | `lora_unet_<layer_>.lokr_w1_a`, `.hada_w1_a`, … |
| cloneofsimo | `unet:<number>:down` |
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from personalq.taq.errors import UnsupportedFormatError
from personalq.taq.formats.numbered import MARK
from personalq.taq.lora import Part, examples

DOWN, MID, UP, ALPHA = "down", "mid", "up", "alpha"

_ROLES = {
    "lora.down.weight": DOWN,
    "lora.up.weight": UP,
    "lora_down.weight": DOWN,
    "lora_mid.weight": MID,
    "lora_up.weight": UP,
    "lora_linear_layer.down.weight": DOWN,
    "lora_linear_layer.up.weight": UP,
    "alpha": ALPHA,
    **{f"lokr_w{i}{half}": f"lokr_w{i}{half}" for i in (1, 2) for half in ("", "_a", "_b")},
    "lokr_t2": "lokr_t2",
    **{f"hada_w{i}{half}": f"hada_w{i}{half}" for i in (1, 2) for half in ("_a", "_b")},
    "hada_t1": "hada_t1",
    "hada_t2": "hada_t2",
}
_HALVES = {"lora_A": DOWN, "lora_B": UP, "down": DOWN, "up": UP}
_TENSOR = re.compile(
    r"(?P<layer>.+?)\.(?:"
    r"(?P<peft>lora_[AB])(?:\.[^.]+)?\.weight"  # a module's own keys name the adapter: `.default`
    r"|(?<=_lora\.)(?P<processor>down|up)\.weight"
    rf"|(?P<role>{'|'.join(map(re.escape, _ROLES))}))"
)
_NUMBERED = re.compile(r"(?P<part>unet|text_encoder):(?P<number>\d{1,6}):(?P<role>up|down)")
_PROCESSOR = re.compile(r"(?P<block>.+?)(?:\.processor)?\.(?P<layer>to_[qkv]|to_out)_lora")
#: Their layers: diffusers once called those of the text encoder by the UNet's names.
_PROJECTIONS = {"to_q": "to_q", "to_k": "to_k", "to_v": "to_v", "to_out": "to_out.0"}
_TEXT_PROJECTIONS = {"to_q": "q_proj", "to_k": "k_proj", "to_v": "v_proj", "to_out": "out_proj"}
_TEXT_LAYER = re.compile(r"(text_model\.)?encoder\.layers\.")
# It would read as a layer of the UNet.
_THIRD_ENCODER = re.compile(r"(lora|lycoris)_te3_.+|text_encoder_3\..+")
_OTHER_FORMATS = {
    _THIRD_ENCODER.pattern: "for a third text encoder (SD 3), which is not served",
    r".+\.(dora_scale|lora_magnitude_vector)(\..+)?": "a DoRA, whose change depends on the base's "
    "own weights: merge it into a full model and publish that",
    r".+\.(oft_blocks|oft_diag|on_input|rescale|diff|diff_b|w_norm|b_norm|[ab][12]\.weight)": "a "
    "LyCORIS adapter that is neither LoRA, LoKr nor LoHa: merge it into a full model and publish "
    "that",
    r"(base_model\.model\.)?(transformer\.|(lora|lycoris)_transformer_"
    r"|(single_)?transformer_blocks\.|((double|single)_)?blocks\.).+": "for a diffusion "
    "transformer (Flux, SD 3), not for the UNet of Stable Diffusion",
    r"(down_blocks|up_blocks|mid_block|model\.diffusion_model)\..+\.(weight|bias)": "a full model",
}
#: Beginnings of a layer's name and the part that they tell. Conversions have stacked them
#: (`unet.unet.`, `lora_unet_unet_`).
_PREFIXES: dict[str, Part | None] = {
    "base_model.model.": None,
    "unet.": "unet",
    "unet_": "unet",
    "text_encoder.": "text_encoder",
    "text_encoder_2.": "text_encoder_2",
    **{f"{writer}_unet_": "unet" for writer in ("lora", "lycoris")},
    **{f"{writer}_{te}_": "text_encoder" for writer in ("lora", "lycoris") for te in ("te", "te1")},
    **{f"{writer}_te2_": "text_encoder_2" for writer in ("lora", "lycoris")},
    "lycoris_": None,  # of LyCORIS' own wrapper, around any model
}
#: How layers begin that are written without any of these.
_BEGINNINGS: dict[Part, re.Pattern[str]] = {
    "unet": re.compile(
        r"(down_blocks|up_blocks|mid_block|conv_in|conv_out|time_embedding|add_embedding"
        r"|class_embedding|encoder_hid_proj)([._]|$)"
    ),
    "text_encoder": re.compile(r"(text_model|encoder[._]layers|embeddings)([._]|$)"),
}


def meaning_of(key: str) -> tuple[Part, str, str] | None:
    """Return (part, layer, role) of a tensor of an adapter, None for any other key."""
    if _THIRD_ENCODER.fullmatch(key):
        return None
    if match := _NUMBERED.fullmatch(key):
        part: Part = "unet" if match["part"] == "unet" else "text_encoder"
        return part, f"{MARK}{int(match['number'])}", match["role"]
    if match := _TENSOR.fullmatch(key):
        named, layer = _layer_name(match["layer"])
        role = match[match.lastgroup or "role"]
        return (named, layer, (_HALVES | _ROLES)[role]) if named else None
    return None


def refuse_known_formats(keys: Sequence[str]) -> None:
    """Say what a file is whose `keys` have no meaning here, if that is known.

    Raises:
        UnsupportedFormatError: they are those of another kind of file.
    """
    for pattern, kind in _OTHER_FORMATS.items():
        if any(re.fullmatch(pattern, key) for key in keys):
            raise UnsupportedFormatError(f"The file is {kind} ({examples(keys)}).")


def _layer_name(written: str) -> tuple[Part | None, str]:
    """Return the part and the layer that a key's beginning means; None for one that tells none."""
    part: Part | None = None
    while prefix := next((prefix for prefix in _PREFIXES if written.startswith(prefix)), ""):
        part, written = _PREFIXES[prefix] or part, written.removeprefix(prefix)
    if _TEXT_LAYER.match(written) and part != "text_encoder_2":
        part = "text_encoder"
    begun = (known for known, beginning in _BEGINNINGS.items() if beginning.match(written))
    part = part or next(begun, None)
    if match := _PROCESSOR.fullmatch(written):
        layers = _PROJECTIONS if part == "unet" else _TEXT_PROJECTIONS
        written = f"{match['block']}.{layers[match['layer']]}"
    return part, written
