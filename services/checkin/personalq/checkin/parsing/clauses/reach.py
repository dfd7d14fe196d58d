"""How far a clause goes: to a comma, a claimed word, another clause or the scene."""

from __future__ import annotations

from collections.abc import Sequence

from personalq.checkin import lexicon
from personalq.checkin.lexicon.wordnet import may_be_noun
from personalq.checkin.parsing.clauses.participles import (
    SHOWN,
    is_done_or_doing,
    of_its_own,
    tells_how,
)
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.text import Word
from personalq.checkin.parsing.word_roles import (
    PARTICIPLES,
    goes_on,
    is_ing_verb,
    leads_to_side,
    opens_compound,
)

_REACH = 14
"""Words of the longest clause."""
_CUT = 3
"""Words before which no scene begins inside a clause."""
RELATIVES = frozenset(["that", "which", "who"])


def leads_on(draft: Draft, run: Sequence[Word]) -> bool:
    """Whether a clause only leads to what says more: "the one built from | chunky pixels"."""
    behind = draft.page.words[run[-1].index + 1 : run[-1].index + 2]
    claimed = bool(behind) and behind[0].joined and not draft.is_free(behind[0])
    return claimed and not any(lexicon.names_thing(word.norm) for word in run)


def is_followed_by_another(draft: Draft, index: int) -> bool:
    """Whether "and has …" goes on behind a clause: "that is shy | and has a lead"."""
    words = draft.page.words
    joint = index < len(words) and words[index].joined and words[index].norm == "and"
    return joint and _goes_on_with_that(draft, index)


def content_of(run: Sequence[Word]) -> tuple[str, ...]:
    """The words of a clause that say something."""
    return tuple(word.norm for word in run if not lexicon.is_no_noun(word.norm))


def clause_from(draft: Draft, at: int) -> list[Word]:
    """The words of the clause, up to a comma, a claimed word, or where a scene begins."""
    run: list[Word] = []
    for word in draft.page.words[at : at + _REACH]:
        if (run and not word.joined) or not draft.is_free(word):
            break
        if run and word.norm in ("and", "but") and _goes_on_with_that(draft, word.index):
            break
        doing = is_being(run) and is_ing_verb(word.norm)
        if doing and goes_on(draft, word.index) and not of_its_own(draft, word.index + 1):
            return [*run, word]  # "that is grinning | beside a cup"
        acts = len(run) > 1 and goes_on(draft, word.index)  # "carrying flowers | leaning on"
        acts = acts and not opens_compound(draft, word)
        whom = len(run) > 1 and run[0].norm == "for" and not run[1].norm.endswith("ing")
        cut = 2 if whom or is_done_so(run) else _CUT
        if acts or (len(run) >= cut and _ends(draft, word, run)):
            break
        run.append(word)
    return run


def is_being(run: Sequence[Word]) -> bool:
    """Whether a clause has only said that something is: "that is | grinning"."""
    said = [word.norm for word in run]
    if len(run) == 1:
        return run[0].possessive and said[0] in RELATIVES  # "that's"
    return len(run) == 2 and said[0] in RELATIVES and said[1] in ("is", "are", "was")


def is_done_so(run: Sequence[Word]) -> bool:
    """Whether a verb is followed by how it is done: "bowing deeply | with a patch"."""
    if len(run) < 2 or not run[0].norm.endswith("ing"):
        return False
    manner = run[-1].norm
    return manner.endswith("ly") and manner not in ("only", "early") and not may_be_noun(manner)


_GOING_ON_DOING = frozenset((
    "stop", "stops", "stopped", "keep", "keeps", "kept", "start", "starts", "started", "begins",
    "likes", "loves", "enjoys", "hates", "finished", "finishes", "for", "about", "from", "without",
    "be",
))  # fmt: skip
"""Before what is done: "that can't stop | laughing", which is no scene."""
_GOING_ON = frozenset((
    "that", "which", "has", "with", "whose", "is", "wears", "holds", "carries", "wearing",
))  # fmt: skip
"""Behind "and": one more clause of the subject's."""


def _goes_on_with_that(draft: Draft, index: int) -> bool:
    """Whether another clause of the subject's begins: "with a crown | and that is pink", "that is
    olive | and looking worried".
    """
    words = draft.page.words[index + 1 : index + 3]
    if len(words) == 2 and words[0].norm in _GOING_ON and words[1].joined:
        return True
    if not words or not words[0].joined:
        return False
    if len(words) == 2 and words[1].joined and _is_made_or_meant(words[0].norm, words[1].norm):
        return True
    ends = len(words) < 2 or not words[1].joined or words[1].norm in lexicon.words("prepositions")
    coloured = ends and words[0].norm in lexicon.colours()  # "caked in mud | and turquoise"
    return coloured or is_done_or_doing(draft, index + 1)


def _is_made_or_meant(norm: str, following: str) -> bool:
    """Whether "and" adds what it is of, or for: "and | made of china", "and | for hauling hay"."""
    if norm == "made":
        return following in ("of", "from", "for", "to")
    return norm == "for" and following.endswith("ing")


def is_where(run: Sequence[Word]) -> bool:
    """Whether a relative clause only says in what scene it is: "that is on a beach"."""
    if run[0].norm not in RELATIVES or run[-1].norm not in lexicon.words("scenes"):
        return False
    being = run[0].possessive or run[1].norm in ("is", "are", "was")
    place = run[1 if run[0].possessive else 2].norm if len(run) > 2 else ""
    return being and place in lexicon.words("prepositions")


def _ends(draft: Draft, word: Word, run: Sequence[Word]) -> bool:
    """Whether a scene begins here: "who sits | on a pier", but "who is down on one knee"."""
    if word.norm in ("and", "then") and _orders(draft, word.index + 1):
        return True
    if run[-1].norm in _GOING_ON_DOING and is_ing_verb(word.norm):
        return False
    if is_done_so(run) and word.norm == "with":
        return True
    if run[0].norm in PARTICIPLES and (word.norm == "with" or tells_how(draft, word.index)):
        return True  # "made of jeans | with metal clasps", "made of layers | covered in nuts"
    if word.norm == "with":
        placed = run[-1].norm in lexicon.words("prepositions")
        return run[0].norm == "for" or (placed and bool(content_of(run)))
    if not _opens_scene(word) or _is_passive(word, run) or opens_compound(draft, word):
        return False
    if _is_left_so(draft, run):
        return False
    if run[0].norm in RELATIVES and not content_of(run):
        return False
    on_it = leads_to_side(draft.page.words, word.index, part_only=True)  # "over the ankle"
    return not (on_it or of_its_own(draft, word.index))


def _orders(draft: Draft, index: int) -> bool:
    """Whether the person goes on to say what to draw: "and | let it stand"."""
    words = draft.page.words[index : index + 2]
    opens = len(words) == 2 and words[0].norm in (*lexicon.words("openers"), "let", "have")
    return opens and words[1].norm in ("it", "him", "her", "them", "me")


def _is_passive(word: Word, run: Sequence[Word]) -> bool:
    """Whether "by" says who does it: "about to be hit by a wave", "that is struck by lightning"."""
    done = run[-1].norm in PARTICIPLES or run[-1].norm.endswith("ed")
    being = _BEING if done else _BEING - {"is", "are", "was"}
    return word.norm == "by" and any(w.norm in being for w in run)


_BEING = frozenset(["be", "being", "been", "getting", "gets", "got", "is", "are", "was"])


def _is_left_so(draft: Draft, run: Sequence[Word]) -> bool:
    """Whether what was done to it goes on: "that is caked | in mud", not "that is shown | in"."""
    if len(run) < 2 or run[-2].norm not in _BEING or run[-1].norm in SHOWN:
        return False
    following = draft.page.words[run[-1].index + 1].norm
    done = run[-1].norm.endswith("ed") or run[-1].norm in PARTICIPLES
    return tells_how(draft, run[-1].index) or (done and following in _OVER)


_OVER = frozenset(["across", "over", "for", "to", "into"])
"""Behind a participle: "that is thrown | over a chair", "that is packed | to bursting"."""


def _opens_scene(word: Word) -> bool:
    """Whether a scene may begin inside a clause: "with one ear | riding a carousel"."""
    if word.norm == "mid" or word.norm in lexicon.words("prepositions"):
        return word.norm not in ("like", "for", "from", "to")
    return word.norm in lexicon.verb_forms() and word.norm.endswith("ing")
