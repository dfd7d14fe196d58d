"""The search that an intent asks for: hard constraints in the filter, wishes in the text."""

from __future__ import annotations

from dataclasses import replace

from personalq.checkin.cards import CardFilter, Query
from personalq.checkin.intent import Attribute, Constraint, Intent, Interval, OrderKey
from personalq.checkin.lexicon import canonical
from personalq.checkin.reasoning.descriptions.wishes import spoken

_FEW = 10
"""Uses up to which a number is looked for from the least used on."""
_DEEP = 1000
"""Most cards that are looked at for one that has what no filter can ask for."""


def to_query(intent: Intent, prompt: str, candidate_ids: tuple[str, ...], limit: int) -> Query:
    """The search that returns every card the intent allows."""
    order = intent.window or intent.order
    recent = next((c for c in intent.all(Attribute.ORDER) if not c.hard), None)
    key = order.order if order else (recent.order if recent else _by_use(intent))
    rank = max(order.rank, order.among) if order else 0
    return Query(
        text=search_text(intent, prompt),
        phrases=spoken(intent),
        filter=to_filter(intent, candidate_ids),
        order=key,
        limit=min(max(limit, rank + 10), 1000),
    )


def _by_use(intent: Intent) -> OrderKey | None:
    """Cards with few uses first, or with many, when the person gave a number of uses."""
    counted = intent.first(Attribute.USE_COUNT)
    if counted is None:
        return None
    _, most = counted.uses
    return OrderKey.LEAST_USED if most is not None and most <= _FEW else OrderKey.MOST_USED


def deeper(intent: Intent, query: Query) -> Query | None:
    """The search for cards that have what no filter can ask for, which many before them lack.

    "The newest that was never used" may be far from the newest: those with as few uses, or as many,
    come first. None when a filter says all that must hold.
    """
    if not any(_beyond_filter(c) for c in intent.constraints):
        return None
    return replace(query, text="", order=_by_use(intent) or query.order, limit=_DEEP)


def _beyond_filter(constraint: Constraint) -> bool:
    """Whether a constraint is checked on the hits alone, or more exactly there."""
    if not constraint.hard:
        return False
    if constraint.attribute in (Attribute.CREATED_AT, Attribute.LAST_USED_AT):
        several = constraint.months or len(constraint.intervals) > 1
        return bool(several) or constraint.excluded
    return constraint.attribute in (Attribute.USE_COUNT, Attribute.DESCRIPTION)


def search_text(intent: Intent, prompt: str) -> str:
    """What ranks the matches: the words that say more than the filter does.

    "" when the filter says it all; ranking its matches by the same words would cost an embedding
    and tell nothing. The scene only when there is nothing else to go by. Beside a description the
    subject is named too, where all matches have its words: among cards of others they are found
    by it.
    """
    subjects = [c for c in intent.all(Attribute.SUBJECT) if not c.excluded]
    described = [c for c in intent.described if not c.excluded]
    if intent.unknown_subject is not None:
        described.append(intent.unknown_subject)
    telling = [c for c in subjects if _says_more(c)]
    if described or telling:
        named = [c for c in subjects if c in telling or _is_of_all(c)]
        words = [c.text for c in (*named, *described)]
    elif intent.order is not None or any(c.hard for c in intent.constraints):
        words = []
    else:
        words = [span.of(prompt) for span in intent.content]
    return " ".join(dict.fromkeys(word for word in words if word))[:400]


def _is_of_all(subject: Constraint) -> bool:
    """Whether every subject of the filter has its words: "bear" of bears and teddy bears, but not
    "car" of cars and automobiles.
    """
    words = set(canonical(subject.text).split())
    return all(words <= set(canonical(value).split()) for value in subject.values)


def _says_more(subject: Constraint) -> bool:
    """Whether a subject is in words the filter does not have: "corgi" among dogs."""
    return bool(subject.broader) or canonical(subject.text) not in map(canonical, subject.values)


def to_filter(intent: Intent, candidate_ids: tuple[str, ...]) -> CardFilter:
    """The hard constraints a catalog can check; the rest is checked on the hits."""
    identity = intent.first(Attribute.IDENTITY)
    if identity is not None and identity.identifies:
        allowed = set(candidate_ids)
        ids = tuple(v for v in identity.values if not allowed or v in allowed)
        return CardFilter(checkpoint_ids=ids or identity.values)
    return CardFilter(
        subjects=_values(intent, Attribute.SUBJECT),
        excluded_subjects=_excluded(intent, Attribute.SUBJECT),
        styles=_values(intent, Attribute.STYLE),
        excluded_styles=_excluded(intent, Attribute.STYLE),
        created=_interval(intent, Attribute.CREATED_AT),
        last_used=_last_used(intent),
        versions=tuple(sorted(int(v) for v in _values(intent, Attribute.VERSION))),
        environments=_values(intent, Attribute.ENVIRONMENT),
        excluded_environments=_excluded(intent, Attribute.ENVIRONMENT),
        owners=_values(intent, Attribute.OWNER),
        checkpoint_ids=candidate_ids,
        triggers=identity.values if identity is not None and identity.by_trigger else (),
        names=identity.values if identity is not None and identity.by_name else (),
    )


def _hard(intent: Intent, attribute: Attribute) -> list[Constraint]:
    return [c for c in intent.all(attribute) if c.hard]


def _values(intent: Intent, attribute: Attribute) -> tuple[str, ...]:
    wanted = [c for c in _hard(intent, attribute) if not c.excluded]
    return tuple(dict.fromkeys(value for c in wanted for value in (*c.values, *c.broader)))


def _excluded(intent: Intent, attribute: Attribute) -> tuple[str, ...]:
    unwanted = [c for c in _hard(intent, attribute) if c.excluded]
    return tuple(dict.fromkeys(value for c in unwanted for value in c.values))


def _interval(intent: Intent, attribute: Attribute) -> Interval | None:
    """The intersection of the wanted intervals' hulls."""
    hulls = [c.interval for c in _hard(intent, attribute) if not c.excluded]
    found = [hull for hull in hulls if hull is not None]
    if not found:
        return None
    starts = [hull.start for hull in found if hull.start is not None]
    ends = [hull.end for hull in found if hull.end is not None]
    interval = Interval(start=max(starts, default=None), end=min(ends, default=None))
    if interval.start is not None and interval.end is not None and interval.start >= interval.end:
        return found[0]  # disjoint wishes: the check on the hits rejects them all
    return interval


def _last_used(intent: Intent) -> Interval | None:
    interval = _interval(intent, Attribute.LAST_USED_AT)
    order = intent.order
    if interval is None and order is not None and order.order is OrderKey.LAST_USED:
        return None
    return interval
