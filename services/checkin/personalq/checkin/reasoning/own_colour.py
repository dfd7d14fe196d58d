"""The colour of a subject, where every card tells its own and none has that one.

A description that says nothing of a colour may still be of one that has it. Where all say another,
"a pink truck" is none of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from personalq.checkin import lexicon
from personalq.checkin.cards import Hit
from personalq.checkin.intent import Attribute, Constraint, Intent
from personalq.checkin.lexicon import canonical, wordnet
from personalq.checkin.lexicon.stuffs import stuffs_in
from personalq.checkin.nouns import is_kind_of
from personalq.checkin.reasoning.colours import COLOURS, is_clear
from personalq.checkin.reasoning.own import FEWEST, insisting_on, is_named
from personalq.checkin.reasoning.profiles.concepts import concepts, worded_concepts
from personalq.checkin.reasoning.profiles.profile import Profile, profile

_REMEMBERED = (Attribute.USE_COUNT, Attribute.LAST_USED_AT)
"""By what is said of these a card is known, whatever its colour."""
_SILENT = 0.1
"""Share of cards that may say nothing of their colour: so few are hardly what is meant."""
_SHADES = frozenset(
    ["scarlet", "crimson", "maroon", "burgundy", "navy", "azure", "cobalt", "turquoise", "cyan",
     "magenta", "mauve", "lavender", "violet", "lilac", "beige", "taupe", "vermilion", "silvery",
     "chestnut", "auburn", "ebony", "fuchsia", "indigo", "aqua", "gilded"]
)  # fmt: skip
"""Names that are little else before a noun; "emerald" is also what things are made of."""
_COATS = (
    (
        ("speckled", "spotted", "dappled", "mottled", "brindle", "brindled", "striped", "tabby",
         "tricolor", "tortoiseshell", "calico", "piebald"),
        ("black", "brown", "cream", "golden", "gray", "orange", "tan", "white"),
    ),
    (("snowy",), ("white",)),
)  # fmt: skip
"""What tells the colour of a coat without naming one, and what may be meant by it."""
_COATED = ("mammal", "fowl", "owl")
"""No parrot, no butterfly: their patterns are of any colour."""
_STUFFS = (
    (("terracotta", "brick"), ("brown", "orange", "red")),
    (("brass", "bronze"), ("brown", "golden", "orange", "yellow")),
    (
        ("steel", "stainless steel", "galvanized steel", "chrome", "tin", "pewter", "aluminum",
         "titanium", "nickel", "zinc"),
        ("gray", "white"),
    ),
    (("iron", "cast iron", "wrought iron"), ("black", "brown", "gray")),
    (("granite", "concrete", "sandstone", "limestone"),
     ("black", "brown", "cream", "gray", "pink", "tan", "white")),
    (("glass", "crystal", "transparent"), ("white",)),
    (("stained glass",), ("blue", "golden", "green", "orange", "pink", "purple", "red", "yellow")),
    (("wood", "wooden", "oak", "pine", "teak", "mahogany", "walnut", "birch", "plywood",
      "driftwood", "bamboo", "cork"),
     ("black", "brown", "golden", "orange", "red", "tan", "white", "yellow")),
    (("wicker", "rattan", "straw", "raffia", "cane"),
     ("brown", "golden", "orange", "tan", "white", "yellow")),
    (("denim",), ("black", "blue", "gray")),
    (("whitewashed",), ("white",)),
)  # fmt: skip
"""The same of what anything is made of or covered with, as it mostly is."""
_SKIN = frozenset(["=black", "=white", "=brown"])
"""What a person is not, for wearing it, nor fails to be for wearing something else."""
_HONEY = frozenset(["=orange", "=golden"])
"""What else is honey-coloured: an amber robot."""


def without_its_colour(
    intent: Intent, hits: Sequence[Hit], *, besides: Sequence[Hit] = ()
) -> Intent | None:
    """The intent that says what nothing fits; None where some card may be of the colour.

    Args:
        hits: all that satisfy it.
        besides: other cards of the subject, where these are too few to say whether cards tell.
    """
    colour = _colour_of(intent)
    if colour is None:
        return None
    meant = COLOURS.intersection(concepts(" ".join(colour.values)))
    if "honey" in colour.values:
        meant |= _HONEY
    subject = intent.first(Attribute.SUBJECT)
    names = subject.values if subject is not None else ()
    person = any(wordnet.nature(name) is wordnet.Nature.PERSON for name in names)
    if person and meant and meant <= _SKIN:
        return None
    coated = any(is_kind_of(name, kind) for name in names for kind in _COATED)
    plain = not coated and is_clear(colour.values)  # a red fox is orange
    shown = [profile(hit.card) for hit in hits]
    others = [profile(hit.card) for hit in besides]
    if not shown or max(len(shown), len(others)) < FEWEST:
        return None
    called = [each.named if plain else each.called for each in shown]
    told_so = [
        each.everything | by_name | _otherwise(each, coated)
        for each, by_name in zip(shown, called, strict=True)
    ]
    if any(meant & each for each in told_so):
        return None
    told = [bool(COLOURS & p.kind or _otherwise(p, coated)) for p in (*shown, *others)]
    if told.count(False) > _SILENT * len(told):
        return None
    return insisting_on(intent, colour)


def _otherwise(card: Profile, coated: bool) -> frozenset[str]:
    """The colours that may be meant where a card tells its own by a coat or a stuff alone."""
    if COLOURS & card.kind:
        return frozenset()
    told = (card.kind - card.nouns) | card.stuffs  # every snow globe is of snow
    found = (colours for said, colours in _told_otherwise(coated) if said & told)
    return frozenset().union(*found)


@cache
def _told_otherwise(coated: bool) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    return tuple(
        (
            frozenset(words).union(*(concepts(word) for word in words if not stuffs_in(word))),
            frozenset(f"={colour}" for colour in colours),
        )
        for words, colours in ((*_COATS, *_STUFFS) if coated else _STUFFS)
    )


def too_few_to_tell(intent: Intent, hits: Sequence[Hit]) -> bool:
    """Whether a colour was asked for of fewer cards than tell whether all say theirs.

    Not of those that somebody has used then or so often: the picture may be wanted in that colour.
    """
    if _colour_of(intent) is None or any(intent.all(attribute) for attribute in _REMEMBERED):
        return False
    return 0 < len(hits) < FEWEST


def _colour_of(intent: Intent) -> Constraint | None:
    if is_named(intent):
        return None
    return next((c for c in intent.described if _is_its_colour(c, intent)), None)


def _is_plain(text: str) -> bool:
    """Whether words are names of colours and nothing else: "pale blue", "reddish-brown"."""
    names = (set(lexicon.words("colors")) | _SHADES) - {"colorful"}
    plain = lexicon.words("tones") | {"colored", "color"}
    worded = worded_concepts(text)
    said = [word for _, word in worded]
    coloured = [
        word
        for about, word in worded
        if about in COLOURS and (word in names or set(word.split()) & names)
    ]  # not "ice cream"
    coloured += [word for word in said if word.endswith(" colored")]
    coloured += [word for about, word in worded if word.endswith("ish") and about in COLOURS]
    return bool(coloured) and all(
        word in coloured or word in plain or word.endswith("ish") for word in said
    )


def _is_its_colour(constraint: Constraint, intent: Intent) -> bool:
    """Whether it is the name of a colour, and the one subject's."""
    subject = intent.first(Attribute.SUBJECT)
    if subject is None or constraint.excluded or constraint.hard or constraint.coarse:
        return False
    plain = _is_plain(constraint.text) or _is_plain(" ".join(constraint.values))  # "that's red"
    kind = _before(constraint, subject) and wordnet.look_up(
        canonical(f"{constraint.text} {subject.text}")  # "an orange tree"
    )
    meant = {m.subjects for m in intent.mentions if m.span == subject.span} | {subject.values}
    several = {m.subjects for m in intent.mentions if m.weight >= 2} - meant
    return plain and not kind and not several


def _before(constraint: Constraint, subject: Constraint) -> bool:
    """Whether a constraint stands right before the subject: not "the fox, the blue one"."""
    span = constraint.span
    return span is None or subject.span is None or span.end + 1 == subject.span.start
