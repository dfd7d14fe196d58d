"""How a command ends."""

from __future__ import annotations

import os
import sys
from enum import IntEnum
from typing import NoReturn


class Exit(IntEnum):
    """Exit codes of `personalq`."""

    OK = 0
    SERVICE = 1
    BAD_INPUT = 2
    CLARIFICATION = 3
    NO_MATCH = 4
    INTERRUPTED = 130


def fail(error: Exception) -> NoReturn:
    """Say in one line what is wrong and what to do; leave with the code for it.

    PERSONALQ_DEBUG=1 shows the traceback of a failure that nobody foresaw.
    """
    from personalq.chassis.errors import Conflict, InvalidInput, NotFound, PersonalQError

    if isinstance(error, InvalidInput | NotFound | Conflict):
        complain(str(error))
        sys.exit(Exit.BAD_INPUT)
    if isinstance(error, PersonalQError):
        complain(str(error))
        sys.exit(Exit.SERVICE)
    if (usage := getattr(error, "format_message", None)) is not None:  # the parser's own
        if message := usage():  # none when help was printed in place of a missing command
            complain(f"{message.rstrip('.?')}; `personalq --help` shows what there is")
        sys.exit(Exit.BAD_INPUT)
    if os.environ.get("PERSONALQ_DEBUG"):
        raise error
    complain(
        f"this should not happen: {type(error).__name__}: {error} (PERSONALQ_DEBUG=1 shows where)"
    )
    sys.exit(Exit.SERVICE)


def complain(message: str) -> None:
    """One message on standard error."""
    print(f"personalq: {message}", file=sys.stderr)
