"""PersonalQ for asyncio: select, answer, render, generate, publish."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Iterator,
    Sequence,
)
from contextlib import AsyncExitStack, aclosing, contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self, Unpack
from urllib.parse import urlsplit

import grpc

from personalq.chassis.errors import NotFound, Unavailable
from personalq.chassis.events import Bus, open_bus
from personalq.chassis.rpc import open_channel
from personalq.chassis.tenancy import tenant_scope
from personalq.sdk import wire
from personalq.sdk.endpoints import Endpoints
from personalq.sdk.failures import explain_rpc_error, unreachable
from personalq.sdk.publishing import (
    CardFields,
    describe,
    last_dead_letter,
    publish_landed,
    wait_servable,
)
from personalq.sdk.rendering import OnStep, RenderOptions, collect, render_request, steps_of
from personalq.sdk.results import (
    Checkpoint,
    CheckpointPage,
    Clarification,
    DeadEvent,
    Generation,
    NoMatch,
    Outcome,
    Publication,
    Rendering,
    RenderStep,
    SelectionRequest,
)
from personalq.v1 import (
    catalog_pb2,
    catalog_pb2_grpc,
    checkin_pb2_grpc,
    renderer_pb2_grpc,
)

MAX_QUESTIONS = 4  # a longer dialogue leads nowhere
KNOCK_TIMEOUT_S = 5.0

OnQuestion = Callable[[Clarification], str | Awaitable[str | None] | None]
OnState = Callable[[Checkpoint], object]


class AsyncPersonalQ:
    """A client of check-in, catalog, renderer and event bus.

    Use it as an asynchronous context manager. Nothing is contacted before the first call.

        async with AsyncPersonalQ() as personalq:
            match await personalq.select("my latest bear on forest grass"):
                case Selection() as chosen: ...
                case Clarification() as asked: await personalq.answer(asked, "the photo")
                case NoMatch() as refused: print(refused.explanation)

    Args:
        checkin: HOST:PORT of check-in; PERSONALQ_CHECKIN or the embedded stack's when absent.
        catalog: HOST:PORT of the catalog; PERSONALQ_CATALOG.
        renderer: HOST:PORT of the renderer, or a name that resolves to its pods;
            PERSONALQ_RENDERER.
        nats: URL of the event bus; PERSONALQ_NATS.
        tenant: Whose catalog; PERSONALQ_TENANT or "default".
        timeout_s: How long a call may take, renders apart.
        render_timeout_s: How long a render may take, waiting included.

    Every method raises a `personalq.chassis.errors.PersonalQError` whose message says what to do:
    InvalidInput, NotFound, NotReady (still being quantized), Busy, Unavailable.
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
        self.endpoints = Endpoints.resolve(
            checkin=checkin, catalog=catalog, renderer=renderer, nats=nats, tenant=tenant
        )
        self._timeout_s = timeout_s
        self._render_timeout_s = render_timeout_s
        self._resources = AsyncExitStack()
        self._bus: Bus | None = None
        self._entered = False
        self._connecting = asyncio.Lock()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            where = self.endpoints
            catalog = await stack.enter_async_context(open_channel(where.catalog))
            checkin = await stack.enter_async_context(open_channel(where.checkin))
            renderer = await stack.enter_async_context(open_channel(where.renderer))
            self._catalog = catalog_pb2_grpc.CatalogServiceStub(catalog)
            self._checkin = checkin_pb2_grpc.CheckInServiceStub(checkin)
            self._renderer = renderer_pb2_grpc.RendererServiceStub(renderer)
            self._resources = stack.pop_all()
        self._entered = True
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bus, self._entered = None, False
        await self._resources.aclose()

    # --- selection ---------------------------------------------------------------------------

    async def select(
        self,
        prompt: str | SelectionRequest,
        *,
        reference_time: datetime | None = None,
        time_zone: str = "",
        candidate_ids: Sequence[str] = (),
        profile: str = "",
        steps: int = 0,
        explain: bool = False,
        owner: str = "",
    ) -> Outcome:
        """Asks which checkpoint is meant.

        Args:
            prompt: The request in plain words, or a whole request (then nothing else counts).
            reference_time: What "now" is; the server's clock when absent.
            time_zone: IANA name, for "yesterday"; UTC when empty.
            candidate_ids: Choose among these only.
            profile: Serving profile to return the artifact for.
            steps: Denoising steps intended; never changes the choice.
            explain: Ask for runners-up and reasons.
            owner: Who "my" is.
        """
        request = (
            prompt
            if isinstance(prompt, SelectionRequest)
            else SelectionRequest(
                prompt=prompt,
                reference_time=reference_time,
                time_zone=time_zone,
                candidate_ids=tuple(candidate_ids),
                profile=profile,
                steps=steps,
                explain=explain,
                owner=owner,
            )
        )
        with wire.fitting("a selection"):
            message = wire.select_request(request)
        with self._calling("checkin"):
            response = await self._checkin.Select(message, timeout=self._timeout_s)
        return wire.outcome(response, request)

    async def answer(self, clarification: Clarification, text: str) -> Outcome:
        """Answers a question, in the person's words or with the label of an option."""
        asked = clarification.request
        return await self.select(
            replace(asked, answers=(*asked.answers, (clarification.question_id, text)))
        )

    # --- rendering ---------------------------------------------------------------------------

    async def render(
        self, checkpoint_id: str, prompt: str, **options: Unpack[RenderOptions]
    ) -> AsyncGenerator[RenderStep, None]:
        """Renders, and yields each moment of it; closing the iterator cancels the render.

        Args:
            checkpoint_id: The checkpoint, `selection.checkpoint.checkpoint_id`.
            prompt: With the trigger in place, `selection.render_prompt`.
            options: See `RenderOptions`.
        """
        request, metadata = render_request(checkpoint_id, prompt, options)
        with self._calling("renderer"):
            call = self._renderer.Render(request, timeout=self._render_timeout_s, metadata=metadata)
        try:
            async with aclosing(steps_of(call)) as steps:
                async for step in steps:
                    yield step
        except grpc.aio.AioRpcError as error:
            raise self._explained(error, "renderer") from error
        finally:
            call.cancel()

    async def render_image(
        self,
        checkpoint_id: str,
        prompt: str,
        *,
        on_progress: OnStep | None = None,
        **options: Unpack[RenderOptions],
    ) -> Rendering:
        """Renders to the end and returns the pictures; `on_progress` sees each moment."""
        async with aclosing(self.render(checkpoint_id, prompt, **options)) as steps:
            return await collect(steps, on_step=on_progress)

    async def generate(
        self,
        prompt: str | SelectionRequest,
        *,
        on_question: OnQuestion | None = None,
        on_progress: OnStep | None = None,
        owner: str = "",
        **options: Unpack[RenderOptions],
    ) -> Generation | Clarification | NoMatch:
        """Selects, asks and renders in one.

        Args:
            prompt: The request in plain words, or a whole request.
            on_question: Gets a clarification, returns (or resolves to) the answer, or None to
                give up. Without it a question ends the call.
            on_progress: Sees each moment of the render.
            owner: Who "my" is.
            options: See `RenderOptions`.

        Returns:
            The pictures; the question that stays open; or that nothing matches.
        """
        outcome = await self.select(prompt, owner=owner, profile=options.get("profile", ""))
        for _ in range(MAX_QUESTIONS):
            if not isinstance(outcome, Clarification) or on_question is None:
                break
            reply = on_question(outcome)
            text = await reply if inspect.isawaitable(reply) else reply
            if text is None:
                break
            outcome = await self.answer(outcome, text)
        if isinstance(outcome, Clarification | NoMatch):
            return outcome
        if outcome.artifact is not None:
            options.setdefault("affinity", outcome.artifact.digest)
        rendering = await self.render_image(
            outcome.checkpoint.checkpoint_id,
            outcome.render_prompt,
            on_progress=on_progress,
            **options,
        )
        return Generation(selection=outcome, rendering=rendering)

    # --- publishing --------------------------------------------------------------------------

    async def publish(
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
        """Announces a trained checkpoint as a pipeline does: one CheckpointLanded on the bus.

        Args:
            source: A safetensors file or a diffusers folder, or the URI of one.
            trigger: Trigger token or tokens, the canonical one first; none when it was trained
                without: prompts for it then stay as they are.
            subject: What it pictures, for example "bear"; may be left out for a style.
            wait: Return only when the checkpoint is servable.
            wait_profiles: With `wait`: servable for each of these; for any when empty.
            wait_timeout_s: How long to wait.
            on_state: With `wait`: sees each change of the card.
            check: Look into a local file first and refuse one the catalog would refuse.
            fields: The rest of the card; see `CardFields`.

        Raises:
            InvalidInput, CorruptFile, NotFound: the file or a field is unusable; nothing was sent.
            NotReady: with `wait`, the time is over.
            PersonalQError: with `wait`, the catalog or the quantizer refused the checkpoint.
        """
        card = await asyncio.to_thread(
            describe, source, trigger=trigger, subject=subject, check=check, fields=fields
        )
        bus = await self._open_bus()
        earlier = await last_dead_letter(bus) if wait else 0
        before = await self._known(card.checkpoint_id) if wait else None
        publication = await publish_landed(card, tenant=self.endpoints.tenant, bus=bus)
        if not wait:
            return publication
        servable = await wait_servable(
            publication,
            states=self.watch(),
            bus=bus,
            after=0 if publication.duplicate else earlier,
            before=None if publication.duplicate else before,
            profiles=wait_profiles,
            timeout_s=wait_timeout_s,
            on_state=on_state,
        )
        return replace(publication, checkpoint=servable)

    async def _known(self, checkpoint_id: str) -> Checkpoint | None:
        try:
            return await self.checkpoint(checkpoint_id)
        except NotFound:
            return None

    # --- checkpoints -------------------------------------------------------------------------

    async def list_checkpoints(
        self,
        *,
        page_size: int = 0,
        page_token: str = "",
        states: Sequence[str] = (),
        subjects: Sequence[str] = (),
    ) -> CheckpointPage:
        """One page of cards, newest first; registered and servable ones unless `states` says."""
        with wire.fitting("a list"):
            request = wire.list_request(
                page_size=page_size, page_token=page_token, states_=states, subjects=subjects
            )
        with self._calling("catalog"):
            response = await self._catalog.ListCheckpoints(request, timeout=self._timeout_s)
        return CheckpointPage(
            checkpoints=tuple(wire.checkpoint(each) for each in response.checkpoints),
            next_page_token=response.next_page_token,
        )

    async def checkpoints(
        self, *, states: Sequence[str] = (), subjects: Sequence[str] = ()
    ) -> AsyncGenerator[Checkpoint, None]:
        """All cards, newest first, page by page."""
        token = ""
        while True:
            page = await self.list_checkpoints(
                page_size=200, page_token=token, states=states, subjects=subjects
            )
            for card in page.checkpoints:
                yield card
            token = page.next_page_token
            if not token:
                return

    async def checkpoint(self, checkpoint_id: str) -> Checkpoint:
        """One card with its artifacts; raises NotFound."""
        with wire.fitting("an id"):
            request = catalog_pb2.GetCheckpointRequest(checkpoint_id=checkpoint_id)
        with self._calling("catalog"):
            response = await self._catalog.GetCheckpoint(request, timeout=self._timeout_s)
        return wire.checkpoint(response.checkpoint, response.artifacts)

    async def archive(self, checkpoint_id: str) -> Checkpoint:
        """Withdraws a checkpoint: kept, never selected again; raises NotFound."""
        with wire.fitting("an id"):
            request = catalog_pb2.ArchiveCheckpointRequest(checkpoint_id=checkpoint_id)
        with self._calling("catalog"):
            response = await self._catalog.ArchiveCheckpoint(request, timeout=self._timeout_s)
        return wire.checkpoint(response.checkpoint)

    async def watch(self) -> AsyncGenerator[Checkpoint, None]:
        """The state of every card with its artifacts, then each change, without end."""
        with self._calling("catalog"):
            call = self._catalog.WatchCheckpoints(catalog_pb2.WatchCheckpointsRequest())
        try:
            async for response in call:
                if response.HasField("checkpoint"):
                    yield wire.checkpoint(response.checkpoint, response.artifacts)
        except grpc.aio.AioRpcError as error:
            raise self._explained(error, "catalog") from error
        finally:
            call.cancel()

    # --- dead letters ------------------------------------------------------------------------

    async def dead_events(self) -> AsyncGenerator[DeadEvent, None]:
        """The events nobody could handle, oldest first, of all tenants."""
        bus = await self._open_bus()
        async for letter in bus.dead_letters():
            yield DeadEvent(
                sequence=letter.sequence,
                subject=letter.subject,
                reason=letter.error,
                deliveries=letter.deliveries,
                payload=letter.payload,
                headers=letter.headers,
                failed_at=letter.failed_at,
            )

    async def replay_dead_event(self, sequence: int) -> None:
        """Sends such an event again where it came from; raises NotFound, Conflict."""
        bus = await self._open_bus()
        await bus.replay(sequence)

    async def discard_dead_event(self, sequence: int) -> None:
        """Drops such an event for good; raises NotFound."""
        bus = await self._open_bus()
        await bus.discard(sequence)

    # --- plumbing ----------------------------------------------------------------------------

    def _check_entered(self) -> None:
        if not self._entered:
            raise RuntimeError(
                "use AsyncPersonalQ as a context manager: `async with AsyncPersonalQ() as client:`"
            )

    async def _open_bus(self) -> Bus:
        self._check_entered()
        async with self._connecting:
            if self._bus is None:
                url = self.endpoints.nats
                await _knock(url)
                try:
                    self._bus = await self._resources.enter_async_context(open_bus(url, name="sdk"))
                except Unavailable as error:
                    raise unreachable("nats", url) from error
            return self._bus

    @contextmanager
    def _calling(self, service: str) -> Iterator[None]:
        """Speaks for the tenant, and explains what goes wrong."""
        self._check_entered()
        try:
            with tenant_scope(self.endpoints.tenant):
                yield
        except grpc.aio.AioRpcError as error:
            raise self._explained(error, service) from error

    def _explained(self, error: grpc.aio.AioRpcError, service: str) -> Exception:
        target: str = getattr(self.endpoints, service)
        return explain_rpc_error(error, service=service, target=target)


async def _knock(url: str) -> None:
    """Fail at once where nobody listens; the bus itself would go on trying."""
    parts = urlsplit(url.split(",")[0])
    try:
        async with asyncio.timeout(KNOCK_TIMEOUT_S):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port or 4222)
    except (OSError, TimeoutError, ValueError) as error:
        raise unreachable("nats", url) from error
    writer.close()
