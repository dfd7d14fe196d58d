"""The streams, as code.

`python -m personalq.chassis bootstrap` creates or updates them (development, tests, a Job in
Kubernetes); at run time a service only verifies. Limits such as age, bytes and replicas belong to
whoever operates the cluster: they are set on creation and never compared.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

from nats.js import JetStreamContext
from nats.js.api import (
    DiscardPolicy,
    ObjectStoreConfig,
    RetentionPolicy,
    StorageType,
    StreamConfig,
)
from nats.js.errors import BucketNotFoundError, NotFoundError

from personalq.chassis.errors import NotReady
from personalq.chassis.subjects import ARTIFACTS, CHECKPOINTS, DEAD_LETTERS, DEAD_PREFIX, wildcards

log = logging.getLogger(__name__)

#: Object store bucket of the TAQ artifacts.
ARTIFACT_BUCKET = "personalq-artifacts"

_DAY_S = 86_400.0
_DUPLICATE_WINDOW_S = 120.0

STREAMS: tuple[StreamConfig, ...] = (
    StreamConfig(
        name=CHECKPOINTS,
        description="Checkpoints that landed, were registered, were archived.",
        subjects=wildcards(CHECKPOINTS),
        retention=RetentionPolicy.LIMITS,
        storage=StorageType.FILE,
        discard=DiscardPolicy.OLD,
        max_age=30 * _DAY_S,
        duplicate_window=_DUPLICATE_WINDOW_S,
    ),
    StreamConfig(
        name=ARTIFACTS,
        description="The latest word on each artifact: a late renderer reads it here.",
        subjects=wildcards(ARTIFACTS),
        retention=RetentionPolicy.LIMITS,
        storage=StorageType.FILE,
        discard=DiscardPolicy.OLD,
        max_msgs_per_subject=1,
        duplicate_window=_DUPLICATE_WINDOW_S,
    ),
    StreamConfig(
        name=DEAD_LETTERS,
        description="Messages nobody could handle, with the reason.",
        subjects=[f"{DEAD_PREFIX}.>"],
        retention=RetentionPolicy.LIMITS,
        storage=StorageType.FILE,
        discard=DiscardPolicy.OLD,
        max_age=30 * _DAY_S,
        duplicate_window=_DUPLICATE_WINDOW_S,
    ),
)

#: What must be as declared, or events get lost or stay unseen.
_COMPARED = ("subjects", "retention", "max_msgs_per_subject", "discard", "duplicate_window")


def remedy(url: str) -> str:
    """What to do when the streams are not as declared."""
    return f"run `python -m personalq.chassis bootstrap --nats-url {url}`"


async def bootstrap(jetstream: JetStreamContext, *, replicas: int | None = None) -> None:
    """Create the streams and the artifact bucket, or bring them up to date; safe to repeat.

    Without `replicas` a new stream gets one, and an existing one keeps what it has.
    """
    for declared in STREAMS:
        name = str(declared.name)
        try:
            present = (await jetstream.stream_info(name)).config
        except NotFoundError:
            await jetstream.add_stream(replace(declared, num_replicas=replicas or 1))
            log.info("stream created", extra={"action": "bootstrap", "stream": name})
            continue
        changed = {field: getattr(declared, field) for field in (*_COMPARED, "description")}
        if replicas:
            changed["num_replicas"] = replicas
        await jetstream.update_stream(replace(present, **changed))
        log.info("stream up to date", extra={"action": "bootstrap", "stream": name})
    try:
        await jetstream.object_store(ARTIFACT_BUCKET)
    except BucketNotFoundError:
        await jetstream.create_object_store(
            ARTIFACT_BUCKET,
            config=ObjectStoreConfig(
                description="TAQ artifacts, named by their SHA-256.",
                storage=StorageType.FILE,
                replicas=replicas or 1,
            ),
        )
        log.info("bucket created", extra={"action": "bootstrap", "bucket": ARTIFACT_BUCKET})


async def verify(jetstream: JetStreamContext, *, url: str) -> None:
    """Compare the streams with their declaration; raise NotReady that says what differs."""
    problems = []
    for declared in STREAMS:
        name = str(declared.name)
        try:
            present = (await jetstream.stream_info(name)).config
        except NotFoundError:
            problems.append(f"stream {name} is missing")
            continue
        problems += [
            f"stream {name} has {field} {_plain(found)}, expected {_plain(expected)}"
            for field in _COMPARED
            if (found := _comparable(present, field)) != (expected := _comparable(declared, field))
        ]
    try:
        await jetstream.object_store(ARTIFACT_BUCKET)
    except BucketNotFoundError:
        problems.append(f"object store bucket {ARTIFACT_BUCKET} is missing")
    if problems:
        raise NotReady(f"{'; '.join(problems)}: {remedy(url)}", state="NOT_BOOTSTRAPPED")


def _comparable(config: StreamConfig, field: str) -> Any:
    value = getattr(config, field)
    return sorted(value) if isinstance(value, list) else value


def _plain(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else str(getattr(value, "value", value))
