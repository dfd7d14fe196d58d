"""What the demo did, for machines: demo/report.json."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Seconds:
    """How long it took."""

    setup: float  # installation, whenever that was, as the Makefile measured it
    start: float  # until the stack served
    job: float  # from the first event to the last picture


@dataclass(frozen=True, kw_only=True)
class CheckpointEntry:
    """A checkpoint and the bytes of weights that serving it takes.

    A LoRA's bytes include its base, which all LoRAs share; `own_…` leaves it out.
    """

    checkpoint_id: str
    bytes_full: int
    bytes_taq: int
    own_bytes_full: int
    own_bytes_taq: int


@dataclass(frozen=True, kw_only=True)
class RequestEntry:
    """A request, what came of it, and its pictures (paths from the folder of the report).

    CLIP-I is the mean cosine between a picture and the pictures the checkpoint was trained on.
    """

    prompt: str
    outcome: str  # the first one: selection, clarification or no_match
    answered_outcome: str = ""  # what came of the answer to a clarification
    checkpoint_id: str = ""
    rewritten_prompt: str = ""
    image_full: str = ""
    image_taq: str = ""
    clip_i_full: float | None = None
    clip_i_taq: float | None = None
    render_prompt: str = ""
    question: str = ""
    answer: str = ""
    explanation: str = ""
    profile: str = ""
    seed: int | None = None
    step_seconds_full: float | None = None
    step_seconds_taq: float | None = None


def write_report(
    path: Path,
    *,
    seconds: Seconds,
    checkpoints: Sequence[CheckpointEntry],
    requests: Sequence[RequestEntry],
) -> None:
    """Write the report."""
    document = {
        "seconds": asdict(seconds),
        "checkpoints": [asdict(entry) for entry in checkpoints],
        "requests": [asdict(entry) for entry in requests],
    }
    path.write_text(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
