"""Subject and stream of each event, declared once.

An id becomes one token of a subject: "." and whatever else would add a token or a wildcard is
percent-encoded, so "bear.v4" travels as "bear%2Ev4".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter
from urllib.parse import quote

from google.protobuf.message import Message

from personalq.chassis.errors import InvalidInput
from personalq.chassis.tenancy import valid_tenant
from personalq.v1 import events_pb2

CHECKPOINTS = "PERSONALQ_CHECKPOINTS"
ARTIFACTS = "PERSONALQ_ARTIFACTS"
DEAD_LETTERS = "PERSONALQ_DEAD_LETTERS"

DEAD_PREFIX = "personalq.dead"


@dataclass(frozen=True, kw_only=True)
class Route:
    """Where an event travels: its stream, the fixed start of its subject, the ids that follow."""

    stream: str
    prefix: str
    #: Field paths of the ids, one token each; the tenant comes first.
    ids: tuple[str, ...]

    @property
    def wildcard(self) -> str:
        """Filter that matches every subject of the event."""
        return self.prefix + ".*" * len(self.ids)


ROUTES: Mapping[type[Message], Route] = {
    events_pb2.CheckpointLanded: Route(
        stream=CHECKPOINTS, prefix="personalq.checkpoint.landed", ids=("tenant",)
    ),
    events_pb2.CheckpointRegistered: Route(
        stream=CHECKPOINTS, prefix="personalq.checkpoint.registered", ids=("tenant",)
    ),
    events_pb2.CheckpointArchived: Route(
        stream=CHECKPOINTS, prefix="personalq.checkpoint.archived", ids=("tenant",)
    ),
    events_pb2.ArtifactReady: Route(
        stream=ARTIFACTS,
        prefix="personalq.artifact.ready",
        ids=("tenant", "artifact.checkpoint_id", "artifact.profile"),
    ),
    events_pb2.ArtifactFailed: Route(
        stream=ARTIFACTS,
        prefix="personalq.artifact.failed",
        ids=("tenant", "checkpoint_id", "profile"),
    ),
}


def route_of(event_type: type[Message]) -> Route:
    """The route of an event type; raises TypeError for a message that is no event."""
    try:
        return ROUTES[event_type]
    except KeyError:
        raise TypeError(f"{event_type.__name__} is not an event; declare it in ROUTES") from None


def wildcards(stream: str) -> list[str]:
    """The subjects a stream stores."""
    return [route.wildcard for route in ROUTES.values() if route.stream == stream]


def subject_of(event: Message) -> str:
    """The subject of an event; raises InvalidInput when its tenant or an id is wrong."""
    route = route_of(type(event))
    tokens = [route.prefix]
    for path in route.ids:
        value: str = attrgetter(path)(event)
        if path == "tenant":
            valid_tenant(value)
        if not value:
            raise InvalidInput(f"{type(event).__name__} has no {path}", field=path)
        tokens.append(encode_token(value))
    return ".".join(tokens)


def tenant_of(subject: str) -> str:
    """The tenant in an event's subject; raises InvalidInput when it is not one."""
    tokens = subject.split(".")
    if len(tokens) < 4:
        raise InvalidInput(f"subject {subject!r} names no tenant")
    return valid_tenant(tokens[3])


def encode_token(text: str) -> str:
    """Make any text one token of a subject."""
    return quote(text, safe="").replace(".", "%2E").replace("~", "%7E")
