"""Checkpoints from their URIs: the adapter of `ports.Sources`."""

from __future__ import annotations

from pathlib import Path

from personalq.chassis.sources import Source, fetch_source
from personalq.quantizer.jobs import Job


class UriSources:
    """Fetches what the card's URI names and compares it with the card's sha256 and size."""

    def __init__(self, *, bytes_max: int) -> None:
        self._bytes_max = bytes_max

    async def fetch(self, job: Job, directory: Path) -> Path:
        """Copy the job's checkpoint into `directory`; see `ports.Sources`."""
        source = Source(uri=job.uri, sha256=job.source_sha256, size_bytes=job.source_size_bytes)
        return await fetch_source(source, directory, max_bytes=self._bytes_max)
