"""Serving and calling over real gRPC."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from prometheus_client import REGISTRY
from support.polling import eventually

from personalq.chassis import telemetry
from personalq.chassis.errors import (
    Busy,
    Conflict,
    CorruptFile,
    InvalidInput,
    NotFound,
    NotReady,
    PersonalQError,
    Unavailable,
)
from personalq.chassis.rpc import (
    STATUSES,
    Server,
    Status,
    open_channel,
    remaining_s,
    serve,
    stopping,
    translate_rpc_error,
)
from personalq.chassis.settings import CommonSettings
from personalq.chassis.tenancy import current_tenant, tenant_scope
from personalq.v1 import renderer_pb2 as pb
from personalq.v1 import renderer_pb2_grpc as stubs

SERVICE = "personalq.v1.RendererService"
SETTINGS = CommonSettings(port=0, drain_s=0, grace_s=5)

Warm = Callable[[pb.WarmRequest], Awaitable[pb.WarmResponse]]
Render = Callable[[pb.RenderRequest], AsyncIterator[pb.RenderEvent]]


async def _warm(request: pb.WarmRequest) -> pb.WarmResponse:
    return pb.WarmResponse(load_seconds=1.5)


async def _render(request: pb.RenderRequest) -> AsyncIterator[pb.RenderEvent]:
    for step in range(request.steps):
        yield _step(step)


def _step(step: int) -> pb.RenderEvent:
    return pb.RenderEvent(progress=pb.Progress(step=step))


class _Scripted(stubs.RendererServiceServicer):
    """A renderer that does what the test says."""

    def __init__(self, warm: Warm, render: Render) -> None:
        self._warm = warm
        self._render = render

    async def Warm(self, request: pb.WarmRequest, context: object) -> pb.WarmResponse:  # noqa: N802
        return await self._warm(request)

    async def GetStatus(  # noqa: N802
        self, request: pb.GetStatusRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> pb.GetStatusResponse:
        await context.abort(grpc.StatusCode.DATA_LOSS, "aborted by hand")
        raise AssertionError

    async def Render(  # noqa: N802
        self, request: pb.RenderRequest, context: object
    ) -> AsyncIterator[pb.RenderEvent]:
        async for event in self._render(request):
            yield event


@asynccontextmanager
async def _served(
    *,
    warm: Warm = _warm,
    render: Render = _render,
    settings: CommonSettings = SETTINGS,
    statuses: Mapping[type[Exception], Status] = STATUSES,
    ready: Callable[[], Awaitable[bool]] | None = None,
) -> AsyncIterator[tuple[stubs.RendererServiceAsyncStub, grpc.aio.Channel, Server]]:
    def register(server: grpc.aio.Server) -> None:
        stubs.add_RendererServiceServicer_to_server(_Scripted(warm, render), server)

    async with (
        serve(
            register, service_names=[SERVICE], settings=settings, statuses=statuses, ready=ready
        ) as server,
        open_channel(f"127.0.0.1:{server.port}") as channel,
    ):
        yield stubs.RendererServiceStub(channel), channel, server


def _health(channel: grpc.aio.Channel) -> Any:
    return health_pb2_grpc.HealthStub(channel)


async def _failure_of(warm: Warm, **options: object) -> grpc.aio.AioRpcError:
    async with _served(warm=warm, **options) as (stub, _, _):  # type: ignore[arg-type]
        with pytest.raises(grpc.aio.AioRpcError) as failure:
            await stub.Warm(pb.WarmRequest())
    return failure.value


def _raising(error: Exception) -> Warm:
    async def warm(request: pb.WarmRequest) -> pb.WarmResponse:
        raise error

    return warm


async def test_unary_and_stream_answer() -> None:
    """Both kinds of call get through the interceptor."""
    async with _served() as (stub, _, _):
        assert (await stub.Warm(pb.WarmRequest())).load_seconds == 1.5
        events = [event async for event in stub.Render(pb.RenderRequest(steps=3))]
    assert [event.progress.step for event in events] == [0, 1, 2]


@pytest.mark.parametrize(
    ("error", "code", "reason"),
    [
        (InvalidInput("no trigger"), grpc.StatusCode.INVALID_ARGUMENT, "INVALID_INPUT"),
        (CorruptFile("a Git LFS pointer"), grpc.StatusCode.INVALID_ARGUMENT, "CORRUPT_FILE"),
        (NotFound("no bear-v9"), grpc.StatusCode.NOT_FOUND, "NOT_FOUND"),
        (
            NotReady("still quantized", state="REGISTERED"),
            grpc.StatusCode.FAILED_PRECONDITION,
            "NOT_READY",
        ),
        (Conflict("bear-v4 exists"), grpc.StatusCode.ALREADY_EXISTS, "CONFLICT"),
        (Busy("queue is full", retry_after_s=2.5), grpc.StatusCode.RESOURCE_EXHAUSTED, "BUSY"),
        (Unavailable("no store"), grpc.StatusCode.UNAVAILABLE, "UNAVAILABLE"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
async def test_errors_cross_the_wire(
    error: PersonalQError, code: grpc.StatusCode, reason: str
) -> None:
    """A client gets the very error the server raised, through the status in the table."""
    failure = await _failure_of(_raising(error))
    assert failure.code() == code
    translated = translate_rpc_error(failure)
    assert type(translated) is type(error)
    assert (translated.message, translated.reason) == (error.message, reason)


async def test_error_details_are_restored() -> None:
    """Field violations, the state and the delay arrive as they were."""
    violations = {"prompt": "is empty", "steps": "must be 1-150 (got 0)"}
    invalid = translate_rpc_error(
        await _failure_of(_raising(InvalidInput("2 problems", violations=violations)))
    )
    assert isinstance(invalid, InvalidInput)
    assert invalid.violations == violations
    not_ready = translate_rpc_error(
        await _failure_of(_raising(NotReady("not yet", state="REGISTERED")))
    )
    assert isinstance(not_ready, NotReady)
    assert not_ready.state == "REGISTERED"
    busy = translate_rpc_error(await _failure_of(_raising(Busy("full", retry_after_s=2.5))))
    assert isinstance(busy, Busy)
    assert busy.retry_after_s == 2.5


async def test_a_long_message_does_not_break_the_call() -> None:
    """What is too long for a header is cut, and the status still arrives."""
    violations = {f"field {n} {'x' * 900}": "y" * 5000 for n in range(50)}
    for letter in "x", "ä", "\U0001f43b", "%":
        error = InvalidInput(letter * 10_000, violations=violations)
        failure = await _failure_of(_raising(error))
        assert failure.code() == grpc.StatusCode.INVALID_ARGUMENT
        assert translate_rpc_error(failure).message.startswith(letter * 100)
        assert translate_rpc_error(failure).message.endswith("...")
        headers = sum(len(key) + len(value) for key, value in failure.trailing_metadata() or ())
        assert headers < 5_000


async def test_a_service_extends_the_table() -> None:
    """A service's own error takes the status its servicer gave it."""

    class NotQuantized(NotReady):
        """Still being quantized."""

    own = {NotQuantized: Status(grpc.StatusCode.FAILED_PRECONDITION, "NOT_QUANTIZED")}
    failure = await _failure_of(_raising(NotQuantized(state="REGISTERED")), statuses=own)
    translated = translate_rpc_error(failure)
    assert translated.reason == "NOT_QUANTIZED"
    assert translated.message == "Still being quantized."


async def test_an_unexpected_error_leaks_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """The client gets a correlation id and no internals; the log has both the id and the stack."""
    with caplog.at_level(logging.ERROR):
        failure = await _failure_of(_raising(KeyError("postgres://user:hunter2@db")))
    assert failure.code() == grpc.StatusCode.INTERNAL
    received = f"{failure.details()} {failure.trailing_metadata()}"
    assert "hunter2" not in received
    assert "KeyError" not in received
    record = next(r for r in caplog.records if r.getMessage() == "call failed")
    assert record.__dict__["correlation_id"] in str(failure.details())
    assert record.exc_info is not None
    assert "hunter2" in str(record.exc_info[1])


async def test_a_handler_may_abort_by_itself() -> None:
    """A status set by hand is left as it is."""
    async with _served() as (stub, _, _):
        with pytest.raises(grpc.aio.AioRpcError) as failure:
            await stub.GetStatus(pb.GetStatusRequest())
    assert failure.value.code() == grpc.StatusCode.DATA_LOSS


async def test_a_stream_that_fails_keeps_what_it_sent() -> None:
    """Events before the error arrive, then the error's status."""

    async def render(request: pb.RenderRequest) -> AsyncIterator[pb.RenderEvent]:
        yield _step(1)
        raise NotFound("the artifact vanished")

    received = []
    async with _served(render=render) as (stub, _, _):
        with pytest.raises(grpc.aio.AioRpcError) as failure:
            async for event in stub.Render(pb.RenderRequest()):
                received.append(event)  # noqa: PERF401
    assert len(received) == 1
    assert isinstance(translate_rpc_error(failure.value), NotFound)


async def test_a_client_that_leaves_cancels_the_stream() -> None:
    """The handler is cancelled and its clean-up runs."""
    ended = asyncio.Event()

    async def render(request: pb.RenderRequest) -> AsyncIterator[pb.RenderEvent]:
        try:
            step = 0
            while True:
                yield _step(step)
                step += 1
                await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            ended.set()
            raise

    async with _served(render=render) as (stub, _, _):
        call = stub.Render(pb.RenderRequest())
        await anext(aiter(call))
        call.cancel()
        await asyncio.wait_for(ended.wait(), 5)


async def test_the_tenant_is_the_metadata() -> None:
    """A call made for a tenant is answered for that tenant, and for the default one otherwise."""
    seen = []

    async def warm(request: pb.WarmRequest) -> pb.WarmResponse:
        seen.append(current_tenant())
        return pb.WarmResponse()

    async with _served(warm=warm) as (stub, _, _):
        await stub.Warm(pb.WarmRequest())
        with tenant_scope("acme"):
            await stub.Warm(pb.WarmRequest())
        with pytest.raises(grpc.aio.AioRpcError) as failure:
            await stub.Warm(pb.WarmRequest(), metadata=[("x-personalq-tenant", "No Such")])
    assert seen == ["default", "acme"]
    error = translate_rpc_error(failure.value)
    assert isinstance(error, InvalidInput)
    assert "x-personalq-tenant" in error.violations


async def test_the_trace_goes_with_the_call() -> None:
    """The server continues the trace of its client."""
    seen = []

    async def warm(request: pb.WarmRequest) -> pb.WarmResponse:
        seen.append(telemetry.current_trace_id())
        return pb.WarmResponse()

    async with _served(warm=warm) as (stub, _, _):
        with telemetry.span("test"):
            trace_id = telemetry.current_trace_id()
            await stub.Warm(pb.WarmRequest())
    assert seen == [trace_id]


async def test_what_is_left_of_the_deadline_goes_with_the_call() -> None:
    """A server that calls another hands over the time it has left, not its own default."""
    left: list[float | None] = []

    async def inner(request: pb.WarmRequest) -> pb.WarmResponse:
        left.append(remaining_s())
        return pb.WarmResponse()

    async with _served(warm=inner) as (inner_stub, _, _):

        async def outer(request: pb.WarmRequest) -> pb.WarmResponse:
            return await inner_stub.Warm(request)

        async with _served(warm=outer) as (outer_stub, _, _):
            await outer_stub.Warm(pb.WarmRequest(), timeout=7)
            await outer_stub.Warm(pb.WarmRequest())
    assert left[0] is not None
    assert left[0] < 8  # gRPC rounds
    assert left[1] is not None
    assert 7 < left[1] < SETTINGS.deadline_s + 1  # gRPC rounds


async def test_a_call_without_deadline_gets_the_default() -> None:
    """A handler that never ends is ended, and the client told why."""

    async def warm(request: pb.WarmRequest) -> pb.WarmResponse:
        await asyncio.Event().wait()
        raise AssertionError

    settings = CommonSettings(port=0, drain_s=0, deadline_s=0.1)
    failure = await _failure_of(warm, settings=settings)
    assert failure.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    assert "0.1 s" in str(failure.details())


async def test_health_and_reflection() -> None:
    """Health answers for the server and its service, reflection lists what is served."""
    async with _served() as (_, channel, _):
        health = _health(channel)
        for service in ("", SERVICE):
            answer = await health.Check(health_pb2.HealthCheckRequest(service=service))
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
        stub: Any = reflection_pb2_grpc.ServerReflectionStub  # typed for sync channels only
        reflection = stub(channel)
        request: Any = reflection_pb2.ServerReflectionRequest
        requests = iter([request(list_services="")])
        async for listing in reflection.ServerReflectionInfo(requests):
            names = {service.name for service in listing.list_services_response.service}
    assert names == {SERVICE, "grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection"}


async def test_health_follows_readiness() -> None:
    """Not serving until ready; not serving when readiness cannot be asked."""
    state: list[bool | Exception] = [False]

    async def ready() -> bool:
        if isinstance(state[-1], Exception):
            raise state[-1]
        return state[-1]

    async with _served(ready=ready) as (_, channel, _):
        health = _health(channel)

        async def status() -> int:
            answer = await health.Check(health_pb2.HealthCheckRequest(service=SERVICE))
            return int(answer.status)

        async def serving() -> bool:
            return await status() == health_pb2.HealthCheckResponse.SERVING

        async def not_serving() -> bool:
            return await status() == health_pb2.HealthCheckResponse.NOT_SERVING

        assert await not_serving()
        state.append(True)
        await eventually(serving)
        state.append(OSError("database is gone"))
        await eventually(not_serving)


async def test_a_service_that_is_not_ready_is_still_live(caplog: pytest.LogCaptureFixture) -> None:
    """Asked about the health service itself, a server that lacks what it needs says it serves; the
    log says what it lacks, also when it never had it.
    """

    async def ready() -> bool:
        raise OSError("the database is gone")

    async def said() -> list[str]:
        return [r.__dict__["problem"] for r in caplog.records if r.getMessage() == "not ready"]

    async with _served(ready=ready) as (_, channel, _):
        request = health_pb2.HealthCheckRequest(service="grpc.health.v1.Health")
        answer = await _health(channel).Check(request)
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
        assert await eventually(said) == ["OSError('the database is gone')"]


async def test_stopping_flips_health_then_lets_calls_finish() -> None:
    """On a stop health says so at once, endless streams are told, a running call is answered."""
    release = asyncio.Event()
    running = asyncio.Event()

    async def warm(request: pb.WarmRequest) -> pb.WarmResponse:
        running.set()
        await release.wait()
        return pb.WarmResponse(load_seconds=3)

    async def render(request: pb.RenderRequest) -> AsyncIterator[pb.RenderEvent]:
        yield _step(0)
        await stopping().wait()

    stop = asyncio.Event()
    port: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def process() -> None:
        def register(server: grpc.aio.Server) -> None:
            stubs.add_RendererServiceServicer_to_server(_Scripted(warm, render), server)

        settings = CommonSettings(port=0, drain_s=0.1, grace_s=60)
        async with serve(register, service_names=[SERVICE], settings=settings) as server:
            port.set_result(server.port)
            await stop.wait()

    server = asyncio.create_task(process())
    async with open_channel(f"127.0.0.1:{await port}") as channel:
        stub = stubs.RendererServiceStub(channel)
        call = asyncio.ensure_future(stub.Warm(pb.WarmRequest()))
        stream = aiter(stub.Render(pb.RenderRequest()))
        watch = aiter(_health(channel).Watch(health_pb2.HealthCheckRequest()))
        assert (await anext(watch)).status == health_pb2.HealthCheckResponse.SERVING
        await anext(stream)
        await running.wait()
        stop.set()
        assert (await anext(watch)).status == health_pb2.HealthCheckResponse.NOT_SERVING
        assert [event async for event in stream] == []
        assert not server.done()
        release.set()
        assert (await call).load_seconds == 3
        await asyncio.wait_for(server, 10)


async def test_a_busy_port_is_refused_with_a_remedy() -> None:
    """Two servers never share a port; the second says which setting to change."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        settings = CommonSettings(port=taken.getsockname()[1])
        with pytest.raises(PersonalQError, match=r"port \d+ is in use.*PERSONALQ_PORT"):
            async with _served(settings=settings):
                pass


async def test_nobody_answers() -> None:
    """A server that is not there is Unavailable, not an internal error."""
    async with open_channel("127.0.0.1:1") as channel:
        with pytest.raises(grpc.aio.AioRpcError) as failure:
            await stubs.RendererServiceStub(channel).Warm(pb.WarmRequest(), timeout=5)
    assert isinstance(translate_rpc_error(failure.value), Unavailable)


async def test_calls_are_counted() -> None:
    """The metrics know each call by method and code."""
    labels = {"method": f"/{SERVICE}/Warm", "code": "NOT_FOUND"}
    before = REGISTRY.get_sample_value("personalq_rpcs_total", labels) or 0.0
    await _failure_of(_raising(NotFound()))
    assert REGISTRY.get_sample_value("personalq_rpcs_total", labels) == before + 1
