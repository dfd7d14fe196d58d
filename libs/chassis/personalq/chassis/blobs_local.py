"""Blobs in a folder: a local disk, or a volume that several pods share.

- `<root>/ab/cd/abcd…`: the blob; two levels of folders keep each one small
- `<root>/.incoming/`: files being written; renamed into place when verified
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from personalq.chassis.errors import NotFound, Unavailable
from personalq.chassis.verified_files import (
    PARTIAL_SUFFIX,
    VerifiedWrite,
    copy_verified,
    require_digest,
    run_blocking,
)

STALE_PARTIAL_S = 24 * 3600.0  # a temporary file this old belongs to a writer that was killed


class LocalBlobStore:
    """BlobStore over a directory; created on first use."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._incoming = root / ".incoming"

    def blob_path(self, sha256: str) -> Path:
        """Where the blob of this name lies."""
        return self._root / sha256[:2] / sha256[2:4] / sha256

    async def put(self, path: Path, *, sha256: str) -> None:
        """Copy `path` into the store under a temporary name, verify it, rename it."""
        require_digest(sha256)
        await run_blocking(lambda stop: self._put(path, sha256, stop))

    async def fetch(self, sha256: str, destination: Path) -> None:
        """Copy the blob out, verifying it on the way."""
        require_digest(sha256)
        await run_blocking(lambda stop: self._fetch(sha256, destination, stop))

    async def exists(self, sha256: str) -> bool:
        """Whether the file is there."""
        require_digest(sha256)
        with self._disk_errors():
            return await asyncio.to_thread(self.blob_path(sha256).is_file)

    def _put(self, path: Path, sha256: str, stop: threading.Event) -> None:
        if not path.is_file():
            raise NotFound(f"{path.name} cannot be stored: there is no such file")
        with self._disk_errors():
            target = self.blob_path(sha256)
            with suppress(FileNotFoundError):
                # A blob of another size is a torn write of a dying disk: store it afresh.
                if target.stat().st_size == path.stat().st_size:
                    return
            self._sweep_incoming()
            staged = VerifiedWrite(target, what=path.name, sha256=sha256, staging=self._incoming)
            with staged:
                copy_verified(path, staged, stop)

    def _fetch(self, sha256: str, destination: Path, stop: threading.Event) -> None:
        blob = self.blob_path(sha256)
        if not blob.is_file():
            raise NotFound(f"blob {sha256} is not in the store")
        with (
            self._disk_errors(),
            VerifiedWrite(destination, what=f"blob {sha256}", sha256=sha256) as target,
        ):
            copy_verified(blob, target, stop)

    def _sweep_incoming(self) -> None:
        """Remove what writers that were killed left behind."""
        with suppress(OSError):
            for leftover in self._incoming.glob(f".*{PARTIAL_SUFFIX}"):
                if time.time() - leftover.stat().st_mtime > STALE_PARTIAL_S:
                    leftover.unlink(missing_ok=True)

    @contextmanager
    def _disk_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise Unavailable(
                f"the blob folder or the destination cannot be used: {error.strerror}"
            ) from error
