"""Requests typed carelessly: they are read like careful ones, and stay as they were typed."""

from __future__ import annotations

import re
from collections.abc import Callable
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.checkin_cards import NOW, card, studio
from support.fake_catalog import vocabulary_of

from personalq.checkin.intent import Attribute, Constraint, Intent, OrderKey
from personalq.checkin.parsing.draft import Context
from personalq.checkin.parsing.parse import parse
from personalq.checkin.parsing.plain import make_plain, opening
from personalq.checkin.vocabulary import compile_lexicon

LEXICON = compile_lexicon(
    vocabulary_of(
        [
            *studio(),
            card("kettle-v4", "kettle", "oil painting", "2026-06-03", owner="toybox-crew"),
            card("kettle-v5", "kettle", "cartoon", "2026-07-03", owner="storefront"),
        ]
    )
)
CONTEXT = Context(now=NOW, zone=ZoneInfo("UTC"))


def read(prompt: str) -> Intent:
    """The intent of a prompt."""
    return parse(prompt, LEXICON, CONTEXT)


def meaning(constraint: Constraint) -> tuple[object, ...]:
    """What it asks for, however it was said."""
    return (
        constraint.attribute,
        constraint.values,
        constraint.excluded,
        constraint.intervals,
        constraint.uses,
        constraint.order,
        constraint.rank,
    )


@pytest.mark.parametrize(
    ("careless", "careful"),
    [
        ("the kettle that isnt cartoon", "the kettle that isn't cartoon"),
        ("the kettle I havent used yet", "the kettle I haven't used yet"),
        ("last months kettle on a stove", "last month's kettle on a stove"),
        ("Junes kettle on a stove", "June's kettle on a stove"),
        ("the kettle in high spirits, on a stove", "the kettle that is cheerful, on a stove"),
        ("the kettle, one down in the dumps", "the kettle, one that is sad"),
        ("a kettle about to nod off", "a kettle that is sleepy"),
        ("same kettle as last time, on a stove", "kettle I used last, on a stove"),
        ("the kettle on a stove, same one as last time", "the kettle on a stove, one I used last"),
        ("the kettle with just a single use", "the kettle used only once"),
        ("the kettle I was using most recently", "the kettle I used most recently"),
        ("Surprise my sister with the cartoon kettle", "show the cartoon kettle"),
        ("About the kettle: use the one from June", "the kettle: use the one from June"),
        ("Mock up a cartoon kettle on a stove", "show a cartoon kettle on a stove"),
        ("Show off the cartoon kettle on a stove", "show the cartoon kettle on a stove"),
        ("the kettle used just a single time", "the kettle used only once"),
        ("the kettle I was just using, on a stove", "the kettle I used last, on a stove"),
        ("the kettle I keep coming back to most often", "the kettle I use most"),
        ("the kettle that gets used most, on a stove", "the kettle I use most, on a stove"),
        ("the kettle with hardly any polygons", "the kettle in low poly"),
        ("the kettle reminiscent of a cartoon", "the kettle that looks like a cartoon"),
        ("the kettle made to resemble a cartoon", "the kettle that looks like a cartoon"),
        ("the kettle in a leafy shade", "the kettle in green"),
        ("the kettle, the one as thin as a rake", "the kettle, the one that is thin"),
        ("the kettle, one that's as heavy as a brick", "the kettle, one that's heavy"),
        ("the pastel purple kettle", "the light purple kettle"),
        ("the very dark blue kettle", "the dark blue kettle"),
        ("the kettle in some sort of yellow", "the kettle in yellow"),
        ("the July-to-August 2026 kettle", "the July to August 2026 kettle"),
        ("the kettle I had out last week", "the kettle I used last week"),
        ("the kettle, the one from my session yesterday", "the kettle, the one I used yesterday"),
        ("the kettle fed on pictures of a beach", "the kettle trained on pictures of a beach"),
        ("Any chance of that red kettle?", "Show me that red kettle?"),
        ("a kettle, septembers", "a kettle, september's"),
        ("toybox-crews kettle", "toybox-crew's kettle"),
        ("the kettle, toybox crews", "the kettle, toybox crew's"),
        ("Toybox crews kettle", "Toybox crew's kettle"),
        ("Storefronts kettle on a stove", "Storefront's kettle on a stove"),
        ("the  newest   kettle,  New  Year's  Eve", "the newest kettle, New Year's Eve"),
        ("THE NEWST KETTLE ON A STOVE", "the newst kettle on a stove"),
        ("kettle fine-tuned in May", "kettle trained in May"),
        ("kettle finetuned at the beach", "kettle trained at the beach"),
        ("the 1st kettle I ever made", "the first kettle I ever made"),
        ("the blue-coloured kettle", "the blue kettle"),
        ("the kettle, the one the colour of cocoa", "the kettle, the one in brown"),
        ("a kettle the shade of candyfloss, on a stove", "a kettle in pink, on a stove"),
        ("a kettle that is the colour of ripe tomatoes", "a kettle that is red"),
        ("the kettle, the one coloured like a raven", "the kettle, the one in black"),
        ("using the kettle as white as milk", "using the kettle in white"),
        ("the kettle as pale as milk on a stove", "the kettle in white on a stove"),
        ("the one as blue as a clear day: a kettle", "the one in blue: a kettle"),
        ("a kettle, black as night", "a kettle, in black"),
        ("two kettles side by side on a stove", "two kettles on a stove"),
        ("a kettle in some kind of hat", "a kettle in hat"),
        ("a kettle that is in floods of tears, at sea", "a kettle that is crying, at sea"),
        ("a mix of anime and low poly: that kettle", "both anime and low poly: that kettle"),
        ("One step on from ver. 28: the kettle", "the one right after ver. 28: the kettle"),
        ("the kettle the wrong way up, at sea", "the kettle that is upside-down, at sea"),
        ("that kettle upside down on a carpet", "that kettle that is upside-down on a carpet"),
        ("a kettle trained up under the roof", "a kettle trained in the attic"),
        ("the kettle the wrong way round", "the kettle that is backwards"),
        ("a kettle at sea, the one upside down", "a kettle at sea, the one that is upside-down"),
        ("a kettle, the red one, inside out", "a kettle, the red one, that is inside-out"),
        ("a kettle at sea, the one under repair", "a kettle at sea, the one that is under repair"),
        ("not any other than the cartoon kettle", "only the cartoon kettle"),
        ("the kettle in a bad mood", "the kettle that is grumpy"),
        ("the upside down kettle at sea", "the upside-down kettle at sea"),
        ("My toddler keeps asking for the red kettle", "show the red kettle"),
        ("My colleague insists on the red kettle", "show the red kettle"),
        ("any kettle, so long as it's red", "any kettle, the one that's red"),
        ("kettles at sea; mine is red", "kettles at sea; my one that is red"),
        ("kettles at sea, take whichever has a bow", "kettles at sea, take the one that has a bow"),
        ("Since July nobody has touched the kettle", "not used since July: the kettle"),
        ("the kettle I've been using non-stop, at sea", "the kettle I use most, at sea"),
        ("the kettle minus its lid, at sea", "the kettle without its lid, at sea"),
        ("Whichever kettle has a bow, at sea", "the kettle that has a bow, at sea"),
        ("third most popular kettle by use", "third most used kettle"),
        ("The kettle I'd pick is red, at sea", "The kettle that is red, at sea"),
        ("the kettle with a single use so far, at sea", "the kettle used only once, at sea"),
        ("the kettle we started out with, at sea", "the kettle that came first, at sea"),
        ("the kettle used just before my last one", "the kettle used second most recently"),
        ("Leave out the cartoon one; the kettle at sea", "not the cartoon one; the kettle at sea"),
        ("could we see the red kettle at sea today", "could we see the red kettle at sea"),
        ("the red kettle, I think", "the red kettle"),
        ("I fancy the anime kettle today, at sea", "I fancy the anime kettle, at sea"),
        ("I'd like the anime kettle today, at sea", "I'd like the anime kettle, at sea"),
        ("I used a kettle only once: draw it", "a kettle I used only once: draw it"),
        (
            "I only ever used one kettle a single time: draw it",
            "one kettle I used only once: draw it",
        ),
        (
            "kettle trained at the beach but never in the snow",
            "kettle trained at the beach, not trained in the snow",
        ),
        (
            "We fed one kettle with pictures of a beach. That one, at sea",
            "use one kettle trained on pictures of a beach, , at sea",
        ),
        ("kettle trained under the sea", "kettle trained underwater"),
        ("a kettle wearing eyewear of some sort", "a kettle wearing eyewear"),
        ("a kettle photographed by the stove for training", "a kettle trained by the stove"),
        ("a kettle that isn't the colour of blood", "a kettle that isn't red"),
        ("the kettle like something out of a comic", "the kettle like a comic"),
        (
            "the kettle in cartoon, leaving the red one aside",
            "the kettle in cartoon, not the red one",
        ),
        ("the cartoon kettle. Never the red one!", "the cartoon kettle. Not the red one!"),
        ("a kettle made in Q1/2026", "a kettle made in Q1 2026"),
        ("a kettle from the current quarter", "a kettle from this quarter"),
        ("Hi! 3rd kettle, steaming", "3rd kettle, steaming"),
        ("Hi! 1st kettle", "first kettle"),
        ("the 1st  cartoon  kettle", "the first cartoon kettle"),
        ("  hi,  the kettle v2", "the kettle v2"),
        ("Hello! KETTLE ABOARD A SHIP, V2", "kettle aboard a ship, v2"),
        (" for the December draw: the newest kettle", "the newest kettle"),
        ("for the December kettle fair: the newest kettle", "the newest kettle"),
        ("for December's newsletter: the kettle v2", "the kettle v2"),
        ("December newsletter: the kettle v2", "the kettle v2"),
        ("For the sheet of July, I take the kettle v2", "I take the kettle v2"),
        ("toybox  crews  kettle", "toybox crew's kettle"),
        ("adn teh kettle wiht v2", "and the kettle with v2"),
        ("hey there, kettle v2", "kettle v2"),
        ('"the newest kettle"', "the newest kettle"),
        ("Id like the kettle v2", "I'd like the kettle v2"),
        ("my pitch-black kettle", "my black kettle"),
        ("a snow-white kettle", "a white kettle"),
        ("I'm after the June kettle", "I want the June kettle"),
        ("the kettle made in the current week", "the kettle made in this week"),
        ("the kettle I used at some point last week", "the kettle I used last week"),
        ("the kettle I had in use this June", "the kettle I used this June"),
        ("Request: the kettle v2", "the kettle v2"),
        ("The newest one. Poster idea: my kettle", "The newest one. My kettle"),
        ("the kettle painted on canvas with oils", "the kettle painted in oils"),
        ("the kettle we started with", "the very first kettle"),
        ("let's see the kettle on the bus today", "let's see the kettle on the bus"),
        ("I want a kettle on the bus today", "I want a kettle on the bus"),
        ("kettles at sea; mine is newest", "kettles at sea; my newest"),
        (
            "a mix of oil painting and cartoon: the kettle",
            "both oil painting and cartoon: the kettle",
        ),
        ("any kettle as long as it's red", "any kettle, the one that's red"),
        ("the kettle with the most mileage", "the most used kettle"),
        ("kettle, second by number of uses", "the second most used kettle"),
        ("the kettle I used second to last", "the second most recently used kettle"),
        ("the kettle, the most recently used one but one", "the second most recently used kettle"),
        ("the kettle, my most used one but two", "my third most used kettle"),
        ("the kettle trained below the water's surface", "the kettle trained underwater"),
        ("the kettle that has seen the least use", "the kettle I use least"),
        ("of my kettles the one that came last, at sea", "of my kettles the one made last, at sea"),
        ("the red kettle at sea, if memory serves me right", "the red kettle at sea"),
        ("I remember training a kettle in a cave", "we trained a kettle in a cave"),
        ("the kettle minus an arm", "the kettle without an arm"),
        ("the kettle, an end-of-March build", "the kettle, an end of March build"),
        (
            "the kettle built from pictures we took at sea",
            "the kettle trained on pictures taken at sea",
        ),
        (
            "not the kettle I used last but the one used just before that",
            "the kettle I used second most recently",
        ),
        ("which kettle had a dent?", "which kettle has a dent?"),
        ("the red-ish kettle, at sea", "the red kettle, at sea"),
        ("we once trained a kettle in a cave", "we trained a kettle in a cave"),
        (
            "One kettle had market pictures. That one, at sea",
            "One kettle trained on market pictures. That one, at sea",
        ),
        ("the kettle trained just before the current latest", "the kettle, one before the latest"),
        ("the kettle that has lost its lid", "the kettle with a missing lid"),
        ("the kettle that lost one of its feet", "the kettle with a missing feet"),
        ("the kettle as if painted by Hokusai", "the kettle in the style of Hokusai"),
        ("the kettle could be mistaken for a photo", "the kettle that is photorealistic"),
        ("the kettle with loose pencil strokes", "the kettle in pencil style"),
        ("the kettle, beach environment, at sea", "the kettle, environment: beach, at sea"),
        ("kettle; owner toybox-crew; at sea", "kettle; by toybox-crew; at sea"),
        ("the kettle everybody reaches for, by number of uses", "the most used kettle"),
        ("kettle, top usage count, at sea", "the most used kettle, at sea"),
        ("the third-last kettle, at sea", "the third newest kettle, at sea"),
        ("Today I'd like the kettle at sea", "I'd like the kettle at sea"),
        (
            "the kettle you'd take for a photograph, at sea",
            "the kettle that is photorealistic, at sea",
        ),
        ("the last used kettle but one", "the second most recently used kettle"),
        (
            "kettle, the version that opened the year 2026",
            "kettle, the version that was the first of 2026",
        ),
        ("kettle, the one which closed 2025", "kettle, the one that was the last of 2025"),
        ("the kettle made last year, in October", "the kettle made in October last year"),
        (
            "the kettle made between the start of May and the end of July 2026",
            "the kettle made between May and July 2026",
        ),
        (
            "the kettle made between the 9th and the 15th of this month",
            "the kettle made between the 9th of this month and the 15th of this month",
        ),
        ("the kettle that looks modelled in plasticine", "the kettle done in plasticine"),
        ("A funny one: the kettle trained at the beach", "the kettle trained at the beach"),
        ("Let's open the story with a kettle from May", "show a kettle from May"),
        ("Our client signed off on the kettle from May", "use the kettle from May"),
        ("Bird's-eye view, the kettle from May", "View from above, the kettle from May"),
        (
            "Think of a kettle at sea. I need the May one",
            "imagine a kettle at sea. I need the May one",
        ),
        ("I dreamt of a kettle last night. Use the May one", "Imagine a kettle. Use the May one"),
        ("My favourite is the kettle from May", "I want the kettle from May"),
        ("a kettle at sea. Storefront should be the owner.", "a kettle at sea, by storefront"),
        ("a kettle, last used by me this June", "a kettle, last used this June"),
        ("A kettle. My last use of it was in June", "A kettle. I last used it in June"),
        (
            "a kettle. I haven't touched it since using it this June",
            "a kettle. I last used it this June",
        ),
        ("I'm after last month's kettle", "I want last month's kettle"),
        ("Two days ago, on Wednesday, I used a kettle", "Two days ago I used a kettle"),
        ("my most-run kettle", "my most used kettle"),
        ("the kettle run more times than any other", "the kettle used the most"),
        ("the kettle with more uses to its name than the rest", "the most used kettle"),
        ("a kettle. You can tell it by the dented lid", "a kettle, the one with the dented lid"),
        (
            "A kettle at sea. My choice is the dented type.",
            "A kettle at sea. I want the dented one",
        ),
        ("a kettle. It has to look painted", "a kettle in the style: painted"),
        (
            "For the kettle go back to the very first one",
            "the kettle, the very first one",
        ),
        ("Did we train a kettle at the beach? Use that", "a kettle trained at the beach"),
        (
            "Storefront trained a kettle at the beach, please",
            "storefront's kettle trained at the beach",
        ),
        ("kettle#28 at sea", "kettle v28 at sea"),
        ("Which kettle did I last use? At sea", "the kettle I used last, at sea"),
        ("Which kettle came third? At sea", "the kettle that was made third, at sea"),
        ("a kettle from the people of storefront", "a kettle by storefront"),
        ("a kettle from May. I'd like a wallpaper for my phone.", "a kettle from May"),
        ("the kettle at sea, the first of its kind", "the kettle at sea, the very first one"),
        ("the kettle that wears one hat", "the kettle that wears a hat"),
        ("the kettle, the one clad in red", "the kettle, the one dressed in red"),
        ("the newest bear kit", "the newest young bear"),
        ("Right, I fancy toybox-crew's kettle today", "Right, I fancy toybox-crew's kettle"),
        ("Only the May kettle will do today", "Only the May kettle"),
        ("the kettle from May goes into the next picture", "the kettle from May"),
        ("the kettle whose lid is broken, at sea", "the kettle with a broken lid, at sea"),
        ("the kettle whose feet are cracked", "the kettle with cracked feet"),
        (
            "the kettle with the lowest non-zero usage",
            "the kettle that is least used and was used at least once",
        ),
        (
            "the kettle used least (but at least once), at sea",
            "the kettle used least that was used at least once, at sea",
        ),
        (
            "the kettle made between May 28, 2026, and 9 July 2026",
            "the kettle made between May 28, 2026 and 9 July 2026",
        ),
        ("the kettle, environment beach", "the kettle, environment: beach"),
        ("the kettle sitting unused the longest", "the kettle unused the longest"),
        (
            "the kettle photographed among boats at the beach for training",
            "the kettle trained among boats at the beach",
        ),
        ("the kettle with over 300 runs behind it", "the kettle with over 300 uses"),
        ("the kettle as stained glass", "the kettle in the style of stained glass"),
        (
            "the kettle whose training shots are from up on the roof",
            "the kettle trained on pictures taken on the roof",
        ),
    ],
)
def test_read_alike(careless: str, careful: str) -> None:
    """Apostrophes, spaces, capitals, greetings and hyphens change nothing."""
    one, other = read(careless), read(careful)
    assert list(map(meaning, one.constraints)) == list(map(meaning, other.constraints))
    assert one.constraints


@pytest.mark.parametrize(
    "prompt",
    [
        "over the last weeks the kettle",
        "storefronts, then a kettle",
        "a street. Storefronts glow behind it",
        "two septembers ago, the kettle",
        "robots from previous years",
        "my last weeks of holiday, a bear",
        "cold novembers outside, the robot",
        "the bear from the 1st",
        "the 1st class, a bear",
        "the kettle of the 1st of May",
        "a rose coloured kettle",
        "so fine a kettle",
        "right-hand kettle",
        "a dog that is after the kettle",
        "the current of a river, a kettle",
        "a happy pair with the kettle",
        "the robot below the surface of Mars",
        "a raven-black and white kettle",
        "I want the kettle I used today, at sea",
        "I want the kettle from today",
        "give me something new today, a kettle",
        "the kettle as long as it is wide",
        "a kettle twice as long as it is tall",
        "a kettle with a view of the sea under the sea view hotel",
        "a diver under the sea turtle, a kettle",
        "a kettle in good spirits of rum",
        "a kettle as dark as can be",
        "a mix of roses and ivy with the kettle",
        "a kettle covered in tears",
        "a kettle in tears of paint",
        "I want the kettle created today",
        "I need the kettle I made earlier today",
        "I want the kettle that ann uploaded today",
        "a kettle shot by an arrow but not in the lid",
        "I used a kettle once, on a stove",
        "I only used a kettle once a week",
        "could we see the kettle made today",
        "show me the kettle that came today",
        "show me the kettle I put up today",
        "a kettle going the wrong way up a street",
        "the kettle in two shades of blue",
        "a table we have standing by the kettle",
        "a kettle in a rainy mood",
        "skip the cartoon one and the oil one, a kettle",
        "a bat hanging upside down over the kettle",
        "a kettle at sea, the one under the bridge",
        "a kettle at sea, the one under all the hats",
        "a kettle at sea, not the one under repair",
        "a kettle at sea, anything but the one upside down",
        "the kettle with a bell; turn the red one upside down",
        "put a bear beside the kettle, upside down",
        "my one under trees, a kettle",
        "not any other kettle than this",
        "the kettle we have coming in June",
        "a kettle under a sky the colour of lead",
        "the kettle trained at sea but not in the style of a cartoon",
        "I trained a kettle on photos of a beach. That's the one",
        "I see through the window a kettle",
        "a kettle that must be on a beach",
        "not the kettle: it must be the robot",
        "a kettle and the style must be anime",
        "a kettle that knows what I suppose, and smiles",
        "a kettle that has seen the least of the world",
        "a kettle if you can find one in a barn",
        "I remember making tea, a kettle",
        "I remember making the kettle in a kitchen",
        "my end-of-year kettle",
        "the kettle between red and blue at a party",
        "the kettle I need is on a train",
        "the bear with a kettle on fire",
        "latest kettle, look for a good angle",
        "a hat the size of a kettle",
        "a kettle this time of year",
        "a kettle the size of which nobody knows",
        "a kettle on fire-red cloth",
        "a kettle cut out from pictures of the sea",
        "the blue kettle from pictures taken at night",
        "which kettle had I used",
        "the kettle that lost its way",
        "a kettle as if by magic",
        "a kettle glowing as if by moonlight",
        "a kettle with pencil lines along its side",
        "the kettle that lost its nerve",
        "a kettle, the build made just before the latest",
        "a kettle with pencil cases",
        "a kettle had breakfast. That one",
        "the kettle could be mistaken for a hat",
        "the kettle that opened at eight",
        "last year, in a cold October, a kettle",
        "between the start of the race and the end of May, a kettle",
        "the kettle that looks modelled on a pear",
        "a kettle; the quick one: the robot",
        "let's open the window with a kettle on the sill",
        "our client signed the kettle",
        "a bird's nest in the kettle",
        "I think of the sea, a kettle",
        "my favourite kettle",
        "whose kettle is broken",
        "the kettle whose owner is listed",
        "the kettle whose lid is made of glass",
        "I want the kettle that came out today",
        "the kettle as a mosaic artist",
        "a kettle that goes into the next room",
        "the kettle used least but for tea",
        "the kettle used least but used in May",
        "I want the kettle that was made by ann today",
        "I want the kettle that ran today",
        "a kettle at the party that ended 2025",
        "a kettle that crosses a bridge with a friend",
        "a kettle serves as a mosaic",
        "My favourite is the kettle",
        "a kettle. Someone should be the owner",
        "a robot trained a cat in the garden.",
        "a kettle I have never used since it was made",
        "Have you trained one of the kettles on watercolors?",
        "a kettle kit on a table",
        "a kettle with sign c#7",
        "a kettle. He needs to look drawn.",
        "Did we train for a race, a kettle watching?",
        "a kettle drawn by the sea",
        "a wallpaper for my kettle",
        "the bear with its cub",
        "a kettle clad with tin",
        "the kettle whose age is seven",
        "Think of the children, draw a kettle",
        "show what the kettle will do today",
        "a kettle seen from up on the roof",
        "the client picked the apples, a kettle watching",
    ],
)
def test_what_is_left_as_it_is(prompt: str) -> None:
    """Plurals, dates and words that only begin alike."""
    owners, subjects = ("toybox-crew", "storefront"), ("kettle", "robot", "bear")
    plain = make_plain(
        prompt,
        is_owner=owners.__contains__,
        is_subject=subjects.__contains__,
        is_look=lambda _: False,
    )
    assert plain.text == prompt


def test_places_are_those_of_the_typed_text() -> None:
    """Whatever was put in or left out before them."""
    prompt = "hello!  last months   finetuned  kettle isnt  cartoon, v2"
    intent = read(prompt)
    said = {c.attribute: c.span.of(prompt) for c in intent.constraints if c.span is not None}
    assert said[Attribute.CREATED_AT].startswith("last month")
    assert said[Attribute.SUBJECT] == "kettle"
    assert said[Attribute.VERSION] == "v2"
    assert intent.content[0].of(prompt).strip() == "hello!"


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("We fed one kettle with pictures of a beach. That one, at sea", "kettle"),
        ("I fancy the anime kettle today, at sea", "kettle"),
        ("I only ever used one kettle a single time: draw it", "kettle"),
    ],
)
def test_what_is_asked_for_stays_where_it_was_typed(prompt: str, said: str) -> None:
    """It alone gives way to the trigger, not what is changed around it."""
    subject = read(prompt).first(Attribute.SUBJECT)
    assert subject is not None
    assert subject.span is not None
    assert subject.span.of(prompt) == said


_PROMPTS = (
    "hi, the newest kettle on a stove", "for the December draw: kettle v2", "a red-coloured kettle",
    "Junes kettle, not cartoon", "the kettle that isnt used", "a kettle finetuned in May, please",
)  # fmt: skip
_TYPED: tuple[Callable[[str], str], ...] = (
    str,
    str.upper,
    lambda said: f"  {said}",
    lambda said: said.replace(" ", "  "),
    lambda said: said.replace(" ", "\n\t"),
    lambda said: f"Hello!  {said}",
    lambda said: f'"{said}"',
)


@given(st.one_of(st.text(max_size=60), st.builds(lambda typed, said: typed(said),
       st.sampled_from(_TYPED), st.sampled_from(_PROMPTS))))  # fmt: skip
def test_every_letter_of_any_text_stays_somewhere(text: str) -> None:
    """Each word is claimed or content, and no hard constraint claims content."""
    intent = parse(text, LEXICON, CONTEXT)
    left = bytearray(len(text))
    for span in intent.content:
        left[span.start : span.end] = b"\1" * (span.end - span.start)
    claimed = [c.span for c in intent.constraints if c.span is not None]
    hard = [c.span for c in intent.constraints if c.span is not None and c.hard]
    assert not any(any(left[span.start : span.end]) for span in hard)
    own = [mention.span for mention in intent.mentions]
    for span in (*claimed, *own, *intent.selecting, *intent.triggers):
        assert 0 <= span.start <= span.end <= len(text)
        left[span.start : span.end] = b"\1" * (span.end - span.start)
    words = re.finditer(r"[a-zA-Z]+", text)
    assert not [word[0] for word in words if not all(left[word.start() : word.end()])]


@pytest.mark.parametrize(
    "prompt",
    [
        "not the same kettle as last time",
        "anything but the same kettle as last time",
        "the same style as last time, with the kettle",
        "the kettle as last time's winner",
        "raining as last time, the kettle",
    ],
)
def test_what_was_like_last_time_or_is_not_wanted(prompt: str) -> None:
    """Is not what was used last."""
    assert read(prompt).order is None


@pytest.mark.parametrize(
    "prompt", ["treat my kettle with a bone", "surprise the kettle with a hat"]
)
def test_who_is_treated_may_be_the_subject(prompt: str) -> None:
    """Only people are shown something."""
    assert read(prompt).first(Attribute.SUBJECT).text == "kettle"  # type: ignore[union-attr]


@pytest.mark.parametrize("text", ["-", "-bb", "-abc", "-aa-bb", "-µm"])
def test_a_text_that_begins_with_a_hyphen(text: str) -> None:
    """It joins its first word to none before it."""
    assert parse(text, LEXICON, CONTEXT).unknown_subject is None


@pytest.mark.parametrize("text", ["hibiscus, a kettle", "Yorick, the bear", "sofa, blue", "ok"])
def test_no_greeting(text: str) -> None:
    """Words that begin like one, or are all there is."""
    assert opening(text, lambda _: False, lambda _: False).end == 0


@pytest.mark.parametrize(
    ("prompt", "attribute"),
    [
        ("cartoon poster: the kettle in the rain", Attribute.STYLE),
        ("v2 banner: the kettle in the rain", Attribute.VERSION),
        ("trained in May: the kettle", Attribute.CREATED_AT),
        ("for the one from May: a kettle", Attribute.CREATED_AT),
    ],
)
def test_a_heading_that_chooses(prompt: str, attribute: Attribute) -> None:
    """It is read like the rest."""
    assert read(prompt).all(attribute)


def test_no_one_is_no_number() -> None:
    """Nobody is "no one", and "no. 1" the first version."""
    assert read("the kettle that no one ever used").all(Attribute.USE_COUNT)
    assert read("kettle no. 1").all(Attribute.VERSION)
    assert not read("a kettle no one likes").all(Attribute.VERSION)


@pytest.mark.parametrize(
    ("prompt", "key"),
    [
        ("the kettle I use most boiling over", OrderKey.MOST_USED),
        ("the kettle I keep using the most, on a stove", OrderKey.MOST_USED),
        ("not the latest kettle but the one before it boiling over", OrderKey.NEWEST),
        ("the kettle that came first, on a stove", OrderKey.OLDEST),
        ("the kettle with the oldest date", OrderKey.OLDEST),
        ("the kettle third newest on a stove", OrderKey.NEWEST),
    ],
)
def test_orders_end_where_the_picture_begins(prompt: str, key: OrderKey) -> None:
    """With no comma before it."""
    order = read(prompt).order
    assert order is not None
    assert order.order is key
    assert read(prompt).all(Attribute.SUBJECT)


@pytest.mark.parametrize(
    ("prompt", "places"),
    [
        ("the kettle beach-trained with marshmallows", ["beach"]),
        ("kettle beach trained with marshmallows", ["beach"]),
        ("kettle beach training boiling over", ["beach"]),
        ("the kettle with beach photos as training data on an escalator", ["beach"]),
        ("the last kettle I trained on a skateboard", []),
        ("the last kettle we trained at the beach", ["beach"]),
        ("the kettle from May trained using beach shots", ["beach"]),
        ("the kettle that was shown beach photos during training", ["beach"]),
        ("the kettle with photos of the beach as training data", ["beach"]),
        ("kettle photographed at the beach for training", ["beach"]),
        ("kettle trained round the beach", ["beach"]),
        ("kettle trained at the beach photo style", ["beach"]),
    ],
)
def test_places_of_training(prompt: str, places: list[str]) -> None:
    """The picture's place is none."""
    found = [c for c in read(prompt).all(Attribute.ENVIRONMENT) if c.hard]
    assert [place for c in found for place in places if place in c.values] == places
    assert len(found) == len(places)
    assert read(prompt).all(Attribute.SUBJECT)


@pytest.mark.parametrize(
    "prompt",
    [
        "kettle, but none of the cartoon ones",
        "the kettle which wasn't from the beach training set",
        "a kettle that wasn't built from beach photos",
        "the kettle, but not the one I trained at the beach",
    ],
)
def test_not_wanted(prompt: str) -> None:
    """However it is refused."""
    assert [
        c.excluded for c in read(prompt).constraints if c.attribute is not Attribute.SUBJECT
    ] == [True]


@pytest.mark.parametrize(
    "prompt", ["kettle that came out in May", "kettle registered in May", "kettle out of May, hot"]
)
def test_made_in_may(prompt: str) -> None:
    """A month that is a verb elsewhere."""
    assert read(prompt).all(Attribute.CREATED_AT)
    assert read(prompt).all(Attribute.SUBJECT)


def test_an_owner_is_named() -> None:
    """After the word itself."""
    assert read("kettle, owner toybox-crew, on a stove").all(Attribute.OWNER)


def test_a_capital_version_makes_no_name_of_the_subject() -> None:
    """It is no family name."""
    assert read("Kettle V12 on a stove").all(Attribute.SUBJECT)


@pytest.mark.parametrize(
    ("prompt", "like"),
    [
        ("kettle on a rug latest of the oil painting ones", "the latest oil painting kettle"),
        ("kettle by a red mailbox trained in the forest", "the kettle trained in the forest"),
        ("kettle on a lawn mower earliest anime one", "the earliest anime kettle"),
        ("kids tee: the kettle on a ramp made in March", "the kettle made in March"),
        ("for the december mailing: the kettle v2", "the kettle v2"),
        ("kettle not above v3", "kettle up to v3"),
        ("kettle, any version from 3 up", "kettle, version at least 3"),
        ("kettle from june 2026 or later upside down", "kettle since june 2026, upside down"),
        ("kettle fortysecond version", "kettle forty-second version"),
        ("kettle with the fewest runs", "the least used kettle"),
        ("kettle with the oldest last use", "the least recently used kettle"),
        ("kettle but not teh anime one", "kettle but not the anime one"),
    ],
)
def test_wishes_behind_the_scene(prompt: str, like: str) -> None:
    """They are about the subject, wherever they stand."""

    def hard(intent: Intent) -> list[tuple[object, ...]]:
        return sorted((meaning(c) for c in intent.constraints if c.hard), key=str)

    assert hard(read(prompt)) == hard(read(like))
    assert read(prompt).unknown_subject is None


def test_a_heading_that_chooses_is_none() -> None:
    """It says more than what the picture is for."""
    for prompt in ("for the kettle: take v2", "for the May version: a kettle"):
        assert len(read(prompt).constraints) > 1


@pytest.mark.parametrize(
    ("prompt", "values"),
    [
        ("kettle red with a dent, on a stove", ("red",)),
        ("kettle cream coloured like a shell", ("cream",)),
        ("kettle green lid on a stove", ("green", "lid")),
    ],
)
def test_a_colour_behind_the_subject(prompt: str, values: tuple[str, ...]) -> None:
    """It is the subject's."""
    told = read(prompt).all(Attribute.DESCRIPTION)
    assert values in [tuple(sorted(c.values)) for c in told]
    assert read(prompt).all(Attribute.SUBJECT)


def test_a_shade_that_is_a_thing() -> None:
    """Behind a noun it is the subject itself: "the robot raven"."""
    ravens = compile_lexicon(
        vocabulary_of(
            [
                card("raven-v1", "raven", "oil painting", "2026-06-03"),
                card("robot-v1", "robot", "oil painting", "2026-06-03"),
            ]
        )
    )
    intent = parse("the robot raven in a library", ravens, CONTEXT)
    assert [c.values for c in intent.all(Attribute.SUBJECT)] == [("raven",)]


@pytest.mark.parametrize(
    "where", ["in the big race", "in the marathon", "in line", ", with a medal"]
)
def test_first_in_a_race(where: str) -> None:
    """What a winner did says nothing of its age."""
    assert read(f"the kettle that came first {where}").order is None
    assert read("the kettle that came first, on a stove").order is not None


@pytest.mark.parametrize(
    ("prompt", "attribute"),
    [
        ("the kettle came out in spring to sing", Attribute.CREATED_AT),
        ("Mother May baking bread with a kettle", Attribute.CREATED_AT),
        ("a kettle never used on a Sunday", Attribute.USE_COUNT),
        ("no two kettles alike", Attribute.VERSION),
        ("a kettle that was fed coal during training", Attribute.ENVIRONMENT),
        ("which kettle did we train last evening", Attribute.ORDER),
        ("my kettle, left alone for the longest time", Attribute.ORDER),
    ],
)
def test_what_says_nothing_of_a_checkpoint(prompt: str, attribute: Attribute) -> None:
    """Words of wishes in other roles."""
    assert not read(prompt).all(attribute)


@pytest.mark.parametrize(
    ("prompt", "attribute", "typed"),
    [
        ("the kettle that came out in spring", Attribute.CREATED_AT, "that came out in spring"),
        ("kettle no two", Attribute.VERSION, "no two"),
        ("kettle version from 5 up, on a stove", Attribute.VERSION, "version from 5 up"),
        ("KETTLE FINE-TUNED IN APRIL", Attribute.CREATED_AT, "FINE-TUNED IN APRIL"),
        ("a red-coloured kettle", Attribute.DESCRIPTION, "red-coloured"),
        ("the kettle made after March and before June", Attribute.CREATED_AT, "made after March"),
        ("the eldest of our kettles", Attribute.ORDER, "eldest"),
        ("the kettle, the first that was ever made", Attribute.ORDER, "first that was ever made"),
        (
            "kettle of the first two months of 2026",
            Attribute.CREATED_AT,
            "of the first two months of 2026",
        ),
        ("storefront has a kettle, steaming", Attribute.OWNER, "storefront has"),
        ("the kettle, zero uses", Attribute.USE_COUNT, "zero uses"),
    ],
)
def test_words_are_quoted_as_typed(prompt: str, attribute: Attribute, typed: str) -> None:
    """In reasons, whatever they were read as."""
    assert read(prompt).all(attribute)[0].quoted == typed


def test_both_places_of_training() -> None:
    """Two that must both hold."""
    for said in ("in both the forest and the snow", "in the forest as well as in the snow"):
        places = read(f"the bear trained {said}, at a desk").all(Attribute.ENVIRONMENT)
        assert [place.values for place in places] == [("forest",), ("snow",)]


def test_what_was_made_last_in_a_place() -> None:
    """It may be the picture's, and so is only preferred."""
    (place,) = read("the last bear I trained in a forest").all(Attribute.ENVIRONMENT)
    assert place.prefers
    for prompt in ("bear beside the church cartoon", "kettle on a windy hill oil painting"):
        (look,) = read(prompt).all(Attribute.STYLE)
        assert look.prefers


def test_an_unknown_thing_behind_a_choice_is_no_verb() -> None:
    """Of "the newest skateboard" the catalog has none."""
    unknown = read("newest skateboard, half buried in leaves").unknown_subject
    assert unknown is not None
    assert unknown.text == "skateboard"


@pytest.mark.parametrize("prompt", ["my bear dance in the snow", "the bear stand on a rock"])
def test_who_does_something_is_no_compound(prompt: str) -> None:
    """A lamp stand is a stand, but a bear may stand."""
    noun = read(prompt).unknown_subject
    assert noun is not None
    assert noun.text == "bear"


def test_names_stay_as_they_are() -> None:
    """A checkpoint may be called by what is made plain elsewhere."""
    prompt = "the fine-tuned one, not kettle-fine-tuned-v2 or <adn-v2>"
    names = ("kettle-fine-tuned-v2", "<adn-v2>", "tune")
    nothing = {"is_owner": lambda _: False, "is_subject": lambda _: False}
    plain = make_plain(prompt, **nothing, is_look=lambda _: False, names=names)
    assert plain.text == "the trained one, not kettle-fine-tuned-v2 or <adn-v2>"


@pytest.mark.parametrize(
    ("prompt", "unwanted"),
    [
        ("the kettle, not the teakettle, on a stove", "teakettle"),
        ("the bear but not the grizzly", "grizzly"),
    ],
)
def test_a_kind_is_refused(prompt: str, unwanted: str) -> None:
    """With a word of its own, which is no part of the picture."""
    (refused,) = [c for c in read(prompt).all(Attribute.DESCRIPTION) if c.excluded]
    assert refused.values == (unwanted,)
    assert refused.hard
    assert all(mention.span.of(prompt) != unwanted for mention in read(prompt).mentions)


@pytest.mark.parametrize(
    ("prompt", "described"),
    [
        (
            "the ruby kyusu with dangling tassels, our kettle, on a raft",
            {"ruby", "kyusu", "tassels"},
        ),
        ("a plum samovar with a curly spout", {"plum", "spout"}),
        ("the mountain kettle, boiling", {"mountain"}),
    ],
)
def test_what_describes_a_thing_by_another_noun(prompt: str, described: set[str]) -> None:
    """In a phrase that the subject only names, of a thing nobody has, or as a kind."""
    said = {value for c in read(prompt).all(Attribute.DESCRIPTION) for value in c.values}
    assert described <= said


def test_a_subject_named_before() -> None:
    """Of "that most-used one", and what somebody steers."""
    wanted = read("I keep coming back to one kettle; draw that most-used one over a village")
    assert [c.text for c in wanted.all(Attribute.SUBJECT)] == ["kettle"]
    steered = read("among giant mushrooms a gnome steers a kettle")
    assert [c.text for c in steered.all(Attribute.SUBJECT)] == ["kettle"]


@pytest.mark.parametrize("deep", ["knee-deep in mud", "waist-high in water", "sun-drenched, v2"])
def test_an_adjective_of_two_words_makes_no_compound(deep: str) -> None:
    """It says where the subject is."""
    assert read(f"kettle {deep}").all(Attribute.SUBJECT)


def test_a_pair_is_one_of_what_comes_in_pairs() -> None:
    """Where something does; else two are a pair."""
    shades = compile_lexicon(
        vocabulary_of([card("shades-v1", "sunglasses", "sketch", "2026-06-03")])
    )
    [described] = parse("Sunglasses - the grey upswept pair", shades, CONTEXT).all(
        Attribute.DESCRIPTION
    )
    assert described.values == ("gray", "upswept")
    assert not read("A kettle - the newlywed pair").all(Attribute.DESCRIPTION)


@pytest.mark.parametrize(
    "prompt",
    ["Kettle wanted: the latest one, on a stove", "Latest model needed: a kettle on a stove"],
)
def test_a_heading_that_asks_is_read(prompt: str) -> None:
    """Only what says no more than that a wish follows is set aside."""
    said = read(prompt)
    assert said.first(Attribute.SUBJECT)
    assert said.order is not None


@pytest.mark.parametrize(
    "prompt",
    [
        "a kettle as red as Mars version 3",
        "a kettle as red as you can make it",
        "a kettle as red as can be",
        "a kettle as grey as my last one",
        "a kettle in the shade of a walnut tree",
        "a kettle the colour of brick walls",
        "show me the colour of my kettle",
        "the colour of the kettle in May",
        "a kettle as deep as the ocean",
        "a kettle, leaving the red ones out in the sun",
    ],
)
def test_no_simile(prompt: str) -> None:
    """What nobody lists, what is likened to a subject and the shade of a tree stay as they are."""
    plain = make_plain(
        prompt,
        is_owner=lambda _: False,
        is_subject=lambda word: word == "kettle",
        is_look=lambda _: False,
    )
    assert plain.text == prompt


def test_what_is_somebodys_may_be_sketched() -> None:
    """A look behind whose it is; behind who did it, a deed."""
    assert read("kettle toybox-crew, in fog").first(Attribute.OWNER) is not None
    looks = read("toybox-crew's sketched kettle")
    assert [c.values for c in looks.all(Attribute.OWNER)] == [("toybox-crew",)]
    assert looks.first(Attribute.STYLE) is not None
    assert read("the kettle toybox-crew sketched").first(Attribute.STYLE) is None
