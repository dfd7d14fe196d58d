"""Looks, places and things that no list knows, told by what they are near to in meaning."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from personalq.checkin.cards import Hit
from personalq.checkin.intent import Attribute, Constraint, Intent
from personalq.checkin.labels import Label, nearest
from personalq.checkin.lexicon import canonical, environment_groups, same_places
from personalq.checkin.lexicon.wordnet import Nature, nature
from personalq.checkin.nouns import is_kind_of
from personalq.checkin.ports import Catalog
from personalq.checkin.reasoning.descriptions.fits import is_explained
from personalq.checkin.reasoning.descriptions.wishes import LONGEST_PHRASE, MAX_PHRASES, wishes
from personalq.checkin.thing_labels import telling, things_on
from personalq.checkin.vocabulary import Lexicon

_CLEARLY = 0.72
"""What the likeness of a place and its lead over the next must be together: "between stove and
sink"."""
_CLEARLY_MORE = 0.6
"""The same where a place that cards have only says what sort of thing is there: "office blocks"."""
_LIKELY_LOOK = 0.55
"""The same of a look that is preferred only: "drawn quickly in a notebook"."""
_CLEARLY_ANOTHER = 1.0
"""The same of a place with a name of its own: wine country is a vineyard, an ice rink no snow."""
_PLACES = (
    "structure", "area", "location", "geological formation", "vehicle", "way", "room", "facility",
    "body of water", "plant",
)  # fmt: skip
"""Things that somebody may be at, on or in."""
_ANY_PLACE = frozenset((
    "country", "land", "area", "region", "place", "spot", "corner", "ground", "grounds", "zone",
    "site", "location", "space", "side", "surroundings", "landscape", "setting", "environment",
))  # fmt: skip
"""Of these the words before tell which: "wine country"."""


async def with_tags(intent: Intent, catalog: Catalog, lexicon: Lexicon) -> Intent:
    """The intent with the looks and places that cards have for those that were told otherwise."""
    return await with_looks(await with_places(intent, catalog, lexicon), catalog, lexicon)


async def with_places(intent: Intent, catalog: Catalog, lexicon: Lexicon) -> Intent:
    """The intent with the places that cards have for those that none has but which mean one.

    Of what was only told by what goes on there, and means none, the intent says so.
    """
    labels = lexicon.place_labels
    unknown = [c for c in intent.all(Attribute.ENVIRONMENT) if c.said or _is_unknown(c, lexicon)]
    if not unknown:
        return intent
    texts = tuple(dict.fromkeys(said for c in unknown for said in _told(c, lexicon)))[:MAX_PHRASES]
    likeness = await catalog.compare(texts, labels) if labels else ()
    rows = dict(zip(texts, likeness, strict=False))
    meant = {
        id(constraint): _place(constraint, label, lexicon)
        for constraint in unknown
        if (label := _nearest(constraint, rows, lexicon)) is not None
    }
    lost = [
        c
        for c in unknown
        if id(c) not in meant and _is_unknown(c, lexicon) and not (c.hard and _is_a_place(c))
    ]
    why = "means no" if likeness or not labels else "could not be compared with any"
    said = tuple(f"“{c.text}” {why} place that cards were trained at" for c in lost)
    constraints = tuple(meant.get(id(c), c) for c in intent.constraints if c not in lost)
    return replace(intent, constraints=constraints, problems=(*intent.problems, *said))


async def with_looks(intent: Intent, catalog: Catalog, lexicon: Lexicon) -> Intent:
    """The intent with the looks that cards have for those that were only told of.

    One that is likely only, or told by what it is like, is preferred: what looks like a castle may
    be shaped like one. What means no look stays a description, and so does that.
    """
    told = [c for c in intent.all(Attribute.STYLE) if c.said]
    if not told:
        return intent
    labels = lexicon.told_look_labels
    said = (said for c in told for said in c.said if len(said) <= LONGEST_PHRASE)
    texts = tuple(dict.fromkeys(said))[:MAX_PHRASES]
    likeness = await catalog.compare(texts, labels) if labels and texts else ()
    rows = dict(zip(texts, likeness, strict=False))
    meant: list[Constraint] = []
    for constraint in told:
        row = rows.get(constraint.said[0], ())
        likely = nearest(labels, row, clearly=_LIKELY_LOOK)
        if likely is not None:
            surely = not constraint.coarse and nearest(labels, row, clearly=_CLEARLY) is not None
            meant.append(_look(constraint, likely, lexicon, surely=surely))
    spans = [c.span for c in meant if c.span is not None and not c.coarse]
    kept = tuple(
        c
        for c in intent.constraints
        if c not in told
        and not (
            c.attribute is Attribute.DESCRIPTION
            and c.span is not None
            and any(c.span.meets(span) for span in spans)
        )
    )
    return replace(intent, constraints=(*meant, *kept))


def _look(constraint: Constraint, label: Label, lexicon: Lexicon, *, surely: bool) -> Constraint:
    tags = sorted(label.tags)
    hard = surely or constraint.excluded
    return replace(
        constraint,
        values=tuple(value for tag in tags for value in lexicon.looks[tag]),
        hard=hard,
        prefers=not hard,
        said=(),
        label=f"{constraint.label}, which is nearest to {' or '.join(tags)}",
    )


def _is_unknown(constraint: Constraint, lexicon: Lexicon) -> bool:
    known = any(canonical(value) in lexicon.places for value in constraint.values)
    return bool(constraint.values) and not known


def _is_a_place(constraint: Constraint) -> bool:
    """Whether what is said names a place, which no card has then: not "in front of the curtain"."""
    named = canonical(constraint.values[0])
    known = (*environment_groups().values(), *same_places().values(), same_places().keys())
    if any(named in group for group in known):
        return True
    head = named.rpartition(" ")[2]
    return nature(head) is not Nature.THING or any(is_kind_of(head, each) for each in _PLACES)


def _told(constraint: Constraint, lexicon: Lexicon) -> tuple[str, ...]:
    """What a place is compared as: all that was told of it, and its name if no card has it."""
    known = not _is_unknown(constraint, lexicon)
    told = constraint.said if known else (constraint.values[0], *constraint.said)
    return tuple(said for said in told if len(said) <= LONGEST_PHRASE)


def _nearest(
    constraint: Constraint, rows: Mapping[str, Sequence[float]], lexicon: Lexicon
) -> Label | None:
    """The place that a constraint means, by the likest of what was told of it."""
    told = [rows[said] for said in _told(constraint, lexicon) if said in rows]
    if not told:
        return None
    likest = [max(each) for each in zip(*told, strict=True)]
    return nearest(lexicon.place_labels, likest, clearly=_clearly(constraint, lexicon))


def _clearly(constraint: Constraint, lexicon: Lexicon) -> float:
    if not _is_unknown(constraint, lexicon):
        return _CLEARLY_MORE
    head = canonical(constraint.values[0]).rpartition(" ")[2]
    is_place = nature(head) is Nature.PLACE and head not in _ANY_PLACE
    return _CLEARLY_ANOTHER if is_place else _CLEARLY


def _place(constraint: Constraint, label: Label, lexicon: Lexicon) -> Constraint:
    tags = sorted(label.tags)
    return replace(
        constraint,
        values=tuple(value for tag in tags for value in lexicon.places[tag]),
        hard=not constraint.prefers,
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
