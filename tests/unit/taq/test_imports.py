"""The library stands on torch, safetensors and numpy alone."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("diffusers", "transformers", "peft", "grpc", "nats", "sqlalchemy", "pydantic")


def test_importing_taq_pulls_in_nothing_else() -> None:
    """Neither a model library nor any plumbing is imported."""
    code = f"import sys, personalq.taq; print([m for m in {HEAVY!r} if m in sys.modules])"
    output = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert output.stdout.strip() == "[]"


def test_every_public_name_exists_and_is_documented() -> None:
    """`__all__` is sorted, complete and described."""
    import personalq.taq as taq

    for name in taq.__all__:
        thing = getattr(taq, name)
        constants = ("PARTS", "PROFILES", "Part", "RECIPE_VERSION", "TEXT_PARTS", "TextPart")
        assert name in constants or thing.__doc__, name
