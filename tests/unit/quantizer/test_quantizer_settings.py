"""What the quantizer can be told."""

from __future__ import annotations

import pytest

from personalq.chassis.settings import load_settings
from personalq.quantizer.settings import QuantizerSettings
from personalq.taq import PROFILES


def test_one_base_model_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything else has a default; the default profiles are all that exist."""
    monkeypatch.setenv("PERSONALQ_QUANTIZER_BASE_MODELS", '{"m": "/models/m"}')
    settings = load_settings(QuantizerSettings)
    assert settings.base_models == {"m": "/models/m"}
    assert settings.profiles == tuple(PROFILES)
    assert settings.port == 7402


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("BASE_MODELS", ""),
        ("BASE_MODELS", "{}"),
        ("BASE_MODELS", "models"),
        ("PROFILES", '["w2a2"]'),
        ("PROFILES", "[]"),
        ("CALIBRATION_STEPS", "0"),
        ("ACK_WAIT_S", "never"),
    ],
)
def test_a_bad_setting_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], variable: str, value: str
) -> None:
    """The service ends with code 2 and says which variable is wrong."""
    monkeypatch.setenv("PERSONALQ_QUANTIZER_BASE_MODELS", '{"m": "/models/m"}')
    monkeypatch.setenv(f"PERSONALQ_QUANTIZER_{variable}", value)
    with pytest.raises(SystemExit) as caught:
        load_settings(QuantizerSettings)
    assert caught.value.code == 2
    assert f"PERSONALQ_QUANTIZER_{variable}" in capsys.readouterr().err
