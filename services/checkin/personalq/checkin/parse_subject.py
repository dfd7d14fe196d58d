"""What is pictured: the noun the request is about, told from scene words by its role."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from personalq.checkin import lexicon
from personalq.checkin.draft import Draft, Noun
from personalq.checkin.intent import Attribute, Constraint, Mention, Span
from personalq.checkin.lexicon import canonical, plural
from personalq.checkin.text import Page, PhraseTable, Word
from personalq.checkin.vocabulary import Lexicon

_NOT_PARTICIPLES = frozenset(
    [
        "bed",
        "shed",
        "sled",
        "seed",
        "weed",
        "reed",
        "building",
        "painting",
        "drawing",
        "ring",
        "king",
        "wing",
        "string",
        "spring",
        "ceiling",
        "wedding",
        "thing",
        "clothing",
        "pudding",
        "sibling",
        "duckling",
        "feed",
        "breed",
        "creed",
        "deed",
        "greed",
        "need",
        "red",
    ]
)
_VERSION = re.compile(r"(?:v|ver|version)?\d+")
_EXPLICIT = frozenset(["using", "use", "load", "pick", "select", "choose", "run", "need", "want"])
_TRANSPARENT_OF = frozenset(
    [
        "photo",
        "photos",
        "photograph",
        "photographs",
        "picture",
        "pictures",
        "image",
        "images",
        "pic",
        "portrait",
        "portraits",
        "shot",
        "closeup",
        "render",
        "rendering",
        "poster",
        "view",
        "scene",
        "illustration",
        "artwork",
        "art",
        "wallpaper",
        "still",
        "headshot",
        "composition",
        "depiction",
        "snapshot",
        "macro",
        "print",
        "postcard",
        "sticker",
        "icon",
        "banner",
        "cover",
        "panorama",
        "sheet",
        "collage",
        "avatar",
        "selfie",
        "drawing",
        "painting",
        "sketch",
        "sort",
        "kind",
        "type",
        "up",
        "pair",
        "couple",
        "group",
        "bunch",
        "family",
        "pack",
        "series",
        "version",
        "style",
        "piece",
        "litter",
        "herd",
        "flock",
        "team",
        "row",
        "couple",
        "one",
        "some",
        "any",
    ]
)


def find_nouns(page: Page, lexicon_: Lexicon) -> list[Noun]:
    """Subject phrases that are not part of a compound, a proper noun or a verb."""
    nouns = []
    traps = _compounds()
    for first, last, entry in lexicon_.subjects.find(page.words):
        if _in_trap(page.words, first, last, traps) or _is_verb(page.words, first):
            continue
        if _is_other_thing(page.words, lexicon_, first, last):
            continue
        if _is_modifier(page, lexicon_, first, last) or _is_proper(page, first, last):
            continue
        nouns.append(Noun(first=first, last=last, entry=entry))
    return nouns


_TRAPS: PhraseTable[bool] = PhraseTable()


def _compounds() -> PhraseTable[bool]:
    if not _TRAPS.get("hot dog"):
        for phrase in lexicon.compounds():
            _TRAPS.add(phrase, True)
            _TRAPS.add(plural(phrase), True)
    return _TRAPS


def _in_trap(words: tuple[Word, ...], first: int, last: int, traps: PhraseTable[bool]) -> bool:
    """Whether a longer everyday compound ("hot dog") covers the phrase."""
    for start in range(max(0, first - 2), first + 1):
        match = traps.match_at(words, start)
        if match and start + match[0] >= last and match[0] > last - first:
            return True
    return False


def _is_other_thing(words: tuple[Word, ...], lexicon_: Lexicon, first: int, last: int) -> bool:
    """Whether words before the phrase make a thing of another kind of it: "sea horse"."""
    head = " ".join(word.norm for word in words[first:last])
    before = ""
    for index in range(first - 1, max(-1, first - 3), -1):
        if not words[index + 1].joined:
            break
        before = f"{words[index].norm} {before}"
        if lexicon_.subjects.is_other_thing(f"{before}{head}", head):
            return True
    return False


def _is_verb(words: tuple[Word, ...], first: int) -> bool:
    """Whether a subject word is a verb here: "can't bear", "I watch"."""
    before = words[first - 1] if first else None
    if before is None or not words[first].joined:
        return False
    return (before.norm in lexicon.words("verb_marks") and before.norm not in ("to", "please")) or (
        before.norm == "to"
        and words[first].norm in ("watch", "bear", "bridge", "house", "fish", "toy", "chair", "bag")
    )


def _is_modifier(page: Page, lexicon_: Lexicon, first: int, last: int) -> bool:
    """Whether the next word makes a compound of it: "dog house", "cat-eye sunglasses"."""
    if last >= len(page.words) or not page.words[last].joined or page.words[last - 1].possessive:
        return False
    following = page.words[last]
    norm = following.norm
    if norm in lexicon.words("selectors") or norm.startswith("<") or norm[0].isdigit():
        return False
    if following.hyphen and page.shadow[page.words[last - 1].end] == "-":
        if lexicon_.styles.match_at(page.words, last) or norm in (
            "v",
            "style",
            "styled",
            "model",
            "version",
        ):
            return False
        return not _VERSION.fullmatch(norm)
    if _VERSION.fullmatch(norm):
        return False
    if (
        norm in lexicon.words("determiners")
        or norm in lexicon.words("prepositions")
        or norm in lexicon.words("links")
        or norm in lexicon.words("continuations")
        or norm in lexicon.calendar("months")
        or norm
        in (
            "last",
            "latest",
            "newest",
            "first",
            "oldest",
            "most",
            "trained",
            "yesterday",
            "recently",
            "v",
            "ver",
            "number",
            "mine",
            "ours",
            "vers",
            "rev",
            "mk",
            "mark",
            "nr",
            "circa",
            "pre",
            "post",
            "nobody",
        )
        or lexicon_.owners.match_at(page.words, last) is not None
    ):
        return False
    match = lexicon_.subjects.match_at(page.words, last)
    if match is not None and match[1].subjects:
        return True
    if norm in lexicon.words("frames") or lexicon_.styles.match_at(page.words, last) is not None:
        return False
    plural_noun = page.words[last - 1].norm == plural(page.words[last - 1].norm.rstrip("s"))
    if norm in lexicon.verb_forms():
        base = norm in lexicon.words("verbs") and not norm.endswith(("ed", "ing"))
        return base and not plural_noun and not _made_to(page.words, first)
    if norm.endswith(("ing", "ed", "ly")) and len(norm) > 4 and norm not in _NOT_PARTICIPLES:
        return False
    return norm.isascii() or norm.isalpha()


def _made_to(words: tuple[Word, ...], first: int) -> bool:
    """Whether the phrase does what the next verb says: "make the latest horse jump"."""
    return any(word.norm in ("make", "let", "have", "see", "watch") for word in words[:first])


def _is_proper(page: Page, first: int, last: int) -> bool:
    """Whether capitals stand beside capitals: "Bear Grylls", "Golden Gate Bridge"."""
    words = page.words
    if not words[first].capital or _is_title_case(page):
        return False
    following = words[last] if last < len(words) and words[last].joined else None
    if following is not None and following.capital and not _is_ordinary(following):
        return True
    before = words[first - 1] if first and words[first].joined else None
    return (
        before is not None
        and before.capital
        and before.index > 0
        and not _is_ordinary(before)
        and last - first == 1
    )


def _is_ordinary(word: Word) -> bool:
    """A capital that says nothing: months, acronyms of one letter, versions."""
    return (
        word.norm in lexicon.calendar("months")
        or word.norm in lexicon.calendar("seasons")
        or len(word.norm) <= 2
        or word.norm.startswith("<")
        or word.norm in lexicon.words("determiners")
        or word.norm in lexicon.words("prepositions")
        or word.norm in lexicon.words("selectors")
    )


def _is_title_case(page: Page) -> bool:
    """Whether capitals mean nothing here: most words have one."""
    letters = [word for word in page.words if word.norm[0].isalpha() and len(word.norm) > 3]
    return len(letters) > 2 and sum(word.capital for word in letters) > 0.6 * len(letters)


@dataclass(frozen=True, kw_only=True)
class _Role:
    weight: int
    coordinate: bool = False
    governor: int = -1
    """Index of the word that governs the phrase."""


def parse_subject(draft: Draft) -> None:
    """Weigh every mention by its role; the heaviest is what the request is about."""
    mentions: list[tuple[Noun, Mention, _Role]] = []
    for noun in draft.nouns:
        span = draft.span_of(noun.first, noun.last)
        if not draft.free(span.start, span.end):
            continue
        role = _role(draft, noun, mentions)
        mention = Mention(span=span, subjects=noun.entry.subjects, weight=role.weight)
        mentions.append((noun, mention, role))
    mentions = _demote_frames(draft, mentions)
    draft.mentions += [mention for _, mention, _ in mentions if mention.subjects]
    chosen = _chosen(_without_actors(draft, mentions))
    unknown = _unknown_head(draft, [noun for noun, _, _ in mentions])
    best = max((mention.weight for _, mention, _ in chosen), default=-1)
    if unknown is not None and best < 2:
        draft.unknown_subject = unknown
        return
    if best < 1 and not draft.answering and _names_a_selector(draft):
        return
    known = [(noun, mention) for noun, mention, _ in chosen if mention.subjects]
    if not known:
        if chosen and (best >= 2 or not draft.constraints):
            draft.unknown_subject = _missing(draft, chosen[0][1].span)
        return
    _claim(draft, known)


def _claim(draft: Draft, known: list[tuple[Noun, Mention]]) -> None:
    values = tuple(dict.fromkeys(s for _, mention in known for s in mention.subjects))
    first = known[0][1]
    said = [canonical(mention.span.of(draft.page.text)) for _, mention in known]
    excluded = _excluded(draft, known[0][0])
    if excluded and known[0][0].entry.narrower:
        draft.constraints.append(_described(draft, first.span, excluded=True))
        return  # "not the beagle": another dog
    draft.add(
        Constraint(
            attribute=Attribute.SUBJECT,
            values=values,
            excluded=excluded,
            span=first.span,
            text=first.span.of(draft.page.text),
            words=frozenset(said),
            coarse=known[0][0].entry.kind or len(known) > 1,
            label=("not " if excluded else "") + " or ".join(dict.fromkeys(said)),
        )
    )
    for noun, mention in known:
        if noun.entry.narrower:
            draft.constraints.append(_described(draft, mention.span, excluded=False))


def _described(draft: Draft, span: Span, *, excluded: bool) -> Constraint:
    """A noun that says more than the subject: "beagle", "corgi"."""
    text = span.of(draft.page.text)
    return Constraint(
        attribute=Attribute.DESCRIPTION,
        values=(canonical(text),),
        excluded=excluded,
        hard=excluded,
        coarse=True,
        span=span,
        text=text,
        label=("not " if excluded else "") + canonical(text),
    )


def _excluded(draft: Draft, noun: Noun) -> bool:
    words = draft.page.words
    index = noun.first - 1
    while index >= 0 and words[index].norm in ("the", "a", "an", "any"):
        index -= 1
    return index >= 0 and words[index].norm in ("not", "except") and draft.answering


def _missing(draft: Draft, span: Span) -> Constraint:
    text = span.of(draft.page.text)
    return Constraint(
        attribute=Attribute.SUBJECT,
        values=(canonical(text),),
        span=span,
        text=text,
        words=frozenset({canonical(text)}),
        label=canonical(text),
    )


def _role(draft: Draft, noun: Noun, before: list[tuple[Noun, Mention, _Role]]) -> _Role:
    """How the sentence holds the noun: head, object of a verb, thing in the scene."""
    words = draft.page.words
    index, possessed, chosen = noun.first, False, _chosen_by_tail(draft, noun)
    weight, coordinate, governor = 2, False, -1
    while index > 0 and words[index].joined:
        word = words[index - 1]
        if not draft.is_free(word):
            if any(s.start <= word.start < s.end for s in draft.selecting):
                chosen = True
            index -= 1
            continue
        if word.norm in ("my", "our", "mine"):
            possessed = True
            index -= 1
            continue
        if word.norm in lexicon.words("determiners"):
            index -= 1
            continue
        if word.norm == "of":
            governor = index - 1
            weight, chosen = _of(draft, index - 2, chosen)
            break
        if word.norm in _EXPLICIT:
            weight = 3
            break
        if word.norm in ("and", "or", "plus", "&"):
            previous = before[-1][2] if before else None
            coordinate = previous is not None and _adjacent(draft, before[-1][0], index - 1)
            weight = (
                previous.weight if previous is not None and coordinate else 1 + (previous is None)
            )
            break
        if word.norm in lexicon.words("openers"):
            break
        if word.norm == "with":
            weight = 1
            break
        if word.norm == "for" or (word.norm == "like" and index - 1 == 0):
            break
        if word.norm in lexicon.words("prepositions"):
            weight = 0
            break
        if word.norm in lexicon.words("links"):
            weight = (
                2
                if word.norm in ("but", "not", "while", "please", "is", "want", "need", "i'd")
                else 1
            )
            break
        if _is_verbal(word, draft):
            weight = 1
            break
        if word.possessive and not draft.nouns_cover(word.index):
            weight = min(weight, 2)
        index -= 1
    if chosen:
        return _Role(weight=max(weight, 3), coordinate=coordinate, governor=governor)
    if possessed:
        return _Role(
            weight=max(weight + 1, 2) if weight else 2, coordinate=coordinate, governor=governor
        )
    return _Role(weight=weight, coordinate=coordinate, governor=governor)


def _is_verbal(word: Word, draft: Draft) -> bool:
    """A verb that takes the noun as its object ("riding a bike"), not an adjective."""
    if draft.noun_at(word.index) or draft.style_at(word.index):
        return False
    if word.norm not in lexicon.verb_forms():
        return False
    adjectival = word.norm.endswith(("ing", "ed", "en", "wn", "rn"))
    if adjectival and word.index and (not word.joined or draft.nouns_cover(word.index - 1)):
        return True  # ", chasing butterflies"
    following = draft.page.words[word.index + 1 : word.index + 2]
    determined = bool(following) and following[0].norm in lexicon.words("determiners")
    return determined if adjectival else word.index > 0


def _adjacent(draft: Draft, noun: Noun, link: int) -> bool:
    """Whether only the link stands between two coordinated phrases."""
    return noun.last >= link - 1 or noun.last == link


def _of(draft: Draft, index: int, chosen: bool) -> tuple[int, bool]:
    """Weight of what follows "… of": what a frame shows, or a part of a scene."""
    words = draft.page.words
    if index < 0:
        return 2, chosen
    word = words[index]
    if not draft.is_free(word):
        selected = any(s.start <= word.start < s.end for s in draft.selecting)
        return (3, True) if selected else (2, chosen)
    if word.norm in lexicon.words("selectors"):
        return 3, True
    if word.norm in _TRANSPARENT_OF or word.norm in lexicon.words("openers"):
        return 2, chosen
    if draft.style_at(index):
        return 2, chosen
    return 0, chosen


def _chosen_by_tail(draft: Draft, noun: Noun) -> bool:
    """Whether what follows selects it: "bear model", "dog v9", "the dog I used yesterday"."""
    words = draft.page.words
    if noun.last >= len(words) or not words[noun.last].joined:
        return False
    following = words[noun.last]
    if following.norm in lexicon.words("selectors") and following.norm not in ("one", "ones"):
        return True
    return any(span.start <= following.start < span.end for span in draft.selecting)


def _demote_frames(
    draft: Draft, mentions: list[tuple[Noun, Mention, _Role]]
) -> list[tuple[Noun, Mention, _Role]]:
    """Let "a painting of the dog" be about the dog, but not "my latest painting of a lake"."""
    governed = {role.governor - 1 for _, mention, role in mentions if mention.subjects}
    demoted = []
    for noun, mention, role in mentions:
        word = draft.page.words[noun.last - 1].norm
        frame = word in lexicon.words("frames") and noun.last - noun.first == 1
        if frame and noun.last - 1 in governed and mention.weight < 3:
            mention, role = replace(mention, weight=0), replace(role, weight=0)
        demoted.append((noun, mention, role))
    return demoted


def _without_actors(
    draft: Draft, mentions: list[tuple[Noun, Mention, _Role]]
) -> list[tuple[Noun, Mention, _Role]]:
    """Leave out people the catalog has no checkpoint of when they act on something it has."""
    people = lexicon.subject_tables()["narrower"]["person"]
    known = [item for item in mentions if item[1].subjects and item[1].weight >= 1]

    def actor(mention: Mention) -> bool:
        word = canonical(mention.span.of(draft.page.text))
        return not mention.subjects and (word in people or word.removesuffix("s") in people)

    return [item for item in mentions if not actor(item[1])] if known else mentions


def _chosen(
    mentions: list[tuple[Noun, Mention, _Role]],
) -> list[tuple[Noun, Mention, _Role]]:
    """The heaviest mention, with those coordinated to it; earlier ones win."""
    if not mentions:
        return []
    top = max(mention.weight for _, mention, _ in mentions)
    start = next(i for i, (_, mention, _) in enumerate(mentions) if mention.weight == top)
    chosen = [mentions[start]]
    for item in mentions[start + 1 :]:
        if item[2].coordinate and item[1].weight == top:
            chosen.append(item)
        else:
            break
    return chosen


def _names_a_selector(draft: Draft) -> bool:
    """Whether the prompt speaks of a model as such ("the latest one", "April build")."""
    return any(word.norm in lexicon.words("selectors") for word in draft.page.words) and any(
        c.attribute is not Attribute.SUBJECT for c in draft.constraints
    )


def _unknown_head(draft: Draft, nouns: list[Noun]) -> Constraint | None:
    """The head noun of a phrase that is no subject of the catalog ("a pangolin in the snow")."""
    covered = {index for noun in nouns for index in range(noun.first, noun.last)}
    for chunk in _chunks(draft):
        if any(word.index in covered for word in chunk) or draft.triggers:
            return None
        head = _head(draft, chunk)
        if head is not None:
            return _unknown(draft, chunk, head)
        if any(word.norm in lexicon.words("selectors") for word in chunk):
            return None
    return None


def _unknown(draft: Draft, chunk: list[Word], head: Word) -> Constraint:
    """The unknown head; a compound of a known one ("tree house") is unknown as a whole."""
    phrase = _phrase(draft, chunk, head)
    missing = replace(_missing(draft, head.span), text=phrase)
    entry = draft.lexicon.subjects.get(head.norm)
    if entry is not None and entry.subjects:
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


def _chunks(draft: Draft) -> list[list[Word]]:
    """Noun phrases in head position: at the start, after a frame's "of", after a comma."""
    chunks: list[list[Word]] = []
    current: list[Word] = []
    scene = False
    for word in draft.page.words:
        breaks = not word.joined
        boundary = word.norm in lexicon.words("prepositions") or (
            word.norm in lexicon.words("links") or word.norm in lexicon.words("openers")
        )
        if breaks:
            if current and not scene:
                chunks.append(current)
            current, scene = [], False
        if boundary and draft.is_free(word):
            if current and not scene:
                chunks.append(current)
            transparent = (
                word.norm == "of"
                and bool(current)
                and (
                    current[-1].norm in _TRANSPARENT_OF
                    or current[-1].norm in lexicon.words("selectors")
                    or not draft.is_free(current[-1])
                )
            )
            head_again = (
                transparent
                or word.norm in lexicon.words("openers")
                or word.norm
                in (
                    "i",
                    "me",
                    "us",
                    "you",
                    "please",
                    "want",
                    "need",
                    "i'd",
                    "can",
                    "could",
                    "do",
                    "using",
                    "let",
                    "lets",
                    "let's",
                )
            )
            scene = not head_again and not (
                word.norm in ("for", "of") and not current and not scene
            )
            current = []
            continue
        if not scene and not current and word.norm.endswith("ing") and _is_finite(word, draft):
            scene = True
            continue
        if not scene and _names_something(current) and _is_finite(word, draft):
            chunks.append(current)
            current, scene = [], True
            continue
        current.append(word)
    if current and not scene:
        chunks.append(current)
    return chunks


def _names_something(chunk: list[Word]) -> bool:
    """Whether a verb after these words has a subject: "a painted pangolin" has none there."""
    return any(word.norm not in lexicon.words("determiners") for word in chunk)


def _is_finite(word: Word, draft: Draft) -> bool:
    if draft.noun_at(word.index) or draft.style_at(word.index) or not draft.is_free(word):
        return False
    return word.norm in lexicon.verb_forms() and word.norm not in lexicon.words("frames")


def _is_thing(norm: str, chunk: list[Word], selector: bool) -> bool:
    """Whether a word names a thing: "cat-eye sunglasses" do, "the brown one" does not."""
    worn = norm in lexicon.wearables() or norm.removesuffix("s") in lexicon.wearables()
    return worn and not selector and len(chunk) > 1


def _is_known_place(draft: Draft, word: Word) -> bool:
    match = draft.lexicon.environments.match_at(draft.page.words, word.index)
    return match is not None and bool(match[1].exact)


def _head(draft: Draft, chunk: list[Word]) -> Word | None:
    """The unknown head noun of a chunk, or None when it has none."""
    determined = any(word.norm in ("a", "an", "the", "my", "our") for word in chunk)
    limit = len(chunk)
    selector = False
    for position, word in enumerate(chunk):
        if word.norm in lexicon.words("selectors") and draft.is_free(word):
            limit, selector = position, True
            break
    for word in reversed(chunk[:limit]):
        norm = word.norm
        if not draft.is_free(word) or word.norm.startswith("<"):
            if selector or any(s.start <= word.start < s.end for s in draft.selecting):
                continue
            return None
        if not norm.isalpha() or len(norm) < 3 or norm in lexicon.words("determiners"):
            return None
        named = determined and not selector and lexicon.names_thing(norm)
        if norm in lexicon.colours():  # "a raven", but not "the raven"
            named = named and any(other.norm in ("a", "an", "my") for other in chunk)
        if (
            norm in lexicon.words("scenes")
            or norm.removesuffix("s") in lexicon.words("scenes")
            or norm in lexicon.words("frames")
            or norm in lexicon.words("empty_adjectives")
            or (norm in lexicon.words("continuations") and not named)
            or draft.lexicon.styles.match_at(draft.page.words, word.index)
            or _is_known_place(draft, word)
            or (
                norm in lexicon.description_groups()
                and not _is_thing(norm, chunk, selector)
                and not named
            )
        ):
            return None
        if lexicon.is_no_thing(norm) and (selector or not determined):
            return None
        if _is_ordinary(word) and norm not in lexicon.words("selectors"):
            return None
        return word
    return None
