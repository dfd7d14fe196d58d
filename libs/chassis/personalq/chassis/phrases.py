"""A description cut into the phrases that speak of its subject.

Check-in compares the words of a phrase, the catalog embeds each phrase: one vector of a whole text
hardly knows that a spout is chipped. What a description says of the training and of the look is
left out; tags say that.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_SENTENCE = re.compile(r"(?<![.;:/|!?])[.;:/|!?]+(?:\s|$)|\s[/|–—]\s|[()\n]")
_PIECE = re.compile(
    r"\b(?:(?:complete|shown|(?:that\s+|which\s+)?comes(?:\s+\w+ed)?|painted|drawn|made|seen)\s+with|with|(?:seen\s+|shown\s+)?wearing|"
    r"(?<!-)and(?!-)|having|holding(?:\s+(?:out|up))?|carrying|featuring|(?:(?:that|which|who)\s+)?has|plus|look\s+(?:out\s+)?for|and\s+all|never\s+(?:seen\s+)?without|you\s+can\s+(?:always\s+)?see|"
    r"always\s+has|(?:recogni[sz]able|identified|identifiable)\s+by|(?:photographed|pictured|shown|seen)\s+alongside|(?:(?:is|are)\s+)?easy\s+to\s+(?:spot|tell|recogni[sz]e)\s+(?:by|from|thanks\s+to)|you\s+can\s+tell\s+(?:it\s+)?by|(?:notable|known)\s+for|"
    r"together\s+with|showing|(?:sporting|boasting)(?=\s+(?:an?|the|its|his|her|their|one|two)\s)|(?:included|attached)(?=\s*$))\b",
    re.IGNORECASE,
)
# "Red and white striped" is one look, not two things.
_COLOUR = (
    r"(?:red|orange|yellow|green|teal|blue|purple|pink|brown|black|white|gr[ae]y|gold|silver|cream"
    r"|tan)"
)
_ANY_COLOUR = (
    rf"(?:{_COLOUR}|coral|crimson|scarlet|maroon|burgundy|rust|copper|amber|mustard|lemon|lime|mint|olive|"
    r"emerald|jade|turquoise|aqua|cyan|navy|cobalt|azure|indigo|violet|lavender|lilac|plum|mauve|"
    r"magenta|fuchsia|rose|salmon|peach|apricot|ivory|beige|khaki|charcoal|slate|ash|ebony|jet|onyx|"
    r"bronze|chestnut|chocolate|caramel|ochre|terracotta|sand|ruby|sapphire|tangerine|fawn|blush|brindle|brass|natural)"
)
_TWO_COLOURS = re.compile(rf"\b({_COLOUR})\s+and\s+(?={_COLOUR}\b)", re.IGNORECASE)
# What only leads to the subject: "a claymation checkpoint of | a corgi", "trained on library
# pictures of | an owl". Only before an article: "trained on pictures of meadows" names places.
_LEAD = re.compile(
    r"^\s*(?:(?:[\w'’-]+\s+){0,5}(?:checkpoint|lora|model|version|take|rendition|study|adapter|embedding)\s+"
    r"(?:(?:that|which)\s+)?(?:of|on|for|knows|learns|learnt|learned|shows|draws|depicts|captures)|"
    r"(?:trained|fine-?\s?tuned|tuned|learn(?:ed|t|s)|taught)\s+(?:on|with|from)\s+(?:[\w'’-]+\s+){0,6}"
    r"(?:pictures|photos|photographs|images|shots|examples|samples)\s+of)\s+"
    r"(?=(?:an?|my|our|one|this)\s)|^\s*(?:this(?:\s+one)?\s+is|this\s+one\s+shows|that\s+is\s+how\s+you\s+know|you\s+get)\s+"
    r"(?=(?:an?|the|my|our|one|this)\s)|^\s*this\s+"
    r"(?!look|style|set|version|model|picture|photo|image|checkpoint|lora)[\w'’-]+\s+is\s+(?=an?\s[\w'’-]+\s+(?!(?:from|for|to|of)\b)[\w'’-])|"
    r"^\s*(?:here(?:['’]s|\s+is|\s+are)|picture)\s+(?=(?:an?|the|my|our|one|some)\s)|^\s*(?:previews|samples)\s+show\s+|"
    r"^\s*(?:(?:reference|source|training|sample)\s+)?(?:pictures|photos|images|shots)\s+of\s+"
    r"(?=(?:an?|the|my|our|one)\s)|^\s*all\s+of\s+(?=the\s+same\s)|"
    r"^\s*(?:an?|the|this)\s+(?:\w+\s+)?(?:set|series|collection|batch|handful)\s+of\s+"
    r"(?:pictures|photos|photographs|images|shots)\s+(?:of|showing|that\s+shows?)\s+(?=(?:an?|the|my|our|one)\s)|"
    r"^\s*personali[sz]ed\s+(?:(?:on|for|from|with)\s+(?=(?:an?|the|my|our|one)\s))?(?=[\w-]+\s)|"
    r"^\s*note\s+(?!pad|book|card)(?=[\w'’-]+\s+[\w'’-]+)",
    re.IGNORECASE,
)
# "A pug whose colour is brindle", "a kite, colour mint".
_WHOSE_COLOUR = re.compile(
    r"^\s*(an?|the|my|our|one)\s+((?:[\w'’-]+\s+){1,4})(?:whose\s+colou?r\s+is|colou?red)\s+"
    r"([\w'’-]+(?:\s+(?!with\b|and\b)[\w'’-]+)?)\s*(?=$|,|\bwith\b|\band\b)",
    re.IGNORECASE,
)
# "Our dragon, coral all over", "black clothes from head to toe": the subject's own colour.
_ALL_OVER = re.compile(
    rf"^\s*(?:(an?|the|my|our|one|this)\s+([^,]{{1,60}}),\s*((?:[\w'’]+[\s-]+)?{_ANY_COLOUR})(?:\s+clothes)?|"
    rf"((?:[\w'’]+[\s-]+)?{_ANY_COLOUR}))\s+"
    r"(?:all\s+over|from\s+head\s+to\s+(?:toe|foot|tail)|from\s+top\s+to\s+bottom)\s*(?=$|,)",
    re.IGNORECASE,
)
# "Our ash scarf, supporter's kind", "personal owl checkpoint: barn type".
_KIND = re.compile(
    r"^\s*((?:an?|the|my|our|one|this)\s+(?:[\w'’-]+\s+){0,4})([\w'’-]+),\s*"
    r"((?:[\w'’-]+\s+){0,2}[\w'’-]+)\s+(?:kind|type|variety)\s*(?=$|,|\s(?:together|with)\b)",
    re.IGNORECASE,
)
_PERSONAL = re.compile(
    r"^\s*personal(?:i[sz]ed)?\s+((?:[\w'’-]+\s+){1,3}?)(?:checkpoint|lora|model)\s*:\s*"
    r"((?:[\w'’-]+\s+){1,3}?)(?:kind|type|variety)\s*(?=$|[,.;])",
    re.IGNORECASE,
)
_NAMED_COLOUR = re.compile(r"^\s*colou?r\s+(?=[\w'’-]+(?:\s[\w'’-]+)?$)", re.IGNORECASE)
# "Fine-tuned on | a ginger corgi; note a name tag": what opens a description is the subject.
_OPENING = re.compile(
    r"^\s*(?:(?:trained|fine-?\s?tuned|tuned)\s+(?:on|from|with)|(?:made|personali[sz]ed)\s+for)\s+"
    r"(?=(?:an?|my|our|one)\s)(?!(?:an?|my|our|one)\s+(?:[\w'’-]+\s+){0,3}"
    r"(?:pictures?|photos?|images?|set|dataset|data|shoot|session|scenes?)\b)",
    re.IGNORECASE,
)
# "The stoneware teapot here is slate", "this chair is navy": the subject and what it is like.
_IS_LIKE = re.compile(
    r"^\s*(?:the\s+(?=(?:[\w'’-]+\s+){1,4}here\s)|this\s+(?!look|style|set|version|model|picture|checkpoint))((?:(?!here\b)[\w'’-]+\s+){1,4})"
    r"(?:here\s+)?is\s+((?!(?:an?|the|in|on|from|of|all|not|\w+ing)\b)"
    r"[\w'’-]+(?:\s+(?!with\b|and\b|has\b)[\w'’-]+){0,2})\s*(?=$|,|\bwith\b|\band\b)",
    re.IGNORECASE,
)
# "A fishbowl helmet sets this astronaut apart", "a patch sets off this kite".
_APART = re.compile(
    r"^\s*(\S.*?) (?:sets? (?:this|the) (\S.*) apart|sets? off (?:this|an?) (\S.*))\s*$",
    re.IGNORECASE,
)
# "The lance stays visible in most shots".
_VISIBLE = re.compile(
    r"(?<!\s)\s+(?:stays?|remains?|(?:is|are)(?:\s+always)?)\s+visible"
    r"(?:\s+(?:in|on)\s+(?:most|all|many|every)(?:\s+of\s+the)?\s+\w+)?\s*$",
    re.IGNORECASE,
)
# "The material is wood panelling", "the whole thing looks like foil", "mostly felt textures".
_MATERIAL = re.compile(
    r"^\s*(?:the\s+)?(?:material|surface|texture|whole\s+thing)\s+"
    r"(?:is|looks?\s+like|reads?\s+as|feels?\s+like|resembles)\s+"
    r"(?!(?:it|all|as|not|unknown|unclear)\b)(?=[\w'’-]+(?:\s+(?!with\b)[\w'’-]+){0,3}\s*(?:$|,|with\b))",
    re.IGNORECASE,
)
_TEXTURES = re.compile(
    r"^\s*mostly\s+((?:[\w'’-]+\s+){0,2}[\w'’-]+)\s+textures?\s*$", re.IGNORECASE
)
# What a description says of the training or of the look, to the end of its sentence.
_TRAINING = re.compile(
    r"(?:\b(?:was|were|is|are)\s+)?\b(?:(?:re)?trained|training\s+(?:on|with|data|sets?|images|pictures|photos|scenes|shots|samples|"
    r"examples|material)|(?:reference|source)\s+(?:images|pictures|photos|shots|material)|"
    r"fine-?\s?tuned|tuned\s+on|learn(?:ed|t)\s+(?:from|on|in|with)|"
    r"(?:pictures|photos|images|shots|references)\s+"
    r"(?:came|come|were|are|from|set\s+in|taken)|everything\s+it\s+(?:saw|knows|learn(?:ed|t))|"
    r"(?:works?|does|do|looks?|is)\s+(?:best|good|great)\s+(?:for|at|with)|optimi[sz]ed|shows\s+the\s+subject|"
    r"(?:outputs?|results?)\s+(?:has|have|is|are|comes?|looks?)|"
    r"made\s+for(?=\s+(?:[\w'’-]+\s+){1,4}(?:pictures|images|renders|photos|art)\b)|"
    r"(?<!\w)one\s+of\s+the\s+(?:[\w'’-]+\s+){1,3}(?:series|line|family|collection|range)$|"
    r"version\s+\d+|v\d+|no\s+particular|nothing\s+(?:special|particular|else))\b.*$"
    r"|\b(?!(?:rendered|shown)\s+in\s+[\w'’-]+\s*(?:,|$|with\b|and\b))"
    r"(?:rendered|drawn|painted|printed|made|modell?ed|shown|depicted|"
    r"done|sculpted|shot|illustrated|sketched|created)\s+(?:in|as|like)\b.*?(?=$|,\s+"
    r"(?:(?:and|it\s+is|shown|seen|complete)\s+)*(?:with|wearing|holding|has|having|featuring)\s"
    r"(?!an?\s[^.]*\b(?:mood|finish|look|feel)\b))"
    r"|(?:\b(?:was|were|is|are)\s+)?\b(?:captured|photographed|shot|filmed|pictured|seen)\s+(?:out\s+)?"
    r"(?:in|at|on|by|near|under|inside|against|amid|outside|along|among)\b[^,]*?(?=,|$|\s(?:(?:and\s+)?(?:with|wearing|holding|has|having|featuring)|plus)\b)"
    r"|(?<=\w)\s+of\s+the\s+(?:series|collection)(?=\s*(?:$|,))"
    r"|(?:^|(?<=,))\s*(?:it\s+)?(?:finished|comes?\s+out|turns?\s+out)\s+as\b.*$"
    r"|^\s*(?:it\s+)?(?:best|good)\s+(?:for|at|with)\b[^,]*|\bhas\s+the\s+look\s+of\b[^,]*"
    r"|\bin\s+(?:[\w'’-]+\s+){0,3}(?:inks|washes|geometry|pixels|brush\s?strokes|line\s?work|"
    r"oil\s+paints?|pencil\s+lines|pixel\s+art|line\s+art)$"
    r"|\bin\s+(?:an?|the)\s+\w+(?:[\s-]\w+)?\s+(?:style|look|manner|way|finish)\b.*$|\bin\s+\w+\s+style\b.*$",
    re.IGNORECASE,
)
# A clause that is nothing but the name of a look or of places: "Low poly look", "library scenes".
# Behind "with" the same words may be the subject's: a vase with hunting scenes.
_ONLY_A_LOOK = re.compile(
    r"^(?!(?:an?|the|his|her|its|their)\s)(?:[\w'’-]+\s+){1,3}"
    r"(?:look|style|aesthetics?|scenes|settings|surroundings|backgrounds|backdrops)(?:\s+throughout)?$",
    re.IGNORECASE,
)
_KEY = re.compile(r"(?<!\w)\w+=(?=\w)")  # "kind=denim jacket"
_BLANKS = re.compile(r"[^\S\n]+")
_SPACES = re.compile(r"\s+")
_WORD = re.compile(r"\w+")

# Words that say nothing of a subject, alone or beside the words of a tag: "in a snowy setting".
_LINKS = """
    a all also always am an and are as at be been both by come comes each entirely every for from he
    her his in i into is it its just mainly many mostly of on only or our over she some subject
    that the details their them there these they this those to under very was we were which with you
"""
_OF_TRAINING = """
    background backgrounds backdrop backdrops captured checkpoint data dataset datasets environment
    environments example examples image images learned learnt location locations lora material
    photo photographed photographs photos picture pictures place places sample samples scene scenery
    scenes set setting settings shot shots source sources surroundings taken taught trained
    training tuned
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
    text = _BLANKS.sub(" ", description)  # many of them would be gone through again and again
    folded = text.casefold()
    for name in names:
        if name and name.casefold() in folded:  # seldom; every pattern has to be compiled
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ", text, flags=re.IGNORECASE)
    text = _PERSONAL.sub(r"a \2\1", _OPENING.sub("", text))
    known = [frozenset(_words(tag)) for tag in tags]
    return tuple(
        phrase
        for sentence in _SENTENCE.split(text)
        for clause in _TRAINING.sub("", _said_of_it(sentence or "")).split(",")
        if not _is_only_a_look(_tidy(clause))
        for phrase in map(_tidy, _PIECE.split(_NAMED_COLOUR.sub("", clause)))
        if _tells(phrase, known)
    )


def _said_of_it(sentence: str) -> str:
    """A sentence without what only leads to the subject, which comes after what it is like."""
    told = _TWO_COLOURS.sub(r"\1-and-", _LEAD.sub("", _KEY.sub("", sentence)))
    told = _VISIBLE.sub("", _APART.sub(_set_apart, told))
    told = _TEXTURES.sub(r"\1", _MATERIAL.sub("", told))
    told = _ALL_OVER.sub(lambda found: " ".join(filter(None, found.group(1, 3, 2, 4))), told)
    told = _WHOSE_COLOUR.sub(lambda found: f"{found[1]} {found[3]} {found[2]}", told)
    told = _KIND.sub(r"\1\3 \2", told)
    return _IS_LIKE.sub(lambda found: f"{found[2].strip()} {found[1]}", told)


def _set_apart(found: re.Match[str]) -> str:
    thing, this = found[1], found[2] or found[3]
    subject, comma, rest = this.partition(",")  # "a belt sets off this parka, made of denim"
    return f"{subject} with {thing}{comma}{rest}"


def _is_only_a_look(clause: str) -> bool:
    return bool(_ONLY_A_LOOK.match(clause)) and not _PIECE.search(clause)


def _tells(phrase: str, known: Sequence[frozenset[str]]) -> bool:
    """Whether a phrase has words beside those that say nothing and those of tags."""
    words = frozenset(_words(phrase))
    return bool(words.difference(_SAYS_NOTHING, *(tag for tag in known if tag <= words)))


def _tidy(text: str) -> str:
    return _SPACES.sub(" ", text).strip(" ,-")


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
