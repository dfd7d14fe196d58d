"""The whole system on one machine: two servers and four services, each a process of its own."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, Protocol, TypeVar

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from personalq.sdk.concurrency import abandon, together
from personalq.sdk.embedded import lock
from personalq.sdk.embedded.leftovers import Registry
from personalq.sdk.embedded.nats import run_nats
from personalq.sdk.embedded.ports import Ports, check_free
from personalq.sdk.embedded.postgres import run_postgres
from personalq.sdk.embedded.process import Child, ChildFailed, observing, spawn
from personalq.sdk.embedded.services import SERVICES, check_installed, command, environment
from personalq.sdk.endpoints import Endpoints

T = TypeVar("T")

_POLL_S = 0.1
_READY_TIMEOUT_S = 300.0
_SET_UP_TIMEOUT_S = 120.0


class Report(Protocol):
    """Hears how the start goes."""

    def starting(self, part: str) -> None:
        """Called before a part is started."""

    def up(self, part: str, address: str) -> None:
        """Called when it answers."""


@dataclass(frozen=True, kw_only=True)
class Stack:
    """A running stack."""

    data: Path
    endpoints: Endpoints
    children: list[Child] = field(default_factory=list)

    async def failure(self) -> NoReturn:
        """Wait until a program stops by itself; raise its ChildFailed."""
        while True:
            _check_alive(self.children)
            await asyncio.sleep(_POLL_S)

    async def during(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`; raise ChildFailed as soon as a program stops by itself."""
        task, failure = asyncio.create_task(work), asyncio.create_task(self.failure())
        try:
            await asyncio.wait({task, failure}, return_when=asyncio.FIRST_COMPLETED)
            if failure.done():
                failure.result()
            if task.exception() is not None:
                _check_alive(self.children)  # rather the cause than the symptom
            return task.result()
        finally:
            await abandon(task, failure)


@asynccontextmanager
async def run_stack(
    *,
    data: Path,
    ports: Ports,
    base_models: Mapping[str, str],
    report: Report,
    settings: Mapping[str, str] | None = None,
    services: Sequence[str] = SERVICES,
) -> AsyncIterator[Stack]:
    """Run everything while the block runs; on leaving, stop it in reverse order.

    A cancellation half-way through the start stops what has been started.

    Args:
        data: Folder of databases, streams, caches and logs; made when absent, reused when there.
        ports: Where to listen.
        base_models: Base model → path or URI of its diffusers folder.
        report: Hears how the start goes.
        settings: More environment variables for the services.
        services: Which of SERVICES to run; both servers run always.

    Raises:
        DirectoryInUse: another stack works in `data`.
        PortInUse: something listens on one of the ports.
        ChildFailed: a program did not start; the message carries its last log lines.
    """
    check_installed(services)
    data = data.expanduser().resolve()
    with lock.hold(data):
        registry = Registry(data)
        await asyncio.to_thread(registry.reap)
        check_free(ports)
        stack = Stack(data=data, endpoints=_endpoints(ports))

        def observe(child: Child) -> None:
            registry.add(child.popen.pid)
            stack.children.append(child)

        try:
            with observing(observe):
                async with AsyncExitStack() as resources:
                    await _start(
                        stack, resources, ports, base_models, report, settings or {}, services
                    )
                    yield stack
        finally:
            registry.clear()


async def _start(
    stack: Stack,
    resources: AsyncExitStack,
    ports: Ports,
    base_models: Mapping[str, str],
    report: Report,
    settings: Mapping[str, str],
    services: Sequence[str],
) -> None:
    data = stack.data
    temporary = data / "tmp"
    shutil.rmtree(temporary, ignore_errors=True)  # of a stack that was killed
    temporary.mkdir()
    shared = {
        # Threads of torch that spin while they wait starve the other services of the same cores:
        # on two busy cores a render then takes 20 times as long.
        "OMP_WAIT_POLICY": "PASSIVE",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        **settings,
        "TMPDIR": str(temporary),
        "PYTHONUNBUFFERED": "1",
    }

    report.starting("nats")
    nats_url = await resources.enter_async_context(run_nats(data, port=ports.of("nats")))
    report.up("nats", nats_url)
    report.starting("postgres")
    postgres_url = await resources.enter_async_context(
        run_postgres(data, port=ports.of("postgres"))
    )
    report.up("postgres", ports.address("postgres"))

    def settings_of(service: str) -> dict[str, str]:
        own = environment(
            service,
            ports=ports,
            nats_url=nats_url,
            postgres_url=postgres_url,
            base_models=base_models,
            data=data,
        )
        return {**own, **shared}

    def start(service: str) -> None:
        report.starting(service)
        child = spawn(
            service,
            command(service),
            log_path=data / "logs" / f"{service}.log",
            env=settings_of(service),
        )
        resources.push_async_callback(child.stop)

    await _set_up(stack, "chassis", "bootstrap", "--nats-url", nats_url, env=shared)
    # Loading torch takes longest, and only the catalog waits for its database.
    for service in services:
        if service != "catalog":
            start(service)
    if "catalog" in services:
        await _set_up(stack, "catalog", "migrate", env=settings_of("catalog"))
        start("catalog")
    await together(_serving(service, ports.address(service), stack, report) for service in services)


async def _set_up(stack: Stack, module: str, *arguments: str, env: Mapping[str, str]) -> None:
    """Run a command to its end; raise ChildFailed unless it succeeds."""
    child = spawn(
        f"{module} {arguments[0]}",
        command(module, *arguments),
        log_path=stack.data / "logs" / f"{module}-{arguments[0]}.log",
        env=env,
    )
    try:
        async with asyncio.timeout(_SET_UP_TIMEOUT_S):
            while child.alive:
                await asyncio.sleep(_POLL_S / 5)
                _check_alive([each for each in stack.children if each is not child])
    except TimeoutError:
        raise ChildFailed(
            f"{child.name} is not done after {_SET_UP_TIMEOUT_S:g} s; see {child.log_path}"
        ) from None
    finally:
        await child.stop()
        stack.children.remove(child)  # it was meant to end
    if child.popen.returncode != 0:
        raise child.failure()


async def _serving(service: str, address: str, stack: Stack, report: Report) -> None:
    """Wait until the service says that it serves; raise ChildFailed when any part dies first."""
    deadline = asyncio.get_running_loop().time() + _READY_TIMEOUT_S
    async with grpc.aio.insecure_channel(
        address, options=[("grpc.max_reconnect_backoff_ms", 200)]
    ) as channel:
        health: Any = health_pb2_grpc.HealthStub(channel)  # comes without types
        while asyncio.get_running_loop().time() < deadline:
            _check_alive(stack.children)
            with suppress(grpc.aio.AioRpcError):
                answer = await health.Check(health_pb2.HealthCheckRequest(), timeout=2.0)
                if answer.status == health_pb2.HealthCheckResponse.SERVING:
                    report.up(service, address)
                    return
            await asyncio.sleep(_POLL_S)
    raise ChildFailed(
        f"{service} does not serve after {_READY_TIMEOUT_S:g} s; see "
        f"{stack.data / 'logs' / f'{service}.log'}"
    )


def _check_alive(children: list[Child]) -> None:
    for child in children:
        if not child.alive:
            raise child.failure()


def _endpoints(ports: Ports) -> Endpoints:
    return Endpoints(
        catalog=ports.address("catalog"),
        checkin=ports.address("checkin"),
        renderer=ports.address("renderer"),
        nats=f"nats://{ports.address('nats')}",
    )
