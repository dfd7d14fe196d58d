"""What the quantizer is asked to do, and what comes out of it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class Job:
    """A registered checkpoint and the profiles that still lack an artifact."""

    tenant: str
    checkpoint_id: str
    uri: str
    source_sha256: str  # "" when the card does not say
    source_size_bytes: int  # 0 when the card does not say
    base_model: str
    triggers: tuple[str, ...]  # canonical first
    profiles: tuple[str, ...]  # empty: all configured
    noun: str = ""  # the class noun of the subject; "" when the card does not say

    def of_source(self, sha256: str, size_bytes: int) -> Job:
        """Return the job with the identity of its source."""
        return replace(self, source_sha256=sha256, source_size_bytes=size_bytes)


@dataclass(frozen=True, kw_only=True)
class Made:
    """An artifact in the blob store; the same for every checkpoint with this source."""

    digest: str
    size_bytes: int
    base_digest: str  # "" for a full fine-tune
    base_size_bytes: int
    blobs: tuple[str, ...]  # every blob it needs, the base's included
    made_at: datetime


@dataclass(frozen=True, kw_only=True)
class Published:
    """An artifact as the event announces it."""

    job: Job
    profile: str
    made: Made
    recipe_version: int


@dataclass(frozen=True, kw_only=True)
class Failed:
    """A profile of a checkpoint that cannot be made, and why, for a person."""

    job: Job
    profile: str
    reason: str
    failed_at: datetime
    recipe_version: int


def key_of(**parts: object) -> str:
    """Return a name for what depends on exactly these values: 64 hexadecimal digits."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
