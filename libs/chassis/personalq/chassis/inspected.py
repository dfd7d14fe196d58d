"""The answer to what a checkpoint is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from personalq.chassis.safetensors_header import shorten

Format = Literal["lora", "full", "textual_inversion"]

#: Width of the text states that the UNet's cross-attention reads → family in words.
FAMILIES: Mapping[int, str] = {
    768: "SD 1.x",
    1024: "SD 2.x",
    1280: "SDXL refiner",
    2048: "SDXL",
}
FORMAT_NAMES: Mapping[str, str] = {
    "lora": "a LoRA",
    "full": "a full model",
    "textual_inversion": "a textual-inversion embedding",
}
_SHOWN_METADATA_CHARACTERS = 500


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """What a checkpoint says about itself.

    Attributes:
        format: "lora", "full" or "textual_inversion".
        base_model: base model as the trainer named it; "" when it did not.
        base_model_from: where that is said, a metadata key or a file; "" when it is not.
        cross_attention_width: of the UNet it fits (768 SD 1.x, 1024 SD 2.x, 2048 SDXL); 0 when
            the file does not show it (an adapter of the text encoder alone).
        rank: of a LoRA (the most frequent one); 0 otherwise.
        ranks: number of layers of each rank.
        alpha: of a LoRA; 0 when not told, which means alpha = rank.
        adapter: "lora", "lokr", "loha", "dora", "other"; "" when it is no adapter.
        key_style: how its tensors are named, a row of the table in `key_styles`.
        components: layers per model ("unet", "text_encoder" …), trained tokens as "token".
        tokens: texts of trained embeddings in the file ("" for one without a name).
        trigger_candidates: texts that may call the concept, the most explicit first.
        trigger_origins: where each of them is said, for example "ss_tag_frequency, a folder".
        trained_at: when it was made, if the file tells.
        metadata: the file's own, unchanged.
        keys: names of all tensors.
        size_bytes: of the file, or of all weight files that were looked at.
        problems: sentences, each a reason why it cannot be served as it is; empty = servable.
        notes: sentences worth knowing that stop nothing.
    """

    format: Format
    base_model: str = ""
    base_model_from: str = ""
    cross_attention_width: int = 0
    rank: int = 0
    ranks: Mapping[int, int] = field(default_factory=dict)
    alpha: float = 0.0
    adapter: str = ""
    key_style: str = ""
    components: Mapping[str, int] = field(default_factory=dict)
    tokens: Sequence[str] = ()
    trigger_candidates: Sequence[str] = ()
    trigger_origins: Mapping[str, str] = field(default_factory=dict)
    trained_at: datetime | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    keys: Sequence[str] = ()
    size_bytes: int = 0
    problems: Sequence[str] = ()
    notes: Sequence[str] = ()

    @property
    def base_family(self) -> str:
        """What the width tells: "SD 1.x", "SD 2.x", "SDXL", or "" for any other."""
        return FAMILIES.get(self.cross_attention_width, "")

    def to_json(self) -> dict[str, Any]:
        """A JSON object (as a dict) for `personalq inspect --json`: long metadata shortened."""
        return {
            "format": self.format,
            "base_model": self.base_model,
            "base_model_from": self.base_model_from,
            "base_family": self.base_family,
            "cross_attention_width": self.cross_attention_width,
            "rank": self.rank,
            "ranks": {str(rank): layers for rank, layers in sorted(self.ranks.items())},
            "alpha": self.alpha,
            "adapter": self.adapter,
            "key_style": self.key_style,
            "components": dict(self.components),
            "tokens": list(self.tokens),
            "trigger_candidates": list(self.trigger_candidates),
            "trigger_origins": dict(self.trigger_origins),
            "trained_at": self.trained_at.isoformat() if self.trained_at else None,
            "size_bytes": self.size_bytes,
            "tensors": len(self.keys),
            "example_keys": [shorten(key) for key in sorted(self.keys)[:5]],
            "metadata": {
                shorten(key): shorten(value, _SHOWN_METADATA_CHARACTERS)
                for key, value in self.metadata.items()
            },
            "problems": list(self.problems),
            "notes": list(self.notes),
        }
