"""The same client without asyncio: every call runs on an event loop in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Coroutine, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

from personalq.sdk.client import AsyncPersonalQ, OnQuestion, OnState
from personalq.sdk.concurrency import abandon
from personalq.sdk.publishing import CardFields
from personalq.sdk.rendering import OnStep, RenderOptions
from personalq.sdk.results import (
    Checkpoint,
    Clarification,
    Generation,
    NoMatch,
    Outcome,
    Publication,
    Rendering,
    RenderStep,
    SelectionRequest,
)

T = TypeVar("T")


class PersonalQ:
    """A thin synchronous face of `AsyncPersonalQ`; see there for arguments and errors.

    with PersonalQ() as personalq:
        print(personalq.select("my latest bear on forest grass"))

    Callbacks (`on_question`, `on_progress`, `on_state`) run on the client's thread.
    """

    def __init__(
        self,
        *,
        checkin: str | None = None,
        catalog: str | None = None,
        renderer: str | None = None,
        nats: str | None = None,
        tenant: str | None = None,
        timeout_s: float = 60.0,
        render_timeout_s: float = 600.0,
    ) -> None:
        self._client = AsyncPersonalQ(
            checkin=checkin,
            catalog=catalog,
            renderer=renderer,
            nats=nats,
            tenant=tenant,
            timeout_s=timeout_s,
            render_timeout_s=render_timeout_s,
        )
        self._loop: asyncio.AbstractEventLoop | None = None

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="personalq-sdk", daemon=True
        )
        self._thread.start()
        try:
            self._run(self._client.__aenter__())
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            self._run(self._client.__aexit__(kind, error, traceback))
        finally:
            self._stop()

    def select(
        self, prompt: str | SelectionRequest, *, explain: bool = False, owner: str = ""
    ) -> Outcome:
        """Asks which checkpoint is meant; a `SelectionRequest` carries the rarer options."""
        return self._run(self._client.select(prompt, explain=explain, owner=owner))

    def answer(self, clarification: Clarification, text: str) -> Outcome:
        """Answers a question."""
        return self._run(self._client.answer(clarification, text))

    def render(
        self, checkpoint_id: str, prompt: str, **options: Unpack[RenderOptions]
    ) -> Iterator[RenderStep]:
        """Renders, and yields each moment of it; leaving the loop cancels the render."""
        return self._iterate(self._client.render(checkpoint_id, prompt, **options))

    def render_image(
        self,
        checkpoint_id: str,
        prompt: str,
        *,
        on_progress: OnStep | None = None,
        **options: Unpack[RenderOptions],
    ) -> Rendering:
        """Renders to the end and returns the pictures."""
        return self._run(
            self._client.render_image(checkpoint_id, prompt, on_progress=on_progress, **options)
        )

    def generate(
        self,
        prompt: str | SelectionRequest,
        *,
        on_question: OnQuestion | None = None,
        on_progress: OnStep | None = None,
        owner: str = "",
        **options: Unpack[RenderOptions],
    ) -> Generation | Clarification | NoMatch:
        """Selects, asks and renders in one."""
        return self._run(
            self._client.generate(
                prompt, on_question=on_question, on_progress=on_progress, owner=owner, **options
            )
        )

    def publish(
        self,
        source: str | Path,
        *,
        trigger: str | Sequence[str] = (),
        subject: str | Sequence[str] = (),
        wait: bool = False,
        wait_profiles: Sequence[str] = (),
        wait_timeout_s: float = 600.0,
        on_state: OnState | None = None,
        check: bool = True,
        **fields: Unpack[CardFields],
    ) -> Publication:
        """Announces a trained checkpoint as a pipeline does."""
        return self._run(
            self._client.publish(
                source,
                trigger=trigger,
                subject=subject,
                wait=wait,
                wait_profiles=wait_profiles,
                wait_timeout_s=wait_timeout_s,
                on_state=on_state,
                check=check,
                **fields,
            )
        )

    def checkpoints(
        self, *, states: Sequence[str] = (), subjects: Sequence[str] = ()
    ) -> Iterator[Checkpoint]:
        """All cards, newest first."""
        return self._iterate(self._client.checkpoints(states=states, subjects=subjects))

    def checkpoint(self, checkpoint_id: str) -> Checkpoint:
        """One card with its artifacts."""
        return self._run(self._client.checkpoint(checkpoint_id))

    def archive(self, checkpoint_id: str) -> Checkpoint:
        """Withdraws a checkpoint."""
        return self._run(self._client.archive(checkpoint_id))

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        if self._loop is None:
            work.close()
            raise RuntimeError("use PersonalQ as a context manager: `with PersonalQ() as client:`")
        if threading.current_thread() is self._thread:
            work.close()
            raise RuntimeError("a callback of PersonalQ cannot call it again: it would never end")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:  # Ctrl-C in the caller must not leave the call running
            future.cancel()
            raise

    def _iterate(self, values: AsyncGenerator[T, None]) -> Iterator[T]:
        asking: set[asyncio.Task[Any]] = set()

        async def following() -> tuple[T] | None:
            if task := asyncio.current_task():
                asking.add(task)
                task.add_done_callback(asking.discard)
            try:
                return (await anext(values),)
            except StopAsyncIteration:
                return None

        async def closing() -> None:
            # After Ctrl-C a question may still be under way, also one that nobody waited for yet; a
            # generator that runs cannot be closed.
            await abandon(*asking)
            await values.aclose()

        try:
            while (boxed := self._run(following())) is not None:
                yield boxed[0]
        finally:
            self._run(closing())

    def _stop(self) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            self._loop = None
