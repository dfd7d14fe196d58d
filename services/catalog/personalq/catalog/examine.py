"""Fetch a checkpoint's file, find out what it is, keep nothing."""

from __future__ import annotations

import asyncio
import json
import logging
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from personalq.catalog.cards import Format, Origin
from personalq.catalog.ports import Examined
from personalq.chassis.errors import PersonalQError
from personalq.chassis.inspection import inspect
from personalq.chassis.sources import Source, digest_of, fetch_source

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class FileExaminer:
    """Examiner on `personalq.chassis.sources` and `personalq.chassis.inspection`."""

    #: Folder for files in transit; the system's own for temporary files when None.
    work_dir: Path | None = None
    max_bytes: int
    #: One place per file in transit; the others wait, lest they fill the disk together.
    places: asyncio.Semaphore
    #: Folders that file:// may read from; any when empty.
    allowed_roots: Sequence[Path] = field(default=())

    async def __call__(self, origin: Origin) -> Examined:
        """Read the file behind the URI and keep nothing; errors as in the port."""
        if self.work_dir is not None:
            self.work_dir.mkdir(parents=True, exist_ok=True)
        async with self.places:
            with tempfile.TemporaryDirectory(
                prefix="checkpoint-", dir=self.work_dir, ignore_cleanup_errors=True
            ) as folder:
                path = await fetch_source(
                    Source(uri=origin.uri, sha256=origin.sha256, size_bytes=origin.size_bytes),
                    Path(folder),
                    max_bytes=self.max_bytes,
                    in_place=True,  # it is only looked into
                    allowed_roots=self.allowed_roots,
                )
                return await asyncio.to_thread(_examined, origin, path)


def _examined(origin: Origin, path: Path) -> Examined:
    sha256, size_bytes = digest_of(path)
    inspection = inspect(path)
    return Examined(
        origin=Origin(
            uri=origin.uri, sha256=sha256, size_bytes=size_bytes, format=Format(inspection.format)
        ),
        inspection=inspection,
    )


def base_model_widths(base_models: Mapping[str, int | str]) -> dict[str, int]:
    """How wide a text each base model's cross-attention reads, by id.

    Args:
        base_models: id → the width itself, or the path or file:// URI of a diffusers folder whose
            `unet/config.json` says it.

    Raises:
        PersonalQError: a folder has no such file, or the file does not say it.
    """
    return {name: _width(name, where) for name, where in base_models.items()}


def _width(name: str, where: int | str) -> int:
    if isinstance(where, int):
        return where
    path = Path(where.removeprefix("file://")) / "unet" / "config.json"
    try:
        width = json.loads(path.read_bytes())["cross_attention_dim"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise PersonalQError(
            f"base model {name}: {path} does not say its cross_attention_dim ({error}); correct "
            "PERSONALQ_CATALOG_BASE_MODELS or give the width itself, for example 768"
        ) from error
    # SDXL and its kin write one per block, all alike.
    return int(width[0] if isinstance(width, list) else width)
