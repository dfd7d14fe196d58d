"""What a word does in a described phrase: it describes, joins others, or ends the phrase."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from personalq.checkin import lexicon
from personalq.checkin.lexicon import wordnet
from personalq.checkin.lexicon.wordnet import look_up
from personalq.checkin.nouns import is_kind_of
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.text import Word

_EMPTY = ("determiners", "empty_adjectives", "selectors", "openers", "links", "prepositions")
_OWNERS = frozenset(["its", "his", "her", "their", "one", "both", "either", "each"])
PARTICIPLES = frozenset(
    ["made", "built", "drawn", "hung", "torn", "worn", "cut", "held", "bent", "lit", "shown",
     "seen", "woven", "sewn", "broken", "frozen", "hidden", "carved", "beat", "burnt", "run",
     "grown", "put", "shot", "spun", "wound", "knit", "hewn", "cast", "dug", "blown", "thrown",
     "bound", "tied", "bitten", "eaten", "stuck", "struck", "sunk", "split", "shorn", "shaven",
     "clad", "strung", "caught", "stung", "swept", "sawn", "dyed"]
)  # fmt: skip
"""Irregular ones."""
_PARTICLES = frozenset(["up", "out", "down", "off"])
_MAKING = frozenset(["from", "out", "of", "into", "in", "with", "by", "together", "up"])
"""Behind "cut", "built", "sewn": it was made so."""
_AUXILIARIES = frozenset(["have", "has", "had", "are", "is", "were", "was", "keep", "keeps"])
_MODALS = frozenset(["can", "could", "will", "would", "should", "shall", "may", "might", "must"])
_ASIDES = frozenset([("you", "know"), ("i", "mean"), ("i", "think"), ("i", "guess")])


def is_particle(words: Sequence[Word], index: int) -> bool:
    """Whether it belongs to the participle before it: "the scratched up guitar"."""
    if not 0 < index < len(words) - 1 or words[index].norm not in _PARTICLES:
        return False
    participle, following = words[index - 1].norm, words[index + 1]
    made = participle in PARTICIPLES or (participle.endswith("ed") and len(participle) > 4)
    closed = ("determiners", "prepositions", "links")
    opens = any(following.norm in lexicon.words(kind) for kind in closed)
    return made and words[index].joined and following.joined and not opens


def is_making(words: Sequence[Word], index: int) -> bool:
    """Whether a participle says how something was made, and ends its noun: "a boat cut from"."""
    following = words[index + 1] if index + 1 < len(words) else None
    if following is None or words[index].norm not in PARTICIPLES:
        return False
    return following.joined and following.norm in _MAKING


def opens_contact(words: Sequence[Word], index: int) -> bool:
    """Whether a clause without "that" begins here: "boots | my father wears", "| birds live in"."""
    clause = [words[index]]
    for word in words[index + 1 :]:
        if not word.joined:
            break
        clause.append(word)
    norms = [word.norm for word in clause]
    if norms[0] in ("my", "his", "her", "their", "our", "the"):
        scene = norms[0] == "the" and not lexicon.words("scenes").isdisjoint(norms[1:3])
        return not scene and any(_is_finite(norm) for norm in norms[2:4])
    if norms[0] in ("a", "an"):  # "the one | a stork family has settled on"
        told = any(norm in _AUXILIARIES for norm in norms[2:5])
        return told and norms[-1] in lexicon.words("prepositions")
    if norms[0] in ("kids", "people", "children", "someone", "somebody", "folks") and norms[1:]:
        return _is_finite(norms[1])
    plural = lexicon.names_thing(norms[0]) and norms[0].endswith("s")
    verbal = len(norms) > 2 and (norms[1] in _AUXILIARIES or norms[1] in lexicon.words("verbs"))
    return plural and verbal and norms[-1] in lexicon.words("prepositions")


def _is_finite(norm: str) -> bool:
    if norm in _AUXILIARIES or (norm in lexicon.verb_forms() and not norm.endswith("ing")):
        return True
    return norm.endswith(("s", "ed")) and len(norm) > 4 and not lexicon.is_adjective_like(norm)


def past_asides(words: Sequence[Word], index: int) -> int:
    """The place behind what only fills a pause: ", you know,"."""
    while tuple(word.norm for word in words[index : index + 2]) in _ASIDES:
        index += 2
    return index


def may_describe(word: Word, draft: Draft) -> bool:
    """Whether a word is unclaimed and pictures something."""
    norm = word.norm
    following = draft.page.words[word.index + 1 : word.index + 2]
    if following and following[0].hyphen and norm == "off":
        return draft.is_free(word)  # "off-white"
    return (
        draft.is_free(word)
        and len(norm) > 1
        and norm[0].isalpha()
        and not any(norm in lexicon.words(kind) for kind in _EMPTY)
    )


def is_adjective(norm: str) -> bool:
    """Whether a word is an adjective that may describe."""
    if norm in lexicon.description_groups():
        return True
    return lexicon.is_adjective_like(norm) and not lexicon.names_thing(norm)


def is_doing(word: Word) -> bool:
    """Whether a word says what goes on in the picture: "sleeping", but not "training"."""
    norm = word.norm
    noun = norm in lexicon.words("selectors") or norm in ("painting", "drawing", "lighting")
    return norm.endswith("ing") and norm in lexicon.verb_forms() and not noun


def is_ing_verb(norm: str) -> bool:
    """Whether a word in "-ing" is a verb WordNet knows: "sharpening", but not "spring"."""
    stem = norm.removesuffix("ing")
    found = (
        [look_up(base) for base in (stem, f"{stem}e", stem[:-1], f"{stem[:-1]}ie")]
        if stem != norm
        else []
    )
    return any(entry is not None and entry.verb is not None for entry in found)


def goes_on(draft: Draft, index: int) -> bool:
    """Whether a verb says where it is done, and so what happens: "it's swimming through a town"."""
    words = draft.page.words
    following = words[index + 1] if index + 1 < len(words) else None
    return (
        following is not None
        and following.joined
        and words[index].norm.endswith("ing")
        and words[index].norm in lexicon.verb_forms()
        and following.norm in lexicon.words("prepositions")
    )


def opens_phrase(draft: Draft, index: int) -> bool:
    """Whether another described thing follows: "a scarf and a hat", not "and running"."""
    words = draft.page.words
    if index >= len(words) or not words[index].joined or not draft.is_free(words[index]):
        return False
    norm = words[index].norm
    following = words[index + 1] if index + 1 < len(words) else None
    if norm.endswith("ing") and following is not None and following.joined:
        return lexicon.names_thing(following.norm)  # "and swimming goggles"
    if norm in ("is", "are", "that", "which", "in", "on") or norm in lexicon.words("bearing"):
        return False
    if following is not None and following.norm in ("it", "him", "her", "them"):
        return False  # "and place it in a storm"
    return norm not in lexicon.verb_forms() or norm in lexicon.description_groups()


def is_worn(draft: Draft, index: int) -> bool:
    """Whether "in" opens clothes or a colour ("in cobalt"), not a place."""
    run: list[str] = []
    for word in draft.page.words[index : index + 5]:
        doing = word.norm.endswith("ing") and word.norm in lexicon.verb_forms()
        doing = doing and not _opens_a_name(draft, word)
        ends = doing or word.norm in lexicon.words("phrase_ends")
        if not word.joined or (run and ends):
            break
        run.append(word.norm)
    said = [norm for norm in run if norm not in lexicon.words("determiners")]
    if len(said) > 1 and said[0] in lexicon.words("tones"):
        said = said[1:]  # "in pale green"
    if said and said[-1] in lexicon.words("scenes") | {"room"}:
        return False  # "in a cosy living room"
    if any(lexicon.is_wearable(norm) for norm in said):
        return True
    groups = lexicon.description_groups()
    if len(said) == 1 and said[0] in lexicon.colors_of_things():
        return True  # "in coral", but not "in coral reefs"
    if groups.get(" ".join(said[:2])) in lexicon.words("colors"):
        return len(said) < 4  # "in forest green"
    coloured = [norm for norm in said if groups.get(norm) in lexicon.words("colors")]
    return bool(coloured) and said[: len(coloured)] == coloured and len(said) <= len(coloured) + 1


def qualifies(word: Word, found: list[Word]) -> bool:
    """Whether a word that may end a phrase is an adjective: "with round ears", "with tiny round
    ears".
    """
    last = found[-1].norm if found else ""
    opens = not found or (is_adjective(last) and not lexicon.names_thing(last))
    return opens and word.norm in lexicon.description_groups()


def is_numeral(word: Word, found: list[Word]) -> bool:
    """Whether a number is part of what something shows: "with number 47"."""
    return bool(found) and word.norm.isdigit()


def only_joins(word: Word) -> bool:
    """Whether a word only joins or counts others: "gears-and-brass", "four-door"."""
    return word.norm in ("and", "or", "of", "n") or word.norm in lexicon.words("determiners")


def is_compounded(draft: Draft, index: int) -> bool:
    """Whether a hyphen joins the word to a neighbour: "see-through"."""
    words = draft.page.words
    after = words[index + 1] if index + 1 < len(words) else None
    hyphen = words[index].hyphen or (after is not None and after.hyphen)
    return hyphen and draft.is_free(words[index])


def acts(draft: Draft, word: Word, found: list[Word]) -> bool:
    """Whether a verb ends the phrase: "a scarf running", not "a foot rest"."""
    norm = word.norm
    thing = bool(found) and (
        not is_adjective(found[-1].norm) or lexicon.names_thing(found[-1].norm)
    )
    if norm.endswith("ing") and (_is_of_clothes(draft, word) or _opens_a_name(draft, word, found)):
        return False  # "leather hiking boots", "a mini swimming pool"
    if norm.endswith("ing") and thing:
        following = draft.page.words[word.index + 1 : word.index + 2]
        if following and following[0].norm in ("a", "an", "the", "his", "her", "its"):
            return True  # "a skipper's hat steering a tugboat"
        if _does_to_several(draft, word):
            return True  # "a medal feeding pigeons"
        placed = following and following[0].joined
        if placed and following[0].norm in ("at", "to", "into", "onto", "for", "on", "in", "with"):
            return True  # "a yellow backpack waving at a train"
    if found and all(w.norm in lexicon.colours() for w in found) and _takes_object(draft, word):
        return True  # "in gray hauling pumpkins"
    if norm not in lexicon.verb_forms() or norm in lexicon.description_groups():
        return False
    if lexicon.names_thing(norm):
        return False
    before = draft.page.words[found[0].index - 1]
    base = norm in lexicon.words("verbs") and not norm.endswith(("ed", "ing"))
    asked = draft.page.words[0].norm in _MODALS  # "could the drum with the rope harness hang"
    return asked or not (base and before.norm in ("a", "an", "the"))


def _opens_a_name(draft: Draft, word: Word, found: Sequence[Word] = ()) -> bool:
    """Whether it is one thing together with the next word, and nobody does it: "a mini | swimming
    pool", not "a cub | drinking water".
    """
    following = draft.page.words[word.index + 1 : word.index + 2]
    joined = bool(following) and following[0].joined
    if not joined or not wordnet.senses(f"{word.norm} {following[0].norm}", said=False):
        return False
    who = found[-1].norm if found else ""
    return wordnet.nature(who) is not wordnet.Nature.PERSON and not is_kind_of(who, "animal")


_DOING_TO_SEVERAL = frozenset((
    "feeding", "eating", "chasing", "juggling", "herding", "catching", "selling", "delivering",
    "picking", "fixing", "building", "baking", "cooking", "washing", "counting", "collecting",
    "chewing", "nibbling", "peeling", "stacking", "sharpening",
))  # fmt: skip


def _does_to_several(draft: Draft, word: Word) -> bool:
    """Whether a word in -ing is done to several: "feeding pigeons", not "building blocks"."""
    following = draft.page.words[word.index + 1 : word.index + 2]
    if word.norm not in _DOING_TO_SEVERAL or not following or not following[0].joined:
        return False
    if word.index and draft.page.words[word.index - 1].norm == "of":
        return False  # "a string of counting beads"
    several = next(wordnet.singulars(following[0].norm), None) is not None
    return several and not opens_compound(draft, word)


def opens_compound(draft: Draft, word: Word) -> bool:
    """Whether it is the first half of a thing's name: "a washing machine"."""
    following = draft.page.words[word.index + 1 : word.index + 2]
    if not following or not following[0].joined:
        return False
    norm = following[0].norm
    return any(look_up(f"{word.norm} {each}") for each in (norm, *wordnet.singulars(norm)))


def _is_of_clothes(draft: Draft, word: Word) -> bool:
    """Whether it says for what clothes are: "hiking boots", not "juggling hats"."""
    following = draft.page.words[word.index + 1 : word.index + 2]
    worn = bool(following) and following[0].joined and lexicon.is_wearable(following[0].norm)
    return worn and word.norm in _DRESSED_FOR


_DRESSED_FOR = frozenset((
    "hiking", "riding", "running", "walking", "skiing", "climbing", "dancing", "swimming",
    "bathing", "fishing", "hunting", "gardening", "racing", "cycling", "boxing", "sailing",
    "rowing", "skating", "flying", "diving", "working", "cooking", "baking", "welding", "training",
    "sleeping", "wedding", "evening", "morning", "graduating", "sewing", "reading", "bowling",
    "camping", "driving", "tracking", "trekking", "surfing", "wrestling", "fencing",
))  # fmt: skip


def _takes_object(draft: Draft, word: Word) -> bool:
    """Whether a word in -ing is done to what follows: "hauling pumpkins", but "blue clothing"."""
    norm, stem = word.norm, word.norm.removesuffix("ing")
    following = draft.page.words[word.index + 1 : word.index + 2]
    closed = lexicon.words("prepositions") | lexicon.words("links")
    if not following or not following[0].joined or following[0].norm in closed:
        return False
    entries = (wordnet.look_up(form) for form in (stem, f"{stem}e", stem[:-1]) if form)
    return stem != norm and any(entry is not None and entry.verb is not None for entry in entries)


def belongs(draft: Draft, index: int) -> bool:
    """Whether what a preposition opens says more of the thing: "around its neck", "of blossoms",
    "at the waist".
    """
    words = draft.page.words
    following = words[index + 1] if index + 1 < len(words) else None
    if following is None or not following.joined or words[index].norm in ("and", "but", "while"):
        return False
    return words[index].norm == "of" or following.norm in _OWNERS or leads_to_side(words, index)


def leads_to_side(words: Sequence[Word], index: int, *, part_only: bool = False) -> bool:
    """Whether a word leads to where on the subject something is: "at the waist", "in left hand".

    Args:
        part_only: whether "on the left", which may be of the picture, is not enough.
    """
    behind = words[index + 1 : index + 5]
    if behind and behind[0].joined and behind[0].norm in ("the", "a", "an", "one"):
        behind = behind[1:]
    said = [word.norm for word in takewhile(lambda word: word.joined, behind)]
    if not words[index].joined or words[index].norm not in _PLACES or not said or "of" in said:
        return False  # "on the left of the picture"
    if said[0] in lexicon.words("parts") or (
        (part := said[1:2]) and part[0] in lexicon.words("parts")
    ):
        return True
    return not part_only and said[0] in lexicon.words("sides")


_PLACES = frozenset((
    "on", "at", "in", "around", "round", "over", "under", "from", "off", "up", "down", "along",
    "across", "above", "below", "behind", "between",
))  # fmt: skip


def is_that(word: Word) -> bool:
    """Whether a word says what the subject is: "the one that's a rocking chair"."""
    return word.norm in ("is", "was") or (word.norm in ("that", "who", "it") and word.possessive)


def is_owner(draft: Draft, index: int) -> bool:
    """Whether the word says whose it is: "of ours"."""
    owners = ("ours", "mine", "yours", "theirs", "hers")
    return index < len(draft.page.words) and draft.page.words[index].norm in owners


_NEARBY = frozenset(["beside", "behind", "next", "outside", "inside", "above", "below", "nearby"])


def is_of_the_scene(words: Sequence[Word], index: int) -> bool:
    """Whether what is told behind a comma stands near the subject, or is somebody's: "with a taxi
    beside it", "whose owner wears a hat".
    """
    run = [*takewhile(lambda word: word.joined, words[index + 1 :])]
    person = (
        bool(run)
        and words[index].norm == "whose"
        and wordnet.nature(run[0].norm) is wordnet.Nature.PERSON
    )
    return person or any(word.norm in _NEARBY for word in run)
