"""What only the JetStream object store can do wrong, on a real server."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from nats.js import JetStreamContext, api
from support.polling import eventually

from personalq.chassis import blobs_nats, verified_files
from personalq.chassis.blobs_nats import CHUNK_BYTES, NatsBlobStore
from personalq.chassis.errors import CorruptFile, NotFound, Unavailable
from personalq.chassis.events import open_bus
from personalq.chassis.verified_files import VerifiedWrite

BUCKET = "personalq-artifacts"
STREAM = f"OBJ_{BUCKET}"
DATA = os.urandom(3 * CHUNK_BYTES + 5)
NAME = hashlib.sha256(DATA).hexdigest()


@pytest.fixture
async def jetstream(nats_url: str) -> AsyncIterator[JetStreamContext]:
    """A connection of its own."""
    async with open_bus(nats_url, name="test-blobs") as bus:
        yield bus.jetstream


@pytest.fixture
def store(jetstream: JetStreamContext) -> NatsBlobStore:
    """The store, quick to give up."""
    return NatsBlobStore(jetstream, bucket=BUCKET, idle_timeout_s=0.5)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A file of four chunks."""
    path = tmp_path / "source"
    path.write_bytes(DATA)
    return path


async def chunk_count(jetstream: JetStreamContext) -> int:
    """How many chunks the bucket holds, of all objects together."""
    info = await jetstream.stream_info(STREAM, subjects_filter=f"$O.{BUCKET}.C.>")
    return sum((info.state.subjects or {}).values())


async def consumer_count(jetstream: JetStreamContext) -> int:
    """How many consumers read the bucket."""
    return int((await jetstream.stream_info(STREAM)).state.consumer_count)


async def test_the_stock_client_reads_what_we_write(
    store: NatsBlobStore, jetstream: JetStreamContext, source: Path
) -> None:
    """The layout is the standard one: nats-py and the `nats` command see the same object."""
    await store.put(source, sha256=NAME)
    objects = await jetstream.object_store(BUCKET)
    result = await objects.get(NAME)
    assert result.data == DATA
    assert [info.name for info in await objects.list()] == [NAME]


async def test_we_read_what_the_stock_client_writes(
    store: NatsBlobStore, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    """Chunks of another size are no obstacle."""
    objects = await jetstream.object_store(BUCKET)
    await objects.put(NAME, DATA)
    await store.fetch(NAME, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == DATA


async def test_no_consumer_is_left_behind(
    store: NatsBlobStore, jetstream: JetStreamContext, source: Path, tmp_path: Path
) -> None:
    """After a read, a failed read and a cancelled read nobody reads the bucket any more."""
    await store.put(source, sha256=NAME)
    await store.fetch(NAME, tmp_path / "copy")
    assert await consumer_count(jetstream) == 0

    reading = asyncio.ensure_future(store.fetch(NAME, tmp_path / "other"))

    async def began() -> bool:
        return reading.done() or await consumer_count(jetstream) > 0

    await eventually(began, every_s=0.001)
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)

    async def gone() -> bool:
        return await consumer_count(jetstream) == 0

    await eventually(gone)
    assert not list(tmp_path.glob(".*"))


async def test_a_lost_chunk_is_seen_at_once_and_repaired_by_a_put(
    store: NatsBlobStore, jetstream: JetStreamContext, source: Path, tmp_path: Path
) -> None:
    """A hole in the object is reported before anything is read; storing again closes it."""
    await store.put(source, sha256=NAME)
    await jetstream.delete_msg(STREAM, 2)

    with pytest.raises(CorruptFile, match="3 of 4 chunks are there; store it again"):
        await store.fetch(NAME, tmp_path / "copy")
    assert await consumer_count(jetstream) == 0
    assert not (tmp_path / "copy").exists()

    await store.put(source, sha256=NAME)
    await store.fetch(NAME, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == DATA
    assert await chunk_count(jetstream) == 4


async def test_an_object_deleted_while_it_is_read_ends_the_read(
    store: NatsBlobStore,
    jetstream: JetStreamContext,
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """nats-py's own reader would wait for ever."""
    await store.put(source, sha256=NAME)
    monkeypatch.setattr(blobs_nats, "BATCH_BYTES", CHUNK_BYTES)
    objects = await jetstream.object_store(BUCKET)
    loop = asyncio.get_running_loop()
    write = VerifiedWrite.write

    def delete_then_write(target: VerifiedWrite, chunk: bytes) -> None:
        if target.size == 0:
            asyncio.run_coroutine_threadsafe(objects.delete(NAME), loop).result(10)
        write(target, chunk)

    monkeypatch.setattr(VerifiedWrite, "write", delete_then_write)
    # One batch is under way while the first is written, so the second arrives; the rest is gone.
    with pytest.raises(Unavailable):
        await store.fetch(NAME, tmp_path / "out" / "copy")

    assert list((tmp_path / "out").iterdir()) == []
    assert await consumer_count(jetstream) == 0
    with pytest.raises(NotFound):
        await store.fetch(NAME, tmp_path / "copy")
    assert not await store.exists(NAME)


async def test_a_deleted_object_can_be_stored_again(
    store: NatsBlobStore, jetstream: JetStreamContext, source: Path, tmp_path: Path
) -> None:
    """The mark of the deletion does not stop the next writer."""
    await store.put(source, sha256=NAME)
    await (await jetstream.object_store(BUCKET)).delete(NAME)
    await store.put(source, sha256=NAME)
    await store.fetch(NAME, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == DATA


async def test_of_two_writers_one_stays(
    store: NatsBlobStore, jetstream: JetStreamContext, source: Path, tmp_path: Path
) -> None:
    """Both succeed, one set of chunks remains, and its readers are never disturbed."""
    await asyncio.gather(*(store.put(source, sha256=NAME) for _ in range(5)))
    assert await chunk_count(jetstream) == 4
    await store.fetch(NAME, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == DATA


async def test_a_refused_or_cancelled_put_leaves_no_chunk(
    store: NatsBlobStore,
    jetstream: JetStreamContext,
    source: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Wrong bytes never reach the server; an interrupted upload is swept."""
    with pytest.raises(CorruptFile):
        await store.put(source, sha256=hashlib.sha256(b"other").hexdigest())
    assert await chunk_count(jetstream) == 0

    stopped = asyncio.Event()

    async def stop_before_the_meta_message(*args: object) -> None:
        stopped.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(store, "_publish_meta", stop_before_the_meta_message)
    putting = asyncio.ensure_future(store.put(source, sha256=NAME))
    await stopped.wait()
    assert await chunk_count(jetstream) == 4
    putting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await putting
    assert await chunk_count(jetstream) == 0
    assert not await store.exists(NAME)


async def test_a_put_whose_last_answer_is_lost_keeps_its_chunks(
    store: NatsBlobStore,
    jetstream: JetStreamContext,
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The server has stored all, only the acknowledgement got lost: the blob must stay whole."""
    publish = store._publish_meta

    async def publish_then_lose_the_answer(*args: Any) -> None:
        await publish(*args)
        raise TimeoutError

    monkeypatch.setattr(store, "_publish_meta", publish_then_lose_the_answer)
    with pytest.raises(Unavailable):
        await store.put(source, sha256=NAME)

    await store.put(source, sha256=NAME)
    await store.fetch(NAME, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == DATA
    assert await chunk_count(jetstream) == 4


async def test_a_file_that_changes_while_it_is_stored_is_refused(
    store: NatsBlobStore,
    jetstream: JetStreamContext,
    source: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Checked before, changed during the upload: nothing becomes visible."""
    verify = verified_files.verify_file

    def verify_then_change(path: Path, **options: object) -> int:
        size = verify(path, **options)  # type: ignore[arg-type]
        path.write_bytes(DATA[:-1] + b"?")
        return size

    monkeypatch.setattr(blobs_nats, "verify_file", verify_then_change)
    with pytest.raises(CorruptFile):
        await store.put(source, sha256=NAME)
    assert await chunk_count(jetstream) == 0
    assert not await store.exists(NAME)


async def test_a_full_bucket_is_unavailable(
    nats_url: str, jetstream: JetStreamContext, source: Path
) -> None:
    """The server's refusal comes through in words and leaves nothing."""
    await jetstream.create_object_store("tiny", api.ObjectStoreConfig(max_bytes=2 * CHUNK_BYTES))
    store = NatsBlobStore(jetstream, bucket="tiny")
    with pytest.raises(Unavailable, match=r"'tiny' refused: maximum bytes"):
        await store.put(source, sha256=NAME)
    assert (await jetstream.stream_info("OBJ_tiny")).state.messages == 0


async def test_a_missing_bucket_names_the_remedy(
    jetstream: JetStreamContext, source: Path, tmp_path: Path
) -> None:
    """Before bootstrap every verb says which command is missing."""
    store = NatsBlobStore(jetstream, bucket="absent")
    for call in (
        store.put(source, sha256=NAME),
        store.fetch(NAME, tmp_path / "copy"),
        store.exists(NAME),
    ):
        with pytest.raises(Unavailable, match=r"personalq\.chassis bootstrap"):
            await call


async def test_a_closed_connection_is_unavailable(
    nats_url: str, source: Path, tmp_path: Path
) -> None:
    """A connection that is gone raises no error of nats-py."""
    async with open_bus(nats_url, name="test-closed") as bus:
        store = NatsBlobStore(bus.jetstream, bucket=BUCKET)
    for call in (
        store.put(source, sha256=NAME),
        store.fetch(NAME, tmp_path / "copy"),
        store.exists(NAME),
    ):
        with pytest.raises(Unavailable, match="does not answer"):
            await call


async def test_an_unreadable_record_is_damage(
    store: NatsBlobStore, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    """A meta message that is no record is reported, not guessed."""
    await jetstream.publish(store._meta_subject(NAME), b"[]")
    with pytest.raises(CorruptFile, match="unreadable"):
        await store.fetch(NAME, tmp_path / "copy")
