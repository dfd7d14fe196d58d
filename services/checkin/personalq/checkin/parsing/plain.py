"""What is typed carelessly, made plain before it is read: "isnt", "last months", doubled spaces."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Span
from personalq.checkin.parsing.corrected import Change, Corrected, with_changes
from personalq.checkin.parsing.similes import similes
from personalq.checkin.parsing.text import shadow
from personalq.checkin.parsing.typos import is_word

_MONTH = "|".join(m for m in lexicon.calendar("months") if len(m) > 3 and m != "march")
_APOSTROPHES = tuple(
    compile_form(rf"(?<![\w'])({before})(?P<here>)({after})(?![\w'])")
    for before, after in (
        ("isn|aren|wasn|weren|don|doesn|didn|hasn|haven|hadn|couldn|shouldn|wouldn|can|won", "t"),
        ("i|we|you|they", "ve"),
        ("i", r"m|d(?=\s+(?:like|love|want|need|prefer|rather)\b)"),
        ("that|what|here|there|who", r"s(?=\s+\w)"),
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
_PEOPLE = f"({'|'.join(sorted(lexicon.words('kinsfolk')))}|client|customer|boss|team|kids|children)"
_THE_ONE = r"the [\w-]+ (ones?|version|model|checkpoint|build)"
_MONTHS = f"({'|'.join(lexicon.calendar('months'))})"
_SAID_ELSE = (
    (compile_form(r"(?<![\w'])(i'm|i am|we're|we are) after(?= (an?|the|my|our)\b)"), "I want"),
    (compile_form(r"(?<=\w )(below|beneath|under|underneath) the (water's surface|waves|"
                  r"surface( of the (water|sea|ocean|lake))?)(?!\w)(?! of\b)"), "underwater"),
    (compile_form(r"(?<=\w )(below|beneath|under|underneath) the (sea|ocean)(?= ?($|[^\w\s])| (and|"
                  r"with|in|on|at|by|near|for|from|but|as|is|was|will|please|this|now)\b)"),
     "underwater"),
    (compile_form(r"(?<=\w )with ((hardly|barely|scarcely) any|very few|a handful of) "
                  r"polygons(?!\w)"),
     "in low poly"),
    (compile_form(r"(?<!\w)the current(?= (week|month|quarter|year)\b)"), "this"),
    (compile_form(r"(?<!\w)with (just|only|no more than) (a single|one) use(?!\w)|"
                  r"used (just|only) (a single time|the once)(?!\w)"), "used only once"),
    (compile_form(r"(?<=\w )(that|which) (gets|got|is) used (?=(the )?(most|least)\b)"),
     "I use "),
    (compile_form(r"((?<=\bi )|(?<=\bwe ))(was|were) just (using|working with)(?!\w)"),
     "used last"),
    (compile_form(r"((?<=\bi )|(?<=\bwe ))(keep|kept) (coming|going|getting) back to (the )?most"
                  r"( often)?(?!\w)"), "use most"),
    (compile_form(r"(?<=\bi )(was|have been|'ve been) using(?= (last|most|yesterday|today|on|this|"
                  r"in|more|less|least)\b)"), "used"),
    (compile_form(r"^(surprise|treat|impress|delight|amuse|wow|thrill|please|cheer up|spoil) "
                  rf"(my|our|his|her|the) {_PEOPLE} with (?=(the|an?|my|our|that)\b)"),
     "show "),
    (compile_form(r"^(please )?(mock up|whip up|knock up|rustle up|dream up|cook up|draw up|"
                  r"show off) "
                  r"(?=(an?|the|my|our|some)\b)"), "show "),
    (compile_form(r"^(about|regarding|concerning) (?=(the|my|our) [\w -]{1,40}[:,])"), ""),
    (compile_form(r"(?<!\w)(?P<q>q[1-4])/(?=20\d\d(?!\w))"), r"\g<q> "),
    (compile_form(r"(?<=\w )(((that|which) (is|was) )?(made|meant|done|designed|supposed|intended) "
                  r"to (resemble|look like)|reminiscent of|((that|which) )?(comes?|came|coming|"
                  r"turns?|turned|ends?|ended) (out|up) looking like|((that|which) (bears|has) |"
                  r"bearing )an? ([\w-]+ )?resemblance to)(?=\s\w)"), "that looks like"),
    (compile_form(r"(?<=\w )(fed|raised|brought up|schooled|reared) (on|with)(?= ([\w-]+ ){0,3}"
                  r"(images?|pictures?|photos?|photographs?|shots?|snaps|snapshots?|footage)\b)"),
     "trained on"),
    (compile_form(r"(?<=\bone )from (my|our) session (?=(yesterday|today|last|this|on|in)\b)"),
     "I used "),
    (compile_form(r"(?<![\w-])(dark-?ish|(very|rather|quite) dark)(?=[ -](blue|purple|green|red|"
                  r"pink|brown|yellow|orange|gr[ae]y)\b)"), "dark"),
    (compile_form(r"(?<![\w-])(pastel|light-?ish|pale-?ish|palish|(very|rather|quite) (light|pale)|"
                  r"washed-out)(?=[ -](blue|purple|green|pink|brown|yellow|orange|gr[ae]y)\b)"),
     "light"),
    (compile_form(rf"(?<![\w-])(?P<a>{_MONTHS})-to-(?P<b>{_MONTHS})(?![\w-])"),
     r"\g<a> to \g<b>"),
    (compile_form(r"(?<!\w)(?P<v>trained|learned|learnt|taught|happened|took place) somewhere "
                  r"(?=[a-z]+( and [a-z]+)?( ?$| ?[,.;)]))"), r"\g<v> where it is "),
    (compile_form(r"(?<!\w)(?P<x>cave(rn)?) underground(?!\w)"), r"\g<x>"),
    (compile_form(r"(?<=\bin )more or less(?= (red|orange|yellow|green|blue|"
                  r"purple|pink|brown|black|white|gr[ae]y)\b)"), ""),
    (compile_form(r"((?<=\bin )|(?<=\bwith )|(?<=\bwearing ))some (sort|kind|type) of (?=\w)"), ""),
    (compile_form(r"(?<=\w) of some (sort|kind|type|description)(?!\w)"), ""),
    (compile_form(r"(?<=\binto a )shot(?= (in|on|at|by|near|inside|under|beside)\b)"), "picture"),
    (compile_form(r"(?<!\w)(mug|t-?shirt|tee|tote|tote bag|cushion|phone case|canvas|wall|giclee|"
                  r"fine art|fridge magnet|tea towel) print(?= of\b)"), "print"),
    (compile_form(rf"(^|(?<=[.;,!?] ))never(?= {_THE_ONE}(?!\w))"), "not"),
    (compile_form(rf"(?<!\w)leaving (?P<x>{_THE_ONE}) (aside|out)(?!\w| (in|on|at))"),
     r"not \g<x>"),
    (compile_form(r"(?<=\blike )something (out of|from) (?=(an?|the)\b)"), ""),
    (compile_form(r"(?<=, )all of it (?=like (an?|the)\b)"), ""),
    (compile_form(r"(?<=\w)( (at some (point|stage|time)|sometime|some time))(?= (last|this|in|"
                  r"during|on|yesterday|since|before|after)\b)"), ""),
    (compile_form(r"((?<=\bi\s)|(?<=\bwe\s))had (in use|running|on the go|out)(?!\w)"), "used"),
    (compile_form(r"(?<!\w)(whose|its) ((main|overall) )?colou?r (is|being)(?=\s\w)"), "that is"),
    (compile_form(r"(?<!\w)with (?P<x>[\w-]+( [\w-]+)?) as (its|the) ((main|overall) )?"
                  r"colou?r(?!\w)"), r"in \g<x>"),
    (compile_form(r"(?<!\w)((recogni[sz]able|identifiable|distinguished) by|"
                  r"((that|which) )?(you|we|i|one) can (tell|recogni[sz]e|identify|spot) (it )?by|"
                  r"complete with|(that|which) sports)(?=\s\w)"), "with"),
    (compile_form(r"(?<=,\s)featuring(?=\s(an?|the|its|two|some)\b)"), "with"),
    (compile_form(r"(?<=\w )in (high|good|great|the best of) spirits(?!\w)(?! of\b)"),
     "that is cheerful"),
    (compile_form(r"(?<=\w )(in low spirits|down in the (dumps|mouth))(?!\w)(?! of\b)"),
     "that is sad"),
    (compile_form(r"(?<=\w )(about|ready) to (nod|doze|drop) off(?!\w)"), "that is sleepy"),
    (compile_form(r"(?<=\w )(?<!covered )((that|who|which) (is|are) )?(all )?in (floods of )?tears"
                  r"(?!\w)(?! of\b)"), "that is crying"),
    (compile_form(r"(?<=\w) side by side(?!\w)"), ""),
    (compile_form(r"(?<!\w)one (step |version |number |build |release )?(on|up|further|further on|"
                  r"along|ahead|higher|later|newer) from (?=(v|ver|version|number|build|release|#|"
                  r"iteration|rev)\b[. ]{0,2}\d)"), "the one right after "),
    (compile_form(r"(?<!\w)one (step |version |number |build |release )?(back|down|before|earlier|"
                  r"lower|older) from (?=(v|ver|version|number|build|release|#|iteration|rev)\b"
                  r"[. ]{0,2}\d)"), "the one right before "),
    (compile_form(r"(?<=\w )((that|which) (is|was) )?(described|listed|tagged|labell?ed) as "
                  r"(?=[a-z])(?!(v|version|number)\b)"), "that is "),
    (compile_form(r"(?<!\w)(?P<v>trained|taught|photographed|shot|training) (up )?(under|beneath) "
                  r"the (roof|rafters|eaves)(?!\w)(?! of\b)"), r"\g<v> in the attic"),
    (compile_form(r"(?<=, )also (?=(wearing|with|having|holding|carrying)\b)"), "the one "),
    (compile_form(r"(?<=\w) (we|i) (have|own|keep)(?= (with|wearing|(?!coming|going)\w{3,}ing (in|on|"
                  r"at|up|down|by|an?|the|its|his|her|under|with|off|like|upright|still|alone))\b)"), ", the one"),
    (compile_form(r"(?<=\w )the wrong way (up|round)(?!\w)"), "that is upside-down"),
    (compile_form(r"(?<=\w)(, | )(i|we) (think|believe|guess|reckon|suppose)"
                  r"(?= ?$| ?[.!?]| ?, (in|on|at|by|under|beside|next|inside|near|please)\b)"), ""),
    (compile_form(r"(?<=\w )(photographed|shot|pictured|captured|snapped) (?P<x>(in|on|at|by|near|"
                  r"under|beside|inside|outside|around|round) [\w' -]{3,40}?) for (the )?training"
                  r"(?!\w)"), r"trained \g<x>"),
    (compile_form(r"^(is there )?any (chance|hope) of(?=\s\w)"), "show me"),
    (compile_form(r"(?<!\w)(no|none) other than(?= (the|my|our|number|version)\b)"), "only"),
)  # fmt: skip
"""Words that are said for others which are read: "I'm after the", "at some point last week"."""
_PHOTOS = "(pictures|photos|images|shots|photographs)"
_SAID_AROUND: tuple[tuple[re.Pattern[str], dict[str, str]], ...] = (
    (compile_form(r"^(?P<fed>(we|i) ((had|have) )?(fed|trained|taught|tuned)) (one|an?|the|our|my) "
                  rf"[\w-]+( [\w-]+)? (?P<on>with|from|on) (the )?{_PHOTOS} of [\w' -]{{2,40}}"
                  r"(?P<again>[.:;,!] ?(use )?(that|this|it|the same)( one)?)"
                  r"(?= ?[,.;:!?]| ?$| (in|on|at|by|under|inside|next|beside|near|please)\b)"),
     {"fed": "use", "on": "trained on", "again": ","}),
    (compile_form(r"^(i|we)( (fancy|feel like|want|need|would like|would love|prefer|are after|"
                  r"am after)|'d like|'d love|'m after)( having| to see)? "
                  r"((?! (i|we|you|that|which|who)\b)[\w' -]){4,60}?"
                  r"(?<!ed)(?<!from)(?<!earlier)(?<!using)(?<!made)(?<!built)(?<!done)(?<!sent)"
                  r"(?<!run)(?<!on)(?<!of)(?<!by)(?<!since)(?<!until)(?<!before)"
                  r"(?P<today> today)(?= ?[,.;:!?]| ?$)"), {"today": ""}),
    (compile_form(r"(?<!\w)(trained|taught|photographed) (in|at|on|near|under|beside|inside|"
                  r"outside|around|among|with) [\w' -]{3,30}?"
                  r"(?P<but>(, )?(but|and|though|yet) (not|never))"
                  r"(?= (in|at|on|by) (the|an?)\b)"
                  r"(?! (in|on) (the|an?) [\w -]{0,30}\b(style|look|manner|way|fashion)\b)"),
     {"but": ", not trained"}),
    (compile_form(r"(?<!\w)(?P<i>(i|we) ((only|just) )?(ever )?used (only |just )?)(one|an?) "
                  r"[\w-]+( [\w-]+)? (?P<once>((just|only) )?(a single time|the once)|"
                  r"(just|only) once)(?!\w)"), {"i": "", "once": "I used only once"}),
    (compile_form(r"(?<!\w)(?P<i>(i|we) (((only|just) (ever )?|ever )used|used (only|just)) )"
                  r"(one|an?) [\w-]+( [\w-]+)? (?P<once>once)(?!\w)(?! (a|an|per|every|upon|"
                  r"before|in|on|at|last|this)\b)"), {"i": "", "once": "I used only once"}),
)  # fmt: skip
"""The same around what is asked for, which stays: "I fancy the kettle | today |"."""
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
    for pattern, plain in _SAID_ELSE:
        changes += [(Span(*m.span()), m.expand(plain)) for m in pattern.finditer(lowered)]
    for pattern, parts in _SAID_AROUND:
        for match in pattern.finditer(lowered):
            changes += [(Span(*match.span(part)), said) for part, said in parts.items()]
    for match in _MIX.finditer(lowered):
        other = is_look(match["first"]) or is_look(match["other"])
        if is_look(match["one"]) and other:
            changes.append((Span(*match.span("here")), "both "))
    for match in _LAST_TIME.finditer(lowered):
        if match["not"] is None and _LIKENED.isdisjoint(match["what"].split()):
            changes.append((Span(*match.span("same")), "" if match["what"] else "one "))
            changes.append((Span(*match.span("as")), "I used last"))
    if any(word.endswith("s") and is_subject(word) for word in re.findall(r"[\w'-]+", lowered)):
        changes += [(Span(*match.span("here")), "one") for match in _PAIR.finditer(lowered)]
    changes += [(Span(*m.span()), m["colour"]) for m in _COLOURED.finditer(lowered)]
    changes += similes(lowered, is_subject)
    for pattern in (_DO_WE_HAVE, _IN_COLOUR):
        changes += [(Span(*match.span("here")), "") for match in pattern.finditer(lowered)]
    for match in _1ST.finditer(lowered):
        if _leads_to_what_is_asked(lowered, match.end(), is_subject):
            changes.append((Span(*match.span("here")), "first"))
    spelled = [rf"(?<!\w){re.escape(shadow(name))}(?!\w)" for name in names]
    named = [Span(*m.span()) for name in spelled for m in re.finditer(name, lowered)]
    return with_changes(text, {c for c in changes if not any(c[0].meets(name) for name in named)})


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
