"""Everything the catalog can be told."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import SettingsConfigDict

from personalq.chassis.settings import CommonSettings, Port, Seconds

_PREFIX = "PERSONALQ_CATALOG_"


class CatalogSettings(CommonSettings):
    """The catalog's settings; `migrate` reads the database's URL and the width of vectors."""

    model_config = SettingsConfigDict(env_prefix=_PREFIX)

    port: Port = 7400
    #: Watches last: a client reconnects when one ends.
    stream_deadline_s: Annotated[float, Field(gt=0)] = 86_400.0
    #: postgresql://login@host:5432/database; the login is a member of the role personalq_app.
    postgres_url: str
    #: Database connections held open.
    postgres_pool: Annotated[int, Field(ge=1, le=100)] = 10

    #: "minilm", the folder or Hub id of a sentence-transformers model, with `embedding_url` the
    #: server's name of its model; empty turns the dense ranking off.
    embedding_model: str = ""
    #: An OpenAI-compatible server, up to and including /v1; empty means a local model.
    embedding_url: str = ""
    #: Sent to that server as a bearer token.
    embedding_key: SecretStr = SecretStr("")
    #: Width of that server's vectors; a local model tells it itself. `migrate` takes 0 for 384.
    embedding_dim: Annotated[int, Field(ge=0, le=4000)] = 0
    embedding_timeout_s: Annotated[float, Field(gt=0)] = 10.0
    #: A search waits this long for that server, and then ranks by words alone.
    embedding_query_timeout_s: Annotated[float, Field(gt=0)] = 2.0
    #: Put before what is looked for; Qwen3-Embedding wants "Instruct: <task>\nQuery:".
    embedding_query_prefix: str = ""
    #: Put before descriptions; changing it embeds every card anew.
    embedding_document_prefix: str = ""
    #: Where a local model runs.
    embedding_device: str = "cpu"

    #: Base models served here, as JSON: id → width of the text their cross-attention reads, or the
    #: diffusers folder whose unet/config.json says it. Empty accepts checkpoints of any.
    base_models: dict[str, int | str] = Field(default_factory=dict)
    #: Serving profiles every checkpoint should have, comma-separated or as JSON.
    profiles: tuple[str, ...] = ("full", "w8a8", "w4a8")
    #: Artifacts of an earlier recipe are asked for anew; the quantizer's own number.
    recipe_version: Annotated[int, Field(ge=1)] = 6
    #: Pause between two rounds of repair.
    reconcile_interval_s: Annotated[float, Field(gt=0)] = 60.0
    #: How long the quantizer may take before an artifact counts as lost; doubles with each try.
    reconcile_patience_s: Seconds = 300.0

    #: A tenant with as many cards gets indexes of its own; see docs/decisions/007.
    index_from_cards: Annotated[int, Field(ge=1)] = 5_000

    #: Folder for files in transit; the system's folder for temporary files when empty.
    work_dir: Path | None = None
    #: Largest checkpoint accepted, in bytes.
    max_source_bytes: Annotated[int, Field(gt=0)] = 16 * 1024**3
    #: Folders that file:// may read from, as JSON; any when empty.
    source_roots: tuple[Path, ...] = ()
    #: Pause before an event is tried again whose file, or our database, is out of reach.
    retry_after_s: Seconds = 30.0
    #: Files verified at a time, for events and calls together; each needs room in `work_dir`.
    concurrency: Annotated[int, Field(ge=1, le=64)] = 2

    @field_validator("profiles", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        return value.split(",") if isinstance(value, str) else value

    @field_validator("profiles")
    @classmethod
    def _named(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        profiles = tuple(dict.fromkeys(name.strip() for name in value))
        if not profiles or "" in profiles:
            raise ValueError("name at least one profile, for example full,w8a8")
        return profiles

    @model_validator(mode="after")
    def _width_of_a_server(self) -> CatalogSettings:
        if self.embedding_url and not (self.embedding_model and self.embedding_dim):
            raise ValueError(
                f"{_PREFIX}EMBEDDING_URL needs {_PREFIX}EMBEDDING_MODEL and "
                f"{_PREFIX}EMBEDDING_DIM: the server does not tell them"
            )
        return self
