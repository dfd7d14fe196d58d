"""What a person says of the subject in a clause, to be compared by its meaning.

`parse_description` reads noun phrases and adjectives, which are compared word by word. People also
say "that somebody has shot", "in the form of a wading bird". Here the clause behind a subject
becomes one description, or is what the phrase in it is compared as. A place or an action behind the
subject is most likely the scene and left alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Constraint, Span
from personalq.checkin.lexicon import canonical, wordnet
from personalq.checkin.lexicon.stuffs import stuffs_in
from personalq.checkin.lexicon.wordnet import Nature, look_up, may_be_noun, nature
from personalq.checkin.nouns import is_kind_of
from personalq.checkin.parsing.apposition import renamed, sorts
from personalq.checkin.parsing.descriptions.parse_description import chosen_from, is_told_of
from personalq.checkin.parsing.descriptions.phrase import read_predicate
from personalq.checkin.parsing.descriptions.tail import read_tail
from personalq.checkin.parsing.draft import Draft, Noun
from personalq.checkin.parsing.styles.role import DRAWN
from personalq.checkin.parsing.text import Word
from personalq.checkin.parsing.word_roles import (
    PARTICIPLES,
    goes_on,
    is_adjective,
    is_ing_verb,
    is_of_the_scene,
    opens_compound,
    opens_contact,
    past_asides,
)

_REACH = 14
"""Words of the longest clause."""
_CUT = 3
"""Words before which no scene begins inside a clause."""
_TELLING = frozenset(
    ["got", "that", "which", "who", "whose", "where", "somebody", "someone", "some", "shaped",
     "like", "resembling", "you",
     "without", "lacking"]
)  # fmt: skip
"""Open a clause that says what the subject is like."""
_RELATIVES = frozenset(["that", "which", "who"])
_FORM = ("shape", "form", "guise", "likeness")
"""Of "in the shape of a skull"."""
_HAVING = frozenset(["with", "has", "have", "having", "had", "got"])
_NO_PLACE = frozenset((
    "of", "with", "by", "as", "like", "to", "from", "out", "up", "for", "without", "through",
    "into",
))  # fmt: skip
_FOR_WHOM = frozenset(
    ["friend", "friends", "client", "boss", "mum", "mom", "dad", "wife", "husband", "fan", "fans",
     "kids", "customer", "customers"]
)  # fmt: skip
"""Who gets the picture, not who uses what it shows."""
_HOW = frozenset(["with", "in", "by", "as", "like", "all", "up"])
"""Behind "covered", "dressed", "clawed": it looks so. "Perched on" says where it is."""
_MOVED = frozenset(["startled", "amazed", "astonished", "frightened", "surprised", "alarmed"])
"""The same before "at"."""
_SHOWN = frozenset((
    "photographed", "rendered", "cropped", "zoomed", "blurred", "centered", "framed", "isolated",
    "reflected", "captured", "pictured", "filmed", "placed", "positioned", "lit",
))  # fmt: skip
"""Behind a comma they say how the picture is made."""
_FOLLOWING = frozenset((
    "according", "assuming", "considering", "following", "including", "starting", "regarding",
    "concerning", "depending", "excluding", "ignoring", "meaning",
))  # fmt: skip
"""What ends in "-ing" and nothing does."""
_CLAD = frozenset(["bound", "clad", "wound", "dyed", "woven", "sewn"])
"""Participles that do not end in "-ed", or are short."""
_HUNG = frozenset(["tied", "strung", "hung"])
"""The same, of what may hang in a tree."""
_CORDS = frozenset((
    "ribbon", "ribbons", "thread", "lights", "lace", "string", "rope", "cord", "chains", "tinsel",
    "bunting", "beads", "bow", "bows", "knot", "knots", "wire", "leather",
))  # fmt: skip
"""What something may be tied or hung in, and look so."""
_LEFT = frozenset(["parked", "seated", "stored", "located", "stranded", "moored", "anchored"])
"""Before "in" and "by" they say where it is."""
_GOT = frozenset(["got", "done", "made", "dressed", "dolled", "decked", "kitted", "wrapped"])
"""Before "up as" and "out in": it looks so."""
_RESEMBLANCE = compile_form(
    "(just )?((like|the way|as) ((it|he|she|they|you|one|people)('d| would| might|"
    " could)? (be )?(looks?|appears?|sees?|finds?|drawn|shown|seen|know) )?|like something |"
    r"(straight|right) out |as (seen|shown|drawn|pictured) )(in|from|on|of|out of)(?!\w) "
)
"""Before what a picture resembles as a whole: "the way it would look in an atlas"."""
_OWNERS = frozenset(["its", "his", "her", "their", "him", "it", "them"])
_PARTICLES = frozenset(["down", "over", "off", "out", "open", "apart", "together", "shut"])
_SURROUNDINGS = frozenset(["surrounded", "flanked", "engulfed", "bathed", "silhouetted", "backlit"])
"""What they begin is the picture's: "surrounded by falling leaves"."""
_OF_THE_PICTURE = frozenset((
    "printing", "posting", "sharing", "using", "showing", "framing", "making", "generating",
    "drawing", "painting", "rendering", "illustrating", "advertising", "selling", "testing",
    "training", "publishing", "editing",
))  # fmt: skip
"""What is done with a picture, or to make it: "use the one for printing"."""
_MEDIA = frozenset((
    "mug", "mugs", "tattoo", "tattoos", "card", "cards", "video", "videos", "demo", "badge",
    "poster", "posters", "print", "prints", "cover", "covers", "sticker", "stickers", "shirt",
    "shirts", "calendar", "slides", "slide", "deck", "story", "stories", "book", "website", "site",
    "blog", "shop", "catalog", "banner", "logo", "icon", "icons", "avatar", "wallpaper", "poll",
    "production", "work", "home", "now", "today", "tomorrow", "tonight", "tests", "test", "use",
    "reference", "comparison", "inspiration", "fun", "christmas", "easter", "halloween", "sale",
    "pictures", "picture", "images", "image", "photos", "photo", "portraits", "portrait", "scenes",
    "spring", "summer", "autumn", "fall", "winter", "release", "launch", "clients", "customers",
))  # fmt: skip
"""What a picture is for, and no thing's use."""
_USE = 3
"""Words of what one is used for."""
_FILLERS = frozenset(["was", "is", "it", "there", "one", "ones", "again", "please", "i", "mean"])
"""May stand between a subject and its clause: "which boat was it that …"."""


_STUFF = 4
"""Words of "in cast iron", and one more."""
_STUFF_ENDS = frozenset(
    ["that", "which", "we", "i", "from", "please", "with", "made", "built", "on", "in", "at"]
)
"""What may follow a stuff; "in paper clothes" does not say what a doll is made of."""


def parse_clauses(draft: Draft) -> None:
    """Add clauses that nothing has read, and to descriptions the clause they stand in."""
    subject = next((c for c in draft.constraints if c.attribute is Attribute.SUBJECT), None)
    if subject is None or subject.span is None:
        return
    words = draft.page.words
    heads = [n for n in draft.nouns if draft.span_of(n.first, n.last) == subject.span]
    for noun in (*heads, *renamed(draft, heads)):
        _behind(draft, noun.last)
    for index in sorts(words) if heads else ():
        _behind(draft, index + 1)
    for index in chosen_from(draft) if heads else ():
        _behind(draft, index + 1)
    for word in words:
        if heads and _is_aside(draft, word):
            _read_clause(draft, word.index)
        if word.norm in lexicon.words("selectors") and not draft.nouns_cover(word.index):
            _behind(draft, word.index + 1)
        if heads and is_told_of(words, word.index):
            _behind(draft, word.index + 1)


_BESIDES = frozenset(["with", "whose", "which"])
"""What a subject has besides what was described: "with an upper floor, | which has a fence"."""
_MADE = frozenset(["made", "built", "crafted", "carved", "sewn", "knitted", "woven"])
"""Before what it is of besides: "that serves food, | made of cardboard"."""
_NO_MORE = frozenset(
    ["the", "a", "an", "as", "in", "like", "that", "which", "was", "is", "way", "manner"]
)
_SAYING_NO_MORE = _NO_MORE | lexicon.words("selectors") | lexicon.words("openers")
"""Beside "painted" they say nothing more."""
_DRAWN = DRAWN | {"painted"}


def _is_drawn(run: Sequence[Word]) -> bool:
    """Whether a clause only leads to a look: "using the one painted | in oils"."""
    told = {word.norm for word in run} - _SAYING_NO_MORE
    return bool(told) and told <= _DRAWN


def _is_aside(draft: Draft, word: Word) -> bool:
    """Whether a comma leads to what the subject has besides: "in oils, | crowned with leaves"."""
    words = draft.page.words
    if not word.index or word.index + 1 >= len(words):
        return False
    if word.joined:
        return _goes_on_about_it(draft, word)
    before, following = words[word.index - 1], words[word.index + 1]
    told = word.norm.endswith("ed") and len(word.norm) > 4 and following.norm in ("with", "by")
    made = word.norm in _MADE and following.norm in ("of", "from", "out")
    in_stuff = word.norm.endswith("ed") and len(_in_stuff(draft, word.index + 1)) > 1
    made = made or in_stuff  # "upholstered in leather"
    told_last = _is_last_described(draft, _before_all_over(words, before)) or (
        made and _before_scene(draft, before)
    )
    if told_last and (told or made or word.norm in _BESIDES):
        return draft.is_free(word) and not is_of_the_scene(words, word.index)
    behind = not draft.is_free(before) or before.norm in lexicon.words("selectors")
    told = told or (word.norm == "which" and not draft.is_free(before))
    shown = word.norm in _SHOWN
    told = told or (not shown and _ends_subject(draft, before) and _tells_how(draft, word.index))
    if before.norm in lexicon.words("selectors") and _is_told_aside(draft, word):
        return True
    return behind and (told or made) and draft.is_free(word)


def _is_told_aside(draft: Draft, word: Word) -> bool:
    """Whether the one that was chosen does something: "the rust one, | leaning to one side"."""
    the = draft.page.words[max(0, word.index - 4) : word.index - 1]
    doing = word.norm.endswith("ing") and is_ing_verb(word.norm) and not _is_only_noun(word.norm)
    doing = doing and word.norm not in _FOLLOWING
    return doing and draft.is_free(word) and any(each.norm == "the" for each in the)


def _ends_subject(draft: Draft, word: Word) -> bool:
    """Whether it is the last word of what is asked for: "one kettle, | shaped like a goose"."""
    return any(n.last == word.index + 1 and n.entry.subjects for n in draft.nouns)


def _goes_on_about_it(draft: Draft, word: Word) -> bool:
    """Whether "and" adds a clause to what has been read: "trained in an attic and | that sings"."""
    lead = draft.page.words[word.index - 1]
    before = draft.page.words[lead.index - 1] if lead.index and lead.joined else None
    if lead.norm != "and" or before is None or not draft.is_free(word):
        return False
    if _is_last_described(draft, before) and word.norm in _MADE:
        return True  # "with freckles and | made of rags"
    named = draft.nouns_cover(before.index)  # "the dog and cooking dinner" is a scene
    more = word.norm in ("that", "which", "with", "whose")
    more = more or (not named and _is_done_or_doing(draft, word.index))
    return not draft.is_free(before) and more


def _before_all_over(words: Sequence[Word], word: Word) -> Word:
    """The word before "all over", which only says how much of it has a colour."""
    over = word.norm == "over" and word.index > 1 and words[word.index - 1].norm == "all"
    return words[word.index - 2] if over else word


def _is_last_described(draft: Draft, word: Word) -> bool:
    """Whether a description ends with a word."""
    return any(
        c.attribute is Attribute.DESCRIPTION and c.span is not None and c.span.end == word.full_end
        for c in draft.constraints
    )


def _before_scene(draft: Draft, word: Word) -> bool:
    """Whether a scene up to a word is behind a description: "that prints pictures on the spot"."""
    while word.joined and word.index and draft.is_free(word):
        word = draft.page.words[word.index - 1]
        if _is_last_described(draft, word):
            return True
    return False


def _behind(draft: Draft, index: int) -> None:
    """Read the clause that begins at or behind word `index`."""
    at = _opening(draft, index)
    if at is not None:
        _read_clause(draft, at)


def _read_clause(draft: Draft, at: int) -> None:
    """Read the clause that begins at word `at`."""
    if draft.page.words[at].norm.endswith("ed") and (stuff := _in_stuff(draft, at + 1)):
        _made_of(draft, stuff)
        return
    if stuff := _in_stuff(draft, at):
        _made_of(draft, stuff)
        return
    likened = _likened(draft, at)
    telling = likened > at or _is_telling(draft, at)
    if not telling and not _is_action(draft, at):
        return
    run = _run(draft, likened)
    alone = len(run) == 1 and _is_all_it_does(draft, run[0])
    if (len(run) < 2 and not alone) or _is_where(run) or _is_drawn(run):
        return
    apart = _tells_apart(draft, at)
    if run[0].norm in _SURROUNDINGS and not apart:
        return
    if apart and _leads_on(draft, run):
        return
    goes_on = _is_followed_by_another(draft, run[-1].index + 1)
    if run[0].norm in PARTICIPLES or run[0].norm == "for" or _is_done_so(run):
        read_tail(draft, run[-1].index + 1)
    elif goes_on:
        _read_next(draft, run[-1].index + 2)
    made = run[-3:]
    if len(made) == 3 and made[0].norm in ("made", "built") and made[1].norm in ("of", "from"):
        _made_of(draft, made)
        return
    span = Span(run[0].start, run[-1].full_end)
    said = _without_lead(run).of(draft.page.text)
    inside = [
        (place, constraint)
        for place, constraint in enumerate(draft.constraints)
        if constraint.attribute is Attribute.DESCRIPTION
        and not constraint.hard
        and constraint.span is not None
        and constraint.span.meets(span)
    ]
    if not telling:
        if not inside:
            _add(draft, span, _content(run), action=True)
    elif len(inside) == 1:
        place, constraint = inside[0]
        if not constraint.said and constraint.text in said:
            draft.constraints[place] = replace(constraint, said=(said,))
    elif len(inside) == 2 and all(len(c.values) == 1 for _, c in inside):
        both = _both(draft, [c.span for _, c in inside if c.span is not None])
        for place, constraint in inside:
            draft.constraints[place] = replace(constraint, said=(constraint.text, both))
    elif not inside:
        _add(draft, span, _content(run), action=likened > at)


def _read_next(draft: Draft, at: int) -> None:
    """Read what "and" adds: "is struck by lightning", "turquoise", "looking worried"."""
    word = draft.page.words[at]
    being = word.norm == "is" and at + 1 < len(draft.page.words)
    if being and not _is_done_or_doing(draft, at + 1):
        read_predicate(draft, at + 1)
    elif being or _is_done_or_doing(draft, at):
        _read_clause(draft, at + being)
    elif word.norm in _RELATIVES:
        _read_clause(draft, at)
    elif word.norm in lexicon.colours():
        read_predicate(draft, at)
    else:
        read_tail(draft, at)


def _is_all_it_does(draft: Draft, word: Word) -> bool:
    """Whether a verb alone ends what is said: "the white parrot | flying"."""
    behind = draft.page.words[word.index + 1 : word.index + 2]
    ends = not behind or not behind[0].joined
    return ends and word.norm.endswith("ing") and is_ing_verb(word.norm)


def _leads_on(draft: Draft, run: Sequence[Word]) -> bool:
    """Whether a clause only leads to what says more: "the one built from | chunky pixels"."""
    behind = draft.page.words[run[-1].index + 1 : run[-1].index + 2]
    claimed = bool(behind) and behind[0].joined and not draft.is_free(behind[0])
    return claimed and not any(lexicon.names_thing(word.norm) for word in run)


def _is_followed_by_another(draft: Draft, index: int) -> bool:
    """Whether "and has …" goes on behind a clause: "that is shy | and has a lead"."""
    words = draft.page.words
    joint = index < len(words) and words[index].joined and words[index].norm == "and"
    return joint and _goes_on_with_that(draft, index)


def _made_of(draft: Draft, run: Sequence[Word]) -> None:
    """Read a material as before the subject: "the doll made of felt" is a felt doll."""
    span = Span(run[0].start, run[-1].full_end)
    if any(
        c.attribute is Attribute.DESCRIPTION and c.span and c.span.meets(span)
        for c in draft.constraints
    ):
        return
    stuff = run[1:] if run[0].norm in ("in", "of") else run[-1:]
    text = Span(stuff[0].start, stuff[-1].full_end).of(draft.page.text)
    draft.constraints.append(
        Constraint(
            attribute=Attribute.DESCRIPTION,
            values=tuple(word.norm for word in stuff),
            hard=False,
            said=(text,),
            span=span,
            text=text,
            label=span.of(draft.page.text),
        )
    )


def _in_stuff(draft: Draft, at: int) -> Sequence[Word]:
    """The words of "in metal" where they say what a subject is made of, and nothing goes on."""
    words = draft.page.words[at : at + _STUFF]
    worn = any(n.last <= at and _is_dressed(draft, n) for n in draft.nouns[:1])
    if (
        worn
        or not words
        or words[0].norm not in ("in", "of")
        or len(words) < 2
        or not words[1].joined
    ):
        return ()
    run = [words[0], *itertools.takewhile(lambda w: w.joined and draft.is_free(w), words[1:])]
    for length in range(len(run), 1, -1):
        following = draft.page.words[at + length : at + length + 1]
        ends = not following or not following[0].joined or following[0].norm in _STUFF_ENDS
        for first in range(1, length if ends else 1):
            name = " ".join(word.norm for word in run[first:length])
            if name in stuffs_in(name):
                return run[:length]
            if not _is_fine(run[first]):
                break
    return ()


def _is_fine(word: Word) -> bool:
    """Whether an adjective may stand before a stuff: "in delicate china", "in faceted glass"."""
    adjective = is_adjective(word.norm) or (word.norm.endswith("ed") and len(word.norm) > 4)
    return adjective and word.norm not in lexicon.colours()


def _is_dressed(draft: Draft, noun: Noun) -> bool:
    """Whether a subject may wear what it is "in": a doll in silk, an owl in felt."""
    name = canonical(draft.span_of(noun.first, noun.last).of(draft.page.text))
    return any(is_kind_of(name, each) for each in ("person", "animal", "doll", "toy", "figure"))


def _likened(draft: Draft, at: int) -> int:
    """Where what the subject is likened to begins: "like in | an old comic"; else `at`."""
    match = _RESEMBLANCE.match(draft.page.shadow, draft.page.words[at].start)
    word = draft.page.word_at(match.end()) if match else None
    return at if word is None else word.index


def _content(run: Sequence[Word]) -> tuple[str, ...]:
    return tuple(word.norm for word in run if not lexicon.is_no_noun(word.norm))


def _without_lead(run: Sequence[Word]) -> Span:
    """The clause without "with" or "has", which likens it to anything that has something."""
    first = run[1] if run[0].norm in _HAVING else run[0]
    return Span(first.start, run[-1].full_end)


def _add(draft: Draft, span: Span, content: tuple[str, ...], *, action: bool = False) -> None:
    if content:
        said = span.of(draft.page.text)
        draft.constraints.append(
            Constraint(
                attribute=Attribute.DESCRIPTION,
                values=content,
                hard=False,
                phrase=True,
                said=(said,),
                action=action,
                span=span,
                text=said,
                label=said,
            )
        )


def _both(draft: Draft, spans: list[Span]) -> str:
    """Two bare nouns as the one thing they may be: "skull and crossbones"."""
    return Span(min(spans).start, max(spans).end).of(draft.page.text)


def _opening(draft: Draft, index: int) -> int | None:
    """The first word of the clause: behind what other constraints claim and what says nothing."""
    words = draft.page.words
    aside = past_asides(words, index)
    if index < aside < len(words):
        return aside  # "the goat, you know, with the bell"
    while index < len(words) and words[index].joined:
        word = words[index]
        if draft.is_free(word) and word.norm not in _FILLERS:
            return index
        index += 1
    return None


def _run(draft: Draft, at: int) -> list[Word]:
    """The words of the clause, up to a comma, a claimed word, or where a scene begins."""
    run: list[Word] = []
    for word in draft.page.words[at : at + _REACH]:
        if (run and not word.joined) or not draft.is_free(word):
            break
        if run and word.norm in ("and", "but") and _goes_on_with_that(draft, word.index):
            break
        acts = len(run) > 1 and goes_on(draft, word.index)  # "carrying flowers | leaning on"
        acts = acts and not opens_compound(draft, word)
        whom = len(run) > 1 and run[0].norm == "for" and not run[1].norm.endswith("ing")
        cut = 2 if whom or _is_done_so(run) else _CUT
        if acts or (len(run) >= cut and _ends(draft, word, run)):
            break
        run.append(word)
    return run


def _is_done_so(run: Sequence[Word]) -> bool:
    """Whether a verb is followed by how it is done: "bowing deeply | with a patch"."""
    if len(run) < 2 or not run[0].norm.endswith("ing"):
        return False
    manner = run[-1].norm
    return manner.endswith("ly") and manner not in ("only", "early") and not may_be_noun(manner)


_GOING_ON = frozenset(["that", "which", "has", "with", "whose", "is"])
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
    ends = len(words) < 2 or not words[1].joined or words[1].norm in lexicon.words("prepositions")
    coloured = ends and words[0].norm in lexicon.colours()  # "caked in mud | and turquoise"
    return coloured or _is_done_or_doing(draft, index + 1)


def _is_done_or_doing(draft: Draft, at: int) -> bool:
    """Whether a participle says how the subject is, or what it does: "rimed with ice"."""
    word = draft.page.words[at]
    if not word.joined or not draft.is_free(word) or opens_compound(draft, word):
        return False
    if word.norm.endswith("ing"):
        return is_ing_verb(word.norm) and not _is_only_noun(word.norm)
    by_whom = [each.norm for each in draft.page.words[at + 1 : at + 2]] == ["by"]
    done = by_whom and (word.norm in PARTICIPLES or word.norm.endswith("ed"))
    return word.norm not in _SHOWN and (done or _tells_how(draft, at))


def _is_where(run: Sequence[Word]) -> bool:
    """Whether a relative clause only says in what scene it is: "that is on a beach"."""
    if run[0].norm not in _RELATIVES or run[-1].norm not in lexicon.words("scenes"):
        return False
    being = run[0].possessive or run[1].norm in ("is", "are", "was")
    place = run[1 if run[0].possessive else 2].norm if len(run) > 2 else ""
    return being and place in lexicon.words("prepositions")


def _ends(draft: Draft, word: Word, run: Sequence[Word]) -> bool:
    """Whether a scene begins here: "who sits | on a pier", but "who is down on one knee"."""
    if word.norm in ("and", "then") and _orders(draft, word.index + 1):
        return True
    if _is_done_so(run) and word.norm == "with":
        return True
    if run[0].norm in PARTICIPLES and (word.norm == "with" or _tells_how(draft, word.index)):
        return True  # "made of jeans | with metal clasps", "made of layers | covered in nuts"
    if word.norm == "with":
        placed = run[-1].norm in lexicon.words("prepositions")
        return run[0].norm == "for" or (placed and bool(_content(run)))
    if not _opens_scene(word) or _is_passive(word, run) or opens_compound(draft, word):
        return False
    if _is_left_so(draft, run):
        return False
    if run[0].norm in _RELATIVES and not _content(run):
        return False
    return not _of_its_own(draft, word.index)


def _orders(draft: Draft, index: int) -> bool:
    """Whether the person goes on to say what to draw: "and | let it stand"."""
    words = draft.page.words[index : index + 2]
    opens = len(words) == 2 and words[0].norm in (*lexicon.words("openers"), "let", "have")
    return opens and words[1].norm in ("it", "him", "her", "them", "me")


def _of_its_own(draft: Draft, index: int) -> bool:
    """Whether a preposition opens something of the subject's: "on his knees", "in its beak"."""
    words = draft.page.words
    following = words[index + 1] if index + 1 < len(words) else None
    return following is not None and following.joined and following.norm in _OWNERS


def _is_on_itself(draft: Draft, index: int) -> bool:
    """Whether a preposition leads to a part of the subject: "on its side", "on its stand", not
    "in its den".
    """
    part = draft.page.words[index + 2 : index + 3]
    if not part or not part[0].joined or not _of_its_own(draft, index):
        return False
    parts = lexicon.words("parts") | lexicon.words("sides") | _LIMBS
    lead = draft.page.words[index].norm
    return lead in lexicon.words("prepositions") and part[0].norm in parts


_LIMBS = frozenset((
    "head", "knees", "feet", "legs", "haunches", "stomach", "tummy", "hind", "cheek", "face",
    "eyes", "mouth", "stand", "base",
))  # fmt: skip


def _is_telling(draft: Draft, at: int) -> bool:
    """Whether a clause that begins so tells what the subject is like, and not where it is."""
    words = draft.page.words
    norm = words[at].norm
    if norm in _TELLING or norm in lexicon.words("bearing"):
        return True
    if norm == "for":
        return _is_purpose(draft, at)
    if opens_contact(words, at) or _tells_apart(draft, at):
        return True
    if norm in ("in", "with") and any(w.norm in _FORM for w in words[at + 1 : at + 3]):
        return True
    return _tells_how(draft, at)


_CHOOSING = frozenset(
    ["mean", "meaning", "use", "using", "pick", "picking", "take", "taking", "it", "is"]
)
_BESIDE = frozenset(["next", "beside"])
_SEVERAL = frozenset(["two", "three", "both", "several", "pair"])
_FINITE = frozenset(["is", "are", "was", "were", "will"])
_GOES_ON = frozenset(["and", "that", "which", "who"])


def _tells_apart(draft: Draft, at: int) -> bool:
    """Whether a clause says which one is meant, wherever that is: ", the one | standing on stilts",
    "I mean the one | busy with needles", but not "put the one | standing there", "the one | lit
    window in the street", "the one | standing at the wheel is a dog".
    """
    if at < 2:
        return False
    words = draft.page.words
    one, first = words[at - 1 : at + 1]
    the = words[at - 2]
    while the.index and the.joined and is_adjective(the.norm):
        the = words[the.index - 1]  # "the orange one | winking"
    if (the.norm, one.norm) != ("the", "one") or not (one.joined and first.joined):
        return False
    chosen = the.index > 0 and the.joined
    if chosen and words[the.index - 1].norm not in _CHOOSING:
        return False
    if (not chosen and _are_several(draft, the.index)) or _is_sentence(words, at):
        return False  # "two kettles, the one leaning over the other"
    norm = first.norm
    behind = words[at + 1] if at + 1 < len(words) and words[at + 1].joined else None
    if norm in _BESIDE:
        return all(word.norm not in _OWNERS for word in words[at + 2 : at + 3])
    places = lexicon.words("prepositions")
    modifies = behind is not None and lexicon.names_thing(behind.norm) and behind.norm not in places
    if norm.endswith("ing") and len(norm) > 4:
        single = modifies and behind is not None and not _is_several(behind)
        of_a_thing = modifies and (single or opens_compound(draft, first))
        return is_ing_verb(norm) and not of_a_thing and not _is_only_noun(norm)
    if modifies:
        return False
    if norm in PARTICIPLES or norm == "left" or (norm.endswith("ed") and len(norm) > 4):
        return True
    entry = look_up(norm)
    told = is_adjective(norm) or (entry is not None and entry.mostly_adjective)
    return told and norm not in places and norm != "like"  # "the one | near the pier"


def _is_several(word: Word) -> bool:
    return next(wordnet.singulars(word.norm), None) is not None


def _are_several(draft: Draft, end: int) -> bool:
    """Whether a count of the subject stands before word `end`: "two kettles"."""
    words = draft.page.words[:end]
    return any(word.norm in _SEVERAL and draft.nouns_cover(word.index + 1) for word in words)


def _is_only_noun(norm: str) -> bool:
    return norm in ("evening", "morning", "building", "ceiling", "wedding", "painting", "drawing")


def _is_sentence(words: Sequence[Word], at: int) -> bool:
    """Whether a verb makes a sentence of a clause: "standing at the wheel | is a dog"."""
    for word in itertools.takewhile(lambda w: w.index == at or w.joined, words[at:]):
        if word.norm in _FINITE and words[word.index - 1].norm not in _GOES_ON:
            return True
    return False


def _tells_how(draft: Draft, at: int) -> bool:
    """Whether a participle says what the subject looks like: "covered in nuts"."""
    words = draft.page.words[at : at + 3]
    norm = words[0].norm
    if norm in _GOT and words[2:] and words[1].norm in ("up", "out") and words[2].norm in _HOW:
        return True  # "done up like a present"
    if norm in _HUNG or norm in _LEFT:
        behind = [w.norm for w in draft.page.words[at + 1 : at + 6]]
        behind = behind[behind[:1] == ["up"] :]
        bound = norm in _HUNG and behind[:1] == ["in"] and _is_cord(draft, at + 2)
        return bound or behind[:1] in (["with"], ["like"], ["as"])
    participle = norm in _CLAD or (norm.endswith("ed") and len(norm) > 4)
    if norm in _MOVED and [w.norm for w in words[1:2]] == ["at"]:
        return True
    if (participle or norm in PARTICIPLES) and _is_with_particle(words):
        return True
    return participle and len(words) > 1 and words[1].norm in _HOW


def _is_cord(draft: Draft, at: int) -> bool:
    """Whether the thing named from a word on is a cord: "a red ribbon", not "a leather shop"."""
    run = [*itertools.takewhile(lambda word: word.joined, draft.page.words[at : at + 4])]
    cord = next((place for place, word in enumerate(run) if word.norm in _CORDS), None)
    if cord is None:
        return False
    behind = run[cord + 1 : cord + 2]
    following = (lexicon.words("prepositions") | lexicon.words("links")) - {"of"}
    return not behind or behind[0].norm in following


def _is_with_particle(words: Sequence[Word]) -> bool:
    """Whether "down" or "over" belongs to a participle: "burnt down to a stub", "folded over"."""
    if len(words) < 2 or not words[1].joined or words[1].norm not in _PARTICLES:
        return False
    return len(words) < 3 or not words[2].joined or words[2].norm in ("to", "and", "in", "like")


def _is_purpose(draft: Draft, at: int) -> bool:
    """Whether "for" says whom the subject is made for, and not the picture: "for a toddler"."""
    run = _run(draft, at)
    if len(run) < 2 or run[1].norm in ("my", "our", "your", "me", "us"):
        return False
    return nature(run[-1].norm) is Nature.PERSON and run[-1].norm not in _FOR_WHOM


def _is_what_it_serves(draft: Draft, at: int) -> bool:
    """Whether "for" says what one is used for: "the one for | long treks"; not what the picture is
    for, nor when: "the one for posters", "the one for May".
    """
    run = _run(draft, at)[1:]
    run = run[1:] if run and run[0].norm in ("a", "an") else run
    if not 0 < len(run) <= _USE or any(word.capital or word.possessive for word in run):
        return False
    said = {word.norm for word in run}
    picture = lexicon.words("scenes") | lexicon.words("determiners") | _MEDIA
    if said & picture or nature(run[-1].norm) is Nature.PERSON:
        return False
    return lexicon.names_thing(run[-1].norm) and not lexicon.is_no_noun(run[-1].norm)


def _is_action(draft: Draft, at: int) -> bool:
    """Whether a clause begins with what the subject does, or had done to it: "hauling hay".

    Not with where it does so: "perched on a road sign" is the scene.
    """
    following = draft.page.words[at + 1].norm if at + 1 < len(draft.page.words) else ""
    norm = draft.page.words[at].norm
    if norm in ("used", "meant", "made") and following in ("for", "as", "to"):
        return True  # "the one used for fishing"
    if norm == "for" and at and draft.page.words[at - 1].norm in lexicon.words("selectors"):
        doing = following.endswith("ing") and following not in _OF_THE_PICTURE
        return doing or _is_what_it_serves(draft, at)
    beside = following == "by" and norm.endswith("ing")
    if norm.endswith("ing") and len(norm) > 4 and _is_on_itself(draft, at + 1):
        return True  # "lying on its side"
    if norm.endswith("ing") and _is_done_off(draft, at):
        return True
    if following in lexicon.words("prepositions") and (beside or following not in _NO_PLACE):
        return False
    if norm in PARTICIPLES or norm in ("being", "about"):  # "about to"
        return True
    return norm.endswith(("ing", "ed")) and len(norm) > 4 and not lexicon.names_thing(norm)


def _is_done_off(draft: Draft, at: int) -> bool:
    """Whether "off" or "out" belongs to what is done to something: "shaking | off | water"."""
    words = draft.page.words[at : at + 3]
    if len(words) < 3 or words[1].norm not in ("off", "out") or not words[2].joined:
        return False
    return lexicon.names_thing(words[2].norm) or words[2].norm in ("its", "his", "her", "water")


def _is_passive(word: Word, run: Sequence[Word]) -> bool:
    """Whether "by" says who does it: "about to be hit by a wave", "that is struck by lightning"."""
    done = run[-1].norm in PARTICIPLES or run[-1].norm.endswith("ed")
    being = _BEING if done else _BEING - {"is", "are", "was"}
    return word.norm == "by" and any(w.norm in being for w in run)


_BEING = frozenset(["be", "being", "been", "getting", "gets", "got", "is", "are", "was"])


def _is_left_so(draft: Draft, run: Sequence[Word]) -> bool:
    """Whether what was done to it goes on: "that is caked | in mud", not "that is shown | in"."""
    if len(run) < 2 or run[-2].norm not in _BEING or run[-1].norm in _SHOWN:
        return False
    return _tells_how(draft, run[-1].index)


def _opens_scene(word: Word) -> bool:
    """Whether a scene may begin inside a clause: "with one ear | riding a carousel"."""
    if word.norm == "mid" or word.norm in lexicon.words("prepositions"):
        return word.norm not in ("like", "for", "from", "to")
    return word.norm in lexicon.verb_forms() and word.norm.endswith("ing")
