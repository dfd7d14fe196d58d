"""Events over NATS JetStream.

    async with open_bus(settings.nats_url, name="catalog") as bus:
        await verify_streams(bus)
        await bus.publish(event, msg_id=f"registered-{card.sha256}")
        await bus.consume(CheckpointLanded, handler, durable="catalog-landed")

The stream is the outbox: a handler does idempotent work, publishes what follows under a
deterministic message id, and only then returns, which acknowledges its own event.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress

import nats.errors
from google.protobuf.message import Message
from nats.aio.client import Client
from nats.js import JetStreamContext
from nats.js.errors import APIError, NoStreamResponseError, ServiceUnavailableError
from opentelemetry.trace import SpanKind

from personalq.chassis import dead_letters, streams, telemetry
from personalq.chassis.consumers import Follower, Reject, Retry, Subscription, Worker
from personalq.chassis.dead_letters import DeadLetter
from personalq.chassis.envelopes import M, wire_size, wrap
from personalq.chassis.errors import InvalidInput, Unavailable
from personalq.chassis.streams import ARTIFACT_BUCKET
from personalq.chassis.subjects import subject_of

__all__ = [
    "ARTIFACT_BUCKET",
    "Bus",
    "DeadLetter",
    "Reject",
    "Retry",
    "bootstrap_streams",
    "open_bus",
    "subject_of",
    "verify_streams",
]

log = logging.getLogger(__name__)

#: How long the first connection may take, and an answer of the stream.
_CONNECT_S = 10.0
_PUBLISH_S = 5.0
#: How long sending what is buffered may take on exit.
_LEAVE_S = 8.0


class Bus:
    """Publishes and reads events; made by `open_bus`."""

    def __init__(self, client: Client, *, url: str, name: str) -> None:
        #: The nats-py connection and its JetStream context, for adapters that need more.
        self.client = client
        self.jetstream: JetStreamContext = client.jetstream(timeout=_PUBLISH_S)
        #: Where NATS is, without user and password.
        self.url = _without_password(url)
        #: Who publishes, as `ce-source`.
        self.name = name

    async def publish(self, event: Message, *, msg_id: str) -> bool:
        """Publish an event and wait until the stream has stored it.

        Returns False when an event with this id was stored within the last two minutes.

        Args:
            msg_id: the same for the same fact, so that saying it twice stores it once.

        Raises InvalidInput when the tenant or an id is missing or the event is too large,
        Unavailable when it could not be stored; publishing it again is safe.
        """
        name = event.DESCRIPTOR.name
        with telemetry.span(f"{name} publish", kind=SpanKind.PRODUCER):
            envelope = wrap(event, msg_id=msg_id, source=self.name)
            size = wire_size(envelope.payload, envelope.headers)
            if size > self.client.max_payload:
                raise InvalidInput(
                    f"{name} has {size} bytes; NATS takes {self.client.max_payload} in one message"
                )
            try:
                stored = await self.jetstream.publish(
                    envelope.subject, envelope.payload, headers=envelope.headers
                )
            except NoStreamResponseError as error:
                raise Unavailable(
                    f"no stream takes {envelope.subject}: "
                    "run `python -m personalq.chassis bootstrap`"
                ) from error
            except (nats.errors.Error, OSError, TimeoutError) as error:
                reason = str(error) or repr(error)
                raise Unavailable(f"{name} could not be published: {reason}") from error
        duplicate = bool(stored.duplicate)
        telemetry.EVENTS_PUBLISHED.labels(name, str(duplicate).lower()).inc()
        log.info(
            "event published",
            extra={
                "action": "publish_event",
                "event": name,
                "subject": envelope.subject,
                "sequence": stored.seq,
                "duplicate": duplicate,
            },
        )
        return not duplicate

    async def consume(
        self,
        event_type: type[M],
        handler: Callable[[M], Awaitable[None]],
        *,
        durable: str,
        concurrency: int = 1,
        ack_wait_s: float = 30.0,
        max_deliver: int = 8,
        finish_s: float = 20.0,
        backoff_s: float = 1.0,
    ) -> None:
        """Hand every event of a type to the handler until cancelled; see `consumers`.

        Processes that use the same `durable` share the events. On cancellation no new event is
        fetched, and running handlers have `finish_s` to end.
        """
        subscription = Subscription(
            durable=durable,
            concurrency=concurrency,
            ack_wait_s=ack_wait_s,
            max_deliver=max_deliver,
            finish_s=finish_s,
            backoff_s=backoff_s,
        )
        await Worker(self.client, self.jetstream, event_type, handler, subscription).run()

    async def follow(
        self,
        event_type: type[M],
        handler: Callable[[M], Awaitable[None]],
        *,
        name: str,
        synced: asyncio.Event | None = None,
    ) -> None:
        """Hand the latest event of each subject, then every new one, to the handler.

        Runs until cancelled. Sets `synced` once everything that was there at the start has been
        handed over. When the server loses the consumer, all of it is handed over again.
        """
        await Follower(
            self.client, self.jetstream, event_type, handler, name=name, synced=synced
        ).run()

    async def dead_letters(self, *, after: int = 0) -> AsyncIterator[DeadLetter]:
        """Messages nobody could handle, oldest first; only those behind place `after`."""
        with _reachable(self.url):
            async with aclosing(dead_letters.letters(self.jetstream, after=after)) as letters:
                async for letter in letters:
                    yield letter

    async def replay(self, sequence: int) -> None:
        """Publish a dead letter again where it came from, and delete it; see `dead_letters`."""
        with _reachable(self.url):
            await dead_letters.replay(self.jetstream, sequence)

    async def discard(self, sequence: int) -> None:
        """Delete a dead letter; raises NotFound when there is none at that place."""
        with _reachable(self.url):
            await dead_letters.discard(self.jetstream, sequence)


@asynccontextmanager
async def open_bus(url: str, *, name: str) -> AsyncIterator[Bus]:
    """Connect to NATS; reconnects for ever, sends what is buffered on exit.

    Raises Unavailable when the first connection does not come about within ten seconds.
    """
    client = Client()
    shown = _without_password(url)

    problems: list[Exception] = []

    async def on_error(error: Exception) -> None:
        if client.is_connecting or not problems:
            problems[:] = [error]
        log.warning("NATS error", extra={"action": "connect", "problem": str(error) or repr(error)})

    async def on_disconnect() -> None:
        if not client.is_closed and not client.is_draining:
            log.warning("NATS disconnected", extra={"action": "connect", "url": shown})

    async def on_reconnect() -> None:
        log.info("NATS reconnected", extra={"action": "connect", "url": shown})

    try:
        async with asyncio.timeout(_CONNECT_S):
            await client.connect(
                url.split(","),
                name=f"personalq-{name}",
                error_cb=on_error,
                disconnected_cb=on_disconnect,
                reconnected_cb=on_reconnect,
                max_reconnect_attempts=-1,
                reconnect_time_wait=1,
                connect_timeout=5,
                ping_interval=20,
                drain_timeout=5,
            )
    except (nats.errors.Error, OSError, TimeoutError, ValueError) as error:
        reason = problems[-1] if problems else error
        with suppress(nats.errors.Error, OSError):
            await client.close()  # a server that accepted and said nothing still has our socket
        raise Unavailable(
            f"NATS does not answer at {shown} ({str(reason) or repr(reason)}); "
            "start it, or correct the address"
        ) from error
    try:
        yield Bus(client, url=url, name=name)
    finally:
        await _leave(client)


async def bootstrap_streams(bus: Bus, *, replicas: int | None = None) -> None:
    """Create or update the streams and the artifact bucket; safe to repeat."""
    with _reachable(bus.url):
        await streams.bootstrap(bus.jetstream, replicas=replicas)


async def verify_streams(bus: Bus) -> None:
    """Raise NotReady, naming what differs and the command that repairs it."""
    with _reachable(bus.url):
        await streams.verify(bus.jetstream, url=bus.url)


@contextmanager
def _reachable(url: str) -> Iterator[None]:
    """Turn what nats-py raises into Unavailable."""
    try:
        yield
    except ServiceUnavailableError as error:
        raise Unavailable(
            f"NATS at {url} runs without JetStream, or has lost it ({error.description}); "
            "start nats-server with -js"
        ) from error
    except APIError as error:
        raise Unavailable(f"JetStream at {url} refuses: {error.description}") from error
    except (nats.errors.Error, TimeoutError) as error:
        raise Unavailable(f"JetStream at {url} does not answer: {str(error) or error!r}") from error


async def _leave(client: Client) -> None:
    """Send what is buffered and close; at once when there is no connection to send it over."""
    try:
        async with asyncio.timeout(_LEAVE_S):
            await client.drain()
    except (nats.errors.Error, OSError, TimeoutError):
        with suppress(nats.errors.Error, OSError):
            await client.close()


def _without_password(url: str) -> str:
    """The address without user and password, fit for logs and messages."""
    shown = []
    for part in url.split(","):
        scheme, separator, rest = part.rpartition("://")
        shown.append(f"{scheme}{separator}{rest.rpartition('@')[2]}")
    return ",".join(shown)
