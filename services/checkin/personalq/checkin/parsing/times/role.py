"""Whether a time constrains or belongs to the picture, by its place in the sentence."""

from __future__ import annotations

import itertools

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Span
from personalq.checkin.lexicon.wordnet import may_be_noun
from personalq.checkin.nouns import is_kind_of
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.text import Word, ends_before
from personalq.checkin.parsing.times.point import Point
from personalq.checkin.parsing.times.setting import TRAINED, USED, Setting
from personalq.checkin.parsing.word_roles import is_doing

_COMPARING = frozenset((
    "before", "after", "since", "until", "prior to", "older than", "newer than", "till", "up to",
    "pre", "post",
))  # fmt: skip
_DATING = frozenset(("from", "dated", "back in"))
_WHERE = frozenset((
    "at", "on", "in", "under", "through", "near", "by", "along", "across", "outside", "inside",
    "behind", "beside", "around", "past", "into", "onto", "over", "among", "amongst", "amid",
    "amidst", "beneath", "underneath", "above", "against", "atop",
))  # fmt: skip
_ASKED = compile_form(f"({TRAINED}|{USED}|want|need|like|get|have|had|see|take|use|mean|meant)")
_TRAINED = compile_form(TRAINED)
_VERB = compile_form(rf"\b({TRAINED}|{USED})\b")
_CELEBRATED = frozenset(("fourth of july", "4th of july", "the fourth of july", "the 4th of july"))
"""Days of fireworks: "the bag on the Fourth of July"."""
_CARTOONS = compile_form(r"[ -]morning (cartoon|tv)")
"""Behind a day: a look, whenever it was made."""
_QUARTER = compile_form(r"q[1-4]\b")
"""No picture shows one."""
_LAST_OF = compile_form(
    r"(the )?last (day|night) of (?=(school|term|camp|class|work|the (holidays?|"
    r"season|fair|festival|show|sale))\b)"
)
"""Ends of what is no time of making: "on the last day of school"."""
_COLOURS = (("winter", "white"), ("spring", "green"))
_TELLERS = frozenset(["i", "we", "he", "she", "they", "somebody", "someone"])
_WISHING = frozenset(["want", "need", "like", "fancy", "feel", "am", "would", "will"])
_ANY_BUT = compile_form("(any|every|all|always)")
_ONE = compile_form(r"(?<!\w)(one|version|model|build|checkpoint) $")
_TO_THIS = compile_form(r"(?<!\w)to this day$")
_VERSION = compile_form(r" (v|ver|version|number|build|#)?[. ]?\d")
"""Behind "above": no place."""
_EVE = compile_form(r"\b(night|eve|day) before (the )?$")
_SELECTOR_AFTER = compile_form(
    " (one|ones|model|version|build|checkpoint|lora|variant|edition|iteration|release|training|"
    r"run|batch|take|snapshot|ckpt)s?(?!\w)"
)


def constrains(draft: Draft, point: Point, setting: Setting) -> bool:
    """Whether a point constrains."""
    if point.kind == "while":
        return bool(setting.used and setting.negated)
    if point.kind == "aged":
        return setting.used is not None or draft.answering or _is_of_a_checkpoint(draft, setting)
    if point.kind == "monthday":
        dated = draft.answering and setting.operator in ("from", "of", "on", "dated")
        return dated or setting.used is not None
    if _LAST_OF.match(draft.page.shadow, point.start) or _opens_place(draft, point):
        return False
    if _CARTOONS.match(draft.page.shadow, point.end):
        return False
    first = draft.page.word_at(setting.start)
    aside = first is not None and not first.joined and setting.operator == "on"
    if (
        point.kind == "holiday"
        and aside
        and not _VERB.search(draft.page.shadow, setting.start, setting.end)
    ):
        return False  # "the rabbit I used last, | on Christmas morning"
    said = draft.page.shadow[point.start : point.end]
    if said == "tonight" and setting.used is None:
        return False  # when the picture is wanted, or what it shows
    announced = said == "today" and draft.page.shadow[point.end :].lstrip()[:1] in (":", ",")
    if announced and setting.used is None and ends_before(_ONE, draft.page.shadow, point.start):
        return False  # "picking the red one today: a boat"
    if ends_before(_TO_THIS, draft.page.shadow, point.end):
        return False
    if setting.negated and _ANY_BUT.match(draft.page.shadow, setting.start):
        return True
    if setting.used is None and not draft.answering and _of_a_story(draft, point):
        return False
    if draft.answering:
        return point.kind not in ("holiday", "season") or not _is_of_a_thing(draft, setting)
    before = draft.page.word_before(setting.start)
    if before is not None and before.norm in ("named", "called", "father"):
        return False  # somebody's name: "Father Christmas"
    on_pictures = point.kind == "season" and setting.operator == "on"  # "trained on winter shots"
    if (setting.used is not None and not on_pictures) or setting.operator in _COMPARING:
        return not (point.kind == "holiday" and _is_eve(draft, point))
    if _of_another_thing(draft, setting):
        return False
    if point.kind in ("month", "day") and draft.page.shadow[point.start].isdigit():
        return True  # "2026-02"
    if on_pictures:
        return False
    following = draft.page.word_at(setting.end)
    after = following if following is not None and following.joined else None
    said = draft.page.text[point.start : point.end]
    if said == "august" and after is not None and _has_article(draft, point):
        named = after.hyphen or after.norm in lexicon.words("selectors")
        return named or draft.noun_at(after.index) is not None  # not "an august old gentleman"
    if after is not None and _is_trained(draft, after):
        return True  # "June's library-trained kite"
    if after is not None and _is_scene(draft, after) and not draft.leads_to_selector(after.index):
        return False
    if _SELECTOR_AFTER.match(draft.page.shadow, setting.end) or (
        after is not None and draft.leads_to_selector(after.index)
    ):
        return True
    if after is not None and (draft.page.shadow[point.start : point.end], after.norm) in _COLOURS:
        return False
    if point.kind == "year":
        recent = 2000 <= _year_of(point) <= draft.context.local.year + 1
        return recent and (
            setting.operator in _DATING | {"in", "of"} or _heads(draft, point, setting)
        )
    quarter = _QUARTER.match(draft.page.shadow, point.start)
    placed = setting.operator in ("in", "during", "on") and quarter is None
    if placed and _in_a_scene(draft, setting.start):
        return False
    if setting.operator == "of" and _is_of_what_is_seen(draft, point, setting):
        return False
    if setting.operator == "on" and draft.page.shadow[point.start : point.end] in _CELEBRATED:
        return False
    if _is_day_to_picture(draft, point, setting):
        return False
    if after is not None and _belongs_to_a_thing(draft, point, after):
        return False
    if point.kind == "season" and after is not None and not setting.operator:
        lead = draft.page.word_before(setting.start)
        if lead is not None and lead.norm in _SPATIAL:  # "under | spring | cherry blossoms"
            heads = draft.leads_to_head(after.index, reach=3)
            return heads and not _leads_to_scene(draft, after) and not _is_in_bloom(draft, after)
    if not point.everyday and point.kind != "weekday":
        if point.kind == "season" and not setting.operator and _ends_a_scene(draft, point):
            return False
        return _heads(draft, point, setting) or not _has_article(draft, point)
    return _everyday_constrains(draft, point, setting, after)


def _opens_place(draft: Draft, point: Point) -> bool:
    """Whether a place that cards have begins with it: "the | Christmas | market-trained one"."""
    first = draft.page.word_at(point.start)
    match = first and draft.lexicon.environments.match_at(draft.page.words, first.index)
    if first is None or not match or not match[1].known:
        return False
    return draft.page.words[first.index + match[0] - 1].start >= point.end


_SPATIAL = frozenset((
    "under", "beneath", "among", "amongst", "amid", "between", "behind", "beside", "near",
    "against", "through", "over", "above", "underneath",
))  # fmt: skip


def _is_in_bloom(draft: Draft, word: Word) -> bool:
    """Whether a plant follows that nothing asked for is: "among spring | tulips"."""
    noun = draft.noun_at(word.index)
    asked = noun is not None and word.norm in noun.entry.subjects
    return not asked and any(is_kind_of(word.norm, each) for each in ("plant", "flower"))


def _belongs_to_a_thing(draft: Draft, point: Point, after: Word) -> bool:
    """Whether it is said whose a thing of the scene is: "on yesterday's | newspaper"."""
    if not draft.page.shadow.startswith("'s", point.end):
        return False
    lead = draft.page.word_before(point.start)
    placed = lead is not None and lead.norm in ("on", "in", "under", "behind", "beside", "with")
    return placed and not draft.leads_to_head(after.index, reach=4)


def _is_trained(draft: Draft, word: Word) -> bool:
    """Whether it says where it was trained: "library-trained"."""
    behind = draft.page.words[word.index + 1 : word.index + 2]
    return bool(behind) and behind[0].hyphen and behind[0].norm in ("trained", "taught")


def _is_of_a_checkpoint(draft: Draft, setting: Setting) -> bool:
    """Whether an age is told of what is asked for: "my red robot, over a month old", "anything less
    than a week old"; not of what is met or placed in the picture: "a dog over a year old".
    """
    before = draft.page.word_before(setting.start)
    while before is not None and before.norm in ("is", "are", "that", "which", "that's"):
        before = draft.page.word_before(before.start)
    if before is None:
        return True
    if before.norm in lexicon.words("selectors") or before.norm in ("anything", "something"):
        return True
    noun = next((n for n in draft.nouns if n.last == before.index + 1 and n.entry.subjects), None)
    if noun is None:
        return False
    words, index = draft.page.words, noun.first
    while index and words[index].joined:
        index -= 1
        if words[index].norm in ("a", "an") or words[index].norm in lexicon.words("prepositions"):
            return False
    return True


def _is_of_a_thing(draft: Draft, setting: Setting) -> bool:
    """Whether a thing is named by the time: "the christmas baubles one"."""
    after = draft.page.word_at(setting.end)
    if after is None or not after.joined or draft.noun_at(after.index) is not None:
        return False
    called = lexicon.words("selectors") | lexicon.words("shown_of") | lexicon.words("frames")
    called |= {"stuff", "thing", "things"}
    return after.norm not in called and lexicon.names_thing(after.norm)


def _everyday_constrains(draft: Draft, point: Point, setting: Setting, after: Word | None) -> bool:
    """The same for "may", "spring", "sunday": they need a cue or the place of a modifier."""
    if setting.operator in _DATING or (setting.operator == "around" and after is None):
        return True
    capital = bool(point.month) and draft.page.text[point.start].isupper()
    if _heads(draft, point, setting):
        natural = after is not None and after.norm in lexicon.words("blooming")
        natural = natural and not _is_chosen(draft, point)
        return capital and not natural if _has_article(draft, point) else capital or not natural
    if point.month and setting.operator in ("in", "of", "around"):
        # "in may" names the month; "in march of the penguins" does not
        return after is None or after.norm in lexicon.words("prepositions") or is_doing(after)
    if capital and after is not None and is_doing(after):  # "the robot March baking bread"
        subjects = (noun for noun in draft.nouns if noun.entry.subjects)
        return any(draft.page.words[noun.last - 1].end + 1 == point.start for noun in subjects)
    alone = after is None and not _is_joined(draft, point)
    return alone and bool(point.month)


def _is_chosen(draft: Draft, point: Point) -> bool:
    """Whether the phrase is what is asked for, not a place: "the spring mountain"."""
    word = draft.page.word_at(point.start)
    if word is None or word.index == 0 or not word.joined:
        return False
    before = draft.page.words[word.index - 1]
    if before.norm not in ("the", "my", "our"):
        return False
    lead = draft.page.words[before.index - 1] if before.index else None
    return lead is None or not before.joined or lead.norm not in lexicon.words("prepositions")


def _is_eve(draft: Draft, point: Point) -> bool:
    """Whether the holiday is part of the scene: "the night before Christmas"."""
    return ends_before(_EVE, draft.page.shadow, point.start) is not None


def _of_a_story(draft: Draft, point: Point) -> bool:
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


def _of_another_thing(draft: Draft, setting: Setting) -> bool:
    """Whether an aside is about a thing of that time: "the bear, a ticket from yesterday"."""
    last = draft.page.word_before(setting.start)
    if setting.operator not in _DATING or last is None or not may_be_noun(last.norm):
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
    if _VERB.search(draft.page.shadow[span.start : span.end]):
        return False
    kinds = ("selectors", "determiners", "links", "prepositions")
    chosen = any(before.norm in lexicon.words(kind) for kind in kinds)
    chosen = chosen or draft.nouns_cover(before.index)
    chosen = chosen or any(tag.last == before.index + 1 for tag in draft.styles)
    return not chosen and (may_be_noun(before.norm) or before.norm in lexicon.words("scenes"))


def _has_article(draft: Draft, point: Point) -> bool:
    """Whether "a" or "an" stands before a point."""
    before = draft.page.word_before(point.start)
    return before is not None and _is_joined(draft, point) and before.norm in ("a", "an")


def _is_joined(draft: Draft, point: Point) -> bool:
    """Whether only a space stands between a point and the word before it."""
    word = draft.page.word_at(point.start)
    return word is not None and word.joined


def _is_scene(draft: Draft, after: Word) -> bool:
    """Whether the word after a time makes it part of the picture ("April rain")."""
    shade = " ".join(word.norm for word in draft.page.words[after.index : after.index + 2])
    if draft.noun_at(after.index) or shade in lexicon.colours():  # "April light brown horse"
        return False
    return after.norm in lexicon.words("seasonal") or after.norm in lexicon.words("scenes")


def _leads_to_scene(draft: Draft, first: Word) -> bool:
    """Whether the thing a phrase is of belongs to the picture: "cherry blossoms"."""
    phrase = draft.page.words[first.index : first.index + 3]
    joined = itertools.takewhile(lambda word: word.joined, phrase)
    return any(_is_scene(draft, word) for word in joined)


def _in_a_scene(draft: Draft, position: int) -> bool:
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


def _is_of_what_is_seen(draft: Draft, point: Point, setting: Setting) -> bool:
    """Whether a thing of the scene is of that month: "in the first snow | of December"."""
    before, first = draft.page.word_before(setting.start), draft.page.word_at(setting.start)
    if before is None or first is None or not first.joined or not draft.is_free(before):
        return False
    dated = draft.page.shadow[setting.start : point.start].strip() != "of"
    if point.kind != "month" or dated or not may_be_noun(before.norm):
        return False  # "I'm thinking of the November one"
    return _in_a_scene(draft, setting.start)


def _is_day_to_picture(draft: Draft, point: Point, setting: Setting) -> bool:
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


def _ends_a_scene(draft: Draft, point: Point) -> bool:
    """Whether a season alone sets the scene that was told: "the bear, in a meadow, late spring"."""
    first = draft.page.word_at(point.start)
    after = draft.page.word_at(point.end)
    dated = any(char.isdigit() for char in draft.page.shadow[point.start : point.end])
    if dated or first is None or first.joined or (after is not None and after.joined):
        return False
    told = draft.page.words[: first.index]
    return any(not word.joined for word in told[1:]) and bool(draft.nouns)


def _heads(draft: Draft, point: Point, setting: Setting) -> bool:
    """Whether the point modifies the subject, a style or "model"."""
    following = draft.page.word_at(max(point.end, setting.end))
    return following is not None and following.joined and draft.leads_to_head(following.index)


def _year_of(point: Point) -> int:
    return point.interval.start.year if point.interval.start is not None else 0
