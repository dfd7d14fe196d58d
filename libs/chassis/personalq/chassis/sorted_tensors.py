"""The tensors of a checkpoint, sorted by what they mean."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from personalq.chassis.checkpoint_files import Found
from personalq.chassis.finite import not_finite
from personalq.chassis.inspected import FAMILIES, Format, Inspection
from personalq.chassis.safetensors_header import FLOATING, Header, shorten
from personalq.chassis.training_metadata import base_model_of, trained_at, triggers_of


@dataclass(frozen=True, kw_only=True)
class Sorted:
    """A checkpoint's tensors, and what every kind of it is described with.

    Attributes:
        unknown: keys that belong to nothing.
        tokens: names of the trained tokens, "" for one without a name.
        problems, notes: filled by what looks at the tensors; see `Inspection`.
    """

    found: Found
    owner: Mapping[str, Header]
    shapes: Mapping[str, tuple[int, ...]]
    metadata: Mapping[str, str]
    unknown: Sequence[str]
    tokens: Sequence[str]
    problems: list[str]
    notes: list[str]

    @property
    def name(self) -> str:
        """The checkpoint's own, for messages."""
        return self.found.name

    @property
    def config(self) -> Mapping[str, Any]:
        """What lies beside the weights."""
        return self.found.config

    def check_values(self) -> None:
        """Reads every tensor once; infinite numbers, or what is none, are a problem."""
        bad = [key for header in self.found.headers for key in not_finite(header)]
        if bad:
            self.problems.append(
                f"{len(bad)} of {len(self.shapes)} tensors hold numbers that are infinite or no "
                f"numbers, for example {examples(bad)}: the training diverged; publish an earlier "
                "state of it."
            )

    def check_types(self, keys: Iterable[str]) -> None:
        """Codes of some quantizer are a problem: what they stand for is not said."""
        found = {key: self.owner[key].tensors[key].dtype for key in keys}
        if codes := {key: dtype for key, dtype in found.items() if dtype not in FLOATING}:
            self.problems.append(
                f"{len(codes)} of {len(self.shapes)} tensors hold no floating numbers but "
                f"{', '.join(sorted(set(codes.values())))}, for example {examples(list(codes))}: "
                "publish the weights in float16, bfloat16 or float32."
            )

    def inspection(self, *, format: Format, **found: Any) -> Inspection:  # noqa: A002
        """The result, with all that does not depend on the kind."""
        if self.unknown:
            self.problems.append(
                f"{len(self.unknown)} of {len(self.shapes)} tensors belong to nothing we know, for "
                f"example {examples(self.unknown)}: convert it to diffusers keys."
            )
        base_model, said_in = base_model_of(
            self.metadata, self.config, config_name=self.found.config_name
        )
        triggers = triggers_of(self.metadata, filter(None, self.tokens), prompts=self._prompts())
        self._check_family(base_model, int(found.get("cross_attention_width", 0)))
        return Inspection(
            format=format,
            base_model=base_model,
            base_model_from=said_in,
            tokens=self.tokens,
            trigger_candidates=tuple(triggers),
            trigger_origins=triggers,
            trained_at=trained_at(self.metadata),
            metadata=self.metadata,
            keys=tuple(self.shapes),
            size_bytes=sum(path.stat().st_size for path in self._files()),
            problems=tuple(self.problems),
            notes=tuple(self.notes),
            **found,
        )

    def _prompts(self) -> Mapping[str, str]:
        """Prompts of the training pictures beside the weights, by where they stand."""
        prompts = {
            f"{self.found.config_name}, instance_prompt": self.config.get("instance_prompt"),
            "the model card, instance_prompt": self.found.instance_prompt,
        }
        return {where: text for where, text in prompts.items() if isinstance(text, str) and text}

    def _files(self) -> Sequence[Path]:
        return tuple({header.path: None for header in self.owner.values()})

    def _check_family(self, base_model: str, width: int) -> None:
        """A note when the trainer's words and the shapes name different families."""
        said = " ".join(
            [base_model, *(self.metadata.get(key, "") for key in ("ss_base_model_version",))]
        ).lower()
        claimed = 0
        if "xl" in said.replace("-", "").replace("_", ""):
            claimed = 2048
        elif any(mark in said for mark in ("stable-diffusion-2", "sd_v2", "sd-2", "sd2")):
            claimed = 1024
        elif any(mark in said for mark in ("stable-diffusion-v1", "sd_v1", "sd-1", "sd1")):
            claimed = 768
        if claimed and width in FAMILIES and width != claimed:
            self.notes.append(
                f"It says it was trained on {shorten(base_model)} ({FAMILIES[claimed]}), but its "
                f"shapes fit {FAMILIES[width]} ({width}-wide cross-attention)."
            )


def examples(keys: Sequence[str]) -> str:
    """The first of `keys`, quoted for a message."""
    return ", ".join(json.dumps(shorten(key, 80), ensure_ascii=False) for key in sorted(keys)[:3])
