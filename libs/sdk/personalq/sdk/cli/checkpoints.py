"""`personalq checkpoints`: the cards in the catalog."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from personalq.sdk.cli.connecting import with_client
from personalq.sdk.cli.console import day, out, print_json, size
from personalq.sdk.client import AsyncPersonalQ
from personalq.sdk.results import Checkpoint


def run_list(*, states: Sequence[str], subjects: Sequence[str], as_json: bool) -> None:
    """Print all cards that fit, newest first."""

    async def work(client: AsyncPersonalQ) -> list[Checkpoint]:
        return [card async for card in client.checkpoints(states=states, subjects=subjects)]

    cards = with_client(work)
    if as_json:
        print_json(cards)
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("id", "subject", "style", "version", "trigger", "trained", "state"):
        table.add_column(heading, overflow="fold")
    for card in cards:
        table.add_row(
            card.checkpoint_id,
            ", ".join(card.subjects),
            ", ".join(card.styles),
            "" if card.version is None else str(card.version),
            ", ".join(card.triggers),
            day(card.created_at),
            card.state,
        )
    if cards:
        out().print(table)
    elif states or subjects:
        out().print("no such checkpoints: `personalq checkpoints list` shows what there is")
    else:
        out().print("no checkpoints: `personalq publish FILE …` adds one")


def run_show(checkpoint_id: str, *, as_json: bool) -> None:
    """Print one card and its artifacts."""
    card = with_client(lambda client: client.checkpoint(checkpoint_id))
    if as_json:
        print_json(card)
    else:
        _show(card)


def run_archive(checkpoint_id: str, *, as_json: bool) -> None:
    """Withdraw a checkpoint."""
    card = with_client(lambda client: client.archive(checkpoint_id))
    if as_json:
        print_json(card)
    else:
        out().print(f"{card.checkpoint_id} is {card.state}")


def _show(card: Checkpoint) -> None:
    console = out()
    console.print(card.checkpoint_id)
    state = f"{card.state}: {card.state_reason}" if card.state_reason else card.state
    lines = {
        "state": state,
        "name": card.name,
        "aliases": ", ".join(card.aliases),
        "triggers": ", ".join(card.triggers),
        "subjects": ", ".join(card.subjects),
        "styles": ", ".join(card.styles),
        "environments": ", ".join(card.environments),
        "description": card.description,
        "version": "" if card.version is None else str(card.version),
        "trained": card.created_at.isoformat(timespec="seconds") if card.created_at else "",
        "owner": card.owner,
        "base model": card.base_model,
        "format": card.format,
        "source": card.uri,
        "sha256": card.sha256,
        "size": size(card.size_bytes),
        "used": f"{card.use_count} times" if card.use_count else "never",
    }
    for name, value in lines.items():
        if value:
            console.print(f"  {name:12}  {value}")
    for made in card.artifacts:
        base = f" + {size(made.base_size_bytes)} shared" if made.base_digest else ""
        console.print(
            f"  {'artifact':12}  {made.profile:5} {made.digest[:12]}  {size(made.size_bytes)}{base}"
        )
