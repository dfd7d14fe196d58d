"""Blobs in a JetStream object store, written and read without nats-py's own `get` and `put`.

The layout is the standard one (ADR-20: chunks under `$O.<bucket>.C.<nuid>`, one meta message under
`$O.<bucket>.M.<base64 name>`), so the `nats object` command and other clients read the same
objects. Our own reader and writer, because in nats-py 2.16:

- `get` is quadratic in the size, polls its flow control (57 MB/s), and hangs for ever when the
  object is deleted meanwhile (nats-io/nats.py#703). Here: an ephemeral pull consumer, batches of
  4 MiB, hashing and writing in a thread one batch behind the network.
- `put` overwrites and purges the old chunks under their readers. Here: the meta message carries
  the expected last sequence of its subject, so of two writers of one name the first wins.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import io
import json
import secrets
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import nats.errors
import nats.js.errors
from nats.js import JetStreamContext, api

from personalq.chassis.errors import CorruptFile, NotFound, PersonalQError, Unavailable
from personalq.chassis.verified_files import (
    VerifiedWrite,
    digest_mismatch,
    require_digest,
    run_blocking,
    verify_file,
)

CHUNK_BYTES = 512 * 1024  # one message; the server's default limit is 1 MiB
BATCH_BYTES = 4 * 1024 * 1024  # measured: larger batches stall the event loop
PUBLISH_TIMEOUT_S = 30.0
IDLE_TIMEOUT_S = 10.0  # without a chunk for this long the object is gone or the server is

_NO_SUCH_MESSAGE = 10037
_WRONG_LAST_SEQUENCE = (10071, 10164)


@dataclass(frozen=True, kw_only=True)
class StoredObject:
    """What a meta message says."""

    nuid: str
    size: int
    chunks: int


class NatsBlobStore:
    """BlobStore over the object store `bucket`, which `bootstrap` creates.

    Args:
        jetstream: context of an open connection.
        bucket: name of the object store.
        idle_timeout_s: a read that gets nothing for this long ends with Unavailable.
    """

    def __init__(
        self, jetstream: JetStreamContext, *, bucket: str, idle_timeout_s: float = IDLE_TIMEOUT_S
    ) -> None:
        self._jetstream = jetstream
        self._bucket = bucket
        self._stream = f"OBJ_{bucket}"
        self._idle_timeout_s = idle_timeout_s

    async def put(self, path: Path, *, sha256: str) -> None:
        """Verify `path`, publish its chunks, then the meta message that makes it visible."""
        require_digest(sha256)
        if not await asyncio.to_thread(path.is_file):
            raise NotFound(f"{path.name} cannot be stored: there is no such file")
        with self._nats_errors():
            found, sequence = await self._find(sha256)
            if found is not None:
                size = (await asyncio.to_thread(path.stat)).st_size
                if found.size == size and await self._count_chunks(found.nuid) == found.chunks:
                    return
            # A first pass over the file, so that wrong bytes never reach the server.
            await run_blocking(lambda stop: verify_file(path, sha256=sha256, stop=stop))
            await self._store(path, sha256, replaces=found, expected_sequence=sequence)

    async def fetch(self, sha256: str, destination: Path) -> None:
        """Read the chunks through a pull consumer of its own, which is always deleted."""
        require_digest(sha256)
        with self._nats_errors():
            found, _ = await self._find(sha256)
            if found is None:
                raise NotFound(f"blob {sha256} is not in the store")
            what = f"blob {sha256}"
            with VerifiedWrite(
                destination, what=what, sha256=sha256, size_bytes=found.size
            ) as target:
                if found.chunks:
                    await self._read_chunks(found, what, target)
                await run_blocking(lambda stop: target.commit())

    async def exists(self, sha256: str) -> bool:
        """Whether there is a meta message of this name."""
        require_digest(sha256)
        with self._nats_errors():
            found, _ = await self._find(sha256)
            return found is not None

    # ---- meta messages -------------------------------------------------------------------------

    def _meta_subject(self, name: str) -> str:
        return f"$O.{self._bucket}.M.{base64.urlsafe_b64encode(name.encode()).decode()}"

    def _chunk_subject(self, nuid: str) -> str:
        return f"$O.{self._bucket}.C.{nuid}"

    async def _find(self, name: str) -> tuple[StoredObject | None, int]:
        """The object of this name and its meta message's sequence.

        None when it never was (sequence 0) or was deleted (sequence of the mark).
        """
        meta = await self._last_meta(name)
        if meta is None:
            return None, 0
        sequence = int(meta.seq or 0)
        try:
            info = json.loads(meta.data or b"")
            if info.get("deleted"):
                return None, sequence
            found = StoredObject(
                nuid=str(info["nuid"]),
                size=int(info.get("size", 0)),
                chunks=int(info.get("chunks", 0)),
            )
            return found, sequence
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise CorruptFile(f"the object store's record of blob {name} is unreadable") from error

    async def _last_meta(self, name: str) -> api.RawStreamMsg | None:
        try:
            return await self._jetstream.get_last_msg(self._stream, self._meta_subject(name))
        except nats.js.errors.NotFoundError as error:
            if error.err_code == _NO_SUCH_MESSAGE:
                return None
            raise

    async def _count_chunks(self, nuid: str) -> int:
        """How many chunk messages the server really holds under `nuid`."""
        subject = self._chunk_subject(nuid)
        info = await self._jetstream.stream_info(self._stream, subjects_filter=subject)
        return int((info.state.subjects or {}).get(subject, 0))

    # ---- writing -------------------------------------------------------------------------------

    async def _store(
        self, path: Path, name: str, *, replaces: StoredObject | None, expected_sequence: int
    ) -> None:
        nuid = secrets.token_hex(11)
        try:
            size, chunks = await self._publish_chunks(path, name, nuid)
        except BaseException:
            await asyncio.shield(self._purge(nuid))
            raise
        try:
            await self._publish_meta(name, nuid, size, chunks, expected_sequence)
        except BaseException as error:
            # The server may have stored the message although its answer did not arrive.
            await asyncio.shield(self._purge_unless_visible(name, nuid))
            if getattr(error, "err_code", None) not in _WRONG_LAST_SEQUENCE:
                raise
            return  # another writer of the same bytes was faster: theirs stays, ours went
        if replaces is not None:
            await self._purge(replaces.nuid)

    async def _publish_chunks(self, path: Path, name: str, nuid: str) -> tuple[int, int]:
        """(bytes, chunks) published: one batch is in flight while the next is read."""
        subject = self._chunk_subject(nuid)
        digest = hashlib.sha256()
        size = chunks = 0

        def read_batch(source: io.BufferedReader) -> Sequence[bytes]:
            block = source.read(BATCH_BYTES)
            digest.update(block)
            return [block[i : i + CHUNK_BYTES] for i in range(0, len(block), CHUNK_BYTES)]

        with path.open("rb") as source:
            batch = await run_blocking(lambda stop: read_batch(source))
            while batch:
                # Chunks must stand in the stream in order: publishing keeps the order of the
                # calls, only the acknowledgements are awaited together.
                acks = [
                    asyncio.ensure_future(
                        self._jetstream.publish(subject, chunk, timeout=PUBLISH_TIMEOUT_S)
                    )
                    for chunk in batch
                ]
                size += sum(map(len, batch))
                chunks += len(batch)
                try:
                    batch = await run_blocking(lambda stop: read_batch(source))
                finally:
                    results = await asyncio.gather(*acks, return_exceptions=True)
                for result in results:
                    if isinstance(result, BaseException):
                        raise result
        if digest.hexdigest() != name:
            raise CorruptFile(digest_mismatch(path.name, found=digest.hexdigest(), expected=name))
        return size, chunks

    async def _publish_meta(
        self, name: str, nuid: str, size: int, chunks: int, expected_sequence: int
    ) -> None:
        digest = base64.urlsafe_b64encode(bytes.fromhex(name)).decode()
        info = {
            "name": name,
            "bucket": self._bucket,
            "nuid": nuid,
            "size": size,
            "chunks": chunks,
            "digest": f"SHA-256={digest}",
            "mtime": datetime.now(UTC).isoformat(),
            "options": {"max_chunk_size": CHUNK_BYTES},
        }
        await self._jetstream.publish(
            self._meta_subject(name),
            json.dumps(info).encode(),
            timeout=PUBLISH_TIMEOUT_S,
            headers={
                api.Header.ROLLUP: "sub",
                api.Header.EXPECTED_LAST_SUBJECT_SEQUENCE: str(expected_sequence),
            },
        )

    async def _purge(self, nuid: str) -> None:
        """Remove chunks that no meta message names (any more)."""
        with suppress(Exception):  # garbage in the bucket is no reason to fail
            await self._jetstream.purge_stream(self._stream, subject=self._chunk_subject(nuid))

    async def _purge_unless_visible(self, name: str, nuid: str) -> None:
        with suppress(Exception):  # in doubt, garbage is better than a hole
            found, _ = await self._find(name)
            if found is None or found.nuid != nuid:
                await self._purge(nuid)

    # ---- reading -------------------------------------------------------------------------------

    async def _read_chunks(self, found: StoredObject, what: str, target: VerifiedWrite) -> None:
        """Stream the chunks of `found` into `target`, writing one batch behind the network."""
        batch = max(1, BATCH_BYTES * found.chunks // max(found.size, 1))
        received = 0
        writing: asyncio.Future[None] | None = None
        async with self._chunk_consumer(found, what) as subscription:
            try:
                while received < found.chunks:
                    wanted = min(batch, found.chunks - received)
                    messages = await subscription.fetch(wanted, timeout=self._idle_timeout_s)
                    if not messages:
                        raise Unavailable(f"{what} stopped arriving: try again")
                    received += len(messages)
                    if writing is not None:
                        await writing
                    block = b"".join(message.data for message in messages)
                    writing = asyncio.ensure_future(asyncio.to_thread(target.write, block))
                if writing is not None:
                    await writing
            finally:
                if writing is not None and not writing.done():
                    await asyncio.wait({writing})

    @asynccontextmanager
    async def _chunk_consumer(
        self, found: StoredObject, what: str
    ) -> AsyncIterator[JetStreamContext.PullSubscription]:
        name = f"blob-{secrets.token_hex(8)}"
        config = api.ConsumerConfig(
            name=name,
            filter_subject=self._chunk_subject(found.nuid),
            deliver_policy=api.DeliverPolicy.ALL,
            ack_policy=api.AckPolicy.NONE,
            mem_storage=True,
            num_replicas=1,
            inactive_threshold=3 * self._idle_timeout_s,
        )
        try:
            consumer = await self._jetstream.add_consumer(self._stream, config)
            if consumer.num_pending != found.chunks:
                raise CorruptFile(
                    f"{what} is damaged in the store: {consumer.num_pending} of "
                    f"{found.chunks} chunks are there; store it again"
                )
            subscription = await self._jetstream.pull_subscribe_bind(name, stream=self._stream)
            try:
                yield subscription
            finally:
                with suppress(Exception):
                    await subscription.unsubscribe()
        finally:
            with suppress(Exception):  # it also expires by itself
                await asyncio.shield(self._jetstream.delete_consumer(self._stream, name))

    # ---- errors --------------------------------------------------------------------------------

    @contextmanager
    def _nats_errors(self) -> Iterator[None]:
        try:
            yield
        except PersonalQError:
            raise
        except nats.js.errors.NotFoundError as error:
            raise Unavailable(
                f"the object store {self._bucket!r} does not exist: create it with "
                "`python -m personalq.chassis bootstrap`"
            ) from error
        except nats.js.errors.APIError as error:
            raise Unavailable(
                f"the object store {self._bucket!r} refused: {error.description}"
            ) from error
        except (nats.errors.Error, TimeoutError) as error:
            raise Unavailable(
                f"the object store {self._bucket!r} does not answer: try again"
            ) from error
        except OSError as error:
            raise Unavailable(f"the local disk cannot be used: {error.strerror}") from error
