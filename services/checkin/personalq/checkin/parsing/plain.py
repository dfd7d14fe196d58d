"""What is typed carelessly, made plain before it is read: "isnt", "last months", doubled spaces."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable

from personalq.chassis.forms import compile_form
from personalq.chassis.screening import Screened
from personalq.checkin import lexicon
from personalq.checkin.intent import Span
from personalq.checkin.nouns import is_kind_of
from personalq.checkin.parsing.corrected import Change, Corrected, with_changes
from personalq.checkin.parsing.owners.said import owned
from personalq.checkin.parsing.predicates import predicates
from personalq.checkin.parsing.said_around import SAID_AROUND
from personalq.checkin.parsing.said_beside import SAID_BESIDE
from personalq.checkin.parsing.said_else import SAID_ELSE
from personalq.checkin.parsing.similes import similes
from personalq.checkin.parsing.text import ends_before, shadow
from personalq.checkin.parsing.turned_around import turned_around
from personalq.checkin.parsing.typos import is_word

_MONTH = "|".join(m for m in lexicon.calendar("months") if len(m) > 3 and m != "march")
_APOSTROPHES = tuple(
    compile_form(rf"(?<![\w'])({before})(?P<here>)({after})(?![\w'])")
    for before, after in (
        ("isn|aren|wasn|weren|don|doesn|didn|hasn|haven|hadn|couldn|shouldn|wouldn|can|won", "t"),
        ("i|we|you|they", "ve"),
        ("i", r"m|d(?=\s+(?:like|love|want|need|prefer|rather)\b)"),
        ("that|what|here|there|who|where|how|when", r"s(?=\s+\w)"),
    )
)
"""Where an apostrophe is left out."""
_TIMES = compile_form(
    r"(?P<opens>^|[,.;:!?] )?(?<![\w'])(?P<name>(last|this|next|previous|past)\s(week|weekend|"
    rf"month|year|spring|summer|autumn|winter|night)|yesterday|today|{_MONTH})(?P<here>)s(?![\w'])"
)
"""What a time's is, or times: "last months kettle", but "two Septembers ago"."""
_OWNERS = tuple(
    compile_form(rf"(?P<opens>^|[,.;:!?] )?(?<![\w'-])(?P<name>{name})(?P<here>)s(?![\w'])")
    for name in (r"[\w-]+", r"[\w-]+\s[\w-]+")
)
_TUNED = re.compile(r"(?<![\w'])fine[\s-]?tun(?P<ending>ed|ing)(?![\w'])")
_COLOURED = compile_form(
    r"(?<![\w'])(?P<colour>red|orange|yellow|green|blue|purple|violet|pink|brown|black|white|"
    r"gr[ae]y|gold|silver|cream)[\s-]colou?red(?![\w'])"
)
_IN_COLOUR = compile_form(
    r"(?<![\w'])(red|orange|yellow|green|blue|purple|violet|pink|brown|black|white|gr[ae]y|gold|"
    r"silver|cream)(?P<here> in colou?r)(?!\w)"
)
_SHADED = compile_form(
    r"(?<![\w'-])((pitch|jet|coal|ink|inky|raven|soot)[\s-](?P<black>black)|"
    r"(snow|milk|paper|chalk|bone|lily|pale|bright|pure)[\s-](?P<white>white)|"
    r"(blood|cherry|ruby|tomato|fire[\s-]engine|pillar[\s-]box)[\s-](?P<red>red))(?![\w'])"
    r"(?![\s-](and|&)[\s-](black|white|red)\b)"
)
"""A colour with a likeness that says no more: "my pitch-black automobile"."""
_STATE = compile_form(
    r"(?<![\w-])(?P<of>[\w-]{1,40}) (?P<state>wide open|half open|fast asleep|sound asleep|"
    r"upside[ -]down|inside[ -]out|belly[ -]up|back to front)(?!\w)"
)
"""How a subject is that stands right before: "that dog | fast asleep | on a carpet"."""
_ADVERBS_FIRST = frozenset(["wide open", "half open", "fast asleep", "sound asleep"])
"""Of these the last word alone says how it is."""
_ONE_STATE = compile_form(
    r"(?<!\w)(the|my|our|that) ([\w-]+ ){0,2}one( (?P<state>under (repair|construction|renovation|"
    r"restoration)|out of (order|shape|balance|tune))| ?,? (?P<turned>upside[ -]down|"
    r"inside[ -]out|belly[ -]up|back to front))(?= ?($|[,.;:!?)])| (and|with|in|on|at|by|beside|"
    r"please)\b)"
)
"""The same of what is only "the one": "the one | under repair", "the red one, | upside down"."""
_NOT_THE_ONE = compile_form(
    r"(?<!\w)(not|(do|does|did)n't ([\w-]+ )?|never|but|except( for)?|without|than|skip|avoid|no|"
    r"turn|flip|hang|put|draw|paint|make|place|set|lay) $"
)
"""Before one that is not wanted, or is to be turned so."""
_BEHIND_IT = (
    r"(?<![\w-])(?P<of>[\w-]{{1,40}}) (?P<state>((that|which|who) (is|was) |that's )?{state})"
)
_ENDS = r"(?=( (and|with|in|on|at|by|from|beside|under)\b)| ?($|[,.;:!?)]))"
_HOW_IT_IS = (
    (
        compile_form(_BEHIND_IT.format(state="(on fire|in flames|ablaze)") + _ENDS),
        "that is burning",
    ),
    (
        compile_form(_BEHIND_IT.format(state="(up to no good|looking for trouble)") + _ENDS),
        "that is mischievous",
    ),
    (
        compile_form(_BEHIND_IT.format(state="in (dire |urgent )?need of") + r"(?= (an?|some) )"),
        "that needs",
    ),
    (
        compile_form(_BEHIND_IT.format(state="the size of") + r"(?= an? )"),
        "that is the size of",
    ),
)
"""The same in several words: "the dog | up to no good"."""
_STATE_BEFORE = compile_form(
    r"(?<!\w)(?P<state>upside down|inside out|back to front) (?=(?P<of>[\w-]+))"
)
"""The same right before it: "the | upside down | dog"."""
_CUB = compile_form(
    r"(?<![\w-])(?P<of>[\w-]{1,40}) (?P<cub>cubs?|kits?|calf|pups?|foal|fawn|joey|hatchling|"
    r"chick|whelp)"
    r"(?![\w'-])(?! (bag|box|house|flick|rides?|plays?)\b)"
)
"""The young of the animal it stands behind: "the fox | cub"."""
_NUMBERED = compile_form(r"(?<!\w)(?P<of>[a-z]{1,40})(?P<here>)(?=#\d)")
"""Right before the number of a version: "truck | #28"."""
_WE_HAVE = compile_form(
    r"(?<![\w-])(?P<of>[\w-]{1,40})(?P<have> (we|i) (have|own|keep))(?= (with|wearing|"
    r"(?!coming|going|seeing)\w{3,}ing (in|on|at|up|down|by|an?|the|its|his|her|under|with|off|"
    r"like|upright|still|alone))\b)"
)
"""What tells one of ours: "the cat | we have | sitting in a box"."""
_THERE_IS = compile_form(
    r"^there('s| is| are) (an?|some|the|two) (?P<what>[\w' -]{2,40}?),? (and )?(under|on|in|"
    "beside|next to|behind|in front of|inside|near|by|above|below|beneath) (it|them)( ?,)? "
    r"(?=(i'd|i|we|put|show|draw|place|let|add)\b)"
)
"""Where it is to be, told first: "there's a bridge, and under it | I'd like a bear"."""
_MIX = compile_form(
    r"(?<!\w)(?P<here>an? (mix|mixture|blend|combination|mashup|hybrid) (of|between) )"
    r"(?=(?P<one>[\w-]+( [\w-]+)?) and (?P<other>(?P<first>[\w-]+)( [\w-]+)?))"
)
"""Of two looks: "a mix of line art and anime", not of roses and lilies."""
_LAST_TIME = compile_form(
    r"(?P<not>(not|n't|never|but|except|than|avoid) ([\w'-]+ ){0,3})?(?<!\w)(?P<same>same )"
    r"(?P<what>([\w'-]+ ){0,4}?)(?P<as>(as|like) (the )?last time)(?![\w'])"
)
"""What was used last: "same kettle as last time"; not what it was like, nor what it was not."""
_LIKENED = frozenset((
    "style", "look", "way", "place", "color", "colour", "size", "setting", "scene", "background",
    "pose", "mood", "light", "lighting",
))  # fmt: skip
_PAIR = compile_form(
    r"(?<!\w)((the|my|our|that|those) ([\w'-]+ ){1,3})(?P<here>pair)(?! of\b)(?!\w)"
)
"""A pair is one of what comes in pairs: "shades, the grey upswept | pair"."""
_DO_WE_HAVE = compile_form(
    r"^\W*(which|what) ([\w'-]+ ){1,4}?(?P<here>(do|did) (we|you|i|they) (still |already )?have |"
    "(have|has) (we|you) got |(is|are) there )(?=(with|in|from|wearing|that|made|trained|on|"
    r"of)\b)"
)
"""What asks and says nothing: "which dragon | do we have | with a broken shell?"."""
_1ST = compile_form(r"(?P<opens>^|(the|my|our|very)\s)(?P<here>1st)(?!\w)")
_STOP = r" ?([,!.…:;]+|\s-+)( |$)"
_GREETED = compile_form(
    r"[\s\"“(]*(((hi|hello|hey|hiya|howdy|yo|greetings|good (morning|afternoon|evening))"
    "( (there|again|all|team|everyone|folks|guys|bot))?"
    rf"({_STOP}| (?=(i|i'm|we|can|could|would|please|show|give|find|get)\b))|"
    f"(ok|okay|so|well|alright|um+|uh+|hm+|er){_STOP}) ?)+"
)
_WHAT = r"[\s\"“(]*(?P<what>{lead}[^:.,;!?\n]{{1,40}})"
_ASKING = (
    "(?=(i|i'd|we|you|please|show|take|give|use|make|draw|put|let|can|could|would|render|generate|"
    r"paint|create)\s)"
)
_PURPOSE = compile_form(
    _WHAT.format(lead=r"for ((the|our|my|an?|this|that|next) |(?=[\w-]+'s\s))")
    + rf"((?P<colon>:) (?=\S)|, ({_ASKING}|(?=(the|our|my|an?)\s)))"
)
_TITLE = compile_form(_WHAT.format(lead="") + r": (?=\S)")
_HEADINGS = frozenset(
    ["post", "newsletter", "flyer", "leaflet", "brochure", "banner", "campaign", "slide"]
)
_HEADLINE = compile_form(
    rf"(?P<what>([\w-]+ ){{0,3}}({'|'.join(sorted(_HEADINGS))})) ?, (?=(the|our|my|an?)\s)"
)
"""A heading without a colon: "Social media post, the pirate"."""
_CHOOSING = frozenset((
    "latest", "newest", "oldest", "trained", "made", "used", "unused", "most", "least", "not",
    "last", "this", "past", "previous", "since", "from", "before", "after", "until", "shot",
    "photographed", "taken", "starting", "beginning", "using", "dating",
))  # fmt: skip
"""What chooses may stand in a heading too: "last summer: my robot"."""
_OCCASIONS = lexicon.words("scenes") | frozenset((
    "calendar", "card", "sheet", "book", "page", "cover", "print", "shirt", "tee", "mug", "tote",
    "sticker", "label", "slide", "post", "story", "menu", "catalog", "magazine", "anniversary",
    "birthday", "party", "wedding", "launch", "client", "customer", "website", "shop",
))  # fmt: skip
_WHO_ASKS = frozenset(["i", "i'd", "i'm", "we", "we'd", "we're", "you", "please"])
_REACH = 4
"""Words of a phrase that are looked at for what is asked for."""


def opening(text: str, is_subject: Callable[[str], bool], is_look: Callable[[str], bool]) -> Span:
    """What a request begins with before it asks: "Hi there!", "for the December mailing:".

    Args:
        is_subject: whether a word names a subject; "for the bear: a scarf" is about a bear.
        is_look: whether words name a look; "anime poster: a bear" wants one.
    """
    lowered = shadow(text)
    greeted = _GREETED.match(lowered)
    start = greeted.end() if greeted else 0
    purpose = _PURPOSE.match(lowered, start)
    if purpose is not None and _only_leads(purpose, is_subject, is_look):
        return Span(0, purpose.end())
    title = _TITLE.match(lowered, start) or _HEADLINE.match(lowered, start)
    if title is not None and _is_title(title["what"], is_subject, is_look):
        return Span(0, title.end())
    return Span(0, start)


def _only_leads(
    purpose: re.Match[str], is_subject: Callable[[str], bool], is_look: Callable[[str], bool]
) -> bool:
    """Whether it says what the picture is for, and not which checkpoint draws it."""
    said = re.findall(r"[\w'-]+", purpose["what"])
    if not said or _chooses(said) or is_look(purpose["what"]):
        return False
    if not _WHO_ASKS.isdisjoint(said):
        return False  # "for the advert I need our wristwatch, the one …"
    places = lexicon.words("prepositions")
    told = list(itertools.takewhile(lambda word: word not in places, said[1:]))
    if not purpose["colon"] and _OCCASIONS.isdisjoint(told):
        return False  # "for a heron on a balcony, use my newest style"
    if not any(map(is_subject, said)):
        return True
    follows = re.findall(r"[\w'-]+", purpose.string[purpose.end() :])
    return bool(purpose["colon"]) and any(map(is_subject, follows))


def _is_title(what: str, is_subject: Callable[[str], bool], is_look: Callable[[str], bool]) -> bool:
    """Whether a heading only names what the picture is: "December newsletter", "Skating in May"."""
    said = re.findall(r"[\w'-]+", what)
    if not said or _chooses(said):
        return False
    goes_on = said[0].endswith("ing") and said[0] in lexicon.verb_forms()
    if said[-1] not in lexicon.words("scenes") | _HEADINGS and not goes_on:
        return False
    return not (any(map(is_subject, said)) or is_look(what) or any(map(str.isdigit, what)))


def _chooses(said: Iterable[str]) -> bool:
    return any(word in lexicon.words("selectors") | _CHOOSING for word in said)


def without(text: str, cut: Span) -> Corrected:
    """The text without a part."""
    return with_changes(text, [(cut, "")] if cut.end > cut.start else [])


def evenly_typed(text: str) -> Corrected:
    """The text with single spaces, and not shouted: then nothing is a name for its capitals."""
    spaces = [(Span(*match.span()), " ") for match in re.finditer(r"\s{2,}", text)]
    if text.isupper():
        text = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    return with_changes(text, spaces)


_SAID_ELSE = tuple((Screened(pattern), plain) for pattern, plain in (*SAID_BESIDE, *SAID_ELSE))
_SAID_AROUND = tuple((Screened(pattern), parts) for pattern, parts in SAID_AROUND)


def make_plain(
    text: str,
    *,
    is_owner: Callable[[str], bool],
    is_subject: Callable[[str], bool],
    is_look: Callable[[str], bool],
    names: Iterable[str] = (),
) -> Corrected:
    """The text with apostrophes where they belong, and one word for some things that have two.

    Args:
        text: evenly typed.
        is_owner: whether a lower-case name is an owner's; "toybox-crews teddy" is then theirs.
        is_subject: whether a word names a subject.
        is_look: whether words name a look.
        names: of checkpoints, which stay as they are: "bear-finetuned-v2".
    """
    lowered = shadow(text)
    changes: list[Change] = []
    for pattern in _APOSTROPHES:
        changes += [(Span(*match.span("here")), "'") for match in pattern.finditer(lowered)]
    for match in _TIMES.finditer(lowered):
        if _is_of_what_is_asked(match, is_subject):
            changes.append((Span(*match.span("here")), "'"))
    for pattern in _OWNERS:
        for match in pattern.finditer(lowered):
            things = is_word(f"{match['name']}s") and lexicon.names_thing(match["name"])
            theirs = match["opens"] is not None or not things
            if is_owner(match["name"]) and theirs and _is_of_what_is_asked(match, is_subject):
                changes.append((Span(*match.span("here")), "'"))
    for match in _TUNED.finditer(lowered):
        changes.append((Span(*match.span()), f"train{match['ending']}"))
    for match in _SHADED.finditer(lowered):
        if is_subject(match[0]) or is_subject(re.split(r"[\s-]", match[0])[0]):
            continue  # a raven in black
        changes.append((Span(*match.span()), next(filter(None, match.groupdict().values()))))
    for wording, plain in _SAID_ELSE:
        changes += [(Span(*m.span()), m.expand(plain)) for m in wording.finditer(lowered)]
    for wording, parts in _SAID_AROUND:
        for match in wording.finditer(lowered):
            changes += [(Span(*match.span(part)), said) for part, said in parts.items()]
    for match in _ONE_STATE.finditer(lowered):
        if ends_before(_NOT_THE_ONE, lowered, match.start()) is None:
            part = "state" if match["state"] else "turned"
            how = match[part] if part == "state" else match[part].replace(" ", "-")
            changes.append((Span(*match.span(part)), f"that is {how}"))
    for match in _STATE.finditer(lowered):
        if is_subject(match["of"]):
            state = match["state"]
            if state not in _ADVERBS_FIRST:
                state = state.replace(" ", "-")
            changes.append((Span(*match.span("state")), f"that is {state}"))
    for pattern, how in _HOW_IT_IS:
        for match in pattern.finditer(lowered):
            if _is_first_named(match, is_subject):
                changes.append((Span(*match.span("state")), how))
    for match in _STATE_BEFORE.finditer(lowered):
        if is_subject(match["of"]):
            state = match["state"].replace(" ", "-")
            changes.append((Span(*match.span("state")), state))
    for match in _CUB.finditer(lowered):
        animal = is_subject(match["of"]) and is_kind_of(match["of"], "animal")
        if animal and not (is_subject(match[0]) or is_subject(match["cub"])):
            changes.append((Span(*match.span()), f"young {match['of']}"))
    for match in _NUMBERED.finditer(lowered):
        if is_subject(match["of"]):
            changes.append((Span(*match.span("here")), " "))
    changes += owned(lowered, is_owner)
    for match in _WE_HAVE.finditer(lowered):
        if is_subject(match["of"]):
            changes.append((Span(*match.span("have")), ", the one"))
    for match in _MIX.finditer(lowered):
        said = (match["one"], match["first"], match["other"])
        no_looks = (each for each in said if is_subject(each) and not is_look(each))
        if any(map(is_look, said)) and not any(no_looks):
            changes.append((Span(*match.span("here")), "both "))
    for match in _LAST_TIME.finditer(lowered):
        if match["not"] is None and _LIKENED.isdisjoint(match["what"].split()):
            changes.append((Span(*match.span("same")), "" if match["what"] else "one "))
            changes.append((Span(*match.span("as")), "I used last"))
    if any(word.endswith("s") and is_subject(word) for word in re.findall(r"[\w'-]+", lowered)):
        changes += [(Span(*match.span("here")), "one") for match in _PAIR.finditer(lowered)]
    changes += [(Span(*m.span()), m["colour"]) for m in _COLOURED.finditer(lowered)]
    changes += similes(lowered, is_subject)
    for match in _THERE_IS.finditer(lowered):
        if not any(map(is_subject, match["what"].split())):
            changes.append((Span(*match.span()), ""))
    changes += turned_around(lowered, is_subject)
    changes += predicates(lowered, is_subject)
    for pattern in (_DO_WE_HAVE, _IN_COLOUR):
        changes += [(Span(*match.span("here")), "") for match in pattern.finditer(lowered)]
    for match in _1ST.finditer(lowered):
        if _leads_to_what_is_asked(lowered, match.end(), is_subject):
            changes.append((Span(*match.span("here")), "first"))
    spelled = [rf"(?<!\w){re.escape(shadow(name))}(?!\w)" for name in names]
    named = [Span(*m.span()) for name in spelled for m in re.finditer(name, lowered)]
    return with_changes(text, {c for c in changes if not any(c[0].meets(name) for name in named)})


def _is_first_named(match: re.Match[str], is_subject: Callable[[str], bool]) -> bool:
    """Whether a state stands right behind what is asked for: not "a cat with a dog | on fire", but
    "can I have the cat | on fire", also where cards show cans.
    """
    before = set(re.findall(r"[\w-]+", match.string[: match.start("of")])) - {"can"}
    return is_subject(match["of"]) and not any(map(is_subject, before))


def _is_of_what_is_asked(match: re.Match[str], is_subject: Callable[[str], bool]) -> bool:
    """Whether a plural is a possessive: "Junes kettle", or all that is left, ", Junes"."""
    if match["opens"] is not None and not match.string[match.end() :].strip(" .!?"):
        return True
    before = re.search(r"(\w+)\s$", match.string[: match.start("name")])
    opens = before is None or before[1] in ("the", "my", "our")
    counted = not opens and before is not None and before[1] in lexicon.words("determiners")
    return not counted and _leads_to_what_is_asked(match.string, match.end(), is_subject)


def _leads_to_what_is_asked(lowered: str, end: int, is_subject: Callable[[str], bool]) -> bool:
    """Whether a subject, or "model", follows in the same phrase."""
    phrase = re.match(rf"(?:\s[\w'-]+){{1,{_REACH}}}", lowered[end:])
    closed = lexicon.words("prepositions") | lexicon.words("links") | lexicon.words("determiners")
    for word in phrase[0].split() if phrase else ():
        if is_subject(word) or word in lexicon.words("selectors"):
            return True
        if word in closed:
            return False
    return False
