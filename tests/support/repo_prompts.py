"""Cards, queries and results of Repo-Prompts, made of what a test cares about."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from personalq.bench.repo_prompts.asking import Asked, Reply
from personalq.bench.repo_prompts.files import Card, GroundTruth, Query

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def card(checkpoint_id: str, **fields: object) -> Card:
    """A card of a bear."""
    values = {"triggers": [f"<{checkpoint_id}>"], "subjects": ["bear"], **fields}
    return Card.model_validate({"checkpoint_id": checkpoint_id, **values})


def query(
    meant: str | None,
    prompt: str = "a bear",
    *,
    ambiguous: bool = False,
    acceptable: tuple[str, ...] = (),
    **fields: object,
) -> Query:
    """A query that means this card, or none."""
    truth = GroundTruth(
        checkpoint_id=meant,
        requires_clarification=ambiguous,
        no_match=meant is None,
        acceptable_ids=acceptable,
    )
    values = {"instance_id": f"to {meant}: {prompt}", "now": NOW, **fields}
    return Query.model_validate({**values, "query": prompt, "ground_truth": truth})


def selected(checkpoint_id: str, rewritten: str | None = None) -> Reply:
    """A selection."""
    return Reply(outcome="selection", checkpoint_id=checkpoint_id, rewritten_prompt=rewritten)


def asked(
    about: Query, reply: Reply, final: Reply | None = None, *, latency_ms: float = 1.0
) -> Asked:
    """What came of a query."""
    return Asked(query=about, reply=reply, final=final or reply, latency_ms=latency_ms)


ASKED = Reply(outcome="clarification", question="Which one?")
REFUSED = Reply(outcome="no_match")


def write_lines(path: Path, lines: Iterable[Mapping[str, object]]) -> Path:
    """One JSON object per line."""
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path
