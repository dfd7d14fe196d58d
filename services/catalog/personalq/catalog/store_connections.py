"""Reading from PostgreSQL in one round trip.

A round trip costs little on the wire and two process wake-ups, half a millisecond each on an idle
machine; a transaction by the book takes five (ping, BEGIN, tenant, statement, COMMIT).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from psycopg import AsyncConnection as DriverConnection
from psycopg.rows import dict_row
from sqlalchemy.engine import RowMapping
from sqlalchemy.ext.asyncio import AsyncEngine

#: Row-level security: what the rest of the transaction may see.
SET_TENANT = "SELECT set_config('app.tenant', :tenant, true)"
_READ_ONLY_OF_TENANT = f"{SET_TENANT}, set_config('transaction_read_only', 'on', true)"

#: A row by its columns' names, as SQLAlchemy gives it or the driver.
Row = RowMapping | Mapping[str, Any]
#: A statement and its values but for the tenant.
Statement = tuple[str, Mapping[str, object]]


class ReadingConnections:
    """Connections of an engine's pool for transactions that only read, whose statements are known.

    They go out together (libpq's pipeline), so that the whole transaction is one round trip; it
    needs neither BEGIN nor COMMIT, as a pipeline is a transaction of its own.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def read(self, tenant: str, *statements: Statement) -> list[list[dict[str, Any]]]:
        """The rows of each statement, in one transaction; it sees one tenant and writes nothing."""
        async with self._engine.connect() as connection:
            proxy = await connection.get_raw_connection()
            driver: DriverConnection[Any] = proxy.driver_connection  # type: ignore[assignment]
            try:
                # Not by SQLAlchemy's isolation level, which loses a connection when its request is
                # cancelled meanwhile.
                await driver.set_autocommit(True)
                rows = await _read(driver, tenant, statements)
                await driver.set_autocommit(False)
                return rows
            except BaseException:
                # Nobody is to get a connection on which half of a pipeline is still under way.
                await connection.invalidate()
                raise


async def _read(
    driver: DriverConnection[Any],
    tenant: str,
    statements: Sequence[Statement],
) -> list[list[dict[str, Any]]]:
    cursors = []
    async with driver.pipeline():
        await driver.execute(_driver_sql(_READ_ONLY_OF_TENANT), {"tenant": tenant})
        for statement, values in statements:
            cursor = driver.cursor(row_factory=dict_row, binary=True)
            cursors.append(
                await cursor.execute(_driver_sql(statement), {**values, "tenant": tenant})
            )
    return [await cursor.fetchall() for cursor in cursors]


#: A value of a statement; `::` is a cast.
_VALUE = re.compile(r"(?<![:\w]):(\w+)(?!:)")


@lru_cache(maxsize=1024)
def _driver_sql(statement: str) -> str:
    """A statement with the driver's placeholders, `%(tenant)s` for `:tenant`."""
    return _VALUE.sub(r"%(\1)s", statement.replace("%", "%%"))
