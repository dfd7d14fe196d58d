"""LoRA and its relatives, as their keys and shapes tell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from personalq.chassis.errors import CorruptFile
from personalq.chassis.inspected import Inspection
from personalq.chassis.key_styles import (
    ALPHA,
    DOWN,
    UP,
    KeyMeaning,
    is_cross_attention_input,
)
from personalq.chassis.safetensors_header import TensorEntry, shorten
from personalq.chassis.sorted_tensors import Sorted, examples
from personalq.chassis.training_metadata import alpha_of, rank_of


@dataclass(frozen=True, kw_only=True)
class _Layer:
    """The tensors of one adapted layer, by role."""

    component: str
    module: str
    parts: Mapping[str, TensorEntry]

    def rank(self) -> int:
        """From the factors' shapes; 0 when a factor is stored whole."""
        for role, axis in _RANK_AXES:
            part = self.parts.get(role)
            if part is not None and len(part.shape) > axis:
                return part.shape[axis]
        return 0

    def input_width(self) -> int:
        """How wide the layer's input is; 0 when the factors do not show it."""
        for role in (DOWN, "hada_w1_b"):
            part = self.parts.get(role)
            if part is not None and len(part.shape) > 1:
                return part.shape[1]
        widths = [self._kronecker_width(factor) for factor in ("lokr_w1", "lokr_w2")]
        return widths[0] * widths[1]

    def output_width(self) -> int:
        """How wide the layer's output is; 0 when the factors do not show it."""
        part = self.parts.get(UP)
        return part.shape[0] if part is not None and part.shape else 0

    def _kronecker_width(self, factor: str) -> int:
        part = self.parts.get(factor) or self.parts.get(f"{factor}_b")
        return part.shape[1] if part is not None and len(part.shape) > 1 else 0

    def is_complete(self) -> bool:
        """Whether every factor has its partner, and an alpha something that it scales."""
        has = self.parts.keys()
        if any(role.startswith("lokr_") for role in has):
            return all(
                name in has or {f"{name}_a", f"{name}_b"} <= has for name in ("lokr_w1", "lokr_w2")
            )
        if any(role.startswith("hada_") for role in has):
            return {"hada_w1_a", "hada_w1_b", "hada_w2_a", "hada_w2_b"} <= has
        return {DOWN, UP} <= has or not all(map(_READABLE_ROLE.fullmatch, has))


_READABLE_ROLE = re.compile(
    rf"{DOWN}|{UP}|{ALPHA}|mid|lokr_w[12](_[ab])?|lokr_t2|hada_w[12]_[ab]|hada_t[12]"
)
_RANK_AXES = ((DOWN, 0), ("hada_w1_b", 0), ("lokr_w1_b", 0), ("lokr_w2_b", 0))


def adapter(common: Sorted, meanings: Mapping[str, KeyMeaning]) -> Inspection:
    """A LoRA or one of its relatives."""
    layers = _layers_of(common, meanings)
    _check_pairs(common, layers)
    styles = Counter(meaning.style for meaning in meanings.values())
    roles = {meaning.role for meaning in meanings.values()}
    kind = _adapter_kind(roles)
    components = Counter(layer.component for layer in layers)
    if common.tokens:
        components["token"] = len(common.tokens)
    width = _adapter_width(layers, indexed=styles.most_common(1)[0][0] == "indexed")
    ranks = Counter(layer.rank() for layer in layers if layer.rank())
    _note_unreadable_roles(common, roles)
    _note_components(common, components, width)
    _note_numbers(common, layers, styles)
    _note_writers(common, meanings, ranks)
    if len(ranks) > 1:
        told = ", ".join(f"{rank} ({ranks[rank]} layers)" for rank in sorted(ranks))
        common.notes.append(f"Its layers are of different ranks: {told}.")
    if kind == "loha":
        common.notes.append(
            "It is a LoHa: what it changes is of the square of its rank, and takes memory like a "
            "LoRA of that rank."
        )
    alphas = (
        common.owner[key].scalar(key) for key, meaning in meanings.items() if meaning.role == ALPHA
    )
    return common.inspection(
        format="lora",
        cross_attention_width=width,
        rank=ranks.most_common(1)[0][0] if ranks else rank_of(common.metadata, common.config),
        ranks=dict(ranks),
        alpha=next((value for value in alphas if value), 0.0)
        or alpha_of(common.metadata, common.config),
        adapter=kind,
        key_style=styles.most_common(1)[0][0],
        components=dict(components),
    )


def _layers_of(common: Sorted, meanings: Mapping[str, KeyMeaning]) -> Sequence[_Layer]:
    """The layers; one that is written in two ways is one, with a problem."""
    grouped: dict[tuple[str, str], dict[str, TensorEntry]] = {}
    written: dict[tuple[str, str], str] = {}
    twice: list[str] = []
    for key, meaning in meanings.items():
        layer = meaning.component, meaning.module.replace(".", "_")
        written.setdefault(layer, meaning.module)
        parts = grouped.setdefault(layer, {})
        if meaning.role in parts:
            twice.append(key)
        parts[meaning.role] = common.owner[key].tensors[key]
    if twice:
        common.problems.append(
            f"It changes layers twice, the second time by {examples(twice)}: save one adapter per "
            "file."
        )
    return [
        _Layer(component=layer[0], module=written[layer], parts=parts)
        for layer, parts in grouped.items()
    ]


def _check_pairs(common: Sorted, layers: Sequence[_Layer]) -> None:
    """Factors that cannot be multiplied are damage; single ones are a problem."""
    for layer in layers:
        down, up = layer.parts.get(DOWN), layer.parts.get(UP)
        if down is None or up is None:
            continue
        if len(down.shape) < 2 or len(up.shape) < 2 or not 0 < down.shape[0] == up.shape[1]:
            raise CorruptFile(
                f"{common.name}: the two factors of {shorten(layer.module)!r} do not fit each "
                f"other ({list(down.shape)} and {list(up.shape)}): train or convert it again",
                field="uri",
            )
    lonely = [layer.module for layer in layers if not layer.is_complete()]
    if len(lonely) == len(layers):
        raise CorruptFile(
            f"{common.name}: every layer lacks one of its two LoRA factors, for example "
            f"{examples(lonely)}: train or convert it again",
            field="uri",
        )
    if lonely:
        common.problems.append(
            f"{len(lonely)} of {len(layers)} layers lack one of their factors, for example "
            f"{examples(lonely)}: train or convert it again."
        )


def _adapter_kind(roles: set[str]) -> str:
    if "dora_scale" in roles:
        return "dora"
    if any(role.startswith("lokr") for role in roles):
        return "lokr"
    if any(role.startswith("hada") for role in roles):
        return "loha"
    return "lora" if DOWN in roles else "other"


def _adapter_width(layers: Sequence[_Layer], *, indexed: bool) -> int:
    """Width of the text states that the adapted UNet reads; 0 when no layer shows it."""
    unet = [layer for layer in layers if layer.component == "unet"]
    named = Counter(
        layer.input_width()
        for layer in unet
        if is_cross_attention_input(layer.module) and layer.input_width()
    )
    if named:
        return named.most_common(1)[0][0]
    if not indexed:
        return 0
    # Without names: the text's width is the one that goes into layers but never comes out of one.
    outputs = {layer.output_width() for layer in unet}
    inputs = Counter(layer.input_width() for layer in unet)
    foreign = [(count, width) for width, count in inputs.items() if width not in outputs]
    return max(foreign)[1] if foreign else 0


def _note_unreadable_roles(common: Sorted, roles: set[str]) -> None:
    """What is no LoRA, LoKr or LoHa is no fixed change beside the base's weights."""
    if "dora_scale" in roles:
        common.problems.append(
            "It is a DoRA, whose change depends on the base's own weights: merge it into a full "
            "model and publish that."
        )
    elif others := sorted(role for role in roles if not _READABLE_ROLE.fullmatch(role)):
        common.problems.append(
            f"It is no plain LoRA, LoKr or LoHa (it has {', '.join(others[:3])}): merge it into a "
            "full model and publish that."
        )


def _note_components(common: Sorted, components: Mapping[str, int], width: int) -> None:
    if components.get("transformer") and not components.get("unet"):
        common.problems.append(
            "It adapts a diffusion transformer (Flux, SD 3), not the UNet of Stable Diffusion."
        )
    elif not components.get("unet"):
        common.notes.append(
            "It adapts only text encoders, the second of which SDXL alone has: name the base model "
            "when you publish it."
            if components.get("text_encoder_2")
            else "It adapts only the text encoder: the shapes do not tell SD 1.x from SDXL, name "
            "the base model when you publish it."
        )
    elif not width:
        common.notes.append(
            "It adapts no cross-attention layer: the shapes do not tell its base model, name it "
            "when you publish it."
        )
    if components.get("text_encoder_3"):
        common.problems.append(
            "It adapts text_encoder_3 too (SD 3), which is not served: train it on a Stable "
            "Diffusion with a UNet."
        )


def _note_numbers(common: Sorted, layers: Sequence[_Layer], styles: Mapping[str, int]) -> None:
    """Layers that are numbered (cloneofsimo/lora) are found by counting, so none may be missing."""
    if "indexed" not in styles:
        return
    for component in sorted({layer.component for layer in layers}):
        numbers = {
            int(layer.module)
            for layer in layers
            if layer.component == component and layer.module.isdigit()
        }
        missing = sorted(set(range(max(numbers, default=-1) + 1)) - numbers)
        if missing:
            common.problems.append(
                f"Its layers of the {component} are numbered, and {len(missing)} numbers are "
                f"missing, the first is {missing[0]}: save it again with all its layers."
            )
    common.notes.append(
        "Its layers are numbered, not named (cloneofsimo/lora): they are found by the widths of "
        "the base model's."
    )


def _note_writers(
    common: Sorted, meanings: Mapping[str, KeyMeaning], ranks: Mapping[int, int]
) -> None:
    if any(key.startswith("lora_unet_unet_") for key in meanings):
        common.notes.append(
            "Its keys say `unet` twice (`lora_unet_unet_…`, a broken conversion); they are read as "
            "if it stood there once."
        )
    told = "lora_adapter_metadata" in common.metadata or any(
        meaning.role == ALPHA for meaning in meanings.values()
    )
    if told or not any(key.startswith("base_model.") for key in meanings):
        return
    if common.found.is_apart and _scales(common.config, ranks):
        common.problems.append(
            f"How strongly it acts is said in {common.found.config_name} beside it, which is no "
            "part of the file: publish a folder that holds both and no other checkpoint."
        )
    elif not common.config.get("lora_alpha"):
        common.notes.append(
            "Its alpha is taken for its rank: PEFT writes it into adapter_config.json, which does "
            "not lie beside it."
        )


def _scales(config: Mapping[str, Any], ranks: Iterable[int]) -> bool:
    """Whether PEFT's configuration says another scale than 1, which a LoRA without one has."""
    alpha = config.get("lora_alpha") or 0
    return bool(config.get("alpha_pattern")) or (
        bool(alpha) and (bool(config.get("use_rslora")) or any(rank != alpha for rank in ranks))
    )
