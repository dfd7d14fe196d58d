"""Styles, wanted and unwanted, and the looks that frames hint at ("a photo of")."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from personalq.checkin import lexicon
from personalq.checkin.draft import Draft, Tag
from personalq.checkin.intent import Attribute, Constraint, Span
from personalq.checkin.lexicon import canonical
from personalq.checkin.text import Word, ends_before

_DEGREE = re.compile(
    r"(?:\b(?:most|more|very|really|super|quite|highly|ultra|extremely|rather|pretty|"
    r"fully|truly)[\s-]+)+$"
)
_STYLED = re.compile(
    r"[\s-]+(?:art\s+style|styled?|type|looking|look|styling|aesthetic|effect|vibes?|feel|finish|treatment|"
    r"technique|rendition|esque|like)(?!\w)(?:\s+of(?!\w))?|-?(?:ish|esque)(?!\w)"
)
_IN_STYLE = re.compile(
    r"(?:\bin\s+(?:the\s+)?(?:style|look)\s+of\s+(?:an?\s+|the\s+)?|\bin\s+(?:an?\s+|the\s+)?)$"
)
_IN_STYLE_OF = re.compile(
    r"(?<!\w)(?:style|look|manner|form|guise)\s+of\s+(?:(?:an?|the|some|those|old)\s+)*$"
)
_NEGATION = re.compile(
    r"(?:\b(?:not|no|non|never|without|except(?:\s+for)?|excluding|other\s+than|apart\s+from|"
    r"aside\s+from|anything\s+but|instead\s+of|rather\s+than|nor|neither|isn't|aren't|wasn't|less|"
    r"(?:don't|do\s+not|didn't)\s+(?:want|need|like|mean)|"
    r"nothing(?:\s+(?:drawn|painted|done|made|rendered))?(?:\s+with)?|none\s+of|skip|avoid|minus|but\s+not|not\s+in|not\s+as)"
    r"[\s-]+(?:(?:the|a|an|any|in|my|too|so|that|as|of|in\s+an?|in\s+the|ones?(?:\s+in)?|be)\s+)*)$"
)
_SCENE_PREPOSITIONS = frozenset(
    [
        "on",
        "onto",
        "near",
        "beside",
        "behind",
        "under",
        "over",
        "against",
        "at",
        "into",
        "by",
        "beneath",
        "above",
        "underneath",
        "holding",
        "wearing",
        "carrying",
        "reading",
        "painting",
        "drawing",
        "watching",
        "around",
        "inside",
        "through",
        "past",
        "atop",
        "upon",
        "next",
        "front",
    ]
)
_PRONOUNS = frozenset(["it", "them", "there", "him", "her", "this"])
_CHECKPOINT = frozenset(["checkpoint", "ckpt", "lora", "finetune", "version", "weights"])
_OK_BEFORE = frozenset(["in", "as", "of", "using", "like", "for", "a", "an", "the"])
_AS = re.compile(r"(?<!\w)as\s+(?:if\s+it\s+were\s+)?(?:an?|the)\s+(?:real\s+|true\s+)?$")
_THAT_IS = re.compile(r"(?<!\w)(?:that|which|it)(?:'s|\s+is|\s+was)\s+(?:an?|the|in)\s+$")
_ONE_THAT_IS = re.compile(
    r"(?<!\w)(?:(?:one|version|model)s?|those)\s+(?:that|which)(?:'s|\s+(?:is|was|are|were)|"
    r"\s+looks?\s+like)\s+(?:(?:an?|the|in|real|actual)\s+)*$"
)
_LIKE = re.compile(
    r"(?<!\w)(?:(?:(?:that|which)\s+)?(?:looks?|looking|appears?|seems?)\s+)?"
    r"(?:like|out\s+of|(?:made|built|put\s+together|assembled)\s+(?:up\s+)?(?:of|from)|(?:(?:could|can|would|might)\s+)?pass(?:es)?\s+(?:for|as))\s+"
    r"(?:(?:an?|the|some|one\s+of|those|real|old|actual)\s+)*$"
)
_LIKENED = re.compile(
    r"(?<!\w)(?:dressed|disguised|posing|acting)\s+(?:up\s+)?(?:like|as)\s+(?:an?|the)\s+$"
)
_REFUSED = re.compile(
    r"(?<!\w)(?:but\s+not\s+(?:(?:the|an?|as|in)\s+)*|(?:not|except(?:\s+for)?|excluding|"
    r"other\s+than|anything\s+but|instead\s+of|rather\s+than)\s+(?:the|an?)\s+)$"
)
_COVERED = frozenset(
    [
        "covered",
        "soaked",
        "drenched",
        "smeared",
        "coated",
        "splattered",
        "wrapped",
        "caked",
        "dressed",
    ]
)
_DRAWN = frozenset(["drawn", "sketched", "rendered", "depicted", "illustrated"])
_DRAWN_WITH = re.compile(
    rf"(?<!\w)(?:{'|'.join(sorted(_DRAWN))})\s+with\s+(?:(?:nothing\s+but|only|just)\s+)?(?:\w+\s+)?$"
)
_MOODS = frozenset(["mood", "atmosphere", "lighting", "light"])
_FORMS = frozenset(["shape", "shaped", "cut"])
_NO_FRAMES = frozenset(["drawn", "painted"])
_OR = re.compile(r"\s*(?:,\s*)?(?:or|/)\s*(?:an?\s+|the\s+)?")


def parse_style(draft: Draft) -> None:
    """Claim style words that stand in the subject's phrase or in "in … style"."""
    found: list[Constraint] = []
    previous: Constraint | None = None
    for tag in draft.styles:
        span = draft.span_of(tag.first, tag.last)
        if not draft.free(span.start, span.end) or not _constrains(draft, tag):
            continue
        constraint = _constraint(draft, tag, span)
        if constraint.excluded and (tag.entry.near or not tag.entry.known):
            nearest = _nearest(draft, tag)
            if not nearest:
                draft.mark(span, selecting=True)
                continue
            constraint = replace(constraint, values=nearest)
        if previous is not None and _goes_on(draft, previous, constraint):
            constraint = replace(constraint, excluded=True, label=f"not {constraint.label}")
            found.append(constraint)
        elif previous is not None and _joined_by_or(draft, previous, constraint):
            found[-1] = _either(draft, previous, constraint)
        elif previous is not None and (both := _both(draft, previous, constraint)):
            found[-1] = both
        else:
            found.append(constraint)
        draft.mark(constraint.span or span, selecting=constraint.excluded)
        previous = found[-1]
    draft.constraints += _deduplicated(found)


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


_POSITION = re.compile(
    r"(?<!\w)(?:in|with)\s+(?:an?\s+|the\s+)?(?P<before>(?!(?:the|an?)\s)[\w-]+(?:\s[\w-]+){0,2}?)[\s-]+(?:art\s+style|"
    r"style|look|aesthetic)(?!\w)|(?<!\w)in\s+(?:an?\s+|the\s+)?(?:style|manner)\s+of\s+(?:the\s+|an?\s+)?"
    r"(?P<after>[\w-]+(?:\s[\w-]+)?)|(?<![\w-])(?P<joined>(?:(?!(?:the|an?|my|our|this|that)\s)\w+[\s-])?"
    r"\w+)-(?:styled?|esque)(?!\w)"
)
_COINED = re.compile(r"\w{2,}(?:ism|ist|punk|wave|core|esque)")


def parse_unknown_style(draft: Draft) -> None:
    """Claim a style that no card has where only a style can stand: "in brutalist style"."""
    for match in _POSITION.finditer(draft.page.shadow):
        where = next(i for i in ("before", "after", "joined") if match[i])
        span = Span(*match.span(where))
        if not draft.free(span.start, span.end) or any(
            draft.noun_at(word.index) for word in draft.page.run(span.start, span.end)
        ):
            continue
        name = canonical(span.of(draft.page.text))
        if not _is_style(draft, span, name):
            continue
        whole = Span(match.start(), match.end())
        whole = whole if draft.free(whole.start, whole.end) else span
        negation = ends_before(_NEGATION, draft.page.shadow, whole.start)
        if negation:
            draft.mark(whole, selecting=True)
            continue
        draft.add(
            Constraint(
                attribute=Attribute.STYLE,
                values=(name,),
                span=whole,
                text=whole.of(draft.page.text),
                label=name,
            )
        )


def _is_style(draft: Draft, span: Span, name: str) -> bool:
    """Whether a word in the place of a style is one: known as such, coined, or a name."""
    if name in draft.lexicon.style_names or draft.lexicon.styles.get(name) is not None:
        return False
    if any(name in group.words for group in lexicon.style_groups().values()):
        return True
    if name in lexicon.description_groups():
        return False
    first = draft.page.word_at(span.start)
    capital = first is not None and first.capital and first.index > 0
    return capital or _COINED.fullmatch(name.split()[-1]) is not None


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


def _goes_on(draft: Draft, previous: Constraint, constraint: Constraint) -> bool:
    """Whether an unwanted look is told in more words: "anything but the computer generated 3D"."""
    if not previous.excluded or constraint.excluded or not (previous.span and constraint.span):
        return False
    between = draft.page.shadow[previous.span.end : constraint.span.start].strip()
    none = previous.text.casefold().startswith(("no ", "nothing ", "without "))
    return not between or (none and between in ("or", "nor"))


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


_PURPOSE = re.compile(r"(?<!\w)for\s+(?:an?|the|my|our|this|that|some|next\s+\w+'s)\s+(?:\w+\s+)?$")


def _constrains(draft: Draft, tag: Tag) -> bool:
    """Whether the style word is about the picture, not a thing in the scene."""
    words = draft.page.words
    first = words[tag.first]
    ends = tag.last < len(words) and not words[tag.last].joined
    if ends and ends_before(_PURPOSE, draft.page.shadow, first.start):
        return False  # "For the poster: an armchair"
    word = " ".join(w.norm for w in words[tag.first : tag.last])
    styled = (
        words[tag.last - 1].norm in ("look", "style", "finish")  # of the tag: "a vintage look"
        or _STYLED.match(draft.page.shadow, words[tag.last - 1].end) is not None
    )
    if not tag.entry.exact and not styled and _is_subject(draft, word):
        return False
    if not styled and tag.last < len(words) and words[tag.last].norm in ("up", "out", "down"):
        return False  # "inked-up"
    if _is_place(draft, tag) or _is_of_a_name(draft, tag):
        return False
    following = words[tag.last] if tag.last < len(words) else None
    if following is not None and following.joined and following.norm in _MOODS:
        return tag.entry.known  # "film noir mood", where no checkpoint has that look
    if following is not None and following.joined and following.norm in _FORMS:
        return False  # "in that retro shape"
    if word == "flat" and not styled and _is_a_home(draft, tag):
        return False
    thing = word in lexicon.style_things()
    if (word in lexicon.looks() or thing) and not draft.answering:
        following = words[tag.last] if tag.last < len(words) else None
        selector = (
            following is not None
            and following.joined
            and (following.norm in lexicon.words("selectors") - {"snapshot"})
        )
        shadow = draft.page.shadow
        leads = (_NEGATION, _AS, _LIKE, _IN_STYLE_OF, _THAT_IS)
        lead = any(ends_before(pattern, shadow, first.start) for pattern in leads)
        if lead and word in lexicon.looks() and ends_before(_NEGATION, shadow, first.start):
            lead = _refuses(draft, first)
        selector = selector or draft.noun_at(tag.last) is not None  # "the photo bear"
        if not (styled or selector or lead):
            return False
    if draft.answering or styled or _names_checkpoint(draft, tag) or _is_my_model(draft, tag):
        return True
    if ends_before(_ONE_THAT_IS, draft.page.shadow, first.start):
        return True
    if _is_likened(draft, tag):
        return False
    if ends_before(_NEGATION, draft.page.shadow, first.start):
        return True
    if not thing and word not in lexicon.looks() and _stands_last(draft, tag):
        return True
    index = tag.first - 1
    joined = first.joined
    while index >= 0 and joined:
        before = words[index]
        if not draft.is_free(before):  # "past" of "this past summer's paper cut-out castle"
            joined = before.joined
            index -= 1
            continue
        if before.norm in lexicon.words("openers") or before.norm in ("i", "want", "see", "be"):
            return True  # "in a hall I want to see the …", "could the hat on the peg be the …"
        if before.norm in _SCENE_PREPOSITIONS:
            return False
        if before.norm in _PRONOUNS and words[index + 1].norm in ("the", "my", "our", "a", "an"):
            return True  # "a lake and on it the …"
        if _is_the_way(words, index) or (before.norm == "with" and _is_drawn(words, index)):
            return True  # "the way Warhol would do it", "drawn with clean outlines"
        if before.norm in ("with", "has", "having") and index and words[index].joined:
            return _is_what_is_shown(draft, tag, index)
        if before.norm == "of" and index > 1 and words[index - 1].norm == "thinking":
            return words[index - 2].norm in ("i'm", "im", "am", "was", "we're", "are")
        if before.norm == "of" and index and not _frames(draft, index - 1):
            return False
        if _acts(draft, before, words[index + 1]):
            return False
        if before.norm in _OK_BEFORE and before.norm not in ("a", "an", "the"):
            return not (before.norm == "in" and _is_of_a_thing(draft, tag, before))
        if draft.noun_at(index) and before.norm not in lexicon.words("frames"):
            return True
        joined = before.joined
        index -= 1
    return True


def _is_what_is_shown(draft: Draft, tag: Tag, lead: int) -> bool:
    """Whether "with" brings the subject: "a poster with my CGI car", "with June's guitar"."""
    words = draft.page.words
    if any(not draft.is_free(word) for word in words[lead + 1 : tag.first]):
        return True  # a time or an order has chosen it
    known = [noun for noun in draft.nouns if noun.entry.subjects]
    if not known or words[lead + 1].norm not in ("the", "my", "our"):
        return False
    return tag.last <= known[0].first <= tag.last + 2  # nothing else is named before


def _is_the_way(words: Sequence[Word], index: int) -> bool:
    """Whether a clause says how somebody would do it: not "on the way", "in the way"."""
    if words[index].norm != "way" or not index or words[index - 1].norm != "the":
        return False
    lead = words[index - 2].norm if index > 1 and words[index - 1].joined else ""
    return lead not in ("on", "in", "by", "all", "along", "out", "of")


def _is_a_home(draft: Draft, tag: Tag) -> bool:
    """Whether "flat" is where somebody lives: "in a top floor flat"."""
    words = draft.page.words
    following = words[tag.last] if tag.last < len(words) else None
    ends = lexicon.words("links") | lexicon.words("prepositions")
    if following is not None and following.joined and following.norm not in ends:
        return False
    index = tag.first
    while index > 0 and words[index].joined and draft.noun_at(index - 1) is None:
        index -= 1
        if words[index].norm in lexicon.words("determiners"):
            return True
        if words[index].norm in lexicon.words("prepositions"):
            return False
    return False


def _is_drawn(words: Sequence[Word], index: int) -> bool:
    """Whether the word before is how a picture is made."""
    if not index or not words[index].joined:
        return False
    if words[index - 1].norm == "painted":  # "painted with oils", but not "with oil barrels"
        following = words[index + 2] if index + 2 < len(words) else None
        ends = lexicon.words("prepositions") | lexicon.words("links")
        return following is None or not following.joined or following.norm in ends
    return words[index - 1].norm in _DRAWN


def _is_of_a_thing(draft: Draft, tag: Tag, lead: Word) -> bool:
    """Whether behind "in" the word tells of a thing: "in a clay pot", "covered in spray paint"."""
    words = draft.page.words
    if lead.index and words[lead.index - 1].norm in _COVERED and lead.joined:
        return True
    following = words[tag.last] if tag.last < len(words) else None
    if following is None or not following.joined:
        return False
    if draft.noun_at(tag.last) is not None and all(noun.first > tag.first for noun in draft.nouns):
        return False  # "in watercolor the cactus", as nothing was named before
    return lexicon.is_wearable(following.norm) or lexicon.is_container(following.norm)


def _is_likened(draft: Draft, tag: Tag) -> bool:
    """Whether it is said of what the subject is like: "dressed like an old-time aristocrat"."""
    words = draft.page.words
    following = words[tag.last] if tag.last < len(words) else None
    if following is None or not following.joined or not lexicon.names_thing(following.norm):
        return False
    if any(following.norm in lexicon.words(kind) for kind in ("selectors", "frames")):
        return False
    likened = _LIKENED.search(draft.page.shadow, 0, words[tag.first].start)
    return likened is not None and not draft.nouns_cover(following.index)


def _is_place(draft: Draft, tag: Tag) -> bool:
    """Whether a place's name begins with the look's: "a photo studio"."""
    match = draft.lexicon.environments.match_at(draft.page.words, tag.first)
    return match is not None and match[1].known and match[0] > tag.last - tag.first


def _is_of_a_name(draft: Draft, tag: Tag) -> bool:
    """Whether it belongs to a longer subject's name: a "clay teapot" where the catalog has them."""
    return any(
        noun.first <= tag.first and tag.last < noun.last and noun.entry.subjects
        for noun in draft.nouns
    )


def _stands_last(draft: Draft, tag: Tag) -> bool:
    """Whether a look ends the request, behind a thing of the scene: "on a windy hill line art"."""
    words = draft.page.words
    if not words[tag.first].joined or tag.last < len(words) or tag.first < 2:
        return False
    thing, before = words[tag.first - 1], words[tag.first - 2]
    told = before.norm in ("a", "an", "the", "its") or (
        words[tag.first - 3 : tag.first - 2] != ()
        and words[tag.first - 3].norm in ("a", "an", "the")
    )
    return told and thing.joined and lexicon.names_thing(thing.norm) and draft.is_free(thing)


def _names_checkpoint(draft: Draft, tag: Tag) -> bool:
    """Whether the checkpoint itself is called by its look: "with the fresco checkpoint"."""
    words = draft.page.words
    following = words[tag.last] if tag.last < len(words) else None
    return (
        following is not None
        and following.joined
        and following.norm in _CHECKPOINT
        and not draft.nouns_cover(following.index)
    )


def _is_my_model(draft: Draft, tag: Tag) -> bool:
    """Whether it tells which checkpoint: "with the sketch model", "earliest cgi one"."""
    words = draft.page.words
    before = words[tag.first - 1].norm if tag.first and words[tag.first].joined else ""
    if before and any(span.end + 1 == words[tag.first].start for span in draft.selecting):
        return draft.leads_to_selector(tag.last, reach=1)
    return before in ("the", "my", "our") and draft.leads_to_selector(tag.last)


def _is_subject(draft: Draft, word: str) -> bool:
    """Whether the catalog has checkpoints of the word itself: a doodle, not a doodled look."""
    entry = draft.lexicon.subjects.get(word)
    return entry is not None and bool(entry.subjects) and not (entry.narrower or entry.kind)


def _frames(draft: Draft, index: int) -> bool:
    """Whether "of" after this word opens what is shown, not what something is full of."""
    word = draft.page.words[index]
    if word.norm in ("made", "out", "composed", "built", "form", "guise", "manner"):
        return True  # "made of pixels"
    if word.norm in ("which", "any", "either", "whichever"):
        return True  # "which of the oil-painted guitars"
    kinds = ("selectors", "frames", "style_words", "determiners")
    return not draft.is_free(word) or any(word.norm in lexicon.words(kind) for kind in kinds)


def _acts(draft: Draft, word: Word, following: Word) -> bool:
    """Whether the subject does something to what follows: "a car crossing a salt flat"."""
    return (
        word.norm.endswith("ing")
        and word.norm in lexicon.verb_forms()
        and following.norm in lexicon.words("determiners")
        and any(noun.last <= word.index for noun in draft.nouns)
    )


def _constraint(draft: Draft, tag: Tag, span: Span) -> Constraint:
    shadow = draft.page.shadow
    start, end = span.start, span.end
    word = canonical(draft.page.text[start:end])
    if match := ends_before(_DEGREE, shadow, start):
        start = match.start()
    if match := _STYLED.match(shadow, end):
        end = match.end() - (3 if match[0].endswith(" of") else 0)
        if lead := ends_before(_IN_STYLE, shadow, start):
            start = lead.start()
    else:
        for pattern, said in ((_IN_STYLE, "style of"), (_LIKE, "look"), (_DRAWN_WITH, "with")):
            if (lead := ends_before(pattern, shadow, start)) and said in lead[0]:
                start = lead.start()
    excluded = False
    if match := ends_before(_NEGATION, shadow, start):
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


def parse_look(draft: Draft) -> None:
    """A frame's look: "not the photo" rules it out, "a photo of", ", the photo," only prefers."""
    styled = any(c.attribute is Attribute.STYLE and not c.excluded for c in draft.constraints)
    chosen = {mention.span for mention in draft.mentions if mention.weight > 0}
    for word in draft.page.words:
        if word.norm not in lexicon.looks() or not draft.is_free(word) or word.span in chosen:
            continue
        negation = ends_before(_NEGATION, draft.page.shadow, word.start)
        values = tags_of_look(draft, word.norm)
        framed = _frames_subject(draft, word) or _is_apposed(draft, word)
        if negation is not None and values and _refuses(draft, word) and _closes(draft, word):
            whole = Span(negation.start(), word.full_end)
            draft.add(_looking(draft, whole, values, f"no {word.norm}", excluded=True))
        elif negation is None and values and not styled and framed:
            draft.constraints.append(_looking(draft, word.span, values, f"a {word.norm}"))
            styled = True


def _looking(
    draft: Draft, span: Span, values: tuple[str, ...], label: str, *, excluded: bool = False
) -> Constraint:
    return Constraint(
        attribute=Attribute.STYLE,
        values=values,
        excluded=excluded,
        hard=excluded,
        prefers=not excluded,
        span=span,
        text=span.of(draft.page.text),
        label=label,
    )


def _frames_subject(draft: Draft, word: Word) -> bool:
    """Whether the word frames what is shown: "a photo of", but not "with a photo of"."""
    words = draft.page.words
    following = words[word.index + 1] if word.index + 1 < len(words) else None
    before = words[word.index - 1] if word.index else None
    placed = before is not None and word.joined
    placed = placed and before is not None and before.norm in _SCENE_PREPOSITIONS | {"with", "and"}
    return following is not None and following.norm == "of" and not placed


def _is_apposed(draft: Draft, word: Word) -> bool:
    """Whether the word alone says which one: ", the photo,", "that's a photo", "the bear photo"."""
    the = draft.page.words[word.index - 1] if word.index > 1 else None
    said = ends_before(_THAT_IS, draft.page.shadow, word.start) is not None
    if said or (word.joined and any(noun.last == word.index for noun in draft.nouns)):
        return _closes(draft, word)
    alone = the is not None and the.norm == "the" and not the.joined and word.joined
    return alone and _closes(draft, word)


def _refuses(draft: Draft, word: Word) -> bool:
    """Whether a frame is refused: "not the photo"; "with no picture on it" tells of the scene."""
    refusal = ends_before(_REFUSED, draft.page.shadow, word.start)
    if refusal is None or word.norm in _NO_FRAMES:
        return False
    first = draft.page.word_at(refusal.start())
    index = first.index if first is not None else word.index
    while index and draft.page.words[index].joined:
        index -= 1
        if draft.page.words[index].norm in _SCENE_PREPOSITIONS | {"with", "without"}:
            return False
    return True


def _closes(draft: Draft, word: Word) -> bool:
    """Whether a phrase ends with the word."""
    following = draft.page.words[word.index + 1 : word.index + 2]
    return not (following and following[0].joined) or any(
        following[0].norm in lexicon.words(kind) for kind in ("links", "prepositions")
    )


def tags_of_look(draft: Draft, word: str) -> tuple[str, ...]:
    """The catalog's tags of the looks that a frame hints at, and those that name it."""
    groups = lexicon.style_groups()
    names = {name for group in lexicon.looks()[word] for name in groups[group].words}
    names |= {name for name in draft.lexicon.style_names if word in name.split()}
    found = [
        value
        for name in sorted(names)
        if (entry := draft.lexicon.styles.get(name)) is not None
        for value in entry.exact
    ]
    return tuple(dict.fromkeys(found))
