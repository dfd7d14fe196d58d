"""A description cut into the phrases that speak of its subject.

Check-in compares the words of a phrase, the catalog embeds each phrase: one vector of a whole text
hardly knows that a spout is chipped. What a description says of the training and of the look is
left out; tags say that.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from personalq.chassis.forms import compile_form, form
from personalq.chassis.phrases.leads import subject_alone, without_opening
from personalq.chassis.phrases.patterns import WORD, compiled
from personalq.chassis.phrases.training import is_only_a_look, without_training
from personalq.chassis.phrases.word_order import is_shade, kind_first, subject_last

_SENTENCE = compile_form(r"(?<![.;:/|!?])[.;:/|!?]+(\s|$)|\s[/|–—]\s|(?<!\d)\s-\s|[()\n]")
_PIECE = compiled(
    r"(?<!-)\b"
    + form(
        "(it )?appears with",
        "(it was )?(complete|detailed|shown|pictured|photographed|posed|painted|drawn|made|seen) "
        "with",
        r"((except|only) that it |that |which |who )?comes( \w+ed)? with",
        "(the )?(only|one) (extra|accessory|detail|addition) is",
        r"its (mark|sign|hallmark|trademark) is(?= (an?|the|two)\s)",
        r"(?<!\w )details include",
        "(and )?its (appearance|look) includes",
        "(among )?the details (there (is|are)|include)",
        "(this time )?with",
        "(seen |shown )?wearing",
        "(and )?((it|he|she|that|which|who) )?is shown"
        r"(?! (in|as|like|towards?|on|at|from|by|with|against|near)\b)",
        "and so (does|do)",
        r"and (is|are)(?! (not|a|an|the|one|in|on|at|by|from|like|as|too|so)\b)(?= )",
        r"and add(?= (an?|the|some|two|three|[a-z]+s)\s?)",
        "(?<!-)and(?!-)",
        "as well as",
        "having",
        "holding( (out|up))?",
        r"(?<!\ba )(?<!\bthe )(?<!\bits )carrying",
        "featuring",
        "((that|which|who) )?has",
        "plus",
        "look (out )?for",
        "and all",
        "((that|which|who) )?((is|are) )?never "
        "((is |gets )?(seen|shown|pictured|drawn) |appears |comes |goes (about |out )?|"
        "leaves home |travels |found )?without",
        "you(['’]ll| can| will)? (always )?(see|get|find|notice|spot)",
        "always has",
        r"(that|which|who) stays(?= [a-z-]+ ?($|,| whatever\b))",
        "(recogni[sz]able|identified|identifiable) by",
        "(photographed|pictured|shown|seen) alongside",
        "((is|are) )?easy to (spot|tell|recogni[sz]e) (by|from|thanks to)",
        "you(['’]ll| can| will)? (always )?(tell|know|recogni[sz]e|spot) (it )?by",
        "(notable|known) for",
        "notable (is|are)",
        "(?<!that )(?<!which )(?<!who )belongs? to (it|him|her)(?= ?$)",
        "together with",
        "showing",
        r"(((?<=\band )|(?<!\w ))shows|including)"
        r"(?= (an?|the|its|his|her|some|two|three)\s)",
        "(?<!that )(?<!which )(?<!who )(carries|wears|brings)",
        r"(that|which|who) (carries|wears|holds)(?= (an?|its|his|her|two|three)\s)",
        "(also )?(equipped|fitted) with",
        "along with",
        r"(it|he|she)(['’]s| has) got(?= (an?|the|its|his|her)\s)",
        r"(sporting|boasting)(?= (an?|the|its|his|her|their|one|two)\s)",
        "(included|attached|too)(?= ?$)",
    )
    + r"\b"
)
# "A kite, colour mint", "all that can take colour is mint"
_NAMED_COLOUR = compiled(
    r"^ ?((its|the) colou?r is|its colou?r|(main )?colou?r|(all|everything)\s[^,]*\bcolou?r is) "
    rf"(?={WORD}(\s{WORD})? ?$)"
)
# "kind: church / colour: mint", {"outfit_color": "mint"}
_KEYED_COLOUR = compiled(
    r"((?<![^\W_])((main|base|overall) )?|(?P<of>\b[a-z]+)_)colou?r ?[:=] ?(?=\w)|"
    r"(?<!\w )\b(shade|paint|tint) ?: ?(?!(an?|the|its|his|her)\b)(?=\w)"
)
_COLOUR_KEYS = ("color", "colour", "shade", "paint", "tint")
_KEYED = re.compile(
    r"(?P<before>(?:^|[|;,/.:]|\s-)[ \t]?)(?:- )?"
    r"(?:kind|type|subject|(?:learn(?:ed|t) )?concept|accessor(?:y|ies)|extras?|look|places?|"
    r"(?:learning )?material|outfit|setting|(?:state or )?pose|traits?|items?|title|objects?|"
    r"add-?ons|(?:output )?medium|(?:(?:fine-?tuning|training) )?target|genre|domain|where|with it|"
    r"depicts|specs|art|product|includes|visual language|supporting cast|how|what|character|"
    r"(?:what|where|how) (?:it|he|she|this|we) \w+|worn(?: or carried)?|seen (?:in|at|on)|"
    r"(?:shot |training |photo )?(?:location|site|spot)|"
    r"(?:pics|photos|images|pictures) from|captions?|breed|props?|details?|condition|distinctive|"
    r"state of it|what sets (?:it|him|her|them) apart|(?:distinguishing )?(?:features?|marks?)|"
    r"distinguishing|notable|results?|"
    r"also (?:visible|to be seen)|(?:main|key) (?:traits|features|details)|"
    r"personali[sz]ed (?:checkpoint|model|lora)) ?:(?!:) ?",
    re.IGNORECASE | re.MULTILINE,
)
# "Colour jade, type chubby, props wheelbarrow, place snow": keys, where there are several
_BARE_KEY = re.compile(
    r"(?P<key>(?:^|[,;.] )(?:colou?r|type|kind|breed|extras?|props?|accessor(?:y|ies)|traits?|"
    r"subject|look|style|finish|place|setting|location|scene))(?= (?!is\b|of\b|and\b|to\b)\w)",
    re.IGNORECASE | re.MULTILINE,
)
_FIRST_KEY = re.compile(
    r"(?:^|[.;] )(?:colou?r|type|kind|breed|extras?|props?|clothes|outfit|subject|place) "
    r"(?!is\b|of\b|and\b|to\b)\w[^,;.]*[,;.] "
    r"(?:colou?r|type|kind|breed|extras?|props?|accessor|trait|look|style|place|setting)",
    re.IGNORECASE,
)
# "target = cargo bike; with = a bell"
_EQUALS = re.compile(r"(?:(?<=^)|(?<=[;,|\n])|(?<=[;,|] ))\w+(?: \w+)? = (?=\w)")
# "It is dusty and rose"
_IT_IS_BOTH = compiled(
    rf"\b(?P<it>it|this one) is (?P<one>{WORD}) and (?P<other>{WORD})(?= ?([.,;]|$))"
)
_A_PIECE = compiled(
    r"\bmade as an? (?P<stuff>wooden|glass|ceramic|porcelain|metal|steel|iron|cast[ -]iron|copper|"
    r"brass|bronze|tin|silver|gold|aluminium|aluminum|plastic|rubber|paper|cardboard|concrete|stone|"
    r"marble|clay|terracotta|leather|canvas|felt|wool|woollen|silk|denim|velvet|linen|cotton|fabric|"
    r"plush|knitted|crochet|bamboo|wicker|rattan|oak|pine|carbon|fib(re|er)glass) "
    r"(piece|object)(?= ?([.,;]|$))"
)
"""A stuff as the piece that is made of it: "made as a wooden piece"."""
_DATASET = re.compile(r"(?<!\w)dataset \w+_[\w-]+(?=\s)", re.IGNORECASE)
_QUOTED = re.compile(r"""[{:\[,]\s?["“]""")
"""A list of keys and values: {"kind": "slip-on"}."""
_MARKS = re.compile(r"[\"“”{}\[\]]")
_BULLETS = re.compile(r"^-[ \t]|^\[[^\]\n]{1,60}\] (?=\w)|(?<=, )\+ ?(?=\w)", re.MULTILINE)
# Where nothing else is left: "fine-tuned using a shoot that featured one dotted mug, on a hill".
_THINGS = compiled(
    r"\b(?:an?|one|our|my) [\w'’-].*?"
    r"(?=[,.;:()]| (?:with|and|that|which|in|on|at|by|for|from|carrying|wearing|has|plus)\b|$)"
)
_WITH = re.compile(r"(?<=\s)w/ ?(?=\w)(?!o\b|out\b|c\b)")
_BLANKS = re.compile(r"[^\S\n]+")
# "A strainer | up in the mountains", where a tag says the same
_SOMEWHERE = compiled(
    rf"(?<=\S)( (up|out|down|somewhere))? (in|on|at|by|near|around|as|like) ((the|an?) )?"
    rf"(?P<where>{WORD}( {WORD}){{0,2}})$"
)
# "Folded | as origami"
_ONLY_DONE = compiled(
    rf"^((it|this) (is|comes) )?((shown|cut|built|drawn|{WORD}ed)( (up|out|together))?|"
    "(bordering|verging)) ?$"
)
_A_PLACE = "(place|location|site|setting|background|backdrop)"
_TRAINING_PLACE = compiled(
    rf"\b(((one|two|three|four|several) )?{_A_PLACE}s? (of|for|in|while|during) training|"
    rf"training {_A_PLACE}s?)"
    r" ?:[^.;,|/\n]*"
)
_CREDIT = compiled(
    r"(?<!\w)((credits?|owner|author|maker|creator)( goes to)?|(made|trained|built) by) ?:"
    r"(?! ?(an?|one)\b)[^.,;|/\n]{1,40}(?=[.,;|/\n]|$)|"
    r"(?<=[/|]) ?by (studio \w+|(the )?[\w-]+ (team|desk|lab|studio|crew|guild|unit|shop|group))"
    r" ?(?=$|[/|\n])"
)
"""Whose it is, as a form has it: "Credit: Studio B", "/ by the press team"."""
_PLUS = re.compile(r"(?<=[a-z]{2})\+(?=[a-z]{2})")
"""Joins things: "features=frosted+rope around the neck"."""
_SPACES = compile_form(" ")
_WORD = re.compile(r"\w+")

# Words that say nothing of a subject, alone or beside the words of a tag: "in a snowy setting".
_LINKS = """
    a after again all also always am an and are around as at be been best both by color colour
    come comes detail details each else enough entirely ever every everyone everything extra
    extras fancy favorite favourite for from further get gets gives good got had has have he
    hello her here hi his i in into is it its just kind like mainly many me mostly no notes
    nothing now of on one only or otherwise our out over personal please s self she shows so
    some still subject that the their them then there these they think this those throughout to
    under up us very was we were what when where which who will with work works yes you your
"""
_OF_TRAINING = """
    ask backdrop backdrops background backgrounds bg built campaign campaigns captions
    captured checkpoint collected data dataset datasets during environment environments
    example examples fed file footage gathered image images input inputs knows learned learnt
    location locations lora material photo photograph photographed photographs photos picture
    pictured pictures place places reference references sample samples saw scene scenery
    scenes series session sessions set setting settings shot shots source sources surroundings
    taken taught trained training tuned use used using
"""
_OF_LOOKS = """
    aesthetic answers appearance drawn draws feel finish finished flavor flavour illustrated
    keep keeps kept leans look looks made makes manner output outputs painted paints real
    realistic render rendered rendering renders rendition result results shown sketched stays style
    styled stylised stylized take treatment turned turns version versions vibe
"""
_SAYS_NOTHING = frozenset(f"{_LINKS} {_OF_TRAINING} {_OF_LOOKS}".split())


def phrases_of(
    description: str, names: tuple[str, ...] = (), tags: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """The phrases of a description that speak of its subject, in order.

    Args:
        names: ids and triggers; left out wherever they stand.
        tags: what is known anyway, styles and places; a phrase that says no more is left out.
    """
    # many blanks would be gone through again and again
    text = _WITH.sub("with ", _BLANKS.sub(" ", _BULLETS.sub("", description)))
    text = _MARKS.sub("", text) if _QUOTED.search(text) else text
    folded = text.casefold()
    for name in names:
        if name and name.casefold() in folded:  # seldom; every pattern has to be compiled
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ", text, flags=re.IGNORECASE)
    if text.count(" = ") > 1:
        text = _EQUALS.sub("", text)
    if "training" in folded:
        text = _TRAINING_PLACE.sub(" ", text)
    if "+" in text and "=" in text:
        text = _PLUS.sub(", ", text)
    if "by " in folded or ":" in text:
        text = _CREDIT.sub(" ", text)
    if _FIRST_KEY.search(text):
        text = _BARE_KEY.sub(r"\g<key>:", text)
    if any(key in folded for key in _COLOUR_KEYS):
        text = _KEYED_COLOUR.sub(_coloured, text)
    if "dataset" in folded:
        text = _DATASET.sub("", text)
    if ":" in text:
        text = _KEYED.sub(r"\g<before>", text)
    text = _IT_IS_BOTH.sub(r"\g<it> is \g<one>, it is \g<other>", text)
    text = _A_PIECE.sub(r"made of \g<stuff>", text)
    text = kind_first(without_opening(text))
    known = [_stems(tag) for tag in tags]
    found = tuple(
        told
        for sentence in _SENTENCE.split(text)
        for phrase in _phrases_in(sentence or "")
        if (told := _told(phrase, known, folded))
    )
    return found or tuple(
        told
        for phrase in map(_tidy, _THINGS.findall(text))
        if (told := _told(phrase, known, folded))
    )


@lru_cache(maxsize=16384)  # what is said of the training is said alike of many cards
def _phrases_in(sentence: str) -> tuple[str, ...]:
    return tuple(
        phrase
        for clause in without_training(subject_last(subject_alone(sentence))).split(",")
        if not is_only_a_look(_tidy(clause)) or _PIECE.search(clause)
        for phrase in map(_tidy, _PIECE.split(_NAMED_COLOUR.sub("coloured ", clause)))
    )


def _coloured(key: re.Match[str]) -> str:
    return f", {key['of']} coloured " if key["of"] else "coloured "


def _told(phrase: str, known: Sequence[frozenset[str]], text: str) -> str:
    """A phrase without the place or look at its end that a tag says, and only it in the text.

    Nothing is left of one that has no words beside those that say nothing and those of tags.
    """
    words = frozenset(_words(phrase))
    telling = words - _SAYS_NOTHING
    if not telling:
        return ""
    stems = _stems(phrase)
    said = [tag for tag in known if tag <= stems]
    if not said:
        return phrase
    if not frozenset(map(_stem, telling)).difference(*said):
        return ""
    where = _SOMEWHERE.search(phrase)
    if not where or _stems(where["where"]) not in said or is_shade(where["where"]):
        return phrase
    if text.count(where["where"].casefold()) > 1:  # the place is told elsewhere
        return phrase
    before = _tidy(phrase[: where.start()])
    return "" if _ONLY_DONE.match(before) else _told(before, known, text)


def _tidy(text: str) -> str:
    return _SPACES.sub(" ", text).strip(" ,-")


@lru_cache(maxsize=16384)
def _stems(text: str) -> frozenset[str]:
    return frozenset(map(_stem, _words(text)))


def _stem(word: str) -> str:
    """A word regardless of plural."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and word[-2] not in "su" else word


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
