"""What a card says it is: the concepts of its description, and what it says of its subject."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import lru_cache

from personalq.chassis.forms import compile_form
from personalq.chassis.phrases import phrases_of
from personalq.checkin import lexicon
from personalq.checkin.cards import Card
from personalq.checkin.lexicon import canonical, thesaurus
from personalq.checkin.lexicon.stems import stem
from personalq.checkin.lexicon.stuffs import stuffs_in
from personalq.checkin.lexicon.wordnet import Nature, look_up, nature
from personalq.checkin.reasoning.colours import COLOURS, NAMED, names_for
from personalq.checkin.reasoning.profiles.concepts import concepts, shades_in
from personalq.checkin.reasoning.profiles.own_colours import (
    ALL_OVER,
    METALS,
    bare_colour,
    bare_colours,
    coloured_in,
    groups_of,
    is_flavour_named,
    tastes_of,
    without_flavours,
)
from personalq.checkin.reasoning.profiles.subject import (
    is_all_of_it,
    is_material,
    names_one,
    of_subject,
    standing_alone,
    told_alone,
    told_kinds,
)
from personalq.checkin.reasoning.profiles.traits import PARTED, Trait, things_of, trait

_IS = compile_form("(this|it|they|these)('s|'re| is| are|( comes?| came) in) ", flags=re.IGNORECASE)
_COLOURED = re.compile(r"colou?red\s|[a-z]+[ -]colou?red$", re.IGNORECASE)
_THINK = compile_form(r"^(think|imagine|picture) (?=[\w-]+( [\w-]+)?$)", flags=re.IGNORECASE)
"""Before a word or two that a description opens with: "think navy: a bear"."""
_MADE_OF = compile_form(
    "(made|built|crafted|carved|woven|sewn|knitted|cast|fashioned) (out )?(of|from|in) ",
    flags=re.IGNORECASE,
)
_COVERED = compile_form(
    r"[a-z]+-(covered|coated|plated|clad|lined|trimmed|wrapped)", flags=re.IGNORECASE
)
"""Alone it is said of the subject: "leather-covered"."""
_MOOD = compile_form(
    r"(?<!\w)((looking|looks|feeling|feels) ((quite|very|rather|a bit) )?(?P<how>[\w-]+)|"
    r"(?P<in>[\w-]+) mood)(?!\w)(?! (at|up|for|into|out|over|down|like))",
    flags=re.IGNORECASE,
)
"""How the subject is: "a robot looking shy", "in a shy mood"."""
_IS_DOING = re.compile(
    rf"(?!({'|'.join(sorted(lexicon.words('not_participles')))})$)[a-z]{{3,}}ing"
)
"""Alone it is said of the subject, though it may be a noun: "…, rearing, …" of a horse."""
_COMPOUND = re.compile("[a-z]+(-[a-z]+)+", re.IGNORECASE)
"""The same of adjectives with a hyphen: "…, upside-down"."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Profile:
    """What a card says it is: concepts of everything, of its kind, and its traits.

    Compared by identity, as a key of how wishes fit it: what is kept has one profile for a text.
    """

    everything: frozenset[str]
    kind: frozenset[str]
    """Of the words right around the subject: "tan teddy bear"."""
    nouns: frozenset[str]
    """Stems of the words that name the subject."""
    traits: tuple[Trait, ...]
    shades: frozenset[str] = frozenset()
    """Shades that any of it says, by their first names."""
    own_shades: frozenset[str] = frozenset()
    """Those of the subject itself."""
    called: frozenset[str] = frozenset()
    """Concepts of the colours that the subject itself may be called by."""
    named: frozenset[str] = frozenset()
    """The same where plain names are meant plainly: of "purple" no pink."""
    things: frozenset[str] = frozenset()
    """What its own words name, in one of several words for it: "melting"."""
    stuffs: frozenset[str] = frozenset()
    """What it is made of: "cast iron"."""
    told: frozenset[str] = frozenset()
    """Concepts of what people say of its kind: "folded" of a calzone."""
    told_traits: tuple[Trait, ...] = ()
    """What they say of it, and of the kinds of what it has."""


def _is_quality(word: str) -> bool:
    """Whether a noun says how something is just as well: "glossy"."""
    entry = look_up(word)
    return entry is not None and entry.adjective is not None and thesaurus.is_quality(word)


_pieces = lru_cache(maxsize=16384)(phrases_of)


@lru_cache(maxsize=16384)
def profile(card: Card) -> Profile:
    """The profile of a card's description, subjects and name."""
    name = card.name if card.name != card.checkpoint_id else ""
    return _profile(pieces_of(card), card.subjects, name)


@lru_cache(maxsize=16384)
def pieces_of(card: Card) -> tuple[str, ...]:
    """The phrases of a card's description, as the catalog embeds them."""
    tags = (*card.styles, *card.environments)
    return _pieces(card.description, (card.checkpoint_id, *card.triggers), tags)


@lru_cache(maxsize=16384)
def _profile(pieces: tuple[str, ...], subjects: tuple[str, ...], name: str) -> Profile:
    nouns = {word for subject in subjects for word in canonical(subject).split()}
    main_noun = subjects[0] if subjects else ""
    kind: set[str] = set()
    everything = {concept for text in (name, *subjects) for concept in concepts(text)}
    traits: list[Trait] = []
    shades: set[str] = set()
    own_shades: set[str] = set()
    own_words: set[str] = set()
    things: set[str] = set()
    stuffs: set[str] = set()
    told_traits: list[Trait] = []
    told_of_it: set[str] = set()
    main: Trait | None = None
    coloured: Trait | None = None
    named = False
    colours = bare_colours()
    for piece in itertools.chain.from_iterable(map(PARTED.split, pieces)):
        piece = _THINK.sub("", ALL_OVER.sub("", piece))
        found = trait(piece)
        if found is None:
            continue
        if found.lacks:
            traits.append(found)
            continue
        everything.update(found.concepts)
        shades.update(shades_in(" ".join(found.words)))
        # "a parrot, cobalt", "a cake, coloured cream"
        plain = all(word in colours for word in found.words) or _COLOURED.match(piece) is not None
        plain = plain or (coloured is None and main is not None and is_flavour_named(piece, nouns))
        plain = plain and not (coloured is not None and METALS.issuperset(found.words))
        earlier = main
        if not plain:
            coloured = coloured or (found if colours & set(found.words) else None)
            main = main or found
        told = names_one(nouns, found.words) or _IS.match(piece) is not None
        if told and earlier is not None and is_material(piece, found, nouns):
            told = nature(earlier.noun) not in (Nature.THING, Nature.PERSON)
        named = named or told
        mood = _MOOD.search(piece)
        before = canonical(piece[: mood.start()]) if mood else ""
        other = not told and before not in ("", "a", "an", "in a", "in an")  # "a dog looking sad"
        alone = len(found.words) == 1 and piece.strip().isalpha()  # "…, inflatable" of a canoe
        acts = alone and _IS_DOING.fullmatch(found.noun) is not None
        acts = acts and nature(found.noun) is not Nature.THING  # not "…, bunting" of a tent
        acts = acts or _COMPOUND.fullmatch(piece) is not None
        acts = acts or (alone and _is_quality(found.noun))
        about = told or plain or acts or (nature(found.noun) is Nature.NO_NOUN and not other)
        about = about or (_MADE_OF.match(piece) or _COVERED.fullmatch(piece)) is not None
        if mood and not other:
            kind.update(concepts(mood["how"] or mood["in"]))
            things.update(found.things)
        made = stuffs_in(piece)
        if about or canonical(piece) in made:
            stuffs.update(made)
        whole = f"{piece} {main_noun}" if alone else piece
        for said, own in told_kinds(whole, found, nouns, names_it=told or alone):
            told_traits.append(said)
            told_of_it.update(said.concepts if own else ())
        if about:
            own_words.update(found.words)
            things.update(found.things)
            kind.update(of_subject(piece, found, nouns) if told else without_flavours(found))
            own_shades.update(shades_in(" ".join(found.words)))
        elif is_all_of_it(piece, found, nouns):  # "frame in navy"
            own_words.update(colours & set(found.words))
            kind.update(f"={color}" for color in lexicon.words("colors") & groups_of(found))
            own_shades.update(shades_in(" ".join(found.words)))
        traits.append(found)
    kind -= tastes_of(own_words, kind, nouns, coloured_in(pieces))
    for word, subject in itertools.product(own_words - nouns, subjects):
        things.update(things_of(f"{word} {subject}"))  # of a car that is "estate"
    if COLOURS.isdisjoint(kind):
        for bare in standing_alone(pieces, nouns):
            kind.update(filter(None, (bare_colour(bare),)))
            own_shades.update(shades_in(bare))
    if not named:
        for each in told_alone(pieces, coloured or main):
            own_words.update(each.words)
            kind.update(each.concepts)
            things.update(each.things)
            own_shades.update(shades_in(" ".join(each.words)))
    traits += [found for subject in subjects if (found := trait(subject)) is not None]
    return Profile(
        everything=frozenset(everything),
        kind=frozenset(kind),
        nouns=frozenset(map(stem, nouns)),
        traits=tuple(traits),
        shades=frozenset(shades),
        own_shades=frozenset(own_shades),
        called=frozenset(names_for(NAMED & kind, own_words)),
        named=frozenset(names_for(NAMED & kind, own_words, plainly=True)),
        things=frozenset(things),
        stuffs=frozenset(stuffs),
        told=frozenset(told_of_it),
        told_traits=tuple(told_traits),
    )
