"""A failed call → an error with a remedy.

The exceptions are those of `personalq.chassis.errors`; this module adds what only the caller can
know: which service was asked, where, and what to do about it.
"""

from __future__ import annotations

import grpc

from personalq.chassis.errors import NotFound, NotReady, PersonalQError, Unavailable
from personalq.chassis.rpc import translate_rpc_error
from personalq.sdk.endpoints import variable

_DETAILS = "grpc-status-details-bin"  # a PersonalQ server sends it with each error
_SPOKEN = {"checkin": "check-in", "nats": "NATS"}


def explain_rpc_error(error: grpc.aio.AioRpcError, *, service: str, target: str) -> PersonalQError:
    """The error a caller of `service` at `target` sees for `error`."""
    if any(key == _DETAILS for key, _ in error.trailing_metadata() or ()):
        return _remedied(translate_rpc_error(error))
    name = _SPOKEN.get(service, service)
    match error.code():
        case grpc.StatusCode.UNAVAILABLE:
            return unreachable(service, target)
        case grpc.StatusCode.DEADLINE_EXCEEDED:
            return Unavailable(
                f"{name} at {target} did not answer in time: it is busy or hangs; try again, or "
                "look into its log"
            )
        case grpc.StatusCode.UNIMPLEMENTED:
            return Unavailable(
                f"what listens at {target} is no PersonalQ {name}: set {variable(service)}"
            )
        case _:
            return translate_rpc_error(error)


def unreachable(service: str, target: str) -> Unavailable:
    """The error for a service that does not listen."""
    return Unavailable(
        f"cannot reach {_SPOKEN.get(service, service)} at {target}: start the stack with "
        f"`personalq up` or set {variable(service)}"
    )


def _remedied(error: PersonalQError) -> PersonalQError:
    """Adds the command that helps, which a server, speaking to any client, does not name."""
    remedied: PersonalQError
    match error:
        case NotReady(state="REGISTERED" | "SERVABLE"):
            remedied = NotReady(
                f"{error.message}; `personalq checkpoints list` tells how far it is",
                state=error.state,
            )
        case NotFound():
            remedied = NotFound(
                f"{error.message}; `personalq checkpoints list` shows what there is"
            )
        case _:
            return error
    remedied.reason = error.reason
    return remedied
