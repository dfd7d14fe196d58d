"""Run the demo: `python -m personalq.sdk.demo` (what `make demo` does after installing)."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path

from personalq.chassis.errors import PersonalQError
from personalq.sdk.cli.failing import Exit, complain
from personalq.sdk.demo.run import run_demo
from personalq.sdk.embedded.lock import DirectoryInUse
from personalq.sdk.embedded.ports import PortInUse, Ports, free_base
from personalq.sdk.embedded.process import ChildFailed
from personalq.sdk.embedded.signals import until_signal
from personalq.sdk.endpoints import PORT_BASE


def main() -> int:
    """Run the demo; exit code 1 with one message when it fails, 130 when it was interrupted."""
    parser = argparse.ArgumentParser(prog="python -m personalq.sdk.demo", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder for the results")
    parser.add_argument("--data", type=Path, help="folder of the stack; OUT/data when absent")
    parser.add_argument("--port-base", type=int, help="first port; free ones when absent")
    parser.add_argument("--setup-seconds", type=float, default=0.0, help="what installing took")
    options = parser.parse_args()
    # Torch scores the pictures while the services still run on the same cores: do not spin.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    try:
        finished = asyncio.run(
            until_signal(
                run_demo(
                    out_dir=options.out,
                    data=options.data or options.out / "data",
                    ports=Ports(base=options.port_base or free_base(PORT_BASE + 100)),
                    setup_seconds=options.setup_seconds,
                )
            )
        )
    except BrokenPipeError:
        # Whoever read the output has left; there is nobody to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.SERVICE
    except (ChildFailed, DirectoryInUse, OSError, PersonalQError, PortInUse) as error:
        complain(str(error))
        return Exit.SERVICE
    if not finished:
        complain("interrupted; everything is stopped")
        return Exit.INTERRUPTED
    return Exit.OK


if __name__ == "__main__":
    sys.exit(main())
