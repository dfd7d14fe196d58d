"""Selections under load: so many clients at once, each with one request in flight."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import grpc
from google.protobuf.timestamp_pb2 import Timestamp

from personalq.bench.repo_prompts.embedding_cost import Yardstick
from personalq.bench.repo_prompts.scoring import Percentiles, percentiles
from personalq.bench.scale.cards import NOW
from personalq.bench.scale.measuring import cpu_seconds
from personalq.bench.scale.prompts import Request
from personalq.chassis.statuses import translate_rpc_error
from personalq.chassis.tenancy import tenant_scope
from personalq.sdk.concurrency import together
from personalq.v1 import checkin_pb2, checkin_pb2_grpc

_TIMEOUT_S = 60.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """What so many clients saw."""

    clients: int
    requests: int
    per_second: float
    all_ms: Percentiles
    #: Requests of the largest tenant alone.
    largest_ms: Percentiles
    #: Median per kind of request of the largest tenant.
    kinds_ms: dict[str, float] = field(default_factory=dict)
    #: Processor time per request in each program: what latency would be without waiting.
    cpu_ms: dict[str, float] = field(default_factory=dict)
    #: How many ended how.
    outcomes: dict[str, int] = field(default_factory=dict)


async def ask(
    requests: Sequence[Request],
    *,
    checkin: checkin_pb2_grpc.CheckInServiceAsyncStub,
    clients: int,
    largest: str,
    programs: Mapping[str, int],
    yardstick: Yardstick | None = None,
) -> Load:
    """Ask all requests; raise what the first failed one was refused with.

    Args:
        largest: the largest tenant.
        programs: process ids by name.
        yardstick: embeds prompts between the requests.
    """
    waiting = iter(requests)
    taken: list[tuple[Request, float]] = []
    outcomes: Counter[str] = Counter()

    async def client() -> None:
        for request in waiting:
            began = time.perf_counter()
            outcomes[await _select(request, checkin)] += 1
            taken.append((request, (time.perf_counter() - began) * 1000))
            if yardstick is not None:
                # A text of its own: one that was embedded before would be remembered.
                await yardstick.measure(f"{request.prompt} {len(taken)}")

    before = cpu_seconds(programs)
    began = time.perf_counter()
    await together(client() for _ in range(clients))
    seconds = time.perf_counter() - began
    spent = cpu_seconds(programs)
    kinds: dict[str, list[float]] = defaultdict(list)
    for request, milliseconds in taken:
        if request.tenant == largest:
            kinds[request.kind].append(milliseconds)
    return Load(
        clients=clients,
        requests=len(taken),
        per_second=round(len(taken) / seconds, 1),
        all_ms=percentiles([milliseconds for _, milliseconds in taken]),
        largest_ms=percentiles([each for several in kinds.values() for each in several]),
        kinds_ms={kind: percentiles(several).p50 for kind, several in sorted(kinds.items())},
        cpu_ms={
            name: round((spent[name] - before[name]) * 1000 / len(taken), 1) for name in programs
        },
        outcomes=dict(sorted(outcomes.items())),
    )


async def _select(request: Request, checkin: checkin_pb2_grpc.CheckInServiceAsyncStub) -> str:
    now = Timestamp()
    now.FromDatetime(NOW)
    message = checkin_pb2.SelectRequest(prompt=request.prompt, reference_time=now)
    try:
        with tenant_scope(request.tenant):
            response = await checkin.Select(message, timeout=_TIMEOUT_S)
    except grpc.aio.AioRpcError as error:
        raise translate_rpc_error(error) from None
    return str(response.WhichOneof("outcome"))
