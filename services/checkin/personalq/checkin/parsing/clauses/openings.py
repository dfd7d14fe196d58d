"""What a clause begins with that tells what the subject is like, does, or is for."""

from __future__ import annotations

import itertools

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.lexicon.wordnet import Nature, look_up, nature
from personalq.checkin.parsing.clauses.participles import (
    is_all_it_does,
    is_done_off,
    is_on_itself,
    is_only_noun,
    tells_how,
)
from personalq.checkin.parsing.clauses.reach import clause_from
from personalq.checkin.parsing.clauses.which_one import tells_apart
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.word_roles import PARTICIPLES, is_ing_verb, opens_contact

_TELLING = frozenset(
    ["got", "that", "which", "who", "whose", "where", "somebody", "someone", "some", "shaped",
     "like", "resembling", "you",
     "without", "lacking"]
)  # fmt: skip
"""Open a clause that says what the subject is like."""
_FORM = ("shape", "form", "guise", "likeness")
"""Of "in the shape of a skull"."""
_SIZE_OR_END = frozenset(["size", "and", "with", "on", "at", "same", "right", "original"])
"""A size, what a clause goes on with, and sizes of nothing."""
_PASSING_FOR = frozenset(["serving", "acting", "working", "posing", "masquerading"])
_LEAD_TO_WHICH = frozenset(["on", "in", "from", "of", "over", "under", "through", "around"])
"""Before "which" they lead to what became of the subject."""
_NO_PLACE = frozenset((
    "of", "with", "by", "as", "like", "to", "from", "out", "up", "for", "without", "through",
    "into",
))  # fmt: skip
_FOR_WHOM = frozenset(
    ["friend", "friends", "client", "boss", "mum", "mom", "dad", "wife", "husband", "fan", "fans",
     "kids", "customer", "customers"]
)  # fmt: skip
"""Who gets the picture, not who uses what it shows."""
_RESEMBLANCE = compile_form(
    "(just )?((like|the way|as) ((it|he|she|they|you|one|people)('d| would| might|"
    " could)? (be )?(looks?|appears?|sees?|finds?|drawn|shown|seen|know) )?|like something |"
    r"(straight|right) out |as (seen|shown|drawn|pictured) )(in|from|on|of|out of)(?!\w) "
)
"""Before what a picture resembles as a whole: "the way it would look in an atlas"."""
_OF_THE_PICTURE = frozenset((
    "printing", "posting", "sharing", "using", "showing", "framing", "making", "generating",
    "drawing", "painting", "rendering", "illustrating", "advertising", "selling", "testing",
    "training", "publishing", "editing", "decorating", "putting", "trying", "celebrating",
    "sending", "presenting", "promoting", "marketing", "wrapping", "hanging",
))  # fmt: skip
"""What is done with a picture, or to make it: "use the one for printing"."""
_MEDIA = frozenset((
    "mug", "mugs", "tattoo", "tattoos", "card", "cards", "video", "videos", "demo", "badge",
    "poster", "posters", "print", "prints", "cover", "covers", "sticker", "stickers", "shirt",
    "shirts", "calendar", "slides", "slide", "deck", "story", "stories", "book", "website", "site",
    "blog", "shop", "catalog", "banner", "logo", "icon", "icons", "avatar", "wallpaper", "poll",
    "production", "work", "home", "now", "today", "tomorrow", "tonight", "tests", "test", "use",
    "reference", "comparison", "inspiration", "fun", "christmas", "easter", "halloween", "sale",
    "pictures", "picture", "images", "image", "photos", "photo", "portraits", "portrait", "scenes",
    "spring", "summer", "autumn", "fall", "winter", "release", "launch", "clients", "customers",
))  # fmt: skip
"""What a picture is for, and no thing's use."""
_READY = frozenset(["ready", "able", "unable", "eager", "too"])
"""Before "to" and what one does."""
_USE = 3
"""Words of what one is used for."""


def behind_likening(draft: Draft, at: int) -> int:
    """Where what the subject is likened to begins: "like in | an old comic"; else `at`."""
    match = _RESEMBLANCE.match(draft.page.shadow, draft.page.words[at].start)
    word = draft.page.word_at(match.end()) if match else None
    return at if word is None else word.index


def is_telling(draft: Draft, at: int) -> bool:
    """Whether a clause that begins so tells what the subject is like, and not where it is."""
    words = draft.page.words
    norm = words[at].norm
    if norm in _TELLING or norm in lexicon.words("bearing"):
        return True
    if norm == "for":
        return _is_purpose(draft, at)
    if opens_contact(words, at) or tells_apart(draft, at):
        return True
    if norm in ("in", "with") and any(w.norm in _FORM for w in words[at + 1 : at + 3]):
        return True
    behind = [*itertools.takewhile(lambda word: word.joined, words[at + 1 : at + 5])]
    if norm == "in" and [word.norm for word in behind if word.norm in _SIZE_OR_END] == ["size"]:
        return True  # "in a really tiny size"
    as_what = [word.norm for word in behind[:2]]
    if norm in _PASSING_FOR and as_what[:1] == ["as"] and as_what[1:] != ["intended"]:
        return True  # "serving as a medic"
    if norm in _LEAD_TO_WHICH and behind and behind[0].norm == "which":
        return True  # "on which somebody spilled a drink"
    return tells_how(draft, at)


def _is_purpose(draft: Draft, at: int) -> bool:
    """Whether "for" says whom the subject is made for, and not the picture: "for a toddler"."""
    run = clause_from(draft, at)
    if len(run) < 2 or run[1].norm in ("my", "our", "your", "me", "us"):
        return False
    return nature(run[-1].norm) is Nature.PERSON and run[-1].norm not in _FOR_WHOM


def _is_what_it_serves(draft: Draft, at: int) -> bool:
    """Whether "for" says what one is used for: "the one for | long treks"; not what the picture is
    for, nor when: "the one for posters", "the one for May".
    """
    run = clause_from(draft, at)[1:]
    run = run[1:] if run and run[0].norm in ("a", "an") else run
    if not 0 < len(run) <= _USE or any(word.capital or word.possessive for word in run):
        return False
    said = {word.norm for word in run}
    picture = lexicon.words("scenes") | lexicon.words("determiners") | _MEDIA
    if said & picture or nature(run[-1].norm) is Nature.PERSON:
        return False
    return lexicon.names_thing(run[-1].norm) and not lexicon.is_no_noun(run[-1].norm)


def _is_use(draft: Draft, at: int) -> bool:
    """Whether "for" says what is done with it: "a bicycle | for hauling loads"; not with the
    picture: "for livening up a blog".
    """
    run = [word.norm for word in clause_from(draft, at)]
    if len(run) < 3 or is_only_noun(run[1]) or not is_ing_verb(run[1]):
        return False
    return _MEDIA.isdisjoint(run) and lexicon.words("determiners").isdisjoint(run)


def _is_verb(norm: str) -> bool:
    entry = look_up(norm)
    return entry is not None and entry.verb is not None


def _leads_to_deed(draft: Draft, at: int) -> bool:
    """Whether "to" and a verb follow, at once or behind one word: "ready | to dance", "too shy |
    to dance", not "too close | to the shore".
    """
    words = [word.norm for word in draft.page.words[at + 1 : at + 4] if word.joined]
    return any(lead == "to" and _is_verb(deed) for lead, deed in itertools.pairwise(words))


def is_action(draft: Draft, at: int) -> bool:
    """Whether a clause begins with what the subject does, or had done to it: "hauling hay".

    Not with where it does so: "perched on a road sign" is the scene.
    """
    following = draft.page.words[at + 1].norm if at + 1 < len(draft.page.words) else ""
    norm = draft.page.words[at].norm
    if norm == "during" or (norm in ("seen", "viewed") and following == "through"):
        return False
    if norm in _READY and _leads_to_deed(draft, at):
        return True  # "ready to save the world", "too shy to look up"
    if norm in ("used", "meant", "made") and following in ("for", "as", "to"):
        return True  # "the one used for fishing"
    doing = following.endswith("ing") and following not in _OF_THE_PICTURE
    if norm == "for" and at and draft.page.words[at - 1].norm in lexicon.words("selectors"):
        return doing or _is_what_it_serves(draft, at)
    added = at > 0 and draft.page.words[at - 1].norm == "and"  # "grey and | for hauling loads"
    if norm == "for" and doing and at and (added or draft.nouns_cover(at - 1)):
        return _is_use(draft, at)
    beside = following == "by" and norm.endswith("ing")
    if norm.endswith("ing") and len(norm) > 4 and is_on_itself(draft, at + 1):
        return True  # "lying on its side"
    if norm.endswith("ing") and is_done_off(draft, at):
        return True
    if following in lexicon.words("prepositions") and (beside or following not in _NO_PLACE):
        return False
    if norm in PARTICIPLES or norm in ("being", "about"):  # "about to"
        return True
    if not norm.endswith(("ing", "ed")) or len(norm) < 5:
        return False
    word = draft.page.words[at]
    return not lexicon.names_thing(norm) or (is_all_it_does(draft, word) and not is_only_noun(norm))
