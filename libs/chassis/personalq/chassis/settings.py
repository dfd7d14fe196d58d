"""Settings from the environment: read once, all problems reported together.

    class CatalogSettings(CommonSettings):
        model_config = SettingsConfigDict(env_prefix="PERSONALQ_CATALOG_")
        port: Port = 7400
        postgres_url: str

    settings = load_settings(CatalogSettings)

A nested value (a dict, a list) is written as JSON.
"""

from __future__ import annotations

import difflib
import os
import sys
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

S = TypeVar("S", bound="Settings")

#: A TCP port; 0 lets the system choose one.
Port = Annotated[int, Field(ge=0, le=65535)]
#: A length of time in seconds.
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]

#: Values of settings whose names end so may hold a password: never print them.
_SECRETIVE = ("url", "dsn", "key", "password", "secret", "token", "credentials")


class _Environment(EnvSettingsSource):
    """The environment; a value that is not JSON is left for validation to complain about."""

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:
        try:
            return super().decode_complex_value(field_name, field, value)
        except ValueError:
            return value


class Settings(BaseSettings):
    """Base of every settings class: frozen, from the environment only."""

    model_config = SettingsConfigDict(frozen=True, env_prefix="PERSONALQ_", env_ignore_empty=True)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read keyword arguments first (tests), then the environment."""
        return init_settings, _Environment(settings_cls)

    @classmethod
    def variable(cls, field: str) -> str:
        """Name of the environment variable that sets a field."""
        return f"{cls.model_config.get('env_prefix', '')}{field}".upper()


class CommonSettings(Settings):
    """What every service can be told."""

    #: Address to listen on; 0.0.0.0 in a container.
    host: str = "127.0.0.1"
    #: gRPC port; 0 picks a free one.
    port: Port = 0
    #: Where NATS is.
    nats_url: str = "nats://127.0.0.1:4222"
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    #: One JSON object per line, or lines for a person at a terminal.
    log_format: Literal["json", "console"] = "json"
    #: Prometheus endpoint; 0 is off.
    metrics_port: Port = 0
    #: Between "not serving" and the closing of the listener, so that load balancers notice.
    drain_s: Seconds = 5.0
    #: How long calls in flight may go on after that.
    grace_s: Seconds = 30.0
    #: Deadline of a call whose client set none.
    deadline_s: Annotated[float, Field(gt=0)] = 60.0
    #: The same for calls that answer with a stream.
    stream_deadline_s: Annotated[float, Field(gt=0)] = 600.0
    #: Close connections this old, so that clients spread over new pods; 0 never.
    max_connection_age_s: Seconds = 0.0


def load_settings(cls: type[S]) -> S:
    """Read the settings; if anything is wrong print it all, a line each, and exit with code 2."""
    problems = _misspelt(cls)
    try:
        settings = cls()
    except ValidationError as error:
        problems = [_problem(cls, detail) for detail in error.errors()] + problems
    if problems:
        print(*problems, sep="\n", file=sys.stderr)  # noqa: T201  # logging is not set up yet
        raise SystemExit(2)
    return settings


def _problem(cls: type[Settings], detail: ErrorDetails) -> str:
    """One line: the variable, what it must be, what it is."""
    field = str(detail["loc"][0]) if detail["loc"] else ""
    name = cls.variable(field) if field else cls.__name__
    where = "".join(f"[{part!r}]" for part in detail["loc"][1:])
    if detail["type"] == "missing" and not where:
        return f"{name}: is required; set it in the environment"
    text = f"{name}{where}: {_requirement(cls, field, detail)}"
    if not field or _is_secret(cls, field):  # without a field the input is all of the settings
        return text
    return f"{text} (got {_shown(detail['input'])})"


def _requirement(cls: type[Settings], field: str, detail: ErrorDetails) -> str:
    info = cls.model_fields.get(field)
    if info is not None and detail["type"] in ("greater_than_equal", "less_than_equal"):
        lower = next((m.ge for m in info.metadata if hasattr(m, "ge")), None)
        upper = next((m.le for m in info.metadata if hasattr(m, "le")), None)
        if lower is not None and upper is not None:
            return f"must be between {lower} and {upper}"
    if detail["type"] == "value_error":
        return str(detail.get("ctx", {}).get("error", detail["msg"]))
    return detail["msg"].replace("Input should be", "must be", 1)


def _is_secret(cls: type[Settings], field: str) -> bool:
    info = cls.model_fields.get(field)
    return field.endswith(_SECRETIVE) or (info is not None and info.annotation is SecretStr)


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _misspelt(cls: type[Settings]) -> list[str]:
    """Variables that are almost, but not quite, one of ours."""
    prefix = str(cls.model_config.get("env_prefix", "")).upper()
    known = {cls.variable(field) for field in cls.model_fields}
    problems = []
    for name in sorted(os.environ):
        if prefix and name.startswith(prefix) and name not in known:
            close = difflib.get_close_matches(name, known - set(os.environ), n=1, cutoff=0.9)
            if close:
                problems.append(f"{name}: no such setting; did you mean {close[0]}?")
    return problems
