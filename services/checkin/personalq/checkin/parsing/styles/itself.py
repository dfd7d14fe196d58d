"""Words that a catalog has as a look and as a subject: "a cartoon from May", "a cartoon dog"."""

from __future__ import annotations

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.parsing.draft import Draft, Tag
from personalq.checkin.parsing.styles.leads import KEY, LIKE, NEGATION, STYLED, THAT_IS
from personalq.checkin.parsing.text import Word, ends_before

_AS = compile_form(r"(?<!\w)(in|as|into|like|from|(drawn|done|made|rendered) as) ((an?|the) )?$")
_SHOWS = compile_form(" (take on|version of|of) ((the|my|our|an?|this|that) )?")


def without_subjects(draft: Draft) -> tuple[Tag, ...]:
    """The looks of a request without those words that name what is asked for."""
    if draft.answering:
        return draft.styles
    return tuple(tag for tag in draft.styles if not _names_subject(draft, tag))


def _names_subject(draft: Draft, tag: Tag) -> bool:
    """Whether a look's word is a subject here: nothing it could be the look of is asked for."""
    words, shadow = draft.page.words, draft.page.shadow
    name = " ".join(word.norm for word in words[tag.first : tag.last])
    entry = draft.lexicon.subjects.get(name)
    if entry is None or not entry.subjects or entry.narrower or entry.kind:
        return False
    first, last = words[tag.first], words[tag.last - 1]
    if STYLED.match(shadow, last.end) or draft.leads_to_head(tag.last) or _heads_line(draft, tag):
        return False
    before = words[tag.first - 1].norm if tag.first and first.joined else ""
    other = draft.lexicon.subjects.get(before)
    others = other.subjects if other is not None else ()
    kinds = any(name in subject.split() for subject in others)  # "pirate cartoon"
    if others and not (kinds or set(others) & set(entry.subjects)):
        return False  # "bear cartoon"
    if any(ends_before(lead, shadow, first.start) for lead in (NEGATION, KEY, LIKE, THAT_IS, _AS)):
        return False
    if shows := _SHOWS.match(shadow, last.end):
        shown = draft.page.word_at(shows.end())
        return shown is None or draft.noun_at(shown.index) is None
    return not any(_is_before(draft, tag, noun.last) for noun in draft.nouns if noun.entry.subjects)


def _is_before(draft: Draft, tag: Tag, last: int) -> bool:
    """Whether a subject that ends there is what has the look: "the dog, cartoon, in the rain"."""
    words, shadow = draft.page.words, draft.page.shadow
    if last > tag.first or ":" in shadow[words[last - 1].end : words[tag.first].start]:
        return False
    before = words[tag.first - 1]
    if not (words[tag.first].joined and _determines(before)):
        return True
    closes = tag.last == len(words) or not words[tag.last].joined
    placed = words[0].norm in lexicon.words("prepositions")  # "beside a lamp, the cartoon"
    return closes and not before.joined and not placed  # "my bear, the cartoon, on a hill"


def _heads_line(draft: Draft, tag: Tag) -> bool:
    """Whether it stands alone before a subject: "cartoon: a bear in a forest", "cartoon, dog"."""
    words, index = draft.page.words, tag.last
    if index >= len(words) or words[index].joined:
        return False
    index += words[index].norm in lexicon.words("determiners")
    noun = draft.noun_at(index)
    return noun is not None and bool(noun.entry.subjects)


def _determines(word: Word) -> bool:
    return word.norm in ("the", "my", "our") or word.norm in lexicon.words("openers")
