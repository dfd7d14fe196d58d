"""The head noun of a request that is no subject of the catalog: "a pangolin in the snow"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Constraint, Span
from personalq.checkin.lexicon import canonical, wordnet
from personalq.checkin.lexicon.wordnet import Nature, look_up, nature
from personalq.checkin.nouns import is_kind_of
from personalq.checkin.parsing.draft import Draft, Noun
from personalq.checkin.parsing.find_nouns import is_ordinary
from personalq.checkin.parsing.subjects.role import opens_choice
from personalq.checkin.parsing.text import Word
from personalq.checkin.parsing.word_roles import is_adjective, is_particle

_CHOOSING = frozenset(
    [Attribute.VERSION, Attribute.ORDER, Attribute.CREATED_AT, Attribute.LAST_USED_AT]
)

_FEW_WORDS = 3
"""Words of a request for nothing but a thing: "the latest castle"."""
_BREAK = re.compile(r"[.:!?]\s")
_NARROWING = frozenset(
    [Attribute.VERSION, Attribute.CREATED_AT, Attribute.LAST_USED_AT, Attribute.ENVIRONMENT,
     Attribute.STYLE]
)  # fmt: skip
"""What leaves several of any kind, so that the kind has still to be said: "version 36"."""
_ADDING = frozenset(["add", "give", "put", "make", "include", "have", "let", "set"])
"""Tells what the picture shows besides: "Use version 36. Add a red hat"."""
_ASKING = frozenset((
    "i", "me", "us", "you", "please", "want", "need", "i'd", "can", "could", "do", "using", "let",
    "lets", "let's",
))  # fmt: skip
"""What is asked for follows these."""


_ORDERING = frozenset(["client", "customer", "boss", "team", "agency", "editor", "director"])
"""Who may want the picture: "the client asked for the boat"."""
_TELLS = ("asks", "asked", "wants", "wanted", "needs", "needed")


def missing_subject(draft: Draft, span: Span) -> Constraint:
    """The constraint on a subject that no card has."""
    text = span.of(draft.page.text)
    return Constraint(
        attribute=Attribute.SUBJECT,
        values=(canonical(text),),
        span=span,
        text=text,
        label=canonical(text),
    )


def unknown_head(draft: Draft, nouns: list[Noun]) -> Constraint | None:
    """The head noun of a phrase that is no subject of the catalog ("a pangolin in the snow")."""
    covered = {index for noun in nouns for index in range(noun.first, noun.last)}
    chosen: int | None = None
    for chunk in _chunks(draft):
        if chosen is not None and not _is_in_another_sentence(draft, chosen, chunk[0].index):
            return None
        if any(word.index in covered for word in chunk) or draft.triggers:
            return None
        if chosen is not None and _is_added_to(draft, chunk):
            continue
        head = _head(draft, chunk)
        if head is not None and _colours_what_follows(draft, head):
            return None
        if head is not None and (
            tells(draft, head) or _is_added(draft, chunk) or _is_on_it(draft, chunk)
        ):
            continue
        if head is not None:
            return _unknown(draft, chunk, head)
        if any(word.norm in lexicon.words("selectors") for word in chunk):
            if not any(c.hard and c.attribute in _NARROWING for c in draft.constraints):
                return None  # an order alone picks one, of whatever kind
            chosen = chunk[-1].index  # "It has to be the one from May. A helicopter in the fog."
    return None


def _colours_what_follows(draft: Draft, head: Word) -> bool:
    """Whether a colour is of a subject some words on: "my | orange | travel mug"."""
    words = draft.page.words[head.index + 1 : head.index + 4]
    if head.norm not in lexicon.colours() or not words or not words[0].joined:
        return False
    following = [word for word in words if word.joined]
    return any(
        (noun := draft.noun_at(word.index)) is not None and bool(noun.entry.subjects)
        for word in following
    )


def _is_gone_with(draft: Draft, word: Word) -> bool:
    """Whether "with" asks for what follows: "go | with the tractor", at the start."""
    words = draft.page.words
    return word.index == 1 and word.joined and words[0].norm in ("go", "stick", "start")


def _is_in_another_sentence(draft: Draft, first: int, second: int) -> bool:
    """Whether a sentence, or what a colon announces, begins between two words."""
    words = draft.page.words
    between = draft.page.shadow[words[first].full_end : words[second].start]
    return _BREAK.search(between) is not None


def _is_added_to(draft: Draft, chunk: list[Word]) -> bool:
    """Whether it is to be seen with what was chosen before: "Add | a red hat"."""
    before = draft.page.words[chunk[0].index - 1 : chunk[0].index] if chunk[0].joined else []
    return any(word.norm in _ADDING for word in (*before, *chunk[:1]))


def _is_added(draft: Draft, chunk: list[Word]) -> bool:
    """Whether several are only seen too: "treehouse on a hill, | lanterns in the branches"."""
    first, last = draft.page.words[0], chunk[-1]
    opens = draft.is_free(first) and first.norm in lexicon.description_groups()
    opens = opens and not is_adjective(first.norm)
    behind = draft.page.words[1:2]
    opens = opens and any(w.joined and w.norm in lexicon.words("prepositions") for w in behind)
    later = last is not first and len(chunk) == 1
    return opens and later and next(wordnet.singulars(last.norm), None) is not None


def _is_on_it(draft: Draft, chunk: list[Word]) -> bool:
    """Whether a thing is said to be on what was named before: "a taxi; | dice | at its mirror"."""
    behind = draft.page.words[chunk[-1].index + 1 : chunk[-1].index + 3]
    placed = len(behind) == 2 and behind[0].norm in lexicon.words("prepositions")
    its = placed and behind[1].norm in ("its", "his", "her", "their")
    return its and any(n.entry.subjects and n.last <= chunk[0].index for n in draft.nouns)


def tells(draft: Draft, word: Word) -> bool:
    """Whether it is somebody who says what the picture is for: "my daughter wants the fox"."""
    words = draft.page.words
    following = words[word.index + 1] if word.index + 1 < len(words) else None
    if (
        word.norm not in lexicon.words("kinsfolk") | _ORDERING
        or following is None
        or not following.joined
    ):
        return False
    before = words[word.index - 1].norm if word.index > 0 and word.joined else ""
    mine = before in ("my", "our") or (before == "the" and word.norm in _ORDERING)
    acts = following.norm in lexicon.verb_forms() or following.norm in ("is", "was", "has", "asks")
    if word.norm in _ORDERING:
        noun = draft.noun_at(word.index)
        acts = following.norm in _TELLS and not (noun is not None and noun.entry.subjects)
    return mine and acts and not following.norm.endswith("ing")


def chosen_thing(draft: Draft) -> Constraint | None:
    """What a version, an order or a date is asked of, when nothing in the request is known.

    "The sofa on a raft, version 8", "a sunset behind the tractor, latest build".
    """
    if draft.answering or draft.triggers:
        return None
    chosen = {c.attribute for c in draft.constraints if c.hard} & _CHOOSING
    words = draft.page.words
    for word in words[1:] if chosen else ():
        the = words[word.index - 1]
        if the.norm not in ("the", "my", "our") or not word.joined or not draft.is_free(word):
            continue
        placed = the.index > 0 and words[the.index - 1].norm in lexicon.words("prepositions")
        behind = words[word.index + 1 : word.index + 2]
        scenes = lexicon.words("scenes")
        compound = bool(behind) and behind[0].joined and lexicon.names_thing(behind[0].norm)
        if compound and not (word.norm in scenes and (placed or behind[0].norm in scenes)):
            word = behind[0]  # "the wedding cake"
        known = any(n.first <= word.index < n.last and n.entry.subjects for n in draft.nouns)
        scene = known or (placed and word.norm in lexicon.words("scenes"))
        if not scene and lexicon.names_thing(word.norm) and not lexicon.is_no_noun(word.norm):
            return missing_subject(draft, word.span)
    return None


def ordered_thing(draft: Draft) -> Constraint | None:
    """The thing nobody has that an order is of, wherever it stands: "winds our newest monorail"."""
    words = draft.page.words
    ends = [c.span.end for c in draft.constraints if c.attribute is Attribute.ORDER and c.span]
    for word in words[1:]:
        if not word.joined or words[word.index - 1].full_end not in ends:
            continue
        last = word
        for following in words[word.index + 1 : word.index + 3]:
            closed = lexicon.is_no_noun(following.norm) or following.norm in lexicon.verb_forms()
            if not following.joined or closed or not draft.is_free(following):
                break
            last = following
        alone = last is words[-1] and len(words) <= _FEW_WORDS and not _is_known_place(draft, last)
        thing = lexicon.names_thing(last.norm) and (
            alone or last.norm not in lexicon.words("scenes")
        )
        thing = thing and last.norm not in lexicon.words("selectors")
        if thing and draft.is_free(last) and not draft.nouns_cover(last.index):
            return missing_subject(draft, last.span)
    return None


def _unknown(draft: Draft, chunk: list[Word], head: Word) -> Constraint:
    """The unknown head; a compound of a known one ("tree house") is unknown as a whole."""
    phrase = _phrase(draft, chunk, head)
    missing = replace(missing_subject(draft, head.span), text=phrase)
    entry = draft.lexicon.subjects.get(head.norm)
    compound = not lexicon.colours().issuperset(canonical(phrase).split()[:-1])  # no "navy sloop"
    if compound and entry is not None and entry.subjects:
        return replace(missing, values=(canonical(phrase),), label=canonical(phrase))
    return missing


def _phrase(draft: Draft, chunk: list[Word], head: Word) -> str:
    """The head with its modifiers: "dog house"."""
    start = head.start
    for word in reversed([word for word in chunk if word.index < head.index]):
        if not draft.is_free(word) or word.norm in lexicon.words("determiners"):
            break
        start = word.start
    return draft.page.text[start : head.end]


def _chunks(draft: Draft) -> list[list[Word]]:
    """Noun phrases in head position: at the start, after a frame's "of", after a comma."""
    chunks: list[list[Word]] = []
    current: list[Word] = []
    scene = False
    for word in draft.page.words:
        breaks = not word.joined
        closes = word.norm in lexicon.words("prepositions") and not word.hyphen  # "done-up"
        boundary = (closes and not is_particle(draft.page.words, word.index)) or (
            word.norm in lexicon.words("links") or word.norm in lexicon.words("openers")
        )
        boundary = boundary and not (current and _is_can(draft.page.words, word.index))
        if breaks:
            if current and not scene:
                chunks.append(current)
            current, scene = [], False
        if boundary and draft.is_free(word):
            if current and not scene:
                chunks.append(current)
            transparent = (
                (word.norm == "of" or (word.norm == "with" and _is_picture(current)))
                and bool(current)
                and (
                    current[-1].norm in lexicon.words("shown_of")
                    or current[-1].norm in lexicon.words("selectors")
                    or not draft.is_free(current[-1])
                )
            )
            head_again = (
                transparent or word.norm in lexicon.words("openers") or word.norm in _ASKING
            )
            asked = word.norm == "have" and bool(word.index) and _is_asking(draft, word.index)
            among = word.norm != "from" and _is_choice(draft, word)
            there = word.norm == "there" and _is_there(draft, word.index)
            sought = word.norm == "for" and _is_sought(draft, word.index)
            sought = sought or (word.norm == "with" and _is_gone_with(draft, word))
            head_again = head_again or asked or among or there or sought
            scene = not head_again and not (
                word.norm in ("for", "of") and not current and not scene
            )
            current = []
            continue
        if not current and _is_what_we_do(draft, word):
            continue
        if not scene and not current and word.norm.endswith("ing") and _is_finite(word, draft):
            scene = True
            continue
        acts = _is_finite(word, draft) and not _is_chosen(word, current, draft)
        acts = acts or _follows_choice(word, current, draft) or _takes_object(word, current, draft)
        acts = acts and not word.hyphen  # "the well-worn watch"
        acts = acts and not _ends_compound(draft, word)
        if not scene and _names_something(current) and acts:
            chunks.append(current)
            current, scene = [], True
            continue
        current.append(word)
    if current and not scene:
        chunks.append(current)
    return chunks


def _ends_compound(draft: Draft, word: Word) -> bool:
    """Whether a verb's first form is a thing behind what can be no subject of it: "the umbrella |
    stand", "my canoe | paddle"; but "watch the dog run".
    """
    words = draft.page.words
    before = words[word.index - 2 : word.index]
    following = words[word.index + 1 : word.index + 2]
    if len(before) < 2 or not (word.joined and before[1].joined):
        return False
    led = words[word.index - 3].norm if word.index > 2 and before[0].joined else ""
    determined = before[0].norm in ("the", "my", "our", "this", "that", "a", "an")
    goes_on = bool(following) and following[0].joined and following[0].norm in _OBJECTS
    base = not word.norm.endswith(("s", "ed", "ing")) and wordnet.may_be_noun(word.norm)
    several = next(wordnet.singulars(before[1].norm), None) is not None
    acting = any(is_kind_of(before[1].norm, each) for each in _ACTING)
    thing = lexicon.names_thing(before[1].norm) and not acting
    return base and thing and determined and not (led in _SEEN_DOING or several or goes_on)


_ACTING = ("person", "animal", "doll", "toy", "robot", "figure")
"""What may itself be told to do something: "my bear | dance"."""
_SEEN_DOING = frozenset((
    "watch", "see", "let", "make", "have", "help", "show", "hear", "having", "making", "watching",
    "letting", "and",
))  # fmt: skip
"""Before somebody and what they do, in the verb's first form."""
_OBJECTS = frozenset(["a", "an", "the", "his", "her", "its", "it", "them", "up", "down", "out"])


def _is_picture(chunk: list[Word]) -> bool:
    """Whether a thing with something shows that: "a postcard | with a helicopter"."""
    return bool(chunk) and chunk[-1].norm in lexicon.words("pictures")


def _is_choice(draft: Draft, word: Word) -> bool:
    """Whether it opens what an order chooses from: "among the cadets, the oldest"."""
    following = draft.page.words[word.index + 1 : word.index + 2]
    determined = bool(following) and following[0].norm in ("the", "my", "our")
    ordered = any(c.attribute is Attribute.ORDER for c in draft.constraints)
    return determined and ordered and opens_choice(draft.page.words, word.index)


def _is_asking(draft: Draft, index: int) -> bool:
    """Whether "have" asks for what follows: "could I have the", "let me have the"."""
    before = [word.norm for word in draft.page.words[max(0, index - 2) : index]]
    return before[-1] in ("i", "we") or before in (["let", "me"], ["let", "us"])


def _is_there(draft: Draft, index: int) -> bool:
    """Whether "is there" asks for what follows: "is there | a parachute by Lena"."""
    return index == 1 and draft.page.words[0].norm in ("is", "are")


def _is_sought(draft: Draft, index: int) -> bool:
    """Whether "for" leads to what is asked for: "looking for | our trampoline"."""
    before = draft.page.words[index - 1].norm if index else ""
    return before in ("looking", "searching", "hunting", "asking", "asked", "asks", "hoping")


def _is_what_we_do(draft: Draft, word: Word) -> bool:
    """Whether it is a verb right behind a person: "I keep coming back to"."""
    before = draft.page.words[word.index - 1].norm if word.index and word.joined else ""
    entry = look_up(word.norm)
    return before in ("i", "we", "you", "they") and entry is not None and entry.verb is not None


def _is_can(words: Sequence[Word], index: int) -> bool:
    """Whether "can" is a thing: "a spray can, dented", not "what it can do"."""
    if words[index].norm != "can" or not words[index].joined:
        return False
    following = words[index + 1] if index + 1 < len(words) else None
    ends = lexicon.words("prepositions") | lexicon.words("links")
    return following is None or not following.joined or following.norm in ends


def _is_participle(word: Word) -> bool:
    """By its ending: "hanging", "blown", but neither "brown" nor "crown"."""
    norm = word.norm
    if norm.endswith("ing"):
        return norm not in lexicon.words("not_participles")
    thing = lexicon.names_thing(norm) or norm in lexicon.colours()
    return norm.endswith(("ed", "wn")) and not thing


def _takes_object(word: Word, chunk: list[Word], draft: Draft) -> bool:
    """Whether a word says what a thing does to another: "a druid ordering a pizza"."""
    following = draft.page.words[word.index + 1 : word.index + 2]
    determined = bool(following) and following[0].norm in ("a", "an", "the", "his", "her", "its")
    acts = word.norm.endswith("ing") and word.norm not in lexicon.words("not_participles")
    return acts and determined and word.joined and _names_something(chunk)


def _is_chosen(word: Word, chunk: list[Word], draft: Draft) -> bool:
    """Whether a verb's first form is a thing behind what chooses: "the newest skateboard"."""
    if not chunk or not lexicon.names_thing(word.norm) or word.norm.endswith("s"):
        return False
    if word.norm.endswith("ing") and word.norm not in lexicon.words("not_participles"):
        return False
    compound = look_up(f"{chunk[-1].norm} {word.norm}") is not None  # "the anime wedding cake"
    return not draft.is_free(chunk[-1]) or compound


def _follows_choice(word: Word, chunk: list[Word], draft: Draft) -> bool:
    """Whether a participle says what a thing does: "the giraffe v3 looking at a wall"."""
    if not chunk or not _is_participle(word) or not draft.is_free(word):
        return False
    if not draft.is_free(chunk[-1]):
        return word.norm.endswith("ing")
    following = draft.page.words[word.index + 1 : word.index + 2]
    placed = bool(following) and following[0].joined
    placed = placed and following[0].norm in lexicon.words("prepositions")
    no_thing = lexicon.is_no_thing(word.norm) and word.norm not in lexicon.words("not_participles")
    named = lexicon.names_thing(chunk[-1].norm) or nature(chunk[-1].norm) is Nature.UNKNOWN
    return placed and no_thing and named


def _names_something(chunk: list[Word]) -> bool:
    """Whether a verb after these words has a subject: "a painted pangolin" has none there."""
    return any(w.norm != "there" and w.norm not in lexicon.words("determiners") for w in chunk)


def _is_finite(word: Word, draft: Draft) -> bool:
    if any(behind.hyphen for behind in draft.page.words[word.index + 1 : word.index + 2]):
        return False  # "a roll-top desk"
    if draft.noun_at(word.index) or draft.style_at(word.index) or not draft.is_free(word):
        return False
    return word.norm in lexicon.verb_forms() and word.norm not in lexicon.words("frames")


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
        or _is_participle(after[0])  # "umbrella blown over a roof"
    )
    placed = placed and after[0].joined
    said = len(chunk) - _is_of_what_comes_before(draft, chunk)
    listed = said == 1 and bool(after) and not after[0].joined  # "bagpipes, cartoon"
    return unknown and chunk[0].index == 0 and (placed or listed) and not draft.answering


def _is_of_what_comes_before(draft: Draft, chunk: list[Word]) -> bool:
    """Whether the thing is told before the last word: "wristwatch portrait", "chess set"."""
    last = chunk[-1]
    counted = last.norm in lexicon.words("quantities") or last.norm in lexicon.words("frames")
    following = draft.page.words[last.index + 1 : last.index + 2]
    opens = bool(following) and following[0].joined and following[0].norm == "of"
    known = any(noun.entry.subjects for noun in draft.nouns)
    return counted and not (opens or known) and len(chunk) > 1 and last.joined


def _is_known_place(draft: Draft, word: Word) -> bool:
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


def _head(draft: Draft, chunk: list[Word]) -> Word | None:
    """The unknown head noun of a chunk, or None when it has none."""
    chunk = _without_claims_behind(draft, chunk)
    if not chunk:
        return None
    determined = any(word.norm in ("a", "an", "the", "my", "our") for word in chunk)
    determined = determined or any(not draft.is_free(word) for word in chunk[:-1])  # "oldest hat"
    limit = len(chunk)
    selector = False
    for position, word in enumerate(chunk):
        if word.norm in lexicon.words("selectors") and draft.is_free(word):
            limit, selector = position, True
            break
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
        called = determined or _opens(draft, chunk)
        called = (called and not selector) or _has_version(draft, word)
        named = called and lexicon.names_thing(norm)
        if norm in lexicon.colours():  # "a raven", but not "the raven"
            named = named and any(other.norm in ("a", "an", "my") for other in chunk)
        if (
            norm in lexicon.words("scenes")
            or norm.removesuffix("s") in lexicon.words("scenes")
            or norm in lexicon.words("frames")
            or norm in lexicon.words("empty_adjectives")
            or (norm in lexicon.words("continuations") and not named)
            or draft.lexicon.styles.match_at(draft.page.words, word.index)
            or _is_known_place(draft, word)
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
