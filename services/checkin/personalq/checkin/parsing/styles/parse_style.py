"""Styles, wanted, refused and preferred: "in watercolor", "not anime", "more comic than photo"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Constraint, Span
from personalq.checkin.lexicon import canonical
from personalq.checkin.parsing.draft import Draft, Tag
from personalq.checkin.parsing.styles.leads import (
    ALONE_BEFORE,
    ALONE_BEHIND,
    LIKE,
    REFUSED,
    STYLED,
    refusal,
)
from personalq.checkin.parsing.styles.reached import DRAWN
from personalq.checkin.parsing.styles.role import constrains, stands_last
from personalq.checkin.parsing.text import ends_before

_DEGREE = compile_form(
    r"(\b(most|more|very|really|super|quite|highly|ultra|extremely|rather|pretty|fully|truly)~)+$"
)
_IN_STYLE = compile_form(r"(\bin (the )?(style|look) of (an? |the )?|\bin (an? |the )?)$")
_DRAWN_WITH = compile_form(
    rf"(?<!\w)({'|'.join(sorted(DRAWN))}|painted) with ((nothing but|only|just) )?(\w+ )?$"
)
_NEARER = compile_form(
    r"(?<!\w)((more|rather)( (of|like))?|(closer|nearer) to)( (an?|the))?( \w+)? $"
)
_NO_NEARER = compile_form(
    r"(?<!\w)(not|no|never|hardly|less|any|even|with|has|have|having|holding|showing) $"
)
"""Before what is no comparison of looks, or is refused: "with | more photos than paintings"."""
_THAN = compile_form(r"( (on|in|with) \w+)? than( (to|of|like))?( (an?|the))? ")
"""Between two looks: "more an old master | on canvas than a | photo"."""
_NOR_THE = compile_form("(, ?)?(or|nor) (the|any|an?)")
_AND = compile_form(" ?(, ?)?(and|or|nor) ((the|any|an?) )?")
_AND_THE = compile_form("(, ?)?(and|or|nor)( ?(the|any|an?))?")
_COMMA = compile_form(",( ?(the|an?))?")
_COMMA_NEXT = compile_form(" ?, ?((the|an?) )?")
_COMMA_THE = compile_form(", ?(the|an?)")
_RATHER = compile_form(r"(rather than|instead of)\s", flags=re.IGNORECASE)
_WANTED = compile_form(r"\s(would|will|are|is) (be )?(fine|great|good|ok|okay|nice|perfect|do)\b")
"""What follows a look that is wanted: "anything but anime, watercolor would be great"."""
_ALL_BUT = compile_form(
    "((any|every)(thing|one)?( goes)? but|((any|every)(thing|one)? )?(except|excluding|other than|"
    r"apart from|aside from))\s",
    flags=re.IGNORECASE,
)
"""Before several that are not wanted: "anything except pop art, oils and anime"."""
_SEVERAL = compile_form(rf"(skip|avoid)\s|{_ALL_BUT.pattern}", flags=re.IGNORECASE)
_NONE_OF = compile_form(
    r"((that|which) )?(isn't|aren't|wasn't|weren't|not in|neither|without|no|none of|never|"
    r"avoid|skip|"
    r"(don't|doesn't|do not|does not|can't|cannot)\s[^,]*)\s",
    flags=re.IGNORECASE,
)
"""Before several of which it has none: "aren't anime, cartoon or oil"."""
_BOTH_OUT = compile_form(r"\s(are|both|all)\s", flags=re.IGNORECASE)
_OR_NOR = compile_form(" ?(, ?)?(or|nor) ((the|any|an?) )?")
_OR = compile_form(" ?(, ?)?(or|/) ?(an? |the )?")


def parse_style(draft: Draft) -> None:
    """Claim style words that stand in the subject's phrase or in "in … style"."""
    found: list[Constraint] = list(_compared(draft))
    previous: Constraint | None = None
    all_but = len(found)
    for tag in draft.styles:
        span = draft.span_of(tag.first, tag.last)
        if not draft.free(span.start, span.end):
            continue
        if not constrains(draft, tag):
            if stands_last(draft, tag):
                draft.add(_preferred(draft, tag, span))
            continue
        constraint = _constraint(draft, tag, span)
        if constraint.excluded and (tag.entry.near or not tag.entry.known):
            nearest = _nearest(draft, tag)
            if not nearest:
                draft.mark(span, selecting=True)
                continue
            constraint = replace(constraint, values=nearest)
        but = found[all_but].text if all_but < len(found) else ""
        if previous is not None and _goes_on(draft, previous, constraint, opening=but):
            constraint = replace(constraint, excluded=True, label=f"not {constraint.label}")
            if previous.span is not None and constraint.span is not None:  # "or the"
                draft.mark(Span(previous.span.end, constraint.span.start), selecting=True)
            found.append(constraint)
        elif previous is not None and _joined_by_or(draft, previous, constraint):
            found[-1] = _either(draft, previous, constraint)
        elif previous is not None and (both := _both(draft, previous, constraint)):
            found[-1] = both
        else:
            all_but = len(found)
            if previous is not None and _are_both_out(draft, previous, constraint):
                found[-1] = replace(previous, excluded=True, label=f"not {previous.label}")
            found.append(constraint)
        draft.mark(constraint.span or span, selecting=constraint.excluded)
        previous = found[-1]
    draft.constraints += _deduplicated(found)


def _compared(draft: Draft) -> Iterator[Constraint]:
    """Claim a look that is nearer than another: "more of a pencil drawing than a photo"."""
    shadow = draft.page.shadow
    tags = {draft.span_of(tag.first, tag.last): tag for tag in draft.styles}
    for span, tag in tags.items():
        lead = ends_before(_NEARER, shadow, span.start)
        than = _THAN.match(shadow, span.end) if lead else None
        if lead is None or than is None or ends_before(_NO_NEARER, shadow, lead.start()):
            continue
        other = next((each for each in tags if each.start == than.end()), None)
        whole = Span(lead.start(), other.end if other else than.end())
        if not draft.free(whole.start, whole.end):
            continue
        draft.mark(whole, selecting=True)
        yield _constraint_of(tag, Span(lead.start(), span.end), draft, excluded=False)
        if other is not None and tags[other].entry.known and not tags[other].entry.near:
            yield _constraint_of(
                tags[other], Span(than.start() + 1, other.end), draft, excluded=True
            )


def _constraint_of(tag: Tag, span: Span, draft: Draft, *, excluded: bool) -> Constraint:
    """The look of a tag as what must hold, or must not, with the words that say so."""
    word = canonical(draft.span_of(tag.first, tag.last).of(draft.page.text))
    return Constraint(
        attribute=Attribute.STYLE,
        values=tag.entry.values,
        excluded=excluded,
        span=span,
        text=span.of(draft.page.text),
        label=f"{'not ' if excluded else ''}{word}",
    )


def _are_both_out(draft: Draft, first: Constraint, second: Constraint) -> bool:
    """Whether what refuses one look is said of two: "oil | and | anime are both out"."""
    if first.excluded or not (second.excluded and first.span and second.span):
        return False
    between = draft.page.shadow[first.span.end : second.span.start]
    return _BOTH_OUT.search(second.text) is not None and between.strip() in ("and", "or", "&", ",")


def _preferred(draft: Draft, tag: Tag, span: Span) -> Constraint:
    """A look that cards of it are put before others for."""
    text = span.of(draft.page.text)
    return Constraint(
        attribute=Attribute.STYLE,
        values=tag.entry.values,
        hard=False,
        prefers=True,
        span=span,
        text=text,
        label=text,
    )


def _nearest(draft: Draft, tag: Tag) -> tuple[str, ...]:
    """The tags of the nearest look that the catalog has in place of the one it lacks."""
    word = " ".join(w.norm for w in draft.page.words[tag.first : tag.last])
    groups = lexicon.style_groups()
    for group in groups.values():
        for name in group.cousins if word in group.words else ():
            entry = draft.lexicon.styles.get(name)
            if entry is not None and entry.known and not entry.near:
                return entry.values
    return ()


def _either(draft: Draft, first: Constraint, second: Constraint) -> Constraint:
    """One constraint that either of two styles satisfies."""
    span = Span((first.span or Span(0, 0)).start, (second.span or Span(0, 0)).end)
    return replace(
        first,
        values=tuple(dict.fromkeys((*first.values, *second.values))),
        span=span,
        text=span.of(draft.page.text),
        label=f"{first.label} or {second.label}",
    )


def _goes_on(draft: Draft, previous: Constraint, constraint: Constraint, *, opening: str) -> bool:
    """Whether an unwanted look is told in more words: "anything but the computer generated 3D".

    Args:
        opening: the words of the first look of the same list.
    """
    if not previous.excluded or constraint.excluded or not (previous.span and constraint.span):
        return False
    between = draft.page.shadow[previous.span.end : constraint.span.start].strip()
    if between in ("", "or", "nor", "and of", "or of", "nor of") or _NOR_THE.fullmatch(between):
        return True
    if _SEVERAL.match(opening) and _AND_THE.fullmatch(between):
        return True  # "skip the cartoon one and the anime one"
    if _RATHER.match(opening) or _WANTED.search(draft.page.shadow, constraint.span.end):
        return False
    none_of = _NONE_OF.match(opening)
    several = _ALL_BUT.match(opening) or none_of
    comma = _COMMA.fullmatch(between) if several else _COMMA_THE.fullmatch(between)
    listed = _is_listed(draft, constraint.span.end, _OR_NOR if none_of else _AND)
    return listed and comma is not None  # "not the cartoon, the ink or the oil version"


def _is_listed(draft: Draft, end: int, last: re.Pattern[str]) -> bool:
    """Whether more looks follow one, the last of them behind "or"."""
    for joint in (last, _COMMA_NEXT):
        if match := joint.match(draft.page.shadow, end):
            following = draft.page.word_at(match.end())
            tag = draft.style_at(following.index) if following is not None else None
            return tag is not None and (
                joint is last or _is_listed(draft, draft.page.words[tag.last - 1].end, last)
            )
    return False


def _both(draft: Draft, first: Constraint, second: Constraint) -> Constraint | None:
    """One look of two neighbouring words where tags say both: "b/w photo"."""
    span = Span((first.span or Span(0, 0)).start, (second.span or Span(0, 0)).end)
    if (
        first.excluded
        or second.excluded
        or first.text + " " + second.text != span.of(draft.page.text)
    ):
        return None
    last = canonical(second.text).split()[-1:]
    values = tuple(value for value in first.values if canonical(value).split()[-1:] == last)
    if not values:
        return None
    text = span.of(draft.page.text)
    return replace(
        first, values=values, span=span, text=text, label=canonical(text), fallback=first
    )


def _deduplicated(found: list[Constraint]) -> list[Constraint]:
    """One constraint per set of values: "a realistic photorealistic bear"."""
    kept: dict[tuple[frozenset[str], bool], Constraint] = {}
    for constraint in found:
        kept.setdefault((frozenset(constraint.values), constraint.excluded), constraint)
    return list(kept.values())


def _joined_by_or(draft: Draft, previous: Constraint, constraint: Constraint) -> bool:
    if previous.span is None or constraint.span is None:
        return False
    between = draft.page.shadow[previous.span.end : constraint.span.start]
    if previous.excluded is not constraint.excluded:
        return False
    joined = bool(_OR.fullmatch(between))
    return joined or (previous.excluded and bool(re.fullmatch(r"\s*(?:,|and|or|nor)\s*", between)))


def _constraint(draft: Draft, tag: Tag, span: Span) -> Constraint:
    shadow = draft.page.shadow
    start, end = span.start, span.end
    word = canonical(draft.page.text[start:end])
    if match := ends_before(_DEGREE, shadow, start):
        start = match.start()
    if match := STYLED.match(shadow, end):
        end = match.end() - (3 if match[0].endswith(" of") else 0)
        if lead := ends_before(_IN_STYLE, shadow, start):
            start = lead.start()
    else:
        for pattern, said in (
            (_IN_STYLE, "style of"),
            (LIKE, "look"),
            (LIKE, " la "),
            (LIKE, "pass"),
            (_DRAWN_WITH, "with"),
        ):
            if (lead := ends_before(pattern, shadow, start)) and said in lead[0]:
                start = lead.start()
    excluded = alone = False
    following = draft.page.word_at(end)
    thing = following is not None and following.joined and lexicon.names_thing(following.norm)
    if not thing and (match := ends_before(ALONE_BEFORE, shadow, start)):
        alone, start = True, match.start()
    if match := ALONE_BEHIND.match(shadow, end):
        alone, end = True, match.end()
    elif match := REFUSED.match(shadow, end):
        excluded, end = True, match.end()
    elif match := refusal(shadow, start, end):
        excluded, start = True, match.start()
        if tail := re.match(r"\s+(?:ones?|versions?|models?|builds?)(?!\w)", shadow[end:]):
            end += tail.end()
    whole = Span(start, end)
    if not draft.free(start, end):
        whole = span
    values = tag.entry.values
    style = Constraint(
        attribute=Attribute.STYLE,
        values=values,
        excluded=excluded,
        span=whole,
        text=whole.of(draft.page.text),
        label=f"{'not ' if excluded else ''}{word}",
        fallback=None if excluded else _as_described(draft, whole, word),
    )
    if alone:
        return replace(style, alone=True, label=f"{word} only")
    described = style.fallback
    if described is not None and tag.entry.near and word in lexicon.colours() and whole == span:
        # "a charcoal robot", where no checkpoint draws with charcoal
        return replace(described, hard=True, fallback=replace(style, fallback=described))
    return style


def _as_described(draft: Draft, span: Span, word: str) -> Constraint | None:
    """The same words as what the subject is like: "the black and white one", "the clay one"."""
    said = tuple(part for part in word.split() if part != "and")
    material = len(said) == 1 and said[0] in lexicon.description_groups()
    old = word in lexicon.style_groups()["vintage"].words
    if not (draft.answering or material or old or set(said) <= lexicon.colours()):
        return None
    return Constraint(
        attribute=Attribute.DESCRIPTION,
        values=said,
        hard=False,
        span=span,
        text=word,
        label=word,
    )
