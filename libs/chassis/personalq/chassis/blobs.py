"""The blob store: immutable bytes under the sha256 of their content.

    open_blob_store("file:///var/lib/personalq/blobs", None)       a folder or a shared volume
    open_blob_store("s3://bucket/prefix", None)                    S3, MinIO, … through fsspec
    open_blob_store("nats://personalq-artifacts", bus)             JetStream object store

Because a name says what the bytes must be, nothing is ever overwritten, readers need no locks,
and every read is checked.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote, urlsplit

from personalq.chassis.errors import InvalidInput

if TYPE_CHECKING:
    from personalq.chassis.events import Bus


class BlobStore(Protocol):
    """Blobs named by their sha256 (64 lower-case hexadecimal digits; else InvalidInput).

    Every method raises Unavailable when the store itself is out of reach.
    """

    async def put(self, path: Path, *, sha256: str) -> None:
        """Store the file `path` under `sha256`.

        Idempotent: a name that is there already (with the file's size) is left as it is. Bytes
        with another digest raise CorruptFile and nothing is stored; a missing `path` NotFound.
        """

    async def fetch(self, sha256: str, destination: Path) -> None:
        """Write the blob to `destination`, which appears complete and verified or not at all.

        NotFound when there is no such blob, CorruptFile when the stored bytes are damaged.
        """

    async def exists(self, sha256: str) -> bool:
        """Whether the blob is there (its bytes are checked by `fetch`, not here)."""


@asynccontextmanager
async def open_blob_store(url: str, bus: Bus | None) -> AsyncIterator[BlobStore]:
    """The store behind `url`; InvalidInput when the URL is none of the forms above."""
    parts = urlsplit(url)
    if parts.scheme == "file":
        if parts.netloc not in ("", "localhost") or not parts.path.startswith("/"):
            raise InvalidInput(
                f"{url!r} names no local folder: write file:///absolute/path", field="blob_store"
            )
        from personalq.chassis.blobs_local import LocalBlobStore

        yield LocalBlobStore(Path(unquote(parts.path)))
    elif parts.scheme == "nats":
        if bus is None or not parts.netloc or parts.path not in ("", "/"):
            raise InvalidInput(
                f"{url!r} needs an open bus and names one bucket: write nats://personalq-artifacts",
                field="blob_store",
            )
        from personalq.chassis.blobs_nats import NatsBlobStore

        yield NatsBlobStore(bus.jetstream, bucket=parts.netloc)
    elif parts.scheme in ("s3", "gs", "gcs") and parts.netloc:
        from personalq.chassis.blobs_fsspec import FsspecBlobStore

        yield FsspecBlobStore(url)
    else:
        raise InvalidInput(
            f"{url!r} is no blob store: write file:///folder, s3://bucket/prefix or nats://bucket",
            field="blob_store",
        )
