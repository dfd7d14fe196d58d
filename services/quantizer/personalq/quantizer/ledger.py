"""What was made already: one small file per key in the work directory.

The ledger only saves work. Artifacts are deterministic, so a quantizer without it (a fresh pod)
makes the same artifact again and stores nothing twice.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

from personalq.quantizer.jobs import Made


class Ledger:
    """Remembers `Made` by key, across restarts."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory

    def find(self, key: str) -> Made | None:
        """Return what was recorded under `key`; an unreadable entry counts as none."""
        try:
            values = json.loads((self._directory / f"{key}.json").read_text())
            values["made_at"] = datetime.fromisoformat(values["made_at"])
            return Made(**values | {"blobs": tuple(values["blobs"])})
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def record(self, key: str, made: Made) -> None:
        """Remember `made`; atomic, so that a crash leaves the entry whole or absent."""
        values = asdict(made) | {"made_at": made.made_at.isoformat()}
        write_atomically(self._directory / f"{key}.json", json.dumps(values))


def write_atomically(path: Path, text: str) -> None:
    """Write a small file such that readers see all of it or nothing."""
    partial = path.with_suffix(".partial")
    with partial.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
