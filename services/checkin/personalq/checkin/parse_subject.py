"""What is pictured: the noun the request is about, told from scene words by its role."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from personalq.checkin import lexicon
from personalq.checkin.apposition import sorts
from personalq.checkin.draft import Draft, Noun
from personalq.checkin.intent import Attribute, Constraint, Mention, Span
from personalq.checkin.lexicon import canonical
from personalq.checkin.lexicon.wordnet import Nature, nature
from personalq.checkin.text import Word, ends_before
from personalq.checkin.unknown_head import chosen_thing, missing_subject, unknown_head
from personalq.checkin.word_roles import is_particle, opens_contact


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
    mentions = _behind_headings(draft, _demote_frames(draft, mentions))
    draft.mentions += [mention for _, mention, _ in mentions if mention.subjects]
    chosen = _chosen(_without_actors(draft, mentions))
    unknown = unknown_head(draft, [noun for noun, _, _ in mentions])
    best = max((mention.weight for _, mention, _ in chosen), default=-1)
    told = _told_apart(draft, mentions) if best < 2 else []
    if told:
        _claim(draft, told)
        return
    if unknown is not None and best == 1 and _is_for(draft, unknown):
        unknown = None
    if unknown is not None and best == 1 and _is_theirs(draft, unknown, chosen[0][0]):
        unknown = None
    added = unknown is not None and best >= 2 and _is_added(draft, unknown, chosen[0][0])
    if unknown is not None and (best < 2 or added):
        draft.unknown_subject = unknown
        return
    if best < 1 and not draft.answering and _names_a_selector(draft):
        draft.unknown_subject = chosen_thing(draft)
        return
    known = [(noun, mention) for noun, mention, _ in chosen if mention.subjects]
    if not known:
        if chosen and (best >= 2 or not draft.constraints):
            draft.unknown_subject = missing_subject(draft, chosen[0][1].span)
        else:
            draft.unknown_subject = chosen_thing(draft)
        return
    _claim(draft, known)


def _behind_headings(
    draft: Draft, mentions: list[tuple[Noun, Mention, _Role]]
) -> list[tuple[Noun, Mention, _Role]]:
    """Leave out what only says what a picture is for: "kids tee: the turtle on a ramp"."""
    asked = [m.span.start for _, m, role in mentions if m.subjects and role.weight >= 2]
    shadow = draft.page.shadow
    return [
        each
        for each in mentions
        if each[1].subjects
        or not any(re.search(r":\s", shadow[each[1].span.end : start]) for start in asked)
    ]


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
            coarse=known[0][0].entry.kind or len(known) > 1,
            narrower=known[0][0].entry.narrower,
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
        values=(_usual_name(canonical(text)),),
        excluded=excluded,
        hard=excluded,
        coarse=True,
        span=span,
        text=text,
        label=("not " if excluded else "") + canonical(text),
    )


def _usual_name(noun: str) -> str:
    """What a kind is called on cards: a "sausage dog" is a dachshund."""
    same = lexicon.subject_tables()["same"]
    return next((name for name, words in same.items() if " " in noun and noun in words), noun)


def _excluded(draft: Draft, noun: Noun) -> bool:
    words = draft.page.words
    index = noun.first - 1
    while index >= 0 and words[index].norm in ("the", "a", "an", "any"):
        index -= 1
    return index >= 0 and words[index].norm in ("not", "except") and draft.answering


def _role(draft: Draft, noun: Noun, before: list[tuple[Noun, Mention, _Role]]) -> _Role:
    """How the sentence holds the noun: head, object of a verb, thing in the scene."""
    words = draft.page.words
    if _acts_in_clause(draft, noun):
        return _Role(weight=0)
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
        compounded = word.hyphen or (words[index].hyphen and not draft.nouns_cover(index))
        if word.norm in lexicon.words("determiners") or compounded:
            index -= 1
            continue
        if word.norm == "of":
            governor = index - 1
            weight, chosen = _of(draft, index - 2, chosen)
            break
        if word.norm in lexicon.words("choosing"):
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
        if word.norm == "with" and not possessed and _is_had_by_another(draft, word.index):
            return _Role(weight=1)  # "the boat with the seats that was trained at the dock"
        if word.norm == "with":
            lead = words[word.index - 1].norm if word.index and word.joined else ""
            weight = 2 if lead in _GO else 1
            break
        if word.norm == "for" or (word.norm == "like" and index - 1 == 0):
            break
        if is_particle(words, word.index):
            index -= 1
            continue
        if _is_wanted(words, word.index):
            break
        if word.norm == "in" and _is_worn_by_another(draft, noun, word.index):
            return _Role(weight=0)  # "the pirate in a coat from the harbor set"
        if word.norm in lexicon.words("prepositions"):
            weight, chosen = (
                (3, True)
                if _is_choice(words, word.index) and _is_plural(words, noun)
                else (0, chosen)
            )
            break
        if word.norm in lexicon.words("links"):
            if word.norm == "which" and _opens_question(draft, word):
                weight, chosen = 3, True  # "which cupcake gets used most"
                break
            weight = 2 if word.norm in _ASKED or _is_owned(words, word.index) else 1
            break
        if _is_verbal(word, draft):
            weight = 1
            break
        if word.possessive and not draft.nouns_cover(word.index):
            weight = min(weight, 2)
        index -= 1
    if chosen and (weight or noun.entry.subjects or not _is_asked_for(before)):
        return _Role(weight=max(weight, 3), coordinate=coordinate, governor=governor)
    if possessed:
        return _Role(
            weight=max(weight + 1, 2) if weight else 2, coordinate=coordinate, governor=governor
        )
    return _Role(weight=weight, coordinate=coordinate, governor=governor)


def _is_asked_for(before: list[tuple[Noun, Mention, _Role]]) -> bool:
    """Whether something known was asked for already: "the bear on a rug, latest one"."""
    return any(mention.subjects and role.weight >= 2 for _, mention, role in before)


def _opens_question(draft: Draft, word: Word) -> bool:
    """Whether a sentence begins with the word."""
    before = draft.page.shadow[: word.start].rstrip()
    return not before or before[-1] in ".?!;:"


def _is_had_by_another(draft: Draft, index: int) -> bool:
    """Whether a subject stands right before "with"."""
    return any(other.last == index and other.entry.subjects for other in draft.nouns)


def _is_worn_by_another(draft: Draft, noun: Noun, index: int) -> bool:
    """Whether the subject before "in" wears the noun."""
    worn = lexicon.is_wearable(draft.page.words[noun.last - 1].norm)
    return worn and any(other.last == index and other.entry.subjects for other in draft.nouns)


def _is_plural(words: tuple[Word, ...], noun: Noun) -> bool:
    """Whether there are several to choose from."""
    return words[noun.last - 1].norm.endswith("s")


def _is_choice(words: tuple[Word, ...], index: int) -> bool:
    """Whether a request opens with what to choose from: "From the windmills take the oldest"."""
    opens = index == 0 or not words[index].joined
    return opens and words[index].norm in ("from", "among", "amongst")


_GO = frozenset(["go", "going", "stick", "stay", "start", "begin", "continue", "work", "proceed"])
"""Before "with", ask for what follows: "let's go with the lamp"."""
_ASKED = frozenset(["but", "not", "while", "please", "is", "want", "need", "i'd", "there"])


def _is_owned(words: tuple[Word, ...], index: int) -> bool:
    """Whether a person asks for what they have: "do we have a viaduct"."""
    owner = words[index - 1].norm if index else ""
    return words[index].norm == "have" and owner in ("i", "we", "you")


def _is_wanted(words: tuple[Word, ...], index: int) -> bool:
    """Whether the word ends a verb of asking: "draw up the", "I'm after a", "what about the"."""
    if index == 0 or not words[index].joined:
        return False
    norm, before = words[index].norm, words[index - 1].norm
    if norm in ("have", "let"):
        return before in ("please", "you", "then", "just")
    if norm in ("up", "out"):
        return before in lexicon.words("openers") or before in _ASKING
    if norm == "about":
        return before in ("what", "how")
    return norm in ("after", "for") and before in ("i'm", "we're", "am", "looking")


_ASKING = frozenset(
    ["conjure", "cook", "whip", "sketch", "drum", "dream", "think", "serve", "bring"]
)


def _acts_in_clause(draft: Draft, noun: Noun) -> bool:
    """Whether the noun is who does something to the subject: "the boots my father wears"."""
    words = draft.page.words
    start = noun.first
    if start and words[start].joined and words[start - 1].norm in lexicon.words("determiners"):
        start -= 1
    told = start - 1 in sorts(words) or any(other.last == start for other in draft.nouns)
    return told and words[start].joined and opens_contact(words, start)


def _is_verbal(word: Word, draft: Draft) -> bool:
    """A verb that takes the noun as its object ("riding a bike"), not an adjective."""
    if draft.noun_at(word.index) or draft.style_at(word.index):
        return False
    if word.norm not in lexicon.verb_forms() or _is_of_a_kind(word, draft):
        return False
    adjectival = word.norm.endswith(("ing", "ed", "en", "wn", "rn"))
    if adjectival and word.index and (not word.joined or draft.nouns_cover(word.index - 1)):
        return True  # ", chasing butterflies"
    following = draft.page.words[word.index + 1 : word.index + 2]
    determined = bool(following) and following[0].norm in lexicon.words("determiners")
    return determined if adjectival else word.index > 0


def _is_of_a_kind(word: Word, draft: Draft) -> bool:
    """Whether a word ends the name of a kind that stands before its noun: "swiss roll cake"."""
    before = word.index - 1
    match = draft.lexicon.subjects.match_at(draft.page.words, before) if before >= 0 else None
    return match is not None and match[0] > 1 and bool(match[1].subjects)


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
    if word.norm in lexicon.words("selectors") or word.norm in _ANY_OF:
        return 3, True
    if word.norm in lexicon.words("shown_of") or word.norm in lexicon.words("openers"):
        return 2, chosen
    if draft.style_at(index):
        return 2, chosen
    return 0, chosen


_ANY_OF = frozenset(["which", "any", "either", "whichever"])


def _chosen_by_tail(draft: Draft, noun: Noun) -> bool:
    """Whether what follows selects it: "bear model", "dog v9", "the dog I used yesterday"."""
    words = draft.page.words
    if noun.last >= len(words):
        return False
    following = words[noun.last]
    if not following.joined:
        gap = draft.page.shadow[words[noun.last - 1].full_end : following.start]
        return gap.strip() == "#" and _is_selecting(draft, following)
    if following.norm in lexicon.words("selectors") and following.norm not in ("one", "ones"):
        return True
    if following.norm in ("that", "which"):
        clause = words[noun.last + 1 : noun.last + 5]
        said = [word for word in clause if word.norm not in _WAS]
        norms = {word.norm for word in clause}
        if norms & {"has", "have", "had"} and not norms & {"been", "got", "we", "i", "you"}:
            return False  # "a dog that has just made a mess"
        return bool(said) and _is_selecting(draft, said[0])
    return _chosen_by_verb(draft, following) or _is_selecting(draft, following)


_WAS = frozenset(["was", "is", "were", "has", "have", "had", "been", "got", "we", "i", "you"])


def _chosen_by_verb(draft: Draft, word: Word) -> bool:
    """Whether a sentence says which one it is: "the mesa should be our oldest one"."""
    said = False
    while word.norm in _IS_WHICH and word.index + 1 < len(draft.page.words):
        said = said or word.norm in ("be", "is", "being")
        word = draft.page.words[word.index + 1]
    return said and word.joined and _is_selecting(draft, word)


_IS_WHICH = frozenset(
    ["should", "must", "shall", "needs", "to", "be", "is", "being", "the", "my", "our"]
)


def _is_selecting(draft: Draft, word: Word) -> bool:
    return any(span.start <= word.start < span.end for span in draft.selecting)


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


_LIKING = frozenset(["loves", "likes", "wants", "adores", "needs", "ordered", "requested"])


def _is_for(draft: Draft, unknown: Constraint) -> bool:
    """Whether somebody is whom the picture is for: "my grandson loves the parrot"."""
    head = draft.page.word_at(unknown.span.start) if unknown.span else None
    if head is None or nature(head.norm) is not Nature.PERSON or head.index == 0:
        return False
    following = draft.page.words[head.index + 1 : head.index + 2]
    mine = draft.page.words[head.index - 1].norm in ("my", "our")
    return mine and bool(following) and following[0].norm in _LIKING


_ADDED = re.compile(
    r"(?<!\w)and\s+(?:then\s+)?(?:put|add|place|set|stick|lay|hang|drop)\s+an?\s+(?:[\w-]+\s+)?$"
)


def _is_added(draft: Draft, unknown: Constraint, noun: Noun) -> bool:
    """Whether a subject is put beside what was asked for: "the piano, and put a vase on it"."""
    start = draft.page.words[noun.first].start
    behind = unknown.span is not None and unknown.span.end <= start
    behind = behind and any(c.hard for c in draft.constraints)  # "bake a cake and put a bear on it"
    return behind and ends_before(_ADDED, draft.page.shadow, start) is not None


def _is_theirs(draft: Draft, unknown: Constraint, noun: Noun) -> bool:
    """Whether somebody is there for what is theirs: "a dancer tying her shoes"."""
    head = draft.page.word_at(unknown.span.start) if unknown.span else None
    if head is None or nature(head.norm) is not Nature.PERSON or head.index > noun.first:
        return False
    before = draft.page.words[noun.first - 1].norm if noun.first else ""
    return before in ("her", "his", "their")


def _told_apart(
    draft: Draft, mentions: list[tuple[Noun, Mention, _Role]]
) -> list[tuple[Noun, Mention]]:
    """What is asked for wherever it stands: "over a bridge on the scooter, the one with a bell"."""
    found = []
    for noun, mention, _ in mentions:
        tail = draft.page.words[noun.last : noun.last + 4]
        if not mention.subjects or not _is_definite(draft, noun) or len(tail) < 2:
            continue
        says_which = tail[0].norm in ("the", "my", "our") and any(w.norm == "one" for w in tail)
        if says_which and not tail[0].joined:
            found.append((noun, mention))
    return found[-1:]


def _is_definite(draft: Draft, noun: Noun) -> bool:
    """Whether "the" or "my" opens its phrase: "the flat-topped mountain"."""
    words = draft.page.words
    index = noun.first
    while index and words[index].joined and noun.first - index < 4:
        index -= 1
        if words[index].norm in ("the", "my", "our"):
            return True
        if words[index].norm in lexicon.words("prepositions"):
            return False
    return False


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
