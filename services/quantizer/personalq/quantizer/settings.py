"""What the quantizer can be told, by `PERSONALQ_QUANTIZER_*` variables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, field_validator
from pydantic_settings import SettingsConfigDict

from personalq.chassis.settings import CommonSettings, Port
from personalq.taq import PROFILES


class QuantizerSettings(CommonSettings):
    """Settings of the quantizer."""

    model_config = SettingsConfigDict(env_prefix="PERSONALQ_QUANTIZER_")

    port: Port = 7402
    #: JSON object: base model → path or URI of its diffusers folder.
    base_models: Annotated[dict[str, str], Field(min_length=1)]
    #: Serving profiles to make, as a JSON list.
    profiles: Annotated[tuple[str, ...], Field(min_length=1)] = tuple(PROFILES)
    #: Where artifacts go: file:///dir, s3://bucket/prefix or nats://bucket.
    blob_url: str = "nats://personalq-artifacts"
    #: For the checkpoint in hand, the ledger and calibrations; on a volume, the last two survive.
    work_dir: Path = Path("quantizer-work")
    #: Checkpoints larger than this are refused; the work directory holds one at a time.
    source_bytes_max: Annotated[int, Field(gt=0)] = 16 * 2**30
    #: Where calibration runs.
    device: str = "cpu"
    #: Threads of torch; 0 leaves it to torch.
    torch_threads: Annotated[int, Field(ge=0)] = 0
    #: Prompts and denoising steps that ranges are calibrated with. They are part of the artifact:
    #: every replica must agree on them.
    calibration_prompts: Annotated[int, Field(ge=1, le=64)] = 20
    calibration_steps: Annotated[int, Field(ge=1, le=100)] = 10
    #: A checkpoint is offered again when nothing was heard of it for this long.
    ack_wait_s: Annotated[float, Field(gt=1)] = 120.0
    #: After a store was out of reach, the next attempt comes this much later.
    retry_s: Annotated[float, Field(gt=0)] = 15.0
    #: Deliveries of one event before it becomes a dead letter.
    max_deliver: Annotated[int, Field(ge=1)] = 8

    @field_validator("profiles")
    @classmethod
    def _known(cls, profiles: tuple[str, ...]) -> tuple[str, ...]:
        if unknown := [profile for profile in profiles if profile not in PROFILES]:
            raise ValueError(f"has unknown {', '.join(unknown)}; known are {', '.join(PROFILES)}")
        return profiles
