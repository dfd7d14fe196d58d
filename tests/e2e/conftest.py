"""One embedded stack for all journeys."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator

import pytest
from support.embedded_stack import EmbeddedStack

from personalq.miniature import MiniatureCheckpoint, checkpoints
from personalq.sdk import AsyncPersonalQ
from personalq.sdk.embedded.miniature import announcement, card_fields

CHOSEN = ("bear-v1", "bear-v4", "cat-v1")


@pytest.fixture(scope="session")
def trained() -> dict[str, MiniatureCheckpoint]:
    """The miniature's checkpoints by id."""
    return {each.checkpoint_id: each for each in checkpoints()}


@pytest.fixture(scope="session")
def empty_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedStack]:
    """`personalq up` with the miniature's base and no checkpoints; stopped at the end."""
    stack = EmbeddedStack(tmp_path_factory.mktemp("stack") / "data", "--no-miniature")
    try:
        stack.wait_for("READY")
        yield stack
        assert stack.stop(signal.SIGTERM) == 0
        assert stack.survivors() == []
    finally:
        stack.destroy()


@pytest.fixture(scope="session")
def stack(empty_stack: EmbeddedStack, trained: dict[str, MiniatureCheckpoint]) -> EmbeddedStack:
    """The stack with three servable checkpoints: two bears and a cat."""

    async def publish_all() -> None:
        async with empty_stack.client() as client:
            for each in (trained[name] for name in CHOSEN):
                await client.publish(
                    each.path,
                    **announcement(each),
                    **card_fields(each),
                    wait=True,
                    wait_profiles=["full", "w8a8"],
                )

    asyncio.run(publish_all())
    return empty_stack


@pytest.fixture
async def client(stack: EmbeddedStack) -> AsyncIterator[AsyncPersonalQ]:
    """A client of the stack."""
    async with stack.client() as connected:
        yield connected
