"""Cards in everyday words, and how well a description answers to what was said."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache

from personalq.chassis.forms import compile_form
from personalq.chassis.phrases import phrases_of
from personalq.checkin import lexicon
from personalq.checkin.cards import Card
from personalq.checkin.lexicon import canonical, thesaurus, wordnet
from personalq.checkin.lexicon.stems import stem
from personalq.checkin.lexicon.stuffs import stuffs_in
from personalq.checkin.lexicon.wordnet import Nature, nature
from personalq.checkin.nouns import is_kind_of
from personalq.checkin.reasoning.colours import COLOURS, NAMED, names_for

_IS = compile_form("(this|it|they|these)('s|'re| is| are|( comes?| came) in) ", flags=re.IGNORECASE)
_COLOURED = re.compile(r"colou?red\s|[a-z]+[ -]colou?red$", re.IGNORECASE)
_ALL_OVER = compile_form(" all over$", flags=re.IGNORECASE)
_THINK = compile_form(r"^(think|imagine|picture) (?=[\w-]+( [\w-]+)?$)", flags=re.IGNORECASE)
"""Before a word or two that a description opens with: "think navy: a bear"."""
_WORN = frozenset((
    "cloak", "suit", "apron", "tunic", "gown", "dress", "coat", "overalls", "jumpsuit", "costume",
    "cassock", "toga", "kimono", "habit", "outfit", "garb", "jerkin", "doublet", "dungarees",
))  # fmt: skip
"""By its colour somebody is called: "the burgundy knight", in a burgundy cloak."""
_HELD = compile_form("(holding|carrying|selling|folding|ironing) ", flags=re.IGNORECASE)
_ONE = compile_form(r"(an?|one|our|my|the|this) (?P<colour>[\w-]+)", flags=re.IGNORECASE)
_IS_OF = compile_form(
    r"^(?!(the|its|his|her|this|our|my|their) ).*(?<!that)(?<!which)(?<!who) is "
    r"(?P<colour>[\w-]+)$|"
    r"^the [\w -]*(?<!that)(?<!which)(?<!who) (is|are) (?P<own>[\w-]+)$",
    flags=re.IGNORECASE,
)
"""Of what is COLOUR; what begins with "the" must name the subject."""
_MADE_OF = compile_form(
    "(made|built|crafted|carved|woven|sewn|knitted|cast|fashioned) (out )?(of|from|in) ",
    flags=re.IGNORECASE,
)
_MOOD = compile_form(
    r"(?<!\w)((looking|looks|feeling|feels) ((quite|very|rather|a bit) )?(?P<how>[\w-]+)|"
    r"(?P<in>[\w-]+) mood)(?!\w)(?! (at|up|for|into|out|over|down|like))",
    flags=re.IGNORECASE,
)
"""How the subject is: "a robot looking shy", "in a shy mood"."""
_WORD = re.compile(r"\w+")
_PUT = frozenset((
    "sewn", "tied", "knotted", "attached", "strapped", "stuck", "pinned", "clipped", "stitched",
    "ironed", "glued", "fixed", "fastened", "buckled", "wrapped", "draped", "printed", "engraved",
    "mounted", "slung", "looped", "wound", "tucked", "hooked", "perched", "hung", "all",
))  # fmt: skip
"""Behind a thing they say how it is there: "a star sewn on", "decals all over"."""


def concepts(text: str) -> tuple[str, ...]:
    """A text as concept names in order: synonyms of the description file fall together."""
    return tuple(concept for concept, _ in worded_concepts(text))


@lru_cache(maxsize=4096)
def worded_concepts(text: str) -> tuple[tuple[str, str], ...]:
    """Concepts, each with the words that said it."""
    groups, openers = lexicon.description_groups(), lexicon.description_openers()
    words = [name for word in _WORD.findall(text.casefold()) if (name := canonical(word))]
    found = []
    index = 0
    while index < len(words):
        for length in (3, 2, 1) if words[index] in openers else (1,):
            phrase = " ".join(words[index : index + length])
            if length == 1 and (_is_breed(words, index) or _is_medium(words, index)):
                found.append((stem(phrase), phrase))
                index += 1
                break
            if phrase == "colored" and found and found[-1][0] in COLOURS:
                index += 1  # "aubergine-coloured" says no more than its colour
                break
            ends = index + 1 == len(words) and words[index - 1 : index] == ["colored"]
            if ends and (group := groups.get(f"{phrase} colored")):
                found.append((f"={group}", phrase))  # "coloured terracotta", which is no stuff
                index += length
                break
            if index + length <= len(words) and phrase in groups:
                found.append((f"={groups[phrase]}", phrase))
                index += length
                break
        else:
            color = _as_color(words, index)
            found.append((f"={color}" if color else _concept(words[index]), words[index]))
            index += 1
    return tuple(found)


def shades_in(text: str) -> frozenset[str]:
    """The shades a text names: "olive" of "an army green bag", "silver" of "silver gray"."""
    named = lexicon.shades()
    words = (said for _, said in worded_concepts(text))
    told = (named.get(said) or named.get(_shade_of(said)) for said in words)
    return frozenset(filter(None, told))


def _shade_of(said: str) -> str:
    """The first of two words, where the other is the colour it is a shade of: "silver gray"."""
    shade, _, colour = said.rpartition(" ")
    return shade if colour in lexicon.words("colors") else ""


def _as_color(words: Sequence[str], index: int) -> str:
    """The colour that a flower's name stands for beside a noun: "a rose lamp", "colored rose"."""
    color = lexicon.colors_of_things().get(words[index], "")
    before = words[index - 1] if index else ""
    return color if index + 1 < len(words) or before in _COLORED else ""


_COLORED = frozenset(["colored", "in", "is", "are", "out"])
"""Before the name of a thing that is a colour there: "the hull came out pumpkin"."""


def _is_breed(words: Sequence[str], index: int) -> bool:
    """Whether a shade is part of a name: a "tawny owl" may be white, a "red willow" is red."""
    colors = lexicon.words("colors")
    if words[index] in colors or lexicon.description_groups().get(words[index]) not in colors:
        return False
    if index + 2 < len(words):
        name_of_two = " ".join(words[index + 1 : index + 3])
        name = wordnet.look_up(name_of_two)
        animal = name is not None and is_kind_of(name_of_two, "animal")
        if stuffs_in(words[index + 1]) or animal:
            return False  # "a scarlet oak accordion", "an olive tree frog"
    entry = wordnet.look_up(" ".join(words[index : index + 2])) if index + 1 < len(words) else None
    return entry is not None and bool(entry.senses)


_DRAWINGS = frozenset((
    "drawing", "drawings", "sketch", "sketches", "pencil", "rendering", "portrait", "study",
    "drawn", "style",
))  # fmt: skip


def _is_medium(words: Sequence[str], index: int) -> bool:
    """Whether something is drawn with it: "charcoal drawing" tells no colour."""
    if words[index] != "charcoal" or _DRAWINGS.isdisjoint(words[index + 1 : index + 2]):
        return False
    return words[index + 1] != "pencil" or len(words) <= index + 2  # "a charcoal pencil skirt"


def _concept(word: str) -> str:
    """The stem of a word, or of the first word for the one thing it names: "auto" is a "car"."""
    name = lexicon.common_name(word)
    group = lexicon.description_groups().get(name)
    return f"={group}" if group else stem(name)


@dataclass(frozen=True, kw_only=True)
class Trait:
    """One thing a text says of its subject: "fluffy brown", "a crystal ball in its claws"."""

    words: tuple[str, ...]
    """Content words, canonical."""
    concepts: tuple[str, ...]
    head: str
    """Concept of the noun: the last word before a preposition ("ball")."""
    noun: str
    """That word."""
    spelled: frozenset[str] = frozenset()
    """Stems of the words, and of two as one: "deck chair" is also "deckchair"."""
    where: tuple[str, ...] = ()
    """Concepts of what follows a preposition: "neck" of "a bell around its neck"."""
    lacks: bool = False
    """It is what is not there: "no wheels", "without wheels"."""
    things: Mapping[str, frozenset[str]] = field(default_factory=dict, hash=False)
    """Things that it names in one of several words for them, with the concepts of those words."""

    @property
    def modifiers(self) -> tuple[str, ...]:
        """Concepts of the other words of the noun."""
        others = (self.head, *self.where)
        return tuple(concept for concept in self.concepts if concept not in others)


_INNER = frozenset(
    ["in", "on", "around", "round", "over", "at", "of", "from", "under", "across", "along", "down",
     "inside", "behind", "between", "for", "to", "through", "near", "about", "that", "which"]
)  # fmt: skip
"""Words that end the noun of a trait and begin where it is."""


_LACKING = compile_form(
    "(an? |the )?((that|which|who) )?((is|are|was|has|have|comes?) )?(got no|no|without|"
    r"missing(?! one\b)|lacking|devoid of|free of|(hasn't|has not|haven't) got|"
    r"(doesn't|does not|don't) have) (?P<before>\S.*)|(?P<behind>.*\S) (missing|gone)",
    flags=re.IGNORECASE | re.DOTALL,
)
_PARTED = compile_form(r" (?=(without|missing(?! one\b)|lacking)\s)", flags=re.IGNORECASE)


_DOING = compile_form(r"(?<= )(?P<doing>[a-z]+ing) (?=(an?|the|its|his|her|their) )")
"""What somebody does with a thing, which is not what they are: "a gnome | pushing | a barrow"."""


@lru_cache(maxsize=16384)
def trait(text: str) -> Trait | None:
    """A phrase as a trait; None when no word of it says anything."""
    lacking = _LACKING.fullmatch(text.strip())
    if lacking is None:
        return _trait(text)
    found = _trait(lacking["before"] or lacking["behind"])
    return replace(found, lacks=True) if found else None


def _trait(text: str) -> Trait | None:
    words: list[str] = []
    found: list[str] = []
    where: list[str] = []
    head = noun = ""
    ended = False
    quantities = lexicon.words("quantities")
    before = ""
    doing = {canonical(match["doing"]) for match in _DOING.finditer(text)}
    for concept, said in worded_concepts(text):
        last = said.split()[-1]
        side = before in ("the", "its") and said in lexicon.words("sides")  # "on the front"
        before = said
        if found and ((said in _INNER and not side) or said in doing):
            ended = True
        if (concept == said or concept == stem(said)) and _is_empty(said) and not side:
            continue
        if said in quantities:
            continue
        words += said.split()
        found.append(concept)
        if ended and noun:
            where.append(concept)
        if not ended and (not noun or not (_is_adverb(said) or last in _PUT)):
            head, noun = concept, last
    if not found:
        return None
    pairs = (f"{one}{other}" for one, other in itertools.pairwise(words))
    return Trait(
        words=tuple(words),
        concepts=tuple(found),
        head=head or found[0],
        noun=noun or words[0],
        where=tuple(where),
        spelled=frozenset(map(stem, (*words, *pairs))),
        things=things_of(text),
    )


def things_of(text: str) -> Mapping[str, frozenset[str]]:
    """The things that a text names in one of several words, with the concepts of those words."""
    named = {**thesaurus.told_in(text), **thesaurus.things_in(text)}
    worded = worded_concepts(text) if named else ()
    return {
        thing: frozenset(c for c, said in worded if stems.issuperset(map(stem, said.split())))
        for thing, stems in named.items()
    }


def _is_adverb(word: str) -> bool:
    """Whether a word behind a noun says how or where: "stickers everywhere"."""
    unheard = nature(word) is Nature.UNKNOWN and not thesaurus.kinds_in(word)
    return unheard and canonical(word) not in lexicon.description_groups()


def _is_empty(word: str) -> bool:
    """Whether a word pictures nothing by itself."""
    return len(word) < 2 or word in _empty_words()


@cache
def _empty_words() -> frozenset[str]:
    kinds = ("determiners", "prepositions", "links", "openers", "empty_adjectives")
    return frozenset().union(*map(lexicon.words, kinds))


@dataclass(frozen=True, kw_only=True)
class Profile:
    """What a card says it is: concepts of everything, of its kind, and its traits."""

    everything: frozenset[str]
    kind: frozenset[str]
    """Of the words right around the subject: "tan teddy bear"."""
    nouns: frozenset[str]
    """Stems of the words that name the subject."""
    traits: tuple[Trait, ...]
    shades: frozenset[str] = frozenset()
    """Shades that any of it says, by their first names."""
    own_shades: frozenset[str] = frozenset()
    """Those of the subject itself."""
    called: frozenset[str] = frozenset()
    """Concepts of the colours that the subject itself may be called by."""
    things: frozenset[str] = frozenset()
    """What its own words name, in one of several words for it: "melting"."""
    stuffs: frozenset[str] = frozenset()
    """What it is made of: "cast iron"."""
    told: frozenset[str] = frozenset()
    """Concepts of what people say of its kind: "folded" of a calzone."""
    told_traits: tuple[Trait, ...] = ()
    """What they say of it, and of the kinds of what it has."""


def _without_flavours(found: Trait) -> frozenset[str]:
    """Its concepts: "a lilac chocolate cupcake" is lilac and not brown."""
    worded = worded_concepts(" ".join(found.words))
    flavours = {concept for concept, said in worded if said in _EATEN}
    colours = {c for c, said in worded if c in COLOURS and said not in _EATEN}
    return frozenset(found.concepts) - (flavours - colours if colours else set())


_ON_THE = compile_form(r"(?<!-)\b(on|around|over|under|behind|across|along) an?\s")


def _of_subject(piece: str, found: Trait, nouns: set[str]) -> frozenset[str]:
    """The concepts that are of the subject: "navy internet" of "wicker chairs on a navy internet
    cafe".
    """
    stems = set(map(stem, nouns))
    behind = stem(found.noun) not in stems and not stems.isdisjoint(found.where)
    behind = behind and _ON_THE.search(piece) is not None
    if behind:
        return frozenset(found.where)
    held = found.where[1:] if _DOING.search(piece) else ()  # "a gnome | pushing | a barrow"
    return frozenset(_without_flavours(found)) - set(held)


def _groups_of(found: Trait) -> frozenset[str]:
    """The groups of words among a trait's concepts."""
    return frozenset(concept[1:] for concept in found.concepts if concept.startswith("="))


_EATEN = frozenset(["coffee", "chocolate", "cream", "honey", "caramel", "salmon", "cherry", "rust"])
"""Colours that alone are rather things: "a mug with coffee"."""


def _is_flavour_named(piece: str, nouns: set[str]) -> bool:
    """Whether a word alone is a colour of what nobody eats: "a bunny, cream", but no cake."""
    food = (_is_food(noun) for noun in nouns)
    return canonical(piece) in _EATEN and not any(food)


_TASTES = _EATEN | {
    "walnut", "hazelnut", "chestnut", "lemon", "lime", "mint", "pistachio", "vanilla", "pumpkin",
    "peach", "apricot", "raspberry", "strawberry", "plum", "mocha", "almond", "ginger", "mustard",
}  # fmt: skip


def _coloured_in(pieces: Sequence[str]) -> set[str]:
    """Words that something is in, or that stand beside another: "a cake in lime and black"."""
    return {word for piece in pieces for match in _IN.finditer(piece) for word in match[0].split()}


_IN = compile_form(
    r"(?<!covered )(?<!dipped )(?<!coated )(?<!glazed )(?<!rolled )(?<!soaked )"
    r"(?<!\w)in (pale |dark |light )?[\w-]+( and [\w-]+)?",
    flags=re.IGNORECASE,
)


def _tastes(words: set[str], kind: set[str], nouns: set[str], coloured: set[str]) -> set[str]:
    """The colours that are none of what is eaten, where it has another: "a crimson walnut cake"."""
    groups = lexicon.description_groups()
    told = {word for word in words if f"={groups.get(word)}" in COLOURS}
    tastes = (told & _TASTES) - coloured
    others = {f"={groups.get(word)}" for word in told - tastes}
    if not tastes or not others & kind or not any(map(_is_food, nouns)):
        return set()
    return {f"={groups.get(word)}" for word in tastes} - others


@lru_cache(maxsize=16384)
def _is_food(noun: str) -> bool:
    """Whether a noun names what is eaten or drunk."""
    return any(is_kind_of(noun, kind) for kind in ("food", "beverage", "baked goods"))


_METALS = frozenset(["bronze", "copper", "gold", "silver", "brass", "pewter", "chrome", "steel"])
"""Of a thing that has another colour they are what it is made of: "a black harp, in bronze"."""


@cache
def _colours() -> frozenset[str]:
    """Words that alone are colours."""
    return lexicon.colours() - _EATEN


_pieces = lru_cache(maxsize=16384)(phrases_of)


def profile(card: Card) -> Profile:
    """The profile of a card's description, subjects and name."""
    name = card.name if card.name != card.checkpoint_id else ""
    return _profile(pieces_of(card), card.subjects, name)


def pieces_of(card: Card) -> tuple[str, ...]:
    """The phrases of a card's description, as the catalog embeds them."""
    tags = (*card.styles, *card.environments)
    return _pieces(card.description, (card.checkpoint_id, *card.triggers), tags)


def _names_one(nouns: set[str], words: Sequence[str]) -> bool:
    """Whether words name a subject, or a kind of it ("sundress", "parasol")."""
    if nouns & set(words):
        return True
    return any(
        (len(noun) > 3 and word.endswith(noun)) or _is_below(word, noun)
        for word in words
        for noun in nouns
    )


@lru_cache(maxsize=16384)
def _is_below(word: str, noun: str) -> bool:
    """Whether WordNet has the first among the kinds of the second."""
    kinds, things = wordnet.senses(word), set(wordnet.senses(noun))
    return any(things & set(wordnet.above(sense)[:3]) for sense in kinds)


def _is_material(piece: str, found: Trait, nouns: set[str]) -> bool:
    """Whether a bare word may as well say what a thing is made of: "a blue yurt, canvas"."""
    return " " not in piece and found.head.startswith("=") and nouns.isdisjoint(found.words)


def _told_alone(pieces: Sequence[str], main: Trait | None) -> Iterator[Trait]:
    """What the subject is like where no phrase names it: "a child seat, a cream beach cruiser".

    A bare word or two that open the description do: "kind: folding / feel: ash wood".
    """
    if main is not None:
        yield main
    opens = trait(pieces[0]) if pieces and may_tell_alone(canonical(pieces[0]).split()) else None
    if opens is not None:
        yield opens


def may_tell_alone(words: Sequence[str]) -> bool:
    """Whether words may be what the subject is like: "folding", but neither "a bow" nor "studs"."""
    if not 0 < len(words) < 3 or words[0] in lexicon.words("determiners"):
        return False
    return next(wordnet.singulars(words[-1]), None) is None


def _bare_colour(piece: str) -> str:
    """The concept of the colour that a word alone stands for: "a robot, pumpkin, with a tray"."""
    if piece[:1].isupper():
        return ""  # a name: "a cat, Rose, in boots"
    word = canonical(_ALL_OVER.sub("", piece))
    groups = lexicon.description_groups()
    named = (groups.get(each, "") for each in (word, f"{word} colored"))
    return next((f"={name}" for name in named if f"={name}" in COLOURS), "")


def _bare(pieces: Sequence[str], nouns: set[str]) -> Sequence[str]:
    """What may be the subject's colour and stands alone: "a robot, pumpkin, …", "a teapot, glass,
    coral", "the kitty (peach, muddy)", "a chocolate, fluffy dog", "the dog | with a tilted head is
    rust"; or begins a list before it: "Rose, princess, munching a biscuit: a doll", but no name:
    "Rose, a cat".
    """
    naming = [at for at, piece in enumerate(pieces) if _names_one(nouns, canonical(piece).split())]
    found = list(pieces[1:2])
    for at in naming:
        found += itertools.takewhile(lambda piece: " " not in piece, pieces[at + 1 : at + 3])
        before = None if not at or _is_told_whole(pieces[at]) else _ONE.fullmatch(pieces[at - 1])
        found += [before["colour"]] if before is not None else []
        told, behind = _IS_OF.match(pieces[at]), _IS_OF.match("".join(pieces[at + 1 : at + 2]))
        found += [told["own"] or told["colour"]] if told is not None else []
        found += [behind["colour"]] if behind is not None and behind["colour"] else []
    if naming and naming[0] > 1 and not _is_told_whole(pieces[1]):
        found.append(pieces[0].lower())
    return found


def _is_told_whole(piece: str) -> bool:
    """Whether a piece begins with an article: "a cat", but not "fluffy dog" of "a brown, …"."""
    return canonical(piece.split()[0]) in lexicon.words("determiners")


@lru_cache(maxsize=16384)
def _profile(pieces: tuple[str, ...], subjects: tuple[str, ...], name: str) -> Profile:
    nouns = {word for subject in subjects for word in canonical(subject).split()}
    kind: set[str] = set()
    everything = {concept for text in (name, *subjects) for concept in concepts(text)}
    traits: list[Trait] = []
    shades: set[str] = set()
    own_shades: set[str] = set()
    own_words: set[str] = set()
    things: set[str] = set()
    stuffs: set[str] = set()
    told_traits: list[Trait] = []
    told_of_it: set[str] = set()
    main: Trait | None = None
    coloured: Trait | None = None
    named = False
    colours = _colours()
    for piece in itertools.chain.from_iterable(map(_PARTED.split, pieces)):
        piece = _THINK.sub("", _ALL_OVER.sub("", piece))
        found = trait(piece)
        if found is None:
            continue
        if found.lacks:
            traits.append(found)
            continue
        everything.update(found.concepts)
        shades.update(shades_in(" ".join(found.words)))
        # "a parrot, cobalt", "a cake, coloured cream"
        plain = all(word in colours for word in found.words) or _COLOURED.match(piece) is not None
        plain = plain or (coloured is None and main is not None and _is_flavour_named(piece, nouns))
        plain = plain and not (coloured is not None and _METALS.issuperset(found.words))
        earlier = main
        if not plain:
            coloured = coloured or (found if colours & set(found.words) else None)
            main = main or found
        told = _names_one(nouns, found.words) or _IS.match(piece) is not None
        if told and earlier is not None and _is_material(piece, found, nouns):
            told = nature(earlier.noun) not in (Nature.THING, Nature.PERSON)
        named = named or told
        mood = _MOOD.search(piece)
        before = canonical(piece[: mood.start()]) if mood else ""
        other = not told and before not in ("", "a", "an", "in a", "in an")  # "a dog looking sad"
        about = told or plain or (nature(found.noun) is Nature.NO_NOUN and not other)
        about = about or _MADE_OF.match(piece) is not None
        if mood and not other:
            kind.update(concepts(mood["how"] or mood["in"]))
            things.update(found.things)
        made = stuffs_in(piece)
        if about or canonical(piece) in made:
            stuffs.update(made)
        for said, own in _told_kinds(piece, found, nouns, names_it=told):
            told_traits.append(said)
            told_of_it.update(said.concepts if own else ())
        if about:
            own_words.update(found.words)
            things.update(found.things)
            kind.update(_of_subject(piece, found, nouns) if told else _without_flavours(found))
            own_shades.update(shades_in(" ".join(found.words)))
        elif _is_all_of_it(piece, found, nouns):  # "frame in navy"
            own_words.update(colours & set(found.words))
            kind.update(f"={color}" for color in lexicon.words("colors") & _groups_of(found))
            own_shades.update(shades_in(" ".join(found.words)))
        traits.append(found)
    kind -= _tastes(own_words, kind, nouns, _coloured_in(pieces))
    for word, subject in itertools.product(own_words - nouns, subjects):
        things.update(things_of(f"{word} {subject}"))  # of a car that is "estate"
    if COLOURS.isdisjoint(kind):
        for bare in _bare(pieces, nouns):
            kind.update(filter(None, (_bare_colour(bare),)))
            own_shades.update(shades_in(bare))
    if not named:
        for each in _told_alone(pieces, coloured or main):
            own_words.update(each.words)
            kind.update(each.concepts)
            things.update(each.things)
            own_shades.update(shades_in(" ".join(each.words)))
    traits += [found for subject in subjects if (found := trait(subject)) is not None]
    return Profile(
        everything=frozenset(everything),
        kind=frozenset(kind),
        nouns=frozenset(map(stem, nouns)),
        traits=tuple(traits),
        shades=frozenset(shades),
        own_shades=frozenset(own_shades),
        called=frozenset(names_for(NAMED & kind, own_words)),
        things=frozenset(things),
        stuffs=frozenset(stuffs),
        told=frozenset(told_of_it),
        told_traits=tuple(told_traits),
    )


def _is_all_of_it(piece: str, found: Trait, nouns: set[str]) -> bool:
    """Whether a piece tells of what all of the subject is covered by: its frame, or its cloak."""
    words = itertools.dropwhile(lexicon.words("prepositions").__contains__, piece.split())
    told = itertools.takewhile(lambda w: w not in lexicon.words("prepositions"), words)
    if not lexicon.words("bodies").isdisjoint(map(canonical, told)):
        return True
    worn = found.noun in _WORN and not found.where and _HELD.match(piece) is None
    return worn and any(nature(noun) is Nature.PERSON for noun in nouns)


def _told_kinds(
    piece: str, found: Trait, nouns: set[str], *, names_it: bool
) -> Iterator[tuple[Trait, bool]]:
    """What people say of the kinds that a piece names, each as a trait of the sort of thing, and
    whether the kind is the subject's.

    Only of what the piece is about: a "lime green car" is no fruit.
    """
    for kind, name in thesaurus.kinds_in(piece):
        if " ".join(name) in map(stem, nouns):
            continue  # that a rat is "long-tailed" tells none from the others
        sort = kind.sort.split()[-1]
        own = next((noun for noun in nouns if _is_sort(noun, sort)), "")
        if stem(found.noun) in (name[-1], stem(sort)) or (names_it and own):
            for said in kind.told:
                if (told := trait(_put(said, own or sort))) is not None:
                    yield told, bool(own)


def _put(said: str, noun: str) -> str:
    """What is said with the noun it stands beside, if it stands before it."""
    first, _, rest = said.partition(" ")
    return rest if first in ("with", "has", "having") else f"{said} {noun}"


def _is_sort(noun: str, sort: str) -> bool:
    """Whether a subject is of a sort, or the other way round: "sailboat", "boat"."""
    return noun == sort or noun.endswith(sort) or _is_below(noun, sort) or _is_below(sort, noun)
