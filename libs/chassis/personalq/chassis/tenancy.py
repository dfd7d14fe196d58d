"""Which tenant the current call, or the current event, belongs to.

The tenant travels as gRPC metadata and as a token of the event's subject. The server's interceptor
and the event consumer open a `tenant_scope`; everything below asks `current_tenant()`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from personalq.chassis.errors import InvalidInput

DEFAULT_TENANT = "default"
TENANT_HEADER = "x-personalq-tenant"

_PATTERN = re.compile(r"[a-z0-9-]{1,63}")
_tenant: ContextVar[str] = ContextVar("personalq_tenant", default=DEFAULT_TENANT)


def valid_tenant(tenant: str) -> str:
    """Return the tenant when it is well formed; raise InvalidInput when not."""
    if not _PATTERN.fullmatch(tenant):
        raise InvalidInput(
            f"tenant {tenant[:80]!r}: use 1-63 lower-case letters, digits and '-'",
            field=TENANT_HEADER,
        )
    return tenant


def current_tenant() -> str:
    """The tenant of the call or event being handled; DEFAULT_TENANT outside of one."""
    return _tenant.get()


@contextmanager
def tenant_scope(tenant: str) -> Iterator[str]:
    """Handle what is inside for this tenant; raise InvalidInput when it is not well formed."""
    token = _tenant.set(valid_tenant(tenant))
    try:
        yield tenant
    finally:
        _tenant.reset(token)
