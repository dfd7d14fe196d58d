"""Check-in beside the baselines and its own ablations, on figures that all of them have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from personalq.bench.repo_prompts.asking import Asked
from personalq.bench.repo_prompts.files import Card
from personalq.bench.repo_prompts.intent_score import IntentSummary, summarize
from personalq.bench.repo_prompts.scoring import is_right, rate


@dataclass(frozen=True, kw_only=True)
class Row:
    """A method's figures; what was chosen in the end counts, so that asking is no handicap."""

    method: str
    #: The card that was meant; over queries that mean one.
    single: float | None
    #: One of the cards the words leave open; over ambiguous queries.
    acceptable: float | None
    #: The card that was meant; over ambiguous queries.
    intended: float | None
    #: Refused; over queries that nothing fits.
    no_match: float | None
    intent: IntentSummary | None


def row(method: str, results: Sequence[Asked], cards: Mapping[str, Card]) -> Row:
    """The figures of one method."""
    single = [each for each in results if each.query.kind == "single"]
    ambiguous = [each for each in results if each.query.kind == "ambiguous"]
    nothing = [each for each in results if each.query.kind == "no_match"]
    return Row(
        method=method,
        single=rate(single, _is_intended),
        acceptable=rate(ambiguous, _is_acceptable),
        intended=rate(ambiguous, _is_intended),
        no_match=rate(nothing, is_right),
        intent=summarize(results, cards),
    )


def _is_intended(asked: Asked) -> bool:
    return asked.final.checkpoint_id == asked.query.ground_truth.checkpoint_id


def _is_acceptable(asked: Asked) -> bool:
    truth = asked.query.ground_truth
    return asked.final.checkpoint_id in {*truth.acceptable_ids, truth.checkpoint_id}
