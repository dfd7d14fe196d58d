"""Alembic's entry point: run the migrations on the connection that `migrate` opened."""

from __future__ import annotations

from alembic import context
from sqlalchemy import text

connection = context.config.attributes["connection"]
connection.execute(text("CREATE SCHEMA IF NOT EXISTS personalq"))
context.configure(connection=connection, version_table_schema="personalq")
context.run_migrations()
