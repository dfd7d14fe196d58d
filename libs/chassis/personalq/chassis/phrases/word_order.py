"""What the subject is like, put before it: "our dragon, coral all over" is "our coral dragon"."""

from __future__ import annotations

import re
from collections.abc import Callable

from personalq.chassis.forms import form
from personalq.chassis.phrases.patterns import LOOKS, THE, THIS, TOLD_BY, WORD, compiled

_BASICS = (
    "red", "orange", "yellow", "green", "teal", "blue", "purple", "pink", "brown", "black", "white",
    "gray", "grey", "gold", "silver", "cream", "tan",
)  # fmt: skip
_BASIC = form(*_BASICS)
_COLOUR = form(
    _BASIC,
    "coral|crimson|scarlet|maroon|burgundy|rust|copper|amber|mustard|lemon|lime|mint|olive",
    "emerald|jade|turquoise|aqua|cyan|navy|cobalt|azure|indigo|violet|lavender|lilac|plum|mauve",
    "magenta|fuchsia|rose|salmon|peach|apricot|ivory|beige|khaki|charcoal|slate|ash|ebony|jet|onyx",
    "bronze|chestnut|chocolate|caramel|ochre|terracotta|sand|ruby|sapphire|tangerine|fawn|blush",
    "brindle|brass|natural|canary|alabaster",
)
_SHADE = rf"([\w'’]+~)?{_COLOUR}"
_ONLY_A_SHADE = compiled(f"^({_SHADE})$")
# "Red and white striped" is one look, not two things.
_TWO_COLOURS = compiled(rf"\b(?P<one>{_BASIC}) and (?={_BASIC}\b)")
# "A pug whose colour is brindle", "a kite coloured mint".
_WHOSE_COLOUR = compiled(
    f"^ ?(?P<the>{THE}) (?P<thing>({WORD} ){{1,4}})(whose ((main|overall) )?colou?r is|colou?red) "
    rf"(?P<colour>{WORD}( (?!with\b|and\b){WORD})?) ?(?=$|,|\bwith\b|\band\b)",
)
# "A gnome whose clothes are jade and who comes with a cane".
_WHOSE_CLOTHES = compiled(
    rf"\bwhose (clothes|outfit) (is|are) (?P<colour>{WORD}( (?!with\b|and\b){WORD})?)"
    r"(?= ?($|,|and\b))",
)
# "Jade is the colour, spiny the type".
_IS_THE_COLOUR = compiled(
    rf"^ ?(?P<colour>{WORD}( {WORD})?) is the colou?r, ?(?P<kind>({WORD} ){{1,3}}?)"
    "the (type|kind)(?= ?$)",
)
# "A rabbit, ash-grey in tone".
_IN_TONE = compiled(
    rf"(^|(?<=,)) ?(?P<colour>{_SHADE}) in (tone|hue|colou?r)( throughout)?(?= ?($|,))"
)
# "A leather, lilac armchair".
_TWO_BEFORE = compiled(
    rf"(^|(?<=,)) ?(?P<like>(an?|this) (?!{_COLOUR}){WORD}), ((?P<other>(?!{_COLOUR}){WORD}), )?"
    rf"(?={_SHADE} (?!(and|all|with|in|from)\s){WORD} (?!(with|and|over)\b){WORD})"
)
# "A singed, boxy, black robot", but not "a teddy, red scarf".
_LIKE = form(
    r"(?![\w'’]+-(trained|tuned|taught|shot|photographed)\b)[\w'’-]+(ed|ing|ous|ful|less|ish|al|ic|ive|like|shaped|looking|sized|worn|able)",
    r"(?!(teddy|pony|canary|bunny|puppy|kitty|baby|lady|fairy|ferry|lorry|donkey|monkey|turkey|"
    r"trolley|jersey|jelly|daisy|lily|cherry|berry|body|buggy|dolly|\w*berry)\b)[\w'’-]+y",
    "tin|metal|steel|iron|plastic|paper|cardboard|ceramic|glass|leather|wool|felt|denim|velvet|stone",
    "plaid|tartan|patchwork|floral|wooden|woollen|square-built|torn|worn|broken|bent|round|square",
    "camo|flower-print|[\\w'’]+-(caked|covered|stained|built|toed|print|heeled|haired)|faded|immaculate",
)
_ADJECTIVES = compiled(
    rf"(^|(?<=,)) ?(?P<like>(an?|this|one|our) {_LIKE}), ((?P<other>{_LIKE}), )?"
    rf"(?=({_SHADE}|{_LIKE}) (?!(and|all|with|in|from)\b){WORD})"
)
# "Green typewriter (office), …", "a teddy in coral (mohair), …".
_IN_BRACKETS = compiled(
    f"^ ?(?P<the>({THIS} )?)(?P<like>({WORD} ){{0,3}}?)(?P<thing>{WORD})(?P<in> in {_SHADE})? "
    f"\\((?![^)]*\\b({LOOKS}|style|look)\\b)"
    "(?P<kind>[a-z-]+( [a-z-]+)?)\\)(?=[,;])",
)
# "Our antique deckchair: burgundy all over".
_COLON_OVER = compiled(rf"(?<=\w): ?(?={WORD}( {WORD})? all over(?!\w))")
# "Our dragon, coral all over", "black clothes from head to toe": the subject's own colour.
_ALL_OVER = compiled(
    f"^ ?((?P<the>{THIS}) (?P<thing>[^,]{{1,60}}), ?(?P<its>{_SHADE})( clothes)?|"
    f"(?P<colour>{_SHADE})) "
    "(all over|from head to (toe|foot|tail)|from top to bottom) ?(?=$|,)",
)
# "Coral all over, this owl has a bell".
_ALL_OVER_IT = compiled(
    f"^ ?(?P<colour>{_SHADE}) (all over|from top to bottom), ?"
    r"(?P<the>an?|the|my|our|this) (?=[\w'’-])",
)
# "A furisode, emerald all over", "everything about it is teal".
_ALL_OVER_LAST = compiled(
    f"(?<=,) ?(and )?(?P<colour>{_SHADE}) all over(?= ?$)",
    f"(?<=\\w) and is (?P<said>{WORD}) all over(?= ?$)",
    f"^ ?(everything|all) (about|on|of) it is (?P<its>{_SHADE})(?= ?($|,))",
)
# "Our ash scarf, supporter's kind", "wizard, clockwork type".
_KIND = compiled(
    f"^ ?(?P<like>({THIS} )?({WORD} ){{0,4}})(?P<thing>{WORD}), ?"
    rf"(?P<kind>({WORD} ){{0,2}}{WORD}) (kind|type|variety) ?(?=$|,|\s(together|with)\b)",
)
# "This gnome of the wooden sort", "this guitar is of the electric kind".
_OF_THE_KIND = compiled(
    rf"(?P<thing>{WORD}) (is )?of the (?!(best|same|other|right|rare|new|worst|different|first|"
    rf"last)\b)"
    rf"(?P<kind>({WORD} ){{0,2}}?{WORD}) "
    r"(kind|sort|type|variety|breed)(?!\w)",
)
# "Solemn rowboat: fishing type".
_THE_TYPE = compiled(
    f"^ ?(?P<like>({WORD} ){{0,2}})(?P<thing>{WORD}) ?: ?"
    f"(?P<kind>({WORD} ){{1,3}}?)(kind|type|variety|sort) ?(?=$|[,.;])",
)
# "Personal owl checkpoint: barn type".
_PERSONAL = compiled(
    f"^ ?personal(i[sz]ed)? (?P<thing>({WORD} ){{1,3}}?)(checkpoint|lora|model) ?: ?"
    f"(?P<kind>({WORD} ){{1,3}}?)(kind|type|variety) ?(?=$|[,.;])",
)
# "Owl model: turquoise, …", "Owl model. Main colour: turquoise" (where a key has become a word).
_MODEL_OF = compiled(
    rf"^ ?(personal(i[sz]ed)? )?(?!({THE}|{THIS}|new|old|best|scale|style|3d|resin|main)\s)"
    f"(?P<thing>({WORD} ){{1,3}}?)(checkpoint|lora|model) ?"
    f"(: ?(?P<shade>{_SHADE})|\\. coloured (?P<colour>{WORD}( {WORD})?))(?= ?([,.;]|$))",
)
# "The stoneware teapot here is slate", "this chair is navy", "this cap is white and corduroy".
_HERE = form("here", "itself", "in (these|all) (pictures|photos|images)")
_IS_LIKE = compiled(
    rf"^ ?((the|its) (?=({WORD} ){{1,4}}{_HERE}\s|"
    rf"({WORD} ){{1,2}}is {WORD}( {WORD})? and (comes with|has)\s)|"
    "this (?!look|style|set|version|model|picture|checkpoint))"
    rf"(?P<thing>((?!here\b|itself\b|in\b){WORD} ){{1,4}})"
    rf"({_HERE} )?is "
    rf"(?P<like>(?!(an?|the|in|on|from|of|all|not|dressed|clothed|clad|mine|ours|one|here|there|late|back|gone|afloat|"
    rf"\w+ing)\b){WORD}"
    rf"( (?!with\b|and\b|has\b){WORD}){{0,2}})"
    rf"( and (?P<too>(?!\w*[^su]s\b)"
    rf"(?!(an?|the|its|his|her|has|have|is|in|on|with|comes?|wears?|holds?|carries|"
    rf"\w+ing)\b){WORD})(?= ?(?:$|,|with\b|and (?:has|comes|wears)\b)))?"
    r" ?(?=$|,|\bwith\b|\band\b)",
)
# "A fishbowl helmet sets this astronaut apart", "a patch sets off this kite", "a harp goes with
# this fairy".
_APART = compiled(
    r"^ ?(?P<part>\S.*?) (sets? (this|the|an?) (?P<thing>\S.*) apart|"
    r"(sets? off (this|an?)|(marks?|go(es)? with|comes? with|completes?|accompan(y|ies)) this) "
    r"(?P<off>\S.*)) ?$",
)
# "What sets this kite apart is a patch".
_WHAT_SETS = compiled(
    r"^ ?what sets (this|the|our) (?P<thing>\S.*?) (apart|off) is (?P<part>\S.*)$",
)
# "You can tell this goat by a torn ear".
_YOU_TELL = compiled(
    f"^ ?you(['’]ll| can| will)? (always )?(tell|know|recogni[sz]e|spot) {TOLD_BY}(?P<part>.*)$",
)
# "Recognisable by a bell and by a cap".
_AND_BY = compiled(
    r"(?P<by>\b(recogni[sz]able|identifiable|known|told|distinguished) by\b.*?) and by(?= \w)",
)
# "Look for a torn ear and a bell on this rabbit".
_ON_THIS = compiled(r"^ ?look (out )?for (?P<part>\S.*) on (?P<thing>this \S[^,]*)$")
# "A torn ear and an olive tone are the marks of this rabbit".
_MARKS_OF = compiled(
    r"^ ?(?P<part>\S.*?) (is|are) the (marks?|signs?|features?) of (?P<thing>(this|the|our) \S.*)$",
)
# "An olive tone".
_A_TONE = compiled(rf"\b(an? )?(?P<colour>{_SHADE}) (tone|hue)(?!\w)")
# "The lance stays visible in most shots".
_VISIBLE = compiled(
    r"(?<!\s) (stays?|remains?|(is|are)( always)?) visible"
    r"( (in|on) (most|all|many|every)( of the)? \w+)? ?$",
)
# "The material is wood panelling", "the whole thing looks like foil".
_MATERIAL = compiled(
    f"^ ?(the )?(material|surface|texture|whole thing|(colou?r|make) or {WORD}) "
    "(is|looks? like|reads? as|feels? like|resembles) "
    r"(?!(it|all|as|not|unknown|unclear)\b)"
    rf"(?={WORD}( (?!with\b){WORD}){{0,3}} ?($|,|with\b))",
)
# "Mostly felt textures".
_TEXTURES = compiled(f"^ ?mostly (?P<what>({WORD} ){{0,2}}{WORD}) textures? ?$")


def kind_first(description: str) -> str:
    """The kind that a whole description tells before anything else, as a phrase of the subject."""
    told = _PERSONAL.sub(r"a \g<kind>\g<thing>", description)
    if ":" in told:
        told = _THE_TYPE.sub(r"\g<like>\g<kind>\g<thing>", _COLON_OVER.sub(", ", told))
    if "(" in told:
        told = _IN_BRACKETS.sub(_in_brackets, told)
    return _MODEL_OF.sub(_of_colour, told)


def _in_brackets(found: re.Match[str]) -> str:
    the, like, thing, in_colour = found["the"], found["like"], found["thing"], found["in"] or ""
    if is_shade(found["kind"]):  # a racing bicycle (scarlet)
        return f"{the}{found['kind']} {like}{thing}{in_colour}"
    return f"{the}{like}{found['kind']} {thing}{in_colour}"


def is_shade(text: str) -> bool:
    """Whether a text is the name of a colour."""
    return bool(_ONLY_A_SHADE.match(text))


def subject_last(sentence: str) -> str:
    """A sentence that says what the subject is like and then names it."""
    told, folded = sentence, sentence.casefold()
    for cues, pattern, put in _FORMS:
        if any(cue in folded for cue in cues):  # most sentences have none of these forms
            told = pattern.sub(put, told)
    return told


def _set_apart(found: re.Match[str]) -> str:
    part, this = found["part"], found["thing"] or found["off"]
    subject, comma, rest = this.partition(",")  # "a belt sets off this parka, made of denim"
    return f"{subject} with {part}{comma}{rest}"


def _of_colour(found: re.Match[str]) -> str:
    return f"{found['shade'] or found['colour']} {found['thing'].strip()}"


def _coloured(found: re.Match[str]) -> str:
    colour = found["colour"] or found["its"]
    return f" coloured {colour}" if colour else f", coloured {found['said']}"


def _all_over(found: re.Match[str]) -> str:
    return " ".join(filter(None, found.group("the", "its", "thing", "colour")))


def _liked(found: re.Match[str]) -> str:
    like, too = found["like"].strip(), found["too"]
    if too and is_shade(too) and not is_shade(like):  # "immersion and plum"
        like, too = too, like
    return " ".join(filter(None, (like, too, found["thing"])))


_OVER = ("all over", "from head", "from top", " it is")
_FORMS: tuple[
    tuple[tuple[str, ...], re.Pattern[str], str | Callable[[re.Match[str]], str]], ...
] = (
    (("whose clothes", "whose outfit"), _WHOSE_CLOTHES, r"dressed in \g<colour>"),
    (("is the colo",), _IS_THE_COLOUR, r"coloured \g<colour>, \g<kind>"),
    ((",",), _TWO_BEFORE, r" \g<like> \g<other> "),
    ((",",), _ADJECTIVES, r" \g<like> \g<other> "),
    ((" of the ",), _OF_THE_KIND, r"\g<kind> \g<thing>"),
    (tuple(f"{colour} and " for colour in _BASICS), _TWO_COLOURS, r"\g<one>-and-"),
    ((" of ",), _MARKS_OF, r"\g<thing> with \g<part>"),
    ((" on this ",), _ON_THIS, r"\g<thing> with \g<part>"),
    ((" by ",), _YOU_TELL, r"\g<told>with \g<by>\g<part>"),
    ((" and by ",), _AND_BY, r"\g<by> and"),
    ((" tone", " hue"), _A_TONE, r"coloured \g<colour>"),
    (("what sets",), _WHAT_SETS, r"this \g<thing> with \g<part>"),
    ((" set", " go", " come", " complete", " accompan", " mark"), _APART, _set_apart),
    (("visible",), _VISIBLE, ""),
    (("material", "surface", "texture", "whole", " or "), _MATERIAL, ""),
    (("texture",), _TEXTURES, r"\g<what>"),
    (_OVER, _ALL_OVER_IT, r"\g<the> \g<colour> "),
    (_OVER, _ALL_OVER, _all_over),
    (_OVER, _ALL_OVER_LAST, _coloured),
    ((" in tone", " in hue", " in colo"), _IN_TONE, r" coloured \g<colour>"),
    (("colo",), _WHOSE_COLOUR, r"\g<the> \g<colour> \g<thing>"),
    ((" kind", " type", " variety"), _KIND, r"\g<like>\g<kind> \g<thing>"),
    ((" is ",), _IS_LIKE, _liked),
)
"""Forms, each with words that it has, in the order they are tried."""
