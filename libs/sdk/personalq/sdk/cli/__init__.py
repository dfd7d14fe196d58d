"""`personalq`: the whole system from a shell.

Exit codes: 0 done, 1 a service failed or is out of reach, 2 bad input, 3 a question is open,
4 nothing matches.
"""

from __future__ import annotations

import logging
import os
import sys

from personalq.sdk.cli.failing import Exit, fail


def main() -> None:
    """Run the command line; a user's mistake ends in one line, never in a traceback."""
    from personalq.sdk.cli.commands import app, hoist

    # Libraries report what the command itself says better.
    logging.basicConfig(handlers=[logging.NullHandler()])
    try:
        code = app(args=hoist(sys.argv[1:]), prog_name="personalq", standalone_mode=False)
        sys.exit(code)
    except KeyboardInterrupt:
        sys.exit(Exit.INTERRUPTED)
    except BrokenPipeError:  # `personalq … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(Exit.OK)
    except Exception as error:
        fail(error)


__all__ = ["Exit", "main"]
