"""Anything a description may say: adjectives of the subject, "with …", "that wears …", "the … one".

What is left here is only what may describe; whether it does is decided beside the cards
(`described`): a phrase of which no candidate has the noun is the scene.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from personalq.checkin import lexicon
from personalq.checkin.apposition import renamed, sorts
from personalq.checkin.draft import Draft, Noun
from personalq.checkin.intent import Attribute, Constraint, Span
from personalq.checkin.lexicon import canonical
from personalq.checkin.nouns import is_kind_of
from personalq.checkin.roles import plays
from personalq.checkin.text import Word, ends_before
from personalq.checkin.word_roles import (
    acts,
    belongs,
    goes_on,
    is_adjective,
    is_compounded,
    is_numeral,
    is_owner,
    is_particle,
    is_that,
    is_worn,
    may_describe,
    only_joins,
    opens_phrase,
    past_asides,
    qualifies,
)

_REACH = 7
"""Words of the longest described phrase."""
_NEGATION = re.compile(
    r"(?<!\w)(?:not|except(?:\s+for)?|excluding|other\s+than|anything\s+but)\s+"
    r"(?:(?:the|a|an|that|one|ones|with|in|wearing)\s+)*$"
)
_APPOSITION = re.compile(r",\s*the\s+$")
_DEGREES = frozenset(
    ["and", "very", "quite", "all", "rather", "a", "bit", "light", "dark", "pale", "bright", "deep"]
)
"""May stand before the adjectives of a predicate: "it's light purple"."""
_SIZED = frozenset(
    ["kids", "kid", "children", "men", "mens", "women", "womens", "ladies", "boys", "girls"]
)
"""Whose a thing is by its kind, not by its owner."""
_FULL = frozenset(
    [
        "overgrown",
        "splattered",
        "spattered",
        "studded",
        "decorated",
        "sprinkled",
        "embroidered",
        "trimmed",
        "lined",
        "full",
        "filled",
        "loaded",
        "packed",
        "stuffed",
        "brimming",
        "topped",
        "overflowing",
    ]
)
_COVERING = frozenset(
    [
        "cover",
        "fill",
        "surround",
        "decorate",
        "adorn",
        "wrap",
        "drape",
        "bury",
        "sprinkle",
        "shower",
    ]
)
"""What is done to the subject in the picture: "cover it with petals"."""
_DONE = ("done", "made", "modeled", "modelled", "painted", "drawn", "rendered", "sculpted", "shown")
"""How a picture was made: "a cactus modelled in plasticine with a blue flower"."""
_LACKING = frozenset(["no", "without", "missing", "lacking"])
_NO_LACK = frozenset(["matter", "longer", "one", "rush", "problem", "triggers", "trigger"])
_BEFORE_LACKED = frozenset(["a", "an", "any", "its", "his", "her", "their"])
"""May stand between such a word and what is not there."""


def parse_description(draft: Draft) -> None:
    """Leave soft constraints for words that describe the subject, not the scene."""
    words = draft.page.words
    subject = next((c for c in draft.constraints if c.attribute is Attribute.SUBJECT), None)
    heads = [n for n in draft.nouns if subject and draft.span_of(n.first, n.last) == subject.span]
    for noun in (*_apposed(draft, heads), *heads, *renamed(draft, heads)):
        _modifiers(draft, noun.first)
        _role(draft, noun)
        read_tail(draft, noun.last)
    for index, word in enumerate(words):
        if word.norm in lexicon.words("selectors") and draft.is_free(word):
            _modifiers(draft, index)
            read_tail(draft, index + 1)
    for index in sorts(words) if heads else ():
        _modifiers(draft, index)
        read_tail(draft, index + 1)
    if heads:
        _told_after(draft)
        _asides(draft)
    if draft.answering or (not heads and draft.unknown_subject is None):
        _loose(draft)


def _role(draft: Draft, noun: Noun) -> None:
    """Read what the subject plays: "a hedgehog cook"."""
    being = draft.page.words[noun.last - 1]
    for role in draft.page.words[noun.last : noun.last + 1]:
        if role.joined and draft.is_free(role) and plays(being.norm, role.norm):
            _add(draft, [role], before=being.span.of(draft.page.text))


def _told_after(draft: Draft) -> None:
    """Read what is added in a clause of its own: ", it has round ears and it's green"."""
    words = draft.page.words
    for word in words:
        if not is_told_of(words, word.index):
            continue
        following = words[word.index + 1]
        if following.norm == "got":
            _phrase(draft, following.index + 1)
        elif following.norm in lexicon.words("bearing"):
            read_tail(draft, following.index)
        else:
            _predicate(draft, following.index + (following.norm in ("is", "are")))


def is_told_of(words: Sequence[Word], index: int) -> bool:
    """Whether a pronoun begins to say what the subject is like: "it has", "it's got", "it's"."""
    word = words[index]
    if word.norm not in ("it", "he", "she", "they") or index + 1 >= len(words):
        return False
    following = words[index + 1]
    if not following.joined or (index and words[index - 1].norm in _COVERING):
        return False
    told = following.norm in ("got", "is", "are") or following.norm in lexicon.words("bearing")
    return told or (word.possessive and is_adjective(following.norm))


def _apposed(draft: Draft, heads: list[Noun]) -> list[Noun]:
    """The noun that ", the husky" says more exactly: "the dog with a bow tie, the husky"."""
    if not heads:
        return []
    start = draft.page.words[heads[0].first].start
    if not ends_before(_APPOSITION, draft.page.shadow, start):
        return []
    said = _phrase_of(draft, heads[0])
    before = [noun for noun in draft.nouns if noun.last <= heads[0].first]
    return [noun for noun in before if is_kind_of(said, _phrase_of(draft, noun))][:1]


def _phrase_of(draft: Draft, noun: Noun) -> str:
    return canonical(draft.span_of(noun.first, noun.last).of(draft.page.text))


def _modifiers(draft: Draft, first: int) -> None:
    """Words left of the head inside its phrase: "fluffy brown" of "the fluffy brown bear"."""
    words = draft.page.words
    found: list[Word] = []
    index = first
    while index > 0 and first - index < _REACH:
        if not words[index].joined and not _listed(draft, index):
            break
        index -= 1
        word = words[index]
        if is_compounded(draft, index) and not only_joins(word):
            found.append(word)  # "curled-up"
            continue
        counted = words[index + 1].hyphen  # "four-door"
        if (word.norm in lexicon.words("determiners") and not counted) or word.possessive:
            if word.possessive and word.norm in _SIZED:
                continue  # "white kids' shoe"
            break
        if not draft.is_free(word) or word.norm in lexicon.words("empty_adjectives"):
            if word.norm in lexicon.words("prepositions") or word.norm in lexicon.words("links"):
                break
            continue
        if any(
            word.norm in lexicon.words(kind)
            for kind in ("prepositions", "links", "openers", "frames")
        ):
            if not _coordinates(draft, index) and not is_particle(words, index):
                break
            continue
        if may_describe(word, draft):
            found.append(word)
    found.reverse()
    worn = len(found) > 1 and is_adjective(found[0].norm) and lexicon.is_wearable(found[-1].norm)
    _add(draft, found, phrase=worn, before=_head_at(draft, first))


def _head_at(draft: Draft, first: int) -> str:
    """The subject whose first word it is, or the one the request is about: "the red one"."""
    noun = draft.noun_at(first) or next((n for n in draft.nouns if n.entry.subjects), None)
    return draft.span_of(noun.first, noun.last).of(draft.page.text) if noun else ""


def _coordinates(draft: Draft, index: int) -> bool:
    """Whether "and" stands between two adjectives: "the red and white bear"."""
    words = draft.page.words
    if words[index].norm not in ("and", "&") or index == 0:
        return False
    return all(is_adjective(word.norm) for word in (words[index - 1], words[index + 1]))


def _listed(draft: Draft, index: int) -> bool:
    """A comma between adjectives: "fluffy, brown bear"."""
    words = draft.page.words
    if index == 0:
        return False
    gap = draft.page.shadow[words[index - 1].full_end : words[index].start].strip()
    return gap == "," and is_adjective(words[index - 1].norm)


def read_tail(draft: Draft, index: int) -> None:
    """Read what follows the head: "with a red scarf", "that has a crystal ball and is green"."""
    words = draft.page.words
    at = _skip(draft, past_asides(words, index))
    first = True
    while at < len(words):
        lead = words[at]
        if not lead.joined and not (first and lead.norm in ("wearing", "with")):
            return
        following = words[at + 1].norm if at + 1 < len(words) else ""
        lacks = lead.norm in _LACKING and following not in _NO_LACK
        if lead.norm in lexicon.words("bearing") or lacks:
            at = _phrase(draft, at + 1)
            again = at < len(words) and words[at].joined and words[at].norm in ("and", "plus", "&")
            if again and opens_phrase(draft, at + 1):
                at = _phrase(draft, at + 1)
        elif lead.norm in _FULL and following in ("of", "with"):
            at = _phrase(draft, at + 2)
        elif (
            (lead.norm == "in" and is_worn(draft, at + 1))
            or (lead.norm in ("under", "beneath") and _is_held(draft, at + 1))
            or (lead.norm == "on" and _is_shod(draft, at + 1))
            or _told_apart(draft, at)
        ):
            at = _phrase(draft, at + 1)
        elif first and at == index and lead.norm in lexicon.words("colors") and draft.is_free(lead):
            colours_part = following and words[at + 1].joined and lexicon.names_thing(following)
            at = _phrase(draft, at) if colours_part else _predicate(draft, at)  # "horse green coat"
        elif lead.norm in ("is", "are", "looks", "was") and not first:
            at = _predicate(draft, at + 1)
        elif lead.norm in ("a", "an") and at and is_that(words[at - 1]):
            at = _phrase(draft, at + 1)
        else:
            return
        first = False
        while at < len(words) and words[at].norm in ("and", "but", "that", "which", "who"):
            if not words[at].joined:
                return
            at += 1


def _is_held(draft: Draft, index: int) -> bool:
    """Whether the subject holds what it is under: "an owl under a brown parasol"."""
    groups, reach = lexicon.description_groups(), draft.page.words[index : index + 4]
    return any(groups.get(word.norm) == "umbrella" for word in reach if word.joined)


def _is_shod(draft: Draft, index: int) -> bool:
    """Whether the subject stands on what is its own: "on roller skates"."""
    words = draft.page.words[index : index + 2]
    return any(word.norm in lexicon.words("stood_on") for word in words)


def _told_apart(draft: Draft, index: int) -> bool:
    """Whether "on" says which one is meant: "the bunny, the one on skates"."""
    words = draft.page.words
    if words[index].norm not in ("on", "in") or index < 2:
        return False
    the, one = words[index - 2], words[index - 1]
    return the.norm == "the" and one.norm == "one" and the.index > 0 and not the.joined


def _skip(draft: Draft, index: int) -> int:
    """Past what may stand between the head and what it has: "of ours that comes"."""
    words = draft.page.words
    while index < len(words):
        word = words[index]
        if word.norm in ("is", "are", "looks", "was") and word.joined and draft.is_free(word):
            after = words[index + 1] if index + 1 < len(words) else None
            if after is not None and after.joined and is_adjective(after.norm):
                index = _predicate(draft, index + 1)
                continue
        of_owner = word.norm == "of" and is_owner(draft, index + 1)
        in_style = word.norm in ("in", "as", *_DONE) and index + 1 < len(words)
        told = index + 1 + (word.norm in _DONE and words[index + 1 : index + 2] != ())
        in_style = in_style and told < len(words) and not draft.is_free(words[told])
        passed = word.norm in lexicon.words("relatives") or of_owner or in_style
        if draft.is_free(word) and not passed:
            return index
        index += 2 if of_owner else 1
    return index


def _predicate(draft: Draft, index: int) -> int:
    """Adjectives after a verb: "is green and small"; the place after them."""
    words = draft.page.words
    found: list[Word] = []
    while index < len(words) and words[index].joined:
        word = words[index]
        if word.norm not in _DEGREES:
            if (
                not is_adjective(word.norm)
                or not may_describe(word, draft)
                or goes_on(draft, index)
            ):
                break
            found.append(word)
        index += 1
    _add(draft, found)
    return index


def _phrase(draft: Draft, index: int) -> int:
    """Add the noun phrase that begins here as one description; the place after it."""
    words = draft.page.words
    start = index
    found: list[Word] = []
    last = index
    while index < len(words) and index - start < _REACH:
        word = words[index]
        if not word.joined:
            break
        if is_compounded(draft, index) and not (found and word.norm == "mid"):
            found.append(word)
        elif word.norm in lexicon.words("phrase_ends") and not qualifies(word, found):
            if not (found and belongs(draft, index)):
                if not found and (word.norm in ("in", "of", "with") or index > start):
                    index += 1  # "covered in …", "an outside staircase"
                    continue
                break
        elif found and (acts(draft, word, found) or word.norm == "mid"):
            break
        elif may_describe(word, draft) or is_numeral(word, found):
            found.append(word)
        elif not draft.is_free(word):
            break
        index += 1
        last = index
    _add(draft, found, phrase=True)
    return last


def _asides(draft: Draft) -> None:
    """Between commas: adjectives ("a car, golden and small") or things ("googly eyes")."""
    run: list[Word] = []
    for word in (*draft.page.words, None):
        if word is not None and word.joined:
            run.append(word)
            continue
        said = [w for w in run if w.norm not in ("and", "but", "a", "an", "the", "one", "very")]
        if said and not draft.answering:
            said = [] if _does(run) else _without_camera(said)
        if said and all(draft.is_free(w) for w in said):
            if all(is_adjective(w.norm) for w in said):
                if run[0].index > 0:
                    _add(draft, said)
            elif all(may_describe(w, draft) for w in said) and len(said) <= 4 and not _frames(said):
                _add(draft, said, phrase=True, vague=run[0].norm != "the")
        run = [word] if word is not None else []


def _without_camera(said: list[Word]) -> list[Word]:
    """What is left beside how the picture is taken: "red, dramatic", but not "low angle"."""
    if said[-1].norm not in lexicon.words("camera"):
        return said
    return _without_camera(said[:-1]) if len(said) > 1 and is_adjective(said[-1].norm) else []


def _does(run: list[Word]) -> bool:
    """Whether words say what the subject does: "climbing stairs", but not "sparkling"."""
    first = run[0].norm
    plain = first in lexicon.description_groups() or lexicon.names_thing(first)
    return len(run) > 1 and first.endswith("ing") and not plain


def _frames(said: list[Word]) -> bool:
    """Whether words say how the picture is taken: "underwater shot", "extreme close-up"."""
    return said[-1].norm in lexicon.words("frames") and not is_adjective(said[-1].norm)


def _start(draft: Draft, first: Word) -> int:
    """Where a description begins, with its count, or what says that it lacks: "no wheels"."""
    words = draft.page.words
    index = first.index
    if first.hyphen and draft.is_free(words[index - 1]):
        return words[index - 1].start  # "one-armed"
    if first.joined and first.norm.endswith("ed") and _is_empty(words[index - 1]):
        return words[index - 1].start  # "good natured"
    while words[index].joined and words[index - 1].norm in _BEFORE_LACKED:
        index -= 1
    lacked = words[index].joined and words[index - 1].norm in _LACKING
    return words[index - 1].start if lacked else first.start


def _end(draft: Draft, last: Word) -> int:
    """Where a description ends, with what belongs to its participle: "beat up"."""
    words = draft.page.words
    return (words[last.index + 1] if is_particle(words, last.index + 1) else last).end


def _is_empty(word: Word) -> bool:
    return word.norm in lexicon.words("empty_adjectives")


def _loose(draft: Draft) -> None:
    """In an answer, or with no subject at all: every unclaimed content word describes."""
    groups = lexicon.description_groups()
    words = [word for word in draft.page.words if may_describe(word, draft)]
    if not draft.answering:
        _add(draft, [word for word in words if word.norm in groups])
        return
    run: list[Word] = []
    for word in words:
        if run and word.index != run[-1].index + 1:
            _loosen(draft, run)
            run = []
        run.append(word)
    _loosen(draft, run)


def _loosen(draft: Draft, run: list[Word]) -> None:
    """Neighbours of an answer: adjectives each, or one thing ("ski lift")."""
    adjectives = all(is_adjective(word.norm) for word in run)
    _add(draft, run, phrase=bool(run) and not adjectives)


def _add(
    draft: Draft,
    found: list[Word],
    *,
    phrase: bool = False,
    vague: bool = False,
    before: str = "",
) -> None:
    """Add a description; what stands `before` a subject is compared by meaning with it."""
    if not found:
        return
    span = Span(_start(draft, found[0]), _end(draft, found[-1]))
    known = {
        word for c in draft.constraints if c.attribute is Attribute.DESCRIPTION for word in c.values
    }
    values = tuple(word.norm for word in found if word.norm not in known)
    if not values:
        return
    unwanted = ends_before(_NEGATION, draft.page.shadow, span.start) is not None
    text = span.of(draft.page.text)
    named = f"{values[-1]} {canonical(before)}" if before and not phrase else ""
    if named in lexicon.description_groups():
        values = (*values, *canonical(before).split())  # "the baby horse"
    plain = all(word in lexicon.colours() for word in values)  # which words tell better
    said = (text,) if before and not plain else ()
    draft.constraints.append(
        Constraint(
            attribute=Attribute.DESCRIPTION,
            values=values,
            excluded=unwanted,
            hard=unwanted,
            phrase=phrase,
            coarse=vague,
            said=(draft.page.text.strip(),) if draft.answering else said,
            span=span,
            text=text,
            label=("not " if unwanted else "") + " ".join(values),
        )
    )
