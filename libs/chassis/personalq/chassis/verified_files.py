"""Write bytes to a file that appears at its name only when they are the promised ones.

Everything that brings a blob or a checkpoint to this machine goes through `VerifiedWrite`: a
temporary file beside the destination, a running sha256, size and digest compared, fsync, rename.
Whatever goes wrong, the destination is untouched and the temporary file is gone.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from personalq.chassis.errors import CorruptFile, InvalidInput

T = TypeVar("T")

COPY_CHUNK_BYTES = 1024 * 1024
PARTIAL_SUFFIX = ".partial"
THREAD_STOP_S = 10.0  # how long a cancelled caller waits for its thread to see the cancellation

_DIGEST = re.compile(r"[0-9a-f]{64}")


class Interrupted(Exception):
    """The caller was cancelled while a thread worked for it."""


def require_digest(sha256: str, *, field: str = "sha256") -> str:
    """`sha256` itself; InvalidInput when it is not 64 lower-case hexadecimal digits."""
    if not _DIGEST.fullmatch(sha256):
        raise InvalidInput(
            f"{sha256[:80]!r} is no sha256: give 64 lower-case hexadecimal digits, "
            "as `sha256sum` prints them",
            field=field,
        )
    return sha256


def file_chunks(path: Path, stop: threading.Event | None = None) -> Iterator[bytes]:
    """The bytes of a file in pieces of 1 MiB; raises Interrupted when `stop` is set."""
    with path.open("rb") as source:
        while chunk := source.read(COPY_CHUNK_BYTES):
            if stop is not None and stop.is_set():
                raise Interrupted
            yield chunk


def digest_file(path: Path, stop: threading.Event | None = None) -> tuple[str, int]:
    """(sha256, size in bytes) of one file. Blocking: call it in a thread."""
    digest, size = hashlib.sha256(), 0
    for chunk in file_chunks(path, stop):
        digest.update(chunk)
        size += len(chunk)
    return digest.hexdigest(), size


def verify_file(path: Path, *, sha256: str, stop: threading.Event | None = None) -> int:
    """Size in bytes of a file whose digest is `sha256`; CorruptFile when it is another."""
    found, size = digest_file(path, stop)
    if found != sha256:
        raise CorruptFile(digest_mismatch(str(path.name), found=found, expected=sha256))
    return size


def digest_mismatch(what: str, *, found: str, expected: str) -> str:
    """The sentence about two digests that differ, with what to do."""
    return (
        f"{what} has sha256 {found}, but {expected} was announced: the file was changed or "
        "damaged on its way; upload it again, or publish it with the digest it really has"
    )


def size_mismatch(what: str, *, found: int, expected: int) -> str:
    """The sentence about a file that is shorter or longer than announced, with what to do."""
    if found < expected:
        return (
            f"{what} has {found} of {expected} bytes; {expected - found} bytes are missing; "
            "upload it again"
        )
    return (
        f"{what} has {found} bytes, {found - expected} more than the {expected} announced; "
        "publish it with the size it really has, or upload the right file"
    )


def too_large(what: str, *, max_bytes: int, found: int = 0) -> InvalidInput:
    """The error for a file over the limit (`found` = its size where that is known)."""
    size = f"has {found} bytes" if found else "is larger than allowed"
    return InvalidInput(
        f"{what} {size}; the limit is {max_bytes} bytes: publish a smaller checkpoint "
        "(for example a LoRA, fp16, or only the unet folder), or raise the limit",
        field="uri",
    )


class VerifiedWrite:
    """A file being written; `commit()` gives it its name, leaving the block without it removes it.

    Args:
        destination: the final path; its folder is created. Replaced atomically if it exists.
        what: how messages name the bytes ("https://…/bear.safetensors").
        sha256: expected digest, or "" when unknown.
        size_bytes: expected size, or -1 when unknown.
        max_bytes: `write` raises InvalidInput beyond this many bytes; 0 = no limit.
        staging: folder of the temporary file when it is not the destination's (same file system).

    Methods block; call them in a thread. One thread at a time.
    """

    def __init__(
        self,
        destination: Path,
        *,
        what: str,
        sha256: str = "",
        size_bytes: int = -1,
        max_bytes: int = 0,
        staging: Path | None = None,
    ) -> None:
        self.destination = destination
        self.size = 0
        self._what = what
        self._expected_sha256 = sha256
        self._expected_size = size_bytes
        self._max_bytes = max_bytes
        self._digest = hashlib.sha256()
        self._lock = threading.Lock()
        folder = staging or destination.parent
        folder.mkdir(parents=True, exist_ok=True)
        name = f".{destination.name[:80]}.{secrets.token_hex(6)}{PARTIAL_SUFFIX}"
        self._temporary = folder / name
        # 0o666 under the umask, as open() does it; mkstemp's 0o600 would lock other pods out.
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
        self._file = os.fdopen(os.open(self._temporary, flags, 0o666), "wb", buffering=0)

    @property
    def sha256(self) -> str:
        """Digest of what was written so far."""
        return self._digest.hexdigest()

    def check_limit(self, size: int) -> None:
        """InvalidInput when a file of `size` bytes would be over `max_bytes`: refuse it early."""
        if self._max_bytes and size > self._max_bytes:
            raise too_large(self._what, max_bytes=self._max_bytes, found=size)

    def write(self, chunk: bytes) -> None:
        """Append `chunk`; InvalidInput when the file grows over `max_bytes`."""
        with self._lock:
            if self._file.closed:
                raise Interrupted  # discarded meanwhile: a cancelled caller's thread arrives late
            self.size += len(chunk)
            if self._max_bytes and self.size > self._max_bytes:
                raise too_large(self._what, max_bytes=self._max_bytes)
            if 0 <= self._expected_size < self.size:
                message = size_mismatch(self._what, found=self.size, expected=self._expected_size)
                raise CorruptFile(message)
            self._digest.update(chunk)
            view = memoryview(chunk)
            while view:
                view = view[self._file.write(view) :]

    def commit(self) -> Path:
        """Verify, flush to disk and rename; CorruptFile (and no file) for unpromised bytes."""
        with self._lock:
            if self._file.closed:
                raise Interrupted
            if 0 <= self._expected_size != self.size:
                message = size_mismatch(self._what, found=self.size, expected=self._expected_size)
                raise CorruptFile(message)
            if self._expected_sha256 and self.sha256 != self._expected_sha256:
                raise CorruptFile(
                    digest_mismatch(self._what, found=self.sha256, expected=self._expected_sha256)
                )
            self.destination.parent.mkdir(parents=True, exist_ok=True)
            os.fsync(self._file.fileno())
            self._file.close()
            self._temporary.replace(self.destination)
        sync_folder(self.destination.parent)
        return self.destination

    def discard(self) -> None:
        """Remove the temporary file; nothing happens after `commit()`."""
        with self._lock:
            self._file.close()
            self._temporary.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.discard()


def sync_folder(folder: Path) -> None:
    """Make a rename in `folder` survive a power cut, where the file system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def copy_verified(source: Path, target: VerifiedWrite, stop: threading.Event) -> Path:
    """Stream `source` into `target` and commit it. Blocking."""
    for chunk in file_chunks(source, stop):
        target.write(chunk)
    if stop.is_set():
        raise Interrupted
    return target.commit()


async def run_blocking(work: Callable[[threading.Event], T]) -> T:
    """Run `work(stop)` in a thread; a cancelled caller sets `stop` and waits for the thread.

    The wait is what makes "no partial file is left" true at the moment the cancellation arrives
    at the caller; it ends after `THREAD_STOP_S` if the thread hangs in a system call.
    """
    stop = threading.Event()
    thread = asyncio.ensure_future(asyncio.to_thread(work, stop))
    try:
        return await asyncio.shield(thread)
    except asyncio.CancelledError:
        stop.set()
        thread.add_done_callback(_retrieve)
        await asyncio.wait({thread}, timeout=THREAD_STOP_S)
        raise


def _retrieve(thread: asyncio.Future[T]) -> None:
    """Look at the result of an abandoned thread, so that asyncio does not log it as lost."""
    if not thread.cancelled():
        thread.exception()
