"""Whether a time constrains or belongs to the picture, by its place in the sentence."""

from __future__ import annotations

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.text import Word, ends_before
from personalq.checkin.parsing.times.point import Point
from personalq.checkin.parsing.times.scene import (
    DATING,
    SPATIAL,
    VERB,
    belongs_to_a_thing,
    ends_a_scene,
    in_a_scene,
    is_day_to_picture,
    is_in_bloom,
    is_of_what_is_seen,
    is_scene,
    is_the_head,
    leads_to_scene,
    of_a_story,
    of_another_thing,
    opens_place,
    year_begun,
)
from personalq.checkin.parsing.times.setting import Setting
from personalq.checkin.parsing.word_roles import is_doing

_COMPARING = frozenset((
    "before", "after", "since", "until", "prior to", "older than", "newer than", "till", "up to",
    "pre", "post",
))  # fmt: skip
_CELEBRATED = frozenset(("fourth of july", "4th of july", "the fourth of july", "the 4th of july"))
"""Days of fireworks: "the bag on the Fourth of July"."""
_CARTOONS = compile_form(r"[ -]morning[ -](cartoon|tv)")
"""Behind a day: a look, whenever it was made."""
_QUARTER = compile_form(r"q[1-4]\b")
"""No picture shows one."""
_LAST_OF = compile_form(
    r"(the )?last (day|night) of (?=(school|term|camp|class|work|the (holidays?|"
    r"season|fair|festival|show|sale))\b)"
)
"""Ends of what is no time of making: "on the last day of school"."""
_COLOURS = (("winter", "white"), ("spring", "green"))
_ANY_BUT = compile_form("(any|every|all|always)")
_ONE = compile_form(r"(?<!\w)(one|version|model|build|checkpoint) $")
_TO_THIS = compile_form(r"(?<!\w)to this day$")
_EVE = compile_form(r"\b(night|eve|day) before (the )?$")
_SELECTOR_AFTER = compile_form(
    " (one|ones|model|version|build|checkpoint|lora|variant|edition|iteration|release|training|"
    r"run|batch|take|snapshot|ckpt)s?(?!\w)"
)


_ON_PAPER = compile_form(
    r"(?<!\w)(calendar|newspaper|letter|receipt|diary|magazine|plaque|envelope|ticket|"
    r"gravestone|certificate)s?( page)?(( ,)? (that|which))?"
    r"( (shows|showing|says|saying|reads|reading|dated|from|of|for|open (at|on)|turned to|marked|"
    r"reads))?( the)? ?$"
)
"""Before a date that is to be read in the picture: "a wall calendar that shows | April"."""
_DID_THEN = compile_form(
    r"(?<!\w)(it|he|she|they) (planted|baked|carved|gathered|harvested|caught|knitted|cooked|"
    r"collected|hatched|climbed|visited|decorated|dug|wrapped|bought|adopted|won|lost|found) $"
)
"""Before when somebody in the picture did something: "the tulips it planted | last spring"."""
_FIRST_YEAR = 2010
"""Nothing that a picture is made with is older."""


def constrains(draft: Draft, point: Point, setting: Setting) -> bool:
    """Whether a point constrains."""
    if point.kind == "while":
        return bool(setting.used and setting.negated)
    if point.kind == "aged":
        return setting.used is not None or draft.answering or _is_of_a_checkpoint(draft, setting)
    if point.kind == "monthday":
        dated = draft.answering and setting.operator in ("from", "of", "on", "dated")
        return dated or setting.used is not None
    if _LAST_OF.match(draft.page.shadow, point.start) or opens_place(draft, point):
        return False
    if _CARTOONS.match(draft.page.shadow, point.end):
        return False
    if ends_before(_ON_PAPER, draft.page.shadow, setting.start) and setting.used is not True:
        return False
    if point.interval.end is not None and point.interval.end.year < _FIRST_YEAR:
        return False  # "a vintage car made in 1950"
    if setting.used is None and ends_before(_DID_THEN, draft.page.shadow, setting.start):
        return False
    first = draft.page.word_at(setting.start)
    aside = first is not None and not first.joined and setting.operator == "on"
    if (
        point.kind == "holiday"
        and aside
        and not VERB.search(draft.page.shadow, setting.start, setting.end)
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
    if setting.used is None and not draft.answering and of_a_story(draft, point):
        return False
    if draft.answering:
        return point.kind not in ("holiday", "season") or not _is_of_a_thing(draft, setting)
    before = draft.page.word_before(setting.start)
    if before is not None and before.norm in ("named", "called", "father"):
        return False  # somebody's name: "Father Christmas"
    on_pictures = point.kind == "season" and setting.operator == "on"  # "trained on winter shots"
    if (setting.used is not None and not on_pictures) or setting.operator in _COMPARING:
        return not (point.kind == "holiday" and _is_eve(draft, point))
    if of_another_thing(draft, setting):
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
    if after is not None and is_scene(draft, after) and not draft.leads_to_selector(after.index):
        return False
    if _SELECTOR_AFTER.match(draft.page.shadow, setting.end) or (
        after is not None and draft.leads_to_selector(after.index)
    ):
        return True
    if after is not None and (draft.page.shadow[point.start : point.end], after.norm) in _COLOURS:
        return False
    if point.kind == "year":
        recent = 2000 <= year_begun(point) <= draft.context.local.year + 1
        return recent and (
            setting.operator in DATING | {"in", "of"} or is_the_head(draft, point, setting)
        )
    quarter = _QUARTER.match(draft.page.shadow, point.start)
    placed = setting.operator in ("in", "during", "on") and quarter is None
    if placed and in_a_scene(draft, setting.start):
        return False
    if setting.operator == "of" and is_of_what_is_seen(draft, point, setting):
        return False
    if setting.operator == "on" and draft.page.shadow[point.start : point.end] in _CELEBRATED:
        return False
    if is_day_to_picture(draft, point, setting):
        return False
    if after is not None and belongs_to_a_thing(draft, point, after):
        return False
    if point.kind == "season" and after is not None and not setting.operator:
        lead = draft.page.word_before(setting.start)
        if lead is not None and lead.norm in SPATIAL:  # "under | spring | cherry blossoms"
            heads = draft.leads_to_head(after.index, reach=3)
            return heads and not leads_to_scene(draft, after) and not is_in_bloom(draft, after)
    if not point.everyday and point.kind != "weekday":
        if point.kind == "season" and not setting.operator and ends_a_scene(draft, point):
            return False
        return is_the_head(draft, point, setting) or not _has_article(draft, point)
    return _everyday_constrains(draft, point, setting, after)


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
    """Whether "may", "spring" or "sunday" constrains: it needs a cue or the place of a modifier."""
    if setting.operator in DATING or (setting.operator == "around" and after is None):
        return True
    capital = bool(point.month) and draft.page.text[point.start].isupper()
    if is_the_head(draft, point, setting):
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


def _has_article(draft: Draft, point: Point) -> bool:
    """Whether "a" or "an" stands before a point."""
    before = draft.page.word_before(point.start)
    return before is not None and _is_joined(draft, point) and before.norm in ("a", "an")


def _is_joined(draft: Draft, point: Point) -> bool:
    """Whether only a space stands between a point and the word before it."""
    word = draft.page.word_at(point.start)
    return word is not None and word.joined
