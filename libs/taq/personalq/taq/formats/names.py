"""What a key of an adapter file means: the part of the pipeline, the layer, the tensor's role.

| style | key |
|---|---|
| PEFT | `unet.<layer>.lora_A.weight`, `base_model.model.<layer>.lora_A.weight` |
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
    "lora_A.weight": DOWN,
    "lora_B.weight": UP,
    "lora_A.default.weight": DOWN,
    "lora_B.default.weight": UP,
    "lora.down.weight": DOWN,
    "lora.up.weight": UP,
    "lora_down.weight": DOWN,
    "lora_mid.weight": MID,
    "lora_up.weight": UP,
    "lora_linear_layer.down.weight": DOWN,
    "lora_linear_layer.up.weight": UP,
    "down.weight": DOWN,  # of <block>.processor.to_q_lora.down.weight
    "up.weight": UP,
    "alpha": ALPHA,
    **{f"lokr_w{i}{half}": f"lokr_w{i}{half}" for i in (1, 2) for half in ("", "_a", "_b")},
    "lokr_t2": "lokr_t2",
    **{f"hada_w{i}{half}": f"hada_w{i}{half}" for i in (1, 2) for half in ("_a", "_b")},
    "hada_t1": "hada_t1",
    "hada_t2": "hada_t2",
}
_TENSOR = re.compile(rf"(?P<layer>.+?)\.(?P<role>{'|'.join(map(re.escape, _ROLES))})")
_NUMBERED = re.compile(r"(?P<part>unet|text_encoder):(?P<number>\d{1,6}):(?P<role>up|down)")
_PROCESSOR = re.compile(r"(?P<block>.+?)(?:\.processor)?\.(?P<layer>to_[qkv]|to_out)_lora")
_TEXT_LAYER = re.compile(r"(text_model\.)?encoder\.layers\.")
# It would read as a layer of the UNet.
_SECOND_ENCODER = re.compile(r"(lora|lycoris)_te[23]_.+|text_encoder_[23]\..+|clip_g")
_OTHER_FORMATS = {
    _SECOND_ENCODER.pattern: "for SDXL's second text encoder, which is not served",
    r".+\.(dora_scale|lora_magnitude_vector)(\..+)?": "a DoRA, whose change depends on the base's "
    "own weights: merge it into a full model and publish that",
    r".+\.(oft_blocks|oft_diag|on_input|rescale|diff|diff_b|w_norm|b_norm|[ab][12]\.weight)": "a "
    "LyCORIS adapter that is neither LoRA, LoKr nor LoHa: merge it into a full model and publish "
    "that",
    r"(down_blocks|up_blocks|mid_block|model\.diffusion_model)\..+\.(weight|bias)": "a full model",
}
# In this order: conversions have stacked prefixes (`unet.unet.`, `lora_unet_unet_`).
_PREFIXES: tuple[tuple[str, Part], ...] = (
    ("base_model.model.", "unet"),
    ("lycoris_unet_", "unet"),
    ("lycoris_te_", "text_encoder"),
    ("lycoris_te1_", "text_encoder"),
    ("lora_unet_", "unet"),
    ("lora_te_", "text_encoder"),
    ("lora_te1_", "text_encoder"),
    ("text_encoder.", "text_encoder"),
    ("unet.", "unet"),
    ("unet.", "unet"),
    ("unet_", "unet"),
)


def meaning_of(key: str) -> tuple[Part, str, str] | None:
    """Return (part, layer, role) of a tensor of an adapter, None for any other key."""
    if _SECOND_ENCODER.fullmatch(key):
        return None
    if match := _NUMBERED.fullmatch(key):
        part: Part = "unet" if match["part"] == "unet" else "text_encoder"
        return part, f"{MARK}{int(match['number'])}", match["role"]
    if match := _TENSOR.fullmatch(key):
        part, layer = _layer_name(match["layer"])
        return part, layer, _ROLES[match["role"]]
    return None


def refuse_known_formats(keys: Sequence[str]) -> None:
    """Say what a file is whose `keys` have no meaning here, if that is known.

    Raises:
        UnsupportedFormatError: they are those of another kind of file.
    """
    for pattern, kind in _OTHER_FORMATS.items():
        if any(re.fullmatch(pattern, key) for key in keys):
            raise UnsupportedFormatError(f"The file is {kind} ({examples(keys)}).")


def _layer_name(written: str) -> tuple[Part, str]:
    """Return the part of the pipeline and the layer that a key's beginning means."""
    part: Part = "unet"
    for prefix, of in _PREFIXES:
        if written.startswith(prefix):
            part, written = of, written.removeprefix(prefix)
    if _TEXT_LAYER.match(written):
        part = "text_encoder"
    if match := _PROCESSOR.fullmatch(written):
        block, projection = match.groups()
        written = f"{block}.{'to_out.0' if projection == 'to_out' else projection}"
    return part, written
