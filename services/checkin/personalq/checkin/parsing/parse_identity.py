"""A checkpoint named: by its id, a trigger, an alias or its display name.

    <bear-v4>   bear-v4   sks dog   Biscuit   Grandma's teapot

Ids and triggers look like nothing else, so they are meant wherever they stand, unless they are
spelled like an ordinary word: then only in angle brackets. What people call a thing is often an
ordinary word too ("a lucky cat"): it is meant in the places where a name stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Constraint, Span
from personalq.checkin.lexicon import canonical
from personalq.checkin.names import Named, NameKind, runs
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.text import shadow
from personalq.checkin.vocabulary import Lexicon

_BRACKETED = re.compile(r"<[^<>\s]{1,128}>")
_MARKUP = frozenset(
    "b i p br em hr li ol ul div span strong code pre h1 h2 h3".split()  # noqa: SIM905
)
_CALLED = (NameKind.ALIAS, NameKind.NAME)
_PRECEDENCE = (NameKind.CHECKPOINT_ID, NameKind.TRIGGER, *_CALLED)
_ARTICLES = frozenset(("a", "an", "some", "any", "another", "each", "every", "no", "the"))
_NO_NAME_AFTER = _ARTICLES | frozenset(
    ("is", "are", "was", "were", "be", "looks", "very", "so", "too", "quite", "really")
)
_INTRODUCED = frozenset(("named", "called", "nicknamed"))
_CLASSES = ("determiners", "prepositions", "links", "openers", "selectors", "frames", "scenes")
_VERSION = compile_form(r"(v|ver|version)?\.?\d+(\.\d+)*")
_SENTENCE_END = compile_form(r"(^|[.!?:\n]) ?$")
_QUOTES = "\"'“”„«»"


def parse_identity(draft: Draft) -> None:
    """Claim names; ids before triggers before what people call it.

    Several ids or triggers accept any of them. Of several aliases the first is meant: the others
    are part of its picture.
    """
    found = list(_found(draft))
    for kinds in ((NameKind.CHECKPOINT_ID,), (NameKind.TRIGGER,), _CALLED):
        named = [(span, each) for span, each in found if each.kind in kinds]
        if not named:
            continue
        by_name = kinds is _CALLED
        if by_name:
            first = canonical(named[0][1].spelling)
            named = [(span, each) for span, each in named if canonical(each.spelling) == first]
        for span, each in found:
            draft.mark(span)
            meant = (span, each) in named if by_name else each.kind not in _CALLED
            places = draft.triggers if meant else draft.bystanders
            if span not in places:
                places.append(span)
        span = named[0][0]
        draft.constraints.append(
            Constraint(
                attribute=Attribute.IDENTITY,
                values=tuple(dict.fromkeys(each.spelling for _, each in named)),
                by_trigger=NameKind.TRIGGER in kinds,
                by_name=by_name,
                span=span,
                text=span.of(draft.page.text),
                label=f"called “{span.of(draft.page.text)}”",
            )
        )
        return


def _found(draft: Draft) -> Iterator[tuple[Span, Named]]:
    """Names in the order of the prompt, longer ones first where they overlap."""
    taken: list[tuple[Span, Named]] = []
    known = [(span, draft.context.names[run]) for span, run in runs(draft.page.shadow)
             if run in draft.context.names]  # fmt: skip
    for span, meanings in reversed(known):
        meant = [(_place(draft, span, each), each) for each in meanings]
        places = [(place, each) for place, each in meant if place is not None]
        free = [each for each in places if not any(each[0].meets(other) for other, _ in taken)]
        if not free:
            continue
        likeliest = min(free, key=lambda each: _precedence(draft, *each))
        # A trigger that cards spell in two ways stands for both.
        taken += [each for each in free if each == likeliest
                  or (each[0] == likeliest[0]
                      and each[1].kind is likeliest[1].kind is NameKind.TRIGGER)]  # fmt: skip
    taken += [
        (span, named)
        for span, named in _unknown_triggers(draft)
        if not any(span.meets(other) for other, _ in taken)
    ]
    return iter(sorted(taken, key=lambda each: each[0]))


def _precedence(draft: Draft, span: Span, named: Named) -> int:
    """Brackets make a trigger."""
    if named.kind is NameKind.TRIGGER and draft.page.shadow[span.start] == "<":
        return -1
    return _PRECEDENCE.index(named.kind)


def _unknown_triggers(draft: Draft) -> Iterator[tuple[Span, Named]]:
    """What looks like a trigger and is none: nothing else can have been meant."""
    for match in _BRACKETED.finditer(draft.page.shadow):
        inner = match[0][1:-1].strip("/")
        if any(c.isalpha() for c in inner) and inner not in _MARKUP:
            spelling = draft.page.text[match.start() : match.end()]
            yield Span(*match.span()), Named(kind=NameKind.TRIGGER, spelling=spelling)


def _place(draft: Draft, span: Span, named: Named) -> Span | None:
    """Where the name stands, if it is meant there."""
    if draft.page.shadow[span.start : span.end].endswith("'s"):
        own = shadow(named.spelling).endswith("'s")
        span = span if own else Span(span.start, span.end - 2)
    if named.kind in (NameKind.CHECKPOINT_ID, NameKind.TRIGGER):
        return _spelled_out(draft, span, named)
    return span if _is_called(draft, span, named) else None


def _spelled_out(draft: Draft, span: Span, named: Named) -> Span | None:
    lowered = draft.page.shadow
    if lowered[span.start] == "<" and lowered[span.end - 1] == ">":
        return span
    if lowered[span.start - 1 : span.start] == "<" and lowered[span.end : span.end + 1] == ">":
        return Span(span.start - 1, span.end + 1)
    inner = shadow(named.spelling).removeprefix("<").removesuffix(">")
    if _ordinary(draft.lexicon, inner):
        return None
    if " ".join(span.of(lowered).split()) == " ".join(inner.split()):
        return span
    # "★mouse★": its words alone are not the trigger.
    start = lowered.find(inner, max(0, span.start - len(inner)), span.end + len(inner))
    return Span(start, start + len(inner)) if start >= 0 else None


def _is_called(draft: Draft, span: Span, named: Named) -> bool:
    """Whether an alias or a display name stands where a name does."""
    before, after = draft.page.text[: span.start], draft.page.text[span.end :]
    if before[-1:] and before[-1] in _QUOTES and after[:1] and after[0] in _QUOTES:
        return True
    previous = draft.page.word_before(span.start)
    if previous is not None and before[previous.full_end :].strip():
        previous = None  # a comma stands between them
    if previous is not None and previous.norm in _INTRODUCED:
        return True
    name = shadow(named.spelling)
    capital = _capital_says_so(draft, span) and not _is_time(name)
    if _ordinary(draft.lexicon, name, called=True):
        return capital and named.kind is NameKind.ALIAS
    if capital:
        return True
    if previous is not None and previous.norm in _NO_NAME_AFTER:
        return False
    return _ends_a_phrase(draft, span)


def _ends_a_phrase(draft: Draft, span: Span) -> bool:
    """Whether no noun follows that the word would only describe: "a bright sunny morning"."""
    following = draft.page.word_at(span.end)
    if following is None or not following.joined or draft.page.shadow.startswith("'s", span.end):
        return True
    word = following.norm
    if word in lexicon.words("scenes"):
        return False
    closed = any(word in lexicon.words(kind) for kind in ("prepositions", "links", "continuations"))
    return closed or word in _ARTICLES or word in lexicon.verb_forms() or word.endswith("ing")


def _capital_says_so(draft: Draft, span: Span) -> bool:
    """Whether the name alone begins with a capital, in the middle of a sentence."""
    text = draft.page.text
    if not text[span.start].isupper() or _SENTENCE_END.search(text[: span.start]):
        return False
    others = [w for w in draft.page.words if not w.span.meets(span) and len(w.norm) > 3]
    return not others or not all(word.capital for word in others)


def _is_time(name: str) -> bool:
    return any(name in lexicon.calendar(kind) for kind in ("months", "seasons"))


def _ordinary(lexicon_: Lexicon, name: str, *, called: bool = False) -> bool:
    """Whether a name reads as ordinary words of a request: "toy", "red bear", "bear v4".

    People name their things by nouns and adjectives: of what is `called` so, only a noun that the
    catalog has a checkpoint of is ordinary, and an adjective only beside such a noun.
    """
    if _is_tag(lexicon_, canonical(name), called=called):
        return True
    words = name.split()
    if len(words) == 1 and not name.isalpha():
        return False
    adjectives = not called or len(words) > 1
    return all(
        _VERSION.fullmatch(word)
        or _is_tag(lexicon_, canonical(word), called=called)
        or _is_word(canonical(word), adjectives=adjectives)
        for word in words
    )


def _is_tag(lexicon_: Lexicon, phrase: str, *, called: bool) -> bool:
    """Whether the catalog knows it as a subject, a look or a place."""
    subject = lexicon_.subjects.get(phrase)
    if subject is not None and (subject.subjects or not called):
        return True
    tags = (lexicon_.styles.get(phrase), lexicon_.environments.get(phrase))
    return any(tag is not None and (tag.known or not called) for tag in tags)


def _is_word(word: str, *, adjectives: bool) -> bool:
    """Whether the grammar has a place for it."""
    if len(word) < 3 or _is_time(word) or word in lexicon.verb_forms():
        return True
    if any(word in lexicon.words(kind) for kind in _CLASSES):
        return True
    return adjectives and (
        word in lexicon.words("empty_adjectives") or word in lexicon.description_groups()
    )
