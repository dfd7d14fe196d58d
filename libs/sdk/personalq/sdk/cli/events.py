"""`personalq events dead`: events nobody could handle."""

from __future__ import annotations

from personalq.chassis.errors import InvalidInput
from personalq.sdk.cli.connecting import with_client
from personalq.sdk.cli.console import out, print_json
from personalq.sdk.client import AsyncPersonalQ
from personalq.sdk.results import DeadEvent


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
    if (sequence is None) != everything:
        raise InvalidInput(
            "say which: the number of a dead letter from `personalq events dead list`, or --all"
        )

    async def work(client: AsyncPersonalQ) -> list[int]:
        chosen = (
            [sequence] if sequence is not None else [e.sequence for e in await _letters(client)]
        )
        for each in chosen:
            await client.replay_dead_event(each)
        return chosen

    sent = with_client(work)
    out().print(f"sent again: {', '.join(map(str, sent)) or 'nothing, there are no dead letters'}")


async def _letters(client: AsyncPersonalQ) -> list[DeadEvent]:
    return [letter async for letter in client.dead_events()]
