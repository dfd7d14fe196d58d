"""Artifacts on their way into the blob store, and back from it by digest."""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from personalq.chassis.blobs import BlobStore
from personalq.chassis.errors import Unavailable
from personalq.quantizer.jobs import Made
from personalq.taq import Artifact, ArtifactFile, Recipe

SPACE_FACTOR = 3  # the source, and artifacts that together are at most about twice its size


async def store(
    artifact: Artifact, base: Made | None, blobs: BlobStore, *, made_at: datetime
) -> Made:
    """Put every file of `artifact`, the manifest last, so that a digest promises a whole artifact.

    Args:
        base: the base artifact it needs, which is stored already.
    """
    for file in artifact.files:
        await blobs.put(artifact.directory / file.name, sha256=file.sha256)
    await blobs.put(artifact.paths[-1], sha256=artifact.digest)
    own = (*(file.sha256 for file in artifact.files), artifact.digest)
    return Made(
        digest=artifact.digest,
        size_bytes=artifact.size_bytes,
        base_digest=base.digest if base else "",
        base_size_bytes=base.size_bytes if base else 0,
        blobs=own + (base.blobs if base else ()),
        made_at=made_at,
    )


async def all_stored(made: Made, blobs: BlobStore) -> bool:
    """Whether every blob that `made` needs is in the store."""
    return all([await blobs.exists(name) for name in made.blobs])


async def read_manifest(digest: str, blobs: BlobStore, directory: Path) -> Artifact:
    """Return a stored artifact without its tensors: what a LoRA needs to know of its base.

    Raises:
        NotFound, CorruptFile, Unavailable: as `BlobStore.fetch`.
    """
    file = directory / f"{digest}.json"
    await blobs.fetch(digest, file)
    manifest = json.loads(file.read_bytes())
    files = tuple(ArtifactFile(**entry) for entry in manifest["files"])
    return Artifact(
        kind=manifest["kind"],
        digest=digest,
        manifest=manifest,
        files=files,
        size_bytes=file.stat().st_size + sum(entry.size for entry in files),
        directory=directory,
        recipe=Recipe.from_json(manifest["recipe"]),
        base_artifact_digest=None,
        triggers=(),
        embeddings={},
        embeddings_2={},
    )


@contextmanager
def scratch(work_dir: Path, *, source_bytes: int) -> Iterator[Path]:
    """Open a folder for one job; whatever happens, nothing of it remains.

    Raises:
        Unavailable: the disk has no room for a checkpoint of `source_bytes`.
    """
    jobs = work_dir / "jobs"
    jobs.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(jobs).free < SPACE_FACTOR * source_bytes:
        raise Unavailable("the quantizer's work directory has no room for this checkpoint")
    directory = jobs / uuid.uuid4().hex
    directory.mkdir()
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def clear_leftovers(work_dir: Path) -> None:
    """Remove what a killed quantizer left in its work directory; call before the first job."""
    shutil.rmtree(work_dir / "jobs", ignore_errors=True)
