"""Where the services are: arguments, else environment variables, else the embedded stack."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from urllib.parse import urlsplit

from personalq.chassis.errors import InvalidInput

PORT_BASE = 7400  # first of the six neighbouring ports of the embedded stack

_TARGET = re.compile(r"(?:[a-z][a-z0-9+.-]*:/{0,3})?\S+:\d{1,5}", re.IGNORECASE)
_TENANT = re.compile(r"[a-z0-9-]{1,63}")


@dataclass(frozen=True, kw_only=True)
class Endpoints:
    """Addresses of a stack, and the tenant to speak for."""

    catalog: str = f"127.0.0.1:{PORT_BASE}"
    checkin: str = f"127.0.0.1:{PORT_BASE + 1}"
    renderer: str = f"127.0.0.1:{PORT_BASE + 3}"
    nats: str = f"nats://127.0.0.1:{PORT_BASE + 4}"
    tenant: str = "default"

    @classmethod
    def resolve(cls, environ: Mapping[str, str] = os.environ, **arguments: str | None) -> Endpoints:
        """Takes each address from `arguments`, else from PERSONALQ_CATALOG and its like.

        Raises:
            InvalidInput: an address or the tenant is malformed.
        """
        chosen: dict[str, str] = {}
        for name in (field.name for field in fields(cls)):
            value = arguments.get(name) or environ.get(variable(name))
            if value:
                chosen[name] = value
        endpoints = cls(**chosen)
        endpoints._check()
        return endpoints

    def _check(self) -> None:
        for name in ("catalog", "checkin", "renderer"):
            target = getattr(self, name)
            if not _TARGET.fullmatch(target):
                raise InvalidInput(
                    f"{target!r} is no address of {name}: write HOST:PORT, "
                    f"for example {getattr(Endpoints, name)}",
                    field=name,
                )
        if not _is_url(self.nats):
            raise InvalidInput(
                f"{self.nats!r} is no NATS URL: write nats://HOST:PORT, for example "
                f"{Endpoints.nats}",
                field="nats",
            )
        if not _TENANT.fullmatch(self.tenant):
            raise InvalidInput(
                f"{self.tenant!r} is no tenant: use 1-63 of a-z, 0-9 and hyphen", field="tenant"
            )


def _is_url(text: str) -> bool:
    """Whether it is one URL with a host, or several behind commas."""
    try:
        parts = [urlsplit(url) for url in text.split(",")]
        return all(each.scheme and each.hostname and (each.port or True) for each in parts)
    except ValueError:  # brackets that are no address, a port that is no number
        return False


def variable(name: str) -> str:
    """The environment variable that sets an endpoint: "checkin" → PERSONALQ_CHECKIN."""
    return f"PERSONALQ_{name.upper()}"
