"""Checkpoints behind URIs: fetch one to this machine, checked.

| URI | what |
|---|---|
| `file:///path` | a file or a folder on this machine or a shared volume |
| `https://host/path`, `http://…` | a file |
| `s3://bucket/key`, `gs://bucket/key` | a file, or every needed file under a prefix |
| `hf://owner/repo[@revision][/path]` | a file, a folder or a whole repository of the Hub |

Of a folder only what a fine-tune in the diffusers layout needs is taken (`FOLDER_SUFFIXES`);
hidden files never.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import secrets
import shutil
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from personalq.chassis.errors import CorruptFile, InvalidInput, NotFound, Unavailable
from personalq.chassis.origins import (
    FOLDER_SUFFIXES,
    FsspecOrigin,
    HttpOrigin,
    HubOrigin,
    LocalOrigin,
    Origin,
    Part,
    folder_files,
    public_uri,
)
from personalq.chassis.verified_files import (
    PARTIAL_SUFFIX,
    VerifiedWrite,
    digest_file,
    digest_mismatch,
    require_digest,
    run_blocking,
    size_mismatch,
    too_large,
)

__all__ = ["FOLDER_SUFFIXES", "SCHEMES", "Source", "check_uri", "digest_of", "fetch_source"]

SCHEMES = ("file", "http", "https", "s3", "gs", "hf")
MAX_URI_CHARACTERS = 2048
MAX_FILES = 1000  # a diffusers folder has about 15
FETCH_TIMEOUT_S = 3600.0


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where a checkpoint is and what is known about it.

    Attributes:
        uri: one of the forms above.
        sha256: digest as `digest_of` computes it; "" when unknown.
        size_bytes: size as `digest_of` computes it; 0 when unknown.
    """

    uri: str
    sha256: str = ""
    size_bytes: int = 0


async def fetch_source(
    source: Source,
    directory: Path,
    *,
    max_bytes: int,
    in_place: bool = False,
    allowed_roots: Sequence[Path] = (),
    hub_endpoint: str | None = None,
    timeout_s: float = FETCH_TIMEOUT_S,
) -> Path:
    """The path of the checkpoint on this machine: a file, or a folder.

    It is written below `directory` under the last name of the URI, complete or not at all, with
    nothing beside it that its digest does not cover. The bytes there are those that were verified.

    Args:
        source: what to fetch.
        directory: a folder of the caller's own; created when missing.
        max_bytes: limit for the whole checkpoint, enforced while the bytes arrive.
        in_place: do not copy a `file://` file whose sha256 is given and right: its own path comes
            back. It may change afterwards, other files may lie beside it, and it is not to be
            deleted.
        allowed_roots: folders that `file://` may read from; empty = any.
        hub_endpoint: address of the Hub; default `HF_ENDPOINT`, else https://huggingface.co.
        timeout_s: limit for the whole fetch.

    Raises:
        InvalidInput: the URI is malformed, not allowed here, or larger than `max_bytes`.
        NotFound: there is nothing behind the URI.
        CorruptFile: size or sha256 differ from what `source` says.
        Unavailable: the place it lies at does not answer, or the disk here takes no more; a later
            attempt may succeed.
    """
    if source.sha256:
        require_digest(source.sha256)
    origin = _origin_of(source.uri, allowed_roots=allowed_roots, hub_endpoint=hub_endpoint)
    try:
        async with asyncio.timeout(timeout_s):
            return await _fetch(source, origin, directory, max_bytes=max_bytes, in_place=in_place)
    except TimeoutError as error:
        raise Unavailable(
            f"{public_uri(source.uri)} did not arrive within {timeout_s:g} s: try again"
        ) from error
    except OSError as error:  # what the origin could not do is an error of ours by now
        raise Unavailable(
            f"{public_uri(source.uri)} cannot be written to this machine: {error.strerror}"
        ) from error


def check_uri(uri: str) -> None:
    """Refuse a URI that `fetch_source` could not even try; nothing is asked of any store.

    Raises:
        InvalidInput: it is malformed; the message says how to write it.
    """
    _origin_of(uri, allowed_roots=(), hub_endpoint=None)


def digest_of(path: Path) -> tuple[str, int]:
    r"""(sha256, bytes) of a checkpoint. Blocking: call it in a thread.

    Of a file: the digest of its bytes. Of a folder: the digest of the sorted lines
    `"<sha256>  <relative path>\n"` over the files that `fetch_source` would take, and the sum of
    their sizes. In a shell: `sha256sum unet/config.json … | LC_ALL=C sort | sha256sum`.

    Raises:
        NotFound: there is no such file or folder.
        InvalidInput: the folder holds nothing a checkpoint needs, or a link that leaves it.
    """
    return _digest_of(path, threading.Event())


def _digest_of(path: Path, stop: threading.Event) -> tuple[str, int]:
    if path.is_file():
        return digest_file(path, stop)
    if not path.is_dir():
        raise NotFound(f"{path.name!r} does not exist: check the path")
    lines, total = [], 0
    for relative, file in folder_files(path):
        sha256, size = digest_file(file, stop)
        lines.append(f"{sha256}  {relative}\n")
        total += size
    return hashlib.sha256("".join(sorted(lines)).encode()).hexdigest(), total


def _origin_of(uri: str, *, allowed_roots: Sequence[Path], hub_endpoint: str | None) -> Origin:
    """The reader for the scheme of `uri`."""
    try:
        parts = urlsplit(uri)
        host = parts.hostname
        parts.port  # noqa: B018 - raises ValueError when it is no port
    except ValueError as error:
        raise InvalidInput(f"{public_uri(uri)!r} is no URI: {error}", field="uri") from error
    scheme = parts.scheme
    if len(uri) > MAX_URI_CHARACTERS:
        raise InvalidInput(
            f"{public_uri(uri)!r} has {len(uri)} characters; {MAX_URI_CHARACTERS} are the limit",
            field="uri",
        )
    if not uri.isprintable() or scheme not in SCHEMES:
        raise InvalidInput(
            f"{public_uri(uri)!r} is no checkpoint URI: write file:///path, https://host/path, "
            "s3://bucket/key, gs://bucket/key or hf://owner/repo/path",
            field="uri",
        )
    if scheme == "file":
        if host not in (None, "localhost") or not parts.path.startswith("/") or "\0" in uri:
            raise InvalidInput(
                f"{public_uri(uri)!r} is no local path: write file:///absolute/path", field="uri"
            )
        return LocalOrigin(Path(unquote(parts.path)), uri, allowed_roots)
    if not host:
        raise InvalidInput(f"{public_uri(uri)!r} names no host or bucket", field="uri")
    if scheme in ("http", "https"):
        return HttpOrigin(uri)
    if scheme == "hf":
        return HubOrigin(uri, endpoint=hub_endpoint)
    return FsspecOrigin(uri)


async def _fetch(
    source: Source, origin: Origin, directory: Path, *, max_bytes: int, in_place: bool
) -> Path:
    what = public_uri(source.uri)
    listing = await origin.list()
    known = [part.size_bytes for part in listing.parts if part.size_bytes >= 0]
    if sum(known) > max_bytes:
        raise too_large(what, max_bytes=max_bytes, found=sum(known))
    complete = len(known) == len(listing.parts)
    if source.size_bytes and complete and sum(known) != source.size_bytes:
        raise CorruptFile(size_mismatch(what, found=sum(known), expected=source.size_bytes))
    if listing.is_folder:
        if len(listing.parts) > MAX_FILES:
            raise InvalidInput(
                f"{what} holds {len(listing.parts)} files; name the checkpoint's own folder",
                field="uri",
            )
        return await _fetch_folder(source, origin, listing.parts, directory, max_bytes=max_bytes)

    part = listing.parts[0]
    if in_place and source.sha256 and (path := origin.local_path(part)) is not None:
        await run_blocking(lambda stop: _verify_in_place(path, source, what, stop))
        return path
    target = VerifiedWrite(
        directory / _file_name(source.uri),
        what=what,
        sha256=source.sha256 or part.sha256,
        size_bytes=source.size_bytes or part.size_bytes,
        max_bytes=max_bytes,
    )
    with target:
        await origin.copy(part, target)
        return await run_blocking(lambda stop: target.commit())


async def _fetch_folder(
    source: Source, origin: Origin, parts: Sequence[Part], directory: Path, *, max_bytes: int
) -> Path:
    """Copy all parts into a staging folder, verify the whole, rename it."""
    what = public_uri(source.uri)
    final = directory / _file_name(source.uri)
    staging = directory / f".{final.name}.{secrets.token_hex(6)}{PARTIAL_SUFFIX}"
    left = max_bytes
    try:
        for part in parts:
            target = VerifiedWrite(
                staging / _safe_relative(part.relative, what),
                what=f"{what.rstrip('/')} ({part.relative})",
                sha256=part.sha256,
                size_bytes=part.size_bytes,
                max_bytes=max(left, 1),
            )
            with target:
                await origin.copy(part, target)
                await run_blocking(lambda stop, target=target: target.commit())  # type: ignore[misc]
            left -= target.size
        if left < 0:
            raise too_large(what, max_bytes=max_bytes)
        await run_blocking(lambda stop: _verify_folder(staging, source, what, stop))
        await asyncio.to_thread(_replace_folder, staging, final)
    finally:
        await asyncio.shield(asyncio.to_thread(shutil.rmtree, staging, ignore_errors=True))
    return final


def _verify_in_place(path: Path, source: Source, what: str, stop: threading.Event) -> None:
    sha256, _ = digest_file(path, stop)
    if sha256 != source.sha256:
        raise CorruptFile(digest_mismatch(what, found=sha256, expected=source.sha256))


def _verify_folder(folder: Path, source: Source, what: str, stop: threading.Event) -> None:
    if not source.sha256 and not source.size_bytes:
        return
    sha256, size = _digest_of(folder, stop)
    if source.size_bytes and size != source.size_bytes:
        raise CorruptFile(size_mismatch(what, found=size, expected=source.size_bytes))
    if source.sha256 and sha256 != source.sha256:
        raise CorruptFile(digest_mismatch(what, found=sha256, expected=source.sha256))


def _replace_folder(staging: Path, final: Path) -> None:
    if final.is_dir():
        shutil.rmtree(final)
    staging.replace(final)


def _file_name(uri: str) -> str:
    """The last name in a URI, reduced to characters that are safe in a file name."""
    last = PurePosixPath(unquote(urlsplit(uri).path)).name or urlsplit(uri).netloc
    return re.sub(r"[^A-Za-z0-9._-]", "_", last).lstrip(".")[-120:] or "checkpoint"


def _safe_relative(relative: str, what: str) -> PurePosixPath:
    """`relative` as a path below the folder; a listing that points elsewhere is refused."""
    path = PurePosixPath(relative)
    if path.is_absolute() or ".." in path.parts or "\\" in relative or not path.parts:
        raise InvalidInput(f"{what} lists a file outside itself: {relative!r}", field="uri")
    return path
