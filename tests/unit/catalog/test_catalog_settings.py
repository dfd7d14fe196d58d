"""The catalog's settings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from personalq.catalog.examine import base_model_widths
from personalq.catalog.settings import CatalogSettings
from personalq.chassis.errors import PersonalQError
from personalq.chassis.settings import load_settings
from personalq.taq.recipe import RECIPE_VERSION


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment that names a database."""
    monkeypatch.setenv("PERSONALQ_CATALOG_POSTGRES_URL", "postgresql://localhost/x")
    return monkeypatch


def test_a_database_is_all_that_must_be_named(environment: pytest.MonkeyPatch) -> None:
    """Everything else has a default; the dense ranking is off."""
    settings = load_settings(CatalogSettings)
    assert settings.port == 7400
    assert settings.embedding_model == ""
    assert settings.profiles == ("full", "w8a8", "w4a8")


def test_the_recipe_version_is_the_quantizers(environment: pytest.MonkeyPatch) -> None:
    """The catalog installs without personalq.taq, so it repeats the number."""
    assert load_settings(CatalogSettings).recipe_version == RECIPE_VERSION


@pytest.mark.parametrize("value", ["full, w8a8", '["full", "w8a8"]'])
def test_profiles_are_a_list_of_names(environment: pytest.MonkeyPatch, value: str) -> None:
    """Comma-separated or JSON."""
    environment.setenv("PERSONALQ_CATALOG_PROFILES", value)
    assert load_settings(CatalogSettings).profiles == ("full", "w8a8")


def test_all_problems_are_printed(
    environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever deploys sees every mistake at once, and exit code 2."""
    environment.setenv("PERSONALQ_CATALOG_PROFILES", ",")
    environment.setenv("PERSONALQ_CATALOG_RECIPE_VERSION", "0")
    with pytest.raises(SystemExit) as exit_:
        load_settings(CatalogSettings)
    assert exit_.value.code == 2
    printed = capsys.readouterr().err
    assert "PERSONALQ_CATALOG_PROFILES" in printed
    assert "PERSONALQ_CATALOG_RECIPE_VERSION" in printed


def test_an_embedding_server_needs_model_and_width(
    environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The server tells neither."""
    environment.setenv("PERSONALQ_CATALOG_EMBEDDING_URL", "http://localhost/v1")
    with pytest.raises(SystemExit):
        load_settings(CatalogSettings)
    assert "EMBEDDING_DIM" in capsys.readouterr().err


def test_widths_of_base_models_are_given_or_read(tmp_path: Path) -> None:
    """A diffusers folder says how wide its texts are, by path or file:// URI."""
    (tmp_path / "unet").mkdir()
    config = {"cross_attention_dim": [1280, 1280]}
    (tmp_path / "unet" / "config.json").write_text(json.dumps(config))
    assert base_model_widths({"a": 768, "b": str(tmp_path), "c": f"file://{tmp_path}"}) == {
        "a": 768,
        "b": 1280,
        "c": 1280,
    }


def test_a_base_model_that_is_not_there_stops_the_start(tmp_path: Path) -> None:
    """Better no catalog than one that refuses every checkpoint."""
    with pytest.raises(PersonalQError, match="BASE_MODELS"):
        base_model_widths({"a": str(tmp_path)})
