"""The contract of `BlobStore`, held by every adapter against the real thing behind it."""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fsspec
import pytest
from support.polling import eventually
from support.s3_server import s3_server

from personalq.chassis import verified_files
from personalq.chassis.blobs import BlobStore, open_blob_store
from personalq.chassis.blobs_fsspec import FsspecBlobStore
from personalq.chassis.blobs_local import LocalBlobStore
from personalq.chassis.blobs_nats import NatsBlobStore
from personalq.chassis.errors import CorruptFile, InvalidInput, NotFound
from personalq.chassis.events import open_bus

BUCKET = "personalq-artifacts"
MIB = 1024 * 1024
LARGE = 20 * MIB
PIECES = 200_000
ABSENT = hashlib.sha256(b"never stored").hexdigest()


@dataclass(frozen=True, kw_only=True)
class Backend:
    """A store, and a way to change what it holds behind its back."""

    store: BlobStore
    replace: Callable[[str, bytes], Awaitable[None]]


def written(path: Path, data: bytes) -> tuple[Path, str]:
    """`data` in a file, with its digest."""
    path.write_bytes(data)
    return path, hashlib.sha256(data).hexdigest()


class BlobStoreContract:
    """What every BlobStore does; subclasses say with which adapter (fixture `backend`)."""

    @pytest.mark.parametrize("size", [0, 1, 3 * MIB + 17, LARGE])
    async def test_fetch_returns_the_bytes_that_were_put(
        self, backend: Backend, tmp_path: Path, size: int
    ) -> None:
        """Put, then fetch, gives the same bytes, whatever their number."""
        data = os.urandom(size)
        path, sha256 = written(tmp_path / "source", data)

        await backend.store.put(path, sha256=sha256)
        await backend.store.fetch(sha256, tmp_path / "out" / "copy")

        assert (tmp_path / "out" / "copy").read_bytes() == data
        assert [file.name for file in (tmp_path / "out").iterdir()] == ["copy"]
        assert await backend.store.exists(sha256)

    async def test_put_is_idempotent(self, backend: Backend, tmp_path: Path) -> None:
        """The second put of the same bytes changes nothing."""
        path, sha256 = written(tmp_path / "source", b"bear")

        await backend.store.put(path, sha256=sha256)
        await backend.store.put(path, sha256=sha256)

        await backend.store.fetch(sha256, tmp_path / "copy")
        assert (tmp_path / "copy").read_bytes() == b"bear"

    async def test_put_refuses_bytes_with_another_digest(
        self, backend: Backend, tmp_path: Path
    ) -> None:
        """Bytes that are not what the name says are refused and nothing is stored."""
        path, found = written(tmp_path / "source", b"not what was announced")

        with pytest.raises(CorruptFile, match=f"{found}.*{ABSENT}"):
            await backend.store.put(path, sha256=ABSENT)

        assert not await backend.store.exists(ABSENT)
        with pytest.raises(NotFound):
            await backend.store.fetch(ABSENT, tmp_path / "copy")

    async def test_put_of_a_missing_file_is_not_found(
        self, backend: Backend, tmp_path: Path
    ) -> None:
        """A path without a file is said to be missing."""
        with pytest.raises(NotFound, match="no such file"):
            await backend.store.put(tmp_path / "nothing", sha256=ABSENT)

    async def test_fetch_of_an_unknown_blob_is_not_found(
        self, backend: Backend, tmp_path: Path
    ) -> None:
        """What was never stored is not found, and no file appears."""
        with pytest.raises(NotFound, match=ABSENT):
            await backend.store.fetch(ABSENT, tmp_path / "out" / "copy")

        assert not await backend.store.exists(ABSENT)
        assert not (tmp_path / "out" / "copy").exists()

    @pytest.mark.parametrize("name", ["", "abc", "../../etc/passwd", ABSENT.upper(), ABSENT + "0"])
    async def test_a_name_that_is_no_digest_is_refused(
        self, backend: Backend, tmp_path: Path, name: str
    ) -> None:
        """Only 64 lower-case hexadecimal digits are a name."""
        path, _ = written(tmp_path / "source", b"bear")
        with pytest.raises(InvalidInput, match="sha256"):
            await backend.store.put(path, sha256=name)
        with pytest.raises(InvalidInput, match="sha256"):
            await backend.store.fetch(name, tmp_path / "copy")
        with pytest.raises(InvalidInput, match="sha256"):
            await backend.store.exists(name)

    @pytest.mark.parametrize(
        "damaged", [b"beaR" * PIECES, b"bear" * (PIECES - 1), b"bear" * PIECES + b"!", b""]
    )
    async def test_damaged_bytes_never_reach_the_destination(
        self, backend: Backend, tmp_path: Path, damaged: bytes
    ) -> None:
        """Changed, shortened or lengthened bytes are reported; what lay there stays untouched."""
        path, sha256 = written(tmp_path / "source", b"bear" * PIECES)
        await backend.store.put(path, sha256=sha256)
        await backend.replace(sha256, damaged)
        out = tmp_path / "out"
        out.mkdir()
        (out / "copy").write_bytes(b"an older file")

        with pytest.raises(CorruptFile, match=sha256):
            await backend.store.fetch(sha256, out / "copy")

        assert [(file.name, file.read_bytes()) for file in out.iterdir()] == [
            ("copy", b"an older file")
        ]

    async def test_put_repairs_a_truncated_blob(self, backend: Backend, tmp_path: Path) -> None:
        """A stored blob of the wrong size does not count as stored."""
        path, sha256 = written(tmp_path / "source", b"bear" * 1000)
        await backend.store.put(path, sha256=sha256)
        await backend.replace(sha256, b"bear")

        await backend.store.put(path, sha256=sha256)

        await backend.store.fetch(sha256, tmp_path / "copy")
        assert (tmp_path / "copy").read_bytes() == b"bear" * 1000

    async def test_an_interrupted_fetch_leaves_no_partial_file(
        self, backend: Backend, tmp_path: Path
    ) -> None:
        """After a cancellation there is the whole file or nothing."""
        path, sha256 = written(tmp_path / "source", os.urandom(LARGE))
        await backend.store.put(path, sha256=sha256)
        out = tmp_path / "out"
        out.mkdir()
        fetching = asyncio.ensure_future(backend.store.fetch(sha256, out / "copy"))

        async def something_arrived() -> bool:
            return any(out.iterdir())

        await eventually(something_arrived, every_s=0.001)
        fetching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await fetching
            raise asyncio.CancelledError  # it was faster than the cancellation

        names = [file.name for file in out.iterdir()]
        assert names in ([], ["copy"])
        if names:
            assert (out / "copy").read_bytes() == path.read_bytes()

    async def test_many_fetch_at_once(self, backend: Backend, tmp_path: Path) -> None:
        """Readers of one blob and of another, some to the same destination, do not disturb."""
        blobs = {}
        for size in (MIB, 5 * MIB):
            path, sha256 = written(tmp_path / str(size), os.urandom(size))
            await backend.store.put(path, sha256=sha256)
            blobs[sha256] = path.read_bytes()

        await asyncio.gather(
            *(
                backend.store.fetch(sha256, tmp_path / "out" / f"{sha256}-{reader % 2}")
                for sha256 in blobs
                for reader in range(4)
            )
        )

        for sha256, data in blobs.items():
            for reader in range(2):
                assert (tmp_path / "out" / f"{sha256}-{reader}").read_bytes() == data
        assert len(list((tmp_path / "out").iterdir())) == 4

    async def test_many_put_the_same_blob_at_once(self, backend: Backend, tmp_path: Path) -> None:
        """Several writers of one name all succeed and the blob is whole."""
        path, sha256 = written(tmp_path / "source", os.urandom(6 * MIB))

        await asyncio.gather(*(backend.store.put(path, sha256=sha256) for _ in range(4)))

        await backend.store.fetch(sha256, tmp_path / "copy")
        assert (tmp_path / "copy").read_bytes() == path.read_bytes()

    async def test_bytes_are_hashed_and_written_outside_the_event_loop(
        self, backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The thread of the event loop neither hashes nor writes, so other calls go on."""
        path, sha256 = written(tmp_path / "source", os.urandom(6 * MIB))
        threads: set[str] = set()
        write, commit = verified_files.VerifiedWrite.write, verified_files.VerifiedWrite.commit
        file_chunks = verified_files.file_chunks

        def noted(function: Callable[..., Any]) -> Callable[..., Any]:
            def call(*args: Any, **kwargs: Any) -> Any:
                threads.add(threading.current_thread().name)
                return function(*args, **kwargs)

            return call

        monkeypatch.setattr(verified_files.VerifiedWrite, "write", noted(write))
        monkeypatch.setattr(verified_files.VerifiedWrite, "commit", noted(commit))
        monkeypatch.setattr(verified_files, "file_chunks", noted(file_chunks))

        await backend.store.put(path, sha256=sha256)
        await backend.store.fetch(sha256, tmp_path / "copy")

        assert threads
        assert threading.current_thread().name not in threads


class TestLocalBlobStore(BlobStoreContract):
    """The contract on a folder."""

    @pytest.fixture
    async def backend(self, tmp_path: Path) -> AsyncIterator[Backend]:
        """A store in an empty folder."""
        store = LocalBlobStore(tmp_path / "blobs")

        async def replace(sha256: str, data: bytes) -> None:
            store.blob_path(sha256).write_bytes(data)

        async with open_blob_store((tmp_path / "blobs").as_uri(), None) as opened:
            yield Backend(store=opened, replace=replace)


class TestS3BlobStore(BlobStoreContract):
    """The contract on S3, through fsspec."""

    @pytest.fixture
    async def backend(self, tmp_path: Path) -> AsyncIterator[Backend]:
        """A store under a prefix of its own."""
        options = s3_server("contract")
        store = FsspecBlobStore(f"s3://contract/{tmp_path.name}", options)
        filesystem = fsspec.filesystem("s3", **options)

        async def replace(sha256: str, data: bytes) -> None:
            await asyncio.to_thread(filesystem.pipe_file, store.blob_path(sha256), data)

        yield Backend(store=store, replace=replace)


class TestNatsBlobStore(BlobStoreContract):
    """The contract on the JetStream object store."""

    @pytest.fixture
    async def backend(self, nats_url: str) -> AsyncIterator[Backend]:
        """The bucket that `bootstrap` creates."""
        async with (
            open_bus(nats_url, name="test-blobs") as bus,
            open_blob_store(f"nats://{BUCKET}", bus) as store,
        ):
            assert isinstance(store, NatsBlobStore)

            async def replace(sha256: str, data: bytes) -> None:
                objects = await bus.jetstream.object_store(BUCKET)
                await objects.put(sha256, data)

            yield Backend(store=store, replace=replace)
