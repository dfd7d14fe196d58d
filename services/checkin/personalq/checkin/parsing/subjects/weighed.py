"""Of the nouns of a prompt, those that the request is about."""

from __future__ import annotations

import re
from dataclasses import replace

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Constraint, Mention
from personalq.checkin.lexicon import canonical, wordnet
from personalq.checkin.lexicon.wordnet import Nature, nature
from personalq.checkin.nouns import is_kind_of
from personalq.checkin.parsing.draft import Draft, Noun
from personalq.checkin.parsing.numbers import CARDINALS
from personalq.checkin.parsing.subjects.role import Role
from personalq.checkin.parsing.text import ends_before


def behind_headings(
    draft: Draft, mentions: list[tuple[Noun, Mention, Role]]
) -> list[tuple[Noun, Mention, Role]]:
    """Leave out what only says what a picture is for: "kids tee: the turtle on a ramp"."""
    asked = [m.span.start for _, m, role in mentions if m.subjects and role.weight >= 2]
    shadow = draft.page.shadow
    return [
        each
        for each in mentions
        if each[1].subjects
        or not any(re.search(r":\s", shadow[each[1].span.end : start]) for start in asked)
    ]


def demote_frames(
    draft: Draft, mentions: list[tuple[Noun, Mention, Role]]
) -> list[tuple[Noun, Mention, Role]]:
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


def is_for(draft: Draft, unknown: Constraint) -> bool:
    """Whether somebody is whom the picture is for: "my grandson loves the parrot"."""
    head = draft.page.word_at(unknown.span.start) if unknown.span else None
    if head is None or nature(head.norm) is not Nature.PERSON or head.index == 0:
        return False
    following = draft.page.words[head.index + 1 : head.index + 2]
    mine = draft.page.words[head.index - 1].norm in ("my", "our")
    return mine and bool(following) and following[0].norm in _LIKING


_ADDED = compile_form(r"(?<!\w)and (then )?(put|add|place|set|stick|lay|hang|drop) an? ([\w-]+ )?$")


_OPENING = 3
"""Words that a request opens with up to what it is about: "the pale pink piano"."""
_ON_IT = compile_form(
    r" [^.;:!?]{0,30}?(on|in|under|behind|beside|next to|inside|near|against)( top of)? it"
    r"(?= ?($|[.,;!?]))"
)
_LEANING = compile_form(
    r", (leaning (on|against)|propped (up )?against|hung on|hanging on|standing on|"
    r"lying on) the ([\w-]+ )?$"
)
"""Before what is only where the thing is: "a surfboard, | leaning on the | chair"."""


def is_added(draft: Draft, unknown: Constraint, noun: Noun) -> bool:
    """Whether a subject is put beside what was asked for: "the piano, and put a vase on it"."""
    start = draft.page.words[noun.first].start
    behind = unknown.span is not None and unknown.span.end <= start
    if behind and _is_on_it(draft, unknown, noun):
        return True
    behind = behind and any(c.hard for c in draft.constraints)  # "bake a cake and put a bear on it"
    return behind and ends_before(_ADDED, draft.page.shadow, start) is not None


def _is_on_it(draft: Draft, unknown: Constraint, noun: Noun) -> bool:
    """Whether some subject is on what a request opens with: "the piano, a cat asleep on it"."""
    words = draft.page.words
    opening = draft.page.word_at(unknown.span.start) if unknown.span else None
    if opening is None or words[0].norm not in ("the", "my", "our") or opening.index > _OPENING:
        return False
    some = noun.first and words[noun.first].joined and words[noun.first - 1].norm in ("a", "an")
    apart = some and not words[noun.first - 1].joined
    end = words[noun.last - 1].full_end
    return bool(apart) and _ON_IT.match(draft.page.shadow, end) is not None


def is_theirs(draft: Draft, unknown: Constraint, noun: Noun) -> bool:
    """Whether somebody is there for what is theirs: "a dancer tying her shoes"."""
    head = draft.page.word_at(unknown.span.start) if unknown.span else None
    if head is None or nature(head.norm) is not Nature.PERSON or head.index > noun.first:
        return False
    before = draft.page.words[noun.first - 1].norm if noun.first else ""
    return before in ("her", "his", "their")


def told_apart(
    draft: Draft, mentions: list[tuple[Noun, Mention, Role]]
) -> list[tuple[Noun, Mention]]:
    """What is asked for wherever it stands: "over a bridge on the scooter, the one with a bell"."""
    found = []
    for noun, mention, _ in mentions:
        tail = draft.page.words[noun.last : noun.last + 4]
        if not mention.subjects or not _is_definite(draft, noun.first) or len(tail) < 2:
            continue
        says_which = tail[0].norm in ("the", "my", "our") and any(w.norm == "one" for w in tail)
        if says_which and not tail[0].joined:
            found.append((noun, mention))
    return found[-1:]


def definite(
    draft: Draft, mentions: list[tuple[Noun, Mention, Role]], unknown: Constraint
) -> list[tuple[Noun, Mention]]:
    """The one that is spoken of as known, where any others do something with it: "two crows on my
    tractor".
    """
    head = draft.page.word_at(unknown.span.start) if unknown.span else None
    if head is None or _is_definite(draft, head.index):
        return []
    if head.index == 0 and all(
        ends_before(_LEANING, draft.page.shadow, draft.page.words[noun.first].start)
        for noun, mention, _ in mentions
        if mention.subjects
    ):
        return []  # "surfboard with flames, leaning on the chair"
    known = [(noun, mention) for noun, mention, _ in mentions if mention.subjects]
    told = [
        each
        for each in known
        if _is_definite(draft, each[0].first) and not _is_part_of_another(draft, each[0])
    ]
    return (
        told[:1]
        or [each for each in known if each[1].weight == 1 and _is_inverted(draft, each[0])][:1]
    )


def acted_on(
    draft: Draft, mentions: list[tuple[Noun, Mention, Role]], unknown: Constraint
) -> list[tuple[Noun, Mention]]:
    """The one with which some others do something: "hands playing a saxophone".

    A checkpoint is of one, so several are of the scene; so is who only wears it: "a saint wearing
    the jacket".
    """
    words = draft.page.words
    head = draft.page.word_at(unknown.span.start) if unknown.span else None
    if head is None or len(words) < head.index + 4:
        return []
    acts, the = words[head.index + 1 : head.index + 3]
    before = words[head.index - 1] if head.joined and head.index else None
    lead = before.norm if before is not None else ""
    bare = before is None or lead in CARDINALS or not draft.is_free(before)
    bare = bare or lead in ("me", *lexicon.words("openers"))
    some = bare and _may_act(head.norm) and the.norm in ("a", "an", "the")
    person = nature(head.norm) is Nature.PERSON and (bare or lead in ("a", "an"))
    wears = person and acts.norm == "wearing" and the.norm == "the"
    if not (acts.joined and acts.norm.endswith("ing") and the.joined and (some or wears)):
        return []
    reach = range(the.index + 1, the.index + 4)
    objects = [(noun, m) for noun, m, _ in mentions if m.subjects and noun.first in reach]
    within = words[the.index + 1 : objects[0][0].first + 1] if objects else []
    closed = lexicon.words("prepositions") | lexicon.words("links")
    return objects[:1] if all(w.joined and w.norm not in closed for w in within) else []


def _is_part_of_another(draft: Draft, noun: Noun) -> bool:
    """Whether something else has it: "on the back seat | of a car"."""
    behind = draft.page.shadow[draft.page.words[noun.last - 1].full_end :]
    return behind.startswith((" of a ", " of an ", " of the "))


def _may_act(word: str) -> bool:
    """Whether it is of several people, animals or limbs."""
    single = next(wordnet.singulars(word), None)
    kinds = ("person", "animal", "body part")
    return single not in (None, word) and any(is_kind_of(single, kind) for kind in kinds)


def _is_inverted(draft: Draft, noun: Noun) -> bool:
    """Whether a place leads to it: "on the hook hangs a handbag", "and leaning on it a fiddle"."""
    words = draft.page.words
    index = noun.first
    while index and words[index].joined and words[index].norm not in ("a", "an"):
        index -= 1
    before = words[index - 1].norm if index and words[index].joined else ""
    acts = before.endswith("s") and before in lexicon.verb_forms()
    while index and words[index].joined:
        index -= 1
    opening = words[index + (words[index].norm == "and")].norm
    return before in ("it", "them") or (acts and opening in lexicon.words("prepositions"))


def _is_definite(draft: Draft, first: int) -> bool:
    """Whether "the" or "my" opens its phrase: "the flat-topped mountain".

    What others act on is not spoken of as known: "a fox may be after the cat".
    """
    words = draft.page.words
    index = first
    while index and words[index].joined and first - index < 4:
        index -= 1
        if words[index].norm in ("my", "our") or draft.is_owner(words[index]):
            return True
        if words[index].norm == "the":
            lead = words[index - 1].norm if words[index].joined else ""
            return not (lead == "after" or lead.endswith("ing"))
        if words[index].norm in lexicon.words("prepositions"):
            return False
    return False


def without_actors(
    draft: Draft, mentions: list[tuple[Noun, Mention, Role]]
) -> list[tuple[Noun, Mention, Role]]:
    """Leave out people the catalog has no checkpoint of when they act on something it has."""
    people = lexicon.subject_tables()["narrower"]["person"]
    known = [item for item in mentions if item[1].subjects and item[1].weight >= 1]

    def actor(mention: Mention) -> bool:
        word = canonical(mention.span.of(draft.page.text))
        return not mention.subjects and (word in people or word.removesuffix("s") in people)

    return [item for item in mentions if not actor(item[1])] if known else mentions


def _is_narrower(
    draft: Draft, one: tuple[Noun, Mention, Role], other: tuple[Noun, Mention, Role]
) -> bool:
    """Whether a later mention says which kind is meant: "a drum on a stage; | the snare drum"."""
    told, wider = set(one[1].subjects), set(other[1].subjects)
    refused = ends_before(_REFUSED, draft.page.shadow, one[1].span.start)
    words, index = draft.page.words, one[0].first
    while index and words[index].joined and one[0].first - index < 4:
        index -= 1
        if words[index].norm in ("a", "an"):
            return False  # "an owl on a branch, a barn owl behind"
        if words[index].norm in ("the", "my", "our"):
            break
    return bool(told) and told < wider and not one[2].coordinate and refused is None


_REFUSED = compile_form(r"(?<!\w)(not|no|nor|never|without|except|but|than) (the |an? |my )?$")


def heaviest(
    draft: Draft,
    mentions: list[tuple[Noun, Mention, Role]],
) -> list[tuple[Noun, Mention, Role]]:
    """The heaviest mention, with those coordinated to it; earlier ones win."""
    if not mentions:
        return []
    top = max(mention.weight for _, mention, _ in mentions)
    first = [i for i, (_, mention, _) in enumerate(mentions) if mention.weight == top]
    known = (i for i in first if mentions[i][1].subjects and top < 1)
    start = next(known, first[0])
    start = next(
        (i for i in first if i > start and _is_narrower(draft, mentions[i], mentions[start])), start
    )
    chosen = [mentions[start]]
    for item in mentions[start + 1 :]:
        if item[2].coordinate and item[1].weight == top:
            chosen.append(item)
        else:
            break
    return chosen
