"""Scores, exactly as the description of the file formats defines them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from personalq.bench.repo_prompts.asking import Asked, Reply
from personalq.bench.repo_prompts.files import Card
from personalq.bench.repo_prompts.rewriting import is_valid


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Rates over queries; None where there is no query of the kind."""

    n: int
    #: Right outcome and, for a selection, the right id; over all.
    accuracy: float | None
    #: The right id without a question; over queries that mean one card.
    single_accuracy: float | None
    #: Asked though one card was meant.
    over_ask_rate: float | None
    #: Asked; over ambiguous queries.
    ambiguous_asked_rate: float | None
    #: The right id in the end; over ambiguous queries.
    resolution_rate: float | None
    #: Refused; over queries that nothing fits.
    no_match_accuracy: float | None
    #: Refused though something fits; over queries that something fits.
    false_no_match_rate: float | None
    #: Valid; over rewritten prompts of final selections, right or wrong.
    rewrite_valid_rate: float | None


@dataclass(frozen=True, kw_only=True)
class Percentiles:
    """Milliseconds."""

    p50: float
    p95: float
    p99: float


def is_right(asked: Asked) -> bool:
    """Whether the outcome is the right one and, for a selection, the right card."""
    truth = asked.query.ground_truth
    match asked.query.kind:
        case "no_match":
            return asked.reply.outcome == "no_match"
        case "ambiguous":
            return asked.reply.outcome == "clarification"
        case _:
            return _selects(asked.reply, truth.checkpoint_id)


def _selects(reply: Reply, checkpoint_id: str | None) -> bool:
    return reply.outcome == "selection" and reply.checkpoint_id == checkpoint_id


def is_valid_rewrite(asked: Asked, cards: Mapping[str, Card]) -> bool | None:
    """Whether the prompt of the final selection is rewritten as it should be; None without one."""
    final = asked.final
    if final.outcome != "selection" or final.rewritten_prompt is None:
        return None
    card = cards[final.checkpoint_id or ""]
    return is_valid(asked.query.query, final.rewritten_prompt, card, final.replaced)


def score(results: Sequence[Asked], cards: Mapping[str, Card]) -> Scores:
    """The scores of some results."""
    single = [each for each in results if each.query.kind == "single"]
    ambiguous = [each for each in results if each.query.kind == "ambiguous"]
    nothing = [each for each in results if each.query.kind == "no_match"]
    something = single + ambiguous
    rewrites = [valid for each in results if (valid := is_valid_rewrite(each, cards)) is not None]
    return Scores(
        n=len(results),
        accuracy=rate(results, is_right),
        single_accuracy=rate(single, is_right),
        over_ask_rate=rate(single, lambda each: each.reply.outcome == "clarification"),
        ambiguous_asked_rate=rate(ambiguous, is_right),
        resolution_rate=rate(
            ambiguous, lambda each: _selects(each.final, each.query.ground_truth.checkpoint_id)
        ),
        no_match_accuracy=rate(nothing, is_right),
        false_no_match_rate=rate(something, lambda each: each.reply.outcome == "no_match"),
        rewrite_valid_rate=sum(rewrites) / len(rewrites) if rewrites else None,
    )


def rate(results: Sequence[Asked], holds: Callable[[Asked], bool]) -> float | None:
    """The share of the results for which something holds; None of nothing."""
    return sum(map(holds, results)) / len(results) if results else None


def percentiles(milliseconds: Sequence[float]) -> Percentiles:
    """The usual three."""
    p50, p95, p99 = (round(float(each), 3) for each in np.percentile(milliseconds, [50, 95, 99]))
    return Percentiles(p50=p50, p95=p95, p99=p99)


def summary(
    results: Sequence[Asked],
    cards: Mapping[str, Card],
    *,
    embedding: Percentiles | None,
) -> dict[str, object]:
    """The summary that is printed, with the names of the file formats' description.

    Args:
        embedding: what embedding the prompts alone costs here; None without a model.
    """
    latency = percentiles([each.latency_ms for each in results])
    answers = [each.answer_latency_ms for each in results if each.answer_latency_ms is not None]
    groups = sorted({each.query.group for each in results if each.query.group})
    whole: dict[str, object] = {
        **asdict(score(results, cards)),
        "latency_ms": asdict(latency),
        "answer_latency_ms": asdict(percentiles(answers)) if answers else None,
        "embedding_ms": asdict(embedding) if embedding else None,
        "select_vs_embedding": round(latency.p50 / embedding.p50, 2) if embedding else None,
        "errors": sum(each.reply.outcome == "error" for each in results),
    }
    if groups:
        whole["by_group"] = {
            group: asdict(score([each for each in results if each.query.group == group], cards))
            for group in groups
        }
    return whole


def line(asked: Asked, cards: Mapping[str, Card]) -> dict[str, object]:
    """The result of one query, as `--out` has it."""
    reply, final = asked.reply, asked.final
    return {
        "instance_id": asked.query.instance_id,
        "outcome": reply.outcome,
        "checkpoint_id": reply.checkpoint_id,
        "rewritten_prompt": reply.rewritten_prompt,
        "confidence": reply.confidence,
        "question": reply.question,
        "options": list(reply.options),
        "asked_about": reply.asked_about,
        "final": {
            "outcome": final.outcome,
            "checkpoint_id": final.checkpoint_id,
            "rewritten_prompt": final.rewritten_prompt,
        },
        "latency_ms": round(asked.latency_ms, 3),
        "answer_latency_ms": (
            None if asked.answer_latency_ms is None else round(asked.answer_latency_ms, 3)
        ),
        # Beyond the format: for whoever looks for what went wrong.
        "right": is_right(asked),
        "rewrite_valid": is_valid_rewrite(asked, cards),
        "explanation": final.explanation,
    }
