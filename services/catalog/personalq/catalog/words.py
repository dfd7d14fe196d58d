"""Words of cards and of requests, made comparable.

PostgreSQL's own parser is of no use here: it drops `<bear-v4>` as an XML tag, cuts `bear.v4` as a
file name, and its stemmer keeps "mice" apart from "mouse". So both sides are cut and normalized
here, and PostgreSQL is given finished `tsvector` and `tsquery` literals, each word labelled with
the role it plays on the card:

    A  triggers, the checkpoint's id, name and aliases, subjects
    B  styles
    D  description, environments

A word is one lexeme, in its strongest role only, so that a long description does not shout. Words
are stemmed lightly: irregular plurals from a list, then step 1 of Porter's algorithm (plurals,
-ed, -ing). Nearness in meaning is the dense ranking's business.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache

from personalq.catalog.cards import Card
from personalq.chassis.names import fold

#: A trigger in angle brackets, whatever is inside.
_BRACKETED = re.compile(r"<[^<>]{1,62}>")
#: A word; inner hyphens, dots and apostrophes hold it together: bear-v4, sks_dog, 1.5, dog's.
_WORD = re.compile(r"\w+(?:[-.'’]\w+)*")
_PARTS = re.compile(r"[^\W_]+")
_PUNCTUATION = ".,;:!?\"'()[]{}…“”‘’"
_POSSESSIVE = re.compile(r"['’]s?$")

#: Longest phrase that is also one lexeme: "big teddy bear".
_PHRASE = 3
#: Longest lexeme; PostgreSQL allows 2 KB.
_MAX_LEXEME = 128
#: Most terms of a query; a prompt may have thousands of words.
_MAX_TERMS = 96

_IRREGULAR = {
    "mice": "mouse", "geese": "goose", "feet": "foot", "teeth": "tooth", "men": "man",
    "women": "woman", "children": "child", "people": "person", "oxen": "ox", "wolves": "wolf",
    "leaves": "leaf", "knives": "knife", "lives": "life", "wives": "wife", "shelves": "shelf",
    "loaves": "loaf", "calves": "calf", "halves": "half", "elves": "elf", "thieves": "thief",
    "scarves": "scarf", "hooves": "hoof", "dice": "die", "fungi": "fungus", "cacti": "cactus",
    "potatoes": "potato", "tomatoes": "tomato", "heroes": "hero", "echoes": "echo",
    "mosquitoes": "mosquito", "volcanoes": "volcano", "quizzes": "quiz", "movies": "movie",
    "cookies": "cookie", "zombies": "zombie", "selfies": "selfie", "ties": "tie", "pies": "pie",
    "buses": "bus", "gases": "gas", "irises": "iris", "lenses": "lens", "atlases": "atlas",
}  # fmt: skip
#: Singular, though they look like plurals or like -ed and -ing forms.
_INVARIANT_TEXT = """
    always atlas bed boss breed bus cactus canvas ceiling chess christmas cross dress during evening
    everything feed gas glass grass hundred indeed iris jeans lens mars morning moss naked need
    nothing pants paris red sacred scissors seed series shed sled something species speed string
    texas thing anything trousers venus wedding weed
"""
#: Words that say nothing about a checkpoint.
_STOPWORDS_TEXT = """
    a all an and any are as at be been both but by can could create did do does each for from
    generate get give had has have he her here hers him his how i image in into is it its just made
    make may me might mine more most must my need no nor not of on only onto or other our ours over
    own picture please render s same shall she should show so some such t than that the their theirs
    them then there these they this those to too under us very want wants was we were what when
    where which who will with without would you your yours
"""
#: After one of these a person describes the scene, no longer the thing itself.
_SCENE_OPENERS_TEXT = """
    above across against along amid among at atop before behind below beneath beside by in inside
    into near on onto over through under within
"""
_INVARIANT = frozenset(_INVARIANT_TEXT.split())
STOPWORDS = frozenset(_STOPWORDS_TEXT.split())
_SCENE_OPENERS = frozenset(_SCENE_OPENERS_TEXT.split())

_CLAUSE_END = re.compile(r"[,;.!?:\n]")


def key(label: str) -> str:
    """A subject, style or environment in the form constraints compare: folded, stemmed."""
    folded = fold(label)
    return " ".join(_stems(folded)) or folded


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The common form of a folded word: "bears" and "bear", "sitting" and "sit"."""
    word = _POSSESSIVE.sub("", word)
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 3 or not (word.isascii() and word.isalpha()) or word in _INVARIANT:
        return word
    if word.endswith("s"):
        return _singular(word)
    for suffix in ("ing", "ed"):
        rest = word.removesuffix(suffix)
        if rest != word and len(rest) >= 3 and re.search("[aeiouy]", rest):
            return _restored(rest)
    return word


def vector_literal(card: Card) -> str:
    """The card as a `tsvector` literal."""
    lexemes: dict[str, str] = {}
    names = [*card.triggers, card.checkpoint_id, card.name, *card.aliases, *card.subjects]
    for label, texts in (
        ("A", names),
        ("B", card.styles),
        ("D", [card.description, *card.environments]),
    ):
        for text in texts:
            folded = fold(text)
            if label != "D":
                lexemes.setdefault(folded[:_MAX_LEXEME], label)
                phrase = " ".join(_stems(folded))
                lexemes.setdefault(phrase[:_MAX_LEXEME], label)
            for lexeme, _ in _lexemes(folded):
                if label != "D" or lexeme not in STOPWORDS:
                    lexemes.setdefault(lexeme, label)
    lexemes.pop("", None)
    return " ".join(
        f"{_quoted(lexeme)}:{position}{label}"
        for position, (lexeme, label) in enumerate(lexemes.items(), start=1)
    )


def query_terms(text: str) -> dict[str, str]:
    """The lexemes of a request, in their order, and the roles each may have on a card.

    Words of the scene ("on forest grass") do not match subjects, or every "house by the river"
    would be answered with rivers: without this, ranking loses a quarter of its precision.
    """
    terms: dict[str, str] = {}
    for clause in _CLAUSE_END.split(text):
        for lexeme, scene in _lexemes(fold(clause), phrases=True):
            if not _says_nothing(lexeme) and terms.get(lexeme) != "ABD":
                terms[lexeme] = "BD" if scene else "ABD"
    # Triggers may contain what ends a clause.
    for bracketed in _BRACKETED.findall(fold(text)):
        terms[bracketed] = "ABD"
    return dict(list(terms.items())[:_MAX_TERMS])


def any_term(terms: Mapping[str, str]) -> str:
    """A `tsquery` literal for cards with any of the terms; "" without any."""
    return " | ".join(f"{_quoted(lexeme)}:{roles}" for lexeme, roles in terms.items())


def telling_terms(terms: Mapping[str, str], *, common: Collection[str]) -> str:
    """A `tsquery` literal for cards worth reading where too many have some of the terms.

    Those with a term that is not common, or with all that are. "" when there are none.
    """
    alternatives = [
        f"{_quoted(lexeme)}:{roles}" for lexeme, roles in terms.items() if lexeme not in common
    ]
    together = [f"{_quoted(lexeme)}:{roles}" for lexeme, roles in terms.items() if lexeme in common]
    if len(together) > 1:
        alternatives.append(f"({' & '.join(together)})")
    return " | ".join(alternatives)


def _lexemes(folded: str, *, phrases: bool = False) -> Iterator[tuple[str, bool]]:
    """Lexemes of a folded text, and whether each stands in the scene."""
    scene = False
    recent: list[str] = []
    for token in folded.split():
        if token in _SCENE_OPENERS and recent:
            scene = True
        forms = _token_forms(token)
        for form in forms:
            yield form[:_MAX_LEXEME], scene
        if phrases and forms:
            recent = [*recent, stem(token.strip(_PUNCTUATION))][-_PHRASE:]
            for length in range(2, len(recent) + 1):
                yield " ".join(recent[-length:])[:_MAX_LEXEME], scene


def _says_nothing(lexeme: str) -> bool:
    """Whether it is a word that says nothing, or a phrase that begins or ends with one."""
    words = lexeme.split()
    return not words or words[0] in STOPWORDS or words[-1] in STOPWORDS


def _token_forms(token: str) -> list[str]:
    """What a token is found by; its plain stem, or the token itself, comes last.

    "bears" is just "bear"; "<bear-v4>" is itself, "bear-v4", "bear" and "v4".
    """
    token = token.strip(_PUNCTUATION)
    words = _WORD.findall(token)
    if words == [token] and _PARTS.findall(_POSSESSIVE.sub("", token)) == [
        _POSSESSIVE.sub("", token)
    ]:
        return [stem(token)]
    forms = [token, *_BRACKETED.findall(token)] if token else []
    for word in words:
        forms += [word, *(stem(part) for part in _PARTS.findall(_POSSESSIVE.sub("", word)))]
    return list(dict.fromkeys(forms))


def _stems(folded: str) -> Iterable[str]:
    return (stem(word) for word in folded.split())


def _singular(word: str) -> str:
    if word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("sses", "ches", "shes", "xes")):
        return word[:-2]
    return word[:-1]


def _restored(rest: str) -> str:
    """Undo what -ed and -ing did: sitt-ing, smil-ing (Porter, step 1b)."""
    if rest[-1] == rest[-2] and rest[-1] not in "lsz":
        return rest[:-1]
    vowels = "".join("v" if c in "aeiouy" else "c" for c in rest)
    short = re.fullmatch(r"c*vc", vowels) is not None and rest[-1] not in "wxy"
    if short or rest.endswith(("at", "bl", "iz")):
        return f"{rest}e"
    return rest


def _quoted(lexeme: str) -> str:
    return "'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'"
