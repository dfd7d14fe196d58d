"""The process: logging, signals, exit code.

async def main(stop: asyncio.Event) -> None:
    async with open_bus(...) as bus, serve(...):
        await stop.wait()

if __name__ == "__main__":
    settings = load_settings(CatalogSettings)
    run(main, settings, name="catalog")
"""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator

from personalq.chassis.errors import PersonalQError
from personalq.chassis.settings import CommonSettings
from personalq.chassis.telemetry import configure_logging, metrics_endpoint

log = logging.getLogger(__name__)

Main = Callable[[asyncio.Event], Awaitable[None]]


def run(main: Main, settings: CommonSettings, *, name: str) -> None:
    """Run a service until SIGTERM or SIGINT, then exit.

    The first signal sets the event given to `main`, which then winds down in its own time; a second
    one cancels it. Exit code 0 when it was stopped or finished, 1 when it failed: one log line says
    why, with the stack when the failure is not one we know.
    """
    configure_logging(settings.log_level, settings.log_format, service=name)
    sys.exit(asyncio.run(_supervise(main, settings, name)))


async def _supervise(main: Main, settings: CommonSettings, name: str) -> int:
    stop = asyncio.Event()
    task = asyncio.current_task()

    def on_signal(number: signal.Signals) -> None:
        if stop.is_set():
            log.warning("stopping at once", extra={"action": "stop", "signal": number.name})
            if task is not None:
                task.cancel()
            return
        log.info("stopping", extra={"action": "stop", "signal": number.name})
        stop.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal, number)
    try:
        with metrics_endpoint(settings.host, settings.metrics_port):
            await main(stop)
    except asyncio.CancelledError:
        return 0 if stop.is_set() else 1
    except Exception as error:
        _report(error, name)
        return 1
    else:
        log.info("stopped", extra={"action": "stop"})
        return 0
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)


def _report(error: Exception, name: str) -> None:
    """Log why the service ends: our own errors explain themselves, others come with their stack."""
    for cause in _leaves(error):
        if isinstance(cause, PersonalQError):
            log.error("%s failed: %s", name, cause, extra={"action": "fail"})
        else:
            log.error("%s failed: %r", name, cause, extra={"action": "fail"}, exc_info=cause)


def _leaves(error: BaseException) -> Iterator[BaseException]:
    """The errors inside nested exception groups."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error
