"""The services under test: a stack of their own, or a running one."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from personalq.bench.repo_prompts.loading import write_weights
from personalq.chassis.rpc import open_channel
from personalq.chassis.tenancy import tenant_scope
from personalq.sdk.embedded.stack import Stack
from personalq.sdk.embedded.temporary import temporary_stack
from personalq.sdk.endpoints import Endpoints
from personalq.v1 import catalog_pb2_grpc, checkin_pb2_grpc

T = TypeVar("T")

#: Nobody quantizes or renders here: a thousand cards must not be turned into artifacts.
SERVICES = ("catalog", "checkin")
_SETTINGS = {
    "PERSONALQ_CATALOG_CONCURRENCY": "16",
    # Nobody makes artifacts, so nobody is to ask for them again and again.
    "PERSONALQ_CATALOG_RECONCILE_INTERVAL_S": "86400",
}


@dataclass(frozen=True, kw_only=True)
class Services:
    """An empty tenant of a catalog, and the Check-in in front of it."""

    catalog: catalog_pb2_grpc.CatalogServiceAsyncStub
    checkin: checkin_pb2_grpc.CheckInServiceAsyncStub
    #: A file that the catalog can read, for every card's weights.
    weights: Path
    #: What all cards are registered under; each card's own when None.
    base_model: str | None
    #: A running stack, where others work too.
    shared: bool


class Quiet:
    """A report that nobody reads."""

    def starting(self, part: str) -> None:
        """Nothing is said."""

    def up(self, part: str, address: str) -> None:
        """Nothing is said."""


async def with_services(
    target: str, work: Callable[[Services], Awaitable[T]], *, base_model: str = ""
) -> T:
    """Run `work` on the services at `target`, or on a stack of its own when that is "".

    Args:
        base_model: what the stack at `target` is to register all cards under; its only one when "".

    Raises:
        InvalidInput: `target` is no address.
        ChildFailed: a program of the stack did not start, or stopped.
    """
    if target:
        catalog, _, checkin = target.partition(",")
        where = Endpoints.resolve({}, catalog=catalog, checkin=checkin or catalog)
        async with _connected(where, base_model=base_model, shared=True) as services:
            return await work(services)

    async def on(stack: Stack) -> T:
        async with _connected(stack.endpoints, base_model=None, shared=False) as services:
            return await work(services)

    async with temporary_stack(SERVICES, report=Quiet(), settings=_SETTINGS) as stack:
        return await stack.during(on(stack))


@asynccontextmanager
async def _connected(
    where: Endpoints, *, base_model: str | None, shared: bool
) -> AsyncIterator[Services]:
    with (
        tenant_scope(f"bench-{secrets.token_hex(6)}"),
        tempfile.TemporaryDirectory(prefix="personalq-bench-") as folder,
    ):
        async with open_channel(where.catalog) as catalog, open_channel(where.checkin) as checkin:
            yield Services(
                catalog=catalog_pb2_grpc.CatalogServiceStub(catalog),
                checkin=checkin_pb2_grpc.CheckInServiceStub(checkin),
                weights=write_weights(Path(folder) / "bench.safetensors"),
                base_model=base_model,
                shared=shared,
            )
