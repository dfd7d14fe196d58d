"""How the sentence holds a noun: head, object of a verb, thing in the scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Mention
from personalq.checkin.lexicon.wordnet import Nature, look_up, nature
from personalq.checkin.parsing.apposition import is_sort
from personalq.checkin.parsing.draft import Draft, Noun
from personalq.checkin.parsing.nouns.modifiers import is_of_a_set
from personalq.checkin.parsing.subjects.selected import chosen_by_tail, is_selecting
from personalq.checkin.parsing.text import Word
from personalq.checkin.parsing.word_roles import is_ing_verb, is_particle, opens_contact

_LIKENED = frozenset(["shaped", "looks", "look", "looking", "formed", "painted", "carved", "made"])
"""Before "like" they tell what a thing of the subject is like."""

_REACH = 50
"""Words before a noun that may say what it does there: more are no sentence."""


@dataclass(frozen=True, kw_only=True)
class Role:
    """The place of a noun in its sentence."""

    weight: int
    """0 in the scene, 1 acted upon, 2 asked for, 3 chosen."""
    coordinate: bool = False
    governor: int = -1
    """Index of the word that governs the phrase."""
    settled: bool = False
    """Whether neither its owner nor what follows it weighs any more."""


def role_of(draft: Draft, noun: Noun, before: list[tuple[Noun, Mention, Role]]) -> Role:
    """How the sentence holds the noun: head, object of a verb, thing in the scene."""
    words = draft.page.words
    if _acts_in_clause(draft, noun) or _is_all_around(draft, noun) or _is_where(draft, noun):
        return Role(weight=0)
    role, possessed, chosen = Role(weight=2), False, chosen_by_tail(draft, noun)
    for index in range(noun.first, max(noun.first - _REACH, 0), -1):
        word = words[index - 1]
        if not words[index].joined:
            break
        if not draft.is_free(word):
            chosen = chosen or is_selecting(draft, word)
        elif word.norm in ("my", "our", "mine"):
            possessed = True
        elif not _is_of_the_phrase(draft, index):
            governed = _governed(draft, noun, word, before, possessed=possessed)
            if governed is not None:
                role = governed
                break
    if role.settled:
        return role
    if chosen and _is_held_by_another(draft, noun, role, before):
        return replace(role, weight=min(role.weight, before[-1][2].weight - 1))
    if chosen and (role.weight or noun.entry.subjects or not _is_asked_for(before)):
        return replace(role, weight=max(role.weight, 3))
    if possessed:
        return replace(role, weight=max(role.weight + 1, 2) if role.weight else 2)
    return role


def _is_held_by_another(
    draft: Draft, noun: Noun, role: Role, before: list[tuple[Noun, Mention, Role]]
) -> bool:
    """Whether what chooses behind it is of who has it: "the puffin with a bag | I made in May"."""
    words = draft.page.words
    first = words[noun.first - 1] if noun.first and words[noun.first].joined else None
    if first is None or first.norm not in ("a", "an") or not before:
        return False
    lead = words[first.index - 1] if first.index and first.joined else None
    held = lead is not None and lead.norm.endswith("ing")  # "lugging", which no list has
    if not (role.weight == 1 or held):
        return False
    holder, mention, told = before[-1]
    near = all(word.joined for word in words[holder.last : noun.first])
    return near and bool(mention.subjects) and told.weight >= 1


def _is_all_around(draft: Draft, noun: Noun) -> bool:
    """Whether several are only said to be about: "a hat on a statue, pigeons all around"."""
    words = draft.page.words
    opens = noun.first > 0 and not words[noun.first].joined
    return (
        opens
        and bool(noun.entry.subjects)
        and any(lexicon.names_thing(word.norm) for word in words[: noun.first])
        and _is_plural(words, noun)
        and _AROUND.match(draft.page.shadow, words[noun.last - 1].full_end) is not None
    )


def _is_of_the_phrase(draft: Draft, index: int) -> bool:
    """Whether the word before `index` is a determiner or one half of a compound."""
    word, following = draft.page.words[index - 1], draft.page.words[index]
    compounded = word.hyphen or (following.hyphen and not draft.nouns_cover(index))
    return word.norm in lexicon.words("determiners") or compounded


def _governed(
    draft: Draft,
    noun: Noun,
    word: Word,
    before: list[tuple[Noun, Mention, Role]],
    *,
    possessed: bool,
) -> Role | None:
    """The role that a word left of a noun gives it; None, where that is up to the words before."""
    words = draft.page.words
    if word.norm in ("only", "just", "exactly"):
        return None  # "we trained only one"
    if word.norm == "of" and is_of_a_set(words, noun.first, noun.last) and noun.entry.subjects:
        return Role(weight=3, settled=True)
    if word.norm == "of":
        return Role(weight=1) if _tells_kind(draft, word, before) else _of(draft, word.index)
    if word.norm in lexicon.words("choosing"):
        return Role(weight=3)
    if word.norm in ("and", "or", "plus", "&"):
        if not before:
            return Role(weight=2)
        coordinate = _adjacent(draft, before[-1][0], word.index)
        return Role(weight=before[-1][2].weight if coordinate else 1, coordinate=coordinate)
    likened = word.norm == "like" and word.index and words[word.index - 1].norm in _LIKENED
    if likened and any(mention.subjects for _, mention, _ in before):
        return Role(weight=0)  # "a grip shaped like a bird"
    if word.norm in lexicon.words("openers"):
        return Role(weight=2)
    if word.norm == "with":
        if not possessed and _is_had_by_another(draft, word.index):
            # "the boat with the seats that was trained at the dock"
            return Role(weight=1, settled=True)
        lead = words[word.index - 1].norm if word.index and word.joined else ""
        return Role(weight=2 if lead in _GO else 1)
    if word.norm == "for" and _is_for_whom(draft, noun, word):
        return Role(weight=0)
    if word.norm == "for" or (word.norm == "like" and word.index == 0):
        return Role(weight=2)
    if is_particle(words, word.index):
        return None
    if _is_wanted(words, word.index):
        return Role(weight=2)
    if word.norm == "about" and word.index and words[word.index - 1].norm in ("is", "be", "was"):
        return Role(weight=2)  # "my story is about the fox"
    if word.norm == "in" and _is_worn_by_another(draft, noun, word.index):
        return Role(weight=0, settled=True)  # "the pirate in a coat from the harbor set"
    if word.norm in lexicon.words("prepositions"):
        known = bool(noun.entry.subjects)
        several = opens_choice(words, word.index) and _is_plural(words, noun)
        several = known and (several or is_of_a_set(words, noun.first, noun.last))
        return Role(weight=3, settled=True) if several else Role(weight=0)
    if word.norm == "be" and _MUST_BE.search(draft.page.shadow, 0, word.end):
        return Role(weight=3, settled=True)
    if _says_what_it_is(draft, noun, word) and not _is_asked_for(before):
        return Role(weight=3, settled=True)
    if word.norm in lexicon.words("links"):
        if word.norm == "which" and _opens_sentence(draft, word):
            return Role(weight=3, settled=True)  # "which cupcake gets used most"
        return Role(weight=2 if word.norm in _ASKED or _is_owned(words, word.index) else 1)
    if _is_what_we_made(words, word.index):
        return Role(weight=2)
    return Role(weight=1) if _is_verbal(word, draft) else None


def _tells_kind(draft: Draft, of: Word, before: list[tuple[Noun, Mention, Role]]) -> bool:
    """Whether it tells which of what was asked for: "cartoon on a sofa, the one of | a beast"."""
    lead, following = draft.page.words[of.index - 1], draft.page.words[of.index + 1]
    one = of.joined and lead.norm == "one" and following.norm in ("a", "an")
    return one and _is_asked_for(before)


def _is_where(draft: Draft, noun: Noun) -> bool:
    """Whether a noun nobody has is a place of training: "the | mountain | checkpoints"."""
    following = draft.page.words[noun.last : noun.last + 1]
    chosen = any(w.joined and w.norm in lexicon.words("selectors") for w in following)
    if noun.entry.subjects or not chosen:
        return False
    place = draft.lexicon.environments.match_at(draft.page.words, noun.first)
    return place is not None and place[1].known


def _is_asked_for(before: list[tuple[Noun, Mention, Role]]) -> bool:
    """Whether something known was asked for already: "the bear on a rug, latest one"."""
    return any(mention.subjects and role.weight >= 2 for _, mention, role in before)


def _says_what_it_is(draft: Draft, noun: Noun, word: Word) -> bool:
    """Whether a sentence tells of what was described: "… with the silky bow. It's | a teddy"; but
    not what else there is: "it's the owl that flies above".
    """
    following = draft.page.words[noun.last : noun.last + 1]
    cleft = (
        bool(following) and following[0].joined and following[0].norm in ("that", "who", "which")
    )
    if cleft or draft.page.words[word.index + 1].norm not in ("a", "an", "the", "my", "our", "one"):
        return False
    if word.norm in ("it", "that") and word.possessive:
        return _opens_sentence(draft, word)
    before = draft.page.words[word.index - 1] if word.index and word.joined else None
    told = before is not None and word.norm in ("is", "was") and before.norm in ("it", "that")
    return told and before is not None and _opens_sentence(draft, before)


def _opens_sentence(draft: Draft, word: Word) -> bool:
    """Whether a sentence begins with the word."""
    before = draft.page.shadow[: word.start].rstrip()
    return not before or before[-1] in ".?!;:"


def _is_had_by_another(draft: Draft, index: int) -> bool:
    """Whether a subject stands right before "with"."""
    return any(other.last == index and other.entry.subjects for other in draft.nouns)


def _is_worn_by_another(draft: Draft, noun: Noun, index: int) -> bool:
    """Whether the subject before "in" wears the noun."""
    worn = lexicon.is_wearable(draft.page.words[noun.last - 1].norm)
    return worn and any(other.last == index and other.entry.subjects for other in draft.nouns)


def _is_for_whom(draft: Draft, noun: Noun, word: Word) -> bool:
    """Whether it says whom something is for: "the purple one for animals, the raincoat"."""
    bare = noun.first == word.index + 1 and noun.last - noun.first == 1
    lead = draft.page.words[word.index - 1] if word.index and word.joined else None
    return bare and _is_plural(draft.page.words, noun) and lead is not None and lead.norm == "one"


def _is_plural(words: tuple[Word, ...], noun: Noun) -> bool:
    """Whether there are several to choose from."""
    return words[noun.last - 1].norm.endswith("s")


def opens_choice(words: tuple[Word, ...], index: int) -> bool:
    """Whether a request opens with what to choose from: "From the windmills take the oldest"."""
    opens = index == 0 or not words[index].joined
    return opens and words[index].norm in ("from", "among", "amongst")


_MUST_BE = compile_form(
    r"(^|[.;:!?] ?)(it|this|that)('s| has| needs| ought|'ll| must)( got)?( to)?( have to)? be$"
)
_AROUND = compile_form(
    " (everywhere|all (around|over|about)|around|about|overhead|nearby|above|below|galore|"
    "in the (background|distance|air|sky)|circling|flying|watching|"
    r"scattered)(?= ?($|[,.;!?]|\w+ly\b|in\b|by\b))"
)
_GO = frozenset(["go", "going", "stick", "stay", "start", "begin", "continue", "work", "proceed"])
"""Before "with", ask for what follows: "let's go with the lamp"."""
_ASKED = frozenset(["but", "not", "while", "please", "is", "want", "need", "i'd", "there"])


def _is_owned(words: tuple[Word, ...], index: int) -> bool:
    """Whether a person asks for what they have: "do we have a viaduct", "I had one"."""
    owner = words[index - 1].norm if index else ""
    return words[index].norm in ("have", "had") and owner in ("i", "we", "you")


def _is_what_we_made(words: tuple[Word, ...], index: int) -> bool:
    """Whether a person tells what they trained: "we trained only one | watering can"."""
    by_us = index == 1 and words[0].norm in ("i", "we") and words[1].joined
    return by_us and words[index].norm in ("trained", "made", "built", "tuned")


def _is_wanted(words: tuple[Word, ...], index: int) -> bool:
    """Whether the word ends a verb of asking: "draw up the", "I'm after a", "what about the"."""
    if index == 0 or not words[index].joined:
        return False
    norm, before = words[index].norm, words[index - 1].norm
    if norm == "to" and before == "back" and index > 1:
        return words[index - 2].norm in ("coming", "come", "came", "going", "go")
    if norm in ("have", "let"):
        return before in ("please", "you", "then", "just")
    if norm in ("do", "try"):
        return before in ("let's", "lets", "let", "please", "just", "we", "you")
    if norm in ("up", "out"):
        return before in lexicon.words("openers") or before in _ASKING
    if norm == "about":
        return before in ("what", "how")
    return norm in ("after", "for") and before in ("i'm", "we're", "am", "looking")


_ASKING = frozenset(
    ["conjure", "cook", "whip", "sketch", "drum", "dream", "think", "serve", "bring"]
)


def _acts_in_clause(draft: Draft, noun: Noun) -> bool:
    """Whether the noun is who does something to the subject: "the boots my father wears"."""
    words = draft.page.words
    start = noun.first
    if start and words[start].joined and words[start - 1].norm in lexicon.words("determiners"):
        start -= 1
    told = (start > 0 and is_sort(words, start - 1)) or any(
        other.last == start for other in draft.nouns
    )
    if _has_done_something(words, noun, start):
        return True
    return told and words[start].joined and opens_contact(words, start)


def _has_done_something(words: Sequence[Word], noun: Noun, start: int) -> bool:
    """Whether a phrase says what somebody did to the one: "the one | a bird | has nested in"."""
    if not 1 < start < noun.first or words[start - 1].norm not in lexicon.words("selectors"):
        return False
    has = words[noun.last : noun.last + 1]
    acted = bool(has) and has[0].joined and has[0].norm in ("has", "had")
    return acted and words[start - 2].norm in ("the", "that", "my")


def _is_verbal(word: Word, draft: Draft) -> bool:
    """A verb that takes the noun as its object ("riding a bike"), not an adjective."""
    if draft.noun_at(word.index) or draft.style_at(word.index):
        return False
    if _is_of_a_kind(word, draft):
        return False
    if word.norm not in lexicon.verb_forms():
        return _does_something(word, draft)
    adjectival = word.norm.endswith(("ing", "ed", "en", "wn", "rn"))
    if adjectival and word.index and (not word.joined or draft.nouns_cover(word.index - 1)):
        return True  # ", chasing butterflies"
    following = draft.page.words[word.index + 1 : word.index + 2]
    determined = bool(following) and following[0].norm in lexicon.words("determiners")
    return determined if adjectival else word.index > 0


def _does_something(word: Word, draft: Draft) -> bool:
    """Whether a rarer verb has an object: "a gnome steers a rocket", "a tractor towing a truck"."""
    if word.norm in ("wants", "needs", "loves", "likes"):
        return False  # "my sister wants the bicycle"
    if word.norm.endswith("ing") and word.norm not in lexicon.words("not_participles"):
        before = draft.page.words[word.index - 1 : word.index]
        thing = bool(before) and word.joined and lexicon.names_thing(before[0].norm)
        some = draft.page.words[word.index + 1].norm in ("a", "an")
        return thing and some and is_ing_verb(word.norm)
    entry = look_up(word.norm.removesuffix("s"))
    following = draft.page.words[word.index + 1 : word.index + 2]
    acts = word.norm.endswith("s") and entry is not None and entry.verb is not None
    return acts and word.index > 0 and following[0].norm in lexicon.words("determiners")


def _is_of_a_kind(word: Word, draft: Draft) -> bool:
    """Whether a word ends the name of a kind that stands before its noun: "swiss roll cake"."""
    before = word.index - 1
    match = draft.lexicon.subjects.match_at(draft.page.words, before) if before >= 0 else None
    return match is not None and match[0] > 1 and bool(match[1].subjects)


def _adjacent(draft: Draft, noun: Noun, link: int) -> bool:
    """Whether only the link stands between two coordinated phrases."""
    return noun.last >= link - 1 or noun.last == link


def _of(draft: Draft, index: int) -> Role:
    """The role of what follows "of": what a frame shows, or a part of a scene."""
    asked, chosen = Role(weight=2, governor=index), Role(weight=3, governor=index, settled=True)
    if index == 0:
        return asked
    word = draft.page.words[index - 1]
    if word.norm == "thinking":
        return asked  # "I'm thinking of the mug"
    if not draft.is_free(word):
        return chosen if is_selecting(draft, word) else asked
    if word.norm in lexicon.words("selectors") or word.norm in _ANY_OF:
        return chosen
    shown = word.norm in lexicon.words("shown_of") or word.norm in lexicon.words("openers")
    if shown or draft.style_at(word.index) or epithet(draft.page.words, index):
        return asked
    return Role(weight=0, governor=index)


def epithet(words: Sequence[Word], of: int) -> Word | None:
    """What somebody calls the thing behind "of": "a | crooner | of a cowboy"."""
    following = words[of + 1 : of + 2]
    if of < 2 or words[of].norm != "of" or not following or following[0].norm not in ("a", "an"):
        return None
    name, first = words[of - 1], of - 1
    while first and words[first].joined and of - first < 4 and words[first].norm not in _ARTICLES:
        first -= 1
    called = words[first].norm in ("a", "an") and first < name.index
    told = nature(name.norm) is Nature.PERSON or name.norm in _BEAUTIES
    return name if called and told else None


_ARTICLES = ("a", "an", "the")
_BEAUTIES = ("beauty", "beast", "gem", "monster", "stunner", "whopper")
_ANY_OF = frozenset(["which", "any", "either", "whichever"])
