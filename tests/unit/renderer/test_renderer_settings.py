"""What the renderer can be told."""

from __future__ import annotations

import pytest

from personalq.chassis.errors import PersonalQError
from personalq.chassis.settings import load_settings
from personalq.renderer.__main__ import load_safety_checker
from personalq.renderer.settings import RendererSettings


def test_one_base_model_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything else has a default: eight bits on the CPU."""
    monkeypatch.setenv("PERSONALQ_RENDERER_BASE_MODELS", '{"m": "/models/m"}')
    settings = load_settings(RendererSettings)
    assert (settings.device, settings.default_profile, settings.port) == ("cpu", "w8a8", 7403)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("BASE_MODELS", "{}"),
        ("DEFAULT_PROFILE", "w2a2"),
        ("DEFAULT_STEPS", "0"),
        ("DTYPE", "int8"),
        ("QUEUE_LENGTH", "0"),
        ("MEMORY_BYTES_MAX", "-1"),
    ],
)
def test_a_bad_setting_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], variable: str, value: str
) -> None:
    """The service ends with code 2 and says which variable is wrong."""
    monkeypatch.setenv("PERSONALQ_RENDERER_BASE_MODELS", '{"m": "/models/m"}')
    monkeypatch.setenv(f"PERSONALQ_RENDERER_{variable}", value)
    with pytest.raises(SystemExit) as caught:
        load_settings(RendererSettings)
    assert caught.value.code == 2
    assert f"PERSONALQ_RENDERER_{variable}" in capsys.readouterr().err


def test_a_safety_checker_is_made_by_its_factory() -> None:
    """None by default; a name that leads nowhere stops the start."""
    assert load_safety_checker("") is None
    assert load_safety_checker("collections:OrderedDict") is not None
    for name in ("nowhere:x", "collections:nothing", "collections"):
        with pytest.raises(PersonalQError, match=r"package\.module:factory"):
            load_safety_checker(name)
