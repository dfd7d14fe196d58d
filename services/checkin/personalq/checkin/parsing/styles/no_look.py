"""Style words that are things, places or names: "an oil lamp", "the Art Deco hotel"."""

from __future__ import annotations

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.lexicon import wordnet
from personalq.checkin.nouns import is_kind_of
from personalq.checkin.parsing.draft import Draft, Tag
from personalq.checkin.parsing.styles.leads import LIKE
from personalq.checkin.parsing.styles.reached import (
    STUFFS,
    behind_tag,
    is_a_home,
    is_another_thing,
    is_subject,
)
from personalq.checkin.parsing.text import ends_before
from personalq.checkin.parsing.word_roles import is_ing_verb

_CHECKPOINT = frozenset(["checkpoint", "ckpt", "lora", "finetune", "version", "weights"])
_LIKENED = compile_form(
    r"(?<!\w)((dressed|disguised|posing|acting)( up)?|(got|made|done) up|"
    r"(kitted|decked|rigged|fitted) out) (like|as) (an?|the) ([\w-]+ )?$"
)
_STAINED = frozenset((
    "stained", "splattered", "spattered", "covered", "smeared", "soaked", "filled", "fired",
    "wrapped", "lined", "speckled",
))  # fmt: skip
_PUT_ON = frozenset(
    ["inked", "engraved", "etched", "embroidered", "stitched", "knitted", "stenciled"]
)
_PUT = compile_form(
    r" (on|onto|into|across) ((its|his|her|their) |"
    r"the (skin|arm|chest|back|neck|leg|shoulder)(?!\w))"
)
_FORMS = frozenset(["shape", "shaped", "cut"])
_PURPOSE = compile_form(r"(?<!\w)for (an?|the|my|our|this|that|some|next \w+'s) (\w+ )?$")


def is_no_style(draft: Draft, tag: Tag, word: str, *, styled: bool) -> bool:
    """Whether the word is part of something else, or what the picture is for."""
    words = draft.page.words
    ends = tag.last < len(words) and not words[tag.last].joined
    shadow, start = draft.page.shadow, words[tag.first].start
    if ends and ends_before(_PURPOSE, shadow, start) and not ends_before(LIKE, shadow, start):
        return True  # "For the poster: an armchair", but not "could pass for a poster"
    if not tag.entry.exact and not styled and is_subject(draft, word):
        return True
    if not styled and _is_handled(draft, tag):
        return True
    behind = words[tag.last : tag.last + 1]
    particle = bool(behind) and behind[0].joined and behind[0].norm in ("up", "out", "down")
    if particle and not styled and [word.norm for word in words[tag.last + 1 :][:1]] != ["of"]:
        return True  # "inked-up", but not "ink wash out of the beach set"
    if (
        _is_place(draft, tag)
        or _are_photos_of_a_place(draft, tag, word)
        or _is_of_a_name(draft, tag)
        or _is_of_a_kind(draft, tag, word)
    ):
        return True
    following = behind_tag(draft, tag)
    if following is not None and following.norm in _FORMS:
        return True  # "in that retro shape"
    if following is not None and words[tag.first].norm == "in":
        first = draft.noun_at(tag.last) and all(noun.first > tag.first for noun in draft.nouns)
        if lexicon.is_wearable(following.norm) and not first:
            return True  # "in charcoal clothes"
    if following is not None and following.hyphen and following.norm in _STAINED:
        return True  # "in an oil-stained garage"
    if following is not None and following.hyphen and following.norm == "looking":
        thing = words[tag.last + 1] if tag.last + 1 < len(words) else None
        if thing is not None and is_another_thing(draft, thing):
            return True  # "a crocheted-looking cloth"
    if word in _PUT_ON and not styled and _PUT.match(shadow, words[tag.last - 1].end):
        return True  # "a bird inked on the skin"
    if word == "product shot" and not styled:
        return True
    if word == "studio shot" and not styled and words[tag.last - 1].hyphen:
        studio = draft.lexicon.environments.match_at(words, tag.first)
        return studio is not None and studio[1].known  # "the studio-shot chair"
    if word == "illustration":
        return _is_a_picture(draft, tag)
    if word in ("outlined", "outlines") and _are_of_a_thing(draft, tag, word):
        return True
    if word == "flat" and following is not None and following.hyphen:
        drawn = following.norm in ("shaded", "colored", "art", "drawn", "painted", "illustrated")
        return not (styled or drawn)  # "a flat-faced cat"
    return word == "flat" and not styled and (is_a_home(draft, tag) or _is_pressed(draft, tag))


def _is_a_picture(draft: Draft, tag: Tag) -> bool:
    """Whether an illustration is what is asked for, and no look: "an illustration of my bear",
    "homework illustration, a bear"; for something it always is: "an illustration for chapter one".
    """
    following = behind_tag(draft, tag)
    if following is not None:
        return following.norm == "for" or (following.norm == "of" and not tag.entry.exact)
    before = draft.page.words[: tag.first]
    if tag.entry.exact or not 0 < len(before) < 3 or not all(w.joined for w in before[1:]):
        return False
    purpose = before[-1]
    looks = any(each.first <= purpose.index < each.last for each in draft.styles)
    return not (
        looks or lexicon.is_adjective_like(purpose.norm) or lexicon.is_no_noun(purpose.norm)
    )


def _are_of_a_thing(draft: Draft, tag: Tag, word: str) -> bool:
    """Whether a thing has outlines: "leaf outlines cut out", "outlined like a heart"."""
    words = draft.page.words
    following = behind_tag(draft, tag)
    before = words[tag.first - 1] if tag.first and words[tag.first].joined else None
    if before is not None and (noun := draft.noun_at(before.index)) and noun.entry.subjects:
        return False  # "bear outlines", "a bear outlined like a coloring book"
    if word == "outlined":
        return following is not None and following.norm in ("like", "by", "against")
    return before is not None and lexicon.names_thing(before.norm)


def _is_pressed(draft: Draft, tag: Tag) -> bool:
    """Whether "flat" is how it was left: "squashed flat"."""
    words = draft.page.words
    return bool(tag.first) and words[tag.first].joined and words[tag.first - 1].norm.endswith("ed")


def _is_handled(draft: Draft, tag: Tag) -> bool:
    """Whether somebody does something to several of it: "a wizard sharpening pencils"; not where
    they are pictures of something: "making cartoons of my llama".
    """
    words = draft.page.words
    doing = words[tag.first - 1] if tag.first and words[tag.first].joined else None
    several = next(wordnet.singulars(words[tag.last - 1].norm), None)
    if doing is None or several is None or not doing.joined or not is_ing_verb(doing.norm):
        return False
    following = behind_tag(draft, tag)
    pictured = following is not None and following.norm == "of"
    return doing.index > 0 and not pictured and doing.norm not in ("using", "drawing", "painting")


def is_likened(draft: Draft, tag: Tag) -> bool:
    """Whether it is said of what the subject is like: "dressed like an old-time aristocrat"."""
    words = draft.page.words
    following = behind_tag(draft, tag)
    if following is None:
        return False
    behind = draft.page.words[following.index + 1 : following.index + 2]
    named = (following, *(w for w in behind if w.joined))  # "a comic-book | crime fighter"
    if not any(lexicon.names_thing(w.norm) for w in named):
        return False
    if any(following.norm in lexicon.words(kind) for kind in ("selectors", "frames")):
        return False
    likened = _LIKENED.search(draft.page.shadow, 0, words[tag.first].start)
    return likened is not None and not draft.nouns_cover(following.index)


_HOUSES = frozenset(
    ["shop", "store", "bookshop", "bookstore", "fair", "convention", "museum", "gallery", "expo",
     "festival", "factory", "warehouse", "class", "classroom", "academy"]
)  # fmt: skip
"""Where somebody sells, shows or teaches it."""


def _is_place(draft: Draft, tag: Tag) -> bool:
    """Whether a place's name begins with the look's: "a photo studio", "a comic shop"."""
    words, following = draft.page.words, behind_tag(draft, tag)
    if following is not None and following.norm in _HOUSES:
        ends = following.index + 1 == len(words) or not words[following.index + 1].joined
        ends = ends or words[following.index + 1].norm in lexicon.words("prepositions")
        led = words[tag.first - 2 : tag.first] if tag.first > 1 and words[tag.first].joined else ()
        there = bool(led) and led[0].norm in lexicon.words("prepositions")
        return there and led[-1].norm in lexicon.words("determiners") and ends
    match = draft.lexicon.environments.match_at(draft.page.words, tag.first)
    return match is not None and match[1].known and match[0] > tag.last - tag.first


def _are_photos_of_a_place(draft: Draft, tag: Tag, word: str) -> bool:
    """Whether they are what it was trained on: "the one from the beach | photos"."""
    if word not in ("photos", "pictures", "images", "shots") or not tag.first:
        return False
    for first in range(max(0, tag.first - 3), tag.first):
        match = draft.lexicon.environments.match_at(draft.page.words, first)
        if match is not None and match[1].known and first + match[0] == tag.first:
            return draft.page.words[tag.first].joined
    return False


def _is_of_a_name(draft: Draft, tag: Tag) -> bool:
    """Whether it belongs to a longer subject's name: a "clay teapot" where the catalog has them."""
    return any(
        noun.first <= tag.first and tag.last < noun.last and noun.entry.subjects
        for noun in draft.nouns
    )


def _is_of_a_kind(draft: Draft, tag: Tag, word: str) -> bool:
    """Whether a stuff and the subject behind it make a kind of it: an "oil lamp" is a lamp."""
    noun = draft.noun_at(tag.last)
    if noun is None or noun.first != tag.last or word not in STUFFS:
        return False
    subject = " ".join(w.norm for w in draft.page.words[noun.first : noun.last])
    return is_kind_of(f"{word} {subject}", subject)


def names_checkpoint(draft: Draft, tag: Tag) -> bool:
    """Whether the checkpoint itself is called by its look: "with the fresco checkpoint"."""
    following = behind_tag(draft, tag)
    return (
        following is not None
        and following.norm in _CHECKPOINT
        and not draft.nouns_cover(following.index)
    )


def is_my_model(draft: Draft, tag: Tag) -> bool:
    """Whether it tells which checkpoint: "with the sketch model", "earliest cgi one"."""
    words = draft.page.words
    before = words[tag.first - 1].norm if tag.first and words[tag.first].joined else ""
    if before and any(span.end + 1 == words[tag.first].start for span in draft.selecting):
        noun = draft.noun_at(tag.last)
        known = noun is not None and bool(noun.entry.subjects)  # "hides Mira's felt craft backpack"
        return known or draft.leads_to_selector(tag.last, reach=1)
    return before in ("the", "my", "our") and draft.leads_to_selector(tag.last)
