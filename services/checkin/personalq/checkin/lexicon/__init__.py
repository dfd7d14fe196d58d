"""English as data: styles, subjects, places, looks, months and word classes."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

import inflect

from personalq.checkin.lexicon.spelling import american
from personalq.checkin.lexicon.wordnet import Nature, above, nature, senses, singulars, synset

_INFLECT = inflect.engine()
_PLURALS = {"glasses": "glasses", "fish": "fish", "person": "people", "thief": "thieves"}
_SEPARATORS = re.compile(r"[\s\-_]+")


@lru_cache(maxsize=65536)
def canonical(phrase: str) -> str:
    """A phrase as the tables spell it: lower case, no hyphens, no possessive, American."""
    text = phrase.replace("’", "'").casefold()
    words = _SEPARATORS.sub(" ", text).split()
    return " ".join(american(word.removesuffix("'s").strip("'")) for word in words)


@cache
def plural(phrase: str) -> str:
    """The plural of a noun phrase in canonical form."""
    if phrase in _PLURALS or not phrase:
        return _PLURALS.get(phrase, phrase)
    try:
        return str(_INFLECT.plural_noun(phrase)) or f"{phrase}s"
    except Exception:  # inflect refuses odd text (typeguard) instead of answering
        return f"{phrase}s"


@cache
def _load(name: str) -> dict[str, Any]:
    return tomllib.loads((files(__package__) / f"{name}.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True, kw_only=True)
class StyleGroup:
    """One look: words that mean each other, and looks that may stand in."""

    name: str
    words: frozenset[str]
    cousins: tuple[str, ...]
    also: frozenset[str] = frozenset()
    """Words of other looks that mean this one where the catalog has no such other."""


@cache
def style_groups() -> dict[str, StyleGroup]:
    """Style groups by name."""
    return {
        name: StyleGroup(
            name=name,
            words=frozenset(
                canonical(word) for word in (name, *entry["words"], *entry.get("everyday", ()))
            ),
            cousins=tuple(entry.get("cousins", ())),
            also=frozenset(canonical(word) for word in entry.get("also", ())),
        )
        for name, entry in _load("styles").items()
        if name not in ("weak", "things")
    }


@lru_cache(maxsize=4096)
def look_of(tag: str) -> str:
    """The style group whose word is the longest inside a tag; the canonical tag without one."""
    name = canonical(tag)
    inside = {group.name: longest_inside(name, group.words) for group in style_groups().values()}
    best = max(inside, key=lambda group: inside[group])
    return best if inside[best] else name


def longest_inside(phrase: str, words: frozenset[str]) -> int:
    """Letters of the longest of the words that stands in a phrase, 0 when none does."""
    return max((len(word) for word in words if f" {word} " in f" {phrase} "), default=0)


@cache
def looks() -> dict[str, tuple[str, ...]]:
    """Frame nouns ("photo", "drawing") to the style groups they hint at."""
    return {word: tuple(groups) for word, groups in _load("looks").items()}


@cache
def subject_tables() -> dict[str, dict[str, tuple[str, ...]]]:
    """`same`, `narrower`, `kinds` and `apart`: canonical noun to canonical nouns."""
    raw = _load("subjects")
    return {
        table: {
            canonical(noun): tuple(canonical(word) for word in words)
            for noun, words in raw[table].items()
        }
        for table in ("same", "narrower", "kinds", "apart")
    }


@cache
def subject_senses() -> dict[str, str]:
    """Nouns to a word for what people mean by them today ("drone": an aircraft)."""
    return {canonical(word): canonical(kind) for word, kind in _load("subjects")["senses"].items()}


@cache
def general_nouns() -> frozenset[str]:
    """Nouns that say too little to choose by: "object", "device"."""
    return frozenset(canonical(word) for word in _load("subjects")["general"]["words"])


@cache
def compounds() -> frozenset[str]:
    """Phrases whose last word is not what they are ("hot dog")."""
    return frozenset(canonical(word) for word in _load("subjects")["compounds"]["words"])


@cache
def environment_groups() -> dict[str, frozenset[str]]:
    """Places by name, with the words for them."""
    return {
        name: frozenset(form for word in (name, *words) for form in _forms(canonical(word)))
        for name, words in _load("environments").items()
        if name not in ("near", "apart", "same")
    }


@cache
def same_places() -> dict[str, tuple[str, ...]]:
    """Places of their own by name, with other words for just them."""
    same = _load("environments")["same"]
    return {canonical(name): tuple(map(canonical, words)) for name, words in same.items()}


def _forms(word: str) -> tuple[str, ...]:
    """A word, and its plural when it is a noun."""
    return (word,) if nature(word.split()[-1]) is Nature.NO_NOUN else (word, plural(word))


@cache
def scenery() -> dict[str, tuple[str, ...]]:
    """Places by name, with what is there and what goes on there."""
    return {canonical(name): tuple(told) for name, told in _load("scenery").items()}


@cache
def sayings() -> dict[str, tuple[str, ...]]:
    """Looks by name, with what people say of them instead."""
    return {name: tuple(told) for name, told in _load("sayings").items()}


@cache
def places_apart() -> frozenset[str]:
    """Places that are none of the others of their group, where cards have both."""
    return frozenset(map(canonical, _load("environments")["apart"]["words"]))


@cache
def near_places() -> dict[str, tuple[str, ...]]:
    """Groups of places by name, to the groups that may stand in."""
    return {name: tuple(groups) for name, groups in _load("environments")["near"].items()}


@cache
def shades() -> dict[str, str]:
    """Names of a shade to the first of them: "army green" to "olive"."""
    rows = _load("descriptions")["shades"]
    return {canonical(word): canonical(row[0]) for row in rows for word in row}


@cache
def description_groups() -> dict[str, str]:
    """Descriptive phrase to the name of its group."""
    table: dict[str, str] = {}
    for group in _load("descriptions")["groups"]:
        for phrase in group:
            table.setdefault(canonical(phrase), group[0])
    for colour, names in _load("colours")["words"].items():
        for name in names:
            table.setdefault(canonical(name), colour)
    for thing, colour in things_as_colours().items():
        table.setdefault(f"{thing} colored", colour)
    return table


@cache
def description_openers() -> frozenset[str]:
    """First words of the descriptive phrases that have more than one."""
    return frozenset(phrase.partition(" ")[0] for phrase in description_groups() if " " in phrase)


@cache
def words(kind: str) -> frozenset[str]:
    """A word class of the closed grammar."""
    listed = _load("words")[kind]
    return frozenset(listed) | frozenset(map(american, listed))


@cache
def grammar_words() -> frozenset[str]:
    """Every single word of the closed grammar, of whatever class."""
    classes = _load("words").values()
    listed = (word for words_ in classes for phrase in words_ for word in phrase.split())
    spelled = (word for phrase in (*_load("spelling")["informal"],) for word in phrase.split())
    return frozenset((*listed, *spelled))


@cache
def colors_of_things() -> dict[str, str]:
    """Names of things that are colours where they stand as adjectives, to their colour groups."""
    return dict(_load("words")["colors_of_things"])


@cache
def things_as_colours() -> dict[str, str]:
    """Names of things to the colour groups they stand for where a colour is spoken of."""
    told = _load("colours")["things"].items()
    return colors_of_things() | {canonical(t): colour for colour, things in told for t in things}


@cache
def colours() -> frozenset[str]:
    """Words of the colour groups in the description file."""
    names = words("colors")
    return frozenset(word for word, name in description_groups().items() if name in names)


@cache
def is_no_noun(word: str) -> bool:
    """Whether a word has its place in the grammar, whatever else it may mean."""
    classes = ("determiners", "prepositions", "links", "openers", "selectors", "frames")
    return (
        any(word in words(kind) for kind in (*classes, "empty_adjectives"))
        or word in calendar("months")
        or word in calendar("seasons")
    )


@cache
def wearables() -> frozenset[str]:
    """Nouns worn or carried, with their synonyms of one word in the description file."""
    groups = description_groups()
    worn = {groups[word] for word in words("wearables") if word in groups}
    synonyms = {phrase for phrase, group in groups.items() if group in worn and " " not in phrase}
    return words("wearables") | (synonyms - {"top"})  # "in the top drawer"


@lru_cache(maxsize=4096)
def is_wearable(noun: str) -> bool:
    """Whether a noun names what is worn: of the lists, or in the first place for WordNet."""
    if noun in wearables():
        return True
    return _is_any(noun, ("clothing", "footwear", "attire", "spectacles", "jewelry"))


@lru_cache(maxsize=4096)
def is_container(noun: str) -> bool:
    """Whether a noun names what holds something, in the first place: "pot", "basket"."""
    return _is_any(noun, ("container", "vessel"))


@lru_cache(maxsize=4096)
def is_eaten_or_grown(noun: str) -> bool:
    """Whether a noun names food, drink, fruit or a plant, in the first place: "lemons"."""
    one = next(singulars(noun), noun)
    return _is_any(
        one, ("food", "foodstuff", "beverage", "fruit", "edible fruit", "vascular plant")
    )


def _is_any(noun: str, kinds: tuple[str, ...]) -> bool:
    wanted = {number for kind in kinds for number in senses(kind, said=False)[:1]}
    return any(wanted & {number, *above(number)} for number in senses(noun)[:1])


@cache
def _suffixes() -> tuple[str, ...]:
    return tuple(_load("words")["adjective_endings"])


def is_adjective_like(word: str) -> bool:
    """Whether a word ends as adjectives do."""
    return len(word) > 4 and word.endswith(_suffixes())


@lru_cache(maxsize=16384)
def common_name(word: str) -> str:
    """The commonest word for the one thing a noun names, or the word itself."""
    likely = senses(word)
    if word in subject_senses():  # people picture another sense: a seahorse is no walrus
        return word
    if len(likely) != 1 or nature(word) is not Nature.THING:
        return word
    name = synset(likely[0])[2][0]
    return word if " " in name else name


def names_thing(word: str) -> bool:
    """Whether a word names something one could picture: an animal, an object, a person."""
    return nature(word) in (Nature.THING, Nature.PERSON)


def lacked(word: str) -> str:
    """The thing that a word says is not there: "perch" of "perchless"; "" of other words."""
    thing = word.removesuffix("less")
    return thing if thing != word and len(thing) > 2 and names_thing(thing) else ""


def is_no_thing(word: str) -> bool:
    """Whether a word is an adjective, an adverb, a verb or a noun of nothing pictured."""
    said = nature(word)
    if said is Nature.UNKNOWN:
        return word.endswith("ly") or is_adjective_like(word)
    return said in (Nature.NO_NOUN, Nature.ABSTRACT)


_IRREGULAR = {
    "sat", "lay", "stood", "ran", "slept", "ate", "drank", "caught", "held", "wore", "rode",
    "drove", "flew", "swam", "fell", "rose", "sang", "hid", "bit", "spun", "hung", "slid",
    "woke", "met", "spoke", "saw", "threw", "broke", "built", "dug", "grew", "shone", "froze",
    "crept", "fought", "took", "got", "went", "came", "led", "shook", "lying", "dying", "tying",
    "sitting", "drawn", "seen", "shown", "taken", "worn", "torn", "woven", "frozen", "hidden",
    "given", "driven", "ridden", "thrown", "fallen", "shot", "done", "clad", "kitted",
    "decked", "garbed", "outfitted",
}  # fmt: skip


@cache
def verb_forms() -> frozenset[str]:
    """Every form of the verbs that may follow a noun without making a compound."""
    forms = set(_IRREGULAR)
    for verb in words("verbs"):
        forms.add(verb)
        stem = verb.removesuffix("e")
        double = verb + verb[-1]
        forms |= {f"{verb}s", f"{stem}ing", f"{stem}ed", f"{double}ing", f"{double}ed"}
        if verb.endswith(("s", "h", "x", "z")):
            forms.add(f"{verb}es")
        if verb.endswith("y"):
            forms |= {f"{verb[:-1]}ies", f"{verb[:-1]}ied"}
    return frozenset(forms)


@cache
def calendar(table: str) -> dict[str, Any]:
    """`months`, `seasons` or `holidays` of the calendar file."""
    return dict(_load("calendar")[table])


@cache
def weekdays() -> tuple[str, ...]:
    """Monday first."""
    return tuple(_load("calendar")["weekdays"])


@cache
def weak_style_words() -> frozenset[str]:
    """Style words that are everyday words too: no style unless the catalog has it."""
    listed = _load("styles")
    everyday = (word for group in listed.values() for word in group.get("everyday", ()))
    return frozenset(canonical(word) for word in (*listed["weak"]["words"], *everyday))


@cache
def style_things() -> frozenset[str]:
    """Style words that are things too: a look only where nothing but a look can stand."""
    return frozenset(canonical(word) for word in _load("styles")["things"]["words"])
