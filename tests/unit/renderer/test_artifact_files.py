"""Artifact folders on a pod's disk."""

from __future__ import annotations

import asyncio
import hashlib
import json
from pathlib import Path

import pytest

from personalq.chassis.blobs import BlobStore, open_blob_store
from personalq.chassis.errors import Unavailable
from personalq.renderer.files import ArtifactFiles


async def put(blobs: BlobStore, folder: Path, content: bytes) -> str:
    """Store bytes and return their digest."""
    digest = hashlib.sha256(content).hexdigest()
    folder.mkdir(exist_ok=True)
    (folder / digest).write_bytes(content)
    await blobs.put(folder / digest, sha256=digest)
    return digest


async def put_artifact(
    blobs: BlobStore, folder: Path, content: bytes, *, name: str = "unet.safetensors"
) -> tuple[str, str]:
    """Store an artifact of one file; return (artifact digest, file digest)."""
    file = await put(blobs, folder, content)
    manifest = json.dumps({"files": [{"name": name, "sha256": file}]}).encode()
    return await put(blobs, folder, manifest), file


async def test_an_artifact_is_fetched_once_and_whole(tmp_path: Path) -> None:
    """Two who need it at once wait for one fetch; the folder has manifest and files."""
    async with open_blob_store((tmp_path / "blobs").as_uri(), None) as blobs:
        digest, _ = await put_artifact(blobs, tmp_path / "in", b"weights")
        files = ArtifactFiles(tmp_path / "cache", blobs, bytes_max=1000)

        async def read() -> bytes:
            async with files.use(digest) as folder:
                return (folder / "unet.safetensors").read_bytes()

        first, second = await asyncio.gather(read(), read())
        assert first == second == b"weights"
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [digest]


async def test_a_missing_or_damaged_blob_leaves_nothing(tmp_path: Path) -> None:
    """The artifact is unavailable with the remedy, and no half folder stays."""
    async with open_blob_store((tmp_path / "blobs").as_uri(), None) as blobs:
        digest, file = await put_artifact(blobs, tmp_path / "in", b"weights")
        stored = next(p for p in (tmp_path / "blobs").rglob("*") if p.name.endswith(file))
        stored.chmod(0o644)
        stored.write_bytes(b"damaged")
        files = ArtifactFiles(tmp_path / "cache", blobs, bytes_max=1000)
        with pytest.raises(Unavailable, match="quantized again"):
            async with files.use(digest):
                pass
        stored.unlink()
        with pytest.raises(Unavailable, match="quantized again"):
            async with files.use(digest):
                pass
    assert list((tmp_path / "cache").iterdir()) == []


async def test_a_disk_that_takes_nothing_is_unavailable(tmp_path: Path) -> None:
    """What the disk refuses is told as an error of ours, worth another try."""
    async with open_blob_store((tmp_path / "blobs").as_uri(), None) as blobs:
        digest, _ = await put_artifact(blobs, tmp_path / "in", b"weights")
        files = ArtifactFiles(tmp_path / "cache", blobs, bytes_max=1000)
        (tmp_path / "cache").rmdir()
        with pytest.raises(Unavailable, match="disk"):
            async with files.use(digest):
                pass


@pytest.mark.parametrize("name", ["../evil", "/etc/passwd", "a/b", ".hidden", "manifest.json", ""])
async def test_a_manifest_cannot_name_files_elsewhere(tmp_path: Path, name: str) -> None:
    """Names that leave the folder are refused before anything is written there."""
    async with open_blob_store((tmp_path / "blobs").as_uri(), None) as blobs:
        digest, _ = await put_artifact(blobs, tmp_path / "in", b"x", name=name)
        files = ArtifactFiles(tmp_path / "cache", blobs, bytes_max=1000)
        with pytest.raises(Unavailable, match="names a file"):
            async with files.use(digest):
                pass


async def test_the_disk_budget_drops_what_is_not_in_use(tmp_path: Path) -> None:
    """Above the budget the least recently used folder goes, but never one in use."""
    async with open_blob_store((tmp_path / "blobs").as_uri(), None) as blobs:
        digests = [
            (await put_artifact(blobs, tmp_path / "in", bytes([n]) * 400))[0] for n in range(3)
        ]
        files = ArtifactFiles(tmp_path / "cache", blobs, bytes_max=1100)
        async with files.use(digests[0]) as first:
            for digest in digests[1:]:
                async with files.use(digest):
                    pass
            assert first.is_dir()
    assert {path.name for path in (tmp_path / "cache").iterdir()} == {digests[0], digests[2]}


async def test_a_file_of_others_in_the_cache_is_left_alone(tmp_path: Path) -> None:
    """It is no artifact: fetching goes on beside it."""
    async with open_blob_store((tmp_path / "blobs").as_uri(), None) as blobs:
        digest, _ = await put_artifact(blobs, tmp_path / "in", b"bear")
        files = ArtifactFiles(tmp_path / "cache", blobs, bytes_max=1)
        (tmp_path / "cache" / ".DS_Store").write_bytes(b"of another program")
        async with files.use(digest) as folder:
            assert folder.is_dir()
        assert (tmp_path / "cache" / ".DS_Store").is_file()


async def test_leftovers_of_a_killed_renderer_are_removed(tmp_path: Path) -> None:
    """A half-fetched folder does not survive the next start."""
    (tmp_path / "cache" / ".partial-1").mkdir(parents=True)
    async with open_blob_store((tmp_path / "blobs").as_uri(), None) as blobs:
        ArtifactFiles(tmp_path / "cache", blobs, bytes_max=1000)
    assert list((tmp_path / "cache").iterdir()) == []
