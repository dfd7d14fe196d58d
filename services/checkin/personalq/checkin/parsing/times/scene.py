"""Times that belong to the picture: "on a winter morning", "in a story of 1920"."""

from __future__ import annotations

import itertools

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Span
from personalq.checkin.lexicon.wordnet import may_be_noun
from personalq.checkin.nouns import is_kind_of
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.text import Word
from personalq.checkin.parsing.times.point import Point
from personalq.checkin.parsing.times.setting import TRAINED, USED, Setting
from personalq.checkin.parsing.word_roles import is_doing

DATING = frozenset(("from", "dated", "back in"))
_WHERE = frozenset((
    "at", "on", "in", "under", "through", "near", "by", "along", "across", "outside", "inside",
    "behind", "beside", "around", "past", "into", "onto", "over", "among", "amongst", "amid",
    "amidst", "beneath", "underneath", "above", "against", "atop",
))  # fmt: skip
_ASKED = compile_form(f"({TRAINED}|{USED}|want|need|like|get|have|had|see|take|use|mean|meant)")
_TRAINED = compile_form(TRAINED)
VERB = compile_form(rf"\b({TRAINED}|{USED})\b")
_TELLERS = frozenset(["i", "we", "he", "she", "they", "somebody", "someone"])
_WISHING = frozenset(["want", "need", "like", "fancy", "feel", "am", "would", "will"])
_VERSION = compile_form(r" (v|ver|version|number|build|#)?[. ]?\d")
"""Behind "above": no place."""


def opens_place(draft: Draft, point: Point) -> bool:
    """Whether a place that cards have begins with it: "the | Christmas | market-trained one"."""
    first = draft.page.word_at(point.start)
    match = first and draft.lexicon.environments.match_at(draft.page.words, first.index)
    if first is None or not match or not match[1].known:
        return False
    return draft.page.words[first.index + match[0] - 1].start >= point.end


SPATIAL = frozenset((
    "under", "beneath", "among", "amongst", "amid", "between", "behind", "beside", "near",
    "against", "through", "over", "above", "underneath",
))  # fmt: skip


def is_in_bloom(draft: Draft, word: Word) -> bool:
    """Whether a plant follows that nothing asked for is: "among spring | tulips"."""
    noun = draft.noun_at(word.index)
    asked = noun is not None and word.norm in noun.entry.subjects
    return not asked and any(is_kind_of(word.norm, each) for each in ("plant", "flower"))


def belongs_to_a_thing(draft: Draft, point: Point, after: Word) -> bool:
    """Whether it is said whose a thing of the scene is: "on yesterday's | newspaper"."""
    if not draft.page.shadow.startswith("'s", point.end):
        return False
    lead = draft.page.word_before(point.start)
    placed = lead is not None and lead.norm in ("on", "in", "under", "behind", "beside", "with")
    return placed and not draft.leads_to_head(after.index, reach=4)


def of_a_story(draft: Draft, point: Point) -> bool:
    """Whether it tells when something else happened: "I went fishing yesterday", "today our …"."""
    words = draft.page.words
    word = draft.page.word_at(point.start)
    if word is None:
        return False
    last = max(w.index for w in words if w.start < point.end)
    following = words[last + 1] if last + 1 < len(words) and words[last + 1].joined else None
    if point.kind == "today" and not word.joined and following is not None:
        wish = words[last + 2] if last + 2 < len(words) else None
        if following.norm in ("i", "we") and wish is not None and wish.norm in _WISHING:
            return True  # "Today I want …"
        return following.norm in ("our", "my", "the", "a", "an") and not following.possessive
    first = word.index
    while first and words[first].joined:
        first -= 1
    clause = words[first : word.index]
    if len(clause) < 2 or clause[0].norm not in _TELLERS:
        return False
    told = any(n.entry.subjects and first <= n.first <= word.index for n in draft.nouns)
    told = told or any(w.norm in lexicon.words("selectors") for w in clause)
    chosen = clause[-1].norm in ("the", "my", "our") or words[last].possessive
    if chosen and following is not None:
        told = told or draft.leads_to_head(following.index, reach=3)  # "hoping for the May knight"
    return not told and not any(_ASKED.fullmatch(w.norm) for w in clause)


def of_another_thing(draft: Draft, setting: Setting) -> bool:
    """Whether an aside is about a thing of that time: "the bear, a ticket from yesterday"."""
    last = draft.page.word_before(setting.start)
    if setting.operator not in DATING or last is None or not may_be_noun(last.norm):
        return False
    words = draft.page.words
    first = last.index
    while first and words[first].joined and last.index - first < 4:
        first -= 1
    if words[first].norm not in ("a", "an") or words[first].joined:
        return False
    aside = range(first, last.index + 1)
    closed = ("selectors", "frames")
    return any(noun.last <= first for noun in draft.nouns) and not any(
        draft.nouns_cover(index)
        or draft.style_at(index)
        or any(words[index].norm in lexicon.words(kind) for kind in closed)
        for index in aside
    )


def of_the_scene(draft: Draft, span: Span) -> bool:
    """Whether a time stands right behind a thing of the scene: "late light | of May"."""
    before, first = draft.page.word_before(span.start), draft.page.word_at(span.start)
    if before is None or first is None or not first.joined or not draft.is_free(before):
        return False
    if VERB.search(draft.page.shadow[span.start : span.end]):
        return False
    kinds = ("selectors", "determiners", "links", "prepositions")
    chosen = any(before.norm in lexicon.words(kind) for kind in kinds)
    chosen = chosen or draft.nouns_cover(before.index)
    chosen = chosen or any(tag.last == before.index + 1 for tag in draft.styles)
    return not chosen and (may_be_noun(before.norm) or before.norm in lexicon.words("scenes"))


def is_scene(draft: Draft, after: Word) -> bool:
    """Whether the word after a time makes it part of the picture ("April rain")."""
    shade = " ".join(word.norm for word in draft.page.words[after.index : after.index + 2])
    noun = draft.noun_at(after.index)
    asked = noun is not None and noun.entry.subjects
    if asked or shade in lexicon.colours():  # "April light brown horse"
        return False
    return after.norm in lexicon.words("seasonal") or after.norm in lexicon.words("scenes")


def leads_to_scene(draft: Draft, first: Word) -> bool:
    """Whether the thing a phrase is of belongs to the picture: "cherry blossoms"."""
    phrase = draft.page.words[first.index : first.index + 3]
    joined = itertools.takewhile(lambda word: word.joined, phrase)
    return any(is_scene(draft, word) for word in joined)


def in_a_scene(draft: Draft, position: int) -> bool:
    """Whether a time belongs to the place before it: "at a spring market [in May]"."""
    first = draft.page.word_at(position)
    joined = first is not None and first.joined
    told = [word for word in draft.page.words if word.full_end <= position]
    words = told[-(_FARTHEST if joined else _NEAR) :]
    if words and any(tag.last == words[-1].index + 1 for tag in draft.styles):
        return False  # "the skirt in line art | in April"
    for word in reversed(words):
        if word.norm in lexicon.words("selectors") or draft.nouns_cover(word.index):
            return False
        before = draft.page.words[word.index - 1] if word.index else None
        if word.norm in _WHERE and _opens_no_place(draft, word):
            return False
        if word.norm in _WHERE and _VERSION.match(draft.page.shadow, word.full_end):
            return False  # "above v17 in March"
        if word.norm in _WHERE:
            if before is not None and before.index and before.norm in ("up", "out", "down", "over"):
                before = draft.page.words[before.index - 1]  # "trained up in the hills | on 5 May"
            return before is None or _TRAINED.fullmatch(before.norm) is None
        if joined and is_doing(word) and word.norm not in _NO_SCENES:
            return True  # "eating ice cream in July"
        if word.norm == "from" and before is not None and word.joined and is_doing(before):
            return True  # "fishing from a pier in June"
        if not word.joined:
            return False
    return False


_NEAR, _FARTHEST = 5, 8
"""Words before a time in which the place that it belongs to may begin: behind a comma, and not."""
_NO_SCENES = frozenset((
    "using", "meaning", "being", "training", "dating", "wanting", "preferring", "making",
    "creating", "building", "finishing", "looking", "searching", "hoping", "thinking", "asking",
    "going", "tuning", "uploading", "releasing",
))  # fmt: skip
"""What somebody does who asks, or who trains: "looking for it in July"."""


def is_of_what_is_seen(draft: Draft, point: Point, setting: Setting) -> bool:
    """Whether a thing of the scene is of that month: "in the first snow | of December"."""
    before, first = draft.page.word_before(setting.start), draft.page.word_at(setting.start)
    if before is None or first is None or not first.joined or not draft.is_free(before):
        return False
    dated = draft.page.shadow[setting.start : point.start].strip() != "of"
    if point.kind != "month" or dated or not may_be_noun(before.norm):
        return False  # "I'm thinking of the November one"
    return in_a_scene(draft, setting.start)


def is_day_to_picture(draft: Draft, point: Point, setting: Setting) -> bool:
    """Whether a day says when the picture is, where something else chooses: "vans on the first of
    May, the build from the beach".
    """
    lead = draft.page.shadow[setting.start : point.start].strip()
    if point.kind != "day" or point.occurs is None or lead not in ("on", "on the"):
        return False
    words = draft.page.words
    first = draft.page.word_at(setting.start)
    before = words[first.index - 1] if first is not None and first.index else None
    if before is None or before.norm in lexicon.words("selectors"):
        return False
    selectors = [word for word in words if word.norm in lexicon.words("selectors")]
    if first is not None and not first.joined:
        return bool(selectors)  # "the newest model of my cat, on the first of May"
    chosen = [word for word in selectors if word.start > point.end]
    ordered = (words[word.index - 1].norm in _ORDERED for word in chosen)
    return bool(chosen) and not any(ordered)


_ORDERED = frozenset(["latest", "newest", "oldest", "first", "last", "recent", "earliest", "any"])
"""Before "one" they choose among those of a day."""


def _opens_no_place(draft: Draft, word: Word) -> bool:
    """Whether an owner or a colour follows: "by | Ines", "in | bright red"."""
    following = draft.page.words[word.index + 1 : word.index + 4]
    if word.norm == "by":
        return draft.lexicon.owners.match_at(draft.page.words, word.index + 1) is not None
    closed = bool(following) and following[0].norm in lexicon.words("determiners")
    coloured = any(each.norm in lexicon.colours() for each in following)
    return word.norm == "in" and not closed and coloured


def ends_a_scene(draft: Draft, point: Point) -> bool:
    """Whether a season alone sets the scene that was told: "the bear, in a meadow, late spring"."""
    first = draft.page.word_at(point.start)
    after = draft.page.word_at(point.end)
    dated = any(char.isdigit() for char in draft.page.shadow[point.start : point.end])
    if dated or first is None or first.joined or (after is not None and after.joined):
        return False
    told = draft.page.words[: first.index]
    return any(not word.joined for word in told[1:]) and bool(draft.nouns)


def is_the_head(draft: Draft, point: Point, setting: Setting) -> bool:
    """Whether the point modifies the subject, a style or "model"."""
    following = draft.page.word_at(max(point.end, setting.end))
    return following is not None and following.joined and draft.leads_to_head(following.index)


def year_begun(point: Point) -> int:
    """The year a time begins in; 0 where it has no beginning."""
    return point.interval.start.year if point.interval.start is not None else 0
