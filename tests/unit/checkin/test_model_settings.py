"""What Check-in can be told about models, and what it says when it was told wrongly."""

from __future__ import annotations

import subprocess
import sys

import pytest

from personalq.chassis.errors import PersonalQError
from personalq.chassis.settings import load_settings
from personalq.checkin.advising.llm import open_llm
from personalq.checkin.endpoint import Breaker
from personalq.checkin.settings import CheckinSettings

URL = "https://models.example/v1"


def test_no_model_unless_told() -> None:
    """Without settings there is no model and no call."""
    settings = CheckinSettings()
    assert settings.advice.when == "never"
    assert not settings.llm_model
    assert not settings.rerank_model


def test_a_url_means_when_unsure() -> None:
    """An endpoint and a model are all that is needed; never turns it off again."""
    settings = CheckinSettings(llm_base_url=URL, llm_model="some-model")
    assert settings.advice.when == "unsure"
    settings = CheckinSettings(llm_base_url=URL, llm_model="some-model", llm_when="never")
    assert settings.advice.when == "never"


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"LLM_BASE_URL": URL}, "LLM_MODEL"),
        ({"LLM_WHEN": "unsure"}, "LLM_BASE_URL"),
        ({"LLM_WHEN": "sometimes"}, "LLM_WHEN"),
        ({"LLM_BASE_URL": "models.example", "LLM_MODEL": "m"}, "LLM_BASE_URL"),
        ({"LLM_OPTIONS": '{"stream": true}'}, "LLM_OPTIONS"),
        ({"LLM_OPTIONS": "temperature=0"}, "LLM_OPTIONS"),
        ({"LLM_TIMEOUT_S": "0"}, "LLM_TIMEOUT_S"),
        ({"RERANK_URL": URL, "RERANK_API": "cohere"}, "RERANK_MODEL"),
        ({"RERANK_SLOPE": "nan"}, "RERANK_SLOPE"),
    ],
)
def test_wrong_settings_are_named(
    variables: dict[str, str],
    named: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The process ends with code 2 and a line that names the variable to set."""
    for name, value in variables.items():
        monkeypatch.setenv(f"PERSONALQ_CHECKIN_{name}", value)
    with pytest.raises(SystemExit) as ended:
        load_settings(CheckinSettings)
    assert ended.value.code == 2
    assert f"PERSONALQ_CHECKIN_{named}" in capsys.readouterr().err


def test_keys_stay_secret(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No key shows in the settings' text or in a complaint about another one."""
    monkeypatch.setenv("PERSONALQ_CHECKIN_LLM_API_KEY", "sesame")
    monkeypatch.setenv("PERSONALQ_CHECKIN_RERANK_KEY", "sesame")
    assert "sesame" not in repr(load_settings(CheckinSettings))
    monkeypatch.setenv("PERSONALQ_CHECKIN_LLM_WHEN", "always")
    with pytest.raises(SystemExit):
        load_settings(CheckinSettings)
    assert "sesame" not in capsys.readouterr().err


def test_nothing_is_imported_for_models_that_are_not_configured() -> None:
    """The service starts without the packages of the extras."""
    extras = ("openai", "httpx2", "tenacity", "torch", "sentence_transformers")
    code = f"import sys, personalq.checkin.__main__; print(*(set({extras}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


async def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra, a configured model ends the start with what to install."""
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(PersonalQError, match=r"personalq-checkin\[llm\]"):
        async with open_llm(
            URL,
            model="m",
            key="",
            options={},
            timeout_s=1,
            breaker=Breaker(failures=1, pause_s=1),
        ):
            pass
