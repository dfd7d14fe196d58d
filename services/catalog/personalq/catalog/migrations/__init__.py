"""The schema of the catalog, as numbered migrations.

    python -m personalq.catalog migrate

Every step can be run again: a database that is up to date stays as it is.
"""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError

from personalq.chassis.errors import PersonalQError, Unavailable

#: What the code of this version needs; migrations are numbered, so a later one includes it.
SCHEMA_VERSION = "0007"


def migrate(postgres_url: str, *, embedding_dim: int = 384) -> None:
    """Bring the schema `personalq` of a database up to date.

    The user of `postgres_url` owns what is created. It must be allowed to create the extension
    `vector` and the role `personalq_app`, unless both exist already.

    Args:
        postgres_url: `postgresql://user@host/database`.
        embedding_dim: width of the configured model's vectors; the table for them is created. A
            service that is configured with another model later creates its table itself.

    Raises:
        PersonalQError: the URL cannot be read, or the database refused a step.
        Unavailable: the database is out of reach.
    """
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    engine = create_engine(driver_url(postgres_url))
    try:
        with engine.begin() as connection:
            # Two migrations at once would race for the same objects.
            connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('personalq.migrate'))"))
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            connection.execute(
                text("SELECT personalq.ensure_embedding_table(:dim)"), {"dim": embedding_dim}
            )
    except OperationalError as error:
        raise Unavailable(f"the database is out of reach: {_first_line(error)}") from error
    except DBAPIError as error:
        raise PersonalQError(f"the database refused a step: {_first_line(error)}") from error
    finally:
        engine.dispose()


def driver_url(postgres_url: str) -> URL:
    """The URL for SQLAlchemy and psycopg; raises PersonalQError for any other database's."""
    try:
        url = make_url(postgres_url)
    except ArgumentError:
        url = None
    if url is None or url.get_backend_name() not in ("postgresql", "postgres"):
        raise PersonalQError("the database's URL must look like postgresql://user@host:5432/name")
    return url.set(drivername="postgresql+psycopg")


def _first_line(error: DBAPIError) -> str:
    return (str(error.orig).strip() or "no reason given").splitlines()[0]
