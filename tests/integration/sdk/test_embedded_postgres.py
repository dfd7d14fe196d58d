"""The embedded PostgreSQL keeps to its folder."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest
from support.ports import free_port

from personalq.sdk.embedded.postgres import data_directory, run_postgres
from personalq.sdk.embedded.process import ChildFailed


async def _tables(directory: Path, statement: str = "") -> list[str]:
    """Run a statement, then list the tables."""
    async with run_postgres(directory, port=free_port(), options=["fsync=off"]) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            if statement:
                connection.execute(statement.encode())
            rows = connection.execute(
                "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
            ).fetchall()
    return [row[0] for row in rows]


async def test_a_wheel_without_programs_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the way to mend it."""
    spec = SimpleNamespace(origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr("personalq.sdk.embedded.postgres.find_spec", lambda _: spec)
    with pytest.raises(ChildFailed, match="pip install --force-reinstall"):
        await _tables(tmp_path / "stack")


async def test_data_survives_a_restart_and_goes_with_its_folder(tmp_path: Path) -> None:
    """Who removes the folder of a stack gets a fresh one, also where root's data lies elsewhere."""
    directory = tmp_path / "stack"
    try:
        assert await _tables(directory, "CREATE TABLE kept ()") == ["kept"]
        assert await _tables(directory) == ["kept"]
        shutil.rmtree(directory)
        assert await _tables(directory) == []
    finally:
        shutil.rmtree(data_directory(directory), ignore_errors=True)
