"""The model the embedded stack comes with, and its personalized checkpoints."""

from __future__ import annotations

from collections.abc import Sequence

from personalq.miniature import MiniatureCheckpoint, base_dir, checkpoints
from personalq.sdk.client import AsyncPersonalQ
from personalq.sdk.results import Publication

BASE_MODEL = "personalq/miniature-sd"


def base_models() -> dict[str, str]:
    """The `base_models` setting of quantizer and renderer."""
    return {BASE_MODEL: str(base_dir())}


async def publish_missing(
    client: AsyncPersonalQ, chosen: Sequence[MiniatureCheckpoint] | None = None
) -> list[Publication]:
    """Announce the checkpoints that the catalog does not hold yet, or holds with other bytes."""
    held = {
        card.checkpoint_id: card.sha256
        async for card in client.checkpoints(
            states=("registered", "servable", "failed", "archived")
        )
    }
    published = []
    for each in chosen if chosen is not None else checkpoints():
        publication = await publish(client, each)
    return published


async def publish(client: AsyncPersonalQ, checkpoint: MiniatureCheckpoint) -> Publication:
    """Announce one of them exactly as a pipeline would."""
    raise NotImplementedError
