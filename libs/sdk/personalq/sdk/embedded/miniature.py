"""The model the embedded stack comes with, and its personalized checkpoints."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypedDict

from personalq.chassis.sources import digest_of
from personalq.miniature import BASE_MODEL, MiniatureCheckpoint, base_dir, checkpoints
from personalq.miniature.places import RECOMMENDED_GUIDANCE, RECOMMENDED_STEPS
from personalq.sdk.client import AsyncPersonalQ
from personalq.sdk.publishing import CardFields
from personalq.sdk.results import Publication

_ALL_STATES = ("registered", "servable", "failed", "archived")


def base_models() -> dict[str, str]:
    """The `base_models` setting of catalog, quantizer and renderer."""
    return {BASE_MODEL: str(base_dir())}


def settings() -> dict[str, str]:
    """What the renderer does by default, so that it suits a small model."""
    return {
        "PERSONALQ_RENDERER_DEFAULT_STEPS": str(RECOMMENDED_STEPS),
        "PERSONALQ_RENDERER_DEFAULT_GUIDANCE": str(RECOMMENDED_GUIDANCE),
    }


async def publish_missing(
    client: AsyncPersonalQ, chosen: Sequence[MiniatureCheckpoint] | None = None
) -> list[Publication]:
    """Announce those that the catalog does not hold yet, or holds with other bytes."""
    held = {
        card.checkpoint_id: card.sha256 async for card in client.checkpoints(states=_ALL_STATES)
    }
    return [
        await client.publish(each.path, **announcement(each), **card_fields(each))
        for each in (checkpoints() if chosen is None else chosen)
        if held.get(each.checkpoint_id) != digest_of(each.path)[0]
    ]


class Announcement(TypedDict):
    """What every announcement says."""

    trigger: Sequence[str]
    subject: Sequence[str]


def announcement(checkpoint: MiniatureCheckpoint) -> Announcement:
    """The required arguments of `publish`."""
    return {"trigger": checkpoint.triggers, "subject": checkpoint.subjects}


def card_fields(checkpoint: MiniatureCheckpoint) -> CardFields:
    """The other arguments of `publish`."""
    digits = re.search(r"\d+", checkpoint.version)
    return {
        "checkpoint_id": checkpoint.checkpoint_id,
        "style": checkpoint.styles,
        "description": checkpoint.description,
        "version": int(digits[0]) if digits else None,
        "created_at": checkpoint.created_at,
        "last_used_at": checkpoint.last_used_at,
        "environment": checkpoint.environments,
        "owner": checkpoint.owner,
        "base_model": checkpoint.base_model,
    }
