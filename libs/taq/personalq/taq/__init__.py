"""Trigger-Aware Quantization (TAQ) of personalized diffusion UNets.

Read in this order: `quantizers`, `packing`, `triggers`, `protection`, `attention`, `row_scores`
are functions of tensors; `scheme` is how one layer is quantized, `modules` and `kernels` the layers
built of them; `calibrate`, `recipe`, `quantize` and `lora` walk over a model; `formats` reads
adapter files, `text_states` what prompts give a UNet, `text_encoder` what a fine-tune trained
beside its UNet, `fingerprint` which tokenizers it needs, `artifact` puts a model on disk and
`artifact_load` back into memory. Needs torch, safetensors and numpy only.
"""

from personalq.taq.artifact import (
    Artifact,
    Protection,
    read_artifact,
    verified,
    write_base_artifact,
    write_full_artifact,
    write_lora_artifact,
)
from personalq.taq.artifact_files import ArtifactFile
from personalq.taq.artifact_load import load_unet_
from personalq.taq.calibrate import Calibration, Range, ranges_from_json, ranges_to_json
from personalq.taq.context import TextContext
from personalq.taq.errors import (
    ArtifactError,
    ArtifactMismatchError,
    ContextError,
    IntegrityError,
    LoraError,
    ManifestError,
    MissingRangeError,
    PreparedError,
    RecipeError,
    TaqError,
    TokenizerError,
    UnknownKeysError,
    UnsupportedFormatError,
    WidthMismatchError,
)
from personalq.taq.fingerprint import is_other_tokenizer, tokenizer_fingerprint
from personalq.taq.formats.parse import FORMATS_VERSION, parse_lora, read_lora
from personalq.taq.lora import (
    PARTS,
    TEXT_PARTS,
    Factors,
    Lora,
    Part,
    TextPart,
    attach_lora_,
    detach_lora_,
    layer_shapes,
    resolve,
)
from personalq.taq.modules import prepare_
from personalq.taq.protection import (
    Protected,
    Words,
    counterparts,
    plain_prompt,
    protected_mask,
    resolve_protection,
)
from personalq.taq.quantize import LayerReport, Report, quantize_
from personalq.taq.recipe import PROFILES, RECIPE_VERSION, Recipe
from personalq.taq.row_scores import attention_received, conditioning
from personalq.taq.text_encoder import half_precision, load_text_encoder_
from personalq.taq.text_states import TextEncoder, TextEncoders, TextStates
from personalq.taq.triggers import TokenSpan, trigger_mask, trigger_spans

__all__ = [
    "FORMATS_VERSION",
    "PARTS",
    "PROFILES",
    "RECIPE_VERSION",
    "TEXT_PARTS",
    "Artifact",
    "ArtifactError",
    "ArtifactFile",
    "ArtifactMismatchError",
    "Calibration",
    "ContextError",
    "Factors",
    "IntegrityError",
    "LayerReport",
    "Lora",
    "LoraError",
    "ManifestError",
    "MissingRangeError",
    "Part",
    "PreparedError",
    "Protected",
    "Protection",
    "Range",
    "Recipe",
    "RecipeError",
    "Report",
    "TaqError",
    "TextContext",
    "TextEncoder",
    "TextEncoders",
    "TextPart",
    "TextStates",
    "TokenSpan",
    "TokenizerError",
    "UnknownKeysError",
    "UnsupportedFormatError",
    "WidthMismatchError",
    "Words",
    "attach_lora_",
    "attention_received",
    "conditioning",
    "counterparts",
    "detach_lora_",
    "half_precision",
    "is_other_tokenizer",
    "layer_shapes",
    "load_text_encoder_",
    "load_unet_",
    "parse_lora",
    "plain_prompt",
    "prepare_",
    "protected_mask",
    "quantize_",
    "ranges_from_json",
    "ranges_to_json",
    "read_artifact",
    "read_lora",
    "resolve",
    "resolve_protection",
    "tokenizer_fingerprint",
    "trigger_mask",
    "trigger_spans",
    "verified",
    "write_base_artifact",
    "write_full_artifact",
    "write_lora_artifact",
]
