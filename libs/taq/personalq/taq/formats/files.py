"""Tensors and texts from a file: safetensors, or a PyTorch pickle that may only hold tensors."""

from __future__ import annotations

import io
import re
import struct
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, UntypedStorage
from torch.storage import TypedStorage

from personalq.taq.errors import UnsupportedFormatError

PICKLE_SUFFIXES = (".bin", ".pt", ".pth", ".ckpt")
MAX_NESTING = 32  # of containers in a pickle
MAX_SHOWN = 200  # characters of a path in a message
MAX_DIRECTORY_BYTES = 4 << 20  # of an archive; read, it takes twenty times its bytes
MAX_KEY_CHARACTERS = 512  # SDXL's longest has 150; what keys mean is matched in quadratic time

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
#: Of an archive's end record: its signature, the directory's size and offset, a comment's length.
_END = struct.Struct("<4s8xIIH")
#: Of the two records before it that large archives and PyTorch's have: the offset of the first;
#: its signature, the directory's size and offset.
_LOCATOR = struct.Struct("<4s4xQ4x")
_LARGE_END = struct.Struct("<4s36xQQ")

#: What trainers save beside a `state_dict` to go on later; no weights.
_TRAINING_STATE = re.compile(
    r"optimizer.*|lr_scheduler.*|callbacks|loops|hyper_parameters|.*scal(er|ing).*|.*rng_state.*"
)

#: How often the numbers of a pickle may stand in its tensors; an embedding may be an output layer.
MOST_SHARED = 4


def is_pickle(path: Path) -> bool:
    """Tell whether a file calls itself a PyTorch pickle."""
    return path.suffix.lower() in PICKLE_SUFFIXES


def read_tensors(path: Path, *, mmap: bool = False) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Return the tensors of a file by key, and its metadata.

    Args:
        mmap: leave a pickle's numbers on disk until they are used; the file must stay.

    Raises:
        UnsupportedFormatError: it is not what its name says, damaged, or a pickle with more than
            tensors, of which nothing is run.
    """
    if is_pickle(path):
        try:
            _check_archive(path)
            content = torch.load(path, map_location="cpu", weights_only=True, mmap=mmap)
            tensors, metadata = _flattened(content)
            _refuse_repeated(tensors, path.stat().st_size)
            return tensors, metadata
        except FileNotFoundError:
            raise
        except Exception as error:  # of a damaged pickle torch raises whatever it comes across
            reason = str(error).partition("\n")[0]
            raise UnsupportedFormatError(
                f"{path.name} is no PyTorch file of tensors alone: {reason}"
            ) from error
    try:
        with safe_open(path, framework="pt") as file:
            keys = file.keys()
            _check_keys(keys)
            return {key: file.get_tensor(key) for key in keys}, file.metadata() or {}
    except (SafetensorError, ValueError) as error:
        raise UnsupportedFormatError(f"{path.name} is not a safetensors file: {error}.") from error


def _check_keys(keys: Iterable[object]) -> None:
    """Refuse keys that no trainer writes, before anything is matched with them."""
    for key in keys:
        if isinstance(key, str) and (len(key) > MAX_KEY_CHARACTERS or _CONTROL.search(key)):
            raise ValueError(f"a key is too long or has control characters: {key[:MAX_SHOWN]!r}.")


class _File(io.BufferedReader):
    """Refuses to read at once more than any archive's directory has."""

    def read(self, size: int | None = -1, /) -> bytes:
        """Read `size` bytes; an archive's end, which has no more than 64 KB, without a size."""
        if size is not None and size > MAX_DIRECTORY_BYTES:
            raise ValueError(f"its archive's directory takes {size} bytes.")
        return super().read(size)


def _check_archive(path: Path) -> None:
    """Refuse compressed members: PyTorch writes none, and they could be any size.

    What begins as an archive is read as one by torch, whatever Python takes it for.
    """
    with _File(path.open("rb", buffering=0)) as file:
        if file.read(4) != b"PK\3\4":
            return
        _check_end(file)
        with zipfile.ZipFile(file) as archive:
            if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
                raise ValueError("its archive is compressed.")


def _check_end(file: BinaryIO) -> None:
    """Refuse an archive in which Python and torch could find two directories.

    Python's lies before the end record, torch's where that record says.
    """
    position = file.seek(0, io.SEEK_END) - _END.size
    file.seek(max(0, position - _LOCATOR.size - _LARGE_END.size))
    tail = file.read()
    signature, size, offset, comment = _END.unpack(tail[-_END.size :])
    if signature != b"PK\5\6" or comment:
        raise ValueError("it does not end as an archive does.")
    locator = tail[: -_END.size][-_LOCATOR.size :]
    if locator.startswith(b"PK\6\7"):
        position -= _LOCATOR.size + _LARGE_END.size
        signature, size, offset = _LARGE_END.unpack(tail[: _LARGE_END.size])
        if signature != b"PK\6\6" or _LOCATOR.unpack(locator)[1] != position:
            raise ValueError("its end is not where it is said to be.")
    if offset + size != position:
        raise ValueError("its directory is not where it is said to be.")


def _refuse_repeated(tensors: Mapping[str, Tensor], size: int) -> None:
    """Refuse tensors that share their numbers again and again: what is made of each would not."""
    if sum(tensor.nbytes for tensor in tensors.values()) > MOST_SHARED * size:
        raise ValueError("its tensors hold the same numbers many times over.")


def _flattened(content: Any) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Return the tensors of a pickle's dictionary by key, and its texts.

    A trainer's checkpoint has them in its `state_dict`; of what else it holds only the state of
    the training may have tensors, which are not looked at. The web UI's embeddings are
    `{"string_to_param": {"*": …}, "name": …}`; they get the key that names their token.
    """
    if not isinstance(content, Mapping):
        raise ValueError("it holds no dictionary.")
    _check_keys(content)
    if isinstance(content.get("state_dict"), Mapping):
        beside = {k: v for k, v in content.items() if not _is_training_state(k)}
        content = beside.pop("state_dict")
        _refuse_tensors(beside)
        _check_keys(content)
    name = content.get("name")
    tensors: dict[str, Tensor] = {}
    metadata: dict[str, str] = {}
    others: dict[Any, Any] = {"attributes": _attributes(content)}
    for key, value in content.items():
        if not isinstance(key, str | int):
            raise ValueError("a key is neither text nor number.")
        if isinstance(value, Tensor):
            _add(tensors, str(key), value)
        elif key == "string_to_param" and isinstance(value, Mapping):
            for token, tensor in value.items():
                if not isinstance(tensor, Tensor):
                    raise ValueError(f"string_to_param.{token} is no tensor.")
                called = name if token == "*" and isinstance(name, str) else str(token)  # noqa: S105 - a wildcard
                written = f"bundle_emb.{called}.string_to_param.*"
                _add(tensors, written if called != "*" else "string_to_param.*", tensor)
        elif isinstance(value, str | int | float):
            metadata[str(key)] = str(value)
        else:
            others[key] = value
    _refuse_tensors(others)
    _check_keys(tensors)  # the names of tokens, too
    return tensors, metadata


def _is_training_state(key: object) -> bool:
    return isinstance(key, str) and bool(_TRAINING_STATE.fullmatch(key))


def _add(tensors: dict[str, Tensor], key: str, tensor: Tensor) -> None:
    """Add a tensor that has its numbers, not one that repeats a few of them without end."""
    if tensor.numel() * tensor.element_size() > tensor.untyped_storage().nbytes():
        raise ValueError(f"{key} is larger than its numbers.")
    if key in tensors:
        raise ValueError(f"two of its tensors are called {key}.")
    tensors[key] = tensor.detach()


def _refuse_tensors(content: Mapping[Any, Any]) -> None:
    """Refuse tensors anywhere below the values of `content`: what they are is not said.

    Each object is visited once, whatever the number of ways to it.
    """
    visited: set[int] = set()
    pending: list[tuple[tuple[object, ...], Any]] = [((key,), v) for key, v in content.items()]
    while pending:
        path, value = pending.pop()
        if isinstance(value, Tensor | TypedStorage | UntypedStorage):
            where = ".".join(map(str, path))
            raise ValueError(f"its tensors are nested below {path[0]!r}: {where[:MAX_SHOWN]}.")
        if id(value) in visited:
            continue
        visited.add(id(value))
        if isinstance(value, Mapping):
            inner = [*value.items(), *enumerate(value), *_attributes(value).items()]
        elif isinstance(value, list | tuple | set | frozenset):
            inner = list(enumerate(value))
        else:
            continue
        if len(path) == MAX_NESTING:
            raise ValueError(f"it is nested too deeply below {path[0]!r}.")
        pending += [((*path, key), part) for key, part in inner]


def _attributes(content: Any) -> Mapping[Any, Any]:
    """Return what a pickle has set beside the items of an ordered dictionary."""
    return getattr(content, "__dict__", {})
