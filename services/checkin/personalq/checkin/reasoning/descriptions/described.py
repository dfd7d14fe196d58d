"""How well cards answer to what a person described.

A described phrase is a unit: a noun with its modifiers ("a crystal ball"), or one adjective before
the subject. A phrase whose noun no candidate has is the scene, not a wish, and its modifiers mean
nothing by themselves ("a double rainbow" is no double-headed snake); unless its words together are
close in meaning to what a card says ("a clay flowerpot" and "a terracotta pot").
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from personalq.checkin import lexicon
from personalq.checkin.cards import Hit
from personalq.checkin.intent import Intent
from personalq.checkin.lexicon import wordnet
from personalq.checkin.lexicon.stems import stem
from personalq.checkin.lexicon.stuffs import is_general
from personalq.checkin.reasoning.colours import NAMED
from personalq.checkin.reasoning.descriptions.alike import by_vectors
from personalq.checkin.reasoning.descriptions.beside_order import of_what_was_meant
from personalq.checkin.reasoning.descriptions.fits import (
    OTHER,
    has_adjective,
    has_phrase,
    in_other_words,
    is_explained,
    is_told_so,
)
from personalq.checkin.reasoning.descriptions.same_trait import BARE, KIN
from personalq.checkin.reasoning.descriptions.wishes import (
    Wish,
    is_bare,
    place_of,
    says_more,
    wishes,
)
from personalq.checkin.reasoning.meaning import compare, probabilities, readings, striking
from personalq.checkin.reasoning.profiles.concepts import shades_in
from personalq.checkin.reasoning.profiles.profile import Profile, profile

VAGUE = 0.5
"""How much a phrase counts that may as well be the scene."""
DECIDES = 5.0
"""Logit of having one described thing, against not having it."""
SURELY = 0.95
"""How likely one card must be meant beside an order, which picks one without it: "the latest happy
goose", "the latest goose swimming"."""
ALIKE_BESIDE = 0.6
"""Likeness of meaning from which on an answer may mean what a card says, when another card, which
may be out of the question, says the very words."""
_PADDING = frozenset(["pet", "toy"])
"""Before a subject they say what it is for, where no card does: "the toy dinosaur"."""


@dataclass(frozen=True, kw_only=True)
class Described:
    """How a card answers to the wishes."""

    weight: float = 0.0
    """Sum over the wishes of how well it has each (0-1)."""
    share: float = 0.0
    """The same as a share of what the wishes could give that tell cards apart."""
    matched: tuple[str, ...] = ()


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


def _by_meaning(
    wish: Wish, hits: Sequence[Hit], profiles: Sequence[Profile], intent: Intent
) -> list[float] | None:
    """How well each card has what was wished for, by its meaning; None where nobody knows."""
    if wish.vague or not wish.said or wish.trait.lacks:  # "no hat" is much like "a hat"
        return None
    if wish.scene and intent.order is not None:
        return None  # "the latest lighthouse, with a rainbow"
    if wish.scene:
        strikes = striking(wish.said, hits)
        return [float(place in strikes) for place in range(len(hits))]
    like = compare(wish.said, hits)
    if like is None:
        return None
    shared = shared_details(profiles)
    told = readings(like, place_of(wish, intent), bare=is_bare(wish), shared=shared)
    meant = probabilities(told, shared)
    if intent.order is not None and (max(meant) < SURELY or intent.order.rank > 1):
        return of_what_was_meant(wish, told, meant, shared, hits, intent.order)
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


def _gains(
    wish: Wish, profiles: Sequence[Profile], meant: Sequence[float] | None, intent: Intent
) -> list[float]:
    """How well each card has what was wished for, 0-1; the best has 1 when words say it."""
    has = has_phrase if wish.phrase else has_adjective
    gains = [0.0 if wish.action else has(wish.trait, card) for card in profiles]
    best = max(gains, default=0.0)
    # Where a card says "blimp", a zeppelin is another; gigantic is no other than enormous.
    said = best >= KIN and any(_names_each(wish.trait.words, card) for card in profiles)
    quality = wordnet.nature(wish.trait.noun) is wordnet.Nature.NO_NOUN
    if not wish.action and (quality or not said):
        told = [in_other_words(wish, card) for card in profiles]
        gains = [max(gain, fit) for gain, fit in zip(gains, told, strict=True)]
        best = max(gains, default=0.0)
    of_kind = not (wish.action or wish.vague or says_more(wish))
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
    alike = by_vectors(wish, profiles, floor=ALIKE_BESIDE if best > 0 else 0.0)
    return [max(gain / (best or 1.0), other) for gain, other in zip(gains, alike, strict=True)]


def _by_kind(wish: Wish, profiles: Sequence[Profile], gains: list[float]) -> list[float]:
    """The gains with what people say of kinds, where that tells some cards from the others."""
    told = [is_told_so(wish, card) for card in profiles]
    if not 0 < sum(1 for fit in told if fit) <= 0.5 * len(told):
        return gains
    return [max(gain, KIN * fit) for gain, fit in zip(gains, told, strict=True)]


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
    said = [
        all(_says(word, card) for word in words) or in_other_words(wish, card) >= KIN
        for card in profiles
    ]
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
