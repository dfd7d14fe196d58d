"""What the renderer needs of the world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from PIL.Image import Image

from personalq.renderer.artifacts import ArtifactRef


@dataclass(frozen=True, kw_only=True)
class CatalogEntry:
    """What the catalog says of a checkpoint."""

    checkpoint_id: str
    state: str  # "REGISTERED", "SERVABLE", "FAILED", "ARCHIVED"
    reason: str  # why, for a person; may be empty
    artifacts: tuple[ArtifactRef, ...]


class Catalog(Protocol):
    """The cards of the current tenant."""

    async def get(self, checkpoint_id: str) -> CatalogEntry:
        """Return what the catalog knows of a checkpoint.

        Raises:
            NotFound: there is no such checkpoint.
            Unavailable: the catalog is out of reach.
        """
        ...


class SafetyChecker(Protocol):
    """Decides which pictures may leave. Called in the device's thread."""

    def allowed(self, pictures: Sequence[Image]) -> Sequence[bool]:
        """Return for each picture, or preview, whether it may be sent; the others are blackened."""
        ...
