"""Looks and places that no list knows, told by what they are near to in meaning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from personalq.checkin.cards import Hit
from personalq.checkin.intent import Attribute, Constraint, Intent
from personalq.checkin.labels import Label, likeness_of, nearest
from personalq.checkin.lexicon import canonical
from personalq.checkin.lexicon.wordnet import Nature, nature
from personalq.checkin.ports import Catalog
from personalq.checkin.reasoning.described import LONGEST_PHRASE, MAX_PHRASES, is_explained, wishes
from personalq.checkin.vocabulary import Lexicon

_CLEARLY = 0.72
"""What the likeness of a place and its lead over the next must be together: "between stove and
sink"."""
_CLEARLY_ANOTHER = 1.0
"""The same of a place with a name of its own: wine country is a vineyard, an ice rink no snow."""


async def with_places(intent: Intent, catalog: Catalog, lexicon: Lexicon) -> Intent:
    """The intent with the places that cards have for those that none has but which mean one.

    Of what was only told by what goes on there, and means none, the intent says so.
    """
    labels = lexicon.place_labels
    unknown = [c for c in intent.all(Attribute.ENVIRONMENT) if _is_unknown(c, lexicon)]
    if not unknown:
        return intent
    texts = [constraint.values[0] for constraint in unknown][:MAX_PHRASES]
    likeness = await catalog.compare(texts, labels) if labels else ()
    meant = {
        id(constraint): _place(constraint, label, lexicon)
        for constraint, text, row in zip(unknown, texts, likeness, strict=False)
        if (label := nearest(labels, row, clearly=_clearly(text))) is not None
    }
    lost = [c for c in unknown if not c.hard and id(c) not in meant]
    why = "means no" if likeness or not labels else "could not be compared with any"
    said = tuple(f"“{c.text}” {why} place that cards were trained at" for c in lost)
    constraints = tuple(meant.get(id(c), c) for c in intent.constraints if c not in lost)
    return replace(intent, constraints=constraints, problems=(*intent.problems, *said))


def _is_unknown(constraint: Constraint, lexicon: Lexicon) -> bool:
    known = any(canonical(value) in lexicon.places for value in constraint.values)
    return bool(constraint.values) and not known and len(constraint.values[0]) <= LONGEST_PHRASE


def _clearly(text: str) -> float:
    is_place = nature(canonical(text).split()[-1]) is Nature.PLACE
    return _CLEARLY_ANOTHER if is_place else _CLEARLY


def _place(constraint: Constraint, label: Label, lexicon: Lexicon) -> Constraint:
    tags = sorted(label.tags)
    return replace(
        constraint,
        values=tuple(value for tag in tags for value in lexicon.places[tag]),
        hard=True,
        label=f"{constraint.label}, which is nearest to {' or '.join(tags)}",
    )


async def with_looks(hits: tuple[Hit, ...], intent: Intent, catalog: Catalog) -> tuple[Hit, ...]:
    """The hits with how like their looks are to what was described and no card says in words."""
    said = _unexplained(intent, hits)
    if not said or len(hits) < 2:
        return hits
    labels = (await catalog.lexicon()).look_labels
    likeness = await catalog.compare(said, labels) if labels else ()
    if not likeness:
        return hits
    return tuple(replace(hit, look_likeness=_of(hit, said, labels, likeness)) for hit in hits)


def _unexplained(intent: Intent, hits: Sequence[Hit]) -> tuple[str, ...]:
    found = [
        said
        for wish in wishes(intent)
        if wish.said and not wish.vague and not is_explained(wish, hits)
        for said in wish.said
        if len(said) <= LONGEST_PHRASE
    ]
    return tuple(dict.fromkeys(found))[:MAX_PHRASES]


def _of(
    hit: Hit, said: Sequence[str], labels: Sequence[Label], likeness: Sequence[Sequence[float]]
) -> dict[str, float]:
    told = zip(said, likeness, strict=True)
    found = {text: likeness_of(hit.card.styles, labels, row) for text, row in told}
    return {text: value for text, value in found.items() if value is not None}
