"""The use case: one registered checkpoint, its artifacts, their announcement."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from personalq.chassis.blobs import BlobStore
from personalq.chassis.checkpoint_files import only_file
from personalq.chassis.errors import CorruptFile, InvalidInput, NotFound
from personalq.chassis.inspection import check_base, inspect
from personalq.chassis.sources import digest_of
from personalq.quantizer.bases import BaseModel, BaseModels
from personalq.quantizer.jobs import Failed, Job, Made, Published, key_of
from personalq.quantizer.ledger import Ledger
from personalq.quantizer.ports import Announcements, Sources
from personalq.quantizer.shelf import all_stored, read_manifest, scratch, store
from personalq.quantizer.thread import TorchThread
from personalq.quantizer.workshop import Workshop
from personalq.taq import FORMATS_VERSION, PROFILES, Artifact, LoraError, Protected
from personalq.taq.recipe import RECIPE_VERSION

log = logging.getLogger(__name__)

#: Errors that another attempt on the same bytes would only repeat.
FAULTS_OF_THE_CHECKPOINT = (InvalidInput, NotFound, LoraError)


@dataclass(frozen=True, kw_only=True)
class Tools:
    """What the use case works with."""

    sources: Sources
    announcements: Announcements
    blobs: BlobStore
    ledger: Ledger
    bases: BaseModels
    workshop: Workshop
    torch: TorchThread
    profiles: tuple[str, ...]  # made when the job names none
    work_dir: Path
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)


async def quantize_checkpoint(job: Job, *, tools: Tools) -> None:
    """Announce, for each profile of the job, an artifact or the reason why there is none.

    Doing it again is safe and cheap: what is in the blob store already is announced once more.

    Raises:
        Unavailable: a store is out of reach; worth another try.
    """
    wanted = job.profiles or tools.profiles
    waiting = [profile for profile in wanted if profile in PROFILES]
    for profile in wanted:
        if profile not in PROFILES:
            reason = f"there is no serving profile {profile!r}; known are {', '.join(PROFILES)}"
            await _give_up(job, [profile], reason, tools)
    try:
        base = await tools.torch.run(lambda _: tools.bases.get(job.base_model))
        for profile in tuple(waiting):
            if made := await _made_before(job, profile, base, tools):
                await _announce(job, profile, made, tools)
                waiting.remove(profile)
        if not waiting:
            return
        with scratch(tools.work_dir, source_bytes=job.source_size_bytes) as directory:
            source = await tools.sources.fetch(job, directory)
            job = await _completed(job, source)
            for profile in tuple(waiting):
                made = await _make(job, profile, base, source, directory, tools)
                await _announce(job, profile, made, tools)
                waiting.remove(profile)
    except FAULTS_OF_THE_CHECKPOINT as error:
        await _give_up(job, waiting, str(error), tools)


async def _made_before(job: Job, profile: str, base: BaseModel, tools: Tools) -> Made | None:
    """Return what was made from this source before, if every blob of it is still there."""
    made = tools.ledger.find(_key(job, profile, base, tools))
    return made if made and await all_stored(made, tools.blobs) else None


async def _completed(job: Job, source: Path) -> Job:
    """Return the job with its source's digest; fetching has compared one that was given."""
    if job.source_sha256:
        return job
    digest, size = await asyncio.to_thread(digest_of, source)
    return job.of_source(digest, size)


async def _make(
    job: Job, profile: str, base: BaseModel, source: Path, directory: Path, tools: Tools
) -> Made:
    """Make one artifact, store its blobs, write it into the ledger."""
    inspection = await asyncio.to_thread(inspect, source)
    if inspection.problems:
        raise InvalidInput(" ".join(inspection.problems))
    check_base(inspection, base.cross_attention_width, base_model=base.base_model)
    workshop, out = tools.workshop, directory / profile
    base_made: Made | None = None
    if inspection.format == "full":
        artifact = await tools.torch.run(
            lambda stop: workshop.make_full(
                source,
                base,
                profile,
                triggers=job.triggers,
                noun=job.noun,
                source_sha256=job.source_sha256,
                directory=out,
                stop=stop,
            )
        )
    else:
        base_artifact, base_made = await _base(base, profile, directory, tools)
        artifact = await tools.torch.run(
            lambda _: workshop.make_lora(
                adapter_file(source),
                base,
                base_artifact,
                triggers=job.triggers,
                noun=job.noun,
                source_sha256=job.source_sha256,
                directory=out,
            )
        )
    made = await store(artifact, base_made, tools.blobs, made_at=tools.clock())
    tools.ledger.record(_key(job, profile, base, tools), made)
    return made


async def _base(
    base: BaseModel, profile: str, directory: Path, tools: Tools
) -> tuple[Artifact, Made]:
    """Return the base's artifact for a profile, which is made at its first LoRA."""
    key = key_of(
        kind="base",
        base=base.fingerprint,
        profile=profile,
        protected=PROFILES[profile].protected,
        recipe=RECIPE_VERSION,
        calibration=tools.workshop.calibration,
    )
    made = tools.ledger.find(key)
    if made and await all_stored(made, tools.blobs):
        try:
            return await read_manifest(made.digest, tools.blobs, directory), made
        except (NotFound, CorruptFile) as error:
            log.warning(
                "base artifact made again: %s",
                error,
                extra={"action": "make_base", "digest": made.digest},
            )
    out = directory / f"base-{profile}"
    artifact = await tools.torch.run(
        lambda stop: tools.workshop.make_base(base, profile, out, stop=stop)
    )
    made = await store(artifact, None, tools.blobs, made_at=tools.clock())
    tools.ledger.record(key, made)
    log.info(
        "base artifact stored",
        extra={
            "action": "make_base",
            "base_model": base.base_model,
            "profile": profile,
            "digest": made.digest,
            "size_bytes": made.size_bytes,
        },
    )
    return artifact, made


async def _announce(job: Job, profile: str, made: Made, tools: Tools) -> None:
    await tools.announcements.ready(
        Published(job=job, profile=profile, made=made, recipe_version=RECIPE_VERSION)
    )
    log.info(
        "artifact published",
        extra={
            "action": "publish_artifact",
            "tenant": job.tenant,
            "checkpoint_id": job.checkpoint_id,
            "profile": profile,
            "digest": made.digest,
            "size_bytes": made.size_bytes,
        },
    )


async def _give_up(job: Job, profiles: Sequence[str], reason: str, tools: Tools) -> None:
    for profile in profiles:
        await tools.announcements.failed(
            Failed(
                job=job,
                profile=profile,
                reason=reason,
                failed_at=tools.clock(),
                recipe_version=RECIPE_VERSION,
            )
        )
        log.warning(
            "checkpoint cannot be quantized: %s",
            reason,
            extra={
                "action": "fail_artifact",
                "tenant": job.tenant,
                "checkpoint_id": job.checkpoint_id,
                "profile": profile,
            },
        )


def adapter_file(source: Path) -> Path:
    """Return the adapter itself, where the source may be a folder with one.

    Raises:
        InvalidInput: the folder has several.
        CorruptFile: the folder has none.
    """
    return only_file(source) if source.is_dir() else source


def _key(job: Job, profile: str, base: BaseModel, tools: Tools) -> str:
    """Name the artifact by everything that its bytes depend on."""
    protected = PROFILES[profile].protected
    return key_of(
        kind="checkpoint",
        source=job.source_sha256,
        formats=FORMATS_VERSION,
        triggers=job.triggers,
        noun=job.noun if Protected.parse(protected).uses_noun else "",
        profile=profile,
        protected=protected,
        base=base.fingerprint,
        recipe=RECIPE_VERSION,
        calibration=tools.workshop.calibration,
    )
