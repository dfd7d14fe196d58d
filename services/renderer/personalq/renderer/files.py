"""Artifacts on this pod's disk, fetched from the blob store by digest.

A folder named by the digest is complete, since it is renamed into place last. What is read from
the store is compared with its name on the way; a folder that was damaged here afterwards is found
by whoever reads it and given back with `forget`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shutil
import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from personalq.chassis.blobs import BlobStore
from personalq.chassis.errors import CorruptFile, InvalidInput, NotFound, Unavailable

log = logging.getLogger(__name__)

MANIFEST = "manifest.json"
PARTIAL = ".partial-"


class ArtifactFiles:
    """A bounded disk cache of artifact folders."""

    def __init__(self, directory: Path, blobs: BlobStore, *, bytes_max: int) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        for leftover in directory.glob(f"{PARTIAL}*"):
            shutil.rmtree(leftover, ignore_errors=True)
        self._directory = directory
        self._blobs = blobs
        self._bytes_max = bytes_max
        self._fetching: dict[str, asyncio.Task[Path]] = {}
        self._in_use: dict[str, int] = {}

    @asynccontextmanager
    async def use(self, digest: str) -> AsyncIterator[Path]:
        """Keep an artifact's folder on disk while the block runs.

        Raises:
            Unavailable: the blob store is out of reach, lacks the artifact or has it damaged, or
                this disk takes no more.
        """
        self._in_use[digest] = self._in_use.get(digest, 0) + 1
        try:
            yield await self._fetch_once(digest)
        finally:
            self._in_use[digest] -= 1
            if not self._in_use[digest]:
                del self._in_use[digest]

    def forget(self, digest: str) -> None:
        """Remove a folder that turned out to be damaged."""
        shutil.rmtree(self._directory / digest, ignore_errors=True)

    async def _fetch_once(self, digest: str) -> Path:
        folder = self._directory / digest
        if folder.is_dir():
            os.utime(folder)
            return folder
        task = self._fetching.get(digest)
        if task is None:
            task = asyncio.create_task(self._fetch(digest, folder))
            self._fetching[digest] = task
            task.add_done_callback(self._fetched(digest))
        return await asyncio.shield(task)

    def _fetched(self, digest: str) -> Callable[[asyncio.Task[Path]], None]:
        def note(task: asyncio.Task[Path]) -> None:
            self._fetching.pop(digest, None)
            if not task.cancelled():
                task.exception()  # seen, also when nobody waits any more

        return note

    async def _fetch(self, digest: str, folder: Path) -> Path:
        started = time.monotonic()
        partial = self._directory / f"{PARTIAL}{uuid.uuid4().hex}"
        try:
            partial.mkdir()
            await self._blobs.fetch(digest, partial / MANIFEST)
            for name, sha256 in _files(partial / MANIFEST):
                await self._blobs.fetch(sha256, partial / name)
            partial.replace(folder)
        except NotFound as error:
            raise Unavailable(
                f"artifact {digest} is not whole in the blob store; it has to be quantized again"
            ) from error
        except InvalidInput as error:  # CorruptFile is one
            raise Unavailable(
                f"artifact {digest} is damaged in the blob store: {error}; it has to be quantized "
                "again"
            ) from error
        except OSError as error:
            raise Unavailable(
                f"artifact {digest} cannot be written to this renderer's disk: {error.strerror}"
            ) from error
        finally:
            shutil.rmtree(partial, ignore_errors=True)
        log.info(
            "artifact fetched",
            extra={
                "action": "fetch_artifact",
                "digest": digest,
                "seconds": round(time.monotonic() - started, 3),
            },
        )
        self._shrink(keep=digest)
        return folder

    def _shrink(self, *, keep: str) -> None:
        """Remove the least recently used folders until the rest is within the budget."""
        folders = sorted(
            (p for p in self._directory.iterdir() if p.is_dir() and p.name[0] != "."),
            key=lambda path: path.stat().st_mtime,
        )
        sizes = {path: sum(f.stat().st_size for f in path.iterdir()) for path in folders}
        excess = sum(sizes.values()) - self._bytes_max
        for path in folders:
            if excess <= 0:
                return
            if path.name != keep and path.name not in self._in_use:
                shutil.rmtree(path, ignore_errors=True)
                excess -= sizes[path]


def _files(manifest: Path) -> list[tuple[str, str]]:
    """Return (name, sha256) of each file of an artifact.

    Raises:
        CorruptFile: the blob is no manifest, or names files outside its folder.
    """
    try:
        entries = [
            (str(f["name"]), str(f["sha256"])) for f in json.loads(manifest.read_bytes())["files"]
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise CorruptFile("it is not a manifest") from error
    for name, _ in entries:
        if name != Path(name).name or name in ("", MANIFEST) or name.startswith("."):
            raise CorruptFile(f"it names a file {name!r}")
    return entries
