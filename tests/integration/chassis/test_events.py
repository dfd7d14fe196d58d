"""Publishing and reading events over a real nats-server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Protocol

import pytest
from nats.js.api import ConsumerConfig
from nats.js.errors import NotFoundError
from support.polling import eventually

from personalq.chassis import telemetry
from personalq.chassis.envelopes import M
from personalq.chassis.errors import Conflict, InvalidInput, NotFound, Unavailable
from personalq.chassis.events import Bus, DeadLetter, Reject, Retry, open_bus, subject_of
from personalq.chassis.tenancy import current_tenant
from personalq.v1 import events_pb2 as pb

if TYPE_CHECKING:

    class Killable(Protocol):
        """See conftest."""

        url: str

        async def start(self) -> None: ...  # noqa: D102
        async def kill(self) -> None: ...  # noqa: D102


CHECKPOINTS = "PERSONALQ_CHECKPOINTS"
ARTIFACTS = "PERSONALQ_ARTIFACTS"
LANDED = "personalq.checkpoint.landed.default"


def _landed(checkpoint_id: str, *, tenant: str = "default") -> pb.CheckpointLanded:
    event = pb.CheckpointLanded(tenant=tenant)
    event.checkpoint.checkpoint_id = checkpoint_id
    return event


def _ready(checkpoint_id: str, digest: str = "", *, profile: str = "w8a8") -> pb.ArtifactReady:
    event = pb.ArtifactReady(tenant="default")
    event.artifact.checkpoint_id = checkpoint_id
    event.artifact.profile = profile
    event.artifact.digest = digest
    return event


@asynccontextmanager
async def _consuming(
    bus: Bus,
    handler: Callable[[pb.CheckpointLanded], Awaitable[None]],
    *,
    durable: str = "worker",
    concurrency: int = 1,
    ack_wait_s: float = 30.0,
    max_deliver: int = 8,
    finish_s: float = 5.0,
) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(
        bus.consume(
            pb.CheckpointLanded,
            handler,
            durable=durable,
            concurrency=concurrency,
            ack_wait_s=ack_wait_s,
            max_deliver=max_deliver,
            finish_s=finish_s,
            backoff_s=0.05,
        )
    )
    try:
        yield task
    finally:
        await _end(task)


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


class _Recorder:
    """A handler that writes down the ids it saw and does what the test says."""

    def __init__(self, *outcomes: Exception | None) -> None:
        self.seen: list[str] = []
        self._outcomes = list(outcomes)

    async def __call__(self, event: pb.CheckpointLanded) -> None:
        self.seen.append(event.checkpoint.checkpoint_id)
        outcome = self._outcomes.pop(0) if self._outcomes else None
        if outcome is not None:
            raise outcome

    async def saw(self, *ids: str) -> None:
        async def probe() -> bool:
            return self.seen == list(ids)

        try:
            await eventually(probe)
        except AssertionError:
            assert self.seen == list(ids)
            raise


async def _letters(bus: Bus) -> list[DeadLetter]:
    return [letter async for letter in bus.dead_letters()]


async def _buried(bus: Bus, count: int = 1) -> list[DeadLetter]:
    async def probe() -> list[DeadLetter]:
        letters = await _letters(bus)
        return letters if len(letters) >= count else []

    return await eventually(probe)


async def _nothing_pending(bus: Bus, durable: str = "worker") -> None:
    async def probe() -> bool:
        info = await bus.jetstream.consumer_info(CHECKPOINTS, durable)
        return not info.num_ack_pending and not info.num_pending

    await eventually(probe)


async def test_an_event_reaches_its_handler_and_is_acknowledged(bus: Bus) -> None:
    """Publish, handle, ack: the consumer has nothing left to do."""
    handler = _Recorder()
    async with _consuming(bus, handler):
        assert await bus.publish(_landed("bear-v4"), msg_id="1")
        await handler.saw("bear-v4")
        await _nothing_pending(bus)


async def test_a_message_on_the_wire_can_be_read_by_a_person(bus: Bus) -> None:
    """Proto3 JSON and CloudEvents headers, on the declared subject."""
    await bus.publish(_landed("bear-v4"), msg_id="bear-v4/1")
    message = await bus.jetstream.get_last_msg(CHECKPOINTS, LANDED)
    assert json.loads(message.data or b"") == {
        "tenant": "default",
        "checkpoint": {"checkpointId": "bear-v4"},
    }
    headers = dict(message.headers or {})
    assert headers.pop("ce-time").endswith("Z")
    assert headers.pop("traceparent").startswith("00-")
    assert headers == {
        "Nats-Msg-Id": "bear-v4/1",
        "content-type": "application/json",
        "ce-specversion": "1.0",
        "ce-id": "bear-v4/1",
        "ce-type": "personalq.v1.CheckpointLanded",
        "ce-source": "/personalq/test",
    }


async def test_the_same_fact_is_stored_once(bus: Bus) -> None:
    """The second publication under one id says that it was a duplicate."""
    assert await bus.publish(_landed("bear-v4"), msg_id="same")
    assert not await bus.publish(_landed("bear-v4"), msg_id="same")
    assert (await bus.jetstream.stream_info(CHECKPOINTS)).state.messages == 1


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "", "none"])
async def test_json_from_any_client_is_read(bus: Bus, content_type: str) -> None:
    """JSON with or without a content type; unknown fields are ignored, a missing tenant is the
    subject's.
    """
    handler = _Recorder()
    headers = {} if content_type == "none" else {"content-type": content_type}
    payload = b'{"checkpoint": {"checkpointId": "cat"}, "newField": 1}'
    async with _consuming(bus, handler):
        await bus.jetstream.publish(LANDED, payload, headers=headers or None)
        await handler.saw("cat")
        await _nothing_pending(bus)


async def test_binary_protobuf_is_read(bus: Bus) -> None:
    """Content type application/protobuf carries the binary form."""
    handler = _Recorder()
    async with _consuming(bus, handler):
        await bus.jetstream.publish(
            LANDED,
            _landed("cat").SerializeToString(),
            headers={"Content-Type": "application/protobuf"},
        )
        await handler.saw("cat")


@pytest.mark.parametrize(
    ("payload", "headers", "reason"),
    [
        (b"{not json", {}, "JSON"),
        (b"\xff\xfe", {}, "JSON"),
        (b"[]", {}, "JSON"),
        (b'{"checkpoint": "bear"}', {}, "JSON"),
        (b"", {}, "JSON"),
        (b"\x0a\xff", {"content-type": "application/protobuf"}, "protobuf"),
        (b"{}", {"content-type": "text/xml"}, "text/xml"),
        (b"{}", {"ce-type": "personalq.v1.ArtifactReady"}, "ce-type"),
        (b'{"tenant": "other"}', {}, "landed.other"),
        (b'{"tenant": "Not A Tenant"}', {}, "tenant"),
    ],
    ids=[
        "broken", "no-utf8", "list", "wrong-type", "empty", "broken-binary", "xml", "other-event",
        "other-tenant", "no-tenant",
    ],
)  # fmt: skip
async def test_a_malformed_event_is_buried_and_the_rest_goes_on(
    bus: Bus, payload: bytes, headers: dict[str, str], reason: str
) -> None:
    """It becomes a dead letter at once; the next event is handled."""
    handler = _Recorder()
    async with _consuming(bus, handler):
        await bus.jetstream.publish(LANDED, payload, headers=headers or None)
        await bus.publish(_landed("good"), msg_id="good")
        await handler.saw("good")
        [letter] = await _buried(bus)
        await _nothing_pending(bus)
    assert reason in letter.error
    assert (letter.subject, letter.stream, letter.durable) == (LANDED, CHECKPOINTS, "worker")
    assert (letter.payload, dict(letter.headers)) == (payload, headers)
    assert letter.deliveries == 1


async def test_retry_comes_again_after_its_delay(bus: Bus) -> None:
    """Retry makes no dead letter, however often it is said."""
    handler = _Recorder(*[Retry(after_s=0.01)] * 15, None)
    async with _consuming(bus, handler, max_deliver=1):
        await bus.publish(_landed("bear"), msg_id="1")
        await handler.saw(*["bear"] * 16)
        await _nothing_pending(bus)
    assert await _letters(bus) == []


async def test_what_comes_again_for_too_long_is_buried(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After many deliveries and much time the handler is no longer asked."""
    monkeypatch.setattr("personalq.chassis.consumers._SAFETY_S", 0.0)
    handler = _Recorder(*[Retry(after_s=0.01)] * 50)
    async with _consuming(bus, handler, max_deliver=1):
        await bus.publish(_landed("bear"), msg_id="1")
        [letter] = await _buried(bus)
        await _nothing_pending(bus)
    assert handler.seen == ["bear"] * 10
    assert letter.error == "delivered 11 times and never finished"


async def test_a_handler_that_fails_is_called_again_then_its_event_is_buried(bus: Bus) -> None:
    """After max_deliver failures the event is a dead letter that says why."""
    handler = _Recorder(*[OSError("the disk is full")] * 3)
    async with _consuming(bus, handler, max_deliver=3):
        await bus.publish(_landed("bear"), msg_id="1")
        [letter] = await _buried(bus)
        await _nothing_pending(bus)
    assert handler.seen == ["bear"] * 3
    assert letter.error == "OSError: the disk is full"
    assert letter.deliveries == 3
    assert letter.event_type == "personalq.v1.CheckpointLanded"


@pytest.mark.parametrize(
    "error", [Reject("keys map to nothing"), InvalidInput("keys map to nothing")]
)
async def test_a_hopeless_event_is_buried_at_once(bus: Bus, error: Exception) -> None:
    """Reject and InvalidInput are not tried again."""
    handler = _Recorder(error)
    async with _consuming(bus, handler):
        await bus.publish(_landed("bear"), msg_id="1")
        [letter] = await _buried(bus)
        await _nothing_pending(bus)
    assert handler.seen == ["bear"]
    assert letter.error == "keys map to nothing"


async def test_a_dead_letter_can_be_replayed(bus: Bus) -> None:
    """It is published again as it came, and gone from the dead letters."""
    handler = _Recorder(Reject("ümläut\nand a second line"), None)
    async with _consuming(bus, handler):
        await bus.publish(_landed("bear"), msg_id="1")
        [letter] = await _buried(bus)
        assert letter.error == "ümläut\nand a second line"
        await bus.replay(letter.sequence)
        await handler.saw("bear", "bear")
        await _nothing_pending(bus)
    assert await _letters(bus) == []
    again = await bus.jetstream.get_last_msg(CHECKPOINTS, LANDED)
    assert again.data == letter.payload
    assert dict(again.headers or {}) | {"Nats-Msg-Id": ""} == {**letter.headers, "Nats-Msg-Id": ""}
    with pytest.raises(NotFound, match="no dead letter"):
        await bus.replay(letter.sequence)


async def test_a_message_too_large_to_copy_is_buried_without_its_payload(bus: Bus) -> None:
    """Our headers do not fit beside it: the dead letter says where it is, the rest goes on."""
    payload = b"x" * (bus.client.max_payload - 20)
    handler = _Recorder()
    async with _consuming(bus, handler):
        await bus.jetstream.publish(LANDED, payload)
        await bus.publish(_landed("good"), msg_id="good")
        await handler.saw("good")
        [letter] = await _buried(bus)
        await _nothing_pending(bus)
    assert "JSON" in letter.error
    assert (letter.payload, letter.stream_sequence) == (b"", 1)
    assert letter.left_out_bytes > len(payload)
    with pytest.raises(InvalidInput, match="message 1 of PERSONALQ_CHECKPOINTS"):
        await bus.replay(letter.sequence)


async def test_an_event_that_fits_only_without_its_headers_is_refused(bus: Bus) -> None:
    """The server would close the connection; the sender is told instead, and goes on."""
    event = _landed("bear")
    event.checkpoint.description = "x" * (bus.client.max_payload - 200)
    with pytest.raises(InvalidInput, match="bytes"):
        await bus.publish(event, msg_id="1")
    assert await bus.publish(_landed("cat"), msg_id="2")


async def test_a_stranger_among_the_dead_letters_can_be_listed_and_discarded(bus: Bus) -> None:
    """A message that no worker buried does not hide the others; it is not replayed."""
    stored = await bus.jetstream.publish(
        "personalq.dead.test", b"?", headers={"X-PersonalQ-Sequence": "one"}
    )
    [letter] = await _letters(bus)
    assert (letter.sequence, letter.payload, letter.subject) == (stored.seq, b"?", "")
    with pytest.raises(InvalidInput, match="does not say where"):
        await bus.replay(letter.sequence)
    await bus.discard(letter.sequence)
    assert await _letters(bus) == []


async def test_a_dead_letter_can_be_discarded(bus: Bus) -> None:
    """Discarding removes it and nothing else."""
    async with _consuming(bus, _Recorder(Reject("one"), Reject("two"))):
        await bus.publish(_landed("a"), msg_id="a")
        await bus.publish(_landed("b"), msg_id="b")
        first, _ = await _buried(bus, 2)
    await bus.discard(first.sequence)
    assert [letter.error for letter in await _letters(bus)] == ["two"]
    with pytest.raises(NotFound):
        await bus.discard(first.sequence)


async def test_an_outdated_dead_letter_is_not_replayed(bus: Bus) -> None:
    """Where only the latest message counts, an old one must not come back over it."""

    async def refuse(event: pb.ArtifactReady) -> None:
        raise Reject("no")

    await bus.publish(_ready("bear", "old"), msg_id="old")
    task = asyncio.create_task(bus.consume(pb.ArtifactReady, refuse, durable="artifacts"))
    [letter] = await _buried(bus)
    await _end(task)
    await bus.publish(_ready("bear", "new"), msg_id="new")
    with pytest.raises(Conflict, match="newer"):
        await bus.replay(letter.sequence)
    latest = await bus.jetstream.get_last_msg(ARTIFACTS, subject_of(_ready("bear")))
    assert b"new" in (latest.data or b"")


async def test_nothing_is_lost_when_the_dead_letter_cannot_be_written(bus: Bus) -> None:
    """Without a dead letter stream the event stays, and is buried once there is one again."""
    stream = await bus.jetstream.stream_info("PERSONALQ_DEAD_LETTERS")
    await bus.jetstream.delete_stream("PERSONALQ_DEAD_LETTERS")
    handler = _Recorder(Reject("no"), Reject("still no"))
    async with _consuming(bus, handler):
        await bus.publish(_landed("bear"), msg_id="1")
        await handler.saw("bear")
        await bus.jetstream.add_stream(stream.config)
        [letter] = await _buried(bus)
    assert letter.error == "still no"


async def test_a_sign_of_life_keeps_slow_work(bus: Bus) -> None:
    """A handler slower than ack_wait is not given to someone else."""
    calls = 0

    async def slow(event: pb.CheckpointLanded) -> None:
        nonlocal calls
        calls += 1
        await asyncio.sleep(2.0)

    async with _consuming(bus, slow, ack_wait_s=0.5), _consuming(bus, slow, ack_wait_s=0.5):
        await bus.publish(_landed("bear"), msg_id="1")
        await eventually(lambda: _is(calls == 1))
        await _nothing_pending(bus)
    assert calls == 1


async def _is(value: bool) -> bool:
    return value


async def test_only_as_many_events_as_hands(bus: Bus) -> None:
    """With two hands two events are worked on, and no third is taken from other workers."""
    release = asyncio.Event()
    busy = 0

    async def hold(event: pb.CheckpointLanded) -> None:
        nonlocal busy
        busy += 1
        await release.wait()
        busy -= 1

    async with _consuming(bus, hold, concurrency=2):
        for number in range(5):
            await bus.publish(_landed(f"c{number}"), msg_id=str(number))
        await eventually(lambda: _is(busy == 2))
        info = await bus.jetstream.consumer_info(CHECKPOINTS, "worker")
        assert (info.num_ack_pending, info.num_pending) == (2, 3)
        release.set()
        await _nothing_pending(bus)


async def test_tenant_and_trace_arrive_with_the_event(bus: Bus) -> None:
    """The handler works for the event's tenant, and in the trace of its publisher."""
    seen = []

    async def handler(event: pb.CheckpointLanded) -> None:
        seen.append((current_tenant(), telemetry.current_trace_id()))

    async with _consuming(bus, handler):
        with telemetry.span("test"):
            trace_id = telemetry.current_trace_id()
            await bus.publish(_landed("bear", tenant="acme"), msg_id="1")
        await eventually(lambda: _is(bool(seen)))
    assert seen == [("acme", trace_id)]


async def test_on_a_stop_a_running_handler_finishes(bus: Bus) -> None:
    """Cancelling the consumer lets the handler end and acknowledges its event."""
    started, release = asyncio.Event(), asyncio.Event()
    finished = False

    async def handler(event: pb.CheckpointLanded) -> None:
        nonlocal finished
        started.set()
        await release.wait()
        finished = True

    async with _consuming(bus, handler) as task:
        await bus.publish(_landed("bear"), msg_id="1")
        await bus.publish(_landed("cat"), msg_id="2")
        await started.wait()
        task.cancel()
        await asyncio.sleep(0)
        release.set()
        await asyncio.gather(task, return_exceptions=True)
    assert finished

    async def acknowledged() -> bool:
        info = await bus.jetstream.consumer_info(CHECKPOINTS, "worker")
        return (info.num_ack_pending, info.num_pending) == (0, 1)

    await eventually(acknowledged)


async def test_on_a_stop_a_handler_that_hangs_gives_its_event_back(bus: Bus) -> None:
    """What does not finish in time is cancelled; the next worker gets it at once."""

    async def hang(event: pb.CheckpointLanded) -> None:
        await asyncio.Event().wait()

    async with _consuming(bus, hang, finish_s=0.1):
        await bus.publish(_landed("bear"), msg_id="1")

        async def taken() -> bool:
            try:
                worker = await bus.jetstream.consumer_info(CHECKPOINTS, "worker")
            except NotFoundError:  # not made yet
                return False
            return bool(worker.num_ack_pending)

        await eventually(taken)
    handler = _Recorder()
    async with _consuming(bus, handler):
        await handler.saw("bear")


async def test_a_stop_in_full_flow_is_heard(bus: Bus) -> None:
    """Cancelling while messages pour in ends the consumer, and no message is lost by it."""
    seen: set[str] = set()

    async def handler(event: pb.CheckpointLanded) -> None:
        seen.add(event.checkpoint.checkpoint_id)

    ids = {str(number) for number in range(200)}
    for checkpoint_id in ids:
        payload = json.dumps({"checkpoint": {"checkpointId": checkpoint_id}}).encode()
        await bus.client.publish(LANDED, payload)
    await bus.client.flush()
    stops = 0
    while stops < 30 and len(seen) < len(ids):
        async with _consuming(bus, handler, ack_wait_s=1.0) as task:
            before = len(seen)
            await eventually(lambda before=before: _is(len(seen) > before), every_s=0.001)  # type: ignore[misc]
            task.cancel()
            done, _ = await asyncio.wait({task}, timeout=10)
            assert done
        stops += 1
    async with _consuming(bus, handler, ack_wait_s=1.0):
        await eventually(lambda: _is(seen == ids))


async def test_a_consumer_takes_new_settings(bus: Bus) -> None:
    """A durable that exists is brought up to date, not used as it was."""
    async with _consuming(bus, _Recorder(), ack_wait_s=7):
        await eventually(lambda: _ack_wait(bus, 7))
    async with _consuming(bus, _Recorder(), ack_wait_s=9):
        await eventually(lambda: _ack_wait(bus, 9))


async def _ack_wait(bus: Bus, seconds: float) -> bool:
    consumers = await bus.jetstream.consumers_info(CHECKPOINTS)
    return [info.config.ack_wait for info in consumers] == [seconds]


async def test_a_deleted_consumer_is_made_again(bus: Bus) -> None:
    """An operator who deletes the consumer does not stop the service."""
    handler = _Recorder()
    async with _consuming(bus, handler):
        await bus.publish(_landed("bear"), msg_id="1")
        await handler.saw("bear")
        await _nothing_pending(bus)
        await bus.jetstream.delete_consumer(CHECKPOINTS, "worker")
        await bus.publish(_landed("cat"), msg_id="2")
        await eventually(lambda: _is("cat" in handler.seen))


async def test_a_worker_survives_a_killed_server(killable_nats: Killable) -> None:
    """After a SIGKILL and a restart the same worker goes on; nothing is lost."""
    handler = _Recorder()
    async with open_bus(killable_nats.url, name="test") as bus, _consuming(bus, handler):
        await bus.publish(_landed("before"), msg_id="1")
        await handler.saw("before")
        await killable_nats.kill()
        with pytest.raises(Unavailable, match="could not be published"):
            await asyncio.wait_for(bus.publish(_landed("during"), msg_id="2"), 10)
        await killable_nats.start()
        await eventually(lambda: _is(bus.client.is_connected))
        await bus.publish(_landed("during"), msg_id="2")
        await bus.publish(_landed("after"), msg_id="3")
        await eventually(lambda: _is({"during", "after"} <= set(handler.seen)))


async def test_a_follower_reads_the_latest_and_then_what_is_new(bus: Bus) -> None:
    """It gets one event per subject, says when it has caught up, and goes on live."""
    await bus.publish(_ready("bear.v4", "old"), msg_id="1")
    await bus.publish(_ready("bear.v4", "new"), msg_id="2")
    await bus.publish(_ready("bear.v4", "small", profile="w4a8"), msg_id="3")
    seen: dict[tuple[str, str], str] = {}

    async def remember(event: pb.ArtifactReady) -> None:
        seen[event.artifact.checkpoint_id, event.artifact.profile] = event.artifact.digest

    async with _following(bus, pb.ArtifactReady, remember) as synced:
        await asyncio.wait_for(synced.wait(), 10)
        assert seen == {("bear.v4", "w8a8"): "new", ("bear.v4", "w4a8"): "small"}
        await bus.publish(_ready("cat", "live"), msg_id="4")
        await eventually(lambda: _is(seen.get(("cat", "w8a8")) == "live"))
        [consumer] = await bus.jetstream.consumers_info(ARTIFACTS)
        assert consumer.name.startswith("renderer-")
    assert await bus.jetstream.consumers_info(ARTIFACTS) == []


async def test_followers_see_everything_each(bus: Bus) -> None:
    """Two of one name do not share the events as workers do."""
    counts = [0, 0]

    async def count_first(event: pb.ArtifactReady) -> None:
        counts[0] += 1

    async def count_second(event: pb.ArtifactReady) -> None:
        counts[1] += 1

    async with (
        _following(bus, pb.ArtifactReady, count_first),
        _following(bus, pb.ArtifactReady, count_second),
    ):
        for number in range(20):
            await bus.publish(_ready(f"c{number}"), msg_id=str(number))
        await eventually(lambda: _is(counts == [20, 20]))


async def test_an_empty_state_is_synced_at_once(bus: Bus) -> None:
    """With nothing to read the follower has caught up."""

    async def ignore(event: pb.ArtifactReady) -> None:
        pass

    async with _following(bus, pb.ArtifactReady, ignore) as synced:
        await asyncio.wait_for(synced.wait(), 10)


async def test_a_follower_skips_what_it_cannot_read_and_repeats_what_failed(bus: Bus) -> None:
    """Malformed state is passed over; a handler that failed gets the event again."""
    await bus.jetstream.publish("personalq.artifact.ready.default.bad.w8a8", b"{")
    await bus.publish(_ready("flaky"), msg_id="1")
    await bus.publish(_ready("fine"), msg_id="2")
    seen: list[str] = []

    async def fail_once(event: pb.ArtifactReady) -> None:
        seen.append(event.artifact.checkpoint_id)
        if seen == ["flaky"]:
            raise OSError("the disk is full")

    async with _following(bus, pb.ArtifactReady, fail_once):
        await eventually(lambda: _is(seen == ["flaky", "fine", "flaky"]))


async def test_a_follower_survives_a_killed_server(killable_nats: Killable) -> None:
    """Its consumer dies with the server; it makes a new one and reads the state again."""
    seen: list[str] = []

    async def remember(event: pb.ArtifactReady) -> None:
        seen.append(event.artifact.checkpoint_id)

    async with (
        open_bus(killable_nats.url, name="test") as bus,
        _following(bus, pb.ArtifactReady, remember),
    ):
        await bus.publish(_ready("before"), msg_id="1")
        await eventually(lambda: _is(seen == ["before"]))
        await killable_nats.kill()
        await killable_nats.start()
        await eventually(lambda: _is(bus.client.is_connected))
        await bus.publish(_ready("after"), msg_id="2")
        await eventually(lambda: _is("after" in seen), timeout_s=20)
    assert seen.count("before") == 2


async def test_an_event_that_belongs_nowhere_is_refused_by_its_sender(bus: Bus) -> None:
    """A missing tenant or id is the publisher's mistake, told before anything is sent."""
    with pytest.raises(InvalidInput, match="tenant"):
        await bus.publish(pb.CheckpointLanded(), msg_id="1")
    with pytest.raises(InvalidInput, match=r"artifact\.checkpoint_id"):
        await bus.publish(pb.ArtifactReady(tenant="default"), msg_id="2")
    large = _landed("bear")
    large.checkpoint.description = "x" * 2_000_000
    with pytest.raises(InvalidInput, match="bytes"):
        await bus.publish(large, msg_id="3")


async def test_without_streams_the_publisher_is_told_what_to_do(bus: Bus) -> None:
    """Nobody takes the subject: the message names the bootstrap command."""
    await bus.jetstream.delete_stream(CHECKPOINTS)
    with pytest.raises(Unavailable, match=r"python -m personalq\.chassis bootstrap"):
        await bus.publish(_landed("bear"), msg_id="1")


async def test_a_consumer_that_cannot_be_made_is_an_error(bus: Bus) -> None:
    """A durable of that name with other fundamentals is not silently used."""
    await bus.jetstream.add_consumer(
        CHECKPOINTS, ConsumerConfig(durable_name="worker", deliver_subject="push.there")
    )
    with pytest.raises(Exception, match="refuses consumer worker"):
        await asyncio.wait_for(bus.consume(pb.CheckpointLanded, _Recorder(), durable="worker"), 10)


async def test_a_server_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first connection gives up after a while and says where it tried, without the password."""
    monkeypatch.setattr("personalq.chassis.events._CONNECT_S", 0.5)
    with pytest.raises(Unavailable, match=r"NATS does not answer at nats://127\.0\.0\.1:1 "):
        async with open_bus("nats://me:hunter2@127.0.0.1:1", name="test"):
            pass


async def test_a_server_that_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Something else listens there: the attempt ends, with its connection."""
    monkeypatch.setattr("personalq.chassis.events._CONNECT_S", 0.5)
    left = asyncio.Event()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        left.set()
        writer.close()

    async with await asyncio.start_server(listen, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(Unavailable, match=r"does not answer at .*Timeout"):
            async with open_bus(f"nats://127.0.0.1:{port}", name="test"):
                pass
        await asyncio.wait_for(left.wait(), 10)


@asynccontextmanager
async def _following(
    bus: Bus, event_type: type[M], handler: Callable[[M], Awaitable[None]]
) -> AsyncIterator[asyncio.Event]:
    synced = asyncio.Event()
    task = asyncio.create_task(bus.follow(event_type, handler, name="renderer", synced=synced))
    try:
        yield synced
    finally:
        await _end(task)
