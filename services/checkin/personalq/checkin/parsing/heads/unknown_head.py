"""The head noun of a request that is no subject of the catalog: "a pangolin in the snow"."""

from __future__ import annotations

import re
from dataclasses import replace

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Constraint, Span
from personalq.checkin.lexicon import canonical, wordnet
from personalq.checkin.lexicon.wordnet import Nature, nature
from personalq.checkin.parsing.draft import Draft, Noun
from personalq.checkin.parsing.heads.choices import tells
from personalq.checkin.parsing.heads.chunks import noun_chunks
from personalq.checkin.parsing.heads.head import head_of, is_known_place
from personalq.checkin.parsing.text import Word
from personalq.checkin.parsing.word_roles import is_adjective

_CHOOSING = frozenset(
    [Attribute.VERSION, Attribute.ORDER, Attribute.CREATED_AT, Attribute.LAST_USED_AT]
)
_FEW_WORDS = 3
"""Words of a request for nothing but a thing: "the latest castle"."""
_STORIES = frozenset((
    "story", "tale", "hero", "heroine", "protagonist", "star", "character", "book", "novel",
    "comic", "page", "chapter", "curtain", "film", "movie", "episode", "cover", "poster", "card",
    "calendar", "brochure", "brief", "outcome", "result", "idea", "plan", "theme", "plot",
))  # fmt: skip
"""What tells of the subject, or shows it."""
_VERBS = frozenset((
    "is", "are", "was", "has", "needs", "wants", "must", "should", "shall", "will", "would",
    "could", "can", "opens", "begins", "starts", "ends", "rise", "rises", "shows", "tells",
    "features", "stars", "carries", "showing", "featuring", "depicting",
))  # fmt: skip
"""What it does with the subject; a story that was made last is asked for itself."""
_WHERE_IT_IS = compile_form(
    r"( [\w-]+){0,3} where (?P<who>(an?|the|my|our|one|some) [^,.;:!?]*)|"
    r"( [\w-]+)?,? with (?P<who_>(an?|the|my|our|one) [\w' -]{2,40}?) (in|on|inside) (it|them)"
    r"(?!\w)|"
    r"( [\w-]+)?, (?P<who__>((an?|the|my|our|one) )?[\w' -]{2,40}?) (on top(?! of)|inside|in the "
    r"middle|"
    r"in the corner|(in|on|under|beside|behind) it)(?!\w)"
)
"""Behind where something is to be seen."""
_BREAK = re.compile(r"[.:!?]\s")
_NARROWING = frozenset(
    [Attribute.VERSION, Attribute.CREATED_AT, Attribute.LAST_USED_AT, Attribute.ENVIRONMENT,
     Attribute.STYLE]
)  # fmt: skip
"""What leaves several of any kind, so that the kind has still to be said: "version 36"."""
_ADDING = frozenset(["add", "give", "put", "make", "include", "have", "let", "set"])
"""Tells what the picture shows besides: "Use version 36. Add a red hat"."""


def missing_subject(draft: Draft, span: Span) -> Constraint:
    """The constraint on a subject that no card has."""
    text = span.of(draft.page.text)
    return Constraint(
        attribute=Attribute.SUBJECT,
        values=(canonical(text),),
        span=span,
        text=text,
        label=canonical(text),
    )


def unknown_head(draft: Draft, nouns: list[Noun]) -> Constraint | None:
    """The head noun of a phrase that is no subject of the catalog ("a pangolin in the snow")."""
    covered = {index for noun in nouns for index in range(noun.first, noun.last)}
    chosen: int | None = None
    for chunk in noun_chunks(draft):
        if chosen is not None and not _is_in_another_sentence(draft, chosen, chunk[0].index):
            return None
        if any(word.index in covered for word in chunk) or draft.triggers:
            return None
        if chosen is not None and _is_added_to(draft, chunk):
            continue
        head = head_of(draft, chunk)
        if head is not None and _colours_what_follows(draft, head):
            return None
        if head is not None and (
            tells(draft, head)
            or _is_added(draft, chunk)
            or _is_on_it(draft, chunk)
            or leads_to_another(draft, head)
        ):
            continue
        if head is not None:
            return _unknown(draft, chunk, head)
        if any(word.norm in lexicon.words("selectors") for word in chunk):
            if not any(c.hard and c.attribute in _NARROWING for c in draft.constraints):
                return None  # an order alone picks one, of whatever kind
            chosen = chunk[-1].index  # "It has to be the one from May. A helicopter in the fog."
    return None


def _colours_what_follows(draft: Draft, head: Word) -> bool:
    """Whether a colour is of a subject some words on: "my | orange | travel mug"."""
    words = draft.page.words[head.index + 1 : head.index + 4]
    if head.norm not in lexicon.colours() or not words or not words[0].joined:
        return False
    following = [word for word in words if word.joined]
    return any(
        (noun := draft.noun_at(word.index)) is not None and bool(noun.entry.subjects)
        for word in following
    )


def _is_in_another_sentence(draft: Draft, first: int, second: int) -> bool:
    """Whether a sentence, or what a colon announces, begins between two words."""
    words = draft.page.words
    between = draft.page.shadow[words[first].full_end : words[second].start]
    return _BREAK.search(between) is not None


def _is_added_to(draft: Draft, chunk: list[Word]) -> bool:
    """Whether it is to be seen with what was chosen before: "Add | a red hat"."""
    before = draft.page.words[chunk[0].index - 1 : chunk[0].index] if chunk[0].joined else []
    return any(word.norm in _ADDING for word in (*before, *chunk[:1]))


def _is_added(draft: Draft, chunk: list[Word]) -> bool:
    """Whether several are only seen too: "treehouse on a hill, | lanterns in the branches"."""
    first, last = draft.page.words[0], chunk[-1]
    opens = draft.is_free(first) and first.norm in lexicon.description_groups()
    opens = opens and not is_adjective(first.norm)
    behind = draft.page.words[1:2]
    opens = opens and any(w.joined and w.norm in lexicon.words("prepositions") for w in behind)
    later = last is not first and len(chunk) == 1
    return opens and later and next(wordnet.singulars(last.norm), None) is not None


def _is_on_it(draft: Draft, chunk: list[Word]) -> bool:
    """Whether a thing is said to be on what was named before: "a taxi; | dice | at its mirror"."""
    behind = draft.page.words[chunk[-1].index + 1 : chunk[-1].index + 3]
    placed = len(behind) == 2 and behind[0].norm in lexicon.words("prepositions")
    its = placed and behind[1].norm in ("its", "his", "her", "their")
    return its and any(n.entry.subjects and n.last <= chunk[0].index for n in draft.nouns)


def leads_to_another(draft: Draft, head: Word) -> bool:
    """Whether a story or its hero only leads to a known subject: "my story is about | the fox",
    "funny story, I drew | a fox", but not "a book beside the fox".
    """
    if _is_only_where(draft, head):
        return True
    behind = draft.page.words[head.index + 1 : head.index + 2]
    if head.norm not in _STORIES or not behind:
        return False
    told = behind[0].joined and (behind[0].norm in _VERBS or behind[0].norm == "of")
    told = told or (not behind[0].joined and behind[0].norm in ("i", "we", "once", "there"))
    return told and any(n.entry.subjects and n.first > head.index for n in draft.nouns)


def _is_only_where(draft: Draft, head: Word) -> bool:
    """Whether a request begins with where a known subject is: "a waiting room where | a poodle
    sits", "a basket with | my cat in it", "parade float, | an owl on top".
    """
    place = _WHERE_IT_IS.match(draft.page.shadow, head.full_end)
    if place is None:
        return False
    if place["who_"] and not _may_be_place(draft, head):
        return False  # "a typewriter with a candle on it"
    who = next(name for name, said in place.groupdict().items() if said)
    inside = Span(*place.span(who))
    known = (noun for noun in draft.nouns if noun.entry.subjects)
    return any(draft.span_of(noun.first, noun.last).meets(inside) for noun in known)


def _may_be_place(draft: Draft, word: Word) -> bool:
    groups = lexicon.environment_groups().values()
    named = is_known_place(draft, word) or any(word.norm in group for group in groups)
    return named or nature(word.norm) is Nature.PLACE or word.norm in lexicon.words("scenes")


def chosen_thing(draft: Draft) -> Constraint | None:
    """What a version, an order or a date is asked of, when nothing in the request is known.

    "The sofa on a raft, version 8", "a sunset behind the tractor, latest build".
    """
    if draft.answering or draft.triggers:
        return None
    chosen = {c.attribute for c in draft.constraints if c.hard} & _CHOOSING
    words = draft.page.words
    for word in words[1:] if chosen else ():
        the = words[word.index - 1]
        if the.norm not in ("the", "my", "our") or not word.joined or not draft.is_free(word):
            continue
        placed = the.index > 0 and words[the.index - 1].norm in lexicon.words("prepositions")
        behind = words[word.index + 1 : word.index + 2]
        scenes = lexicon.words("scenes")
        compound = bool(behind) and behind[0].joined and lexicon.names_thing(behind[0].norm)
        if compound and not (word.norm in scenes and (placed or behind[0].norm in scenes)):
            word = behind[0]  # "the wedding cake"
        known = any(n.first <= word.index < n.last and n.entry.subjects for n in draft.nouns)
        scene = known or (placed and word.norm in lexicon.words("scenes"))
        no_thing = lexicon.is_no_noun(word.norm) or leads_to_another(draft, word)
        if not scene and lexicon.names_thing(word.norm) and not no_thing:
            return missing_subject(draft, word.span)
    return None


def ordered_thing(draft: Draft) -> Constraint | None:
    """The thing nobody has that an order is of, wherever it stands: "winds our newest monorail"."""
    words = draft.page.words
    ends = [c.span.end for c in draft.constraints if c.attribute is Attribute.ORDER and c.span]
    for word in words[1:]:
        if not word.joined or words[word.index - 1].full_end not in ends:
            continue
        last = word
        for following in words[word.index + 1 : word.index + 3]:
            closed = lexicon.is_no_noun(following.norm) or following.norm in lexicon.verb_forms()
            if not following.joined or closed or not draft.is_free(following):
                break
            last = following
        alone = last is words[-1] and len(words) <= _FEW_WORDS and not is_known_place(draft, last)
        thing = lexicon.names_thing(last.norm) and (
            alone or last.norm not in lexicon.words("scenes")
        )
        thing = thing and last.norm not in lexicon.words("selectors")
        if thing and draft.is_free(last) and not draft.nouns_cover(last.index):
            return missing_subject(draft, last.span)
    return None


def _unknown(draft: Draft, chunk: list[Word], head: Word) -> Constraint:
    """The unknown head; a compound of a known one ("tree house") is unknown as a whole."""
    phrase = _phrase(draft, chunk, head)
    missing = replace(missing_subject(draft, head.span), text=phrase)
    entry = draft.lexicon.subjects.get(head.norm)
    compound = not lexicon.colours().issuperset(canonical(phrase).split()[:-1])  # no "navy sloop"
    if compound and entry is not None and entry.subjects:
        return replace(missing, values=(canonical(phrase),), label=canonical(phrase))
    return missing


def _phrase(draft: Draft, chunk: list[Word], head: Word) -> str:
    """The head with its modifiers: "dog house"."""
    start = head.start
    for word in reversed([word for word in chunk if word.index < head.index]):
        if not draft.is_free(word) or word.norm in lexicon.words("determiners"):
            break
        start = word.start
    return draft.page.text[start : head.end]
