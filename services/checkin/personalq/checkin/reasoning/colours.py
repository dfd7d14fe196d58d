"""Colours as concepts of descriptions, and which of them people call by each other's names."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet

from personalq.checkin import lexicon

_ALIKE: tuple[AbstractSet[str], ...] = (
    {"=tan", "=brown"},
    {"=tan", "=cream"},
    {"=tan", "=golden"},
    {"=golden", "=yellow"},
    {"=golden", "=orange"},
    {"=orange", "=brown"},
    {"=orange", "=red"},
    {"=teal", "=blue"},
    {"=teal", "=green"},
    {"=cream", "=white"},
    {"=gray", "=black"},
    {"=pink", "=purple"},
)
"""Colours that people call by each other's names."""
_CLEAR: Mapping[str, AbstractSet[str]] = {
    "=red": {"crimson", "scarlet", "ruby", "maroon", "burgundy", "claret", "garnet", "cherry",
             "carmine", "oxblood", "cardinal"},
    "=orange": {"tangerine", "pumpkin", "apricot", "mandarin", "carrot", "clementine"},
    "=brown": {"chocolate", "walnut", "mocha", "cocoa", "coffee", "espresso", "umber", "chestnut"},
    "=black": {"jet", "onyx", "ebony", "coal", "ink", "inky", "raven", "obsidian"},
    "=gray": {"ash", "ashen", "silver", "silvery", "pewter", "platinum", "dove", "pearl", "slate"},
    "=purple": {"violet", "lavender", "lilac", "amethyst", "plum", "aubergine", "grape", "indigo"},
    "=pink": {"bubblegum", "blush", "salmon", "rosy", "rose", "flamingo"},
    "=yellow": {"lemon", "canary", "banana"},
    "=blue": {"navy", "cobalt", "sapphire", "denim"},
    "=green": {"emerald", "olive", "lime", "moss", "forest", "jade", "pine", "fern"},
}  # fmt: skip
"""Shades that nobody calls by another colour's name: rust may be red, chocolate is no orange."""
_PLAIN = frozenset(["=orange", "=red", "=black", "=gray", "=pink", "=purple"])
"""Colours whose plain names are clear beside other clear ones: "purple" is no pink, though it may
be magenta; "brown" may be beige."""
COLOURS = frozenset(f"={name}" for name in lexicon.words("colors"))
"""The concepts of colours."""
NAMED = COLOURS - {"=colorful"}
"""The colour concepts that name one colour."""


def is_clear(words: Collection[str]) -> bool:
    """Whether words are plain or clear names of colours: "red", "chocolate brown"; not "charcoal"
    nor "dark gray".
    """
    clear = {colour[1:] for colour in _PLAIN}.union(*_CLEAR.values())
    said = clear | lexicon.words("colors")
    return not clear.isdisjoint(words) and said.issuperset(words)


def names_for(
    colours: AbstractSet[str], words: Collection[str], *, plainly: bool = False
) -> AbstractSet[str]:
    """Concepts of the colours that a thing may be called by.

    Args:
        colours: concepts of those it has.
        words: that tell of it.
        plainly: whether its plain names are clear too.
    """
    groups = lexicon.description_groups()
    clear = set()
    for colour in colours & _CLEAR.keys():
        told = {w for w in words if f"={groups.get(w)}" == colour}
        if not (plainly and colour in _PLAIN):
            told -= {colour[1:]}
        told |= _CLEAR[colour] & set(words)
        if told and told <= _CLEAR[colour] | {colour[1:]}:
            clear.add(colour)
    if plainly and "brown" in words and "=brown" in colours - clear:
        clear |= {"=brown", "=tan"}  # no orange, as rust and ginger are
    return called_alike(colours - clear) | clear


def called_alike(colours: AbstractSet[str]) -> AbstractSet[str]:
    """Concepts of colours with those that people call by the same names."""
    return set(colours).union(*(alike for alike in _ALIKE if alike & colours))
