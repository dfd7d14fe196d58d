"""The errors every service shares.

    PersonalQError
    ├── InvalidInput        the caller must change the request
    │   └── CorruptFile     bytes are not what they claim to be
    ├── NotFound            there is nothing with that name
    ├── NotReady            it exists, but not in a state that allows this
    ├── Conflict            something else is there already, or was faster
    ├── Busy                try again in a moment, the sender says when
    └── Unavailable         a dependency is out of reach; the same request may work later

The docstring of a class is its default message. Messages are for people: they say what is wrong
and what to do, and they may be sent to a client, so they name no host, path or secret of ours.
`personalq.chassis.statuses` maps each to a gRPC status and back.
"""

from __future__ import annotations

from collections.abc import Mapping


class PersonalQError(Exception):
    """Something went wrong in PersonalQ."""

    #: Machine-readable reason, as in `google.rpc.ErrorInfo`; set when the error came over gRPC.
    reason: str = ""

    def __init__(self, message: str = "") -> None:
        self.message: str = message or (type(self).__doc__ or "").strip().splitlines()[0]
        super().__init__(self.message)

    def __str__(self) -> str:
        return self.message


class InvalidInput(PersonalQError):
    """The request is not valid."""

    #: What is wrong, by field path ("checkpoint.triggers[0]").
    violations: Mapping[str, str]

    def __init__(
        self, message: str = "", *, field: str = "", violations: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.violations = dict(violations or {})
        if field:
            self.violations.setdefault(field, self.message)


class CorruptFile(InvalidInput):
    """The file is not what it claims to be."""


class NotFound(PersonalQError):
    """There is no such thing."""


class NotReady(PersonalQError):
    """It is not ready for this yet."""

    #: The state it is in, for example "REGISTERED".
    state: str

    def __init__(self, message: str = "", *, state: str) -> None:
        super().__init__(message)
        self.state = state


class Conflict(PersonalQError):
    """Something else with that name is there already."""


class Busy(PersonalQError):
    """All places are taken; try again in a moment."""

    #: Seconds to wait before the next attempt.
    retry_after_s: float

    def __init__(self, message: str = "", *, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Unavailable(PersonalQError):
    """Something this depends on is out of reach; try again later."""
