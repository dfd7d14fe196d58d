"""Training environments: "trained at the beach", "the forest one"; a scene is never one."""

from __future__ import annotations

import re
from dataclasses import replace

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Constraint, Span
from personalq.checkin.lexicon import canonical
from personalq.checkin.lexicon.wordnet import Nature, nature, singulars
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.environments.leads import (
    AND_IN,
    AND_WHERE,
    FROM_SET,
    GREW_UP,
    IN_PLACE,
    SHOT,
    TRAINED_THERE,
    TRAINED_WHERE,
    TRAINING,
    training_leads,
)
from personalq.checkin.parsing.environments.named import FROM, named_phrase
from personalq.checkin.parsing.environments.places import MATERIAL, last_noun, noun_phrase, place_in
from personalq.checkin.parsing.owners.deeds import trains
from personalq.checkin.parsing.text import Word, ends_before
from personalq.checkin.parsing.word_roles import is_doing
from personalq.checkin.vocabulary import TagEntry

_LAST_ONE = compile_form(
    r"(?<!\w)(last|(?P<surely>latest|newest|most recent|first)) ([\w-]+ ){1,4}?((that|which) )?(i|"
    "we)('ve| have)? (ever )?$"
)
"""Before a "trained" that says which is the last."""
_ARTICLE = compile_form(r"(?<!\w)an? $")
_SELECTORS = "|".join(sorted(lexicon.words("selectors")))
REFUSAL = compile_form(
    r"(?<!\w)(not|except( for)?|other than|anything but|without|never|wasn't|isn't|no|minus|"
    "none( of)?|nothing|neither|nor|avoid|skip|leave (out|aside)|leaving (out|aside)|exclude|"
    "excluding|rule out|unless( it)?( (was|is|were))?|"
    "(any|every|all|any one|whichever)(one)? (except|other than|but)|(don't|do not|"
    "rather not) (use|take|pick|choose|want|(give|show|send|bring|hand) (me|us))|"
    "(steer clear|stay away) (of|from)) ((anything|everything|those|any|all|whatever|the|a|an|"
    "ones?|that|was|is|one|with|has|having|from|of|"
    rf"built|based|made|trained|on|i|we|which|{_SELECTORS}) )*$|"
    r"(?<!\w)(any|every)( (place|spot|location|setting|environment)|where|thing)? (but|"
    r"except( for)?|other than) ((the|from|in) )*$"
)
_NOT_ONE = compile_form(
    r"(?<!\w)(don't|do not|never|rather not) (please )?(use|take|pick|choose|want|"
    r"(give|show|send|bring|hand) (me|us)) (an?|any|the|that|my|our) ((of the|of my|of our) )?"
    r"[\w-]+( [\w-]+){0,2} ((that|which) (was|were|is) )?$|"
    r"(?<!\w)any [\w-]+ (but|except( for)?|other than) ((the|from|in) )*$|"
    r"(^|(?<=[.;:!?,] ))not (the|my|our|an?)"
    r"( (?!(but|or|nor|one|newest|latest|oldest|first|last)\b)[\w-]+){1,3} "
    r"((that|which) (was|were|is) )?$"
)
"""Before how one was trained that is not wanted: "don't pick a cat | trained in the kitchen"."""
_REFUSED_BEHIND = compile_form(
    ",? (that |those )?((ones?|models?|versions?) )?((i|we) (can|could) (do|live) without|"
    r"(is|are) (out|off limits|excluded|not wanted))(?= ?($|[,.;!?)]))"
)
"""Behind a place that is not wanted: "those trained at the market | I can do without"."""
_NO_SCENE = frozenset((
    "still", "again", "too", "available", "anywhere", "around", "would", "could", "should", "will",
    "please",
))  # fmt: skip
"""What goes on behind a place, and not with what is to be seen there."""
_TRAINED = compile_form(r"\b(train|tun|taught|learn|school)")
_THERE = compile_form(
    r"( and [\w-]+)? (in|at|on|inside|(?P<of>of)) (an?|the|our|my|some) | and ((the|some|an?) )?"
)
_ALONE = compile_form(r"(?<!\w)(only|solely|exclusively|purely|entirely)(?!\w)")
_ALONE_BEHIND = compile_form(
    "( ?,)? (and )?(nowhere else|no (second|other) (place|location|spot|setting)|only|"
    "alone)(?= ?($|[,.;!?]))"
)
_ROOM_WHERE = compile_form(
    r"(room|place|spot|building|area|house|shop|store|space|part of \w+) "
    r"((where|in which) ((?!\s(but|and) )[^,.;:!?])+|(meant |made |used )?for \w+ing(?!\w))"
)
"""A place that only its clause tells: "in the | room where the cooking happens"."""
_LIES = compile_form(
    r" ((by|of|near|along) the (sea|seaside|ocean|coast|shore)|in town)"
    r"(?= ?($|[,.;:!?)])| (and|please|thanks|made|from)\b)"
)
"""Where a place of training lies: "on the sand | by the sea", "on a street | in town"."""
_END = compile_form(r" (alike|too|as well|both)\b| ?($|[,.:;!?])")
_JOINED = compile_form(" (and|plus|[+&]) $")
_HOW_TRAINED = frozenset((
    "well", "self", "potty", "toilet", "house", "military", "lora", "hand", "home", "combat",
    "police", "circus", "clicker", "crate", "leash", "time", "best", "cross",
))  # fmt: skip
"""What no place is in "potty-trained"."""
_MORE = compile_form(
    " (and|of|with|among|amongst|amid|amidst|between|full of|for|where there are) "
    r"((the|an?|some|all|its|their|both|old|lots of|plenty of|rows of|piles of|stacks of) )*(?=\w)"
)
"""Goes on with what is at a place."""
_BUT = compile_form(
    r"(any|every)(where| training \w+) (but|except( for)?|besides|other than)\s|^without\s|"
    r"^((that|which) )?(had|has|having|with) no\s"
)


def parse_environment(draft: Draft) -> None:
    """Claim places named as places of training."""
    _spelled_out(draft)
    _told_by_what_goes_on(draft)
    _trained_then(draft)
    _shot_then(draft)
    _grew_up(draft)
    words = draft.page.words
    for index in range(len(words)):
        match = draft.lexicon.environments.match_at(words, index)
        if match is None:
            continue
        count, entry = match
        span = draft.span_of(index, index + count)
        if not draft.free(span.start, span.end) or _is_subject(draft, index, index + count):
            continue
        whole = named_phrase(draft, span, known=entry.known)
        if whole is not None:
            _add(draft, entry, span, whole)
            _and_before(draft, span, whole)
        elif entry.known:
            _come_from(draft, entry, span)


def _add(
    draft: Draft,
    entry: TagEntry,
    span: Span,
    whole: Span,
    *,
    said: tuple[str, ...] = (),
    hard: bool = True,
) -> None:
    """Claim a place; negated when "not" leads to it."""
    shadow = draft.page.shadow
    blank = len(whole.of(shadow)) - len(whole.of(shadow).lstrip())
    whole = Span(whole.start + blank, whole.end)
    negation = ends_before(REFUSAL, shadow, whole.start)
    excluded = negation is not None and draft.free(negation.start(), whole.start)
    if negation is not None and excluded:
        whole = Span(negation.start(), whole.end)
    excluded = excluded or _BUT.search(whole.of(shadow)) is not None
    excluded = excluded or ends_before(_NOT_ONE, shadow, whole.start) is not None
    if not draft.free(whole.start, whole.end):
        return
    if behind := _REFUSED_BEHIND.match(shadow, whole.end):
        excluded, whole = True, Span(whole.start, behind.end())
    alone = not excluded and _ALONE.search(whole.of(shadow)) is not None
    if not excluded and (behind := _ALONE_BEHIND.match(shadow, whole.end)):
        alone, whole = True, Span(whole.start, behind.end())
    word = canonical(span.of(draft.page.text))
    place = Constraint(
        attribute=Attribute.ENVIRONMENT,
        values=entry.values,
        excluded=excluded,
        hard=hard or entry.known,
        said=said,
        span=whole,
        text=whole.of(draft.page.text),
        label=f"{'not ' if excluded else ''}trained with {word} pictures",
        fallback=None if excluded or whole != span else _as_detail(draft, span),
    )
    if entry.wider and not excluded:
        place = replace(place, fallback=replace(place, values=(*entry.values, *entry.wider)))
    if alone:
        only = f"trained with {word} pictures only"
        place = replace(place, alone=True, label=only)
    draft.add(place, selecting=True)


def _as_detail(draft: Draft, span: Span) -> Constraint | None:
    """The same words of an answer as what the subject has: "snow chains", "ice cream"."""
    if not draft.answering:
        return None
    return Constraint(
        attribute=Attribute.DESCRIPTION,
        values=tuple(word.norm for word in draft.page.run(span.start, span.end)),
        hard=False,
        span=span,
        text=span.of(draft.page.text),
        label=span.of(draft.page.text),
    )


def _spelled_out(draft: Draft) -> None:
    """Claim "trained in the mountains", "whose training pictures were taken in a lounge"."""
    for lead, surely in training_leads(draft):
        phrase = noun_phrase(draft, lead.end())
        if not phrase or not draft.free(lead.start(), phrase[-1].end):
            continue
        found = place_in(draft, phrase, surely=surely)
        if _TRAINED.search(lead[0]):
            known = found is not None and found[0].known
            found = _known_behind(draft, phrase[-1].end, of=known) or found
        if found is None:
            shot_by = _BY.search(lead["where"]) if lead.re is SHOT else None
            if lead.re is SHOT and not shot_by and _is_behind_subject(draft, lead.start()):
                _prefer_told(draft, lead, phrase)
            continue
        entry, span = found
        ordered = ends_before(_LAST_ONE, draft.page.shadow, lead.start())
        if ordered and not (ordered["surely"] or not _ARTICLE.search(lead[0])):
            if entry.known and draft.free(lead.start(), span.end):
                draft.constraints.append(_preferred(draft, entry, span))
            continue  # "the last cupcake I trained | on a skateboard"
        if ordered and not entry.known:
            continue
        end = max(span.end, last_noun(phrase, span).end)
        while (material := MATERIAL.match(draft.page.shadow, end)) and draft.free(
            end, material.end()
        ):
            end = material.end()
        if training := TRAINING.match(draft.page.shadow, end):
            end = training.end()
        lies = _LIES.match(draft.page.shadow, end)
        if entry.known and lies and draft.free(end, lies.end()):
            end = lies.end()
        said: tuple[str, ...] = ()
        where = _ROOM_WHERE.match(draft.page.shadow, phrase[-1].start)
        if where and draft.free(lead.start(), where.end()):
            end, said = _told(draft, lead, where.end())
        elif not entry.known or span.end < _last_named(phrase).end:
            end, said = _told(draft, lead, end)
        if draft.free(lead.start(), end):
            matter = nature(span.of(draft.page.shadow)) is Nature.MATTER  # "under glass"
            _add(draft, entry, span, Span(lead.start(), end), said=said, hard=not matter)
            _and_also(draft, lead.start(), end)


_BY = compile_form(r"^(by|with|of|from)\s")
"""By whom or with what somebody is shot: "by an arrow"."""


def _is_behind_subject(draft: Draft, position: int) -> bool:
    """Whether what is asked for ends there: "the armchair | shot in front of a blackboard"."""
    before = draft.page.word_before(position)
    nouns = (noun for noun in draft.nouns if noun.entry.subjects)
    return before is not None and any(noun.last == before.index + 1 for noun in nouns)


def _prefer_told(draft: Draft, lead: re.Match[str], phrase: list[Word]) -> None:
    """Prefer the place that is meant by what is there; it stays what is to be seen."""
    told = Span(lead.start("where"), phrase[-1].end)
    whole = Span(lead.start(), phrase[-1].end)
    where = told.of(draft.page.text)
    entry = TagEntry(values=(where,), exact=(), known=False)
    draft.constraints.append(replace(_preferred(draft, entry, whole), label=f"trained {where}"))


def _shot_then(draft: Draft) -> None:
    """Prefer a place that is added to a time: "the one from July, | shot in a studio"; it may be
    what is to be seen.
    """
    for match in SHOT.finditer(draft.page.shadow):
        first = draft.page.word_at(match.start())
        phrase = noun_phrase(draft, match.end())
        if first is None or first.joined or not phrase or not _behind_time(draft, match.start()):
            continue
        found = place_in(draft, phrase, surely=False)
        if found is not None and found[0].known and draft.free(match.start(), found[1].end):
            draft.constraints.append(_preferred(draft, *found))


def _last_named(phrase: list[Word]) -> Word:
    """The last word of a phrase that is no mere "pictures" or "scenes"."""
    named = [word for word in phrase if MATERIAL.fullmatch(f" {word.norm}") is None]
    return named[-1] if named else phrase[-1]


def _told(draft: Draft, lead: re.Match[str], end: int) -> tuple[int, tuple[str, ...]]:
    """Where all that is told of an unknown place ends, and what that is: "under glass | among
    seedlings and potted plants".
    """
    while more := _MORE.match(draft.page.shadow, end):
        phrase = noun_phrase(draft, more.end())
        if not phrase or not draft.free(end, phrase[-1].end):
            break
        end = phrase[-1].end
    start = lead.start("where") if "where" in lead.re.groupindex else lead.end()
    return end, (draft.page.text[start:end],)


def _told_by_what_goes_on(draft: Draft) -> None:
    """Claim "trained where coffee is served": a place that only meaning can tell."""
    shadow = draft.page.shadow
    for match in TRAINED_WHERE.finditer(shadow):
        if match[0].startswith(("shot", "photo", "capt", "film")) and not _is_added(draft, match):
            continue
        _add_told(draft, Span(*match.span()), match["where"])
        _and_also(draft, *match.span())
    for match in FROM_SET.finditer(shadow):
        bare = match[0].endswith("training") and not match["more"]  # "back from army training"
        if not bare and not _has_known(draft, *match.span("where")):
            _add_told(draft, Span(*match.span()), match["where"])
    for match in TRAINED_THERE.finditer(shadow):
        where = "where" if match["where"] else "behind"
        if not _in_one_word(draft, match, where) and _is_where(draft, match, where):
            _add_told(draft, Span(*match.span()), match[where].replace("-", " "))


def _is_added(draft: Draft, match: re.Match[str]) -> bool:
    """Whether a clause of its own goes on about the one that a time or "one" chose: "the one from
    July, | photographed where trains stop", not "a kite, photographed where the sea begins".
    """
    first = draft.page.word_at(match.start())
    return first is None or first.joined or _behind_time(draft, match.start())


def _behind_time(draft: Draft, position: int) -> bool:
    """Whether a time of training has been read right before a comma."""
    before = draft.page.word_before(position)
    return before is not None and any(
        c.attribute is Attribute.CREATED_AT and c.span is not None and c.span.meets(before.span)
        for c in draft.constraints
    )


def _add_told(draft: Draft, span: Span, where: str) -> None:
    """Claim what is told of a place."""
    negation = ends_before(REFUSAL, draft.page.shadow, span.start)
    excluded = negation is not None and draft.free(negation.start(), span.start)
    if negation is not None and excluded:
        span = Span(negation.start(), span.end)
    if draft.free(span.start, span.end):
        place = Constraint(
            attribute=Attribute.ENVIRONMENT,
            values=(where,),
            excluded=excluded,
            hard=False,
            span=span,
            text=span.of(draft.page.text),
            label=f"{'not ' if excluded else ''}trained {where}",
        )
        draft.add(place, selecting=True)


def _is_where(draft: Draft, match: re.Match[str], where: str) -> bool:
    """Whether a word before "-trained" may be of a place: "hay-bale", not "well" or "potty"."""
    last = match[where].rpartition("-")[2]
    word = draft.page.word_at(match.start(where))
    owned = word is not None and draft.lexicon.owners.match_at(draft.page.words, word.index)
    told = nature(last) in (Nature.THING, Nature.PLACE, Nature.MATTER)
    return told and not owned and match[where] not in _HOW_TRAINED


def _in_one_word(draft: Draft, match: re.Match[str], where: str) -> bool:
    """Claim a place of the tables in "the coffee-shop-trained one"; False where there is none."""
    phrase = list(draft.page.run(*match.span(where)))
    longer = (
        _longer_place(draft, phrase[0]) if phrase and match.start() == match.start(where) else None
    )
    if longer is not None and draft.free(longer[1].start, match.end()):
        _add(draft, *longer, Span(longer[1].start, match.end()))
        return True
    found = place_in(draft, phrase, surely=False) if phrase else None
    if found is None or not draft.free(*match.span()):
        return False
    entry, span = found
    if not entry.known and match[where] in _HOW_TRAINED:
        return False
    said = () if span.end == match.end(where) else (match[where].replace("-", " "),)
    _add(draft, entry, span, Span(*match.span()), said=said)
    return True


def _longer_place(draft: Draft, last: Word) -> tuple[TagEntry, Span] | None:
    """A place that cards have of several words and ends in one: "the toy | shop | -trained one"."""
    for first in range(max(0, last.index - 2), last.index):
        found = draft.lexicon.environments.match_at(draft.page.words, first)
        if found is not None and found[1].known and first + found[0] == last.index + 1:
            return found[1], draft.span_of(first, last.index + 1)
    return None


def _has_known(draft: Draft, start: int, end: int) -> bool:
    """Whether a place that cards have is named there."""
    words = draft.page.words
    found = (
        draft.lexicon.environments.match_at(words, w.index) for w in draft.page.run(start, end)
    )
    return any(match is not None and match[1].known for match in found)


def _trained_then(draft: Draft) -> None:
    """Prefer the place behind when it was trained, which may be the scene: "trained in July | at
    the beach".
    """
    shadow = draft.page.shadow
    for when in [c.span for c in draft.constraints if c.attribute is Attribute.CREATED_AT]:
        if when is None or not (_TRAINED.search(when.of(shadow)) or trains(draft, when.start)):
            continue
        lead = IN_PLACE.match(shadow, when.end + 1)
        word = draft.page.word_at(lead.end()) if lead else None
        found = word and draft.lexicon.environments.match_at(draft.page.words, word.index)
        if word is None or not found or not found[1].known:
            continue
        span = draft.span_of(word.index, word.index + found[0])
        if draft.free(when.end, span.end):
            draft.constraints.append(_preferred(draft, found[1], span))


def _grew_up(draft: Draft) -> None:
    """Prefer where somebody grew up, or what they know, which may be told of who is pictured."""
    for lead in GREW_UP.finditer(draft.page.shadow):
        word = draft.page.word_at(lead.end())
        found = word and draft.lexicon.environments.match_at(draft.page.words, word.index)
        if word is None or not found or not found[1].known:
            continue
        span = draft.span_of(word.index, word.index + found[0])
        if draft.free(lead.start(), span.end):
            draft.constraints.append(_preferred(draft, found[1], span))


def _known_behind(draft: Draft, end: int, *, of: bool) -> tuple[TagEntry, Span] | None:
    """The place behind things that are in it: "trained among pots and pans | in the kitchen".

    Args:
        of: only behind "of": "the dunes | of a beach".
    """
    last = draft.page.word_before(end)
    several = last is not None and next(singulars(last.norm), None) is not None
    lead = _THERE.match(draft.page.shadow, end) if several else None
    word = draft.page.word_at(lead.end()) if lead and (lead["of"] or not of) else None
    match = draft.lexicon.environments.match_at(draft.page.words, word.index) if word else None
    if word is None or match is None or not match[1].known:
        return None
    span = draft.span_of(word.index, word.index + match[0])
    behind = draft.page.word_at(span.end)
    things = (Nature.THING, Nature.PERSON, Nature.PLACE)
    if behind is not None and behind.joined and nature(behind.norm) in things:
        stays = MATERIAL.match(draft.page.shadow, span.end) or nature(behind.norm) is Nature.MATTER
        return (match[1], span) if stays else None  # "wolves and forest | animals"
    return match[1], span


def _and_also(draft: Draft, start: int, end: int) -> None:
    """Claim a second place to be had: "trained both in a barn and in the snow"."""
    shadow = draft.page.shadow
    both = re.search(r"\bboth\b", shadow[start:end]) is not None
    if both and (told := AND_WHERE.match(shadow, end)):
        _add_told(draft, Span(told.start("and"), told.end()), told["where"])
        return
    match = AND_IN.match(shadow, end)
    phrase = noun_phrase(draft, match.end()) if match else []
    found = place_in(draft, phrase, surely=both) if phrase else None
    if match is None or found is None:
        return
    entry, span = found
    ends = span.end
    if entry.known and (lies := _LIES.match(shadow, ends)):
        ends = lies.end()
    training = MATERIAL.match(shadow, ends) or TRAINING.match(shadow, ends)
    both = both or match["also"] is not None or _END.match(shadow, ends) is not None
    following = draft.page.word_at(ends)
    called = match["also"] and following is not None and following.joined and not training
    if called and following is not None and lexicon.names_thing(following.norm):
        return  # "plus a garden gnome"
    if (training or both) and draft.free(match.start(), ends):
        whole = Span(match.start("and"), training.end() if training else ends)
        _add(draft, entry, span, whole)


def _and_before(draft: Draft, span: Span, whole: Span) -> None:
    """Claim the first of two places that the same words make one: "attic + | harbour training"."""
    joint = ends_before(_JOINED, draft.page.shadow, span.start)
    last = draft.page.word_before(joint.start() + 1) if joint else None
    if whole.start != span.start or whole.end == span.end or joint is None or last is None:
        return
    for first in range(max(0, last.index - 2), last.index + 1):
        found = draft.lexicon.environments.match_at(draft.page.words, first)
        if found is not None and found[1].known and first + found[0] == last.index + 1:
            place = draft.span_of(first, first + found[0])
            lead = [
                w.norm for w in draft.page.words[max(0, first - 2) : first] if w.joined or first
            ]
            scene = not lexicon.words("prepositions").isdisjoint(lead[-2:])
            if draft.free(place.start, place.end) and not scene:
                _add(
                    draft,
                    found[1],
                    place,
                    Span(place.start, joint.start() + len(joint[0].rstrip())),
                )
            return


def _is_subject(draft: Draft, index: int, end: int) -> bool:
    """Whether the place is what is pictured: "the latest mountain model", "the house one"."""
    covering = (n for n in draft.nouns if n.first <= index and end <= n.last)  # no "toy shop"
    noun = next(covering, None)
    if noun is None or not noun.entry.subjects:
        return False
    if any(other.entry.subjects and other.last <= index for other in draft.nouns):
        return False  # "the cat, the mountain one"
    before = draft.page.words[index - 1] if index else None
    if before is not None and before.norm in ("the", "a", "an") and index > 1:
        before = draft.page.words[index - 2]
    return before is None or before.norm not in lexicon.words("prepositions")


def _come_from(draft: Draft, entry: TagEntry, span: Span) -> None:
    """Claim where a subject comes from, as it stands there no longer: "the one from the gym".

    "The scooter from the mountains, carrying a wheel" only prefers: it may be the picture's.
    """
    lead = ends_before(FROM, draft.page.shadow, span.start)
    following = draft.page.word_at(span.end)
    goes_on = following is not None and following.joined and not is_doing(following)
    if following is not None and following.norm in _NO_SCENE:
        goes_on = False  # "is the one from the forest | still around"
    if lead is None or goes_on:
        return
    whole = Span(lead.start(), span.end)
    before, at = draft.page.word_before(whole.start), draft.page.word_at(whole.start)
    if before is None or at is None or not at.joined or not draft.free(whole.start, whole.end):
        return
    if before.norm in lexicon.words("selectors") or before.norm in ("set", "those"):
        _add(draft, entry, span, whole)
    elif any(noun.last == before.index + 1 and noun.entry.subjects for noun in draft.nouns[:1]):
        draft.constraints.append(_preferred(draft, entry, whole))


def _preferred(draft: Draft, entry: TagEntry, span: Span) -> Constraint:
    """A place that cards of it are put before others for."""
    return Constraint(
        attribute=Attribute.ENVIRONMENT,
        values=entry.values,
        hard=False,
        prefers=True,
        span=span,
        text=span.of(draft.page.text),
        label=f"{span.of(draft.page.text)} pictures",
    )


def parse_place_tags(draft: Draft) -> None:
    """Prefer cards of a place that is named bare, with no subject at all: "Realistic urban"."""
    words = draft.page.words
    for index, word in enumerate(words):
        match = draft.lexicon.environments.match_at(words, index)
        if match is None or not match[1].known:
            continue
        span = draft.span_of(index, index + match[0])
        before = words[index - 1] if index else None
        governed = (
            before is not None
            and word.joined
            and (
                before.norm in lexicon.words("prepositions")
                or before.norm in ("the", "a", "an", "of")
            )
        )
        if governed or not draft.free(span.start, span.end):
            continue
        draft.constraints.append(_preferred(draft, match[1], span))
