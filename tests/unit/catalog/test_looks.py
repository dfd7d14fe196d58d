"""Which tenants a background loop looks at, and how much of the time."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from personalq.catalog.looks import Looks
from personalq.catalog.ports import Tenant


@dataclass
class Clock:
    """A clock that is set."""

    now: float = 0.0

    def __call__(self) -> float:
        """The time."""
        return self.now


def _tenant(name: str, revision: int = 1) -> Tenant:
    return Tenant(name=name, revision=revision)


def _due(looks: Looks, *tenants: Tenant) -> list[str]:
    return [tenant.name for tenant in looks.due(tenants)]


def test_a_complete_tenant_is_left_in_peace_until_a_card_changes() -> None:
    """Its revision tells."""
    looks = Looks(clock=Clock())
    a, b = _tenant("a"), _tenant("b")
    assert _due(looks, a, b) == ["a", "b"]
    looks.note(a, complete=True)
    looks.note(b, complete=False)
    assert _due(looks, a, b) == ["b"]
    assert _due(looks, _tenant("a", revision=2), b) == ["a", "b"]


def test_who_was_looked_at_longest_ago_comes_first() -> None:
    """Nobody waits behind a tenant that is never complete."""
    clock = Clock()
    looks = Looks(clock=clock)
    tenants = [_tenant("a"), _tenant("b"), _tenant("c")]
    for name in ("b", "a"):
        clock.now += 1
        looks.note(_tenant(name), complete=False)
    assert _due(looks, *tenants) == ["c", "b", "a"]


def test_what_changes_without_a_revision_is_seen_after_a_while() -> None:
    """Somebody's SQL, say."""
    clock = Clock()
    looks = Looks(clock=clock)
    looks.note(_tenant("a"), complete=True)
    clock.now = 599
    assert _due(looks, _tenant("a")) == []
    clock.now = 601
    assert _due(looks, _tenant("a")) == ["a"]


async def test_the_pause_is_a_multiple_of_the_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow database is left alone for longer."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr("asyncio.sleep", sleep)
    await Looks(pause=3).rest(0.5)
    await Looks(pause=0).rest(0.5)
    assert slept == [1.5, 0]
