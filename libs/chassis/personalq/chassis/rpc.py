"""gRPC: one way to serve, one way to call.

async with serve(register, service_names=[...], settings=settings, statuses=STATUSES):
    await stop.wait()

async with open_channel("127.0.0.1:7400") as channel:
    stub = CatalogServiceStub(channel)
    try:
        await stub.GetCheckpoint(request)
    except grpc.aio.AioRpcError as error:
        raise translate_rpc_error(error) from None
"""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from personalq.chassis.errors import PersonalQError
from personalq.chassis.interceptors import (
    ServerGate,
    StreamGate,
    UnaryGate,
    remaining_s,
    stopping,
)
from personalq.chassis.settings import CommonSettings
from personalq.chassis.statuses import STATUSES, Status, translate_rpc_error

__all__ = [
    "STATUSES",
    "Server",
    "Status",
    "open_channel",
    "remaining_s",
    "serve",
    "stopping",
    "translate_rpc_error",
]

log = logging.getLogger(__name__)

Ready = Callable[[], Awaitable[bool]]

#: Seconds between two questions whether the service is ready, and for one answer.
_READY_EVERY_S = 1.0
_READY_WITHIN_S = 5.0
#: Seconds a cancelled call may take to end.
_TIDY_S = 5.0

_SERVER_OPTIONS: tuple[tuple[str, int], ...] = (
    # A second process on the same port must fail, not share it.
    ("grpc.so_reuseport", 0),
    # Renders are silent for seconds; clients may ping every 10 s without being sent away.
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
    ("grpc.http2.max_ping_strikes", 0),
)

_CHANNEL_OPTIONS: tuple[tuple[str, int | str], ...] = (
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 5_000),
    # A page of 1,000 cards with the longest descriptions takes 5 MiB; the default is 4.
    ("grpc.max_receive_message_length", 32 * 1024 * 1024),
    # A Kubernetes Service is one TCP connection to one pod; behind a headless one this spreads.
    ("grpc.service_config", json.dumps({"loadBalancingConfig": [{"round_robin": {}}]})),
)


@dataclass(frozen=True, kw_only=True)
class Server:
    """A running server."""

    #: The port it listens on, also when the settings left the choice to the system.
    port: int


@asynccontextmanager
async def serve(
    register: Callable[[grpc.aio.Server], None],
    *,
    service_names: Sequence[str],
    settings: CommonSettings,
    statuses: Mapping[type[Exception], Status] = STATUSES,
    ready: Ready | None = None,
) -> AsyncIterator[Server]:
    """Serve while the block runs.

    Args:
        register: adds the servicers to the server.
        service_names: full names, for health and reflection.
        statuses: which errors travel as which status; any other is INTERNAL.
        ready: asked every second; health says NOT_SERVING while it is false or raises.

    On leaving: health says NOT_SERVING, `drain_s` passes so that clients go elsewhere, then calls
    in flight have `grace_s` to end. Raises PersonalQError when the port cannot be opened.
    """
    stop = asyncio.Event()
    gate = ServerGate(
        {**STATUSES, **statuses},
        deadline_s=settings.deadline_s,
        stream_deadline_s=settings.stream_deadline_s,
        stopping=stop,
    )
    server = grpc.aio.server(interceptors=[gate], options=_server_options(settings))
    register(server)
    condition = _Health(stop)
    health_pb2_grpc.add_HealthServicer_to_server(condition, server)
    names = [*service_names, health.SERVICE_NAME, reflection.SERVICE_NAME]
    reflection.enable_server_reflection(names, server)
    port = _listen(server, settings)
    # Whoever asks about the health service itself learns that the server answers ("live"); the
    # other names follow what the service needs ("ready").
    await condition.set_all([health.SERVICE_NAME], serving=True)
    watched = ("", *service_names)
    await condition.set_all(watched, serving=ready is None)
    await server.start()
    log.info("serving", extra={"action": "serve", "host": settings.host, "port": port})
    watch = (
        asyncio.create_task(_watch_readiness(ready, condition, watched, stop)) if ready else None
    )
    drain_s = settings.drain_s
    try:
        yield Server(port=port)
    except BaseException:
        drain_s = 0.0  # what failed is in no state to serve on
        raise
    finally:
        stop.set()
        if watch is not None:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)
        await condition.enter_graceful_shutdown()
        try:
            await asyncio.sleep(drain_s)
            await server.stop(settings.grace_s)
        except asyncio.CancelledError:
            await server.stop(None)
            raise
        finally:
            if gate.running:  # cancelled calls may still be tidying up
                await asyncio.wait(gate.running, timeout=_TIDY_S)
        log.info("no longer serving", extra={"action": "serve", "port": port})


@asynccontextmanager
async def open_channel(target: str) -> AsyncIterator[grpc.aio.Channel]:
    """A channel to "host:port" or "dns:///name:port"; connects when first used.

    Calls made inside a call or an event handler carry its tenant, its trace and what is left of its
    deadline. Plain text: encryption between services is the mesh's work.
    """
    channel = grpc.aio.insecure_channel(
        target, options=_CHANNEL_OPTIONS, interceptors=[UnaryGate(), StreamGate()]
    )
    try:
        yield channel
    finally:
        await channel.close()


def _server_options(settings: CommonSettings) -> list[tuple[str, int]]:
    options = list(_SERVER_OPTIONS)
    if settings.max_connection_age_s:
        # gRPC adds 10 % of jitter by itself, so that not all clients come back at once.
        options.append(("grpc.max_connection_age_ms", round(settings.max_connection_age_s * 1000)))
        options.append(("grpc.max_connection_age_grace_ms", round(settings.grace_s * 1000)))
    return options


def _listen(server: grpc.aio.Server, settings: CommonSettings) -> int:
    remedy = f"set {type(settings).variable('port')} to another"
    _check_port(settings.host, settings.port, remedy)
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    try:
        return server.add_insecure_port(f"{host}:{settings.port}")
    except RuntimeError as error:  # someone was faster
        raise PersonalQError(f"port {settings.port} cannot be opened; {remedy}") from error


def _check_port(host: str, port: int, remedy: str) -> None:
    """Raise PersonalQError when the port cannot be opened; gRPC says why only on its own log."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            problem = f"port {port} is in use; stop what uses it, or {remedy}"
        else:
            problem = f"port {port} of {host} cannot be opened: {error.strerror}; {remedy}"
        raise PersonalQError(problem) from error


class _Health(health.aio.HealthServicer):
    """grpc.health.v1; its watchers do not hold up a stop."""

    def __init__(self, stop: asyncio.Event) -> None:
        super().__init__()
        self._stop = stop

    async def set_all(self, services: Sequence[str], *, serving: bool) -> None:
        """Say of all services whether they serve."""
        statuses = health_pb2.HealthCheckResponse
        for service in services:
            await self.set(service, statuses.SERVING if serving else statuses.NOT_SERVING)

    async def Watch(self, request: Any, context: Any) -> None:  # noqa: N802
        """Send every change until the client leaves or the server stops."""
        watch = asyncio.ensure_future(super().Watch(request, context))
        stop = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait({watch, stop}, return_when=asyncio.FIRST_COMPLETED)
            # The last thing a watcher hears is that we no longer serve.
            await asyncio.sleep(0.05)
        finally:
            for task in (watch, stop):
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task


async def _watch_readiness(
    ready: Ready, condition: _Health, services: Sequence[str], stop: asyncio.Event
) -> None:
    """Let health follow what the service says of itself; log each change."""
    serving: bool | None = None  # the first answer is logged too, whatever it is
    while not stop.is_set():  # a cancellation may get lost inside `ready`, see pulls.py
        problem = ""
        try:
            async with asyncio.timeout(_READY_WITHIN_S):
                now = await ready()
        except Exception as error:
            now, problem = False, repr(error)
        if now != serving:
            serving = now
            await condition.set_all(services, serving=serving)
            log.log(
                logging.INFO if serving else logging.WARNING,
                "ready" if serving else "not ready",
                extra={"action": "check_ready", "problem": problem},
            )
        await asyncio.sleep(_READY_EVERY_S)
