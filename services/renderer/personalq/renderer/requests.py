"""What is asked of the renderer, and what it tells while it works."""

from __future__ import annotations

import enum
import secrets
from dataclasses import dataclass

from personalq.chassis.errors import InvalidInput
from personalq.renderer.artifacts import ArtifactRef

PROMPT_CHARACTERS_MAX = 2000
STEPS_MAX = 200
GUIDANCE_MAX = 50.0
COUNT_MAX = 8
PREVIEW_EVERY_MAX = STEPS_MAX
SEED_MAX = 2**63 - COUNT_MAX  # so that the last picture's seed is one, too
SIDE_IN_LATENTS = 8  # sides are multiples of this many latents: every UNet halves evenly


class Sampler(enum.Enum):
    """How latents are denoised."""

    DDIM = "ddim"
    EULER = "euler"


@dataclass(frozen=True, kw_only=True)
class RenderRequest:
    """A request as it came: None where the renderer's default is wanted."""

    checkpoint_id: str
    prompt: str
    negative_prompt: str = ""
    profile: str = ""  # "": the default
    seed: int | None = None
    steps: int | None = None
    guidance_scale: float | None = None
    count: int = 1
    sampler: Sampler = Sampler.DDIM
    width: int = 0  # pixels; 0: the base model's own
    height: int = 0
    preview_every: int = 0
    artifact_digest: str = ""  # "": the latest


@dataclass(frozen=True, kw_only=True)
class Defaults:
    """What a request that does not say gets."""

    profile: str
    steps: int
    guidance_scale: float
    side_max: int


@dataclass(frozen=True, kw_only=True)
class Geometry:
    """The picture sizes of a base model."""

    side: int  # pixels, of the pictures it was trained on
    pixels_per_latent: int


@dataclass(frozen=True, kw_only=True)
class RenderPlan:
    """A request with every choice made: it determines the pictures."""

    prompt: str
    negative_prompt: str
    seed: int
    steps: int
    guidance_scale: float
    count: int
    sampler: Sampler
    width: int
    height: int
    preview_every: int

    @property
    def guided(self) -> bool:
        """Whether classifier-free guidance has any effect."""
        return self.guidance_scale > 1.0

    @property
    def seeds(self) -> range:
        """The seed of each picture."""
        return range(self.seed, self.seed + self.count)


def check(request: RenderRequest, *, known_profiles: frozenset[str]) -> RenderRequest:
    """Return the request if it can be tried.

    Raises:
        InvalidInput: it cannot; every problem is named by its field.
    """
    wrong = _wrong_checkpoint(request.checkpoint_id, request.profile, known_profiles)
    if not request.prompt.strip():
        wrong["prompt"] = "write what to render"
    for field in ("prompt", "negative_prompt"):
        if (length := len(getattr(request, field))) > PROMPT_CHARACTERS_MAX:
            wrong[field] = f"has {length} characters; use at most {PROMPT_CHARACTERS_MAX}"
    if request.seed is not None and not 0 <= request.seed <= SEED_MAX:
        wrong["seed"] = f"must be between 0 and {SEED_MAX}"
    if request.steps is not None and not 1 <= request.steps <= STEPS_MAX:
        wrong["steps"] = f"must be between 1 and {STEPS_MAX}, not {request.steps}"
    # Written so that "not a number" fails, too.
    if request.guidance_scale is not None and not 0 <= request.guidance_scale <= GUIDANCE_MAX:
        wrong["guidance_scale"] = f"must be between 0 and {GUIDANCE_MAX:g}"
    if not 1 <= request.count <= COUNT_MAX:
        wrong["count"] = f"must be between 1 and {COUNT_MAX}, not {request.count}"
    if not 0 <= request.preview_every <= PREVIEW_EVERY_MAX:
        wrong["preview_every"] = f"must be between 0 and {PREVIEW_EVERY_MAX}"
    if wrong:
        raise _invalid(wrong)
    return request


def check_checkpoint(checkpoint_id: str, profile: str, *, known_profiles: frozenset[str]) -> None:
    """Raise InvalidInput unless a checkpoint and a profile (or "", the default) are named."""
    if wrong := _wrong_checkpoint(checkpoint_id, profile, known_profiles):
        raise _invalid(wrong)


def plan(request: RenderRequest, *, geometry: Geometry, defaults: Defaults) -> RenderPlan:
    """Make every choice the request leaves open.

    Raises:
        InvalidInput: the base model cannot render the size.
    """
    unit = SIDE_IN_LATENTS * geometry.pixels_per_latent
    wrong = {}
    for field in ("width", "height"):
        side = getattr(request, field)
        if side and (side < 0 or side % unit or side > defaults.side_max):
            wrong[field] = (
                f"must be a multiple of {unit} and at most {defaults.side_max}, not {side}; "
                f"0 is the base model's own {geometry.side}"
            )
    if wrong:
        raise _invalid(wrong)
    return RenderPlan(
        prompt=request.prompt,
        negative_prompt=request.negative_prompt,
        seed=secrets.randbelow(2**31) if request.seed is None else request.seed,
        steps=defaults.steps if request.steps is None else request.steps,
        guidance_scale=(
            defaults.guidance_scale if request.guidance_scale is None else request.guidance_scale
        ),
        count=request.count,
        sampler=request.sampler,
        width=request.width or geometry.side,
        height=request.height or geometry.side,
        preview_every=request.preview_every,
    )


def _wrong_checkpoint(
    checkpoint_id: str, profile: str, known_profiles: frozenset[str]
) -> dict[str, str]:
    wrong = {}
    if not checkpoint_id:
        wrong["checkpoint_id"] = "name the checkpoint to render with"
    if profile and profile not in known_profiles:
        known = ", ".join(sorted(known_profiles))
        wrong["profile"] = f"{profile[:80]!r} is not one of {known}"
    return wrong


def _invalid(wrong: dict[str, str]) -> InvalidInput:
    text = "; ".join(f"{field}: {problem}" for field, problem in wrong.items())
    return InvalidInput(text, violations=wrong)


@dataclass(frozen=True, kw_only=True)
class Queued:
    """Waiting for the device."""

    position: int  # requests ahead


@dataclass(frozen=True, kw_only=True)
class Started:
    """The device works on it."""

    artifact: ArtifactRef
    load_seconds: float


@dataclass(frozen=True, kw_only=True)
class Progress:
    """A denoising step is done."""

    step: int
    steps: int
    preview: bytes  # a small PNG, or nothing


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A finished picture."""

    index: int
    seed: int
    media_type: str
    data: bytes


@dataclass(frozen=True, kw_only=True)
class Timings:
    """Where the time went, in seconds."""

    queued: float = 0.0
    load: float = 0.0
    encode: float = 0.0
    denoise: float = 0.0
    decode: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """What made a picture."""

    checkpoint_id: str
    artifact_digest: str
    profile: str
    prompt: str
    negative_prompt: str
    seed: int
    steps: int
    guidance_scale: float
    sampler: Sampler
    protected_tokens: tuple[int, ...]
    renderer_version: str


@dataclass(frozen=True, kw_only=True)
class Done:
    """All pictures were sent."""

    timings: Timings
    provenance: Provenance


Event = Queued | Started | Progress | Picture | Done
