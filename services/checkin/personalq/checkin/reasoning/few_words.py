"""A card in a few words, fit for a question: "a tan teddy bear with a cream snout"."""

from __future__ import annotations

import re
from functools import lru_cache

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.cards import Card
from personalq.checkin.lexicon import canonical, wordnet
from personalq.checkin.lexicon.wordnet import Nature, nature
from personalq.checkin.nouns import is_kind_of
from personalq.checkin.reasoning.profiles.profile import pieces_of
from personalq.checkin.reasoning.profiles.subject import may_tell_alone
from personalq.checkin.reasoning.profiles.traits import trait

_LENGTH = 64
"""Characters of the longest."""
_PICTURED = compile_form(
    "^((an?|the) )?(picture|photo|image|portrait|rendering|depiction|drawing|painting|sketch|"
    "illustration)s? of ",
    flags=re.IGNORECASE,
)
_ONE = compile_form("^(one|personal|personali[sz]ed|this) (?=[a-z])", flags=re.IGNORECASE)
_MODEL = compile_form(r"(?<=\w) (checkpoint|lora)(?!\w)", flags=re.IGNORECASE)
_ARTICLE = re.compile("^(?:an?|the) ")
_LEFT_OPEN = compile_form("( (is|are))?( here)?$", flags=re.IGNORECASE)
_COLOURED = compile_form("^(it is |it's )?(all |mostly )?colou?red ", flags=re.IGNORECASE)
_UNSAFE = re.compile(r"[<>\x00-\x1f\x7f`{}\[\]]")
_SPACES = compile_form(" ")
_OURS = compile_form(r"(?<!\w)([Mm]y|[Oo]ur) (?P<name>(?=[A-Z]))?")
"""What its owner wrote; a question is put to somebody else."""


def kind_of(card: Card) -> str:
    """The card in a few words: what names its subject, its colour, and one thing more."""
    return _in_few_words(pieces_of(card), card.subjects)


def kind_key(card: Card) -> str:
    """The same where a few words differ in the article alone: "the tan bear", "a tan bear"."""
    return _ARTICLE.sub("", kind_of(card))


@lru_cache(maxsize=16384)
def _in_few_words(pieces: tuple[str, ...], subjects: tuple[str, ...]) -> str:
    said = {word for subject in subjects for word in canonical(subject).split()}
    nouns = said | set(map(lexicon.plural, said))
    if not pieces:
        return ""
    main = next((p for p in pieces if nouns & set(canonical(p).split())), pieces[0])
    named = _COLOURED.sub("", _PICTURED.sub("", _from_article(main, nouns)))
    named = _LEFT_OPEN.sub("", _MODEL.sub("", named))
    named = named if _counts_parts(named.split()) else _ONE.sub("the ", named)
    words = [canonical(word) for word in named.split()]
    if subjects and nouns.isdisjoint(words) and may_tell_alone(words):
        named = f"{named} {subjects[0]}"  # "kind: church / colour: red"
    others = [piece for piece in pieces if piece != main]
    if lexicon.colours().isdisjoint(words):
        colour = next((told for piece in others if (told := _colour(piece))), "")
        named = _with_colour(named, colour) if colour else named
    other = next((piece for piece in others if _tells(piece) and not _colour(piece)), "")
    if other and len(named) + len(other) < _LENGTH:
        link = " with" if _is_had(other) else ","
        named = f"{named}{link} {other[:1].lower()}{other[1:]}"
    label = _SPACES.sub(" ", _UNSAFE.sub("", _OURS.sub(_not_ours, named))).strip(" ,-")
    if len(label) > _LENGTH:
        label = label[:_LENGTH].rsplit(" ", 1)[0]
    return _uncapitalised(label)


def _from_article(piece: str, nouns: set[str]) -> str:
    """The piece without what comes before the thing: "this checkpoint knows a red bear"."""
    words = piece.split()
    head = next((i for i, word in enumerate(words) if canonical(word) in nouns), None)
    reach = len(words) - 1 if head is None else head
    starts = [
        i
        for i in range(reach)
        if canonical(words[i]) in ("a", "an", "the", "one") and not _counts_parts(words[i:])
    ]
    if not starts:
        return piece
    return " ".join(words[starts[0 if head is None else -1] :])


def _counts_parts(words: list[str]) -> bool:
    """Whether "one" is how many parts there are: "one | eyed fox", not "one | dented kettle"."""
    if len(words) < 2 or canonical(words[0]) != "one" or not words[1].endswith("ed"):
        return False
    return any(is_kind_of(words[1][:-cut], "body part") for cut in (1, 2, 3))


def _colour(piece: str) -> str:
    """The colour that a piece is all about: "navy" of "coloured navy"."""
    bare = _COLOURED.sub("", piece)
    words = canonical(bare).split()
    plain = all(w in lexicon.colours() or w in lexicon.words("tones") for w in words)
    return bare.lower() if words and plain else ""


def _with_colour(named: str, colour: str) -> str:
    """A name with a colour behind its article: "the white wooden car"."""
    first, _, rest = named.partition(" ")
    if canonical(first) not in lexicon.words("determiners") or _counts_parts(named.split()):
        return f"{colour} {_uncapitalised(named)}" if rest else f"{named}, {colour}"
    article = {"a": "a", "an": "a"}.get(first.lower(), first)
    article = "an" if article == "a" and colour[0] in "aeiou" else article
    return f"{article} {colour} {rest}"


def _is_had(piece: str) -> bool:
    """Whether it is a thing that the subject has: "long eyelashes", not "covered in glitter"."""
    first = canonical(piece).split()[0]
    if first in lexicon.words("determiners"):
        return True
    told = trait(piece)
    doing = first.endswith(("ing", "ed")) or first in ("it", "always", "usually", "shown", "seen")
    several = told is not None and next(wordnet.singulars(told.noun), None) is not None
    return not doing and several and lexicon.names_thing(told.noun if told else "")


def _not_ours(owned: re.Match[str]) -> str:
    """The same for "my kettle", nothing for "my Rex"."""
    return "the " if owned["name"] is None else ""


def _tells(piece: str) -> bool:
    """Whether a piece names something: "a crystal ball", not "complete"."""
    found = trait(piece)
    return found is not None and nature(found.noun) is not Nature.NO_NOUN


def _uncapitalised(clause: str) -> str:
    """The clause in lower case at its start, unless that is a name ("Siamese cats")."""
    first = canonical(clause.split(" ", 1)[0])
    ordinary = (
        first in ("a", "an", "the", "one")
        or first in lexicon.description_groups()
        or any(first in group.words for group in lexicon.style_groups().values())
        or lexicon.is_adjective_like(first)
    )
    return clause[:1].lower() + clause[1:] if ordinary else clause
