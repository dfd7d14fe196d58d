"""Blobs in an object store that fsspec can speak to: S3, MinIO, Google Cloud Storage.

`s3://bucket/prefix` holds the blob abcd… at `<bucket>/<prefix>/ab/cd/abcd…`.

Credentials and endpoint come from the environment of the library that does the talking
(`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_ENDPOINT_URL`, … for S3). An upload to these
stores appears when it is complete, so it needs no temporary name.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from personalq.chassis.errors import (
    CorruptFile,
    InvalidInput,
    NotFound,
    PersonalQError,
    Unavailable,
)
from personalq.chassis.verified_files import (
    Interrupted,
    VerifiedWrite,
    require_digest,
    run_blocking,
    size_mismatch,
    verify_file,
)

READ_CHUNK_BYTES = 8 * 1024 * 1024  # one range request each; bounds memory and cancellation
CONNECT_TIMEOUT_S = 10
READ_TIMEOUT_S = 60

#: Which extra of this distribution brings the library of a scheme.
EXTRAS: Mapping[str, str] = {"s3": "s3", "gs": "gs", "gcs": "gs"}


def open_filesystem(url: str, **options: Any) -> tuple[Any, str]:
    """(fsspec file system, path in it) behind `url`; InvalidInput names what to install."""
    scheme = url.partition("://")[0]
    try:
        import fsspec

        if scheme == "s3":
            timeouts = {"connect_timeout": CONNECT_TIMEOUT_S, "read_timeout": READ_TIMEOUT_S}
            options.setdefault("config_kwargs", timeouts)
        filesystem, path = fsspec.core.url_to_fs(url, use_listings_cache=False, **options)
    except ImportError as error:
        extra = EXTRAS.get(scheme)
        remedy = f"pip install 'personalq-chassis[{extra}]'" if extra else str(error)
        raise InvalidInput(
            f"{scheme}:// is not installed here: {remedy}, or use another kind of URI",
            field="uri",
        ) from error
    except ValueError as error:
        raise InvalidInput(f"{url!r} cannot be opened: {error}", field="uri") from error
    return filesystem, path


@contextmanager
def store_errors(what: str) -> Iterator[None]:
    """Translate whatever a storage library raises into an error of ours.

    Their texts name endpoints and come in several lines: they stay in the cause, for the log.
    """
    try:
        yield
    except (PersonalQError, Interrupted):
        raise
    except FileNotFoundError as error:
        raise NotFound(f"{what} does not exist") from error
    except PermissionError as error:
        raise Unavailable(
            f"{what} may not be used with these credentials: give this service permission"
        ) from error
    except Exception as error:  # each library has its own tree of errors
        kind = type(error).__name__
        if kind == "ParamValidationError":  # botocore's, for what can be no bucket or key
            raise InvalidInput(f"{what} is no valid address", field="uri") from error
        raise Unavailable(f"{what} is out of reach ({kind}): try again") from error


def stream_into(filesystem: Any, path: str, target: VerifiedWrite, stop: threading.Event) -> None:
    """Read the object `path` into `target`, one range request at a time. Blocking."""
    with filesystem.open(path, "rb", block_size=READ_CHUNK_BYTES, cache_type="none") as source:
        while chunk := source.read(READ_CHUNK_BYTES):
            if stop.is_set():
                raise Interrupted
            target.write(chunk)


class FsspecBlobStore:
    """BlobStore over any fsspec file system whose uploads are atomic.

    Args:
        url: `s3://bucket/prefix` and the like.
        storage_options: passed to the file system (credentials, endpoint), mostly for tests.
    """

    def __init__(self, url: str, storage_options: Mapping[str, Any] | None = None) -> None:
        self._url = url.rstrip("/")
        self._filesystem, root = open_filesystem(self._url, **dict(storage_options or {}))
        self._root = root.rstrip("/")

    def blob_path(self, sha256: str) -> str:
        """The key of the blob of this name."""
        return f"{self._root}/{sha256[:2]}/{sha256[2:4]}/{sha256}"

    async def put(self, path: Path, *, sha256: str) -> None:
        """Verify `path`, then upload it."""
        require_digest(sha256)
        await run_blocking(lambda stop: self._put(path, sha256, stop))

    async def fetch(self, sha256: str, destination: Path) -> None:
        """Download by range requests, verifying on the way."""
        require_digest(sha256)
        await run_blocking(lambda stop: self._fetch(sha256, destination, stop))

    async def exists(self, sha256: str) -> bool:
        """Whether the object is there."""
        require_digest(sha256)
        return await run_blocking(lambda stop: self._size(sha256)) is not None

    def _put(self, path: Path, sha256: str, stop: threading.Event) -> None:
        if not path.is_file():
            raise NotFound(f"{path.name} cannot be stored: there is no such file")
        if self._size(sha256) == path.stat().st_size:
            return
        verify_file(path, sha256=sha256, stop=stop)
        try:
            with store_errors("the blob store"):
                self._filesystem.put_file(str(path), self.blob_path(sha256))
        except NotFound as error:
            raise Unavailable("the blob store's bucket does not exist: create it") from error

    def _fetch(self, sha256: str, destination: Path, stop: threading.Event) -> None:
        size = self._size(sha256)
        if size is None:
            raise NotFound(f"blob {sha256} is not in the store")
        what = f"blob {sha256}"
        with VerifiedWrite(destination, what=what, sha256=sha256, size_bytes=size) as target:
            with store_errors(what):
                stream_into(self._filesystem, self.blob_path(sha256), target, stop)
            if target.size != size:
                raise CorruptFile(size_mismatch(what, found=target.size, expected=size))
            target.commit()

    def _size(self, sha256: str) -> int | None:
        """Size of the stored object in bytes, None when there is none."""
        try:
            with store_errors("the blob store"):
                return int(self._filesystem.info(self.blob_path(sha256))["size"])
        except NotFound:
            return None
