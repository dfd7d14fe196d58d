"""How a version number is spelled, and which numbers are none."""

from __future__ import annotations

import re

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.numbers import CARDINAL, ROMAN, number
from personalq.checkin.parsing.text import ends_before
from personalq.checkin.parsing.word_roles import is_ing_verb

WORD = (
    r"(versions?|vers?\.?|revisions?|rev\.?|iterations?|releases?|builds?|checkpoints?|ckpts?|"
    r"models?|editions?|variants?|marks?|mk\.?)"
)
MARK = r"(numbered|numbers?|num\.?|no\.?|nr\.?|\#|№)"
_DIGITS = r"(\d{1,4}(\.0)?(?![.\d]*\d))"
NUMBER = rf"({_DIGITS}(?!\w)|{CARDINAL})"
SAYS = (
    r"(is|are|was|being|be|((has|have|had|needs?|ought) to|must|should|may|can|could|shall|will) "
    r"((only|just) )?(be|lie|fall|come|equal)|equals|that is)"
)
"""Between a version and its number: "the version must be 5"."""
_V = rf"(v\.?\s?[-_]?\s?{_DIGITS})"
_NUMBERED = (
    rf"((whose )?{WORD} ?([:=]|{SAYS}\s)? ?({MARK} ?(is |of |: ?)?)?-? ?"
    rf"({NUMBER}|{ROMAN}(?!\.?~?\d)))"
)
ONE = compile_form(
    rf"(?<![\w.])({_V}|{_NUMBERED}|(?P<plain>(?!no one\b){MARK}\s?{NUMBER})|r\d{{1,3}}|"
    rf"(?P<marked>(marked|labell?ed|tagged|stamped) ((as|with) )?([\"“'‘]{NUMBER}[\"”'’]|"
    rf"{NUMBER}(?= ?($|[,.;!?)]))))|"
    rf"take {NUMBER}(?= ?($|[^\w\s]|of\b)))(?!\w)"
)
_BASE = compile_form(r"(stable[\s-]?diffusion|sd|sdxl|flux|dall-?e|midjourney)~?$")
_READS = compile_form(r"(?<!one that )(?<!\w)(says|saying|reads|reading) $")
"""Before a number in the picture: "patches, one of which says | v8"."""
_WORN = compile_form(
    r"(^|\s)(?P<before>\w+ )?(with|wearing|in|at|on|has|having|holding|sporting|bearing|showing|"
    r"reading|saying) ((a|the|its|his|her|their) )?(\w+ )?$"
)
ON_A_SHIRT = compile_form(
    r" ?(painted |printed |written )?on "
    r"((its|his|her|their)\b|(the|a) (shirt|jersey|bib|chest|back|side|door|hood|sign|cap|tank)\b)"
)
_AUXILIARIES = (
    "have", "had", "haven't", "hadn't", "did", "didn't", "do", "don't", "was", "am", "keep",
)  # fmt: skip
_THINKING = ("believe", "guess", "reckon", "suppose", "assume", "mean", "liked", "love", "loved")
"""What somebody does who says "the third version I …", beside the verbs of scenes."""
_OF_ONE = ("selectors", "numbered")
"""Lists of words for a checkpoint or a picture, which has a number of its own."""
_CHOSEN_WITH = (
    "go", "going", "stick", "rendered", "render", "generated", "created", "produced",
)  # fmt: skip
"""Before "with": "go with | number 9", "rendered with | #16"."""
_NO = compile_form("no [a-z]")
"""Not any, unless a subject is before: "no two alike", but "robot no two"."""
_ALIKE = compile_form(r" (alike|the same|are|of them)\b")
_REACHING = compile_form(r"(?<!\w)(up|down|next|close|turned|pointing) to the $")
"""Before a number that is to be seen: "buried in sand up to the | number 6"."""
_BY_USE = compile_form(r" (by|in|on|of) ((my|our|the) )?(usage|uses?|renders|popularity)(?!\w)")
_MY = compile_form(r"(?<!\w)(my|our) $")
_ADVERBS = (
    "last", "just", "never", "once", "only", "first", "recently", "already", "always", "also",
)  # fmt: skip
"""What stands between somebody and what they do: "the lamp checkpoint I last ran"."""
_PUT = frozenset(["placed", "set", "seen", "shown", "seated", "standing", "displayed", "resting"])
_MAKERS = compile_form(r"(builds?|releases?|models?|marks?|take)\b")
_AT_LAST = compile_form("~(this time|instead|again|please|now|though|today)(?!\\w)")
"""What ends a wish: "with build 28 | this time"."""
_ONE_MADE = compile_form(r"(build|release|model|mark)\b")


def is_version(draft: Draft, match: re.Match[str]) -> bool:
    """Not a base model, not a number on a shirt, not things that are built or taken."""
    shadow = draft.page.shadow
    if ends_before(_BASE, shadow, match.start()) or ends_before(_READS, shadow, match.start()):
        return False
    if match["marked"]:  # "a chair marked 23", but not "a door marked 23"
        before = draft.page.word_before(match.start())
        one = before is not None and before.norm in lexicon.words("selectors")
        lead = draft.page.words[before.index - 2].norm if before and before.index > 1 else ""
        one = one and lead not in lexicon.words("prepositions")  # "next to the one marked 23"
        return one or _numbers_subject(draft, match.start())
    if match["plain"]:
        if ON_A_SHIRT.match(shadow, match.end()) or _is_favourite(draft, match):
            return False
        after = draft.page.word_at(match.end())
        named = draft.page.word_before(match.start())
        acts = after is not None and after.joined and is_ing_verb(after.norm)
        thing = named is not None and lexicon.names_thing(named.norm)
        if acts and thing and not _numbers_subject(draft, match.start()):
            return False  # "outside a motel, number 7 blinking"
        if _NO.match(match[0]) and (
            _ALIKE.match(shadow, match.end()) or not _numbers_subject(draft, match.start())
        ):
            return False
        if _numbers_another_thing(draft, match.start()) or ends_before(
            _REACHING, shadow, match.start()
        ):
            return False
        worn = ends_before(_WORN, shadow, match.start())
        lead = (worn["before"] or "").strip() if worn else ""
        selector = lead in lexicon.words("selectors") or lead in _CHOSEN_WITH
        return not worn or selector or _numbers_subject(draft, match.start())
    if _MAKERS.match(match[0]):
        after = draft.page.word_at(match.end())
        if after is None or not after.joined or after.hyphen:
            return True
        first = draft.page.word_at(match.start())
        opens = first is not None and not first.joined
        told = opens or match.start() == 0 or _numbers_subject(draft, match.start())
        acts = is_ing_verb(after.norm) or after.norm in _PUT
        if told and _ONE_MADE.match(match[0]) and acts:
            return True  # "penguin build 47 juggling oranges", "watch release 29 placed on"
        if _AT_LAST.match(shadow, match.end()):
            return True
        links = after.norm in lexicon.words("prepositions") or after.norm in lexicon.words("links")
        return links or draft.noun_at(after.index) is not None
    return True


def _is_favourite(draft: Draft, match: re.Match[str]) -> bool:
    """Whether it is what is liked best, or who likes it: "my number one", "number one by usage",
    "a number one fan".
    """
    if match[0].startswith("v"):
        return False
    if _BY_USE.match(draft.page.shadow, match.end()):
        return True
    if number_in(match[0]) != 1:
        return False
    following = draft.page.word_at(match.end())
    fan = following is not None and following.joined and lexicon.names_thing(following.norm)
    if fan and following is not None and draft.noun_at(following.index) is None:
        return True
    return ends_before(_MY, draft.page.shadow, match.start()) is not None


def is_a_person(draft: Draft, match: re.Match[str]) -> bool:
    """Whether the number is a person: "the vase model I had open", but not "mark I, in a tent"."""
    following = draft.page.word_at(match.end())
    said = match[0].split()[-1] if match[0].split() else ""
    if said == "i" and match[0].startswith("versions") and following is not None:
        return following.joined  # "of all the versions I choose the thirtieth"
    return (
        said == "i"
        and following is not None
        and following.joined
        and (
            following.norm in (*_THINKING, *_AUXILIARIES, *_ADVERBS, *lexicon.words("links"))
            or following.norm in lexicon.verb_forms()
        )
    )


def _numbers_subject(draft: Draft, start: int) -> bool:
    """Whether a number stands behind the only subject named so far: "a hall with backpack #13"."""
    before = draft.page.word_before(start)
    told = [noun for noun in draft.nouns if noun.entry.subjects]
    return before is not None and bool(told) and told[0].last == before.index + 1


def _numbers_another_thing(draft: Draft, start: int) -> bool:
    """Whether a thing of the scene has the number: "most recent ramen, a bus | number 7"."""
    before, number = draft.page.word_before(start), draft.page.word_at(start)
    if before is None or number is None or not number.joined:
        return False
    asks = before.norm in lexicon.words("openers")  # "I want no. 27"
    free = (
        not asks
        and draft.is_free(before)
        and not any(before.norm in lexicon.words(k) for k in _OF_ONE)
    )
    thing = lexicon.names_thing(before.norm) and not _numbers_subject(draft, start)
    told = any(noun.entry.subjects and noun.last <= before.index for noun in draft.nouns)
    return free and thing and told


def number_in(text: str) -> int | None:
    """The first number in digits, or the one in words or Roman numerals that the text ends in."""
    digits = re.search(r"\d{1,4}", text)
    if digits:
        return number(digits[0])
    for pattern in (CARDINAL, ROMAN):
        if tail := re.search(rf"(?<!\w)({pattern})$", text):
            return number(tail[0])
    return None
