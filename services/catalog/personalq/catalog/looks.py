"""Which tenants a background loop looks at: whoever is complete and unchanged is left in peace.

Looking at a tenant of a thousand cards takes about ten milliseconds, so a thousand such tenants
would keep a small database busy for a third of every minute, for nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from personalq.catalog.ports import Tenant

#: What changes a tenant without its revision is seen after this time: vectors that a replica of
#: another version, or one that was slower, wrote over newer ones, or somebody's SQL.
_TRUSTED_S = 600.0


@dataclass(kw_only=True, slots=True)
class Looks:
    """When a loop last looked at each tenant, and what it saw."""

    #: Pause after a look that found nothing, as a multiple of the time it took: what is idle leaves
    #: the database to requests.
    pause: float = 3.0
    clock: Callable[[], float] = time.monotonic
    #: By tenant: when, and the revision at which nothing was missing, if so.
    _last: dict[str, tuple[float, int | None]] = field(default_factory=dict)

    def due(self, tenants: Iterable[Tenant]) -> list[Tenant]:
        """The tenants in which something may be missing; the one looked at longest ago first."""
        return sorted(
            (tenant for tenant in tenants if not self._is_complete(tenant)),
            key=lambda tenant: self._last.get(tenant.name, (float("-inf"), None))[0],
        )

    def note(self, tenant: Tenant, *, complete: bool) -> None:
        """Remember a look at a tenant as it was listed.

        Args:
            complete: whether nothing was missing, neither now nor once somebody's time is up.
        """
        self._last[tenant.name] = self.clock(), tenant.revision if complete else None

    async def rest(self, took_s: float) -> None:
        """Pause after a look that took so long and found nothing."""
        await asyncio.sleep(self.pause * took_s)

    def _is_complete(self, tenant: Tenant) -> bool:
        looked_at, revision = self._last.get(tenant.name, (0.0, None))
        return revision == tenant.revision and self.clock() - looked_at < _TRUSTED_S
