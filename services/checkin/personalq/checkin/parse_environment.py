"""Training environments: "trained at the beach", "the forest one"; a scene is never one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from personalq.checkin import lexicon
from personalq.checkin.draft import Draft
from personalq.checkin.intent import Attribute, Constraint, Span
from personalq.checkin.lexicon import canonical
from personalq.checkin.lexicon.wordnet import Nature, nature
from personalq.checkin.text import Word, ends_before
from personalq.checkin.vocabulary import TagEntry
from personalq.checkin.word_roles import is_doing

_DET = r"(?:(?:the|an?|some|our|my|various|several|different|real|actual)\s+)*"
_AT = (
    r"(?:in\s+front\s+of|next\s+to|aboard|on\s+board|in|at|on|by|with|near|from|using|under|around|outside|inside|"
    r"against|among|amongst|amid|amidst|along|between|beside|within|through|throughout|across|off|"
    r"of|upon)\s+"
)
_WHERE = (
    r"(?:(?:both|only|just|mostly|mainly|entirely|purely|exclusively|outdoors|indoors|out|over|up|down|"
    r"deep|somewhere|back|all|underground|underwater|images|pictures|photos)\s+)*"
    rf"(?:(?:any|every)where\s+(?:but|except|besides)\s+(?:{_AT})?|{_AT})"
)
_OF_PHOTOS = (
    r"(?:(?:only\s+)?(?:the\s+|my\s+)?(?:pictures|photos|images|photographs|shots|scenes|snapshots)\s+"
    r"(?:(?:taken|shot|made)\s+)?(?:of|from|in|at|on|near)\s+)?"
)
_TAUGHT = (
    r"(?:did\s+(?:i|we|you|they)\s+(?:train|tune|teach|fine-?tune)|trained|tuned|fine-?tuned|"
    r"taught|learned|learnt|schooled|training\s+took\s+place|with\s+(?:its\s+|the\s+)?training)(?:\s+(?:it|them|this\s+one|that\s+one))?"
)
_TRAINED = re.compile(rf"(?<![\w-]){_TAUGHT}\s+{_WHERE}{_OF_PHOTOS}{_DET}(?=\w)")
_PICTURED = re.compile(
    rf"(?<!\w)(?:shot|photographed|captured|taken|recorded|filmed|snapped)\s+{_WHERE}{_DET}(?=\w)"
)
"""Of a picture or of the pictures a checkpoint learned from: the words before it tell."""
_MADE = re.compile(
    rf"(?<!\w)(?:i|we|you|that\s+was|which\s+was|one|version|model|build|checkpoint|lora)\s+"
    rf"(?:made|created|built|produced)\s+{_WHERE}{_DET}(?=\w)"
)
_PHOTOS = (
    r"(?:pictures?|pics?|photos?|images?|photographs?|shots?|scenes?|sets?|data|dataset|material|footage|"
    r"shoots?|sessions?|samples?|examples?|references?|backgrounds?|spots?|locations?|places?|sites?)"
)
_SOURCE = re.compile(
    rf"(?<!\w)(?:(?:whose|with|its|the|all|from|on|using|and|that|has|having|had)\s+)*"
    rf"(?:(?:training|source|reference|learning|original|sample|input)\s+|(?<=whose\s))+{_PHOTOS}\s*:?\s+"
    r"(?!(?!captured|photographed|collected|gathered|recorded|snapped|showed|featured|stemmed)\w+ed\s+"
    r"(?:on|in|at|by|atop|over|near|beside|upon)\b)"  # "the ship training set perched on a mailbox"
    r"(?:(?:were|was|are|is|all|being|that|which|have|been|had|got)\s+)*"
    r"(?:(?:taken|shot|made|done|captured|photographed|collected|gathered|recorded|came|come|coming|"
    rf"snapped|set|shows?|showed|showing|stem|stemmed|featured?|includes?|included|contains?|contained)\s+)?(?:{_WHERE})?{_DET}(?=\w)"
)
_IN_TRAINING = (
    r"\s+(?:(?:in|during)\s+(?:(?:its|the|their|her|his)\s+)?training(?:\s+(?:set|data|material|run))?|"
    r"as\s+(?:(?:its|the|their|a)\s+)?(?:training|learning|source|reference)\s+(?:data|set|material|"
    r"environment|location|setting|place|ground|backdrop|background|scene|scenery|photos|pictures|images)|"
    r"(?:to\s+(?:train|learn)\s+(?:on|from)|(?:for|while)\s+(?:(?:its|the)\s+)?training))(?!\w)"
)
_TRAINED_ONE = re.compile(
    rf"(?<!\w)(?:i|we)(?:'ve|\s+have)?\s+{_TAUGHT}\s+(?:one|an?|the|this|that|my|our)\s+[\w-]+(?:\s+[\w-]+)?\s+$"
)
"""Before where: "we trained one hat | in the mountains"."""
_LAST_ONE = re.compile(
    r"(?<!\w)(?:last|(?P<surely>latest|newest|most\s+recent|first))\s+(?:[\w-]+\s+){1,4}?(?:(?:that|which)\s+)?"
    r"(?:i|we)(?:'ve|\s+have)?\s+(?:ever\s+)?$"
)
"""Before a "trained" that says which is the last."""
_ARTICLE = re.compile(r"(?<!\w)an?\s+$")
_IN_PLACE = re.compile(rf"(?<!\w){_WHERE}{_DET}(?=\w)")
_TRAINING = re.compile(_IN_TRAINING)
_AND_IN = re.compile(rf"\s+(?P<and>and)\s+(?:also\s+)?(?:{_WHERE})?{_DET}(?=\w)")
_HELD = re.compile(
    rf"(?:(?<!\w)(?:(?:that|which)\s+)?(?:with|has|having|had|featuring|showing|saw|seen|(?:was|were|got|been)\s+(?:shown|fed|given)|includes?|included)\s+|(?<=[(,;])\s*)"
    rf"{_OF_PHOTOS}{_DET}(?!(?:photographed|shot|captured|taken|filmed)\b)(?=[\w-]+(?:\s+[\w-]+){{0,3}}{_IN_TRAINING})"
)
_OUTDOORS = re.compile(
    r"(?<!\w)(?:trained|tuned|taught|shot|photographed|learned|learnt|taken|filmed)\s+(?:(?:only|mostly|"
    r"entirely|right)\s+)?(?=(?:out|in)doors?\b|outside\b|inside\b|underwater\b|by the sea\b|"
    r"at (?:home|sea|night)\b|downtown\b|after dark\b)"
)
_FRAME = re.compile(
    r"(?<!\w)(?:photo|photograph|picture|image|portrait|shot|snapshot|still|selfie|pic)s?(?!\w)"
)
_SELECTED = re.compile(
    r"(?<!\w)(?:ones?|version|model|build|checkpoint|lora|variant|edition|training|you|i|we)\s+"
    r"(?:(?:that|which)\s+)?(?:(?:was|were|is|i|we|you|got|had|has|been)\s+)*$"
)
_MATERIAL = re.compile(
    r"[\s-]+(?:scenes?|pictures?|photos?|images?|shots?|set|data|dataset|backgrounds?|surroundings|"
    r"backdrops?|settings?|environments?|shoots?|photographs?|footage|material|sessions?|views?|"
    r"scenery|shelves|halls?|rooms?|grounds?|areas?|districts?|stalls?|floors?|walls?|locations?|"
    r"photography|photoshoots?|snapshots?|landscapes?)(?!\w)"
)
_SELECTOR = (
    r"(?:one|ones|version|versions|model|models|build|checkpoint|lora|variant|edition|"
    r"training|trained|iteration|release|ckpt|set|shoot)"
)
_AFTER = re.compile(
    rf"(?:[\s-]+(?:scenes?|pictures?|photos?|images?|"
    rf"shots?))?[\s-]+{_SELECTOR}(?!\w)(?:\s+(?:one|version|model|build)(?!\w))?"
)
_NEGATION = re.compile(
    r"(?<!\w)(?:not|except(?:\s+for)?|other\s+than|anything\s+but|without|never|"
    r"wasn't|isn't|no|minus|none\s+of)\s+(?:(?:the|a|an|ones?|that|was|is|one|with|has|having|from|of|built|based|made|trained|on|i|we|which)\s+)*$"
)
_BUT = re.compile(r"(?:any|every)where\s+(?:but|except|besides)\s")
_FROM = re.compile(r"(?<!\w)from\s+(?:the\s+)?$")
_SET = re.compile(r"(?<!\w)(?:from|(?:based|built)\s+on)\s+(?:(?:the|my|our|some|a|an)\s+)?$")
_WITH = re.compile(r"(?:(?<!\w)(?:with|has|having)\s+(?:the\s+|its\s+)?|[(,;]\s*(?:the\s+)?)$")
_HAS_THERE = re.compile(
    r"(?<!\w)(?:with|has|having|wearing)\s+(?:[\w-]+\s+){1,5}(?:on|in|at|over|around|behind|under|by)\s+"
    r"(?:(?:the|a|an|its|his|her)\s+)?$"
)
"""Before a part of the subject: "the one with a wind turbine on the roof"."""
_TAKEN = re.compile(
    r"[\s-]+(?:pictures|pics|photos|images|photographs|shots|snapshots|footage|photography|dataset|data|"
    r"backgrounds?|backdrops?|surroundings|references(?=\s*(?:$|[,.;])))(?!\w)"
)
_SKIP = frozenset(
    [
        "my",
        "our",
        "your",
        "his",
        "her",
        "their",
        "me",
        "it",
        "this",
        "that",
        "whichever",
        "whatever",
        "whoever",
        "purpose",
        "scratch",
        "top",
        "data",
        "photos",
        "pictures",
        "images",
    ]
)


def parse_environment(draft: Draft) -> None:
    """Claim places named as places of training."""
    _spelled_out(draft)
    words = draft.page.words
    for index in range(len(words)):
        match = draft.lexicon.environments.match_at(words, index)
        if match is None:
            continue
        count, entry = match
        span = draft.span_of(index, index + count)
        if not draft.free(span.start, span.end) or _is_subject(draft, index):
            continue
        whole = _named_phrase(draft, span, known=entry.known)
        if whole is not None:
            _add(draft, entry, span, whole)
        elif entry.known:
            _come_from(draft, entry, span)


def _add(draft: Draft, entry: TagEntry, span: Span, whole: Span) -> None:
    """Claim a place; negated when "not" leads to it."""
    negation = ends_before(_NEGATION, draft.page.shadow, whole.start)
    excluded = negation is not None and draft.free(negation.start(), whole.start)
    if negation is not None and excluded:
        whole = Span(negation.start(), whole.end)
    excluded = excluded or _BUT.search(whole.of(draft.page.shadow)) is not None
    if not draft.free(whole.start, whole.end):
        return
    word = canonical(span.of(draft.page.text))
    draft.add(
        Constraint(
            attribute=Attribute.ENVIRONMENT,
            values=entry.values,
            excluded=excluded,
            span=whole,
            text=whole.of(draft.page.text),
            label=f"{'not ' if excluded else ''}trained with {word} pictures",
            fallback=None if excluded or whole != span else _as_detail(draft, span),
        ),
        selecting=True,
    )


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
    for lead, surely in _leads(draft):
        phrase = _noun_phrase(draft, lead.end())
        if not phrase or not draft.free(lead.start(), phrase[-1].end):
            continue
        found = _place_in(draft, phrase, surely=surely)
        if found is None:
            continue
        entry, span = found
        ordered = ends_before(_LAST_ONE, draft.page.shadow, lead.start())
        if ordered and not (entry.known and (ordered["surely"] or not _ARTICLE.search(lead[0]))):
            continue  # "the last cupcake I trained | on a skateboard"
        end = max(span.end, _last_noun(phrase, span).end)
        while (material := _MATERIAL.match(draft.page.shadow, end)) and draft.free(
            end, material.end()
        ):
            end = material.end()
        if training := _TRAINING.match(draft.page.shadow, end):
            end = training.end()
        if draft.free(lead.start(), end):
            _add(draft, entry, span, Span(lead.start(), end))
            _and_also(draft, lead.start(), end)


def _and_also(draft: Draft, start: int, end: int) -> None:
    """Claim a second place to be had: "trained both in a barn and in the snow"."""
    match = _AND_IN.match(draft.page.shadow, end)
    word = draft.page.word_at(match.end()) if match else None
    found = draft.lexicon.environments.match_at(draft.page.words, word.index) if word else None
    if match is None or word is None or found is None:
        return
    span = draft.span_of(word.index, word.index + found[0])
    training = _TRAINING.match(draft.page.shadow, span.end)
    both = re.search(r"\bboth\b", draft.page.shadow[start:end])
    if (training or both) and draft.free(match.start(), span.end):
        whole = Span(match.start("and"), training.end() if training else span.end)
        _add(draft, found[1], span, whole)


def _leads(draft: Draft) -> Iterator[tuple[re.Match[str], bool]]:
    """(words that end right before a place of training, whether no place but one can follow)."""
    shadow = draft.page.shadow
    for pattern in (_SOURCE, _HELD, _TRAINED, _MADE, _OUTDOORS):
        for match in pattern.finditer(shadow):
            named = pattern in (_SOURCE, _TRAINED) and _is_named_before(draft, match.start())
            if not named or (pattern is _TRAINED and not _is_free_place(draft, match.start())):
                yield match, pattern in (_SOURCE, _HELD, _TRAINED)
    for match in _IN_PLACE.finditer(shadow):
        if ends_before(_TRAINED_ONE, shadow, match.start()):
            yield match, True
    for match in _PICTURED.finditer(shadow):
        chosen = ends_before(_SELECTED, shadow, match.start()) is not None
        before = draft.page.word_before(match.start())
        following = draft.page.word_at(match.start())
        joined = before is not None and following is not None and following.joined
        if chosen or (joined and not _FRAME.search(shadow, 0, match.start())):
            yield match, False


def _is_named_before(draft: Draft, start: int) -> bool:
    """Whether the word before tells the place: "the airport training set on a deck", "the mug,
    kitchen trained with tea".
    """
    word, first = draft.page.word_before(start), draft.page.word_at(start)
    if word is None or first is None or not first.joined:
        return False
    if word.norm == "as":  # "beach photos as training data"
        return True
    match = draft.lexicon.environments.match_at(draft.page.words, word.index)
    return match is not None and match[1].known


def _is_free_place(draft: Draft, start: int) -> bool:
    """Whether the place before is neither the scene, "the mug in the kitchen trained at the beach",
    nor the subject, "the mountain peak trained at the beach".
    """
    word = draft.page.word_before(start)
    if word is None or draft.nouns_cover(word.index):
        return False
    lead = draft.page.words[word.index - 1].norm if word.index and word.joined else ""
    return lead not in lexicon.words("prepositions") and lead not in lexicon.words("determiners")


def _noun_phrase(draft: Draft, start: int) -> list[Word]:
    """The words from a place on that may be one noun with its modifiers."""
    phrase: list[Word] = []
    first = _after_owner(draft, draft.page.word_at(start))
    for word in draft.page.words[first.index if first else len(draft.page.words) :][:5]:
        stops = phrase and (not word.joined or word.norm in lexicon.verb_forms())
        subject = draft.noun_at(word.index) if phrase else None
        if stops or not draft.is_free(word) or _closed(word.norm) or word.norm in _SKIP:
            break
        if (
            subject is not None
            and draft.lexicon.environments.match_at(draft.page.words, word.index) is None
        ):
            break
        phrase.append(word)
        if word.possessive:
            break
    return phrase


def _after_owner(draft: Draft, word: Word | None) -> Word | None:
    """The word behind whose place it is: "somebody's garden"."""
    while word is not None and word.possessive and word.index + 1 < len(draft.page.words):
        following = draft.page.words[word.index + 1]
        if not following.joined or not draft.is_free(word) or _closed(following.norm):
            break
        word = following
    return word


def _closed(norm: str) -> bool:
    kinds = ("prepositions", "links", "determiners", "selectors")
    return any(norm in lexicon.words(kind) for kind in kinds) and norm not in ("outside", "inside")


def _place_in(draft: Draft, phrase: list[Word], *, surely: bool) -> tuple[TagEntry, Span] | None:
    """What the phrase says of places: a word of the tables, else a place like a tag, else none."""
    words = draft.page.words
    unknown: tuple[TagEntry, Span] | None = None
    for word in phrase:
        match = draft.lexicon.environments.match_at(words, word.index)
        if match is not None:
            found = match[1], draft.span_of(word.index, word.index + match[0])
            if match[1].known:
                return found
            unknown = unknown or found
    nouns = [w for w in phrase if _MATERIAL.fullmatch(f" {w.norm}") is None] or phrase[:1]
    for first in range(len(nouns)):
        name = " ".join(word.norm for word in nouns[first:])
        tags = draft.lexicon.place_tags.related(name)
        if tags:
            values = tuple(v for tag in sorted(tags) for v in draft.lexicon.places[tag])
            span = Span(nouns[first].start, nouns[-1].end)
            return TagEntry(values=values, exact=(), known=True), span
    if unknown is not None:
        return unknown
    head = nouns[-1]
    subjects = [draft.noun_at(nouns[0].index), draft.noun_at(head.index)]
    pictured = any(noun is not None and noun.entry.subjects for noun in subjects)
    if not surely or pictured or not _may_be_place(head.norm):
        return None
    name = " ".join(word.norm for word in nouns)
    entry = TagEntry(values=(name,), exact=(), known=False)
    return entry, Span(nouns[0].start, head.end)


def _may_be_place(norm: str) -> bool:
    return norm[0].isalpha() and nature(norm) in (Nature.THING, Nature.PLACE, Nature.UNKNOWN)


def _last_noun(phrase: list[Word], span: Span) -> Word:
    """The last word of the phrase's noun: "shelves" of "library shelves"."""
    last = next((word for word in reversed(phrase) if word.end <= span.end), phrase[0])
    for word in phrase:
        if word.start >= span.end:
            if nature(word.norm) not in (Nature.THING, Nature.PLACE) or word.norm.endswith("ing"):
                break
            last = word
    return last


def _is_subject(draft: Draft, index: int) -> bool:
    """Whether the place is what is pictured: "the latest mountain model", "the house one"."""
    noun = draft.noun_at(index)
    if noun is None or not noun.entry.subjects:
        return False
    if any(other.entry.subjects and other.last <= index for other in draft.nouns):
        return False  # "the cat, the mountain one"
    before = draft.page.words[index - 1] if index else None
    if before is not None and before.norm in ("the", "a", "an") and index > 1:
        before = draft.page.words[index - 2]
    return before is None or before.norm not in lexicon.words("prepositions")


def _named_phrase(draft: Draft, span: Span, *, known: bool) -> Span | None:
    """The whole phrase when the place names a checkpoint ("the harbor one"), else None."""
    shadow = draft.page.shadow
    start, end = span.start, span.end
    if after := _AFTER.match(shadow, end):
        before = draft.page.word_before(start)
        article = before is not None and before.norm in ("the", "my", "our", "that")
        if article or after[0].startswith("-") or "trained" in after[0] or known:
            stop = (
                end if after[0].strip(" -").startswith(("one", "version", "model")) else after.end()
            )
            return Span(start, stop if "trained" not in after[0] else after.end())
    noun = draft.page.word_at(end)
    if noun is not None and noun.joined and known and draft.noun_at(noun.index):
        # "the studio bear model"
        before = draft.page.word_before(start)
        article = before is not None and before.norm in ("the", "my", "our")
        if article and draft.leads_to_selector(noun.index):
            return span
    if (lead_set := ends_before(_SET, shadow, start)) and (
        material := _MATERIAL.match(shadow, end)
    ):
        return Span(lead_set.start(), material.end())
    if (
        known
        and (lead_photos := ends_before(_WITH, shadow, start))
        and (photos := _TAKEN.match(shadow, end))
    ):  # "the beanie with the library shots"
        return Span(lead_photos.start(), photos.end())
    has = ends_before(_HAS_THERE, shadow, start) is not None
    return span if draft.answering and known and not has else None


def _come_from(draft: Draft, entry: TagEntry, span: Span) -> None:
    """Claim where a subject comes from, as it stands there no longer: "the one from the gym".

    "The scooter from the mountains, carrying a wheel" only prefers: it may be the picture's.
    """
    lead = ends_before(_FROM, draft.page.shadow, span.start)
    following = draft.page.word_at(span.end)
    goes_on = following is not None and following.joined and not is_doing(following)
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
