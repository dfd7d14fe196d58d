"""The use case: which artifact serves a checkpoint and profile?"""

from __future__ import annotations

import logging

from personalq.chassis.errors import NotFound, NotReady, Unavailable
from personalq.renderer.artifacts import ArtifactIndex, ArtifactRef, Known
from personalq.renderer.ports import Catalog, CatalogEntry

log = logging.getLogger(__name__)


async def resolve(
    tenant: str,
    checkpoint_id: str,
    profile: str,
    digest: str = "",
    *,
    index: ArtifactIndex,
    catalog: Catalog,
) -> ArtifactRef:
    """Return the artifact to render with.

    The stream tells of new artifacts and, while a pod runs, of withdrawn checkpoints. What was
    withdrawn earlier only the catalog knows: it is asked once per artifact and again from time to
    time (`ArtifactIndex.doubt`), and not waited for when it is out of reach.

    Args:
        digest: insist on this artifact; the latest when empty.

    Raises:
        NotFound: no such checkpoint, or no such artifact of it.
        NotReady: the checkpoint cannot be rendered (yet); the message says why.
        Unavailable: nothing is known of it here and the catalog is out of reach.
    """
    known = index.find(tenant, checkpoint_id, profile)
    if known is None or not known.confirmed:
        known = await _ask(tenant, checkpoint_id, profile, known, index, catalog)
    if not digest or known.artifact.digest == digest:
        return known.artifact
    if artifact := index.find_digest(tenant, checkpoint_id, profile, digest):
        return artifact
    raise NotFound(
        f"checkpoint {checkpoint_id!r} has no artifact {digest[:80]!r} for profile {profile!r}; "
        f"its latest is {known.artifact.digest}"
    )


async def _ask(
    tenant: str,
    checkpoint_id: str,
    profile: str,
    known: Known | None,
    index: ArtifactIndex,
    catalog: Catalog,
) -> Known:
    """Let the catalog decide about an artifact that is unknown or unconfirmed here."""
    try:
        entry = await catalog.get(checkpoint_id)
    except Unavailable:
        if known is None:
            raise
        log.warning(
            "catalog not asked",
            extra={"action": "confirm_artifact", "checkpoint_id": checkpoint_id},
        )
        return known
    except NotFound:
        # The stream may outlive a catalog that was restored from an older state.
        if known is None:
            raise
        index.remove_checkpoint(tenant, checkpoint_id)
        raise
    if entry.state == "ARCHIVED":
        raise _withdrawn(checkpoint_id)
    told = index.find(tenant, checkpoint_id, profile)  # the stream went on meanwhile
    if known and not told:
        raise _withdrawn(checkpoint_id)
    latest = next((a for a in entry.artifacts if a.profile == profile), None)
    artifact = told.artifact if told else latest
    if artifact is None:
        raise _not_ready(entry, profile)
    # What the stream had not told could have been withdrawn meanwhile: the next one asks again.
    return index.add(tenant, artifact, confirmed=told is not None)


def _withdrawn(checkpoint_id: str) -> NotReady:
    return NotReady(
        f"checkpoint {checkpoint_id!r} was withdrawn and cannot be rendered", state="ARCHIVED"
    )


def _not_ready(entry: CatalogEntry, profile: str) -> NotReady:
    name = entry.checkpoint_id
    if entry.state == "FAILED":
        why = entry.reason or "its artifact could not be made"
        return NotReady(f"checkpoint {name!r} cannot be rendered: {why}", state=entry.state)
    others = sorted(artifact.profile for artifact in entry.artifacts)
    instead = f"; {', '.join(others)} can be rendered now" if others else ""
    return NotReady(
        f"checkpoint {name!r} is still being quantized for profile {profile!r}{instead}",
        state=entry.state,
    )
