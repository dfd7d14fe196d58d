"""What the renderer can be told, by `PERSONALQ_RENDERER_*` variables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, field_validator
from pydantic_settings import SettingsConfigDict

from personalq.chassis.settings import CommonSettings, Port, Seconds
from personalq.taq import PROFILES


class RendererSettings(CommonSettings):
    """Settings of the renderer."""

    model_config = SettingsConfigDict(env_prefix="PERSONALQ_RENDERER_")

    port: Port = 7403
    #: JSON object: base model → path or URI of its diffusers folder.
    base_models: Annotated[dict[str, str], Field(min_length=1)]
    #: Device that renders: "cpu", "cuda:0", …
    device: str = "cpu"
    #: Float type of what is not quantized.
    dtype: Literal["float32", "float16", "bfloat16"] = "float32"
    #: Threads of torch; 0 leaves it to torch.
    torch_threads: Annotated[int, Field(ge=0)] = 0
    #: Bytes of checkpoint weights held in memory.
    memory_bytes_max: Annotated[int, Field(gt=0)] = 8 * 2**30
    #: Weights unused for this long leave the memory; 0 keeps them until the room is needed.
    idle_s: Seconds = 0.0
    #: Renders waiting for the device; one more is told to come back later.
    queue_length: Annotated[int, Field(ge=1)] = 16
    #: Serving profile of requests that name none.
    default_profile: str = "w8a8"
    #: Denoising steps of requests that name none.
    default_steps: Annotated[int, Field(ge=1, le=200)] = 30
    #: Guidance scale of requests that name none.
    default_guidance: Annotated[float, Field(ge=0, le=50)] = 7.5
    #: Longest side of a picture, in pixels.
    side_max: Annotated[int, Field(ge=8)] = 1024
    #: Where artifacts are: file:///dir, s3://bucket/prefix or nats://bucket.
    blob_url: str = "nats://personalq-artifacts"
    #: For fetched artifacts and bases.
    cache_dir: Path = Path("renderer-cache")
    #: Bytes of artifacts kept in `cache_dir`; the least recently used go first.
    cache_bytes_max: Annotated[int, Field(gt=0)] = 32 * 2**30
    #: Whether a new artifact is fetched into `cache_dir` as soon as it is announced.
    prefetch: bool = False
    #: The catalog, asked about checkpoints the artifact stream does not know.
    catalog_target: str = "127.0.0.1:7400"
    #: "package.module:factory" of a SafetyChecker; none when empty.
    safety_checker: str = ""

    @field_validator("default_profile")
    @classmethod
    def _known(cls, profile: str) -> str:
        if profile not in PROFILES:
            raise ValueError(f"must be one of {', '.join(PROFILES)}")
        return profile
