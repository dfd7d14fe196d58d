"""Ranges of versions and steps between them: "from 27 to 33", "in the thirties", "two after v8"."""

from __future__ import annotations

import re

from personalq.chassis.forms import compile_form
from personalq.checkin.intent import Constraint
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.numbers import CARDINAL
from personalq.checkin.parsing.versions.bounds import HIGHEST, of_versions
from personalq.checkin.parsing.versions.numbers import MARK, NUMBER, SAYS, WORD, number_in

_ALONE = r"(?= ?($|[,.;:!?)]))"
_NUMBERS = (
    f"((any|some|a|the|its|whose) )?{WORD} ({MARK} )?(({SAYS}|of|that is|falls?|lies?|"
    "in the range|anywhere|somewhere|inclusive(ly)?) ){0,3}"
)
_NUMBER_IS = f"({_NUMBERS}|(the|its|whose) number is |numbered )"
_RANGED = compile_form(
    rf"(?<!\w)((with|has|having) )?({_NUMBERS}|numbered |(any|some) number |anywhere (?=from v))"
    rf"(between|from) (v\.?\s?)?(?P<low>{NUMBER}) (and|to|through|up to|-) (v\.?\s?)?"
    rf"(?P<high>{NUMBER})(?!\w)( inclusive(ly)?)?",
    rf"(?<!\w)in the range ({WORD} )?(v\.?\s?)?(?P<a>{NUMBER}) ?(to|through|up to|-|\.\.+) ?"
    rf"(v\.?\s?)?(?P<b>{NUMBER})(?= ?($|[,.;:!?)]|there\b|is\b))",
    rf"(?<!\w)between (?P<c>{NUMBER}) and (?P<d>{NUMBER}) by version( number)?(?!\w)",
    rf"(?<!\w){_NUMBER_IS}(at least|no (lower|less) than|not (below|under)) "
    rf"(?P<e>{NUMBER}),? (and|but)( is)? (at most|no (higher|more) than|not (above|over)) "
    rf"(?P<f>{NUMBER})(?!\w)",
    rf"(?<![\w.])(?P<g>{NUMBER}) ?(<=?|≤) ?{WORD} ?(<=?|≤) ?(?P<h>{NUMBER})(?!\w)",
)
"""Both ends said, in words that only versions have."""
_ENDS = (("low", "high"), ("a", "b"), ("c", "d"), ("e", "f"), ("g", "h"))
_DECADE = compile_form(
    rf"(?<!\w){_NUMBERS}in the (?P<ten>teens|twenties|thirties|forties|fifties){_ALONE}|"
    r"(?<!\w)(with )?(a )?(?P<digit>single)~digit (version|build)( number)?(?!\w)|"
    rf"(?<=, )(version |number )?(?P<some>twenty|thirty|forty|fifty)~something{_ALONE}"
)
"""So many numbers at once: "a version in the thirties", "forty-something"."""
_TENS = {"tee": 10, "twe": 20, "thi": 30, "for": 40, "fif": 50}
_STEPS_FROM = compile_form(
    rf"(?<!\w)((go )?(?P<back>back) )?(?P<n>an?|{CARDINAL}) (versions?|builds?) "
    r"(?P<way>(on|up|back|down)(?= from\b)|(later|earlier)(?= than\b)|after|before|below)?"
    r"( ?(from|than))? "
    rf"([a-z]+ )?((version|number|v\.?) ?)?(?P<v>{NUMBER})(?!\w)",
    rf"(?<!\w)((the|a) )?((direct|immediate) )?(?P<next>successor|predecessor) (of|to) "
    rf"(version|number|v\.?) ?(?P<w>{NUMBER})(?!\w)",
)
"""So many steps from a number: "two versions on from v8", "the successor of version 43"."""


def read_ranges(draft: Draft, found: list[Constraint]) -> None:
    """Claim "a version number from 27 to 33", "in the thirties", "two versions on from v8"."""
    shadow = draft.page.shadow
    for match in _RANGED.finditer(shadow):
        ends = next(ends for ends in _ENDS if match[ends[0]])
        low, high = (number_in(match[end]) for end in ends)
        if low and high and low < high <= low + HIGHEST:
            _claim(draft, match, list(range(low, high + 1)), found)
    for match in _DECADE.finditer(shadow):
        ten = _TENS.get((match["ten"] or match["some"] or "")[:3], 0)
        if match["ten"]:
            _claim(draft, match, list(range(ten, ten + 10)), found)
        else:
            _claim(draft, match, list(range(ten or 1, ten + 10)), found)
    for match in _STEPS_FROM.finditer(shadow):
        steps = _steps(match)
        value = number_in(match["v"] or match["w"])
        if steps and value and value + steps > 0:
            _claim(draft, match, [value + steps], found)


def _steps(match: re.Match[str]) -> int:
    """How far a version is from another: 2 of "two versions on from"; 0 where it is not said."""
    if match["next"]:
        return 1 if match["next"] == "successor" else -1
    way = match["way"] or match["back"] or ""
    count = 1 if match["n"] in ("a", "an") else number_in(match["n"]) or 0
    if way in ("on", "up", "later", "after"):
        return count
    return -count if way else 0


def _claim(draft: Draft, match: re.Match[str], values: list[int], found: list[Constraint]) -> None:
    if draft.free(*match.span()):
        constraint = of_versions(draft, match.start(), match.end(), values)
        draft.add(constraint, selecting=True)
        found.append(constraint)
