"""The ports of an embedded stack: six neighbours from a base, free before anything starts."""

from __future__ import annotations

import errno
import socket
from dataclasses import dataclass

from personalq.sdk.endpoints import PORT_BASE

HOST = "127.0.0.1"
PARTS = ("catalog", "checkin", "quantizer", "renderer", "nats", "postgres")

_HIGHEST = 65_535
_STEP = 10  # distance of the bases that are suggested


class PortInUse(RuntimeError):
    """A port of the stack is taken."""


@dataclass(frozen=True, kw_only=True)
class Ports:
    """Where each part of a stack listens, on the loopback interface."""

    base: int = PORT_BASE

    def of(self, part: str) -> int:
        """The port of a part, one of PARTS."""
        return self.base + PARTS.index(part)

    def address(self, part: str) -> str:
        """HOST:PORT of a part."""
        return f"{HOST}:{self.of(part)}"


def check_free(ports: Ports) -> None:
    """Raise PortInUse when one of the ports is taken; name it, and a base that is free."""
    if not 1 <= ports.base <= _HIGHEST - len(PARTS):
        raise PortInUse(f"--port-base {ports.base} is out of range: choose one from 1024 to 65000")
    taken = [f"{ports.of(part)} ({part})" for part in PARTS if not _is_free(ports.of(part))]
    if taken:
        raise PortInUse(
            f"port {', '.join(taken)} is in use: stop what listens there, or start this stack "
            f"elsewhere with `--port-base {free_base(ports.base + _STEP)}`"
        )


def _is_free(port: int) -> bool:
    """Whether a server could listen there; connections that are still closing do not count."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
            # Two sockets may be bound to one port with this option; only one can listen.
            probe.listen()
        except OSError as error:
            if error.errno == errno.EACCES:
                raise PortInUse(
                    f"port {port} may not be opened by this user: choose a --port-base from 1024"
                ) from error
            return False
        return True


def free_base(lowest: int) -> int:
    """A base, `lowest` or above it, whose ports are all free."""
    for base in range(lowest, _HIGHEST - len(PARTS), _STEP):
        if all(_is_free(Ports(base=base).of(part)) for part in PARTS):
            return base
    raise PortInUse(f"no six neighbouring ports are free above {lowest}")
