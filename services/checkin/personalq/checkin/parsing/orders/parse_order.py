"""Order: "latest", "newest but one", "the very first", "least used", and soft "recently"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from personalq.chassis.forms import compile_form
from personalq.chassis.screening import Screened
from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Constraint, OrderKey, Span
from personalq.checkin.lexicon import wordnet
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.numbers import number
from personalq.checkin.parsing.orders import by_use, counted, ends, several
from personalq.checkin.parsing.orders.words import MADE
from personalq.checkin.parsing.text import Word, ends_before

_RULES = tuple(
    (rule, Screened(rule.pattern))
    for rule in (*several.RULES, *by_use.RULES, *counted.RULES, *ends.RULES)
)
"""In the order they are tried: "third newest" before "newest"."""
_NOT = compile_form(
    r"(?<!\w)((?<!why )not|(?<!don't )(?<!not )(?<!never )(?<!to )(skip|forget|ignore)) (all "
    r")?(of )?(the )?$"
)
_OPPOSITE = {OrderKey.NEWEST: OrderKey.OLDEST, OrderKey.OLDEST: OrderKey.NEWEST}
_NEW = compile_form(r"((?<=\bmy )|(?<=\bour )|(?<=\bthe ))(brand~)?new(?!\w)")
_MADE = compile_form(MADE)
_END = compile_form(
    r"(first|last|latest|newest|oldest|earliest)(?= of (the|my|our|these|those|all|them)\b)"
)


def parse_order(draft: Draft) -> None:
    """Claim words that order candidates; the first hard order wins, the rest only rank."""
    shadow = draft.page.shadow
    for rule, said in _RULES:
        for match in said.finditer(shadow):
            if not all(draft.free(*match.span(part)) for part in _parts(match)):
                continue
            if rule.needs_head and not _before_head(draft, match):
                continue
            if _is_placed(draft, match):
                continue
            if not rule.needs_head and _is_scene(draft, match):
                continue
            rank = rule.rank
            groups = match.groupdict()
            if nth := groups.get("n") or groups.get("nth") or groups.get("n2"):
                rank = number(nth) or 1
            if groups.get("but"):
                rank = (number(groups["but"]) or 1) + 1
            among = _how_many(groups.get("among") or "")
            if among and not _is_window(draft, match):
                continue
            key = rule.key
            if refused := ends_before(_NOT, shadow, match.start()):
                if not draft.answering:  # "the previous one, not the latest"
                    draft.mark(Span(refused.start(), match.end()), selecting=True)
                    continue
                key = _OPPOSITE.get(key, key)  # "not the oldest" of those asked about
            if groups.get("not"):
                draft.mark(Span(match.start("not"), match.end("not")), selecting=True)
            _claim(draft, match, key, min(rank, 10_000), among=among, hard=rule.hard)
    for match in _NEW.finditer(shadow):
        if draft.free(match.start(), match.end()) and _before_head(draft, match):
            _claim(draft, match, OrderKey.NEWEST, 1, hard=False)
    chosen = (Attribute.ORDER, Attribute.VERSION)
    if draft.between and any(c.hard and c.attribute is Attribute.ORDER for c in draft.constraints):
        middle, whole = draft.between  # "my newest kettle between v1 and v3"
        draft.constraints = [whole if c == middle else c for c in draft.constraints]
    if draft.nearest and not any(c.hard and c.attribute in chosen for c in draft.constraints):
        draft.constraints.append(draft.nearest)


_MANY = {"dozen": 12, "half dozen": 6, "half a dozen": 6, "few": 5, "the one": 2}
"""How many of several: "few" is nobody's number, and five can still be told apart; "the newest or |
the one | before" is one of two."""


def _how_many(said: str) -> int:
    """How many of several one is of; 0 when nothing says so."""
    return _MANY.get(said) or number(said) or 0


_NOT_ONE = compile_form(r"(?<!\w)(not|no|anything but|except|other than) ((one|any|some) )?$")
_TELLING = ("i", "we", "you", "that", "which", "ever", "made", "trained", "in", "on", "at", "with")


def _is_window(draft: Draft, match: re.Match[str]) -> bool:
    """Whether what there are several of is what is asked for: not "the last two windows"."""
    if ends_before(_NOT_ONE, draft.page.shadow, match.start()):
        return False
    following = draft.page.word_at(match.end())
    if following is None or not following.joined or following.norm in _TELLING:
        return True
    for word in draft.page.words[following.index : following.index + 4]:
        noun = draft.noun_at(word.index)
        if word.norm in lexicon.words("selectors") or (noun is not None and noun.entry.subjects):
            return True
        if not word.joined or _closes(word.norm):
            return False
    return False


def _parts(match: re.Match[str]) -> Sequence[str | int]:
    """The groups of a match that order: all of it, or its tail and what that takes the place of."""
    return [part for part in ("not", "tail") if part in match.re.groupindex] or [0]


def _is_scene(draft: Draft, match: re.Match[str]) -> bool:
    """Whether an end of an order belongs to a thing of the scene: "the newest fashion"."""
    if draft.answering or "version" in match[0]:
        return False
    following = draft.page.word_at(match.end())
    if following is None or not following.joined or match.end() > following.start:
        return False
    before = draft.page.word_before(match.start())
    if _is_of_another(draft, match, following):
        return True
    if match[0].startswith("next to the "):  # "next to the latest issue of a magazine"
        made = _MADE.fullmatch(following.norm) or _closes(following.norm)
        return not (made or draft.leads_to_head(following.index, reach=5))
    step = before
    if step is not None and step.norm in ("the", "its", "his", "her", "their") and step.index:
        step = draft.page.words[step.index - 1]
    governed = step is not None and step.norm in (
        "in", "on", "at", "reading", "wearing", "holding", "watching", "with",
    )  # fmt: skip
    if step is not None and step.norm == "to" and step.index:
        governed = draft.page.words[step.index - 1].norm == "next"
    return governed and not (
        draft.leads_to_head(following.index, reach=5) or _closes(following.norm)
    )


def _is_of_another(draft: Draft, match: re.Match[str], following: Word) -> bool:
    """Whether a thing follows that is not asked for, behind what is: "a bear chained to the oldest
    | oak in the village", "a robot showing its oldest | friend".
    """
    if draft.leads_to_head(following.index, reach=5) or not lexicon.names_thing(following.norm):
        return False
    if following.norm in lexicon.words("scenes") | lexicon.words("frames"):
        return False  # "the dog, oldest studio shot"
    before = draft.page.word_before(match.start())
    asked = any(n.entry.subjects and n.last <= following.index for n in draft.nouns)
    determined = before is not None and before.norm in ("its", "his", "her", "their", "the", "an")
    return asked and determined


_PLACING = frozenset((
    "on", "in", "at", "under", "beneath", "underneath", "below", "behind", "beside", "near",
    "against", "above", "over", "inside", "aboard", "outside", "by",
))  # fmt: skip
"""Lead to where something is to be seen."""

_RUNS = frozenset((
    "run", "try", "upload", "session", "epoch", "file", "take", "attempt", "set", "batch",
    "training", "trained", "one",
))  # fmt: skip
"""What a checkpoint is of, or is called: "on the latest run"."""


def _is_placed(draft: Draft, match: re.Match[str]) -> bool:
    """Whether what is first is where another subject is to be seen: "beneath the oldest oak in
    town, the bear", "a dog on the last train".
    """
    if draft.answering:
        return False
    words = draft.page.words
    the = draft.page.word_before(match.start())
    if the is not None and the.index and number(the.norm):
        the = words[the.index - 1]  # "beneath the second | oldest"
    lead = words[the.index - 1] if the is not None and the.index else None
    following = draft.page.word_at(match.end())
    if the is None or lead is None or following is None or not (the.joined and following.joined):
        return False
    if the.norm != "the" or lead.norm not in _PLACING or following.norm in _RUNS:
        return False
    if draft.leads_to_selector(following.index, reach=4):
        return False
    end = following.index + 1
    while end < len(words) and end < following.index + 3 and words[end].joined:
        end += 1
    phrase = range(the.index, end)
    return any(n.entry.subjects and n.first not in phrase for n in draft.nouns)


def _closes(word: str) -> bool:
    """Whether a word ends the phrase before it."""
    return word in lexicon.words("prepositions") or word in lexicon.words("links")


def _before_head(draft: Draft, match: re.Match[str]) -> bool:
    following = draft.page.word_at(match.end())
    before = draft.page.word_before(match.start())
    if draft.answering and following is not None and following.index == len(draft.page.words) - 1:
        return True  # "the older pair"
    if following is None or not following.joined:
        alone = before is None or before.norm in ("the", "my", "our")
        return alone and (draft.answering or (match[0] in ("first", "last") and before is not None))
    if before is not None and before.joined and before.norm in ("a", "an", "its", "his", "her"):
        return match[0] == "recent" and before.norm in ("a", "an")
    if _END.match(draft.page.shadow, match.start()):
        return draft.leads_to_head(following.index + 2, reach=4)
    if _is_all_that_is_named(draft, match, following):
        return True
    if " of " in match[0] and _opens_its_parts(draft, following):
        return False
    return draft.leads_to_head(following.index, reach=5)


def _opens_its_parts(draft: Draft, word: Word) -> bool:
    """Whether several parts of one subject are counted: "the third of the | castle towers"."""
    words = draft.page.words
    nouns = (draft.noun_at(each.index) for each in words[word.index : word.index + 4])
    noun = next((each for each in nouns if each is not None and each.entry.subjects), None)
    if noun is None or noun.last == len(words) or _is_plural(words[noun.last - 1]):
        return False
    part = words[noun.last]
    return part.joined and part.norm not in lexicon.words("selectors") and _is_plural(part)


def _is_plural(word: Word) -> bool:
    """Whether a word may name several."""
    return next(wordnet.singulars(word.norm), None) is not None


def _is_all_that_is_named(draft: Draft, match: re.Match[str], following: Word) -> bool:
    """Whether a request opens with it and a thing the catalog may only describe: "first hydra"."""
    lead = draft.page.shadow[: match.start()].strip()
    known = any(noun.entry.subjects for noun in draft.nouns)
    thing = lexicon.names_thing(following.norm) and following.norm not in lexicon.words("scenes")
    return lead in ("", "the", "my", "our") and thing and not known


_WORDS = {
    OrderKey.NEWEST: "the newest",
    OrderKey.OLDEST: "the oldest",
    OrderKey.LAST_USED: "the last used",
    OrderKey.MOST_USED: "the most used",
    OrderKey.LEAST_USED: "the least used",
    OrderKey.LEAST_RECENTLY_USED: "the longest unused",
    OrderKey.HIGHEST_VERSION: "the highest version",
    OrderKey.LOWEST_VERSION: "the lowest version",
}


_UNCOUNTED = {
    # of cards whose uses nobody counted, the one in use is the one used last
    OrderKey.MOST_USED: (OrderKey.LAST_USED, "uses are not counted"),
    OrderKey.HIGHEST_VERSION: (OrderKey.NEWEST, "versions are not numbered"),
    OrderKey.LOWEST_VERSION: (OrderKey.OLDEST, "versions are not numbered"),
}
"""What is sorted by where no card has what was asked for, and what the person is told."""


def _claim(
    draft: Draft, match: re.Match[str], key: OrderKey, rank: int, *, hard: bool, among: int = 0
) -> None:
    others = [c for c in draft.constraints if c.attribute is Attribute.ORDER and c.hard]
    hard = hard and not any(c.among == 0 or among for c in others)
    span = Span(*match.span(_parts(match)[-1]))
    label = _WORDS[key] if rank == 1 else f"number {rank} from {_WORDS[key]}"
    constraint = Constraint(
        attribute=Attribute.ORDER,
        order=key,
        rank=0 if among else rank,
        among=among,
        hard=hard,
        span=span,
        text=span.of(draft.page.text),
        label=f"one of {among} from {_WORDS[key]} on" if among else label,
    )
    if hard and (fallback := _UNCOUNTED.get(key)) and (rank == 1 or key is not OrderKey.MOST_USED):
        other, missing = fallback
        label = constraint.label.replace(_WORDS[key], _WORDS[other])
        instead = replace(constraint, order=other, label=f"{label}; {missing}")
        constraint = replace(constraint, fallback=instead)
    draft.add(constraint, selecting=True)
