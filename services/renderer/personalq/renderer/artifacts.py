"""The artifacts that the stream has announced."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class ArtifactRef:
    """An artifact as it was announced; the blob store has its bytes under `digest`."""

    checkpoint_id: str
    profile: str
    digest: str
    size_bytes: int
    base_digest: str  # "" for a full fine-tune
    base_size_bytes: int
    base_model: str
    recipe_version: int
    triggers: tuple[str, ...]
    source_sha256: str
    created_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class Known:
    """An artifact and whether the catalog has been asked about its checkpoint of late."""

    artifact: ArtifactRef
    confirmed: bool


class ArtifactIndex:
    """What can be rendered, by tenant, checkpoint and profile; follows the stream."""

    def __init__(self) -> None:
        self._latest: dict[tuple[str, str, str], Known] = {}
        self._earlier: dict[tuple[str, str, str], dict[str, ArtifactRef]] = {}
        #: Set once every artifact that was announced before this pod started is known.
        self.synced = asyncio.Event()

    def __len__(self) -> int:
        """Return the number of latest artifacts, over all tenants."""
        return len(self._latest)

    def add(self, tenant: str, artifact: ArtifactRef, *, confirmed: bool = False) -> Known:
        """Take an artifact as the latest of its checkpoint and profile."""
        key = (tenant, artifact.checkpoint_id, artifact.profile)
        known = self._latest[key] = Known(artifact=artifact, confirmed=confirmed)
        self._earlier.setdefault(key, {})[artifact.digest] = artifact
        return known

    def doubt(self) -> None:
        """Have the catalog asked about every checkpoint again.

        While the stream was out of reach, all withdrawals of a tenant but the last went by unseen.
        """
        for key, known in self._latest.items():
            self._latest[key] = replace(known, confirmed=False)

    def find(self, tenant: str, checkpoint_id: str, profile: str) -> Known | None:
        """Return the latest artifact of a checkpoint and profile."""
        return self._latest.get((tenant, checkpoint_id, profile))

    def find_digest(
        self, tenant: str, checkpoint_id: str, profile: str, digest: str
    ) -> ArtifactRef | None:
        """Return that very artifact, if the checkpoint has or had it while this pod ran."""
        return self._earlier.get((tenant, checkpoint_id, profile), {}).get(digest)

    def remove_checkpoint(self, tenant: str, checkpoint_id: str) -> None:
        """Forget a checkpoint that was withdrawn."""
        for key in [key for key in self._earlier if key[:2] == (tenant, checkpoint_id)]:
            del self._earlier[key], self._latest[key]
