"""Whether what stands before a style word leads to it, or takes it into the scene."""

from __future__ import annotations

from collections.abc import Sequence

from personalq.checkin import lexicon
from personalq.checkin.lexicon.wordnet import look_up
from personalq.checkin.parsing.draft import Draft, Tag
from personalq.checkin.parsing.styles.leads import SCENE_PREPOSITIONS
from personalq.checkin.parsing.text import Word

_PRONOUNS = frozenset(["it", "them", "there", "him", "her", "this"])
_OK_BEFORE = frozenset(["in", "as", "of", "using", "like", "for"])
_COVERED = frozenset((
    "covered", "soaked", "drenched", "smeared", "coated", "splattered", "wrapped", "caked",
    "dressed",
))  # fmt: skip
DRAWN = frozenset(["drawn", "sketched", "rendered", "depicted", "illustrated"])
_GO = frozenset(["go", "going", "stick", "start"])
_SEEMS = frozenset(["looks", "seems", "appears", "comes", "uses", "has", "feels"])
STUFFS = frozenset(["oil", "ink", "wood", "clay", "wool", "felt", "paper", "charcoal", "chalk"])
"""A look is made with these, and some things are too."""
_AMONG = frozenset(["among", "amongst", "amid", "amidst", "across", "along", "beyond"])
_PICTURES = frozenset(["painting", "portrait", "landscape", "picture", "print", "drawing"])
"""Things that may hang on a wall, in oils."""


def behind_tag(draft: Draft, tag: Tag) -> Word | None:
    """The word right behind a style word, if nothing parts them."""
    following = draft.page.words[tag.last : tag.last + 1]
    return following[0] if following and following[0].joined else None


def is_reached(draft: Draft, tag: Tag) -> bool:
    """Whether nothing before it in its phrase makes it a thing of the scene."""
    words = draft.page.words
    if words[tag.first].norm == "in":  # "on a shelf | in oils"
        pictured = bool(tag.first) and words[tag.first].joined
        pictured = pictured and words[tag.first - 1].norm.removesuffix("s") in _PICTURES
        following = behind_tag(draft, tag)
        if pictured and (following is None or following.norm != "of"):
            return False  # "next to a portrait in oils"
        return not _is_of_a_thing(draft, tag, words[tag.first])
    for index in range(tag.first - 1, -1, -1):
        before = words[index]
        if not words[index + 1].joined:
            return True
        if not draft.is_free(before):
            continue  # "past" of "this past summer's paper cut-out castle"
        if _begins_again(draft, tag, index):
            return True
        decided = _decides(draft, tag, index)
        if decided is not None:
            return decided
    return True


def _begins_again(draft: Draft, tag: Tag, index: int) -> bool:
    """Whether an article behind a thing leads to what is asked for: "on a table | the claymation
    boot".
    """
    words = draft.page.words
    if words[index].norm not in ("the", "my", "our") or not index or not words[index].joined:
        return False
    noun = draft.noun_at(tag.last)
    asked = noun is not None and bool(noun.entry.subjects)
    return asked and lexicon.names_thing(words[index - 1].norm)


def _decides(draft: Draft, tag: Tag, index: int) -> bool | None:
    """What a word before it says: True, a look; False, of the scene; None, nothing."""
    words = draft.page.words
    before, following = words[index], words[index + 1]
    if before.norm in lexicon.words("openers") or before.norm in ("i", "want", "see", "be"):
        return True  # "in a hall I want to see the …", "could the hat on the peg be the …"
    if before.norm in ("and", "plus") and following.norm in ("the", "my", "our"):
        return draft.noun_at(tag.last) is not None  # "a station at night and the pixel art van"
    if before.norm in SCENE_PREPOSITIONS or (
        before.norm in _AMONG and not _is_chosen_from(draft, tag, following)
    ):
        return False
    if _is_inverted(draft, index) and draft.noun_at(tag.last) is not None:
        return True  # "in the room of a dentist sits the …"
    if before.norm in _PRONOUNS and following.norm in ("the", "my", "our", "a", "an"):
        return True  # "a lake and on it the …"
    if _is_the_way(words, index) or (before.norm == "with" and _is_drawn(draft, tag, index)):
        return True  # "the way Warhol would do it", "drawn with clean outlines"
    if before.norm == "with" and index and before.joined and words[index - 1].norm in _GO:
        return True  # "go with the model in oils"
    if before.norm in ("with", "has", "having") and index and before.joined:
        return _is_what_is_shown(draft, tag, index)
    if before.norm == "of" and index > 1 and words[index - 1].norm == "thinking":
        return words[index - 2].norm in ("i'm", "im", "am", "was", "we're", "are")
    if before.norm == "of" and index and words[index - 1].norm in ("and", "or", "nor"):
        return None  # "enough of anime and of"
    if before.norm == "of" and index and not _frames(draft, index - 1):
        return False
    if _acts(draft, before, following) or _does(words, index):
        return False
    if before.norm in _OK_BEFORE:
        return not (before.norm == "in" and _is_of_a_thing(draft, tag, before))
    if draft.noun_at(index) and before.norm not in lexicon.words("frames"):
        return True
    return None


def _is_chosen_from(draft: Draft, tag: Tag, following: Word) -> bool:
    """Whether the look tells what there is to choose from: "among the clay ones"."""
    owned = following.norm in ("the", "my", "our", "all") and draft.noun_at(tag.last) is not None
    return owned or draft.leads_to_selector(tag.last, reach=1)


def _is_inverted(draft: Draft, index: int) -> bool:
    """Whether a verb leads to what does it: "on a shelf | stands a"."""
    verb, following = draft.page.words[index : index + 2]
    acts = verb.norm in lexicon.verb_forms() and verb.norm.endswith("s")
    return acts and following.norm in ("the", "my", "our", "a", "an")


def _is_what_is_shown(draft: Draft, tag: Tag, lead: int) -> bool:
    """Whether "with" brings the subject: "a poster with my CGI car", "with June's guitar"."""
    words = draft.page.words
    if any(not draft.is_free(word) for word in words[lead + 1 : tag.first]):
        return True  # a time or an order has chosen it
    crossed = ("crossed", "mixed", "blended", "combined", "merged", "mashed")
    if words[lead - 1].norm in crossed and any(each.last < lead for each in draft.styles):
        return True  # "oils | crossed with pixel art"
    mixed = words[lead - 1].norm in ("look", "style", "feel", "finish", "aesthetic")
    if mixed and any(word.norm == "one" for word in words[tag.last : tag.last + 1]):
        return True  # "a cartoon look | with an 8-bit one"
    known = [noun for noun in draft.nouns if noun.entry.subjects]
    if not known or words[lead + 1].norm not in ("the", "my", "our"):
        return False
    return tag.last <= known[0].first <= tag.last + 2  # nothing else is named before


def is_another_thing(draft: Draft, thing: Word) -> bool:
    """Whether a noun names neither the subject nor the picture of it."""
    behind = draft.page.words[thing.index + 1 : thing.index + 2]
    compound = bool(behind) and behind[0].joined and draft.noun_at(thing.index + 1) is not None
    if compound or draft.noun_at(thing.index):
        return False
    shown = lexicon.words("selectors") | lexicon.words("pictures") | _SHOWN
    return thing.joined and lexicon.names_thing(thing.norm) and thing.norm not in shown


_SHOWN = frozenset(["portrait", "print", "avatar", "character", "figure", "sticker", "icon"])


def _is_the_way(words: Sequence[Word], index: int) -> bool:
    """Whether a clause says how somebody would do it: not "on the way", "in the way"."""
    if words[index].norm != "way" or not index or words[index - 1].norm != "the":
        return False
    lead = words[index - 2].norm if index > 1 and words[index - 1].joined else ""
    return lead not in ("on", "in", "by", "all", "along", "out", "of")


def is_a_home(draft: Draft, tag: Tag) -> bool:
    """Whether "flat" is where somebody lives: "in a top floor flat"."""
    words = draft.page.words
    following = behind_tag(draft, tag)
    ends = lexicon.words("links") | lexicon.words("prepositions")
    if following is not None and following.norm not in ends:
        return False
    index = tag.first
    while index > 0 and words[index].joined and draft.noun_at(index - 1) is None:
        index -= 1
        if words[index].norm in lexicon.words("determiners"):
            return True
        if words[index].norm in lexicon.words("prepositions"):
            return False
    return False


def _is_drawn(draft: Draft, tag: Tag, index: int) -> bool:
    """Whether the word before is how a picture is made."""
    words = draft.page.words
    if not index or not words[index].joined:
        return False
    if words[index - 1].norm == "painted":  # "painted with oils", but not "with oil barrels"
        following = behind_tag(draft, tag)
        ends = lexicon.words("prepositions") | lexicon.words("links")
        return following is None or following.norm in ends
    return words[index - 1].norm in DRAWN


def _is_of_a_thing(draft: Draft, tag: Tag, lead: Word) -> bool:
    """Whether behind "in" the word tells of a thing: "in a clay pot", "covered in spray paint"."""
    words = draft.page.words
    if lead.index and words[lead.index - 1].norm in _COVERED and lead.joined:
        return True
    following = behind_tag(draft, tag)
    if following is None:
        return False
    if draft.noun_at(tag.last) is not None and all(noun.first > tag.first for noun in draft.nouns):
        return False  # "in watercolor the cactus", as nothing was named before
    return lexicon.is_wearable(following.norm) or lexicon.is_container(following.norm)


def is_subject(draft: Draft, word: str) -> bool:
    """Whether the catalog has checkpoints of the word itself: a doodle, not a doodled look."""
    entry = draft.lexicon.subjects.get(word)
    return entry is not None and bool(entry.subjects) and not (entry.narrower or entry.kind)


def _frames(draft: Draft, index: int) -> bool:
    """Whether "of" after this word opens what is shown, not what something is full of."""
    word = draft.page.words[index]
    if word.norm == "out" and index and draft.page.words[index - 1].norm.endswith("ing"):
        return False  # "roaring out of a comic panel"
    if word.norm in ("made", "out", "composed", "built", "form", "guise", "manner"):
        return True  # "made of pixels"
    if word.norm in ("which", "any", "either", "whichever"):
        return True  # "which of the oil-painted guitars"
    if word.norm == "one" and index and draft.page.words[index - 1].norm in ("page", "chapter"):
        return False  # "on page one of a comic book"
    kinds = ("selectors", "frames", "style_words", "determiners")
    return not draft.is_free(word) or any(word.norm in lexicon.words(kind) for kind in kinds)


def _does(words: Sequence[Word], index: int) -> bool:
    """Whether a clause says what a thing does, not what it looks like: "that burns oil"."""
    told = index > 0 and words[index].joined and words[index - 1].norm in ("that", "which", "who")
    entry = look_up(words[index].norm.removesuffix("s"))
    acts = entry is not None and entry.verb is not None and words[index].norm.endswith("s")
    acts = acts and words[index].norm not in _SEEMS
    return told and acts and words[index + 1].norm in STUFFS


def _acts(draft: Draft, word: Word, following: Word) -> bool:
    """Whether the subject does something to what follows: "a car crossing a salt flat"."""
    return (
        word.norm.endswith("ing")
        and word.norm in lexicon.verb_forms()
        and following.norm in lexicon.words("determiners")
        and any(noun.last <= word.index for noun in draft.nouns)
    )
