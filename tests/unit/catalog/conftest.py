"""What tests of the catalog share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def beside(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the functions that were called in a thread."""
    called: list[str] = []
    in_thread = asyncio.to_thread

    async def noted(function: Callable[..., Any], *args: Any) -> Any:
        called.append(function.__name__)
        return await in_thread(function, *args)

    monkeypatch.setattr(asyncio, "to_thread", noted)
    return called
