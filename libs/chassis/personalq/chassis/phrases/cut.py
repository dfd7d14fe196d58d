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
from personalq.chassis.phrases.word_order import kind_first, subject_last

_SENTENCE = compile_form(r"(?<![.;:/|!?])[.;:/|!?]+(\s|$)|\s[/|–—]\s|(?<!\d)\s-\s|[()\n]")
_PIECE = compiled(
    r"\b"
    + form(
        "(it )?appears with",
        "(it was )?(complete|detailed|shown|pictured|photographed|posed|painted|drawn|made|seen) "
        "with",
        r"((except|only) that it |that |which )?comes( \w+ed)? with",
        "(the )?(only|one) (extra|accessory|detail|addition) is",
        r"its (mark|sign|hallmark|trademark) is(?= (an?|the|two)\s)",
        r"(?<!\w )details include",
        "(this time )?with",
        "(seen |shown )?wearing",
        "(and )?((it|he|she|that|which|who) )?is shown"
        r"(?! (in|as|like|towards?|on|at|from|by|with|against|near)\b)",
        "and so (does|do)",
        "(?<!-)and(?!-)",
        "as well as",
        "having",
        "holding( (out|up))?",
        "carrying",
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
        "(?<!that )(?<!which )(?<!who )(carries|wears)",
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
    r"((?<![^\W_])((main|base|overall) )?|(?P<of>\b[a-z]+)_)colou?r ?[:=] ?(?=\w)"
)
_KEYED = re.compile(
    r"(?P<before>(?:^|[|;,/.:])[ \t]?)(?:- )?"
    r"(?:kind|type|subject|(?:learn(?:ed|t) )?concept|accessor(?:y|ies)|extras?|look|places?|"
    r"material|outfit|setting|(?:state or )?pose|"
    r"(?:pics|photos|images|pictures) from|captions?|breed|props?|details?|condition|distinctive|"
    r"(?:distinguishing )?(?:features?|marks?)|distinguishing|notable|results?|"
    r"also (?:visible|to be seen)|(?:main|key) (?:traits|features|details)|"
    r"personali[sz]ed (?:checkpoint|model|lora)) ?:(?!:) ?",
    re.IGNORECASE | re.MULTILINE,
)
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
_BULLETS = re.compile(r"^-[ \t]", re.MULTILINE)
# Where nothing else is left: "fine-tuned using a shoot that featured one dotted mug, on a hill".
_THINGS = compiled(
    r"\b(?:an?|one|our|my) [\w'’-].*?"
    r"(?=[,.;:()]| (?:with|and|that|which|in|on|at|by|for|from|carrying|wearing|has|plus)\b|$)"
)
_WITH = re.compile(r"(?<=\s)w/ ?(?=\w)(?!o\b|out\b|c\b)")
_BLANKS = re.compile(r"[^\S\n]+")
_SPACES = compile_form(" ")
_WORD = re.compile(r"\w+")

# Words that say nothing of a subject, alone or beside the words of a tag: "in a snowy setting".
_LINKS = """
    a all also always am an and are as at be been best both by color colour come comes detail
    details each entirely every everything extra extras fancy favorite favourite for from good got
    he her here his i in into is it its just kind mainly many mostly notes nothing of on one only or
    our over personal self she shows some subject that the their them there these they this those to
    throughout under very was we were what which with work works yes you
"""
_OF_TRAINING = """
    background backgrounds backdrop backdrops captured checkpoint data dataset datasets environment
    environments example examples image images learned learnt location locations lora material
    photo photographed photographs photos picture pictured pictures place places sample samples
    scene scenery scenes set setting settings shot shots source sources surroundings taken taught
    trained training tuned used
"""
_OF_LOOKS = """
    aesthetic drawn feel finish illustrated look looks manner painted render rendered rendering
    rendition sketched style styled stylised stylized take treatment version vibe
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
    text = _KEYED.sub(r"\g<before>", _DATASET.sub("", _KEYED_COLOUR.sub(_coloured, text)))
    text = _IT_IS_BOTH.sub(r"\g<it> is \g<one>, it is \g<other>", text)
    text = _A_PIECE.sub(r"made of \g<stuff>", text)
    text = kind_first(without_opening(text))
    known = [frozenset(_words(tag)) for tag in tags]
    found = tuple(
        phrase
        for sentence in _SENTENCE.split(text)
        for phrase in _phrases_in(sentence or "")
        if _tells(phrase, known)
    )
    return found or tuple(
        phrase for phrase in map(_tidy, _THINGS.findall(text)) if _tells(phrase, known)
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


def _tells(phrase: str, known: Sequence[frozenset[str]]) -> bool:
    """Whether a phrase has words beside those that say nothing and those of tags."""
    words = frozenset(_words(phrase))
    return bool(words.difference(_SAYS_NOTHING, *(tag for tag in known if tag <= words)))


def _tidy(text: str) -> str:
    return _SPACES.sub(" ", text).strip(" ,-")


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
