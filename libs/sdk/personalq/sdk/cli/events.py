"""`personalq events dead`: events nobody could handle."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from personalq.chassis.errors import InvalidInput
from personalq.sdk.cli.connecting import with_client
from personalq.sdk.cli.console import out, print_json
from personalq.sdk.client import AsyncPersonalQ
from personalq.sdk.results import DeadEvent

_NONE = "nothing, there are no dead letters"


def run_list(*, as_json: bool) -> None:
    """Print the dead letters, oldest first."""
    letters = with_client(_letters)
    if as_json:
        print_json(
            [{**vars(each), "payload": each.payload.decode(errors="replace")} for each in letters]
        )
        return
    console = out()
    for each in letters:
        when = each.failed_at.isoformat(timespec="seconds") if each.failed_at else ""
        console.print(
            f"{each.sequence}  {when}  {each.subject}  after {each.deliveries} deliveries"
        )
        console.print(f"   {each.reason}")
    if not letters:
        console.print("no dead letters")


def run_replay(sequence: int | None, *, everything: bool) -> None:
    """Send one dead letter, or all of them, again."""
    sent = _for_each(sequence, AsyncPersonalQ.replay_dead_event, everything=everything)
    out().print(f"sent again: {', '.join(map(str, sent)) or _NONE}")


def run_discard(sequence: int | None, *, everything: bool) -> None:
    """Drop one dead letter, or all of them."""
    dropped = _for_each(sequence, AsyncPersonalQ.discard_dead_event, everything=everything)
    out().print(f"discarded: {', '.join(map(str, dropped)) or _NONE}")


def _for_each(
    sequence: int | None,
    action: Callable[[AsyncPersonalQ, int], Awaitable[None]],
    *,
    everything: bool,
) -> list[int]:
    """Do it to the dead letter that was named, or to all."""
    if (sequence is None) != everything:
        raise InvalidInput(
            "say which: the number of a dead letter from `personalq events dead list`, or --all"
        )

    async def work(client: AsyncPersonalQ) -> list[int]:
        chosen = (
            [sequence] if sequence is not None else [e.sequence for e in await _letters(client)]
        )
        for each in chosen:
            await action(client, each)
        return chosen

    return with_client(work)


async def _letters(client: AsyncPersonalQ) -> list[DeadEvent]:
    return [letter async for letter in client.dead_events()]
