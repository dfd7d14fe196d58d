"""Settings: everything that is wrong, at once, with the name of the variable."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import SettingsConfigDict

from personalq.chassis.settings import CommonSettings, Port, load_settings


class Example(CommonSettings):
    """Settings of a service that does not exist."""

    model_config = SettingsConfigDict(env_prefix="PERSONALQ_EXAMPLE_")

    port: Port = 7400
    postgres_url: str
    profiles: tuple[str, ...] = ("w8a8",)
    base_models: dict[str, Path] = Field(default_factory=dict)
    api_key: SecretStr = SecretStr("")
    steps: int = Field(default=30, ge=1)
    time_zone: str = "UTC"

    @field_validator("time_zone")
    @classmethod
    def _known(cls, value: str) -> str:
        if value != "UTC":
            raise ValueError("must be an IANA time zone")
        return value


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment in which the required setting is set."""
    monkeypatch.setenv("PERSONALQ_EXAMPLE_POSTGRES_URL", "postgresql://db")
    return monkeypatch


def test_the_environment_is_read(environment: pytest.MonkeyPatch) -> None:
    """Plain values, JSON for nested ones, defaults for the rest."""
    environment.setenv("PERSONALQ_EXAMPLE_PORT", "7500")
    environment.setenv("PERSONALQ_EXAMPLE_PROFILES", '["full", "w4a8"]')
    environment.setenv("PERSONALQ_EXAMPLE_BASE_MODELS", '{"sd15": "/models/sd15"}')
    settings = load_settings(Example)
    assert settings.port == 7500
    assert settings.profiles == ("full", "w4a8")
    assert settings.base_models == {"sd15": Path("/models/sd15")}
    assert settings.log_format == "json"


def test_settings_do_not_change(environment: pytest.MonkeyPatch) -> None:
    """What was read once stays."""
    settings = load_settings(Example)
    with pytest.raises(ValidationError, match="frozen"):
        settings.port = 1  # type: ignore[misc]


def test_all_problems_are_printed_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line for each, with the variable, what it must be and what it is; exit code 2."""
    for name, value in {
        "PORT": "99999",
        "BASE_MODELS": "{not json",
        "LOG_LEVEL": "LOUD",
        "STEPS": "0",
        "DRAIN_S": "-1",
        "PROFILES": '["full", 3]',
        "TIME_ZONE": "Mars",
    }.items():
        monkeypatch.setenv(f"PERSONALQ_EXAMPLE_{name}", value)
    with pytest.raises(SystemExit) as stop:
        load_settings(Example)
    assert stop.value.code == 2
    assert sorted(capsys.readouterr().err.splitlines()) == [
        "PERSONALQ_EXAMPLE_BASE_MODELS: must be a valid dictionary (got {not json)",
        "PERSONALQ_EXAMPLE_DRAIN_S: must be greater than or equal to 0 (got -1)",
        "PERSONALQ_EXAMPLE_LOG_LEVEL: must be 'DEBUG', 'INFO', 'WARNING' or 'ERROR' (got LOUD)",
        "PERSONALQ_EXAMPLE_PORT: must be between 0 and 65535 (got 99999)",
        "PERSONALQ_EXAMPLE_POSTGRES_URL: is required; set it in the environment",
        "PERSONALQ_EXAMPLE_PROFILES[1]: must be a valid string (got 3)",
        "PERSONALQ_EXAMPLE_STEPS: must be greater than or equal to 1 (got 0)",
        "PERSONALQ_EXAMPLE_TIME_ZONE: must be an IANA time zone (got Mars)",
    ]


def test_a_misspelt_variable_is_a_problem(
    environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A name that is almost right is named together with the right one; others are left alone."""
    environment.setenv("PERSONALQ_EXAMPLE_PROFILE", '["full"]')
    environment.setenv("PERSONALQ_EXAMPLE_SERVICE_HOST", "10.0.0.7")
    with pytest.raises(SystemExit):
        load_settings(Example)
    assert capsys.readouterr().err == (
        "PERSONALQ_EXAMPLE_PROFILE: no such setting; did you mean PERSONALQ_EXAMPLE_PROFILES?\n"
    )


def test_a_password_is_not_printed(
    environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The value of what may hold a secret stays out of the message."""

    class Strict(Example):
        @field_validator("postgres_url")
        @classmethod
        def _with_database(cls, value: str) -> str:
            raise ValueError("must name a database")

    environment.setenv("PERSONALQ_EXAMPLE_POSTGRES_URL", "postgresql://me:hunter2@db")
    with pytest.raises(SystemExit):
        load_settings(Strict)
    assert capsys.readouterr().err == ("PERSONALQ_EXAMPLE_POSTGRES_URL: must name a database\n")


def test_settings_that_do_not_fit_each_other_print_no_value(
    environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A rule over several settings says what it wants, and shows none of them."""

    class Strict(Example):
        @model_validator(mode="after")
        def _together(self) -> Strict:
            raise ValueError("name a model with the address")

    environment.setenv("PERSONALQ_EXAMPLE_POSTGRES_URL", "postgresql://me:hunter2@db")
    with pytest.raises(SystemExit):
        load_settings(Strict)
    assert capsys.readouterr().err == "Strict: name a model with the address\n"
