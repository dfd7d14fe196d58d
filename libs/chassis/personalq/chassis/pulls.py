"""Pulling messages from a JetStream consumer, one at a time, and surviving its loss.

nats-py's own `PullSubscription.fetch` has three habits that do not suit a worker: it waits to the
end of its time even when the server says that the consumer is gone, and when it is cancelled at the
moment a message arrives, either the message is lost (and back after ack_wait only) or, before
Python 3.12, the cancellation is (`asyncio.wait_for`). So the few lines of protocol are here.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.js import JetStreamContext
from nats.js.api import DEFAULT_PREFIX, ConsumerConfig
from nats.js.errors import BadRequestError, ServerError

from personalq.chassis.errors import PersonalQError, Unavailable

log = logging.getLogger(__name__)

#: The server keeps a request for a message this long. Short, because requests do not survive a
#: restart of the server.
_REQUEST_S = 2.0
#: How much later its answer may come before the request counts as lost.
_LATE_S = 1.0
#: Between two attempts to find or make a consumer, and when to start over with short ones.
_RECOVER_S = (0.2, 10.0)
#: How long giving back what is on its way may take.
_CLOSE_S = 2.0
#: What the server says, with code 500, when a consumer of that name has other fundamentals.
_CONSUMER_CREATE_ERROR = 10012

#: Answers that mean "no message now".
_NO_MESSAGE = ("404", "408")


class ConsumerLost(Exception):
    """The consumer is gone or has moved."""


class Pull:
    """Takes messages from a consumer; made by `keep_pulling`."""

    def __init__(
        self, client: Client, subscription: Subscription, inbox: str, *, stream: str, consumer: str
    ) -> None:
        self._client = client
        self._subscription = subscription
        self._inbox = inbox
        self._subject = f"{DEFAULT_PREFIX}.CONSUMER.MSG.NEXT.{stream}.{consumer}"
        self._requests = 0
        #: When the request under way is answered or lost.
        self._due = 0.0
        self._reading: asyncio.Task[Msg] | None = None

    async def next(self) -> Msg | None:
        """The next message, or None when none came for a while.

        At most one request is under way, so nothing is sent that is not taken. Raises ConsumerLost.
        """
        _heed_cancellation()
        now = time.monotonic()
        if now >= self._due:
            self._requests += 1
            expires_ns = round(_REQUEST_S * 1e9)
            await self._client.publish(
                self._subject,
                json.dumps({"batch": 1, "expires": expires_ns}).encode(),
                reply=f"{self._inbox}.{self._requests}",
            )
            self._due = now + _REQUEST_S + _LATE_S
        self._reading = self._read(max(self._due - now, 0.01))
        # A cancellation ends this wait, not the reading: `close` sees to what it has read.
        await asyncio.wait({self._reading})
        reading, self._reading = self._reading, None
        if reading.cancelled():  # so nats-py treats its readers when it closes
            raise nats.errors.ConnectionClosedError
        try:
            message = reading.result()
        except TimeoutError:
            return None
        return self._understand(message)

    def _read(self, timeout_s: float) -> asyncio.Task[Msg]:
        return asyncio.create_task(self._subscription.next_msg(timeout=timeout_s))

    def _understand(self, message: Msg) -> Msg | None:
        """The message if it is one; what the server answers otherwise ends the request."""
        headers = message.headers or {}
        status = headers.get("Status")
        if status is None or message.reply:
            self._due = 0.0
            return message
        if message.subject != f"{self._inbox}.{self._requests}":
            return None  # about an earlier request
        self._due = 0.0
        if status in _NO_MESSAGE:
            return None
        raise ConsumerLost(f"{status} {headers.get('Description', 'nobody answers')}")

    async def close(self) -> None:
        """Take no more, and give back what is on its way here."""
        drain = asyncio.create_task(self._subscription.drain())
        reading = self._reading or self._read(_CLOSE_S)
        try:
            async with asyncio.timeout(_CLOSE_S):
                while not drain.done():
                    await asyncio.wait({drain, reading}, return_when=asyncio.FIRST_COMPLETED)
                    if reading.done():
                        await _give_back(reading)
                        reading = self._read(_CLOSE_S)
        except (nats.errors.Error, TimeoutError):
            pass  # not connected: the server gives them back by itself, after ack_wait
        finally:
            for task in (drain, reading):
                task.cancel()
            await asyncio.gather(drain, reading, return_exceptions=True)


async def keep_pulling(
    client: Client,
    jetstream: JetStreamContext,
    stream: str,
    config: ConsumerConfig,
    work: Callable[[Pull], Awaitable[None]],
) -> None:
    """Make or update the consumer and let `work` pull from it; again whenever it is lost.

    A consumer is lost when someone deletes it, when its stream is made anew, or, held in memory,
    when the server restarts. Never returns; raises PersonalQError when the server refuses the
    consumer, Unavailable when the connection is closed.
    """
    delay_s = _RECOVER_S[0]
    while True:
        started = time.monotonic()
        try:
            await jetstream.add_consumer(stream, config)
            async with _opened(client, stream=stream, consumer=config.name or "") as pull:
                await work(pull)
        except nats.errors.ConnectionClosedError as error:
            raise Unavailable("the connection to NATS is closed") from error
        except (ConsumerLost, nats.errors.Error, OSError, TimeoutError) as error:
            if _is_refusal(error):
                raise PersonalQError(
                    f"NATS refuses consumer {config.name} of {stream}: {error}; "
                    "delete the consumer if its settings changed"
                ) from error
            if time.monotonic() - started > _RECOVER_S[1]:
                delay_s = _RECOVER_S[0]
            log.warning(
                "consumer lost",
                extra={
                    "action": "pull_events",
                    "stream": stream,
                    "consumer": config.name,
                    "problem": str(error) or repr(error),
                    "retry_in_s": delay_s,
                },
            )
            await asyncio.sleep(delay_s)
            delay_s = min(delay_s * 2, _RECOVER_S[1])


@asynccontextmanager
async def _opened(client: Client, *, stream: str, consumer: str) -> AsyncIterator[Pull]:
    inbox = client.new_inbox()
    subscription = await client.subscribe(f"{inbox}.*")
    pull = Pull(client, subscription, inbox, stream=stream, consumer=consumer)
    try:
        yield pull
    finally:
        await pull.close()


async def _give_back(reading: asyncio.Task[Msg]) -> None:
    """Let the server deliver again what was read, if anything was."""
    if not reading.cancelled() and reading.exception() is None and reading.result().reply:
        await reading.result().nak()


def _is_refusal(error: Exception) -> bool:
    """Whether asking again for the same consumer would change nothing."""
    if isinstance(error, ServerError):
        return bool(error.err_code == _CONSUMER_CREATE_ERROR)
    return isinstance(error, BadRequestError)


def _heed_cancellation() -> None:
    """Raise the CancelledError that `asyncio.wait_for`, inside nats-py, may have lost."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
