"""Where checkpoints come from: one small reader per kind of URI.

Each lists the files behind its URI and copies one of them into a `VerifiedWrite`. What is done
with the bytes (limits, digests, names) is the business of `sources.py`. The libraries that talk
to a store are imported when the first URI of their kind is opened.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from personalq.chassis.blobs_fsspec import open_filesystem, store_errors, stream_into
from personalq.chassis.errors import InvalidInput, NotFound, Unavailable
from personalq.chassis.verified_files import (
    COPY_CHUNK_BYTES,
    VerifiedWrite,
    file_chunks,
    run_blocking,
)

FOLDER_SUFFIXES = (".json", ".safetensors", ".txt")
"""What is taken of a folder: configurations, weights, tokenizer merges. Never pickles or code."""

CONNECT_TIMEOUT_S = 10.0
READ_TIMEOUT_S = 60.0
MAX_REDIRECTS = 5


@dataclass(frozen=True, kw_only=True)
class Part:
    """One file of a checkpoint.

    Attributes:
        relative: its path below the folder, with "/"; the file's name when there is no folder.
        locator: what the origin opens it by.
        size_bytes: -1 when only the transfer will tell.
        sha256: digest that the store itself announces; "" when it does not.
    """

    relative: str
    locator: str
    size_bytes: int = -1
    sha256: str = ""


@dataclass(frozen=True, kw_only=True)
class Listing:
    """The files behind a URI; exactly one when it is not a folder."""

    is_folder: bool
    parts: Sequence[Part]


class Origin(Protocol):
    """The files behind one URI; errors as in `fetch_source`."""

    async def list(self) -> Listing:
        """What there is to copy."""

    async def copy(self, part: Part, target: VerifiedWrite) -> None:
        """Write all bytes of `part` into `target`; the caller commits or discards it."""

    def local_path(self, part: Part) -> Path | None:
        """The file itself when it already lies on this machine."""


def public_uri(uri: str) -> str:
    """`uri` without user, password and query (which may sign it), short enough for a message."""
    head = uri.partition("?")[0].partition("#")[0]
    scheme, separator, rest = head.partition("://")
    if separator:
        host, slash, path = rest.partition("/")
        # hf://owner/repo@revision has its "@" in the path, credentials have theirs in the host
        head = f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"
    return head if len(head) <= 300 else head[:297] + "…"


def is_needed(relative: str) -> bool:
    """Whether a file of a folder belongs to the checkpoint."""
    path = PurePosixPath(relative)
    hidden = any(name.startswith(".") for name in path.parts)
    return not hidden and path.suffix.lower() in FOLDER_SUFFIXES


def folder_files(folder: Path) -> Sequence[tuple[str, Path]]:
    """(relative path, file) of what is needed of a folder, sorted.

    Raises InvalidInput when there is nothing, or when a link leaves the folder. Links between its
    folders are not followed.
    """
    root = folder.resolve()
    found: list[tuple[str, Path]] = []
    for current, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in (*folders, *files):
            path = Path(current, name)
            relative = path.relative_to(root).as_posix()
            if path.is_symlink() and not path.resolve().is_relative_to(root):
                if name in folders or is_needed(relative):
                    raise InvalidInput(
                        f"{relative!r} in {folder.name!r} is a link that leaves the folder: "
                        "replace it by the file itself (cp --dereference)",
                        field="uri",
                    )
                continue
            if is_needed(relative) and path.is_file():
                found.append((relative, path))
    if not found:
        raise nothing_needed(folder.name)
    return sorted(found)


def nothing_needed(what: str) -> InvalidInput:
    """The error for a folder without a single file of a checkpoint."""
    return InvalidInput(
        f"{what!r} holds no {', '.join(FOLDER_SUFFIXES)} file: name the folder of a checkpoint "
        "in the diffusers layout, or the .safetensors file itself",
        field="uri",
    )


class LocalOrigin:
    """`file://`: a file or folder, inside `allowed_roots` when there are any."""

    def __init__(self, path: Path, uri: str, allowed_roots: Sequence[Path]) -> None:
        self._path = path
        self._what = public_uri(uri)
        self._allowed_roots = allowed_roots

    async def list(self) -> Listing:
        """Walk the folder, or look at the file."""
        return await asyncio.to_thread(self._list)

    def _list(self) -> Listing:
        try:
            path = self._path.resolve()
            roots = [root.resolve() for root in self._allowed_roots]
            if roots and not any(path.is_relative_to(root) for root in roots):
                raise InvalidInput(
                    f"{self._what} is outside the folders this service may read: put the file "
                    "into one of them, or publish it by another kind of URI",
                    field="uri",
                )
            if path.is_dir():
                parts = [
                    Part(relative=name, locator=str(file), size_bytes=file.stat().st_size)
                    for name, file in folder_files(path)
                ]
                return Listing(is_folder=True, parts=parts)
            if not path.exists():
                raise NotFound(
                    f"{self._what} does not exist where this service runs: check the path, or "
                    "put the file on a volume that it can see"
                )
            if not path.is_file():
                raise InvalidInput(f"{self._what} is no regular file", field="uri")
            size = path.stat().st_size
        except PermissionError as error:
            raise InvalidInput(
                f"{self._what} may not be read by this service: give it read permission",
                field="uri",
            ) from error
        except (OSError, RuntimeError, ValueError) as error:  # loops of links, names too long
            reason = getattr(error, "strerror", None) or "it is no usable path"
            raise InvalidInput(f"{self._what} cannot be opened: {reason}", field="uri") from error
        part = Part(relative=path.name, locator=str(path), size_bytes=size)
        return Listing(is_folder=False, parts=[part])

    async def copy(self, part: Part, target: VerifiedWrite) -> None:
        """Copy in a thread."""

        def copy(stop: threading.Event) -> None:
            for chunk in file_chunks(Path(part.locator), stop):
                target.write(chunk)

        try:
            await run_blocking(copy)
        except PermissionError as error:
            raise InvalidInput(
                f"{self._what} may not be read by this service: give it read permission",
                field="uri",
            ) from error
        except OSError as error:
            raise Unavailable(f"{self._what} cannot be read: {error.strerror}") from error

    def local_path(self, part: Part) -> Path | None:
        """The file itself."""
        return Path(part.locator)


class HttpOrigin:
    """`http(s)://`: one file, streamed."""

    def __init__(self, uri: str, headers: Mapping[str, str] | None = None) -> None:
        self._uri = uri
        self._headers = dict(headers or {})

    async def list(self) -> Listing:
        """The file itself; how large it is only the answer will tell."""
        name = PurePosixPath(unquote(urlsplit(self._uri).path)).name
        return Listing(is_folder=False, parts=[Part(relative=name, locator=self._uri)])

    async def copy(self, part: Part, target: VerifiedWrite) -> None:
        """Stream the body into `target`, written in a thread in pieces of 1 MiB."""
        async with self._open(part.locator) as response:
            length = response.headers.get("content-length", "")
            if length.isdecimal():
                target.check_limit(int(length))
            buffer = bytearray()
            async for chunk in response.aiter_bytes():
                buffer += chunk
                if len(buffer) >= COPY_CHUNK_BYTES:
                    await asyncio.to_thread(target.write, bytes(buffer))
                    buffer.clear()
            await asyncio.to_thread(target.write, bytes(buffer))

    def local_path(self, part: Part) -> Path | None:
        """None: it lies elsewhere."""
        return None

    @asynccontextmanager
    async def _open(self, url: str) -> AsyncIterator[Any]:
        """The response to a GET whose status is 200; every failure as an error of ours."""
        import httpx

        what = public_uri(url)
        timeout = httpx.Timeout(CONNECT_TIMEOUT_S, read=READ_TIMEOUT_S)
        try:
            async with (
                httpx.AsyncClient(
                    timeout=timeout, follow_redirects=True, max_redirects=MAX_REDIRECTS
                ) as client,
                client.stream(
                    "GET", url, headers={"accept-encoding": "identity", **self._headers}
                ) as response,
            ):
                if urlsplit(url).scheme == "https" and response.url.scheme != "https":
                    raise InvalidInput(
                        f"{what} leads to an address without encryption: publish the final https "
                        "address",
                        field="uri",
                    )
                _check_status(what, response.status_code)
                yield response
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.TooManyRedirects) as error:
            raise InvalidInput(f"{what} cannot be opened: {error}", field="uri") from error
        except httpx.TimeoutException as error:
            raise Unavailable(f"{what} does not answer in time: try again") from error
        except httpx.HTTPError as error:
            raise Unavailable(f"{what} cannot be read: {error or type(error).__name__}") from error


def _check_status(what: str, status: int) -> None:
    if status == 200:
        return
    if status in (404, 410):
        raise NotFound(f"{what} does not exist (HTTP {status}): check the address")
    if status in (401, 403):
        raise InvalidInput(
            f"{what} may not be read (HTTP {status}): publish an address that needs no login, for "
            "example a signed one, or give this service the token",
            field="uri",
        )
    if status in (408, 425, 429) or status >= 500:
        raise Unavailable(f"{what} is not available now (HTTP {status}): try again later")
    raise InvalidInput(f"{what} answered HTTP {status} instead of the file", field="uri")


class FsspecOrigin:
    """`s3://`, `gs://`: one object, or what is needed of the objects under a prefix."""

    def __init__(self, uri: str) -> None:
        self._what = public_uri(uri)
        if not urlsplit(uri).path.strip("/"):
            raise InvalidInput(f"{self._what} names a bucket but no file in it", field="uri")
        self._uri = uri.rstrip("/")
        self._filesystem: Any = None

    async def list(self) -> Listing:
        """Ask the store for the object, then for the prefix."""
        return await run_blocking(self._list)

    def _list(self, stop: threading.Event) -> Listing:
        self._filesystem, root = open_filesystem(self._uri)
        with store_errors(self._what):
            info = self._filesystem.info(root)
            if info["type"] != "directory":
                part = Part(relative=root, locator=root, size_bytes=int(info["size"]))
                return Listing(is_folder=False, parts=[part])
            found = self._filesystem.find(root, detail=True)
        parts = [
            Part(relative=relative, locator=key, size_bytes=int(entry["size"]))
            for key, entry in sorted(found.items())
            if is_needed(relative := key[len(root) :].lstrip("/"))
        ]
        if not parts:
            raise nothing_needed(self._what)
        return Listing(is_folder=True, parts=parts)

    async def copy(self, part: Part, target: VerifiedWrite) -> None:
        """Range requests in a thread."""

        def copy(stop: threading.Event) -> None:
            with store_errors(self._what):
                stream_into(self._filesystem, part.locator, target, stop)

        await run_blocking(copy)

    def local_path(self, part: Part) -> Path | None:
        """None: it lies elsewhere."""
        return None


class HubOrigin:
    """`hf://owner/repo[@revision][/path]`: files of one commit of a Hugging Face repository.

    The Hub is asked once for the commit and its files; the bytes come over plain https, so that
    limits and digests apply while they arrive (the Hub's own sha256 of large files is checked
    too). The token is the one huggingface_hub finds (`HF_TOKEN`, or its login file).
    """

    def __init__(self, uri: str, *, endpoint: str | None = None) -> None:
        self._what = public_uri(uri)
        owner, *rest = [unquote(name) for name in uri.removeprefix("hf://").split("/") if name]
        repo, _, self._revision = (rest[0] if rest else "").partition("@")
        if not repo:
            raise InvalidInput(
                f"{self._what!r} names no repository: write hf://owner/repo[@revision][/path]",
                field="uri",
            )
        self._repo = f"{owner}/{repo}"
        self._path = "/".join(rest[1:])
        self._endpoint = endpoint
        self._http = HttpOrigin(uri)

    async def list(self) -> Listing:
        """Resolve the revision and list the files below the path."""
        return await run_blocking(lambda stop: self._list())

    def _list(self) -> Listing:
        info, url_of, headers = self._ask_hub()
        self._http = HttpOrigin(self._what, headers)
        files = {file.rfilename: file for file in info.siblings or ()}

        def part(name: str, relative: str) -> Part:
            file = files[name]
            return Part(
                relative=relative,
                locator=url_of(name, info.sha),
                size_bytes=-1 if file.size is None else int(file.size),
                sha256=str(file.lfs["sha256"]) if file.lfs else "",
            )

        if self._path in files:
            name = PurePosixPath(self._path).name
            return Listing(is_folder=False, parts=[part(self._path, name)])
        prefix = f"{self._path}/" if self._path else ""
        below = [name for name in sorted(files) if name.startswith(prefix)]
        if not below:
            raise NotFound(f"{self._what} does not exist: the repository has no such file")
        parts = [
            part(name, relative) for name in below if is_needed(relative := name[len(prefix) :])
        ]
        if not parts:
            raise nothing_needed(self._what)
        return Listing(is_folder=True, parts=parts)

    def _ask_hub(self) -> tuple[Any, Any, Mapping[str, str]]:
        """(model info, (name, commit) → URL, headers)."""
        try:
            from huggingface_hub import HfApi, errors, hf_hub_url
            from huggingface_hub.utils import build_hf_headers
        except ImportError as error:
            raise InvalidInput(
                "hf:// is not installed here: pip install 'personalq-chassis[hub]', or use another "
                "kind of URI",
                field="uri",
            ) from error
        hub = HfApi(endpoint=self._endpoint)
        try:
            info = hub.model_info(
                self._repo,
                revision=self._revision or None,
                files_metadata=True,
                timeout=READ_TIMEOUT_S,
            )
        except errors.GatedRepoError as error:
            raise InvalidInput(
                f"{self._what} is gated: accept its terms, and give this service HF_TOKEN",
                field="uri",
            ) from error
        except (errors.RepositoryNotFoundError, errors.RevisionNotFoundError) as error:
            raise NotFound(
                f"{self._what} does not exist, or is private: then this service needs HF_TOKEN"
            ) from error
        except errors.HFValidationError as error:
            raise InvalidInput(f"{self._what} names no repository: {error}", field="uri") from error
        except errors.OfflineModeIsEnabled as error:
            raise Unavailable(
                f"{self._what} cannot be read while HF_HUB_OFFLINE is set for this service"
            ) from error
        except Exception as error:  # HTTP status, connection, time-out, a proxy's HTML
            raise Unavailable(f"the Hub does not answer for {self._what}: try again") from error

        def url_of(name: str, commit: str) -> str:
            return str(hf_hub_url(self._repo, name, revision=commit, endpoint=self._endpoint))

        return info, url_of, build_hf_headers()

    async def copy(self, part: Part, target: VerifiedWrite) -> None:
        """Stream it from its resolve address."""
        await self._http.copy(part, target)

    def local_path(self, part: Part) -> Path | None:
        """None: it lies elsewhere."""
        return None
