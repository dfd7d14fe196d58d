"""The noun of a chunk that is what is asked for."""

from __future__ import annotations

from collections.abc import Sequence

from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute
from personalq.checkin.lexicon import wordnet
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.heads.choices import is_modal, is_participle
from personalq.checkin.parsing.nouns.proper import is_ordinary
from personalq.checkin.parsing.numbers import ORDINALS
from personalq.checkin.parsing.text import Word


def _takes_it(draft: Draft, chunk: list[Word]) -> bool:
    """Whether a chunk is a verb that tells where the subject goes: "stick | it on a board"."""
    following = draft.page.words[chunk[-1].index + 1 : chunk[-1].index + 2]
    return len(chunk) == 1 and bool(following) and following[0].norm in ("it", "him", "her", "them")


def _is_thing(norm: str, chunk: list[Word], selector: bool) -> bool:
    """Whether a word names a thing: "cat-eye sunglasses" do, "the brown one" does not."""
    worn = norm in lexicon.wearables() or norm.removesuffix("s") in lexicon.wearables()
    return worn and not selector and len(chunk) > 1


def _has_version(draft: Draft, word: Word) -> bool:
    """Whether a version follows: an umbrella may be carried, "umbrella v3" is a checkpoint's."""
    versions = [c.span for c in draft.constraints if c.attribute is Attribute.VERSION and c.span]
    following = draft.page.words[word.index + 1 : word.index + 2]
    return bool(following) and any(following[0].span.meets(span) for span in versions)


def _opens(draft: Draft, chunk: list[Word]) -> bool:
    """Whether a request that names no subject begins with the chunk: "hat on a", "hat, cartoon"."""
    after = draft.page.words[chunk[-1].index + 1 : chunk[-1].index + 2]
    known = (draft.page.words[noun.first] for noun in draft.nouns if noun.entry.subjects)
    unknown = not any(draft.is_free(word) for word in known)
    placed = bool(after) and (
        after[0].norm in lexicon.words("prepositions") - {"of"} | {"with"}
        or is_participle(after[0])  # "umbrella blown over a roof"
    )
    placed = placed and after[0].joined
    said = len(chunk) - _is_of_what_comes_before(draft, chunk)
    listed = said == 1 and bool(after) and not after[0].joined  # "bagpipes, cartoon"
    unknown = unknown or (placed and _is_placed_by(draft, chunk, after[0]))
    return unknown and chunk[0].index == 0 and (placed or listed) and not draft.answering


def _is_placed_by(draft: Draft, chunk: list[Word], lead: Word) -> bool:
    """Whether a single thing stands where no part of a subject is: "pillow | under a cat"."""
    apart = ("under", "beside", "behind", "near", "between", "beneath", "above", "inside", "next")
    return len(chunk) == 1 and lead.norm in apart and not lexicon.is_wearable(chunk[0].norm)


def _is_of_what_comes_before(draft: Draft, chunk: list[Word]) -> bool:
    """Whether the thing is told before the last word: "wristwatch portrait", "chess set"."""
    last = chunk[-1]
    counted = last.norm in lexicon.words("quantities") or last.norm in lexicon.words("frames")
    known = any(noun.entry.subjects for noun in draft.nouns)
    whole = _opens_of(draft, last) or known
    return counted and not whole and len(chunk) > 1 and last.joined


def _opens_of(draft: Draft, word: Word) -> bool:
    """Whether "of" follows: "the third | of the towers"."""
    following = draft.page.words[word.index + 1 : word.index + 2]
    return bool(following) and following[0].joined and following[0].norm == "of"


def is_known_place(draft: Draft, word: Word) -> bool:
    """Whether a word is the very name of a place that cards have."""
    match = draft.lexicon.environments.match_at(draft.page.words, word.index)
    return match is not None and bool(match[1].exact)


def _without_claims_behind(draft: Draft, chunk: list[Word]) -> list[Word]:
    """What stands before a look that is told behind it: "octopus | in oil painting style"."""
    last = len(chunk)
    while last and not draft.is_free(chunk[last - 1]):
        last -= 1
    if last == len(chunk):
        return chunk
    led = any(span.meets(chunk[last].span) for span in draft.selecting)  # "the newest one"
    return chunk if led else chunk[:last]


def _is_of_a_sort(words: Sequence[Word], index: int) -> bool:
    """Whether a word with a hyphen only says of what kind something is: "the blow-up kind"."""
    behind = words[index + 1 : index + 3]
    return len(behind) == 2 and behind[0].hyphen and behind[1].norm in ("kind", "sort", "type")


def _holds_subject(draft: Draft, full: Word) -> bool:
    """Whether what something is full of is known: "a bowl full of cupcakes"."""
    inside = draft.noun_at(full.index + 2)
    return inside is not None and bool(inside.entry.subjects)


_BEING = frozenset(["asleep", "awake", "adrift", "afloat", "alone", "aboard", "aloft", "ablaze"])


def head_of(draft: Draft, chunk: list[Word]) -> Word | None:
    """The unknown head noun of a chunk, or None when it has none."""
    chunk = _without_claims_behind(draft, chunk)
    if not chunk:
        return None
    determined = any(word.norm in ("a", "an", "the", "my", "our") for word in chunk)
    determined = determined or (chunk[0].norm == "one" and len(chunk) > 1)
    determined = determined or any(not draft.is_free(word) for word in chunk[:-1])  # "oldest hat"
    limit = len(chunk)
    selector = False
    for position, word in enumerate(chunk):
        counts = word.norm == "one" and not position and len(chunk) > 1  # "one giraffe"
        if word.norm in lexicon.words("selectors") and draft.is_free(word) and not counts:
            limit, selector = position, True
            break
    while len(chunk) > 1 and chunk[-1].norm in _BEING:
        chunk = chunk[:-1]  # "a hamster | asleep"
    if len(chunk) > 1 and chunk[-1].norm == "full" and not _holds_subject(draft, chunk[-1]):
        chunk = chunk[:-1]  # "a bathtub | full of lemons"
    if _takes_it(draft, chunk) or chunk[-1].norm in ("what", "how"):
        return None
    if chunk[0].norm in ("all", "both") and chunk[0].index:
        return None  # of what was named before: "all heads singing"
    for word in reversed(chunk[:limit]):
        norm = word.norm
        if _is_of_a_sort(draft.page.words, word.index):
            continue  # "the blow-up kind"
        if not draft.is_free(word) or word.norm.startswith("<"):
            if selector or any(s.start <= word.start < s.end for s in draft.selecting):
                continue
            return None
        if not norm.isalpha() or len(norm) < 3 or norm in lexicon.words("determiners"):
            return None
        if norm.endswith("ly") and not wordnet.may_be_noun(norm):
            return None  # "the strongly | built snowman"
        if word is chunk[-1] and _is_of_what_comes_before(draft, chunk):
            continue
        if norm in lexicon.words("indefinite") or norm in lexicon.words("plain"):
            return None
        if norm == "once" or is_modal(draft.page.words, word.index):
            return None  # "once upon a time", "can a bear be on a boat?"
        if norm in ORDINALS and _opens_of(draft, word):
            return None  # "the third of the castle towers"
        called = determined or _opens(draft, chunk)
        called = (called and not selector) or _has_version(draft, word)
        named = called and lexicon.names_thing(norm)
        if norm in lexicon.colours():  # "a raven", but not "the raven"
            some = any(other.norm in ("a", "an", "my") for other in chunk)
            alone = not any(noun.entry.subjects for noun in draft.nouns)  # "the camel in a tent"
            named = named and (some or alone)
        if (
            norm in lexicon.words("scenes")
            or norm.removesuffix("s") in lexicon.words("scenes")
            or norm in lexicon.words("frames")
            or norm in lexicon.words("empty_adjectives")
            or (norm in lexicon.words("continuations") and not named)
            or draft.lexicon.styles.match_at(draft.page.words, word.index)
            or is_known_place(draft, word)
            or (
                norm in lexicon.description_groups()
                and not _is_thing(norm, chunk, selector)
                and not named
            )
        ):
            return None
        if lexicon.is_no_thing(norm) and (selector or not determined):
            return None
        if is_ordinary(word) and norm not in lexicon.words("selectors"):
            return None
        return word
    return None
