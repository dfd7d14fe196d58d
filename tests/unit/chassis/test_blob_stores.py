"""What each blob store does beyond the contract they share."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.s3_server import s3_server

from personalq.chassis.blobs import open_blob_store
from personalq.chassis.blobs_fsspec import FsspecBlobStore
from personalq.chassis.blobs_local import STALE_PARTIAL_S, LocalBlobStore
from personalq.chassis.errors import InvalidInput, NotFound, Unavailable

NAME = hashlib.sha256(b"bear").hexdigest()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A file to store."""
    path = tmp_path / "source"
    path.write_bytes(b"bear")
    return path


@pytest.fixture
def s3_options() -> Mapping[str, Any]:
    """Storage options of a running S3 server with a bucket `blobs`."""
    return s3_server("blobs")


async def test_local_blobs_lie_two_folders_deep(tmp_path: Path, source: Path) -> None:
    """The layout is documented, and other users of a shared volume can read the blobs."""
    await LocalBlobStore(tmp_path / "blobs").put(source, sha256=NAME)
    blob = tmp_path / "blobs" / NAME[:2] / NAME[2:4] / NAME
    assert blob.read_bytes() == b"bear"
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(blob.stat().st_mode) == 0o666 & ~mask


async def test_leftovers_of_killed_writers_are_removed(tmp_path: Path, source: Path) -> None:
    """A day-old partial file goes away with the next put, a fresh one may still be written."""
    incoming = tmp_path / "blobs" / ".incoming"
    incoming.mkdir(parents=True)
    (incoming / ".a.old.partial").write_bytes(b"x")
    (incoming / ".a.new.partial").write_bytes(b"x")
    long_ago = (incoming / ".a.new.partial").stat().st_mtime - STALE_PARTIAL_S - 1
    os.utime(incoming / ".a.old.partial", (long_ago, long_ago))

    await LocalBlobStore(tmp_path / "blobs").put(source, sha256=NAME)

    assert [path.name for path in incoming.iterdir()] == [".a.new.partial"]


async def test_a_folder_that_is_none_is_unavailable(tmp_path: Path, source: Path) -> None:
    """A file where the folder should be is no programming error of the caller."""
    store = LocalBlobStore(source / "blobs")
    with pytest.raises(Unavailable, match="cannot be used"):
        await store.put(source, sha256=NAME)
    with pytest.raises(NotFound):
        await store.fetch(NAME, tmp_path / "copy")


async def test_a_missing_bucket_is_unavailable(
    source: Path, tmp_path: Path, s3_options: Mapping[str, Any]
) -> None:
    """A bucket is created by an operator, not by a put."""
    store = FsspecBlobStore("s3://absent/blobs", s3_options)
    with pytest.raises(Unavailable, match="create it"):
        await store.put(source, sha256=NAME)
    with pytest.raises(NotFound):
        await store.fetch(NAME, tmp_path / "copy")


async def test_a_server_out_of_reach_is_unavailable(
    source: Path, tmp_path: Path, s3_options: Mapping[str, Any]
) -> None:
    """No connection: every verb says so, in an error that may be retried."""
    options = {**s3_options, "endpoint_url": "http://127.0.0.1:9"}
    store = FsspecBlobStore("s3://blobs/x", options)
    for call in (
        store.put(source, sha256=NAME),
        store.fetch(NAME, tmp_path / "copy"),
        store.exists(NAME),
    ):
        with pytest.raises(Unavailable, match="out of reach"):
            await call
    assert not (tmp_path / "copy").exists()


async def test_s3_is_opened_by_its_url(
    source: Path,
    tmp_path: Path,
    s3_options: Mapping[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Endpoint and credentials come from the environment of every S3 client."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", str(s3_options["endpoint_url"]))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    async with open_blob_store("s3://blobs/by-url/", None) as store:
        await store.put(source, sha256=NAME)
        await store.fetch(NAME, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == b"bear"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "blobs",
        "/var/lib/blobs",
        "file://host/blobs",
        "file:blobs",
        "nats://personalq-artifacts",
        "nats://",
        "s3://",
        "nosuch://bucket/prefix",
        "memory://bucket/prefix",
        "gs://bucket/prefix",
    ],
)
async def test_a_url_that_is_no_store_is_refused(url: str) -> None:
    """A wrong setting is said at start, with the right form or the missing library."""
    with pytest.raises(InvalidInput):
        async with open_blob_store(url, None):
            pass
