"""The first and the last days of the calendar, as a client may send them."""

from __future__ import annotations

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from support.checkin_cards import studio
from support.checkin_session import Session

from personalq.checkin.wire import request_to_domain
from personalq.v1 import checkin_pb2


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
@pytest.mark.parametrize("seconds", [-(2**63), -62135596800, 253402300799, 2**63 - 1])
@pytest.mark.parametrize(
    "prompt",
    [
        "a bear",
        "the bear from last week",
        "the bear from 3 months ago",
        "the bear from last winter, before christmas",
        "the bear i used yesterday",
        "the bear i used last night at one",
        "the bear i used yesterday before 5am",
        "the april bear of this quarter",
    ],
)
def test_edges_of_the_calendar(zone: str, seconds: int, prompt: str) -> None:
    """Any reference time has an outcome in every time zone."""
    message = checkin_pb2.SelectRequest(
        prompt=prompt, time_zone=zone, reference_time=Timestamp(seconds=seconds)
    )
    request = request_to_domain(message, "default")
    session = Session(studio())
    answered = session.answered(request.prompt, time_zone=zone, now=request.reference_time)
    assert answered.outcome is not None
