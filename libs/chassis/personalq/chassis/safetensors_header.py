"""Read the header of a safetensors file, trusting nothing.

    8 bytes   N, little-endian
    N bytes   JSON: {"__metadata__": {str: str}, "<key>": {"dtype", "shape", "data_offsets"}, …}
    the rest  the tensors; their offsets cover it exactly, without gap or overlap

(https://github.com/huggingface/safetensors#format.) A name ending in `.safetensors` proves
nothing: Git LFS pointers, pickles, web pages and half uploads carry it too, and each gets its own
sentence here. No tensor is loaded, and nothing is ever unpickled.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from personalq.chassis.errors import CorruptFile

#: SDXL needs 0.3 MB; parsing takes some ten times the memory, of empty objects thirty times.
MAX_HEADER_BYTES = 4 * 1024 * 1024
MAX_KEY_CHARACTERS = 512  # SDXL's longest has 150; what keys mean is matched in quadratic time

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
#: Bits per element.
DTYPE_BITS: Mapping[str, int] = {
    "BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8,
    "F8_E5M2FNUZ": 8, "U16": 16, "I16": 16, "F16": 16, "BF16": 16, "U32": 32, "I32": 32,
    "F32": 32, "U64": 64, "I64": 64, "F64": 64, "C64": 64, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6,
}  # fmt: skip
#: Those of weights: floating numbers of whole bytes.
FLOATING = frozenset(
    dtype for dtype, bits in DTYPE_BITS.items() if dtype[0] in "FB" and bits >= 8
) - {"BOOL"}

_UPLOAD_AGAIN = "upload it again"


@dataclass(frozen=True, kw_only=True)
class TensorEntry:
    """One tensor of the file: type, shape, first and last byte + 1 in the file."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Header:
    """Everything a safetensors file says before its first tensor."""

    path: Path
    tensors: Mapping[str, TensorEntry]
    metadata: Mapping[str, str]

    def scalar(self, key: str) -> float | None:
        """Value of a one-element floating tensor (kohya's `.alpha`); None when it is not one."""
        entry = self.tensors[key]
        if math.prod(entry.shape) != 1:
            return None
        with self.path.open("rb") as file:
            file.seek(entry.begin)
            data = file.read(entry.end - entry.begin)
        try:
            if entry.dtype == "BF16":
                return float(struct.unpack("<f", b"\0\0" + data)[0])
            code = {"F16": "<e", "F32": "<f", "F64": "<d", "I32": "<i", "I64": "<q"}
            return float(struct.unpack(code[entry.dtype], data)[0])
        except (KeyError, struct.error):
            return None


def read_header(path: Path) -> Header:
    """The header of the safetensors file `path`.

    Raises CorruptFile, saying what the file is instead and what to do about it.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            return _read_header(file, path, size)
    except OSError as error:
        raise CorruptFile(f"{path.name} cannot be read: {error.strerror}", field="uri") from error


def _read_header(file: BinaryIO, path: Path, size: int) -> Header:
    name = path.name
    start = file.read(512)
    length = struct.unpack("<Q", start[:8])[0] if len(start) >= 8 else 0
    if start[8:9] != b"{" or length >= 2**40:
        raise _corrupt(f"{name} {describe_foreign(start, size)}")
    if length > MAX_HEADER_BYTES:
        raise _corrupt(
            f"{name} has a header of {length} bytes; more than {MAX_HEADER_BYTES} are not read: "
            "save it again without the large metadata"
        )
    if 8 + length > size:
        raise _corrupt(
            f"{name} is truncated: its header needs {8 + length} bytes and it has {size}; at "
            f"least {8 + length - size} bytes are missing; {_UPLOAD_AGAIN}"
        )
    file.seek(8)
    header = _parse_json(file.read(length), name)
    metadata = header.pop("__metadata__", None) or {}
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise _corrupt(f"{name} has a damaged header: its metadata is not text; {_UPLOAD_AGAIN}")
    try:
        check_keys(header)
    except ValueError as error:
        raise _corrupt(f"{name} has a damaged header: {error}; {_UPLOAD_AGAIN}") from error
    tensors = {key: _entry(key, value, 8 + length, name) for key, value in header.items()}
    _check_cover(tensors, first=8 + length, size=size, name=name)
    return Header(path=path, tensors=tensors, metadata=metadata)


def _parse_json(data: bytes, name: str) -> dict[str, Any]:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError("a key stands there twice")
        return found

    try:
        header = json.loads(data.decode("utf-8"), object_pairs_hook=unique)
        # A lone surrogate can be written in JSON but is no text; it would break every log line.
        json.dumps(header, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise _corrupt(
            f"{name} has a damaged header ({shorten(str(error))}): it is no safetensors file or "
            f"its first bytes were overwritten; {_UPLOAD_AGAIN}"
        ) from error
    if not isinstance(header, dict):
        raise _corrupt(f"{name} has a damaged header: it is no JSON object; {_UPLOAD_AGAIN}")
    return header


def check_keys(keys: Iterable[object]) -> None:
    """Refuse keys that no trainer writes, before anything is matched with them.

    Raises:
        ValueError: one is very long, or has characters that control a terminal.
    """
    for key in keys:
        if isinstance(key, str) and (len(key) > MAX_KEY_CHARACTERS or _CONTROL.search(key)):
            raise ValueError(f"a key is too long or has control characters: {shorten(key, 60)!r}")


def _entry(key: str, value: Any, first: int, name: str) -> TensorEntry:
    """One header entry, its shape and offsets checked against each other."""
    where = f"{name} has a damaged header at {shorten(key)!r}"
    try:
        dtype, shape, (begin, end) = value["dtype"], value["shape"], value["data_offsets"]
    except (TypeError, KeyError, ValueError) as error:
        raise _corrupt(f"{where}: it describes no tensor; {_UPLOAD_AGAIN}") from error
    if not isinstance(dtype, str) or dtype not in DTYPE_BITS:
        raise _corrupt(f"{where}: unknown element type {shorten(str(dtype))!r}; {_UPLOAD_AGAIN}")
    if not isinstance(shape, list) or not all(_is_size(n) for n in [*shape, begin, end]):
        raise _corrupt(f"{where}: shape and offsets must be whole numbers; {_UPLOAD_AGAIN}")
    if len(shape) > 32 or 8 * (end - begin) != math.prod(shape) * DTYPE_BITS[dtype]:
        raise _corrupt(f"{where}: shape and number of bytes disagree; {_UPLOAD_AGAIN}")
    return TensorEntry(dtype=dtype, shape=tuple(shape), begin=first + begin, end=first + end)


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _check_cover(tensors: Mapping[str, TensorEntry], *, first: int, size: int, name: str) -> None:
    """The tensors follow one another without gap and end where the file ends."""
    position = first
    for entry in sorted(tensors.values(), key=lambda entry: (entry.begin, entry.end)):
        if entry.begin != position:
            raise _corrupt(
                f"{name} has a damaged header: its tensors overlap or leave gaps; {_UPLOAD_AGAIN}"
            )
        position = entry.end
    if position > size:
        raise _corrupt(
            f"{name} is truncated: it has {size} of {position} bytes; "
            f"{position - size} bytes are missing; {_UPLOAD_AGAIN}"
        )
    if position < size:
        raise _corrupt(
            f"{name} has {size - position} bytes after its last tensor: it was written twice or "
            f"something was appended; {_UPLOAD_AGAIN}"
        )


def describe_foreign(start: bytes, size: int) -> str:
    """What a file that is no safetensors is, from its first bytes, as the rest of a sentence."""
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if size == 0:
        return f"is empty (0 bytes): the upload did not happen; {_UPLOAD_AGAIN}"
    if text.startswith(b"version https://git-lfs"):
        real = re.search(rb"size (\d{1,20})", text)
        real_size = f" of a file of {int(real[1])} bytes" if real else ""
        return (
            f"is a Git LFS pointer{real_size}, not the file itself: run `git lfs pull` where it "
            "was published and upload the real file"
        )
    if size < 8:
        return f"has only {size} bytes: nothing of the checkpoint is in it; {_UPLOAD_AGAIN}"
    if start.startswith(b"PK\x03\x04"):
        return (
            "is a zip archive, most likely a PyTorch pickle (.bin, .pt, .ckpt) with a new name; "
            "pickles can run code and are never opened: save it with safetensors and publish that"
        )
    if start[:1] == b"\x80" and start[1:2] <= b"\x05":
        return (
            "is a Python pickle (.bin, .pt, .ckpt) with a new name; pickles can run code and are "
            "never opened: save it with safetensors and publish that"
        )
    if text.startswith((b"<!doctype", b"<html", b"<?xml", b"<head")):
        return (
            "is a web page, not a checkpoint: the download was answered by a login or error page; "
            "download it again with the right address or token"
        )
    if text.startswith((b"{", b"[")):
        return (
            "is JSON text, not a checkpoint: perhaps an error message saved under its name; "
            "download it again"
        )
    for magic, kind in _FOREIGN:
        if start.startswith(magic):
            return f"is {kind}, not a safetensors file: publish the checkpoint as safetensors"
    if not any(start):
        return f"begins with zeros: the upload reserved the space and broke off; {_UPLOAD_AGAIN}"
    return (
        "does not begin with a safetensors header: it is another kind of file or damaged; "
        f"{_UPLOAD_AGAIN}, saved with safetensors"
    )


_FOREIGN = (
    (b"GGUF", "a GGUF model"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-zip archive"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
)


def shorten(text: str, limit: int = 120) -> str:
    """`text` fit for a message: printable, one line, at most `limit` characters."""
    clean = "".join(character if character.isprintable() else "?" for character in text[:limit])
    return clean if len(text) <= limit else clean + "…"


def _corrupt(message: str) -> CorruptFile:
    return CorruptFile(message, field="uri")
