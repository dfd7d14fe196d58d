"""gRPC in: translate, call the use case, translate."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping

import grpc

from personalq.chassis import rpc
from personalq.chassis.tenancy import current_tenant
from personalq.checkin.outcome import Answered, Clarification, Selection
from personalq.checkin.request import Request
from personalq.checkin.wire import answered_to_wire, request_to_domain
from personalq.v1 import checkin_pb2, checkin_pb2_grpc

log = logging.getLogger(__name__)

STATUSES: Mapping[type[Exception], rpc.Status] = rpc.STATUSES
"""Check-in raises nothing but what every service shares."""
SERVICE_NAME = checkin_pb2.DESCRIPTOR.services_by_name["CheckInService"].full_name

Select = Callable[[Request], Awaitable[Answered]]


class CheckInServicer(checkin_pb2_grpc.CheckInServiceServicer):
    """CheckInService over the `select` use case."""

    def __init__(self, select: Select) -> None:
        self._select = select

    async def Select(  # noqa: N802
        self,
        request: checkin_pb2.SelectRequest,
        context: grpc.aio.ServicerContext[checkin_pb2.SelectRequest, checkin_pb2.SelectResponse],
    ) -> checkin_pb2.SelectResponse:
        """Pick a checkpoint, ask one question, or say that nothing matches."""
        answered = await self._select(request_to_domain(request, current_tenant()))
        log.info("request read", extra={"action": "select", **_summary(answered)})
        return answered_to_wire(answered)


def _summary(answered: Answered) -> dict[str, object]:
    """What the log says of an outcome; never the prompt."""
    match answered.outcome:
        case Selection() as selection:
            card = selection.candidate.card
            return {"outcome": "selection", "checkpoint_id": card.checkpoint_id}
        case Clarification() as asked:
            return {"outcome": "clarification", "attribute": asked.attribute.value}
        case _:
            return {"outcome": "no_match"}
