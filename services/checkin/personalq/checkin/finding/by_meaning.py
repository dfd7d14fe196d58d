"""Looks, places and things that no list knows, told by what they are near to in meaning."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from personalq.checkin.cards import Hit
from personalq.checkin.intent import Attribute, Constraint, Intent
from personalq.checkin.labels import Label, nearest
from personalq.checkin.lexicon import canonical
from personalq.checkin.lexicon.wordnet import Nature, nature
from personalq.checkin.ports import Catalog
from personalq.checkin.reasoning.described import LONGEST_PHRASE, MAX_PHRASES, is_explained, wishes
from personalq.checkin.thing_labels import telling, things_on
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


async def with_meanings(hits: tuple[Hit, ...], intent: Intent, catalog: Catalog) -> tuple[Hit, ...]:
    """The hits with how like their looks and things are to what no card says in words."""
    said = _unexplained(intent, hits)
    if not said or len(hits) < 2:
        return hits
    looks, things = await asyncio.gather(_looks(hits, said, catalog), _things(hits, said, catalog))
    return tuple(
        replace(hit, look_likeness=look, thing_likeness=thing)
        for hit, look, thing in zip(hits, looks, things, strict=True)
    )


async def _looks(
    hits: Sequence[Hit], said: Sequence[str], catalog: Catalog
) -> Sequence[dict[str, float]]:
    labels = (await catalog.lexicon()).look_labels
    of = [[canonical(style) for style in hit.card.styles] for hit in hits]
    return await _compared(of, said, labels, catalog)


async def _things(
    hits: Sequence[Hit], said: Sequence[str], catalog: Catalog
) -> Sequence[dict[str, float]]:
    named = [things_on(hit.card) for hit in hits]
    of = [[tag for label in labels for tag in label.tags] for labels in named]
    return await _compared(of, said, telling(named), catalog)


async def _compared(
    of: Sequence[Sequence[str]], said: Sequence[str], labels: Sequence[Label], catalog: Catalog
) -> Sequence[dict[str, float]]:
    """For each card's tags what was said, with how like it is to the likest of them."""
    likeness = await catalog.compare(said, labels) if labels else ()
    if not likeness:
        return [{} for _ in of]
    columns = {tag: place for place, label in enumerate(labels) for tag in label.tags}
    told = list(zip(said, likeness, strict=True))
    found: list[dict[str, float]] = []
    for tags in of:
        own = [columns[tag] for tag in tags if tag in columns]
        found.append({text: max(row[place] for place in own) for text, row in told} if own else {})
    return found


def _unexplained(intent: Intent, hits: Sequence[Hit]) -> tuple[str, ...]:
    found = [
        said
        for wish in wishes(intent)
        if wish.said and not wish.vague and not is_explained(wish, hits)
        for said in wish.said
        if len(said) <= LONGEST_PHRASE
    ]
    return tuple(dict.fromkeys(found))[:MAX_PHRASES]
