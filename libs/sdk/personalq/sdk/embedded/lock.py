"""One stack per data directory: a lock that ends with the process which holds it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class DirectoryInUse(RuntimeError):
    """Another stack works in the data directory, or nobody may."""


@contextmanager
def hold(directory: Path) -> Iterator[None]:
    """Make `directory` and hold it; the lock of a killed stack is gone with it.

    Raises:
        DirectoryInUse: it is held already, or cannot be made.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        file = (directory / "lock").open("a+")
    except OSError as error:
        raise DirectoryInUse(
            f"cannot use {directory} for data ({error.strerror}): choose another with `--data DIR`"
        ) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip()
            raise DirectoryInUse(
                f"{directory} is in use by another stack{f' (process {holder})' if holder else ''}:"
                " stop it, or start this one beside it with `--data DIR --port-base N`"
            ) from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield
