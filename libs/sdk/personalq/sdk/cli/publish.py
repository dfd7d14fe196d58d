"""`personalq publish`: what a training pipeline does."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from personalq.chassis.errors import InvalidInput
from personalq.sdk.cli.connecting import with_client
from personalq.sdk.cli.console import err, out, print_json, size
from personalq.sdk.client import AsyncPersonalQ
from personalq.sdk.publishing import CardFields
from personalq.sdk.results import Checkpoint, Publication


def run(
    source: str,
    *,
    trigger: Sequence[str],
    subject: Sequence[str],
    check: bool,
    wait: bool,
    timeout_s: float,
    as_json: bool,
    created_at: str,
    fields: CardFields,
) -> None:
    """Publish `source`; with `wait` follow it until it is servable."""
    fields["created_at"] = _moment(created_at)
    console, hints = out(), err()
    seen: list[str] = []

    def on_state(card: Checkpoint) -> None:
        made = ", ".join(each.profile for each in card.artifacts)
        line = f"{card.checkpoint_id} is {card.state}" + (f" ({made})" if made else "")
        if line not in seen:
            seen.append(line)
            hints.print(line)

    async def work(client: AsyncPersonalQ) -> Publication:
        return await client.publish(
            source,
            trigger=trigger,
            subject=subject,
            check=check,
            wait=wait,
            wait_timeout_s=timeout_s,
            on_state=on_state,
            **fields,
        )

    published = with_client(work)
    if as_json:
        print_json(published)
        return
    if published.duplicate:
        console.print(f"{published.checkpoint_id} was announced already, a moment ago")
    else:
        amount = f" ({size(published.size_bytes)})" if published.size_bytes else ""
        console.print(f"announced {published.checkpoint_id}{amount}")
    if not trigger:
        hints.print(
            "it has no trigger: prompts for it stay as they are, and quantization protects no word "
            "(`personalq inspect FILE` shows the triggers that a file names)"
        )
    if published.checkpoint is not None:
        console.print(f"{published.checkpoint_id} is servable")
    else:
        hints.print(f"`personalq checkpoints show {published.checkpoint_id}` tells how far it is")


def _moment(text: str) -> datetime | None:
    if not text:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput(
            f"--created-at {text!r} is no time: write it as 2026-04-12 or 2026-04-12T09:30:00Z",
            field="checkpoint.created_at",
        ) from None
