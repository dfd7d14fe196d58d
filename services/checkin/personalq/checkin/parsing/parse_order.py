"""Order: "latest", "newest but one", "the very first", "least used", and soft "recently"."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Constraint, OrderKey, Span
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.numbers import CARDINAL, ORDINAL, number
from personalq.checkin.parsing.text import Word, ends_before

_MADE = (
    "(trained|created|made|built|tuned|fine-?tuned|added|finished|completed|released|uploaded|"
    "published|produced|dated|baked)"
)
_MAKE = "(train|create|make|build|tune|finish|add|upload|release)"
_NEWEST = (
    rf"(most up[\s-]to[\s-]date|most recent(ly)?(~{_MADE})?|most current|most lately {_MADE}|"
    "newest|latest|freshest|youngest)"
)
_OLDEST = "(oldest|earliest|eldest)"
_SELECTOR = (
    "(one|version|model|build|checkpoint|lora|variant|edition|iteration|release|training|run|ckpt|"
    "attempt|try|take)s?"
)
_WHO = "(i|we|you|she|he|they|anyone|anybody|somebody|someone|everyone|everybody)('ve|'d)?"
_HAVE = "((have|has|had|ever) )*"
_USE = (
    "(uses?|used|keep using|kept using|run|ran|render(ed)? with|work(ed)? with|reach(ed)? for|"
    "turn(ed)? to|rely on|relied on|depend(ed)? on|fall back on|pick(s|ed)?|open(ed)?|touched|"
    "load(ed)?|go for)"
)
_COUNT = "((use|usage|render)~(count|number|total)s?|uses|renders|runs)"
_OFTEN = "(often|frequently|heavily|commonly|regularly)"
_VERSION_NUMBER = r"~version~(numbered|number|num\b|no\b\.?)"
_NUMBERED = rf"({_VERSION_NUMBER}|~version|~(numbered|number|num\b|no\b\.?)(?! (of|on)\b))"
_DATE = r"~((creation|training|build|release|upload)~)?(date|time)(?!\w)"
_ENDS = (
    r"(?= ?($|[^\w\s]|(on|in|at|by|of|with|near|under|and|but|as|to|for|while|please|full|covered|"
    r"thanks)\b|(?!((every|any|no|some)thing|evening|morning|spring)\b)\w{2,}ing\b))"
)
"""What follows a wish: nothing, or what is to be seen."""
_OF_ALL = f"( (often|frequently|of all)|{_ENDS})"


@dataclass(frozen=True)
class _Rule:
    pattern: re.Pattern[str]
    key: OrderKey
    rank: int = 1
    hard: bool = True
    needs_head: bool = False


def _rule(
    pattern: str, key: OrderKey, rank: int = 1, *, hard: bool = True, needs_head: bool = False
) -> _Rule:
    pattern = pattern.replace("ORDINAL", ORDINAL).replace("CARDINAL", CARDINAL)
    return _Rule(compile_form(rf"(?<![\w-])({pattern})(?!\w)"), key, rank, hard, needs_head)


_N, _O, _L, _M = OrderKey.NEWEST, OrderKey.OLDEST, OrderKey.LAST_USED, OrderKey.MOST_USED
_LEAST, _STALE = OrderKey.LEAST_USED, OrderKey.LEAST_RECENTLY_USED
_HIGH, _LOW = OrderKey.HIGHEST_VERSION, OrderKey.LOWEST_VERSION

_RULES = (
    # Least used, longest unused: before "most used" and "last used", whose words they contain.
    _rule(
        rf"(?:(?P<n>ORDINAL)[\s-]+)?least[\s-]+(?:{_OFTEN}[\s-]+|popular|favou?rite|used|"
        rf"loved|worn)(?:used)?|"
        rf"(?:{_WHO}\s+){_HAVE}{_USE}\s+(?:it\s+)?less(?=\s*(?:$|[.,;!?]))|"
        rf"(?:{_WHO}\s+)?{_HAVE}(?:been\s+)?{_USE}\s+(?:it\s+)?(?:the\s+)?(?:least|fewest\s+times)"
        rf"{_OF_ALL}|used\s+(?:the\s+)?(?:least|(?:fewest|(?:least|smallest|lowest)\s+number\s+of)\s+times)|(?:{_WHO}\s+)?{_USE}\s+(?:it\s+)?less\s+(?:often\s+)?than\s+(?:any|all|the)(?:\s+(?:the\s+)?others?|\s+rest)?|"
        rf"(?:(?:{_WHO}|is|are|was|that|which)\s+)*(?:hardly|rarely|seldom|barely|scarcely)\s+"
        rf"(?:ever\s+)?{_USE}|(?:{_WHO}\s+)(?:don't|do\s+not)\s+{_USE}\s+much|"
        r"(?:with\s+)?(?:the\s+)?(?:lowest|lightest)\s+usage(?!\s+\w)|"
        r"(?:with\s+)?(?:the\s+|its\s+)?(?:lowest|smallest|fewest)\s+(?:number\s+of\s+)?"
        rf"{_COUNT}",
        _LEAST,
    ),
    _rule(
        rf"(?:least|longest)[\s-]+recently[\s-]+used|used\s+(?:the\s+)?least\s+recently|"
        rf"(?:longest|most)[\s-]+(?:unused|neglected|forgotten|untouched|idle)|"
        rf"(?:(?:{_WHO}|that|which|has|have|had|been)\s+)+left\s+(?:it\s+)?(?:untouched|unused|alone)\s+(?:for\s+)?(?:the\s+)?longest(?:\s+time)?|"
        rf"(?:(?:{_WHO}|that|which)\s+)*(?:(?:haven't|hasn't|have\s+not|has\s+not|not)\s+)(?:been\s+)?"
        rf"{_USE}\s+(?:(?:in|for)\s+)?(?:the\s+)?longest(?:\s+time)?|"
        r"(?:(?:(?:that|which)(?:\s+one)?\s+)?(?:has|have|had|'s)\s+been\s+)?(?:unused|idle|untouched|dormant)\s+"
        r"(?:for\s+)?(?:the\s+)?longest(?:\s+time)?|"
        r"(?:(?:that|which)\s+)?(?:(?:has|have|had|'s)\s+)?(?:gone|went|been)\s+(?:the\s+)?longest\s+without\s+"
        r"(?:any\s+use|use|being\s+used)|"
        rf"(?:that\s+|has\s+)?(?:nobody|no\s+one)\s+(?:has\s+)?{_USE}\s+(?:in|for)\s+(?:the\s+)?longest(?:\s+time)?|"
        r"(?:(?:that|which)(?:\s+has|'s)?\s+(?:been\s+)?)?(?:gathering|collecting|gathered|collected)\s+dust\s+"
        r"(?:for\s+)?(?:the\s+)?longest(?:\s+time)?|(?:with\s+)?(?:the\s+)?longest\s+(?:time\s+)?since\s+"
        r"(?:its\s+|the\s+)?last\s+(?:use|used|render)|"
        r"(?:(?:with\s+)?the\s+)?(?:oldest|earliest)\s+last\s+use|(?<![,;]\s)left\s+alone\s+(?:for\s+)?the\s+longest(?!\s+time)|"
        r"whose\s+last\s+use\s+(?:is|was|lies)\s+(?:the\s+)?(?:furthest|farthest|longest)\s+(?:back|ago)",
        _STALE,
    ),
    _rule(rf"(?P<n>ORDINAL)[\s-]+most(?:[\s-]+{_OFTEN})?[\s-]+used", _M),
    _rule(
        rf"(?P<n>ORDINAL)[\s-]+most[\s-]+recently[\s-]+used|"
        rf"(?:{_WHO}\s+)?{_HAVE}{_USE}\s+(?:it\s+)?(?:the\s+)?(?P<nth>ORDINAL)[\s-]+most[\s-]+recently",
        _L,
    ),
    _rule(
        rf"most[\s-]+(?:{_OFTEN}[\s-]+)?used|top[\s-]used(?!\s+(?:as|by|for|to)\b)|"
        rf"(?:{_WHO}\s+)?{_HAVE}{_USE}\s+(?:it\s+)?(?:the\s+)?most(?:\s+times)?{_OF_ALL}|"
        rf"(?:{_WHO}\s+)(?:always\s+{_USE}|{_USE}\s+all\s+the\s+time)|"
        rf"(?:{_WHO}\s+)used?\s+more(?:\s+often)?(?=[\s.!]*$)|"
        rf"most[\s-]+popular|favou?rite|(?:(?<=\bmy\s)|(?<=\bour\s)|(?<=\bthe\s))go[\s-]to|(?<=\bmy\s)number\s+one(?!\s+(?:\d|fans?\b))|(?<=\bour\s)number\s+one(?!\s+fans?\b)|(?:{_WHO}\s+)?{_HAVE}(?:been\s+)?{_USE}\s+(?:it\s+)?more\s+(?:often\s+|frequently\s+)?than\s+(?:any|all|the)(?:\s+(?:the\s+)?others?|\s+rest)?|"
        r"(?:(?:at|on)\s+)?(?:the\s+)?top(?:s|ping)?\s+(?:of\s+)?(?:the|our|my)\s+(?:usage|use)\s+"
        r"(?:charts?|lists?|stats|statistics|tables?|rankings?|leaderboard)|"
        rf"number\s+one\s+(?:by|in)\s+(?:usage|uses?|renders|popularity)|(?:with|gets|got|has|had|sees|saw|seen)\s+(?:(?:had|seen)\s+)?(?:the\s+)?most\s+(?:uses?|renders|runs)|most[\s-]+loved|"
        r"(?:with\s+)?(?:the\s+)?(?:highest|heaviest)\s+usage(?!\s+\w)|"
        r"(?:with\s+)?(?:the\s+|its\s+)?(?:highest|largest|biggest)\s+(?:number\s+of\s+)?"
        rf"{_COUNT}",
        _M,
    ),
    _rule(
        rf"{_WHO}\s+(?:often\s+)?{_USE}\s+one\s+[\w-]+\s+(?P<tail>more\s+(?:often\s+)?than\s+any(?:\s+other)?)",
        _M,
    ),
    _rule(
        rf"(?:{_WHO}\s+)?{_HAVE}{_USE}\s+the\s+time\s+before\s+(?:last|that)|"
        rf"(?:last|most\s+recently)\s+used\s+but\s+one",
        _L,
        2,
    ),
    _rule(
        rf"most\s+recently\s+used|last[\s-]+used|"
        rf"(?:the\s+)?last(?:\s+(?:{_SELECTOR}))?\s+(?:that\s+)?(?:{_WHO}\s+)(?:have\s+)?{_USE}|"
        rf"(?:{_WHO}\s+)?{_HAVE}{_USE}\s+(?:it\s+)?(?:last|most\s+(?:recently|lately)|the\s+last\s+time|"
        rf"last\s+time)(?!\s+(?:week|month|year|night|summer|winter|spring|autumn|fall))|"
        rf"(?:{_WHO}\s+)last\s+(?:used|ran|worked\s+with|rendered\s+with)|"
        rf"(?:{_WHO}\s+)?(?:have\s+)?just\s+(?:now\s+)?used|"
        rf"(?:{_WHO}\s+)used\s+(?:a\s+(?:moment|minute|second)\s+ago|just\s+now)|"
        rf"from\s+(?:my|our)\s+(?:last|latest|most\s+recent)\s+session",
        _L,
    ),
    _rule(
        r"(?<!to )(?<!to the )(?<!before )(?<!before the )(?<!second )(?<!third )(?<!2nd )(?<!3rd )"
        r"(?P<not>last)(?:\s+(?!(?:but|ones?|two|three|four|five|few|couple|\d+)\b)[\w-]+){1,3}?\s+"
        rf"(?P<tail>(?:that\s+)?{_WHO}\s+{_HAVE}(?:used|ran|run|"
        r"rendered|worked\s+with|played\s+with))",
        _L,
    ),
    _rule(
        rf"recently\s+used|(?:{_WHO}\s+)?(?:have\s+)?(?:been\s+using|used|was\s+using|"
        rf"(?:was|were|been)\s+(?:playing|working)\s+with)\s+(?:recently|lately|the\s+other\s+day)|"
        rf"(?:{_WHO}\s+)?recently\s+(?:used|worked\s+with)",
        _L,
        hard=False,
    ),
    # Places counted from the newest or the oldest.
    _rule(rf"(?P<n>ORDINAL)[\s-]+(?:{_NEWEST})", _N),
    _rule(rf"(?P<n>ORDINAL)[\s-]+(?:{_OLDEST}|ever(?=\s+\w))", _O),
    _rule(
        rf"(?P<n>ORDINAL)(?:[\s-]+|\s+{_SELECTOR}\s+)(?:to|from|"
        rf"before)[\s-]+(?:the\s+)?(?:last|latest|newest|end)",
        _N,
    ),
    _rule(
        rf"(?P<but>CARDINAL)(?:[\s-]+{_SELECTOR})?[\s-]+before[\s-]+(?:the\s+)?"
        rf"(?:{_NEWEST}|last)(?:\s+{_SELECTOR})?",
        _N,
    ),
    _rule(
        rf"(?P<again>before\s+the\s+\w+\s+)before\s+(?:the\s+|my\s+|our\s+)?(?:{_NEWEST}|last)"
        rf"(?:\s+{_SELECTOR})?",
        _N,
        3,
    ),
    _rule(rf"(?:{_NEWEST}|last)(?:\s+{_SELECTOR})?[\s-]+but[\s-]+(?P<but>CARDINAL)", _N),
    _rule(rf"(?:{_OLDEST}|first)(?:\s+{_SELECTOR})?[\s-]+but[\s-]+(?P<but>CARDINAL)", _O),
    _rule(rf"(?P<not>{_NEWEST}|last)(?:\s+[\w-]+){{1,3}}?(?P<tail>\s+but\s+(?P<but>CARDINAL))", _N),
    _rule(
        rf"(?P<not>(?:not\s+)?(?:the\s+|my\s+|our\s+)?(?:very\s+)?(?:{_NEWEST}|last))"
        r"(?:\s+[\w-]+){0,5}?\s*(?P<tail>(?:[,;-]\s*)?(?:no,?\s+)?(?:but\s+)?(?:rather\s+)?the\s+(?:one|version|"
        r"model|build)\s+(?:(?:that\s+(?:came|was\s+made)|made|trained|built)\s+)?(?:just\s+|right\s+|straight\s+|immediately\s+|directly\s+)?"
        rf"before(?:\s+(?:it|that|this|that\s+one))?{_ENDS})",
        _N,
        2,
    ),
    _rule(
        rf"(?P<not>(?:not\s+)?(?:the\s+|my\s+|our\s+)?(?:very\s+)?(?:{_OLDEST}|first))"
        r"(?:\s+[\w-]+){0,5}?\s*(?P<tail>(?:[,;-]\s*)?(?:no,?\s+)?(?:but\s+)?(?:rather\s+)?the\s+(?:one|version|"
        r"model|build)\s+(?:(?:that\s+(?:came|was\s+made)|made|trained|built)\s+)?(?:just\s+|right\s+|straight\s+|immediately\s+|directly\s+)?"
        rf"after(?:\s+(?:it|that|this|that\s+one))?{_ENDS})",
        _O,
        2,
    ),
    _rule(
        rf"(?P<not>(?:the\s+|my\s+|our\s+)?(?:very\s+)?(?:{_OLDEST}|first))(?:(?!\b(?:while|when|as|is|are)\b)[^.;]){{0,40}}?"
        r"(?P<tail>(?:the\s+)?next\s+(?:one\s+)?after\s+(?:it|that))",
        _O,
        2,
    ),
    _rule(
        rf"penultimate|next[\s-]+to[\s-]+(?:the\s+)?(?:last|newest|latest)|"
        rf"(?:{_SELECTOR}\s+)?(?:(?:that\s+)?came\s+|that\s+)?(?:right\s+|just\s+|straight\s+|immediately\s+|"
        rf"directly\s+)?(?:before|preced(?:ing|es|ed)|prior\s+to)\s+(?:the\s+|my\s+|our\s+)?"
        rf"(?:very\s+)?(?:{_NEWEST}|last)(?:\s+(?:{_SELECTOR}))?|"
        rf"previous(?=\s+(?:\w+\s+){{0,2}}{_SELECTOR})|runner[\s-]up",
        _N,
        2,
    ),
    _rule(
        rf"next[\s-]+to[\s-]+(?:the\s+)?(?:oldest|first|earliest)|"
        rf"(?:{_SELECTOR}\s+)?(?:right\s+|just\s+)?(?:after|following)\s+the\s+"
        rf"(?:very\s+)?(?:{_OLDEST}|first)(?:\s+(?:{_SELECTOR}))?(?=\s*(?:$|[^\w\s]))",
        _O,
        2,
    ),
    _rule(
        r"(?<!with )(?<!with the )(?<!with a )(?<!wearing the )(?<!holding the )"
        rf"(?P<not>(?P<n>ORDINAL))(?:\s+(?!{_SELECTOR})[\w-]+){{1,3}}?\s+(?P<tail>(?:that\s+|which\s+)?"
        rf"(?:{_WHO}\s+)(?:have\s+)?ever\s+{_MADE})",
        _O,
    ),
    _rule(
        r"(?:(?:order|sort)(?:ed)?\s+by\s+(?:date|age|time)[\s,;:]+)?(?P<n>ORDINAL)\s+from\s+the\s+top"
        r"[\s,;(]+(?:newest|latest)\s+first",
        _N,
    ),
    # By number; a version trained again later may have a lower one.
    _rule(
        rf"(?:(?P<n>ORDINAL)[\s-]+)?(?:(?:highest|top){_NUMBERED}|"
        rf"(?:largest|biggest|greatest){_VERSION_NUMBER})",
        _HIGH,
    ),
    _rule(
        rf"(?:(?P<n>ORDINAL)[\s-]+)?(?:lowest{_NUMBERED}|smallest{_VERSION_NUMBER})",
        _LOW,
    ),
    # The ends.
    _rule(rf"with\s+(?:the\s+)?(?:{_NEWEST}){_DATE}", _N),
    _rule(
        r"(?<=\bone\s)(?:(?:that|which)(?:'s|\s+is)\s+)?(?:only|just|barely)\s+(?:a\s+few|a\s+couple\s+of|some)\s+(?:days|weeks)\s+old",
        _N,
    ),
    _rule(rf"with\s+(?:the\s+)?(?:{_OLDEST}|first){_DATE}", _O),
    _rule(
        r"first(?:\s+(?:that|which))?\s+(?:(?:was|we|i|you|they)\s+)?ever\s+(?:made|trained|created|built)|"
        r"very\s+first|first[\s-]+ever|earliest|oldest|eldest|(?:first|1st)\s+(?:one|version|model|"
        r"build|checkpoint|lora|variant|edition|iteration|release|attempt|try)(?:\s+ever)?|"
        r"inaugural|most\s+original|longest[\s-]standing|most\s+aged|"
        r"(?:that\s+|which\s+)?started\s+it\s+all",
        _O,
    ),
    _rule(
        rf"(?:older|earlier)(?=\s+(?:(?:\w+\s+)?of\s+(?:the|them|these|those|both)\b|"
        rf"(?:\w+\s+)?{_SELECTOR}))|(?:the\s+)?(?:older|earlier)(?=[\s.!?]*$)|"
        r"the\s+(?:older|earlier)(?=\s*[,.;!?])|"
        r"(?:with|of)\s+the\s+(?:older|earlier)\s+date(?:\s+of\s+the\s+\w+)?",
        _O,
    ),
    _rule(
        rf"(?:newer|later|more\s+recent)(?=\s+(?:(?:\w+\s+)?of\s+(?:the|them|these|those|both)\b|"
        rf"(?:\w+\s+)?{_SELECTOR}))|(?:the\s+)?(?:newer|later|more\s+recent)(?=[\s.!?]*$)|"
        r"the\s+(?:newer|later|more\s+recent)(?=\s*[,.;!?])",
        _N,
    ),
    _rule(
        r"(?:(?:that|which)\s+)?c(?:ame|omes?)\s+(?:out\s+|along\s+)?(?P<n>ORDINAL)"
        r"\s+(?:in\s+(?:time|order)|chronologically)(?!\s+(?:of|to|for|trials?)\b)",
        _O,
    ),
    _rule(rf"(?:{_WHO}\s+)?(?:ever\s+)?{_MADE}\s+first|did\s+{_WHO}\s+{_MAKE}\s+first", _O),
    _rule(rf"did\s+{_WHO}\s+{_MAKE}\s+(?:last|latest|most\s+recently){_OF_ALL}", _N),
    _rule(
        rf"(?:(?:that|which)\s+)?c(?:ame|omes?)\s+(?:out|along)\s+(?:first|earliest){_OF_ALL}|"
        r"(?:(?:that|which)\s+)?c(?:ame|omes?)\s+(?:first|earliest)"
        r"(?=\s*(?:$|[.;!?])|,\s+(?!with\b)|\s+(?:on|under|beside|near|behind)\s)",
        _O,
    ),
    _rule(
        rf"(?:(?:that|which)\s+)?c(?:ame|omes?)\s+(?:out|along)\s+(?:the\s+)?"
        rf"(?:last|latest|most\s+recently){_OF_ALL}",
        _N,
    ),
    _rule(r"first|original|older|earlier", _O, needs_head=True),
    _rule(r"previous", _N, 2, needs_head=True),
    _rule(
        rf"very\s+(?:last|latest|newest)|{_NEWEST}(?:\s+and\s+greatest)?|"
        rf"(?:{_WHO}\s+)?{_MADE}\s+(?:the\s+)?(?:last|latest|most\s+recently)"
        rf"(?!\s+(?:week|month|year|night|summer|winter|spring|autumn|fall|\w+day))|"
        rf"(?:{_WHO}\s+)?last\s+{_MADE}(?!\s+(?:in|on|before|during)\b)",
        _N,
    ),
    _rule(r"last|final|current|most\s+new|up[\s-]to[\s-]date|newer|present", _N, needs_head=True),
    _rule(
        rf"(?:quite\s+|fairly\s+|very\s+|rather\s+|pretty\s+)?(?:recently|newly|freshly|lately|"
        rf"just)[\s-]+{_MADE}|{_MADE}\s+(?:very\s+|quite\s+)?(?:recently|lately|"
        rf"not\s+(?:so\s+|too\s+|that\s+)?long\s+ago|the\s+other\s+(?:day|week))|"
        rf"recentish|more\s+recently|from\s+(?:the\s+other\s+(?:day|week)|recent\s+"
        rf"(?:days|weeks))",
        _N,
        hard=False,
    ),
    _rule(r"recent|recently|newish", _N, hard=False, needs_head=True),
)

_NOT = compile_form(
    r"(?<!\w)((?<!why )not|(?<!don't )(?<!not )(?<!never )(?<!to )(skip|forget|ignore)) (the )?$"
)
_OPPOSITE = {OrderKey.NEWEST: OrderKey.OLDEST, OrderKey.OLDEST: OrderKey.NEWEST}
_NEW = compile_form(r"((?<=\bmy )|(?<=\bour )|(?<=\bthe ))(brand~)?new(?!\w)")
_END = compile_form(
    r"(first|last|latest|newest|oldest|earliest)(?= of (the|my|our|these|those|all|them)\b)"
)


def parse_order(draft: Draft) -> None:
    """Claim words that order candidates; the first hard order wins, the rest only rank."""
    shadow = draft.page.shadow
    for rule in _RULES:
        for match in rule.pattern.finditer(shadow):
            if not draft.free(match.start(), match.end()):
                continue
            if rule.needs_head and not _before_head(draft, match):
                continue
            if not rule.needs_head and _is_scene(draft, match):
                continue
            rank = rule.rank
            groups = match.groupdict()
            if nth := groups.get("n") or groups.get("nth"):
                rank = number(nth) or 1
            if groups.get("but"):
                rank = (number(groups["but"]) or 1) + 1
            key = rule.key
            if refused := ends_before(_NOT, shadow, match.start()):
                if not draft.answering:  # "the previous one, not the latest"
                    draft.mark(Span(refused.start(), match.end()), selecting=True)
                    continue
                key = _OPPOSITE.get(key, key)  # "not the oldest" of those asked about
            if groups.get("not"):
                draft.mark(Span(match.start("not"), match.end("not")), selecting=True)
            _claim(draft, match, key, min(rank, 10_000), hard=rule.hard)
    for match in _NEW.finditer(shadow):
        if draft.free(match.start(), match.end()) and _before_head(draft, match):
            _claim(draft, match, OrderKey.NEWEST, 1, hard=False)
    chosen = (Attribute.ORDER, Attribute.VERSION)
    if draft.nearest and not any(c.hard and c.attribute in chosen for c in draft.constraints):
        draft.constraints.append(draft.nearest)


def _is_scene(draft: Draft, match: re.Match[str]) -> bool:
    """Whether an end of an order belongs to a thing of the scene: "the newest fashion"."""
    if draft.answering or "version" in match[0]:
        return False
    following = draft.page.word_at(match.end())
    if following is None or not following.joined or match.end() > following.start:
        return False
    before = draft.page.word_before(match.start())
    step = before
    if step is not None and step.norm in ("the", "its", "his", "her", "their") and step.index:
        step = draft.page.words[step.index - 1]
    governed = step is not None and step.norm in (
        "in", "on", "at", "reading", "wearing", "holding", "watching", "with",
    )  # fmt: skip
    return governed and not (
        draft.leads_to_head(following.index, reach=5) or _closes(following.norm)
    )


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
    return draft.leads_to_head(following.index, reach=5)


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


def _claim(draft: Draft, match: re.Match[str], key: OrderKey, rank: int, *, hard: bool) -> None:
    hard = hard and not any(c.attribute is Attribute.ORDER and c.hard for c in draft.constraints)
    part = "tail" if "tail" in match.re.groupindex else 0
    span = Span(match.start(part), match.end(part))
    constraint = Constraint(
        attribute=Attribute.ORDER,
        order=key,
        rank=rank,
        hard=hard,
        span=span,
        text=span.of(draft.page.text),
        label=_WORDS[key] if rank == 1 else f"number {rank} from {_WORDS[key]}",
    )
    if hard and (fallback := _UNCOUNTED.get(key)) and (rank == 1 or key is not OrderKey.MOST_USED):
        other, missing = fallback
        label = constraint.label.replace(_WORDS[key], _WORDS[other])
        instead = replace(constraint, order=other, label=f"{label}; {missing}")
        constraint = replace(constraint, fallback=instead)
    draft.add(constraint, selecting=True)
