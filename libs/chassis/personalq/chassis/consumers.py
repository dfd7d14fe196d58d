"""Reading events: a durable worker for work that must be done, a follower for state.

What a handler of `Worker` does with its message:

    returns                     done: ack, the last thing that happens
    raises Retry(after_s=...)   nak with that delay, as often as it takes, for at least a day
    raises Reject("why")        hopeless: dead letter, then term
    raises InvalidInput         the same: the event will not get better
    raises anything else        nak with exponential backoff; a dead letter after max_deliver

A handler is called again whenever an ack got lost, so it must be idempotent.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic

import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy
from opentelemetry.trace import SpanKind

from personalq.chassis import dead_letters, telemetry
from personalq.chassis.envelopes import M, unwrap
from personalq.chassis.errors import InvalidInput, PersonalQError
from personalq.chassis.pulls import Pull, keep_pulling
from personalq.chassis.subjects import route_of
from personalq.chassis.tenancy import tenant_scope

log = logging.getLogger(__name__)

#: Delay before a failed message comes again: doubles from the first to the second.
_BACKOFF_S = (1.0, 60.0)
#: A message delivered this many times max_deliver and this long in the stream is buried whatever
#: its handler says: a worker that dies of it, or says Retry for ever, must not hold it for ever.
_SAFETY_FACTOR = 10
_SAFETY_S = 86_400.0


class Retry(Exception):
    """Not now: deliver the event again after a delay."""

    def __init__(self, message: str = "", *, after_s: float) -> None:
        super().__init__(message or f"again in {after_s:g} s")
        self.after_s = after_s


class Reject(Exception):
    """Hopeless: put the event among the dead letters."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, kw_only=True)
class Subscription:
    """How a durable consumer works."""

    #: Name of the consumer on the server; workers of one name share the events.
    durable: str
    #: Events handled at the same time by this process.
    concurrency: int = 1
    #: Without a sign of life for this long, the event goes to another worker.
    ack_wait_s: float = 30.0
    #: A failure at this delivery, or a later one, makes the event a dead letter. NATS counts all
    #: deliveries, those that ended with Retry too.
    max_deliver: int = 8
    #: On a stop, how long running handlers may take to finish.
    finish_s: float = 20.0
    #: Delay after the first failure; doubles each time, up to a minute.
    backoff_s: float = _BACKOFF_S[0]


class Worker(Generic[M]):
    """Hands the events of one type to a handler, each to one worker of the same name."""

    def __init__(
        self,
        client: Client,
        jetstream: JetStreamContext,
        event_type: type[M],
        handler: Callable[[M], Awaitable[None]],
        subscription: Subscription,
    ) -> None:
        self._client = client
        self._jetstream = jetstream
        self._event_type = event_type
        self._event = event_type.DESCRIPTOR.name
        self._handler = handler
        self._subscription = subscription
        self._running: set[asyncio.Task[None]] = set()
        self._slots = asyncio.Semaphore(subscription.concurrency)

    async def run(self) -> None:
        """Work until cancelled; then take nothing new, and let what is running finish."""
        try:
            await keep_pulling(
                self._client,
                self._jetstream,
                route_of(self._event_type).stream,
                self._config(),
                self._work,
            )
        finally:
            await self._finish()

    async def _work(self, pull: Pull) -> None:
        while True:
            # First a free hand, then a message: what is fetched is worked on at once.
            await self._slots.acquire()
            message: Msg | None = None
            try:
                message = await pull.next()
            finally:
                if message is None:
                    self._slots.release()
            if message is not None:
                task = asyncio.create_task(self._settle(message))
                self._running.add(task)
                task.add_done_callback(self._let_go)

    def _let_go(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._slots.release()

    def _config(self) -> ConsumerConfig:
        wish = self._subscription
        return ConsumerConfig(
            name=wish.durable,
            durable_name=wish.durable,
            filter_subject=route_of(self._event_type).wildcard,
            deliver_policy=DeliverPolicy.ALL,
            ack_policy=AckPolicy.EXPLICIT,
            ack_wait=wish.ack_wait_s,
            # Deliveries are counted here, where the dead letter is written.
            max_deliver=-1,
        )

    async def _finish(self) -> None:
        """Let running handlers finish, for a while; what is cancelled comes again at once."""
        if not self._running:
            return
        log.info(
            "finishing events",
            extra={"action": "stop", "consumer": self._subscription.durable},
        )
        running = set(self._running)
        try:
            await asyncio.wait(running, timeout=self._subscription.finish_s)
        finally:  # also when the patience of whoever stops us ends first
            for task in running:
                task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _settle(self, message: Msg) -> None:
        """Handle one message and say so to the server; raises nothing but CancelledError."""
        wish = self._subscription
        deliveries = message.metadata.num_delivered
        started = time.monotonic()
        facts: dict[str, object] = {
            "action": "handle_event",
            "event": self._event,
            "consumer": wish.durable,
            "subject": message.subject,
            "sequence": message.metadata.sequence.stream,
            "deliveries": deliveries,
        }
        with telemetry.span(
            f"{self._event} {wish.durable}", carrier=_lower(message), kind=SpanKind.CONSUMER
        ):
            outcome = "failed"
            try:
                async with _sign_of_life(message, every_s=wish.ack_wait_s / 3):
                    outcome, error = await self._outcome(message, deliveries, facts)
                    await self._answer(message, outcome, error, deliveries)
            except asyncio.CancelledError:
                with suppress(Exception):
                    await message.nak()
                raise
            except Exception as error:
                # The answer did not get through; the message comes again after ack_wait.
                log.warning("event not answered", extra=facts | {"problem": str(error)})
            finally:
                seconds = time.monotonic() - started
                telemetry.EVENTS_HANDLED.labels(self._event, wish.durable, outcome).inc()
                telemetry.EVENT_SECONDS.labels(self._event, wish.durable).observe(seconds)
                log.info(
                    "event handled",
                    extra=facts | {"outcome": outcome, "seconds": round(seconds, 4)},
                )

    async def _outcome(
        self, message: Msg, deliveries: int, facts: dict[str, object]
    ) -> tuple[str, Exception | None]:
        """Run the handler; "done", "retried", "failed" or "dead", and the error."""
        wish = self._subscription
        age_s = (datetime.now(UTC) - message.metadata.timestamp).total_seconds()
        if deliveries > wish.max_deliver * _SAFETY_FACTOR and age_s > _SAFETY_S:
            return "dead", Reject(f"delivered {deliveries} times and never finished")
        try:
            await _deliver(message, self._event_type, self._handler)
        except Retry as error:
            return "retried", error
        except (Reject, InvalidInput) as error:
            return "dead", error
        except Exception as error:
            known = isinstance(error, PersonalQError)
            log.warning(
                "event failed",
                extra=facts | {"problem": str(error) or repr(error)},
                exc_info=None if known else error,
            )
            return ("dead" if deliveries >= wish.max_deliver else "failed"), error
        return "done", None

    async def _answer(
        self, message: Msg, outcome: str, error: Exception | None, deliveries: int
    ) -> None:
        if outcome == "done":
            await message.ack()
        elif isinstance(error, Retry):
            await message.nak(delay=error.after_s)
        elif outcome == "failed":
            await message.nak(delay=backoff_s(deliveries, first_s=self._subscription.backoff_s))
        else:
            await self._bury(message, error, deliveries)

    async def _bury(self, message: Msg, error: Exception | None, deliveries: int) -> None:
        """Dead letter first, then term: nothing is lost when the first one fails."""
        durable = self._subscription.durable
        try:
            await dead_letters.bury(
                self._jetstream,
                message,
                durable=durable,
                error=_explain(error),
                max_payload=self._client.max_payload,
            )
        except Exception as problem:
            log.exception(
                "dead letter not written",
                extra={"action": "bury_event", "consumer": durable, "problem": str(problem)},
            )
            await message.nak(delay=backoff_s(deliveries))
            return
        await message.term()
        log.warning(
            "event buried",
            extra={
                "action": "bury_event",
                "event": self._event,
                "consumer": durable,
                "subject": message.subject,
                "sequence": message.metadata.sequence.stream,
                "problem": _explain(error),
            },
        )


class Follower(Generic[M]):
    """Hands the latest event of every subject to a handler, then each new one, in order.

    For state that every process keeps for itself. The consumer is of this process alone and goes
    with it; when the server loses it, all of the state is read again. An event that cannot be read
    is skipped: a durable consumer buries it.
    """

    def __init__(
        self,
        client: Client,
        jetstream: JetStreamContext,
        event_type: type[M],
        handler: Callable[[M], Awaitable[None]],
        *,
        name: str,
        synced: asyncio.Event | None = None,
    ) -> None:
        self._client = client
        self._jetstream = jetstream
        self._event_type = event_type
        self._event = event_type.DESCRIPTOR.name
        self._handler = handler
        # Two processes under one name would share the events instead of each seeing all.
        self._name = f"{name}-{uuid.uuid4().hex[:8]}"
        self._synced = synced or asyncio.Event()

    async def run(self) -> None:
        """Follow until cancelled."""
        stream = route_of(self._event_type).stream
        try:
            await keep_pulling(self._client, self._jetstream, stream, self._config(), self._work)
        finally:
            with suppress(Exception):
                await asyncio.wait_for(self._jetstream.delete_consumer(stream, self._name), 2.0)

    async def _work(self, pull: Pull) -> None:
        stream = route_of(self._event_type).stream
        info = await self._jetstream.consumer_info(stream, self._name)
        if not info.num_pending and not info.num_ack_pending:
            self._synced.set()
        while True:
            message = await pull.next()
            if message is not None:
                await self._settle(message)
                if message.metadata.num_pending == 0:
                    self._synced.set()

    def _config(self) -> ConsumerConfig:
        return ConsumerConfig(
            name=self._name,
            filter_subject=route_of(self._event_type).wildcard,
            deliver_policy=DeliverPolicy.LAST_PER_SUBJECT,
            ack_policy=AckPolicy.EXPLICIT,
            ack_wait=30.0,
            inactive_threshold=60.0,
            mem_storage=True,
        )

    async def _settle(self, message: Msg) -> None:
        facts: dict[str, object] = {
            "action": "follow_event",
            "event": self._event,
            "consumer": self._name,
            "subject": message.subject,
        }
        outcome = "done"
        with telemetry.span(
            f"{self._event} {self._name}", carrier=_lower(message), kind=SpanKind.CONSUMER
        ):
            try:
                await _deliver(message, self._event_type, self._handler)
                await message.ack()
            except InvalidInput as error:
                outcome = "dead"
                log.warning("event skipped", extra=facts | {"problem": str(error)})
                await message.term()
            except Exception as error:
                outcome = "failed"
                log.warning("event failed", extra=facts, exc_info=error)
                await message.nak(delay=backoff_s(message.metadata.num_delivered))
        # The name of the process stays out of the metrics: each would be a series of its own.
        telemetry.EVENTS_HANDLED.labels(self._event, "follower", outcome).inc()


def backoff_s(deliveries: int, *, first_s: float = _BACKOFF_S[0]) -> float:
    """Seconds before the next delivery: doubles each time, with up to 20 % on top."""
    delay = min(first_s * 2.0 ** min(deliveries - 1, 30), _BACKOFF_S[1])
    return delay * random.uniform(1.0, 1.2)  # noqa: S311  # jitter, not a secret


async def _deliver(
    message: Msg, event_type: type[M], handler: Callable[[M], Awaitable[None]]
) -> None:
    """Read the event and call the handler for its tenant; InvalidInput when it cannot be read."""
    event = unwrap(
        event_type,
        subject=message.subject,
        payload=message.data,
        headers=message.headers or {},
    )
    tenant: str = event.tenant  # type: ignore[attr-defined]  # every event has one
    with tenant_scope(tenant):
        await handler(event)


@asynccontextmanager
async def _sign_of_life(message: Msg, *, every_s: float) -> AsyncIterator[None]:
    """Tell the server that the message is being worked on, so that no other worker gets it."""
    working = True

    async def beat() -> None:
        while working:
            await asyncio.sleep(every_s)
            # Out of reach for now: the connection comes back, or the message goes to another.
            with suppress(nats.errors.Error, OSError):
                await message.in_progress()

    heart = asyncio.create_task(beat())
    try:
        yield
    finally:
        working = False
        heart.cancel()


def _lower(message: Msg) -> dict[str, str]:
    return {name.lower(): value for name, value in (message.headers or {}).items()}


def _explain(error: Exception | None) -> str:
    """What the dead letter says: our errors as they are, others with their type."""
    if error is None or isinstance(error, PersonalQError | Reject):
        return str(error)
    return f"{type(error).__name__}: {error}"
