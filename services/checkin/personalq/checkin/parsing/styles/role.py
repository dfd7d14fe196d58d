"""Whether a style word is about the picture or about a thing in the scene."""

from __future__ import annotations

from collections.abc import Sequence

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.lexicon import wordnet
from personalq.checkin.lexicon.wordnet import look_up
from personalq.checkin.nouns import is_kind_of
from personalq.checkin.parsing.draft import Draft, Tag
from personalq.checkin.parsing.styles.frames import refuses
from personalq.checkin.parsing.styles.leads import (
    KEY,
    LIKE,
    NEGATION,
    SCENE_PREPOSITIONS,
    STYLED,
    THAT_IS,
)
from personalq.checkin.parsing.text import Word, ends_before
from personalq.checkin.parsing.word_roles import is_ing_verb

_IN_STYLE_OF = compile_form(
    r"(?<!\w)(style|look|manner|form|guise) of ((an?|the|some|those|old) )*$"
)
_PRONOUNS = frozenset(["it", "them", "there", "him", "her", "this"])
_CHECKPOINT = frozenset(["checkpoint", "ckpt", "lora", "finetune", "version", "weights"])
_OK_BEFORE = frozenset(["in", "as", "of", "using", "like", "for"])
_AS = compile_form(r"(?<!\w)as (if it were )?(an?|the) (real |true )?$")
_ONE_THAT_IS = compile_form(
    r"(?<!\w)((one|version|model)s?|those) (that|which)('s| (is|was|are|were)|"
    " looks? like) ((an?|the|in|real|actual) )*$"
)
_LIKENED = compile_form(
    r"(?<!\w)((dressed|disguised|posing|acting)( up)?|(got|made|done) up|"
    r"(kitted|decked|rigged|fitted) out) (like|as) (an?|the) ([\w-]+ )?$"
)
_COVERED = frozenset((
    "covered", "soaked", "drenched", "smeared", "coated", "splattered", "wrapped", "caked",
    "dressed",
))  # fmt: skip
DRAWN = frozenset(["drawn", "sketched", "rendered", "depicted", "illustrated"])
_GO = frozenset(["go", "going", "stick", "start"])
_SEEMS = frozenset(["looks", "seems", "appears", "comes", "uses", "has", "feels"])
_STUFFS = frozenset(["oil", "ink", "wood", "clay", "wool", "felt", "paper", "charcoal", "chalk"])
"""A look is made with these, and some things are too."""
_STAINED = frozenset((
    "stained", "splattered", "spattered", "covered", "smeared", "soaked", "filled", "fired",
    "wrapped", "lined", "speckled",
))  # fmt: skip
_AMONG = frozenset(["among", "amongst", "amid", "amidst", "across", "along", "beyond"])
_PUT_ON = frozenset(
    ["inked", "engraved", "etched", "embroidered", "stitched", "knitted", "stenciled"]
)
_PUT = compile_form(
    r" (on|onto|into|across) ((its|his|her|their) |"
    r"the (skin|arm|chest|back|neck|leg|shoulder)(?!\w))"
)
_PICTURES = frozenset(["painting", "portrait", "landscape", "picture", "print", "drawing"])
"""Things that may hang on a wall, in oils."""
_MOODS = frozenset(["scene", "mood", "atmosphere", "lighting", "light"])
_FORMS = frozenset(["shape", "shaped", "cut"])
_BAR_BEFORE = compile_form(r"(^|[|/]) ?$")
_BAR_BEHIND = compile_form(r" ?([|/]|$)")


_COMBINING = frozenset((
    "combine", "combines", "combining", "mix", "mixes", "mixing", "blend", "blends", "blending",
    "under", "both",
))  # fmt: skip
_PAIR = compile_form(" (and|plus|with|[+&]) ")
_PURPOSE = compile_form(r"(?<!\w)for (an?|the|my|our|this|that|some|next \w+'s) (\w+ )?$")


def constrains(draft: Draft, tag: Tag) -> bool:
    """Whether the style word is about the picture, not a thing in the scene."""
    word = " ".join(w.norm for w in draft.page.words[tag.first : tag.last])
    start = draft.page.words[tag.first].start
    styled = _is_styled(draft, tag)
    if _is_no_style(draft, tag, word, styled=styled):
        return False
    following = _following(draft, tag)
    if following is not None and following.norm in _MOODS:
        return tag.entry.known  # "film noir mood", where no checkpoint has that look
    common = word in lexicon.looks() or word in lexicon.style_things()
    if common and not (draft.answering or styled or _is_led_to(draft, tag, word)):
        return False
    if draft.answering or styled or _names_checkpoint(draft, tag) or _is_my_model(draft, tag):
        return True
    if ends_before(_ONE_THAT_IS, draft.page.shadow, start) or ends_before(
        KEY, draft.page.shadow, start
    ):
        return True
    if _is_likened(draft, tag):
        return False
    if ends_before(NEGATION, draft.page.shadow, start) or _is_paired(draft, tag):
        return True
    return _is_reached(draft, tag)


def _is_paired(draft: Draft, tag: Tag) -> bool:
    """Whether it is one of two looks in a row that are told of what is asked for: "combines pastel
    with stained glass", "the model with anime + pencil sketch"; not of "a room with both".
    """
    for other in draft.styles if tag.entry.known else ():
        first, second = sorted((tag, other), key=lambda each: each.first)
        between = draft.page.shadow[
            draft.span_of(first.first, first.last).end : draft.span_of(
                second.first, second.last
            ).start
        ]
        if other.entry.known and _PAIR.fullmatch(between) and _is_told_of_it(draft, first):
            return True
    return False


def _is_told_of_it(draft: Draft, tag: Tag) -> bool:
    """Whether what stands before a look says that the subject has it, or is listed under it."""
    words = draft.page.words
    lead = words[tag.first - 1] if tag.first and words[tag.first].joined else None
    if lead is None or lead.norm in _COMBINING:
        return lead is not None
    before = words[lead.index - 1] if lead.index and lead.joined else None
    if lead.norm not in ("with", "has", "having") or before is None:
        return False
    known = any(n.first <= before.index < n.last and n.entry.subjects for n in draft.nouns)
    return known or before.norm in lexicon.words("selectors") or before.norm in ("that", "which")


def _following(draft: Draft, tag: Tag) -> Word | None:
    """The word behind it in the same phrase."""
    following = draft.page.words[tag.last : tag.last + 1]
    return following[0] if following and following[0].joined else None


def _is_styled(draft: Draft, tag: Tag) -> bool:
    """Whether it says itself that it is a look: "a vintage look", "cartoon-style"."""
    last = draft.page.words[tag.last - 1]
    told = last.norm in ("look", "style", "finish")
    return told or STYLED.match(draft.page.shadow, last.end) is not None


def _is_no_style(draft: Draft, tag: Tag, word: str, *, styled: bool) -> bool:
    """Whether the word is part of something else, or what the picture is for."""
    words = draft.page.words
    ends = tag.last < len(words) and not words[tag.last].joined
    shadow, start = draft.page.shadow, words[tag.first].start
    if ends and ends_before(_PURPOSE, shadow, start) and not ends_before(LIKE, shadow, start):
        return True  # "For the poster: an armchair", but not "could pass for a poster"
    if not tag.entry.exact and not styled and _is_subject(draft, word):
        return True
    if not styled and _is_handled(draft, tag):
        return True
    particle = words[tag.last].norm in ("up", "out", "down") if tag.last < len(words) else False
    if particle and not styled and [word.norm for word in words[tag.last + 1 :][:1]] != ["of"]:
        return True  # "inked-up", but not "ink wash out of the beach set"
    if (
        _is_place(draft, tag)
        or _are_photos_of_a_place(draft, tag, word)
        or _is_of_a_name(draft, tag)
        or _is_of_a_kind(draft, tag, word)
    ):
        return True
    following = _following(draft, tag)
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
        if thing is not None and _is_another_thing(draft, thing):
            return True  # "a crocheted-looking cloth"
    if word in _PUT_ON and not styled and _PUT.match(shadow, words[tag.last - 1].end):
        return True  # "a bird inked on the skin"
    if word == "product shot" and not styled:
        return True
    if word == "studio shot" and not styled and words[tag.last - 1].hyphen:
        studio = draft.lexicon.environments.match_at(words, tag.first)
        return studio is not None and studio[1].known  # "the studio-shot chair"
    if word == "illustration" and following is not None and following.norm == "for":
        return True  # "an illustration for chapter three"
    if word == "flat" and following is not None and following.hyphen:
        drawn = following.norm in ("shaded", "colored", "art", "drawn", "painted", "illustrated")
        return not (styled or drawn)  # "a flat-faced cat"
    return word == "flat" and not styled and (_is_a_home(draft, tag) or _is_pressed(draft, tag))


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
    following = _following(draft, tag)
    pictured = following is not None and following.norm == "of"
    return doing.index > 0 and not pictured and doing.norm not in ("using", "drawing", "painting")


def _is_led_to(draft: Draft, tag: Tag, word: str) -> bool:
    """Whether something around a word that may be a thing says it is a look: "the photo bear"."""
    shadow, first = draft.page.shadow, draft.page.words[tag.first]
    following = _following(draft, tag)
    selectors = lexicon.words("selectors") - {"snapshot"}
    if following is not None and following.norm in selectors:
        return True
    if tag.last - tag.first > 1 and draft.leads_to_selector(tag.last, reach=3):
        return True  # "the cathedral-window scrawny one"
    if draft.noun_at(tag.last) is not None or _is_listed(draft, tag) or _is_of_subject(draft, tag):
        return True
    if word in lexicon.looks() and ends_before(NEGATION, shadow, first.start):
        return refuses(draft, first)
    leads = (NEGATION, KEY, _AS, LIKE, _IN_STYLE_OF, THAT_IS)
    return any(ends_before(pattern, shadow, first.start) for pattern in leads)


_OF_IT = compile_form(
    " ((take|spin|interpretation|rendition|rendering|treatment|study|portrait|version|shot|still|"
    "frame|poster|page|panel|print|picture|image) )?(of|on) "
    "((the|my|our|an?|that|this) )?"
)


def _is_of_subject(draft: Draft, tag: Tag) -> bool:
    """Whether a request opens with it, and it shows a subject: "Japanese print of the cup"."""
    if tag.last - tag.first == 1:
        return False  # "a poster of the kettle"
    if any(
        word.joined and draft.is_free(word) and word.norm not in _OPENING
        for word in draft.page.words[1 : tag.first]
    ):
        return False
    match = _OF_IT.match(draft.page.shadow, draft.page.words[tag.last - 1].end)
    shown = draft.page.word_at(match.end()) if match is not None else None
    noun = draft.noun_at(shown.index) if shown is not None else None
    return noun is not None and bool(noun.entry.subjects)


_OPENING = lexicon.words("openers") | lexicon.words("determiners") | {"me", "i", "want", "need"}


def _is_listed(draft: Draft, tag: Tag) -> bool:
    """Whether it stands alone in a list: "guitar | old-master | beside a jar"."""
    shadow, span = draft.page.shadow, draft.span_of(tag.first, tag.last)
    before = ends_before(_BAR_BEFORE, shadow, span.start)
    behind = _BAR_BEHIND.match(shadow, span.end)
    return before is not None and behind is not None and bool(before[0].strip() + behind[0].strip())


def _is_reached(draft: Draft, tag: Tag) -> bool:
    """Whether nothing before it in its phrase makes it a thing of the scene."""
    words = draft.page.words
    if words[tag.first].norm == "in":  # "on a shelf | in oils"
        pictured = bool(tag.first) and words[tag.first].joined
        pictured = pictured and words[tag.first - 1].norm.removesuffix("s") in _PICTURES
        following = _following(draft, tag)
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


def _is_another_thing(draft: Draft, thing: Word) -> bool:
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


def _is_a_home(draft: Draft, tag: Tag) -> bool:
    """Whether "flat" is where somebody lives: "in a top floor flat"."""
    words = draft.page.words
    following = _following(draft, tag)
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
        following = _following(draft, tag)
        ends = lexicon.words("prepositions") | lexicon.words("links")
        return following is None or following.norm in ends
    return words[index - 1].norm in DRAWN


def _is_of_a_thing(draft: Draft, tag: Tag, lead: Word) -> bool:
    """Whether behind "in" the word tells of a thing: "in a clay pot", "covered in spray paint"."""
    words = draft.page.words
    if lead.index and words[lead.index - 1].norm in _COVERED and lead.joined:
        return True
    following = _following(draft, tag)
    if following is None:
        return False
    if draft.noun_at(tag.last) is not None and all(noun.first > tag.first for noun in draft.nouns):
        return False  # "in watercolor the cactus", as nothing was named before
    return lexicon.is_wearable(following.norm) or lexicon.is_container(following.norm)


def _is_likened(draft: Draft, tag: Tag) -> bool:
    """Whether it is said of what the subject is like: "dressed like an old-time aristocrat"."""
    words = draft.page.words
    following = _following(draft, tag)
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


def _is_place(draft: Draft, tag: Tag) -> bool:
    """Whether a place's name begins with the look's: "a photo studio"."""
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
    if noun is None or noun.first != tag.last or word not in _STUFFS:
        return False
    subject = " ".join(w.norm for w in draft.page.words[noun.first : noun.last])
    return is_kind_of(f"{word} {subject}", subject)


def stands_last(draft: Draft, tag: Tag) -> bool:
    """Whether a look ends the request, behind a thing of the scene: "on a windy hill line art".

    It may as well be a thing: "beside the church fresco".
    """
    words = draft.page.words
    word = " ".join(w.norm for w in words[tag.first : tag.last])
    common = word in lexicon.looks() or word in lexicon.style_things()
    if common or _is_no_style(draft, tag, word, styled=False):
        return False
    if not words[tag.first].joined or tag.last < len(words) or tag.first < 2:
        return False
    thing = words[tag.first - 1]
    articles = (before.norm in ("a", "an", "the", "its") for before in words[: tag.first - 1][-2:])
    return any(articles) and lexicon.names_thing(thing.norm) and draft.is_free(thing)


def _names_checkpoint(draft: Draft, tag: Tag) -> bool:
    """Whether the checkpoint itself is called by its look: "with the fresco checkpoint"."""
    following = _following(draft, tag)
    return (
        following is not None
        and following.norm in _CHECKPOINT
        and not draft.nouns_cover(following.index)
    )


def _is_my_model(draft: Draft, tag: Tag) -> bool:
    """Whether it tells which checkpoint: "with the sketch model", "earliest cgi one"."""
    words = draft.page.words
    before = words[tag.first - 1].norm if tag.first and words[tag.first].joined else ""
    if before and any(span.end + 1 == words[tag.first].start for span in draft.selecting):
        noun = draft.noun_at(tag.last)
        known = noun is not None and bool(noun.entry.subjects)  # "hides Mira's felt craft backpack"
        return known or draft.leads_to_selector(tag.last, reach=1)
    return before in ("the", "my", "our") and draft.leads_to_selector(tag.last)


def _is_subject(draft: Draft, word: str) -> bool:
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
    return told and acts and words[index + 1].norm in _STUFFS


def _acts(draft: Draft, word: Word, following: Word) -> bool:
    """Whether the subject does something to what follows: "a car crossing a salt flat"."""
    return (
        word.norm.endswith("ing")
        and word.norm in lexicon.verb_forms()
        and following.norm in lexicon.words("determiners")
        and any(noun.last <= word.index for noun in draft.nouns)
    )
