"""Files of an artifact: written as a whole, verified, read."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from torch import Tensor

from personalq.taq.errors import IntegrityError

READ_BYTES = 1 << 22


@dataclass(frozen=True)
class ArtifactFile:
    """A file of the artifact, by its name in the artifact's directory."""

    name: str
    size: int  # bytes
    sha256: str  # hexadecimal


def replace_file(path: Path, write: Callable[[Path], Any]) -> None:
    """Let `write` fill a temporary neighbour, sync it, and rename it to `path`."""
    unfinished = path.with_name(f".{path.name}.partial")
    write(unfinished)
    with unfinished.open("rb") as file:
        os.fsync(file.fileno())
    unfinished.replace(path)


def check_name(directory: Path, file: ArtifactFile) -> None:
    """Refuse a name that leads elsewhere, before anything is read.

    Raises:
        IntegrityError: it is not that of a safetensors file in `directory`.
    """
    path = directory / file.name
    if path.parent != directory or path.suffix != ".safetensors":
        raise IntegrityError(f"{file.name} is not the name of a safetensors file in the artifact.")


def verify(directory: Path, file: ArtifactFile) -> None:
    """Compare a file with what the manifest says of it.

    Raises:
        IntegrityError: it is missing, or its size or sha256 is another.
    """
    try:
        size, sha256 = size_and_sha256(directory / file.name)
    except OSError as error:
        raise IntegrityError(f"{file.name} is missing from the artifact.") from error
    if size != file.size:
        raise IntegrityError(f"{file.name} has {size} bytes, not {file.size}.")
    if sha256 != file.sha256:
        raise IntegrityError(f"{file.name} was changed: its sha256 is {sha256}, not {file.sha256}.")


def size_and_sha256(path: Path) -> tuple[int, str]:
    """Return a file's bytes and hexadecimal sha256."""
    digest, block = hashlib.sha256(), memoryview(bytearray(READ_BYTES))
    with path.open("rb", buffering=0) as file:
        while count := file.readinto(block):
            digest.update(block[:count])
        return file.tell(), digest.hexdigest()


def read_tensors(path: Path, prefix: str = "") -> Iterator[tuple[str, Tensor]]:
    """Yield the tensors of a safetensors file whose keys begin with `prefix`, mapped from it.

    The file stays mapped, as a whole, for as long as one of them is there.

    Raises:
        IntegrityError: the file is not safetensors.
    """
    try:
        with safe_open(path, framework="pt") as file:
            for key in file.keys():  # noqa: SIM118 - no mapping
                if key.startswith(prefix):
                    yield key, file.get_tensor(key)
    except SafetensorError as error:
        raise IntegrityError(f"{path.name} is not a safetensors file: {error}.") from error
