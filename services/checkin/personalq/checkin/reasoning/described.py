"""How well cards answer to what a person described.

A described phrase is a unit: a noun with its modifiers ("a crystal ball"), or one adjective before
the subject. A phrase whose noun no candidate has is the scene, not a wish, and its modifiers mean
nothing by themselves ("a double rainbow" is no double-headed snake); unless its words together are
close in meaning to what a card says ("a clay flowerpot" and "a terracotta pot").
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from personalq.checkin import lexicon
from personalq.checkin.cards import Hit
from personalq.checkin.intent import Attribute, Constraint, Intent
from personalq.checkin.lexicon import wordnet
from personalq.checkin.lexicon.stems import stem
from personalq.checkin.lexicon.stuffs import is_a, is_general, may_be, stuffs_in
from personalq.checkin.lexicon.vectors import likeness
from personalq.checkin.nouns import is_kind_of
from personalq.checkin.reasoning.colours import NAMED
from personalq.checkin.reasoning.describe import (
    Profile,
    Trait,
    concepts,
    profile,
    shades_in,
    things_of,
    trait,
    worded_concepts,
)
from personalq.checkin.reasoning.meaning import (
    Meant,
    Place,
    compare,
    probabilities,
    readings,
    striking,
)
from personalq.checkin.reasoning.order import in_order

BARE = 0.55
"""How much the noun alone counts when the person also said what it is like."""
ELSEWHERE = 0.5
"""How much an adjective counts that the card says of something else than the subject."""
OTHER = 0.5
"""How much it counts that a card has another thing of the kind, where one has the very thing."""
ELSEWHERE_ON_IT = 0.95
"""How much it counts where a card does not say that it is there: "a bell around its neck"."""
UNTOLD = 0.5
"""How much it counts where a card does not say that it lacks what was said to be missing."""
KIN = 0.9
"""How much a noun counts that is of the same kind in WordNet, or only spelled alike."""
WIDER = 0.6
"""How much a noun counts that only says of what kind the wanted one is: "cap", of a mortarboard."""
MAX_PHRASES = 8
"""Phrases a catalog compares in one search."""
LONGEST_PHRASE = 200
"""Characters of the longest of them."""
VAGUE = 0.5
"""How much a phrase counts that may as well be the scene."""
DECIDES = 5.0
"""Logit of having one described thing, against not having it."""
SURELY = 0.95
"""How likely one card must be meant beside an order, which picks one without it: "the latest happy
goose", "the latest goose swimming"."""
SURELY_SHARED = 0.98
"""The same of all the cards that share a detail: "the latest with a throw"."""
ALONE = 3.0
"""Logit by which it is less likely beside an order that one card alone is meant: who says "the
latest happy goose" speaks of several."""
SCENE = 1.0
"""Logit by which it is likelier there that nobody is told apart: "the latest goose swimming"."""
ALIKE_PHRASE = 0.40
ALIKE_WORD = 0.55
"""Likeness of meaning from which on a phrase, or a single word, may mean what a card says."""
ALIKE_REST = 0.15
"""What two phrases that share a word must be alike in without it."""
ALIKE_BESIDE = 0.6
"""The same for an answer, when a card that may be out of the question says the very words."""
_PADDING = frozenset(["pet", "toy"])
"""Before a subject they say what it is for, where no card does: "the toy dinosaur"."""
SPREAD = 0.12
"""Below the likeliest card's likeness by this much, a card does not have it."""


@dataclass(frozen=True, kw_only=True)
class Described:
    """How a card answers to the wishes."""

    weight: float = 0.0
    """Sum over the wishes of how well it has each (0-1)."""
    share: float = 0.0
    """The same as a share of what the wishes could give that tell cards apart."""
    matched: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Wish:
    """One thing the person described."""

    trait: Trait
    text: str
    phrase: bool
    """A noun with its modifiers; else an adjective of the subject."""
    vague: bool = False
    """It may as well be the scene."""
    answer: bool = False
    """It answers a question."""
    said: tuple[str, ...] = ()
    """As what it is compared by meaning; the likest counts."""
    part: float = 1.0
    """Its share of what is said there: two adjectives mean something together, once."""
    action: bool = False
    """Only its meaning tells."""
    scene: bool = False
    """It was left for the picture."""
    before: bool = False
    """It stands right before the subject."""
    placed: bool = False
    """It stands where a scene may be told, or tells a look: "in birthday headgear", "under an
    umbrella", "drawn with a nib".
    """


def wishes(intent: Intent) -> tuple[Wish, ...]:
    """What was described, each once."""
    found: dict[tuple[str, ...], Wish] = {}
    for constraint in intent.all(Attribute.DESCRIPTION):
        if constraint.hard:
            continue
        look = any(_are_same_words(constraint, other) for other in intent.all(Attribute.STYLE))
        for wish in _wishes(constraint):
            told = replace(wish, before=constraint.leads, placed=wish.placed or look)
            found.setdefault(wish.trait.concepts, told)
    return tuple(found.values())


def _are_same_words(one: Constraint, other: Constraint) -> bool:
    return one.span is not None and other.span is not None and one.span.meets(other.span)


def _wishes(constraint: Constraint) -> list[Wish]:
    whole = trait(" ".join(constraint.values))
    if whole is None:
        return []
    if constraint.phrase and not _is_adjective(constraint):
        said = trait(constraint.text) or whole
        return [
            Wish(
                trait=said,
                text=constraint.text,
                phrase=True,
                vague=constraint.coarse,
                answer=constraint.span is None,
                said=constraint.said or (constraint.text,),
                placed=not constraint.said,
                action=constraint.action,
                scene=constraint.scene,
            )
        ]
    singles = []
    # With its numbers, "three-legged", and with the subject, "computer chair".
    things = {**things_of(constraint.text), **things_of(" ".join(constraint.values))}
    worded = _telling(worded_concepts(" ".join(constraint.values)))
    for concept, text in worded:
        single = Trait(
            words=tuple(text.split()),
            concepts=(concept,),
            head=concept,
            noun=text,
            things={thing: of for thing, of in things.items() if concept in of},
        )
        singles.append(
            Wish(
                trait=single,
                text=text,
                phrase=False,
                vague=constraint.coarse,
                answer=constraint.span is None,
                said=constraint.said,
                part=1 / len(worded),
            )
        )
    return singles


def _is_adjective(constraint: Constraint) -> bool:
    """Whether it is no noun after all: "the timid, cartoon robot"."""
    word = constraint.values[0]
    plain = len(constraint.values) == 1 and constraint.text.casefold() == word
    no_noun = wordnet.nature(word) is wordnet.Nature.NO_NOUN and not lexicon.is_wearable(word)
    return plain and no_noun  # "in the waterproof" it is one


def _telling(worded: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
    """Those that tell something by themselves: not "rich" of "rich red", nor "egg-shaped"'s end."""
    colours = lexicon.words("colors")
    ends, empty = lexicon.words("compound_ends"), lexicon.words("intensities")
    following = [concept.removeprefix("=") for concept, _ in worded[1:]] + [""]
    return [
        (concept, text)
        for place, (concept, text) in enumerate(worded)
        if not (place and text in ends) and not (text in empty and following[place] in colours)
    ]


def spoken(intent: Intent) -> tuple[str, ...]:
    """What a catalog is asked to compare with the phrases of its cards."""
    told = [said for wish in wishes(intent) if not wish.vague for said in wish.said]
    return tuple(said for said in dict.fromkeys(told) if len(said) <= LONGEST_PHRASE)[:MAX_PHRASES]


def answers(intent: Intent, hits: Sequence[Hit]) -> tuple[Described, ...]:
    """How each card answers to what the person described."""
    wanted = wishes(intent)
    profiles = [profile(hit.card) for hit in hits] if wanted else []
    weights = [0.0] * len(hits)
    matched: list[list[str]] = [[] for _ in hits]
    possible = 0.0
    for wish in wanted:
        if wish.before and wish.text in _PADDING and not is_explained(wish, hits):
            continue
        if wish.vague and wish.scene and intent.order is not None:
            continue  # "my most used cake with fireworks overhead"
        gains = _gains(wish, profiles, _by_meaning(wish, hits, profiles, intent), intent)
        if not any(gains):
            continue
        possible += 1.0
        for index, gain in enumerate(gains):
            weights[index] += gain
            if gain >= 0.5 * max(gains):
                matched[index].append(wish.text)
    return tuple(
        Described(weight=w, share=w / possible if possible else 0.0, matched=tuple(m))
        for w, m in zip(weights, matched, strict=True)
    )


def is_explained(wish: Wish, hits: Sequence[Hit]) -> bool:
    """Whether a card says so in words, so that meaning need not tell."""
    has = _has_phrase if wish.phrase else _has_adjective
    cards = [profile(hit.card) for hit in hits]
    fits = (max(has(wish.trait, card), _in_other_words(wish, card)) for card in cards)
    return not wish.action and any(fit >= KIN for fit in fits)


def fit(wish: Wish, card: Profile) -> float:
    """How well a card has what was wished for, 0-1, by words alone."""
    has = _has_phrase if wish.phrase else _has_adjective
    return max(has(wish.trait, card), _in_other_words(wish, card), _is_told_so(wish, card))


def says(constraint: Constraint, card: Profile) -> bool:
    """Whether a card has in words all that a description asks for."""
    fits = _fits(constraint, card)
    return bool(fits) and min(fits) >= KIN


def share(constraint: Constraint, card: Profile) -> float:
    """How much of what a description asks for a card has in words, 0-1."""
    fits = _fits(constraint, card)
    return sum(fits) / len(fits) if fits else 0.0


def _fits(constraint: Constraint, card: Profile) -> list[float]:
    """How well a card has each wish of a description, also of one that must hold."""
    told = wishes(Intent(constraints=(replace(constraint, hard=False),)))
    return [fit(wish, card) for wish in told]


def says_all(intent: Intent, hit: Hit, *, besides: Sequence[Hit]) -> bool:
    """Whether a card has in words what an answer described, and what any of some others has.

    Args:
        besides: cards that may be meant instead.
    """
    return all(
        wish.action or is_explained(wish, [hit]) or not (wish.answer or is_explained(wish, besides))
        for wish in wishes(intent)
    )


def _by_meaning(
    wish: Wish, hits: Sequence[Hit], profiles: Sequence[Profile], intent: Intent
) -> list[float] | None:
    """How well each card has what was wished for, by its meaning; None where nobody knows."""
    if wish.vague or not wish.said or wish.trait.lacks:  # "no hat" is much like "a hat"
        return None
    if wish.scene:
        strikes = striking(wish.said, hits)
        return [float(place == strikes) for place in range(len(hits))]
    like = compare(wish.said, hits)
    if like is None:
        return None
    shared = shared_details(profiles)
    told = readings(like, place_of(wish, intent), bare=is_bare(wish), shared=shared)
    meant = probabilities(told, shared)
    if intent.order is not None and (max(meant) < SURELY or intent.order.rank > 1):
        return _beside_order(wish, told, meant, shared, hits, intent.order)
    # What one description can settle is bounded from below: the likeliest must stay apart.
    likeliest = max(meant)
    logits = [wish.part * math.log(each / likeliest) / DECIDES for each in meant]
    most = min(1.0, -min(logits))
    return [max(0.0, most + logit) for logit in logits]


def shared_details(profiles: Sequence[Profile]) -> tuple[tuple[int, ...], ...]:
    """The places of the cards of each detail that several have, but at most half of them."""
    having: dict[str, list[int]] = {}
    for place, card in enumerate(profiles):
        for concept in {concept for said in card.traits for concept in said.concepts}:
            having.setdefault(concept, []).append(place)
    found = {tuple(places) for places in having.values()}
    return tuple(sorted(places for places in found if 1 < len(places) <= 0.5 * len(profiles)))


def _of_a_detail(meant: Sequence[float], shared: Sequence[Sequence[int]]) -> list[float]:
    """1 for the cards that share the detail which was surely meant: "the latest with a throw"."""
    sure = (places for places in shared if sum(meant[at] for at in places) >= SURELY_SHARED)
    fewest = min(sure, key=len, default=())
    return [float(place in fewest) for place in range(len(meant))]


def _beside_order(
    wish: Wish,
    told: Meant,
    meant: Sequence[float],
    shared: Sequence[Sequence[int]],
    hits: Sequence[Hit],
    order: Constraint,
) -> list[float]:
    """1 for the cards of what was meant beside an order; of what may be the scene only if surely.

    Args:
        told: the readings of the wish.
        meant: how likely each card is by them.
    """
    vague = wish.action or is_bare(wish)  # "the latest tree, with owls"
    enough = [places for places in shared if len(places) >= order.rank]
    sure = [0.0] * len(hits) if vague else _of_a_detail(meant, enough)
    goes_on = wish.action and wish.text.partition(" ")[0].endswith("ing")  # "eating ice cream"
    if any(sure) or wish.placed or goes_on:
        return sure
    return _likeliest_in_order(told, shared, hits, order)


def _likeliest_in_order(
    told: Meant, shared: Sequence[Sequence[int]], hits: Sequence[Hit], order: Constraint
) -> list[float]:
    """1 for the cards of the likeliest reading beside an order: "the latest with a throw".

    Each reading leads to one card, the one at the place in order of those it means. Those that
    lead to the same card speak for it together; of too few cards nothing is third.
    """
    everybody = range(len(hits))
    means: list[tuple[Sequence[int], float]] = [
        ((place,), likely * math.exp(-ALONE)) for place, likely in enumerate(told.one)
    ]
    means += zip(shared, told.several, strict=True)
    means.append((everybody, told.nobody * math.exp(SCENE)))
    leads: dict[int, list[tuple[float, Sequence[int]]]] = {}
    ordered = in_order(everybody, order.order, lambda place: hits[place].card)
    for places, likely in means:
        queue = [place for place in ordered if place in places]
        if len(queue) >= order.rank:
            leads.setdefault(queue[max(order.rank, 1) - 1], []).append((likely, places))
    if not leads:
        return [0.0] * len(hits)
    chosen = max(leads.values(), key=lambda each: sum(likely for likely, _ in each))
    _, places = max(chosen, key=lambda each: each[0])
    return [float(place in places and places is not everybody) for place in everybody]


def is_bare(wish: Wish) -> bool:
    """Whether it is one or two words behind the subject."""
    return wish.phrase and not wish.before and max(len(s.split()) for s in wish.said) < 3


def place_of(wish: Wish, intent: Intent) -> Place:
    """Where it stands."""
    if wish.answer and intent.answered:
        return Place.ANSWER
    if wish.action:
        return Place.DOES
    behind = (wish.phrase and not wish.before) or wish.answer
    return Place.BEHIND if behind else Place.BEFORE


def _gains(
    wish: Wish, profiles: Sequence[Profile], meant: Sequence[float] | None, intent: Intent
) -> list[float]:
    """How well each card has what was wished for, 0-1; the best has 1 when words say it."""
    has = _has_phrase if wish.phrase else _has_adjective
    gains = [0.0 if wish.action else has(wish.trait, card) for card in profiles]
    best = max(gains, default=0.0)
    if best < KIN and not wish.action:  # where a card says "blimp", a zeppelin is another
        told = [_in_other_words(wish, card) for card in profiles]
        gains = [max(gain, fit) for gain, fit in zip(gains, told, strict=True)]
        best = max(gains, default=0.0)
    of_kind = not (wish.action or wish.vague or _says_more(wish))
    if best < (BARE if wish.phrase else KIN) and of_kind:
        gains = _by_kind(wish, profiles, gains)
        best = max(gains, default=0.0)
    if best == 0 and NAMED.issuperset(wish.trait.concepts):
        asked = wish.trait.concepts  # "white", of cream
        gains = [KIN * (not card.called.isdisjoint(asked)) for card in profiles]
        best = max(gains, default=0.0)
    if best >= KIN:
        gains = list(_by_very_words(wish, profiles, gains, colours=intent.order is None))
    if meant is not None:
        if best >= KIN:
            return [gain / best for gain in gains]
        if best == 0:
            return list(meant)
        told = [gain + like for gain, like in zip(gains, meant, strict=True)]
        return [each / max(told) for each in told]
    if wish.action:
        return gains
    if wish.vague and wish.phrase and not intent.answered:
        return [VAGUE * gain for gain in gains]
    if wish.vague or (best > 0 and not (wish.phrase and intent.answered)):
        return [gain / best for gain in gains] if best > 0 else gains
    alike = _alike(wish, profiles, floor=ALIKE_BESIDE if best > 0 else 0.0)
    return [max(gain / (best or 1.0), other) for gain, other in zip(gains, alike, strict=True)]


def _says_more(wish: Wish) -> bool:
    """Whether a clause says more than its one word: "that is eating | a cookie"."""
    told = [found for each in wish.said if (found := trait(each)) is not None]
    clause = not (wish.phrase or wish.before)
    return clause and any(len(each.concepts) > len(wish.trait.concepts) for each in told)


def _in_other_words(wish: Wish, card: Profile) -> float:
    """How well a card has what was wished for by another word for the same thing."""
    if wish.trait.lacks:
        return 0.0
    shown = [each for each in card.traits if not each.lacks]
    if wish.phrase:
        return max((_same_thing(wish.trait, each) for each in shown), default=0.0)
    if not card.things.isdisjoint(wish.trait.things):
        return 1.0
    said = any(not each.things.keys().isdisjoint(wish.trait.things) for each in shown)
    return ELSEWHERE if said else 0.0


def _by_kind(wish: Wish, profiles: Sequence[Profile], gains: list[float]) -> list[float]:
    """The same with what people say of kinds, where that tells some cards from the others."""
    told = [_is_told_so(wish, card) for card in profiles]
    if not 0 < sum(1 for fit in told if fit) <= 0.5 * len(told):
        return gains
    return [max(gain, KIN * fit) for gain, fit in zip(gains, told, strict=True)]


def _is_told_so(wish: Wish, card: Profile) -> float:
    """How well a wish is what people say of the card's kind, or of a kind of what it has."""
    wanted = wish.trait
    if not wish.phrase:
        return float(wanted.head in card.told)
    said = (
        each
        for each in card.told_traits
        if (wanted.head == each.head or _kin(wanted.noun, each.noun))
        and (each.modifiers == () or set(wanted.concepts) & set(each.modifiers))
    )
    return max((_fit(wanted, each, card) for each in said), default=0.0)


def _by_very_words(
    wish: Wish, profiles: Sequence[Profile], gains: Sequence[float], *, colours: bool
) -> Sequence[float]:
    """Where a card says "fedora", a bowler is another hat, though "a hat" may be either.

    Args:
        colours: whether that is so of any colour; "the second newest ginger cat" is of all orange
            ones, but "the newest mint one" of no other green.
    """
    groups = lexicon.description_groups()
    words = [word for word in wish.trait.words if groups.get(word, word) != word]
    words = [word for word in words if colours or word not in lexicon.colours()]
    best = max(gains)
    said = [all(_says(word, card) for word in words) for card in profiles]
    if not words and (general := [word for word in wish.trait.words if is_general(word)]):
        words, said = general, [_names_each(general, card) for card in profiles]
    if shade := shades_in(" ".join(wish.trait.words)):
        told = [card.shades if wish.phrase else card.own_shades for card in profiles]
        words, said = list(shade), [shade <= shown for shown in told]
    if not words or not any(has and gain == best for has, gain in zip(said, gains, strict=True)):
        return gains
    return [gain if has else OTHER * gain for has, gain in zip(said, gains, strict=True)]


def _says(word: str, card: Profile) -> bool:
    """Whether a card says a word, or another for the very same thing: "specs", "spectacles"."""
    own = set(wordnet.senses(word, said=False))
    return any(
        stem(word) == stem(other) or not own or bool(own & set(wordnet.senses(other, said=False)))
        for found in card.traits
        for other in found.words
        if lexicon.description_groups().get(other) == lexicon.description_groups().get(word)
    )


def _names_each(words: Sequence[str], card: Profile) -> bool:
    """Whether a card has each of the very words: leather, where suede is leather too."""
    return all(any(stem(word) in each.spelled for each in card.traits) for word in words)


def _has_adjective(wanted: Trait, card: Profile) -> float:
    named = " ".join(wanted.words)
    colour = lexicon.colors_of_things().get(wanted.noun) if len(wanted.words) == 1 else None
    if colour is not None and f"={colour}" in card.kind:  # "a cinnamon hedgehog"
        return 1.0 if any(wanted.noun in said.words for said in card.traits) else OTHER
    if (
        stuffs_in(named) == {named}
        and card.stuffs
        and not any(may_be(stuff, named) for stuff in card.stuffs)
    ):
        return ELSEWHERE if wanted.head in card.everything else 0.0  # steel, for aluminium
    if wanted.head in card.kind or card.own_shades & shades_in(" ".join(wanted.words)):
        return 1.0
    if is_general(named) and any(is_a(stuff, named) for stuff in card.stuffs):
        return 1.0
    if any(named in said.words and stem(said.noun) in card.nouns for said in card.traits):
        return 1.0  # "top" of a top hat
    if wanted.head in card.everything:
        return ELSEWHERE
    if lexicon.names_thing(wanted.noun) and any(
        stem(word) != stem(said.noun) and is_kind_of(word, wanted.noun)
        for said in card.traits
        if stem(said.noun) in card.nouns
        for word in said.words
    ):
        return KIN  # "a bird plushie", a penguin
    absent = trait(f"no {thing}") if (thing := lexicon.lacked(wanted.noun)) else None
    return _lacks(absent, card) if absent else 0.0


def _has_phrase(wanted: Trait, card: Profile) -> float:
    if not wanted.lacks:
        if _is_clad(wanted, card):
            return 1.0
        told = (said for said in card.traits if not said.lacks)
        return max((_fit(wanted, said, card) for said in told), default=0.0)
    found = _lacks(wanted, card)
    if found > 0:
        return found
    shown = (said for said in card.traits if not said.lacks)  # "no hat": who has none says nothing
    return UNTOLD if all(_fit(wanted, said, card) < BARE for said in shown) else 0.0


def _is_clad(wanted: Trait, card: Profile) -> bool:
    """Whether it is dressed in a colour: "in purple clothes", of a pirate dressed in plum."""
    colours = NAMED.intersection(wanted.modifiers)
    clothes = wanted.noun in lexicon.words("clothing")
    return clothes and bool(colours) and colours <= card.kind


def _lacks(wanted: Trait, card: Profile) -> float:
    """How well a card says that it has not got a thing: "no fur", "hairless"."""
    if any(_is_without(word, wanted) for said in card.traits for word in said.words):
        return 1.0
    told = [said for said in card.traits if said.lacks]
    if any(set(said.concepts) <= set(wanted.concepts) for said in told):
        return 1.0  # what has no buttons has no selector buttons
    return max((_fit(wanted, said, card) for said in told), default=0.0)


def _is_without(word: str, wanted: Trait) -> bool:
    thing = lexicon.lacked(word)
    alike = concepts(word) == concepts(f"{wanted.noun}less")  # "hairless", "no fur"
    return bool(thing) and (alike or concepts(thing) == (wanted.head,) or _kin(thing, wanted.noun))


def _fit(wanted: Trait, said: Trait, card: Profile) -> float:
    """How well a card's phrase is the wanted one: the noun decides, modifiers tell apart."""
    nouns = card.nouns
    if len(wanted.words) > 1 and stem("".join(wanted.words[-2:])) in said.spelled:
        before = concepts(" ".join(wanted.words[:-2]))  # "deck chair", "deckchair"
        told = card.kind if stem(said.noun) in nouns else frozenset[str]()
        shared = sum(concept in said.concepts or concept in told for concept in before)
        return BARE + (1 - BARE) * shared / len(before) if before else 1.0
    if len(wanted.words) > 1 and stem(wanted.noun) in nouns:  # every horse is a horse
        own = float(wanted.head in said.concepts)  # "baby horse", "foal"
        shared = sum(
            concept in said.concepts
            or any(thing in said.things and concept in of for thing, of in wanted.things.items())
            for concept in wanted.modifiers
        )
        return shared / len(wanted.modifiers) if wanted.modifiers else own
    if wanted.head in said.concepts and not _only_tints(wanted, said):
        noun = 1.0
    elif wanted.noun in lexicon.words("clothing") and lexicon.is_wearable(said.noun):
        noun = KIN  # "blue clothing", "a navy raincoat"
    elif stem(wanted.noun) in said.spelled or (
        stem(said.noun) not in nouns
        and (_ends_alike(wanted.noun, said.noun) or _kin(wanted.noun, said.noun))
    ):
        noun = WIDER if _is_wider(said.noun, wanted.noun) else KIN
    elif _who_does(wanted.noun) & said.spelled:
        noun = KIN  # "for golfers", a golf umbrella
    else:
        return 0.0
    if wanted.where and not _is_there(wanted, said):
        noun *= BARE if said.where else ELSEWHERE_ON_IT
    if not wanted.modifiers:
        whole = wanted.head in said.concepts or len(wanted.words) == 1
        return noun if whole else noun * BARE  # "sailor cap", "shower cap"
    shared = sum(
        concept in said.concepts or _is_told(concept, wanted, said) for concept in wanted.modifiers
    )
    return noun * (BARE + (1 - BARE) * shared / len(wanted.modifiers))


@lru_cache(maxsize=16384)
def _who_does(noun: str) -> frozenset[str]:
    """The stems of what somebody does or uses: "golf" of "golfers"."""
    single = wordnet.base(noun)
    if not single.endswith("er") or wordnet.nature(single) is not wordnet.Nature.PERSON:
        return frozenset()
    done = {stem(single.removesuffix("er")), stem(f"{single.removesuffix('er')}ing")}
    told = " ".join(map(wordnet.definition, wordnet.senses(single, said=False)))
    return frozenset(done & {stem(word) for word in told.replace(",", " ").split()})


def _same_thing(wanted: Trait, said: Trait) -> float:
    """How well a phrase fits that names the wanted thing in other words."""
    for thing, covered in wanted.things.items():
        if thing in said.things and wanted.head in covered:
            rest = [c for c in wanted.concepts if c not in covered and c not in wanted.where]
            shared = sum(concept in said.concepts for concept in rest)
            there = not wanted.where or _is_there(wanted, said)
            fit = BARE + (1 - BARE) * shared / len(rest) if rest else 1.0
            return fit if there else fit * (BARE if said.where else ELSEWHERE_ON_IT)
    return 0.0


_SIDES = frozenset(["left", "right", "front", "=back", "top", "bottom"])


def _is_there(wanted: Trait, said: Trait) -> bool:
    """Whether a thing is where it was said to be: on the left hip, not on the right one."""
    sides = _SIDES.intersection(wanted.where)
    told = _SIDES.intersection(said.where)
    if sides and told and sides.isdisjoint(told):
        return False
    return any(
        other in (place, stem(f"{place}line"))  # "neck", "neckline"
        for other in said.concepts
        for place in wanted.where
    )


def _is_told(concept: str, wanted: Trait, said: Trait) -> bool:
    """Whether a modifier is told in another word for it: "a cab sign", "a taxi sign"."""
    if any(thing in said.things and concept in of for thing, of in wanted.things.items()):
        return True
    return any(
        _kin(word, other) for word in wanted.words if stem(word) == concept for other in said.words
    )


def _only_tints(wanted: Trait, said: Trait) -> bool:
    """Whether several things share no more than a colour: "coffees", "a brown desk"."""
    if not wanted.head.startswith("=") or wanted.head[1:] not in lexicon.words("colors"):
        return False
    several = next(wordnet.singulars(wanted.noun), None) is not None
    return several and stem(wanted.noun) not in said.spelled


def _ends_alike(one: str, other: str) -> bool:
    """Whether a compound ends in the other word: "headlights", "lights"."""
    short, long = sorted((stem(one), stem(other)), key=len)
    return len(short) > 4 and long.endswith(short)


@lru_cache(maxsize=16384)
def _kin(one: str, other: str) -> bool:
    """Whether one noun is a kind of the other ("mortarboard", "cap")."""
    first, second = wordnet.senses(one), wordnet.senses(other)
    if not first or not second:
        return False
    above_first = {n for sense in first for n in wordnet.above(sense)[:2]}
    above_second = {n for sense in second for n in wordnet.above(sense)[:2]}
    return bool(above_first & set(second)) or bool(above_second & set(first))


@lru_cache(maxsize=16384)
def _is_wider(one: str, other: str) -> bool:
    """Whether the first of two kin nouns is the more general."""
    first = set(wordnet.senses(one))
    above_second = {n for sense in wordnet.senses(other) for n in wordnet.above(sense)[1:2]}
    return not first & set(wordnet.senses(other)) and bool(above_second & first)


def _alike(wish: Wish, profiles: Sequence[Profile], *, floor: float) -> list[float]:
    """By likeness of meaning; colours and other adjectives of the lists are known not to fit."""
    groups, colors = lexicon.description_groups(), lexicon.words("colors")
    listed = colors if wish.phrase else frozenset(groups.values())
    words = tuple(word for word in wish.trait.words if groups.get(word) not in listed)
    if not words or (wish.phrase and wish.trait.noun not in words):
        return [0.0] * len(profiles)
    common = _common(profiles)
    found = [
        max((_likeness(words, said) for said in _comparable(wish, card, common)), default=0.0)
        for card in profiles
    ]
    top = max(found, default=0.0)
    floor = max(floor, ALIKE_PHRASE if wish.phrase else ALIKE_WORD)
    if top < floor:
        return [0.0] * len(profiles)
    strength = min(1.0, 0.5 + (top - floor) / 0.2)
    return [strength * max(0.0, 1 - (top - value) / SPREAD) for value in found]


def _likeness(words: tuple[str, ...], said: tuple[str, ...]) -> float:
    """Likeness of two phrases; words both have are no evidence when the rest is unlike."""
    own = tuple(word for word in words if word not in said)
    rest = tuple(word for word in said if word not in words)
    if 0 < len(own) < len(words) and likeness(own, rest) < ALIKE_REST:
        return 0.0
    return likeness(words, said)


def _comparable(wish: Wish, card: Profile, common: frozenset[Trait]) -> Iterator[tuple[str, ...]]:
    """Words of a card to compare with: the subject's own only when the wish is about it."""
    whole = stem(wish.trait.noun) in card.nouns
    for said in card.traits:
        if said in common or said.lacks != wish.trait.lacks:
            continue
        words = tuple(w for w in said.words if whole or stem(w) not in card.nouns)
        if wish.phrase:
            words = tuple(w for w in words if w not in lexicon.colours() and w != "sky")
            if words:  # the sky of "sky-blue" is like no cloud
                yield words
        else:
            yield from ((word,) for word in words)


def _common(profiles: Sequence[Profile]) -> frozenset[Trait]:
    """Traits most cards share: they tell nobody apart."""
    counts = Counter(said for card in profiles for said in set(card.traits))
    return frozenset(said for said, count in counts.items() if count > 0.5 * len(profiles) > 0.5)
