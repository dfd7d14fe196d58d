"""The embedded PostgreSQL keeps to its folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import psycopg
from support.ports import free_port

from personalq.sdk.embedded.postgres import data_directory, run_postgres


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
