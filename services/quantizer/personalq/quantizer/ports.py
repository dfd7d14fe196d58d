"""What the quantizer needs of the world."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from personalq.quantizer.jobs import Failed, Job, Published


class Sources(Protocol):
    """Where checkpoints come from."""

    async def fetch(self, job: Job, directory: Path) -> Path:
        """Copy the job's checkpoint into `directory` and return the file or folder.

        It holds the bytes that were registered, whatever happens to the source meanwhile.

        Raises:
            NotFound: there is nothing at the URI.
            CorruptFile: the bytes are not those that were registered.
            InvalidInput: the URI cannot be used, or the file is too large.
            Unavailable: the store is out of reach; worth another try.
        """
        ...


class Announcements(Protocol):
    """Where outcomes are told. Telling the same outcome again changes nothing."""

    async def ready(self, published: Published) -> None:
        """Announce an artifact that is complete in the blob store."""
        ...

    async def failed(self, failed: Failed) -> None:
        """Announce that a profile cannot be made from this source."""
        ...
