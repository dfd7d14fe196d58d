"""What calls to a remote model have in common: one budget, retries inside it, a circuit breaker.

A request's deadline and the part's own limit make one budget for everything: waiting, retries and
the turn that repairs an answer. SDKs must not retry by themselves.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar, cast

from personalq.chassis.rpc import remaining_s

if TYPE_CHECKING:
    import httpx2
    import tenacity

T = TypeVar("T")

MAX_REPLY = 1_048_576
"""Bytes of a reply that are read."""
_RESERVE_S = 0.25
"""Left of the request's deadline for the answer without the model."""
_LEAST_S = 0.05
_RETRIED = (408, 429)


class EndpointFailed(Exception):
    """The model gave no usable answer."""

    def __init__(
        self, problem: str, *, retryable: bool = False, retry_after_s: float | None = None
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.retryable = retryable
        self.retry_after_s = retry_after_s


class Skipped(EndpointFailed):
    """The model was not asked: it failed lately, or no time is left."""


class Refused(EndpointFailed):
    """The endpoint does not accept the request as it is (400, 422)."""


def failed_status(status: int, headers: httpx2.Headers) -> EndpointFailed:
    """The failure an HTTP status stands for; 408, 429 and 5xx may pass."""
    problem = f"answers HTTP {status}"
    if status in (400, 422):
        return Refused(problem)
    return EndpointFailed(
        problem,
        retryable=status in _RETRIED or status >= 500,
        retry_after_s=_retry_after(headers),
    )


def _retry_after(headers: httpx2.Headers) -> float | None:
    """Seconds the server asks for; a date counts as none, it would need the server's clock."""
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None


class Breaker:
    """Spares a dead endpoint: after some failures in a row it is left alone for a while.

    After the pause a single call tries it; the others wait for what becomes of that one.
    """

    def __init__(
        self,
        *,
        failures: int,
        pause_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limit = failures
        self._pause_s = pause_s
        self._clock = clock
        self._failures = 0
        self._closed_until = 0.0

    def admit(self) -> None:
        """Let a call through, or raise Skipped."""
        if self._failures < self._limit:
            return
        now = self._clock()
        if now < self._closed_until:
            raise Skipped("failed repeatedly, is left alone for a while")
        self._closed_until = now + self._pause_s  # this call tries it, the next ones do not

    def succeeded(self) -> None:
        """A call had an answer."""
        self._failures = 0

    def failed(self) -> None:
        """A call had none."""
        self._failures += 1
        self._closed_until = self._clock() + self._pause_s


class Budget:
    """The time a model has for one request, all attempts together."""

    def __init__(self, seconds: float) -> None:
        self._ends_at = time.monotonic() + seconds

    def left_s(self) -> float:
        """Seconds left."""
        return max(0.0, self._ends_at - time.monotonic())

    async def attempt(self, call: Callable[[], Awaitable[T]]) -> T:
        """Call until it succeeds, fails for good, or the next attempt would come too late."""
        import tenacity  # with the extras only

        jittered = tenacity.wait_exponential_jitter(multiplier=0.2, max=5.0, jitter=0.2)

        def may_pass(error: BaseException) -> bool:
            return isinstance(error, EndpointFailed) and error.retryable

        def pause(state: tenacity.RetryCallState) -> float:
            error = state.outcome.exception() if state.outcome is not None else None
            asked = error.retry_after_s if isinstance(error, EndpointFailed) else None
            return max(asked or 0.0, jittered(state))

        def too_late(state: tenacity.RetryCallState) -> bool:
            return state.upcoming_sleep >= self.left_s()

        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception(may_pass), wait=pause, stop=too_late, reraise=True
        )
        return cast(T, await retrying(call))


class Endpoint:
    """Runs calls to one remote model within the budget."""

    def __init__(self, *, timeout_s: float, breaker: Breaker) -> None:
        self._timeout_s = timeout_s
        self._breaker = breaker

    async def run(self, work: Callable[[Budget], Awaitable[T]]) -> T:
        """Do `work`; all of it, retries included, ends with the budget.

        Raises:
            EndpointFailed: no usable answer in time; Skipped when none was asked for.
        """
        left = remaining_s()
        budget_s = self._timeout_s if left is None else min(self._timeout_s, left - _RESERVE_S)
        if budget_s < _LEAST_S:
            raise Skipped("the request's deadline leaves no time")
        self._breaker.admit()
        try:
            async with asyncio.timeout(budget_s):
                answer = await work(Budget(budget_s))
        except TimeoutError:
            # A caller in a hurry says nothing about the endpoint.
            if budget_s >= self._timeout_s:
                self._breaker.failed()
            raise EndpointFailed(f"does not answer within {budget_s:.2g} s") from None
        except EndpointFailed:
            self._breaker.failed()
            raise
        self._breaker.succeeded()
        return answer


async def bounded(response: httpx2.Response) -> None:
    """A response hook: read no more than MAX_REPLY bytes, and no compressed ones."""
    import httpx2  # with the extras only

    encoding = response.headers.get("content-encoding", "identity")
    if encoding != "identity":
        raise EndpointFailed("answers with a compressed reply, which was not asked for")
    inner = cast(httpx2.AsyncByteStream, response.stream)

    class Bounded(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for part in inner:
                size += len(part)
                if size > MAX_REPLY:
                    raise EndpointFailed("answers without end")
                yield part

        async def aclose(self) -> None:
            await inner.aclose()

    response.stream = Bounded()
