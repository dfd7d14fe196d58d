"""The client against real gRPC servers and a real event bus."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import grpc
import pytest
import torch
from google.protobuf import json_format
from safetensors.torch import save_file
from support.polling import eventually
from support.ports import free_port
from support.scripted_services import Script, serve_script

from personalq.chassis.errors import Busy, InvalidInput, NotFound, NotReady, Unavailable
from personalq.chassis.events import open_bus
from personalq.chassis.sources import digest_of
from personalq.sdk import AsyncPersonalQ, PersonalQ
from personalq.sdk.results import (
    Clarification,
    Generation,
    NoMatch,
    Picture,
    Progress,
    RenderStep,
    Selection,
)
from personalq.v1 import catalog_pb2, checkin_pb2, events_pb2, renderer_pb2, types_pb2

EAST = timezone(timedelta(hours=14))
ASK = checkin_pb2.SelectResponse(
    clarification=checkin_pb2.Clarification(
        question_id="q1",
        question="Which style?",
        options=[checkin_pb2.Option(label="the photo"), checkin_pb2.Option(label="the sketch")],
    )
)
CHOOSE = checkin_pb2.SelectResponse(
    selection=checkin_pb2.Selection(
        checkpoint=types_pb2.Checkpoint(checkpoint_id="bear-v4"),
        artifact=types_pb2.Artifact(checkpoint_id="bear-v4", profile="w8a8", digest="ab"),
        rewritten_prompt="my <bear-v4>",
        render_prompt="<bear-v4>",
    )
)
RENDER = (
    renderer_pb2.RenderEvent(queued=renderer_pb2.Queued(position=0)),
    renderer_pb2.RenderEvent(
        started=renderer_pb2.Started(artifact=types_pb2.Artifact(profile="w8a8"))
    ),
    renderer_pb2.RenderEvent(progress=renderer_pb2.Progress(step=1, steps=1)),
    renderer_pb2.RenderEvent(
        image=renderer_pb2.Image(seed=7, media_type="image/png", chunk=b"png", last=True)
    ),
    renderer_pb2.RenderEvent(done=renderer_pb2.Done()),
)


def _ask_once(request: checkin_pb2.SelectRequest) -> checkin_pb2.SelectResponse:
    return CHOOSE if request.answers else ASK


@pytest.fixture
def script() -> Script:
    """What the servers answer in this test."""
    return Script()


@pytest.fixture
async def address(script: Script) -> AsyncIterator[str]:
    """Check-in, catalog and renderer of the test."""
    async with serve_script(script) as where:
        yield where


@pytest.fixture
async def client(address: str, nats_url: str) -> AsyncIterator[AsyncPersonalQ]:
    """A client of the tenant acme."""
    async with AsyncPersonalQ(
        checkin=address, catalog=address, renderer=address, nats=nats_url, tenant="acme"
    ) as connected:
        yield connected


@pytest.fixture
def lora(tmp_path: Path) -> Path:
    """A small LoRA."""
    layer = "unet.mid_block.attentions.0.transformer_blocks.0.attn2.to_k"
    file = tmp_path / "bear-v4.safetensors"
    save_file(
        {f"{layer}.lora_A.weight": torch.zeros(2, 32), f"{layer}.lora_B.weight": torch.zeros(8, 2)},
        file,
    )
    return file


# --- selection -------------------------------------------------------------------------------


async def test_an_answer_continues_the_dialogue(client: AsyncPersonalQ, script: Script) -> None:
    """The prompt is sent again with the question's id and the reply, for the same tenant."""
    script.select = _ask_once
    asked = await client.select("my bear")
    assert isinstance(asked, Clarification)
    chosen = await client.answer(asked, "the photo")
    assert isinstance(chosen, Selection)
    assert chosen.request.answers == (("q1", "the photo"),)
    assert script.tenants == ["acme", "acme"]


async def test_errors_come_back_as_they_were_raised(client: AsyncPersonalQ, script: Script) -> None:
    """Violations, state and delay survive the wire, and the message says what to do."""
    script.cards = [NotFound("there is no checkpoint bear-v9")]
    with pytest.raises(NotFound, match=r"bear-v9; `personalq checkpoints list`"):
        await client.checkpoint("bear-v9")
    script.render = [NotReady("bear-v4 is still being quantized", state="REGISTERED")]
    with pytest.raises(NotReady, match="being quantized") as not_ready:
        await client.render_image("bear-v4", "<bear-v4>")
    assert not_ready.value.state == "REGISTERED"
    assert "tells how far it is" in not_ready.value.message
    script.render = [NotReady("bear-v4 was withdrawn", state="ARCHIVED")]
    with pytest.raises(NotReady, match=r"^bear-v4 was withdrawn$"):  # it gets no further
        await client.render_image("bear-v4", "<bear-v4>")
    script.render = [Busy("16 renders wait", retry_after_s=2.5)]
    with pytest.raises(Busy) as busy:
        await client.render_image("bear-v4", "<bear-v4>")
    assert busy.value.retry_after_s == 2.5
    script.render = [InvalidInput("steps must be 1-200", field="steps")]
    with pytest.raises(InvalidInput) as invalid:
        await client.render_image("bear-v4", "<bear-v4>", steps=0)
    assert invalid.value.violations == {"steps": "steps must be 1-200"}


async def test_a_service_that_does_not_listen_is_named_with_a_remedy(nats_url: str) -> None:
    """Each by its name, its address and its variable."""
    nowhere = f"127.0.0.1:{free_port()}"
    async with AsyncPersonalQ(
        checkin=nowhere, catalog=nowhere, renderer=nowhere, nats=f"nats://{nowhere}"
    ) as client:
        with pytest.raises(Unavailable, match=f"check-in at {nowhere}: start .*PERSONALQ_CHECKIN"):
            await client.select("my bear")
        with pytest.raises(Unavailable, match=f"catalog at {nowhere}: start .*PERSONALQ_CATALOG"):
            await client.archive("bear")
        with pytest.raises(Unavailable, match=f"renderer at {nowhere}: start .*_RENDERER"):
            await client.render_image("bear", "bear")
        with pytest.raises(Unavailable, match=r"NATS at nats://.*PERSONALQ_NATS"):
            await client.publish("s3://b/k.safetensors", trigger="<a>", subject="bear")


async def test_a_server_of_another_kind_is_told_apart(nats_url: str) -> None:
    """Something listens there, but it does not know PersonalQ."""
    server = grpc.aio.server()
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with AsyncPersonalQ(checkin=f"127.0.0.1:{port}") as client:
        with pytest.raises(Unavailable, match="no PersonalQ check-in: set PERSONALQ_CHECKIN"):
            await client.select("my bear")
    await server.stop(None)


# --- rendering -------------------------------------------------------------------------------


async def test_generate_selects_asks_and_renders(client: AsyncPersonalQ, script: Script) -> None:
    """The question goes to the callback, the artifact into the routing header."""
    script.select, script.render = _ask_once, RENDER
    questions: list[str] = []
    seen: list[RenderStep] = []

    async def on_question(asked: Clarification) -> str:
        questions.append(asked.question)
        return asked.options[0].label

    made = await client.generate(
        "my bear", on_question=on_question, on_progress=seen.append, steps=1
    )
    assert isinstance(made, Generation)
    assert made.rendering.picture.data == b"png"
    assert questions == ["Which style?"]
    assert any(isinstance(step, Progress) for step in seen)
    assert script.render_metadata["x-personalq-artifact"] == "ab"


async def test_generate_returns_a_question_nobody_answers(
    client: AsyncPersonalQ, script: Script
) -> None:
    """Without a callback, or with one that gives up."""
    script.select = lambda _: ASK
    assert isinstance(await client.generate("my bear"), Clarification)
    assert isinstance(await client.generate("my bear", on_question=lambda _: None), Clarification)


async def test_generate_does_not_ask_for_ever(client: AsyncPersonalQ, script: Script) -> None:
    """A server that always asks back ends as an open question."""
    script.select = lambda _: ASK
    asked: list[Clarification] = []

    def on_question(clarification: Clarification) -> str:
        asked.append(clarification)
        return "the photo"

    assert isinstance(await client.generate("my bear", on_question=on_question), Clarification)
    assert 1 < len(asked) < 10


async def test_generate_returns_no_match(client: AsyncPersonalQ, script: Script) -> None:
    """Nothing is rendered."""
    script.select = lambda _: checkin_pb2.SelectResponse(
        no_match=checkin_pb2.NoMatch(explanation="no dragons")
    )
    outcome = await client.generate("a dragon")
    assert isinstance(outcome, NoMatch)
    assert script.render_metadata == {}


async def test_leaving_a_render_cancels_it(client: AsyncPersonalQ, script: Script) -> None:
    """The renderer stops working for somebody who is gone."""
    script.render = RENDER[:3]
    steps = client.render("bear-v4", "<bear-v4>")
    async for step in steps:
        if isinstance(step, Progress):
            break
    await steps.aclose()
    await asyncio.wait_for(script.render_cancelled.wait(), timeout=10)


# --- publishing ------------------------------------------------------------------------------


def _state(
    state: types_pb2.CheckpointState.ValueType, sha256: str, *profiles: str, reason: str = ""
) -> catalog_pb2.WatchCheckpointsResponse:
    return catalog_pb2.WatchCheckpointsResponse(
        checkpoint=types_pb2.Checkpoint(
            checkpoint_id="bear-v4",
            state=state,
            state_reason=reason,
            source=types_pb2.CheckpointSource(sha256=sha256),
        ),
        artifacts=[
            types_pb2.Artifact(profile=profile, source_sha256=sha256) for profile in profiles
        ],
    )


def _at(
    state: catalog_pb2.WatchCheckpointsResponse, seconds: int
) -> catalog_pb2.WatchCheckpointsResponse:
    """The same, changed at another time."""
    moved = catalog_pb2.WatchCheckpointsResponse()
    moved.CopyFrom(state)
    moved.checkpoint.updated_at.FromSeconds(seconds)
    return moved


async def test_publish_emits_what_any_nats_client_can_read(
    client: AsyncPersonalQ, nats_url: str, lora: Path
) -> None:
    """One CheckpointLanded on the tenant's subject: proto3 JSON under CloudEvents headers."""
    published = await client.publish(
        lora,
        trigger="<bear-v4>",
        subject="bear",
        style="photo",
        created_at=datetime(2026, 4, 12, tzinfo=UTC),
    )
    async with open_bus(nats_url, name="reader") as bus:
        message = await bus.jetstream.get_last_msg(
            "PERSONALQ_CHECKPOINTS", "personalq.checkpoint.landed.acme"
        )
    assert message.data is not None
    event = json_format.Parse(message.data, events_pb2.CheckpointLanded())
    assert event.checkpoint.checkpoint_id == published.checkpoint_id == "bear-v4"
    assert event.checkpoint.source.uri == lora.as_uri()
    assert (event.checkpoint.source.sha256, event.checkpoint.source.size_bytes) == digest_of(lora)
    assert message.headers is not None
    assert message.headers["ce-type"] == "personalq.v1.CheckpointLanded"


async def test_the_same_card_twice_is_sent_once(client: AsyncPersonalQ, lora: Path) -> None:
    """A pipeline may retry; a changed card is new."""
    first = await client.publish(lora, trigger="<a>", subject="bear")
    again = await client.publish(lora, trigger="<a>", subject="bear")
    changed = await client.publish(lora, trigger="<a>", subject="bear", style="sketch")
    assert (first.duplicate, again.duplicate, changed.duplicate) == (False, True, False)


async def test_publish_waits_for_the_new_content(
    client: AsyncPersonalQ, script: Script, lora: Path
) -> None:
    """The servable card of the previous file is not the one that is waited for."""
    sha256, _ = digest_of(lora)
    servable, registered = (
        types_pb2.CHECKPOINT_STATE_SERVABLE,
        types_pb2.CHECKPOINT_STATE_REGISTERED,
    )
    for state in (
        _state(servable, "previous", "full", "w8a8"),
        _state(registered, sha256),
        _state(servable, sha256, "full"),
        _state(servable, sha256, "full", "w8a8"),
    ):
        script.states.put_nowait(state)
    seen: list[str] = []
    published = await client.publish(
        lora,
        trigger="<a>",
        subject="bear",
        wait=True,
        wait_profiles=["w8a8"],
        on_state=lambda card: seen.append(card.state),
    )
    assert published.checkpoint is not None
    assert [made.profile for made in published.checkpoint.artifacts] == ["full", "w8a8"]
    assert seen == ["registered", "servable", "servable"]


async def test_publish_raises_what_the_quantizer_says(
    client: AsyncPersonalQ, script: Script, lora: Path
) -> None:
    """A failed checkpoint is not waited for."""
    sha256, _ = digest_of(lora)
    script.states.put_nowait(
        _state(types_pb2.CHECKPOINT_STATE_FAILED, sha256, reason="of another base model")
    )
    with pytest.raises(InvalidInput, match="bear-v4 is failed: of another base model"):
        await client.publish(lora, trigger="<a>", subject="bear", wait=True)


async def test_a_failure_of_before_is_no_answer(
    client: AsyncPersonalQ, script: Script, lora: Path
) -> None:
    """Unchanged bytes that failed keep that state until the quantizer has tried again."""
    sha256, _ = digest_of(lora)
    failed, servable = types_pb2.CHECKPOINT_STATE_FAILED, types_pb2.CHECKPOINT_STATE_SERVABLE
    old = _at(_state(failed, sha256, reason="out of memory"), 1)
    script.cards = [catalog_pb2.GetCheckpointResponse(checkpoint=old.checkpoint)]
    registered = _at(_state(failed, sha256, reason="out of memory"), 2)
    registered.checkpoint.triggers.append("<a>")
    for state in (old, registered, _at(_state(servable, sha256, "full"), 3)):
        script.states.put_nowait(state)
    published = await client.publish(lora, trigger="<a>", subject="bear", wait=True)
    assert published.checkpoint is not None
    assert published.checkpoint.state == "servable"


async def test_failing_again_is_an_answer(
    client: AsyncPersonalQ, script: Script, lora: Path
) -> None:
    """For the same reason, even: the card has changed since."""
    sha256, _ = digest_of(lora)
    old = _at(_state(types_pb2.CHECKPOINT_STATE_FAILED, sha256, reason="out of memory"), 1)
    again = _at(old, 2)
    script.cards = [catalog_pb2.GetCheckpointResponse(checkpoint=old.checkpoint)]
    script.states.put_nowait(old)
    script.states.put_nowait(again)
    with pytest.raises(InvalidInput, match="bear-v4 is failed: out of memory"):
        await client.publish(lora, trigger="<a>", subject="bear", wait=True)


async def test_publish_notices_that_its_event_was_refused(
    client: AsyncPersonalQ, nats_url: str, lora: Path
) -> None:
    """What the catalog cannot accept lies among the dead letters, with the reason."""
    from personalq.chassis.events import Reject

    async def refuse(event: events_pb2.CheckpointLanded) -> None:
        raise Reject("the file is gone")

    async with open_bus(nats_url, name="catalog") as bus:
        handling = asyncio.create_task(
            bus.consume(events_pb2.CheckpointLanded, refuse, durable="catalog-landed")
        )
        with pytest.raises(InvalidInput, match="bear-v4 was refused: the file is gone"):
            await client.publish(lora, trigger="<a>", subject="bear", wait=True)
        [letter] = [each async for each in client.dead_events()]
        assert letter.reason == "the file is gone"
        assert b"bear-v4" in letter.payload
        handling.cancel()
        await asyncio.gather(handling, return_exceptions=True)
    await client.replay_dead_event(letter.sequence)
    assert [each async for each in client.dead_events()] == []
    with pytest.raises(NotFound):
        await client.discard_dead_event(letter.sequence)


async def test_a_refusal_that_is_told_before_it_is_stored_is_noticed(
    client: AsyncPersonalQ, nats_url: str, lora: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NATS passes a message on before its stream can be read: about one in a thousand."""
    from personalq.chassis.events import Bus, DeadLetter, Reject

    stored = Bus.dead_letters

    async def later(self: Bus, *, after: int = 0) -> AsyncIterator[DeadLetter]:
        async for letter in stored(self, after=after):
            if datetime.now(UTC) - letter.failed_at > timedelta(seconds=0.3):
                yield letter

    async def refuse(event: events_pb2.CheckpointLanded) -> None:
        raise Reject("the file is gone")

    monkeypatch.setattr(Bus, "dead_letters", later)
    async with open_bus(nats_url, name="catalog") as bus:
        handling = asyncio.create_task(
            bus.consume(events_pb2.CheckpointLanded, refuse, durable="catalog-landed")
        )
        with pytest.raises(InvalidInput, match="bear-v4 was refused: the file is gone"):
            await client.publish(lora, trigger="<a>", subject="bear", wait=True, wait_timeout_s=20)
        handling.cancel()
        await asyncio.gather(handling, return_exceptions=True)


async def test_a_dead_event_can_be_dropped(client: AsyncPersonalQ, nats_url: str) -> None:
    """Where replaying it is no use any more."""
    from personalq.chassis.events import Reject

    async def refuse(event: events_pb2.CheckpointLanded) -> None:
        raise Reject("nobody wants it")

    async with open_bus(nats_url, name="catalog") as bus:
        handling = asyncio.create_task(
            bus.consume(events_pb2.CheckpointLanded, refuse, durable="catalog-landed")
        )
        landed = events_pb2.CheckpointLanded(tenant="acme")
        await bus.publish(landed, msg_id="unwanted")

        async def dead() -> int | None:
            letters = [each async for each in client.dead_events()]
            return letters[0].sequence if letters else None

        sequence = await eventually(dead)
        handling.cancel()
        await asyncio.gather(handling, return_exceptions=True)
    assert sequence is not None
    await client.discard_dead_event(sequence)
    assert [each async for each in client.dead_events()] == []


async def test_publish_gives_up_when_the_time_is_over(
    client: AsyncPersonalQ, script: Script, lora: Path
) -> None:
    """The error says how far it came."""
    sha256, _ = digest_of(lora)
    script.states.put_nowait(_state(types_pb2.CHECKPOINT_STATE_REGISTERED, sha256))
    with pytest.raises(NotReady, match="it is registered") as late:
        await client.publish(lora, trigger="<a>", subject="bear", wait=True, wait_timeout_s=0.5)
    assert late.value.state == "registered"


# --- cards -----------------------------------------------------------------------------------


async def test_all_cards_are_read_page_by_page(client: AsyncPersonalQ, script: Script) -> None:
    """The caller sees one sequence."""
    script.cards = [
        catalog_pb2.GetCheckpointResponse(
            checkpoint=types_pb2.Checkpoint(checkpoint_id=f"bear-v{number}")
        )
        for number in range(3)
    ]
    ids = [card.checkpoint_id async for card in client.checkpoints()]
    assert ids == ["bear-v0", "bear-v1", "bear-v2"]


async def test_values_that_fit_into_no_message_are_bad_input(
    client: AsyncPersonalQ, lora: Path
) -> None:
    """Every method raises an error of ours, before anything is sent."""
    for call in (
        client.select("a b\udcffr"),
        client.select("a bear", steps=10**12),
        client.checkpoint("b\udcffr"),
        client.archive("b\udcffr"),
        client.list_checkpoints(page_size=10**12),
        client.publish(lora, subject="bear", version=10**12),
        client.publish(lora, subject="b\udcffr"),
        client.publish(lora, subject="bear", created_at=datetime.min.replace(tzinfo=EAST)),
    ):
        with pytest.raises(InvalidInput, match="takes no such value"):
            await call
    with pytest.raises(InvalidInput, match="'gone': choose one of registered, servable, failed"):
        await client.list_checkpoints(states=["gone"])


async def test_a_client_wants_to_be_entered(nats_url: str, lora: Path) -> None:
    """Forgetting `async with` is told, and nothing stays open; so is using it afterwards."""
    client = AsyncPersonalQ(catalog="127.0.0.1:1", nats=nats_url)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="async with"):
            await client.checkpoint("bear-v4")
        with pytest.raises(RuntimeError, match="async with"):
            await client.publish(lora, subject="bear")
        async with client:
            pass


# --- without asyncio -------------------------------------------------------------------------


async def test_the_synchronous_client_speaks_the_same_verbs(
    address: str, script: Script, nats_url: str
) -> None:
    """Outcomes, pictures and iterators, from a thread without an event loop."""
    script.select, script.render = _ask_once, RENDER

    def work() -> tuple[object, list[RenderStep], object]:
        with PersonalQ(checkin=address, renderer=address, catalog=address) as client:
            asked = client.select("my bear")
            assert isinstance(asked, Clarification)
            steps = list(client.render("bear-v4", "<bear-v4>"))
            made = client.generate("my bear", on_question=lambda q: q.options[1].label)
            return client.answer(asked, "the photo"), steps, made

    chosen, steps, made = await asyncio.to_thread(work)
    assert isinstance(chosen, Selection)
    assert any(isinstance(step, Picture) for step in steps)
    assert isinstance(made, Generation)


async def test_a_callback_that_calls_the_synchronous_client_is_told_so(
    address: str, script: Script
) -> None:
    """It would wait for the thread that it runs on."""
    script.select = _ask_once

    def work() -> None:
        with PersonalQ(checkin=address) as client:
            client.generate("my bear", on_question=lambda asked: str(client.answer(asked, "it")))

    with pytest.raises(RuntimeError, match="callback"):
        await asyncio.to_thread(work)


async def test_leaving_the_loop_of_the_synchronous_client_cancels_the_render(
    address: str, script: Script
) -> None:
    """As with the asynchronous one."""
    script.render = RENDER[:3]

    def work() -> None:
        with PersonalQ(renderer=address) as client:
            for step in client.render("bear-v4", "<bear-v4>"):
                if isinstance(step, Progress):
                    break

    await asyncio.to_thread(work)

    async def cancelled() -> bool:
        return script.render_cancelled.is_set()

    await eventually(cancelled)


@pytest.fixture
def heard_interruptions() -> Iterator[None]:
    """Python's own handler: what was started in the background ignores the signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard_interruptions")
def test_ctrl_c_in_the_loop_of_the_synchronous_client_closes_the_render() -> None:
    """The interruption arrives as itself, after the render was told."""
    closed = threading.Event()
    main_thread = threading.main_thread().ident
    assert main_thread is not None

    async def endless(*_: object, **__: object) -> AsyncGenerator[RenderStep, None]:
        try:
            signal.pthread_kill(main_thread, signal.SIGINT)
            await asyncio.Event().wait()
            yield Progress(step=1, steps=1)
        finally:
            closed.set()

    with PersonalQ(renderer="127.0.0.1:1") as client:
        client._client.render = endless  # type: ignore[method-assign]
        with pytest.raises(KeyboardInterrupt):
            list(client.render("bear-v4", "<bear-v4>"))
        assert closed.is_set()


def test_ctrl_c_before_the_answer_is_waited_for_closes_the_render(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The question was handed to the event loop, and nobody holds its future."""
    closed = threading.Event()
    hand_over = asyncio.run_coroutine_threadsafe

    async def endless(*_: object, **__: object) -> AsyncGenerator[RenderStep, None]:
        try:
            await asyncio.Event().wait()
            yield Progress(step=1, steps=1)
        finally:
            closed.set()

    def interrupted(work: Any, loop: asyncio.AbstractEventLoop) -> Any:
        hand_over(work, loop)
        monkeypatch.undo()
        raise KeyboardInterrupt

    with PersonalQ(renderer="127.0.0.1:1") as client:
        client._client.render = endless  # type: ignore[method-assign]
        monkeypatch.setattr(asyncio, "run_coroutine_threadsafe", interrupted)
        with pytest.raises(KeyboardInterrupt):
            list(client.render("bear-v4", "<bear-v4>"))
        assert closed.is_set()


def test_the_synchronous_client_wants_to_be_entered() -> None:
    """Forgetting `with` is told, not hung upon."""
    with pytest.raises(RuntimeError, match="context manager"):
        PersonalQ().select("my bear")
