"""Set up NATS for PersonalQ, or check that it is set up.

python -m personalq.chassis bootstrap --nats-url nats://127.0.0.1:4222
python -m personalq.chassis verify
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import Literal

from personalq.chassis.errors import PersonalQError
from personalq.chassis.events import bootstrap_streams, open_bus, verify_streams
from personalq.chassis.settings import Settings, load_settings
from personalq.chassis.telemetry import configure_logging


class SetUpSettings(Settings):
    """Defaults of the options, from the environment (PERSONALQ_NATS_URL, ...)."""

    nats_url: str = "nats://127.0.0.1:4222"
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"


def main(arguments: list[str] | None = None) -> int:
    """Run a command; exit code 1 with one line when it fails."""
    settings = load_settings(SetUpSettings)
    parser = argparse.ArgumentParser(prog="python -m personalq.chassis", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(dest="command", required=True)
    for name, purpose in (
        ("bootstrap", "create or update the streams and the artifact bucket; safe to repeat"),
        ("verify", "compare them with what this version expects; change nothing"),
    ):
        command = commands.add_parser(name, help=purpose, description=purpose)
        command.add_argument("--nats-url", default=settings.nats_url, metavar="URL")
        if name == "bootstrap":
            command.add_argument(
                "--replicas",
                type=int,
                metavar="N",
                help="copies of each stream in the cluster (1, 3 or 5); kept when not given",
            )
    options = parser.parse_args(arguments)
    configure_logging(settings.log_level, "console", service="chassis")
    try:
        asyncio.run(_execute(options))
    except PersonalQError as error:
        print(error, file=sys.stderr)  # noqa: T201  # the answer of a command
        return 1
    return 0


async def _execute(options: argparse.Namespace) -> None:
    async with open_bus(options.nats_url, name="chassis") as bus:
        if options.command == "bootstrap":
            await bootstrap_streams(bus, replicas=options.replicas)
        await verify_streams(bus)


if __name__ == "__main__":
    sys.exit(main())
