"""What a checkpoint is: an adapter, a whole model, an embedding, or nothing we know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from personalq.chassis.adapters import adapter
from personalq.chassis.checkpoint_files import SERVED_PARTS, Found
from personalq.chassis.errors import CorruptFile
from personalq.chassis.inspected import FORMAT_NAMES, Inspection
from personalq.chassis.key_styles import (
    ALPHA,
    KeyMeaning,
    adapter_meaning,
    is_cross_attention_input,
    model_meaning,
    token_of,
)
from personalq.chassis.sorted_tensors import Sorted, examples
from personalq.chassis.trained_tokens import ROWS_MAX, is_for_second_encoder, token_problems

_TEXT_EMBEDDING_WIDTHS = (768, 1024, 1280)
_UNET_ENDS = (
    ("conv_in.weight", "conv_out.weight"),
    ("input_blocks.0.0.weight", "out.2.weight"),
)


def classify(found: Found, *, values: bool) -> Inspection:
    """Sort the tensors of a checkpoint into adapter, model, token or nothing.

    Args:
        values: read the tensors too, and make infinite numbers a problem.

    Raises:
        CorruptFile: they belong to nothing we know, or contradict each other.
    """
    owner = {key: header for header in found.headers for key in header.tensors}
    shapes = {key: header.tensors[key].shape for key, header in owner.items()}
    metadata = {k: v for header in found.headers for k, v in header.metadata.items()}
    adapters: dict[str, KeyMeaning] = {}
    models: dict[str, KeyMeaning] = {}
    tokens: dict[str, KeyMeaning] = {}
    unknown: list[str] = []
    for key, shape in shapes.items():
        if meaning := adapter_meaning(key):
            adapters[key] = meaning
        elif meaning := token_of(key, shape):
            tokens[key] = meaning
        elif meaning := model_meaning(key):
            models[key] = meaning
        else:
            unknown.append(key)
    if not adapters and not models and not tokens and len(unknown) == 1:
        tokens.update(_lone_embedding(unknown.pop(), shapes))

    token_names = tuple(dict.fromkeys(meaning.module for meaning in tokens.values()))
    common = Sorted(
        found=found,
        owner=owner,
        shapes=shapes,
        metadata=metadata,
        unknown=unknown,
        tokens=token_names,
        problems=token_problems(tokens, shapes),
        notes=list(found.notes),
    )
    served = [key for key, meaning in (adapters | tokens).items() if meaning.role != ALPHA]
    common.check_types([*served, *(key for key, m in models.items() if _is_served(key, m))])
    if values:
        common.check_values()
    inspection = _of_its_kind(common, adapters, models, tokens)
    if found.is_folder and inspection.format != "full":
        raise CorruptFile(
            f"{found.name!r} holds {FORMAT_NAMES[inspection.format]} where a UNet should be: "
            "publish that file by itself",
            field="uri",
        )
    return inspection


def _of_its_kind(
    common: Sorted,
    adapters: Mapping[str, KeyMeaning],
    models: Mapping[str, KeyMeaning],
    tokens: Mapping[str, KeyMeaning],
) -> Inspection:
    if any(meaning.role != ALPHA for meaning in adapters.values()):
        return adapter(replace(common, unknown=[*common.unknown, *models]), adapters)
    if any(meaning.component == "unet" for meaning in models.values()):
        return _full_model(common, models)
    if tokens:
        return _embedding(common, tokens)
    raise _nothing(common, models)


def _full_model(common: Sorted, meanings: Mapping[str, KeyMeaning]) -> Inspection:
    """A whole model: a UNet in diffusers names, or a single file of everything."""
    unet = {key: meaning for key, meaning in meanings.items() if meaning.component == "unet"}
    modules = {meaning.module for meaning in unet.values()}
    if not any(set(ends) <= modules for ends in _UNET_ENDS):
        raise CorruptFile(
            f"{common.name} holds only a part of a UNet: its first or last layer is missing; "
            "upload the whole model",
            field="uri",
        )
    widths = Counter(
        common.shapes[key][1]
        for key, meaning in unet.items()
        if is_cross_attention_input(meaning.module.removesuffix(".weight"))
        and len(common.shapes[key]) == 2
    )
    width = widths.most_common(1)[0][0] if widths else 0
    configured = common.config.get("cross_attention_dim")
    if isinstance(configured, list):
        configured = configured[0] if configured else None
    if isinstance(configured, int) and width and configured != width:
        raise CorruptFile(
            f"{common.name}: config.json says cross_attention_dim {configured}, the weights are "
            f"{width} wide: one of them belongs to another model; upload both again",
            field="uri",
        )
    if not width:
        common.problems.append("Its UNet reads no text: it has no cross-attention layer.")
    styles = Counter(meaning.style for meaning in unet.values())
    components = Counter(meaning.component for meaning in meanings.values())
    if "single-file" in styles:
        if components.get("text_encoder"):
            common.notes.append(SERVED_PARTS)
        if any(key.startswith("model_ema.") for key in meanings):
            common.notes.append("Its averaged weights (`model_ema.*`) are not used.")
    elif not common.config:
        common.notes.append(
            "The UNet's config.json does not lie beside it: it must have its base model's."
        )
    return common.inspection(
        format="full",
        cross_attention_width=width,
        key_style=styles.most_common(1)[0][0],
        components=dict(components),
    )


def _embedding(common: Sorted, meanings: Mapping[str, KeyMeaning]) -> Inspection:
    """Trained token embeddings alone."""
    widths = {key: common.shapes[key][-1] for key in meanings}
    # SDXL has one embedding per text encoder; its UNet reads both side by side.
    second = [width for key, width in widths.items() if is_for_second_encoder(key)]
    first = [width for key, width in widths.items() if not is_for_second_encoder(key)]
    width = max(first, default=0) + max(second, default=0)
    if not any(common.tokens):
        common.notes.append("It does not name its token: give the trigger when you publish it.")
    return common.inspection(
        format="textual_inversion",
        cross_attention_width=width,
        key_style="embedding",
        components={"token": len(common.tokens)},
    )


def _is_served(key: str, meaning: KeyMeaning) -> bool:
    """Whether a whole model's tensor is of the UNet, not of its averages or what counts them."""
    return meaning.component == "unet" and not key.startswith("model_ema.")


def _lone_embedding(key: str, shapes: Mapping[str, tuple[int, ...]]) -> Mapping[str, KeyMeaning]:
    """Take the only tensor for an embedding: diffusers saves it under the token's own text."""
    shape = shapes[key]
    rows = shape[0] if len(shape) == 2 else 1
    fits = len(shape) in (1, 2) and shape[-1] in _TEXT_EMBEDDING_WIDTHS and 0 < rows <= ROWS_MAX
    if not fits or "." in key:
        return {}
    return {key: KeyMeaning(style="embedding", component="token", module=key, role="weight")}


def _nothing(common: Sorted, models: Mapping[str, KeyMeaning]) -> CorruptFile:
    """The error for a file that would load without changing anything."""
    if not common.shapes:
        reason = "holds no tensor at all"
    elif models:
        parts = sorted({meaning.component for meaning in models.values()})
        reason = f"holds only {' and '.join(parts).replace('_', ' ')} weights, no UNet and no LoRA"
    else:
        reason = (
            f"has {len(common.shapes)} tensors and none of them belongs to a LoRA, a UNet or an "
            f"embedding, for example {examples(list(common.shapes))}"
        )
    return CorruptFile(
        f"{common.name} {reason}: serving it would change nothing; publish a LoRA, a diffusers "
        "folder or an embedding",
        field="uri",
    )
