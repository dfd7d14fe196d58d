"""Anything a description may say: modifiers of the subject, "with …", "wearing …", "the … one"."""

from __future__ import annotations

import re

from personalq.checkin import lexicon
from personalq.checkin.draft import Draft
from personalq.checkin.intent import Attribute, Constraint, Span
from personalq.checkin.text import Word, ends_before

_WEARING = frozenset(
    [
        "wearing",
        "with",
        "having",
        "has",
        "sporting",
        "carrying",
        "holding",
        "whose",
        "featuring",
        "dressed",
    ]
)
_STOPS = frozenset(
    [
        "on",
        "at",
        "under",
        "near",
        "by",
        "beside",
        "behind",
        "over",
        "through",
        "against",
        "across",
        "into",
        "onto",
        "inside",
        "outside",
        "while",
        "during",
        "to",
        "from",
        "using",
        "as",
        "for",
        "of",
        "next",
        "and",
        "but",
        "in",
        "that",
        "who",
        "which",
        "is",
    ]
)
_REACH = 7
_NEGATION = re.compile(
    r"(?<!\w)(?:not|except(?:\s+for)?|excluding|other\s+than|anything\s+but)\s+"
    r"(?:(?:the|a|an|that|one|ones|with|in|wearing)\s+)*$"
)


def parse_description(draft: Draft) -> None:
    """Leave soft constraints for words that describe the subject, not the scene."""
    words = draft.page.words
    subject = next((c for c in draft.constraints if c.attribute is Attribute.SUBJECT), None)
    heads = [n for n in draft.nouns if subject and draft.span_of(n.first, n.last) == subject.span]
    for noun in heads:
        _modifiers(draft, noun.first)
        _tail(draft, noun.last)
    for index, word in enumerate(words):
        if word.norm in lexicon.words("selectors") and draft.is_free(word):
            _modifiers(draft, index)
            _tail(draft, index + 1)
    if heads:
        _asides(draft)
    if draft.answering or (not heads and draft.unknown_subject is None):
        _loose(draft)


def _content(word: Word, draft: Draft) -> bool:
    norm = word.norm
    following = draft.page.words[word.index + 1 : word.index + 2]
    if following and following[0].hyphen and norm == "off":
        return draft.is_free(word)  # "off-white"
    return (
        draft.is_free(word)
        and len(norm) > 1
        and norm[0].isalpha()
        and norm not in lexicon.words("determiners")
        and norm not in lexicon.words("empty_adjectives")
        and norm not in lexicon.words("selectors")
        and norm not in lexicon.words("openers")
        and norm not in lexicon.words("links")
        and norm not in lexicon.words("prepositions")
    )


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
        counted = words[index + 1].hyphen  # "four-door"
        if (word.norm in lexicon.words("determiners") and not counted) or word.possessive:
            break
        if not draft.is_free(word) or word.norm in lexicon.words("empty_adjectives"):
            if word.norm in lexicon.words("prepositions") or word.norm in lexicon.words("links"):
                break
            continue
        if (
            word.norm in lexicon.words("prepositions")
            or word.norm in lexicon.words("links")
            or word.norm in lexicon.words("openers")
            or word.norm in lexicon.words("frames")
        ):
            break
        if _content(word, draft):
            found.append(word)
    _add(draft, list(reversed(found)))


def _listed(draft: Draft, index: int) -> bool:
    """A comma between adjectives: "fluffy, brown bear"."""
    words = draft.page.words
    if index == 0:
        return False
    gap = draft.page.shadow[words[index - 1].full_end : words[index].start].strip()
    before = words[index - 1]
    return gap == "," and (
        before.norm in lexicon.description_groups() or lexicon.is_adjective_like(before.norm)
    )


def _tail(draft: Draft, index: int) -> None:
    """Read what follows the head: "with a red scarf", "wearing glasses", "in a tuxedo"."""
    words = draft.page.words
    while index < len(words) and (
        not draft.is_free(words[index])
        or words[index].norm in ("that", "who", "which", "is", "was", "one", "model", "version")
    ):
        index += 1
    if index >= len(words):
        return
    lead = words[index]
    if lead.norm == "in":
        worn = [w.norm for w in words[index + 1 : index + 5] if w.joined]
        if not any(w in lexicon.wearables() for w in worn):
            return
    elif lead.norm not in _WEARING or (not lead.joined and lead.norm not in ("wearing", "with")):
        return
    found: list[Word] = []
    for word in words[index + 1 : index + 1 + _REACH]:
        if not word.joined:
            break
        if word.norm in _STOPS:
            if word.norm == "and" and found:
                continue
            if word.norm in ("in", "of") and not found:
                continue
            break
        if (
            word.norm in lexicon.verb_forms()
            and word.norm not in lexicon.description_groups()
            and found
        ):
            break
        if _content(word, draft):
            found.append(word)
    _add(draft, found)


def _asides(draft: Draft) -> None:
    """Phrases after a comma that only describe: "a car, golden and small"."""
    groups = lexicon.description_groups()
    run: list[Word] = []
    for word in (*draft.page.words, None):
        if word is not None and word.joined:
            run.append(word)
            continue
        said = [w for w in run if w.norm not in ("and", "but", "a", "an", "the", "one", "very")]
        after_comma = bool(run) and run[0].index > 0
        if after_comma and said and all(w.norm in groups and draft.is_free(w) for w in said):
            _add(draft, said)
        run = [word] if word is not None else []


def _loose(draft: Draft) -> None:
    """In an answer, or with no subject at all: every unclaimed content word describes."""
    groups = lexicon.description_groups()
    words = [word for word in draft.page.words if _content(word, draft)]
    _add(draft, [word for word in words if draft.answering or word.norm in groups])


def _add(draft: Draft, found: list[Word]) -> None:
    if not found:
        return
    span = Span(found[0].start, found[-1].end)
    known = {
        word for c in draft.constraints if c.attribute is Attribute.DESCRIPTION for word in c.values
    }
    values = tuple(word.norm for word in found if word.norm not in known)
    if not values:
        return
    unwanted = ends_before(_NEGATION, draft.page.shadow, span.start) is not None
    draft.constraints.append(
        Constraint(
            attribute=Attribute.DESCRIPTION,
            values=values,
            excluded=unwanted,
            hard=unwanted,
            span=span,
            text=span.of(draft.page.text),
            label=("not " if unwanted else "") + " ".join(values),
        )
    )
