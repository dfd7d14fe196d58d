"""Anything a description may say: adjectives of the subject, "with …", "that wears …", "the … one".

What is left here is only what may describe; whether it does is decided beside the cards
(`described`): a phrase of which no candidate has the noun is the scene.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Constraint, Span
from personalq.checkin.lexicon import canonical
from personalq.checkin.lexicon.stuffs import stuffs_in
from personalq.checkin.lexicon.wordnet import Nature, nature
from personalq.checkin.nouns import is_kind_of
from personalq.checkin.parsing.apposition import forenamed, renamed, sorts
from personalq.checkin.parsing.descriptions.asides import read_asides, read_loose
from personalq.checkin.parsing.descriptions.lacks import read_lacks
from personalq.checkin.parsing.descriptions.modifiers import read_modifiers
from personalq.checkin.parsing.descriptions.phrase import (
    add_description,
    read_phrase,
    read_predicate,
)
from personalq.checkin.parsing.descriptions.tail import read_tail
from personalq.checkin.parsing.draft import Draft, Noun
from personalq.checkin.parsing.roles import plays
from personalq.checkin.parsing.subjects.role import epithet
from personalq.checkin.parsing.text import Word, ends_before
from personalq.checkin.parsing.word_roles import is_adjective, is_of_the_scene

_APPOSITION = compile_form(", ?the $")
_NOT_THE = compile_form(
    r"(?<!\w)((but|just|only) )?(not (the|an?)|(?P<clad>not in)|((the one )?(that|which) )(isn't|"
    r"is not|"
    r"wasn't)) (an? )?(?P<kind>(?!an?\s)[\w-]+( (?!(one|please)\b)[\w-]+)?)( "
    "one)?(?=( please)? ?($|[,.;!?)]))"
)
_REFUSING = frozenset(
    ["is", "was", "isn't", "wasn't", "just", "only", "but", "not", "that", "which"]
)
"""Words of a refusal."""
_TYPE = compile_form(
    r"(?<!\w)of (the|a) (?P<kind>(?!(same|different|new|other|best|right|rare)\b)[\w-]+( [\w-]+)?) "
    r"(type|kind|sort|variety|breed|species)(?!\w)|"
    r"(?<=,\s)(?!(some|any|that|this|an?|the)\s)(?P<sort>[\w-]+) type(?= ?($|[,.;]))"
)
_NOT_THERE = compile_form(
    r"(?<!\w)((and|but) )?(not|rather than|instead of) ((up|down|dangling|hooked|running|"
    "hanging) )?((on|at|in|from|off|around|along|below|under|over) )?((the|its|his|her|"
    r"a) )?(?P<side>[a-z]+)( (side|end|hand))?(?= ?($|[,.;:!?)]|(and|for|in|on|at|with)\b))"
)
"""Where a thing is not."""
_ITS_COAT = compile_form(
    r"(?<!\w)(its|his|her|their) (?P<body>[\w-]+) ((should|must|may|could) be|"
    r"(ought|has|needs) to be|is|are|was) (?=\w)"
)
"""Before what the subject's own colour is: "its coat ought to be | dark grey"."""
_AND_THAT_IS = compile_form(
    r"(?<!\w)(and|but) (that|which) "
    r"((?P<not>isn't|is not|aren't|are not|wasn't)|is|are|was|looks)"
    r"( (very|quite|rather|all|really))? (?=\w)"
)
"""One more thing that it is: "with a crown | and that is light brown"."""
_IS = frozenset(["is", "are", "looks"])
_WAS = frozenset(["was", "were", "looked"])
_IS_SO = compile_form(rf"(?<!\w)({'|'.join(sorted(_IS | _WAS))}) (?=\w)")
"""Behind where the subject is: "the violin in a hotel lobby | is | white"."""
_FAR = 6
"""Most words between the subject and what it is."""
_COVERING = frozenset((
    "cover", "fill", "surround", "decorate", "adorn", "wrap", "drape", "bury", "sprinkle",
    "shower",
))  # fmt: skip
"""What is done to the subject in the picture: "cover it with petals"."""
_SHOWING = frozenset(
    ["draw", "show", "paint", "picture", "render", "depict", "sketch", "have", "put"]
)
"""What tells how the picture is to show it: "draw it carrying pumpkins"."""


def parse_description(draft: Draft) -> None:
    """Leave soft constraints for words that describe the subject, not the scene."""
    elsewhere = _elsewhere(draft)
    for span in elsewhere:
        draft.mark(span)
    _read(draft)
    for span in elsewhere:
        draft.release(span)


def _read(draft: Draft) -> None:
    words = draft.page.words
    subject = next((c for c in draft.constraints if c.attribute is Attribute.SUBJECT), None)
    heads = [n for n in draft.nouns if subject and draft.span_of(n.first, n.last) == subject.span]
    if heads:
        _refused(draft, heads)
    again = renamed(draft, heads)
    for noun in (*_apposed(draft, heads), *heads, *again):
        read_modifiers(draft, noun.first)
        if noun in again and noun.entry.narrower:
            # "a watch; it's the smartwatch"
            add_description(draft, list(words[noun.first : noun.last]))
        _role(draft, noun)
        read_tail(draft, noun.last)
    if heads and _opens_with_it(draft):
        read_tail(draft, 0)
    for index, word in enumerate(words):
        if word.norm in lexicon.words("selectors") and draft.is_free(word):
            read_modifiers(draft, index)
            read_tail(draft, index + 1)
    for index in chosen_from(draft):
        read_tail(draft, index + 1)
    for told in _unnamed(draft, heads):
        read_modifiers(draft, told)
        if heads:
            add_description(draft, [words[told]])
        read_tail(draft, told + 1)
    for index in sorts(words) if heads else ():
        read_modifiers(draft, index)
        read_tail(draft, index + 1)
    if heads:
        _told_after(draft, heads)
        read_lacks(draft)
        _of_a_type(draft)
        read_asides(draft)
    if draft.answering or (not heads and draft.unknown_subject is None):
        read_loose(draft)


def _opens_with_it(draft: Draft) -> bool:
    """Whether a request begins with what the subject has: "With a torn ear: my bear"; not "With
    the terrier: my dog", nor "With a knight: my dog", "With a bit of luck: my dog".
    """
    words = draft.page.words
    run = [words[0], *itertools.takewhile(lambda word: word.joined, words[1:])]
    told = run[0].norm == "with" and run[-1].index + 1 < len(words)
    if not told or run[1:] == [] or run[1].norm not in ("a", "an", "one", "no", "its"):
        return False
    subjects = any(draft.nouns_cover(word.index) for word in run)  # "With a knight: my dog"
    if subjects or any(word.norm in ("luck", "chance", "twist") for word in run):
        return False
    gap = draft.page.shadow[run[-1].full_end : words[run[-1].index + 1].start]
    return ":" in gap and not is_of_the_scene(words, 0)


def _elsewhere(draft: Draft) -> list[Span]:
    """Where on the subject a thing is not: "at the waist, | not behind", "not the right"."""
    places = lexicon.words("sides") | lexicon.words("parts") | {"behind", "above"}
    return [
        Span(*match.span())
        for match in _NOT_THERE.finditer(draft.page.shadow)
        if match["side"] in places and draft.free(*match.span())
    ]


def chosen_from(draft: Draft) -> Iterator[int]:
    """Places of "those" that one is chosen from: "the oldest of | those | with a ball"."""
    for before, word in itertools.pairwise(draft.page.words):
        if word.norm != "those" or before.norm not in ("of", "among", "amongst"):
            continue
        lead = draft.page.words[before.index - 1] if before.index and before.joined else None
        if lead is None or not draft.is_free(lead) or lead.norm == "out":
            yield word.index


def _unnamed(draft: Draft, heads: list[Noun]) -> Iterator[int]:
    """Places of nouns that the catalog has no subject for, and yet may describe: "a plum bass"."""
    told = forenamed(draft, heads)
    if told is not None:
        yield told
    for noun in heads:  # "a crooner of a cowboy"
        name = epithet(draft.page.words, noun.first - 2)
        if name is not None:
            yield name.index
    unknown = draft.unknown_subject
    word = draft.page.word_at(unknown.span.start) if unknown and unknown.span else None
    if word is not None and draft.is_free(word) and not draft.answering:
        yield word.index


def _role(draft: Draft, noun: Noun) -> None:
    """Read what the subject plays: "a hedgehog cook"."""
    being = draft.page.words[noun.last - 1]
    for role in draft.page.words[noun.last : noun.last + 1]:
        selects = role.norm in lexicon.words("selectors")  # "the hedgehog models"
        if role.joined and draft.is_free(role) and not selects and plays(being.norm, role.norm):
            add_description(draft, [role], before=being.span.of(draft.page.text))


def _refused(draft: Draft, heads: list[Noun]) -> None:
    """Claim a kind that is not wanted: "the teapot, not the kyusu", "the dog, not the beagle".

    Only right behind the subject's own phrase: what a picture is not to show is told behind more.
    """
    for match in _NOT_THE.finditer(draft.page.shadow):
        word, span = draft.page.word_at(match.start("kind")), Span(*match.span())
        if word is None or not draft.free(*match.span()) or draft.style_at(word.index):
            continue
        said = match["kind"].split()
        if match["clad"]:
            if canonical(match["kind"]) not in lexicon.colours():
                continue
        elif not any(_is_told_of(draft, head, word, said) for head in heads):
            continue
        draft.mentions = [m for m in draft.mentions if not m.span.meets(span)]
        draft.add(
            Constraint(
                attribute=Attribute.DESCRIPTION,
                values=tuple(said),
                excluded=True,
                span=span,
                text=span.of(draft.page.text),
                label=f"not {match['kind']}",
            ),
            selecting=True,
        )


def _is_told_of(draft: Draft, head: Noun, word: Word, said: Sequence[str]) -> bool:
    """Whether what is refused at a word is a kind, a colour or a look of the subject before it."""
    between = [w for w in draft.page.words[head.last : word.index] if draft.is_free(w)]
    scene = lexicon.words("prepositions") | lexicon.verb_forms()
    words = draft.page.words
    apart = [
        w
        for w in between
        if w.norm in scene and w.norm not in _REFUSING and draft.is_free(words[w.index + 1])
    ]
    if head.last > word.index or apart:
        return False
    subject = canonical(_phrase_of(draft, head))
    kind = " ".join(said)
    unheard = nature(said[-1]) is Nature.UNKNOWN
    look = all(is_adjective(each) for each in said)
    return unheard or look or is_kind_of(kind, subject) or said[-1] == subject.split()[-1]


def _of_a_type(draft: Draft) -> None:
    """Read what kind it is said to be: "an excavator of the long-reach type"."""
    for match in _TYPE.finditer(draft.page.shadow):
        if draft.free(*match.span()):
            said = "kind" if match["kind"] else "sort"
            add_description(draft, list(draft.page.run(match.start(said), match.end(said))))
            if behind := draft.page.word_at(match.end()):
                read_tail(draft, behind.index)


def _told_after(draft: Draft, heads: Sequence[Noun]) -> None:
    """Read what is added in a clause of its own: ", it has round ears and it's green"."""
    words = draft.page.words
    for word in words:
        if not (is_told_of(words, word.index) or _was_so(words, word.index)):
            continue
        following = words[word.index + 1]
        if following.norm == "got":
            read_phrase(draft, following.index + 1)
        elif following.norm in lexicon.words("bearing"):
            read_tail(draft, following.index)
        else:
            after = read_predicate(draft, following.index + (following.norm in _IS | _WAS))
            if words[after - 1].norm == "and":  # "it's corduroy and | has a torn ear"
                read_tail(draft, after)
    for match in _AND_THAT_IS.finditer(draft.page.shadow):
        first = draft.page.word_at(match.end())
        if first is None or not draft.is_free(first):
            continue
        if match["not"] and first.norm not in lexicon.colours():
            continue  # of a thing of the scene, for all one knows
        count = len(draft.constraints)
        read_predicate(draft, first.index)
        for place in range(count, len(draft.constraints) if match["not"] else count):
            told = draft.constraints[place]
            draft.constraints[place] = replace(
                told, excluded=True, hard=True, label=f"not {told.label.removeprefix('not ')}"
            )
    for match in _ITS_COAT.finditer(draft.page.shadow):
        first = draft.page.word_at(match.end())
        said = words[first.index : first.index + 2] if first is not None else ()
        coloured = not lexicon.colours().isdisjoint(word.norm for word in said)
        if match["body"] in lexicon.words("bodies") and first is not None and coloured:
            read_predicate(draft, first.index)
    for match in _IS_SO.finditer(draft.page.shadow):
        verb, first = (draft.page.word_at(at) for at in match.span())
        if verb is not None and first is not None and _is_coloured(draft, heads, verb, first):
            read_predicate(draft, first.index)


def _was_so(words: Sequence[Word], index: int) -> bool:
    """Whether a pronoun was of a colour or a stuff: "it was dark brown", and not "it was sunny"."""
    said = [word.norm for word in words[index : index + 4]]
    if said[0] not in ("it", "he", "she", "they") or _WAS.isdisjoint(said[1:2]):
        return False
    return any(word in lexicon.colours() or stuffs_in(word) for word in said[2:])


def _is_coloured(draft: Draft, heads: Sequence[Noun], verb: Word, first: Word) -> bool:
    """Whether a verb says what colour the subject is, wherever that is to be seen."""
    words = draft.page.words
    between = [words[head.last : verb.index + 1] for head in heads if head.last < verb.index]
    placed = any(len(run) <= _FAR and _is_place(run) for run in between)
    told = {word.norm for word in words[first.index : first.index + 2] if draft.is_free(word)}
    return placed and not lexicon.colours().isdisjoint(told)


def _is_place(run: Sequence[Word]) -> bool:
    """Whether words only say where it is: "in a hotel lobby"; not "by a house | the roof"."""
    if run[0].norm not in lexicon.words("prepositions") - _WHEN:
        return False
    if any(not word.joined or word.norm in _ELSE for word in run):
        return False
    determiners, placing = lexicon.words("determiners"), lexicon.words("prepositions")
    return all(
        before.norm in placing or before.norm == "of"
        for before, word in itertools.pairwise(run)
        if word.norm in determiners
    )


_WHEN = frozenset(["after", "before", "since", "until", "till", "as", "than", "like"])
_ELSE = _WHEN | frozenset((
    "that", "which", "who", "whose", "where", "when", "while", "and", "or", "but", "if", "so",
    "because", "once", "though", "although",
))  # fmt: skip
"""Words from which on another thing may be told of."""


def is_told_of(words: Sequence[Word], index: int) -> bool:
    """Whether a pronoun begins to say what the subject is like: "it has", "it's got", "it's"."""
    word = words[index]
    if word.norm not in ("it", "he", "she", "they") or index + 1 >= len(words):
        return False
    following = words[index + 1]
    before = words[index - 1].norm if index else ""
    if not following.joined or before in _COVERING:
        return False
    if before in _SHOWING and following.norm.endswith("ing"):
        return False
    told = following.norm == "got" or following.norm in _IS
    told = told or following.norm in lexicon.words("bearing")
    made = bool(stuffs_in(following.norm))  # "it's corduroy"
    return told or (word.possessive and (made or is_adjective(following.norm)))


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
