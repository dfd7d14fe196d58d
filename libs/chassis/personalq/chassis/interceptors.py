"""What happens around every call, on the server and in the client.

The server's interceptor opens the tenant's scope and the trace, sets a deadline where the client
set none, turns errors into statuses, counts, and writes one line per call. The client's interceptor
hands tenant, trace and what is left of the deadline on to the next server.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any

import grpc
from google.rpc import status_pb2
from grpc_status import rpc_status
from opentelemetry.trace import SpanKind

from personalq.chassis import telemetry
from personalq.chassis.statuses import Status, describe, rich_status, status_of
from personalq.chassis.tenancy import DEFAULT_TENANT, TENANT_HEADER, current_tenant, tenant_scope

log = logging.getLogger(__name__)

INTERNAL = Status(grpc.StatusCode.INTERNAL, "INTERNAL")
TOO_SLOW = Status(grpc.StatusCode.DEADLINE_EXCEEDED, "DEADLINE_EXCEEDED")

#: When the current call must have been answered (`time.monotonic()`), None outside of a call.
_deadline: ContextVar[float | None] = ContextVar("personalq_deadline", default=None)
#: Set when the server that runs the current call is stopping.
_stopping: ContextVar[asyncio.Event | None] = ContextVar("personalq_stopping", default=None)


def remaining_s() -> float | None:
    """Seconds left to answer the current call; None outside of one."""
    deadline = _deadline.get()
    return None if deadline is None else max(0.0, deadline - time.monotonic())


def stopping() -> asyncio.Event:
    """Set as soon as the server running the current call stops: endless streams must end then."""
    return _stopping.get() or asyncio.Event()


class ServerGate(grpc.aio.ServerInterceptor):
    """Wraps every handler of ours; health and reflection pass untouched."""

    def __init__(
        self,
        statuses: Mapping[type[Exception], Status],
        *,
        deadline_s: float,
        stream_deadline_s: float,
        stopping: asyncio.Event,
    ) -> None:
        self._statuses = statuses
        self._deadline_s = deadline_s
        self._stream_deadline_s = stream_deadline_s
        self._stopping = stopping
        #: The calls being answered.
        self.running: set[asyncio.Task[Any]] = set()

    async def intercept_service(
        self, continuation: Callable[[Any], Awaitable[Any]], handler_call_details: Any
    ) -> Any:
        """Return the handler of the call, wrapped."""
        handler = await continuation(handler_call_details)
        method: str = handler_call_details.method
        if handler is None or handler.request_streaming or method.startswith("/grpc."):
            return handler
        if handler.response_streaming:
            return grpc.unary_stream_rpc_method_handler(
                self._streaming(method, handler.unary_stream),
                request_deserializer=handler.request_deserializer,
                response_serializer=handler.response_serializer,
            )
        return grpc.unary_unary_rpc_method_handler(
            self._single(method, handler.unary_unary),
            request_deserializer=handler.request_deserializer,
            response_serializer=handler.response_serializer,
        )

    def _single(self, method: str, behaviour: Callable[..., Any]) -> Callable[..., Any]:
        async def call(request: Any, context: Any) -> Any:
            async with self._around(method, context, self._deadline_s):
                return await behaviour(request, context)

        return call

    def _streaming(self, method: str, behaviour: Callable[..., Any]) -> Callable[..., Any]:
        async def call(request: Any, context: Any) -> None:
            async with self._around(method, context, self._stream_deadline_s):
                answers = behaviour(request, context)
                if inspect.isawaitable(answers):  # writes with context.write()
                    await answers
                    return
                try:
                    async for answer in answers:
                        await context.write(answer)
                finally:
                    # Now, not when the garbage collector comes: it holds leases and files.
                    await answers.aclose()

        return call

    @asynccontextmanager
    async def _around(self, method: str, context: Any, deadline_s: float) -> AsyncIterator[None]:
        """Everything that surrounds a call; errors leave as an aborted call."""
        metadata = {
            key: value
            for key, value in context.invocation_metadata() or ()
            if isinstance(value, str)
        }
        given_s = context.time_remaining()
        allowed_s = deadline_s if given_s is None else given_s
        started = time.monotonic()
        code = grpc.StatusCode.OK
        deadline_token = _deadline.set(started + allowed_s)
        stopping_token = _stopping.set(self._stopping)
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  # gRPC gives every call its own
        self.running.add(task)
        tenant = metadata.get(TENANT_HEADER) or DEFAULT_TENANT
        telemetry.RPCS_RUNNING.labels(method).inc()
        try:
            with telemetry.span(method.lstrip("/"), carrier=metadata, kind=SpanKind.SERVER):
                try:
                    with tenant_scope(tenant):
                        # A deadline set by the client is kept by gRPC: it cancels the call.
                        async with asyncio.timeout(
                            deadline_s if given_s is None else None
                        ) as timer:
                            yield
                except asyncio.CancelledError:
                    late = (context.time_remaining() or 0.0) <= 0.0 and given_s is not None
                    code = TOO_SLOW.code if late else grpc.StatusCode.CANCELLED
                    raise
                except grpc.aio.AbortError:  # the handler chose its status itself
                    code = _code_of(context)
                    raise
                except Exception as error:
                    slow = isinstance(error, TimeoutError) and timer.expired()
                    status = rpc_status.to_status(
                        self._status(error, method, deadline_s if slow else None)
                    )
                    code = status.code
                    await context.abort(code, status.details, status.trailing_metadata)
                finally:
                    seconds = time.monotonic() - started
                    telemetry.RPCS_RUNNING.labels(method).dec()
                    telemetry.RPCS.labels(method, code.name).inc()
                    telemetry.RPC_SECONDS.labels(method).observe(seconds)
                    log.info(
                        "call answered",
                        extra={
                            "action": "answer_call",
                            "method": method,
                            "code": code.name,
                            "seconds": round(seconds, 4),
                            "tenant": tenant[:63],
                        },
                    )
        finally:
            _stopping.reset(stopping_token)
            _deadline.reset(deadline_token)
            self.running.discard(task)

    def _status(self, error: Exception, method: str, slow_s: float | None) -> status_pb2.Status:
        """The status of an error; what is not in the table tells the client nothing."""
        if slow_s is not None:
            return rich_status(
                TOO_SLOW,
                f"not answered within {slow_s:g} s, the default when a call has no deadline; "
                "set one to allow more",
            )
        known = status_of(error, self._statuses)
        if known is not None:
            return describe(error, known)
        correlation_id = uuid.uuid4().hex
        log.error(
            "call failed",
            extra={"action": "fail_call", "method": method, "correlation_id": correlation_id},
            exc_info=error,
        )
        return rich_status(
            INTERNAL,
            f"internal error; quote {correlation_id} when you report it",
            metadata={"correlation_id": correlation_id},
        )


_CODES: Mapping[int, grpc.StatusCode] = {code.value[0]: code for code in grpc.StatusCode}


def _code_of(context: Any) -> grpc.StatusCode:
    """The code a handler aborted with."""
    code = context.code()
    if isinstance(code, grpc.StatusCode):
        return code
    return _CODES.get(code, grpc.StatusCode.UNKNOWN)


class _Outgoing:
    """What a call to another server takes along."""

    @staticmethod
    def details(details: grpc.aio.ClientCallDetails) -> grpc.aio.ClientCallDetails:
        metadata = grpc.aio.Metadata(*(details.metadata or ()))
        carried = {TENANT_HEADER: current_tenant(), **telemetry.trace_headers()}
        for key, value in carried.items():
            if metadata.get(key) is None:
                metadata.add(key, value)
        limits = [s for s in (details.timeout, remaining_s()) if s is not None]
        return grpc.aio.ClientCallDetails(
            method=details.method,
            timeout=min(limits, default=None),
            metadata=metadata,
            credentials=details.credentials,
            wait_for_ready=details.wait_for_ready,
        )


class UnaryGate(grpc.aio.UnaryUnaryClientInterceptor):
    """Hands tenant, trace and deadline on with a call that has one answer."""

    async def intercept_unary_unary(
        self, continuation: Callable[..., Awaitable[Any]], client_call_details: Any, request: Any
    ) -> Any:
        """Make the call with more metadata."""
        return await continuation(_Outgoing.details(client_call_details), request)


class StreamGate(grpc.aio.UnaryStreamClientInterceptor):
    """The same for a call that is answered with a stream."""

    async def intercept_unary_stream(
        self, continuation: Callable[..., Awaitable[Any]], client_call_details: Any, request: Any
    ) -> Any:
        """Make the call with more metadata."""
        return await continuation(_Outgoing.details(client_call_details), request)
