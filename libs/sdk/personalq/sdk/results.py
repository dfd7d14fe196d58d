"""What PersonalQ answers, as plain frozen values; protobuf stays behind `wire`.

    Outcome    = Selection | Clarification | NoMatch            (select, answer)
    RenderStep = Queued | Started | Progress | Picture | Done   (render)

Enumerated values are lower-case words: a card's state is "registered", "servable", "failed" or
"archived", its format "lora", "full" or "textual_inversion", an attribute "subject", "style", ….
An empty string or tuple means that nothing is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

# --- cards -----------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """One checkpoint, quantized once for one serving profile."""

    checkpoint_id: str
    profile: str
    digest: str
    size_bytes: int
    base_digest: str = ""
    base_size_bytes: int = 0
    base_model: str = ""
    recipe_version: int = 0
    triggers: tuple[str, ...] = ()
    source_sha256: str = ""
    created_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A checkpoint card, and the artifacts made from it so far where the call returns them."""

    checkpoint_id: str
    name: str = ""
    aliases: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    styles: tuple[str, ...] = ()
    description: str = ""
    base_model: str = ""
    version: int | None = None
    created_at: datetime | None = None
    last_used_at: datetime | None = None
    use_count: int = 0
    environments: tuple[str, ...] = ()
    owner: str = ""
    uri: str = ""
    sha256: str = ""
    size_bytes: int = 0
    format: str = ""
    state: str = ""
    state_reason: str = ""
    registered_at: datetime | None = None
    updated_at: datetime | None = None
    artifacts: tuple[Artifact, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CheckpointPage:
    """Some cards, and where the next ones begin (empty on the last page)."""

    checkpoints: tuple[Checkpoint, ...]
    next_page_token: str = ""


# --- selection -------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class SelectionRequest:
    """A request in plain words and the answers given so far: the whole state of a dialogue."""

    prompt: str
    answers: tuple[tuple[str, str], ...] = ()  # (question id, reply)
    reference_time: datetime | None = None
    time_zone: str = ""
    candidate_ids: tuple[str, ...] = ()
    profile: str = ""
    steps: int = 0
    explain: bool = False
    owner: str = ""


@dataclass(frozen=True, kw_only=True)
class Span:
    """Half-open range of characters."""

    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Constraint:
    """One thing the person asked for, and the words that said so."""

    attribute: str
    values: tuple[str, ...] = ()
    excluded: bool = False
    not_before: datetime | None = None
    before: datetime | None = None
    order: str = ""
    rank: int = 0
    text: str = ""
    span: Span | None = None  # in the prompt; None for an answer
    hard: bool = False


@dataclass(frozen=True, kw_only=True)
class Intent:
    """How a prompt and its answers were read."""

    constraints: tuple[Constraint, ...] = ()
    content: tuple[Span, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A checkpoint that was considered."""

    checkpoint_id: str
    probability: float
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The checkpoint that is meant, and the prompt to render it with."""

    request: SelectionRequest
    intent: Intent
    checkpoint: Checkpoint
    artifact: Artifact | None
    rewritten_prompt: str
    render_prompt: str
    trigger_spans: tuple[Span, ...] = ()
    render_trigger_spans: tuple[Span, ...] = ()
    replaced: tuple[str, ...] = ()
    replaced_spans: tuple[Span, ...] = ()  # in the prompt
    confidence: float = 0.0
    reasons: tuple[str, ...] = ()
    runners_up: tuple[Candidate, ...] = ()
    degraded: bool = False


@dataclass(frozen=True, kw_only=True)
class Option:
    """One possible answer to a question."""

    label: str
    attribute: str = ""
    value: str = ""


@dataclass(frozen=True, kw_only=True)
class Clarification:
    """A short question; `AsyncPersonalQ.answer(clarification, "…")` goes on from here."""

    request: SelectionRequest
    intent: Intent
    question_id: str
    question: str
    options: tuple[Option, ...]
    attribute: str = ""
    confidence: float = 0.0
    candidates: tuple[Candidate, ...] = ()
    degraded: bool = False


@dataclass(frozen=True, kw_only=True)
class NoMatch:
    """Nothing fits, which constraint is to blame, and what comes nearest."""

    request: SelectionRequest
    intent: Intent
    explanation: str
    failed: Constraint | None = None
    alternatives: tuple[Candidate, ...] = ()
    degraded: bool = False


Outcome = Selection | Clarification | NoMatch

# --- rendering -------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Queued:
    """The render waits for the device."""

    position: int


@dataclass(frozen=True, kw_only=True)
class Started:
    """The device works on the render."""

    artifact: Artifact
    load_seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Progress:
    """A denoising step is done; `preview` is a small PNG when one was asked for."""

    step: int
    steps: int
    preview: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A finished picture, all its bytes together."""

    index: int
    seed: int
    media_type: str
    data: bytes = field(repr=False)

    def save(self, path: str | Path) -> Path:
        """Writes the picture to `path`, making its folder, and returns the path."""
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(self.data)
        return target


@dataclass(frozen=True, kw_only=True)
class Timings:
    """Where the time of a render went, in seconds."""

    queued_seconds: float = 0.0
    load_seconds: float = 0.0
    encode_seconds: float = 0.0
    denoise_seconds: float = 0.0
    decode_seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """What made a picture."""

    checkpoint_id: str
    artifact_digest: str
    profile: str
    prompt: str
    seed: int
    steps: int
    guidance_scale: float
    sampler: str = ""
    protected_tokens: tuple[int, ...] = ()
    renderer_version: str = ""


@dataclass(frozen=True, kw_only=True)
class Done:
    """All pictures were sent."""

    timings: Timings
    provenance: Provenance


RenderStep = Queued | Started | Progress | Picture | Done


@dataclass(frozen=True, kw_only=True)
class Rendering:
    """The pictures of a finished render and what is known about them."""

    pictures: tuple[Picture, ...]
    artifact: Artifact
    timings: Timings
    provenance: Provenance

    @property
    def picture(self) -> Picture:
        """The first picture."""
        return self.pictures[0]


@dataclass(frozen=True, kw_only=True)
class Generation:
    """From words to pictures: what was selected and what was rendered."""

    selection: Selection
    rendering: Rendering


# --- publishing ------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Publication:
    """An announced checkpoint; `checkpoint` is its card where the call waited for it."""

    checkpoint_id: str
    event_id: str
    uri: str
    sha256: str
    size_bytes: int
    duplicate: bool = False
    checkpoint: Checkpoint | None = None


# --- operations ------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class DeadEvent:
    """An event nobody could handle."""

    sequence: int
    subject: str
    reason: str
    deliveries: int
    payload: bytes = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict)
    failed_at: datetime | None = None
