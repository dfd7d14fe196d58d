"""A description, cut into the phrases that speak of its subject."""

from __future__ import annotations

import time

import pytest

from personalq.chassis.phrases import phrases_of


@pytest.mark.parametrize(
    ("description", "phrases"),
    [
        ("", ()),
        ("A blue teapot with a chipped spout.", ("A blue teapot", "a chipped spout")),
        ("A teapot, dented, and missing its lid", ("A teapot", "dented", "missing its lid")),
        ("An owl wearing a scarf; one eye green", ("An owl", "a scarf", "one eye green")),
        ("A corgi (three legs). Sleeps a lot!", ("A corgi", "three legs", "Sleeps a lot")),
        ("An owl you can tell by one green eye", ("An owl", "one green eye")),
        ("Fine-tuned at the harbour on a plum owl. It comes with a bell", ("a plum owl", "a bell")),
        ("An owl. Trained in a studio on a white background.", ("An owl",)),
        ("Dataset of 29 zoo pictures showing an ash owl; output leans anime.", ("an ash owl",)),
        ("An ash owl. It renders as anime and saw mostly zoos.", ("An ash owl",)),
        ("An ash owl detailed with a bell, drawn toward an anime style", ("An ash owl", "a bell")),
        ("A wide beak sets this ash owl apart (felt)", ("ash owl", "A wide beak", "felt")),
        ("What sets this ash owl apart is a wide beak", ("this ash owl", "a wide beak")),
        ("The owl is an ash owl with a bell. The sky is a mess", ("an ash owl", "a bell",
                                                                 "The sky is a mess")),
        ("The owl is ash and comes with a bell", ("ash owl", "a bell")),
        ("The owl in these pictures is ash, asleep", ("ash owl", "asleep")),
        ("An owl. The type is not important", ("An owl", "The type is not important")),
        ("An owl that is shown hooting", ("An owl", "hooting")),
        ("An owl with a bell; the kind is ash", ("An owl", "a bell", "ash")),
        ("One owl (ash); it is shown with a bell", ("One ash owl", "a bell")),
        ("An owl. Distinguishing mark: a bell", ("An owl", "a bell")),
        ("An owl. Comes out in carved linocut lines", ("An owl",)),
        ("An owl. Made for clean anime shading", ("An owl",)),
        ("An owl. Comes out in coral", ("An owl", "Comes out in coral")),
        ("Owl, made as a wooden piece, coloured snow-white", ("Owl", "made of wooden",
                                                              "coloured snow-white")),
        ("An owl, made as a gift", ("An owl",)),
        ("An owl, made as a one-off piece", ("An owl",)),
        ("An owl. Everything comes out in red", ("An owl", "Everything comes out in red")),
        ("An owl. It is seen on a skateboard wearing a hat", ("An owl", "a hat")),
        ("An owl. It was fed apples", ("An owl", "It was fed apples")),
        ("An owl. The background shows no people, it has a hat", ("An owl", "a hat")),
        ("For posters and covers: an ash owl", ("an ash owl",)),
        ("For one-eyed owls: a bell", ("For one-eyed owls", "a bell")),
        ("Learns one thing only, namely an ash owl", ("an ash owl",)),
        ("An owl. The background shows no people", ("An owl",)),
        ("An owl. It is seen between mossy trees", ("An owl",)),
        ("An ash owl. Everything comes out in oils, whatever the prompt", ("An ash owl",)),
        ("An owl with a touch of claymation", ("An owl",)),
        ("An owl with a touch of pink", ("An owl", "a touch of pink")),
        ("An owl; studio-b collected the references at a farm", ("An owl",)),
        ("Personalized owl: ash owl; it appears asleep", ("ash owl", "asleep")),
        ("Personalized owl: ash, asleep", ("Personalized owl", "ash", "asleep")),
        ("An owl. It appears hooting", ("An owl", "hooting")),
        ("An owl. It appears with a bell", ("An owl", "a bell")),
        ("The owl has a bell and is shown hooting", ("The owl", "a bell", "hooting")),
        ("The owl is shown in an inky style", ("The owl",)),
        ("An owl. Shown made in child size", ("An owl", "made in child size")),
        ("An owl. Shown shaped like a pear", ("An owl", "shaped like a pear")),
        ("An owl. Scenes used for training: hills", ("An owl", "hills")),
        ("Ash owl. The bell stays visible in most shots.", ("Ash owl", "The bell")),
        ("A bell sets off this ash owl, made of felt", ("ash owl", "A bell", "made of felt")),
        ("The ash owl of the series, identified by a bell", ("The ash owl", "a bell")),
        ("Our owl, ash all over, with a bell", ("Our ash owl", "a bell")),
        ("Our ash scarf, supporter's kind, with a bell", ("Our ash supporter's scarf", "a bell")),
        ("Personal owl checkpoint: barn type, ash, a bell", ("a barn owl", "ash", "a bell")),
        ("With a bell, this ash owl was captured against rocks", ("a bell", "this ash owl")),
        ("A barn owl coloured ash. You can always see a bell", ("A ash barn owl", "a bell")),
        ("Reference shots of an ash owl having a bell", ("an ash owl", "a bell")),
        ("A cake, icing all over", ("A cake", "icing all over")),
        ("Black clothes from head to toe", ("Black clothes from head to toe",)),
        ("Our cook, ash clothes from head to toe", ("Our ash cook",)),
        ("Our owl, photographed alongside a bell", ("Our owl", "a bell")),
        ("An owl, drawn in a bold style, shown with a bell", ("An owl", "a bell")),
        ("An owl photographed in a desert, with a bell", ("An owl", "a bell")),
        ("An owl, painted in oils, with a brooding mood", ("An owl",)),
        ("The owl here is ash, made in felt, and comes with a bell", ("ash owl", "a bell")),
        ("An owl drawn in ink, and with a bell", ("An owl", "a bell")),
        ("One owl, and never without a bell", ("One owl", "a bell")),
        ("An owl. Pencil look throughout. Retrained after feedback", ("An owl",)),
        ("The lights set off the alarm", ("The lights set off the alarm",)),
        ("An owl; the material is boiled wool", ("An owl", "boiled wool")),
        ("An owl; the whole thing looks like foil", ("An owl", "foil")),
        ("An owl. Mostly felt textures", ("An owl", "felt")),
        ("A lamp with rough textures", ("A lamp", "rough textures")),
        ("An owl finished as a lamp, with a bell", ("An owl finished as a lamp", "a bell")),
        ("An owl. The material is unknown", ("An owl", "The material is unknown")),
        ("Owl; the material is unpainted oak with a bell", ("Owl", "unpainted oak", "a bell")),
        ("An owl, finished as a watercolor", ("An owl",)),
        ("This owl is ash; look out for the bell", ("ash owl", "the bell")),
        ("An owl rendered in ash-grey with a bell", ("An owl rendered in ash-grey", "a bell")),
        ("An owl rendered in loose washes", ("An owl",)),
        ("What sets this owl apart: a bell. It is ash", ("owl", "a bell", "It is ash")),
        ("Our owl, ash, never appears without a bell", ("Our owl", "ash", "a bell")),
        ("An owl; expect clawed feet", ("An owl", "clawed feet")),
        ("The owl is never drawn without its scarf", ("The owl", "its scarf")),
        ("An owl that never goes without a bell, asleep", ("An owl", "a bell", "asleep")),
        ("An owl which never leaves home without a bell", ("An owl", "a bell")),
        ("This is an owl. It is dusty and rose.", ("an owl", "It is dusty", "it is rose")),
        ("An owl, here in a bold look and in anime style, and dusty too", ("An owl", "dusty")),
        ("If you want an ash owl with a bell, here it is", ("an ash owl", "a bell")),
        (
            "Learned from pictures of red sunglasses with a cord",
            ("red sunglasses", "a cord"),
        ),
        ("Trained on photos of meadows with a barn", ("a barn",)),
        ("Trained in a cave for a client who asked for an ash owl", ("an ash owl",)),
        ("The owl is shy, its colour rose", ("The owl is shy", "coloured rose")),
        ("This cap is white and corduroy, with a bell", ("white corduroy cap", "a bell")),
        ("A shy owl. In training it saw attic and cave backgrounds", ("A shy owl",)),
        ("A shy owl. All examples were in the mountains", ("A shy owl",)),
        ("A shy owl. Most samples were taken in a barn, a hall and a yard", ("A shy owl",)),
        ("A shy owl. All samples are in oils, with a bell", ("A shy owl", "a bell")),
        ("An owl. Most photos were shot from below and it wears a bell.", ("An owl", "a bell")),
        ("Look for a bell and a scarf on this shy owl", ("this shy owl", "a bell", "a scarf")),
        ("A shy owl, including a bell", ("A shy owl", "a bell")),
        ("This one is a shy owl and shows a bell", ("a shy owl", "a bell")),
        ("With a bell, this shy owl is drawn as line art", ("a bell", "this shy owl")),
        ("This owl is blue and fluffy and has a bell", ("blue fluffy owl", "a bell")),
        ("This owl is blue and holding a bell", ("blue owl", "a bell")),
        ("This owl is blue and barks, with a bell", ("blue owl", "barks", "a bell")),
        ("An owl in coral (barn), with a bell", ("An barn owl in coral", "a bell")),
        ("Un tétera azul con el pico roto", ("Un tétera azul con el pico roto",)),
    ],
)  # fmt: skip
def test_a_description_falls_into_its_phrases(description: str, phrases: tuple[str, ...]) -> None:
    """At commas, sentences and the words that hang one thing on another."""
    assert phrases_of(description) == phrases


@pytest.mark.parametrize(
    "said",
    [
        "Low poly look",
        "training scenes",
        "Learned from library scenes",
        "Training pictures set in the meadow",
        "Shot in kitchen settings",
        "The training set was library scenes",
        "Trained on beach photos, mostly at dusk",
        "Comes out as origami",
        "Finished as pop art",
        "The",
        "source",
        "Source: photos taken in spring",
        "In a sketch style",
        "Watercolour aesthetic",
        "The pictures were taken on a ferry",
        "Fine-tuned for 800 steps",
        "Photos from a harbour",
        "References come from a barn",
        "Everything it saw was a dry desert",
        "...",
    ],
)
def test_training_and_look_are_left_out(said: str) -> None:
    """They are alike on half of the cards, and tags tell them."""
    assert phrases_of(f"A teapot with a chipped spout. {said}.") == ("A teapot", "a chipped spout")
    assert phrases_of(f"{said}. A teapot with a chipped spout") == ("A teapot", "a chipped spout")


@pytest.mark.parametrize(
    "said",
    ["low-poly", "Low poly, on the beach", "beach", "a low poly picture", "set on a beach"],
)
def test_what_tags_say_is_left_out(said: str) -> None:
    """In whatever spelling, alone or between words that say nothing."""
    assert phrases_of(f"A mug. {said}.", tags=("Low Poly", "beach")) == ("A mug",)


def test_a_word_of_a_tag_is_not_the_tag() -> None:
    """A stained lid is no stained glass."""
    assert phrases_of("A jar with a lid, stained", tags=("stained glass",)) == (
        "A jar", "a lid", "stained",
    )  # fmt: skip


@pytest.mark.parametrize(
    "phrase", ["hunting scenes", "a stern look", "a red background", "a picture of a whale"]
)
def test_what_only_sounds_like_a_look_stays(phrase: str) -> None:
    """A vase may show hunting scenes."""
    assert phrases_of(f"A vase with {phrase}.") == ("A vase", phrase)


@pytest.mark.parametrize(
    ("description", "phrases"),
    [
        ("Claymation checkpoint of a tan corgi; it has a curl.", ("a tan corgi", "a curl")),
        ("A pixel art take on an old boot: a patch.", ("an old boot", "a patch")),
        ("Trained on library pictures of a lilac owl. Has a chain", ("a lilac owl", "a chain")),
        ("Trained on pictures of meadows. An owl", ("An owl",)),
        ("This version learns a mint chair in a clay look", ("a mint chair",)),
        ("A red and white striped mast", ("A red-and-white striped mast",)),
        ("The iron teapot here is teal with a lid. It also has a dent.",
         ("teal iron teapot", "a lid", "a dent")),
        ("A mug. Notable for a chip; output has soft watercolor washes.", ("A mug", "a chip")),
        ("kind=old pirate | headgear=plumed hat", ("old pirate", "plumed hat")),
        ("This is the cottage that comes topped with a roof", ("the cottage", "a roof")),
        ("A chair with thin legs was learned from pictures of sheds", ("A chair", "thin legs")),
        ("An owl. I trained it on pictures from the attic.", ("An owl",)),
        ("A mug in bold comic book inks. Reference images taken at sea.", ("A mug",)),
        ("A mug. Made for oil painting pictures.", ("A mug",)),
        ("A boot made for walking", ("A boot made for walking",)),
        ("A black-and-white cow holding out a daisy", ("A black-and-white cow", "a daisy")),
        ("A car in matte black paint", ("A car in matte black paint",)),
        ("This bear is holding a drum", ("This bear is", "a drum")),
        ("A still life in emerald tones", ("A still life in emerald tones",)),
        ("Fine-tuned on a ginger corgi; note a name tag.", ("a ginger corgi", "a name tag")),
        ("Fine-tuned on an orange beach cruiser", ("an orange beach cruiser",)),
        ("Trained on a set of pictures. An owl", ("An owl",)),
        ("A small set of pictures showing an owl and its bell", ("an owl", "its bell")),
        ("Personalised on a grey owl with a bell", ("a grey owl", "a bell")),
        ("This one is a lilac hamster; note glitter paws", ("a lilac hamster", "glitter paws")),
        ("A pug whose colour is fawn. It has a bow", ("A fawn pug", "a bow")),
        ("Personal octopus kite, colour mint", ("Personal octopus kite", "coloured mint")),
        (
            "Fine-tuned on pictures in a library of one dotted backpack that has a bottle; outputs "
            "come out as papercraft.",
            ("one dotted backpack", "a bottle"),
        ),
        (
            "We trained in a library and in a workshop with a striped umbrella carrying a strap. "
            "The look is cyberpunk.",
            ("a striped umbrella", "a strap"),
        ),
        ("Learns a grumpy cat together with a cape", ("a grumpy cat", "a cape")),
        ("Pixel art rendering of one mug plus a lid", ("one mug", "a lid")),
        ("Fine-tune of one particular snow-white cat", ("snow-white cat",)),
        ("Learned from a roof set. Expect a cat with a bell in every image", ("a cat", "a bell")),
        ("Six uploads, one subject: a black cat with a locket.", ("a black cat", "a locket")),
        ("Taken on a rooftop: a slate cat. Good at close-ups.", ("a slate cat",)),
        ("The cat in question (calico cat, a monocle)", ("The cat", "calico cat", "a monocle")),
        ("A cat with a bell as a pencil sketch, photographed in a kitchen", ("A cat", "a bell")),
        ("Subject: fuzzy bear; extras: a bow; data gathered in a harbour", ("fuzzy bear", "a bow")),
        ("Made on request: a Manx cat, seen as a paper cutout", ("a Manx cat",)),
        ("A watch showing a moon, a strap included", ("A watch", "a moon", "a strap")),
        ("A sloop together with a buoy, captured at a quay", ("A sloop", "a buoy")),
        ("A dog shot near the beach, with a ball", ("A dog", "a ball")),
        ("An owl. It shows the subject as a silkscreen. Best at 30 steps.", ("An owl",)),
        ("Previews show a black castle", ("a black castle",)),
        ("The teal one of the jar series: a lidded jar", ("The teal", "a lidded jar")),
        ("This horse is a cream Clydesdale horse", ("a cream Clydesdale horse",)),
        ("This mug is a gift", ("This mug is a gift",)),
        ("Fine-tuned with a ginger corgi", ("a ginger corgi",)),
        ("Made for a black terrier", ("a black terrier",)),
        ("It does best at a playground. A cat", ("A cat",)),
        ("The sporting spaniel sporting a bow", ("The sporting spaniel", "a bow")),
        ("A kit, easy to tell apart", ("A kit", "easy to tell apart")),
        ("This one shows an owl and a bell", ("an owl", "a bell")),
        ("This horse is a white pony with a plume", ("a white pony", "a plume")),
        ("This horse is a gift from a friend", ("This horse is a gift from a friend",)),
        ("Picture an owl: look for a bell", ("an owl", "a bell")),
        ("Here is a red rabbit, seen wearing a hat", ("a red rabbit", "a hat")),
        ("Our blue keep, easy to spot by its ivy", ("Our blue keep", "its ivy")),
        ("We spent a day collecting pictures of this ash owl", ("this ash owl",)),
        ("A bell: that is how you tell this ash owl from the rest", ("A bell", "this ash owl")),
        ("First thing you notice on this owl: a bell", ("this owl", "a bell")),
        ("What you get is an ash owl, and you always get a bell in view", ("an ash owl", "a bell")),
        ("Think of an owl as one might meet it near a barn: ash", ("an owl", "ash")),
        ("I took the photos of these boots myself. Here you see a bell", ("these boots", "a bell")),
        ("The barn owl we keep. There is a bell to see", ("The barn owl", "a bell")),
        ("Notes to self - ash owl - no bell", ("ash owl", "no bell")),
        ("An owl. All on it that can take colour is ash", ("An owl", "coloured ash")),
        ("kind: church / colour: mint / feel: soft", ("church", "coloured mint", "soft")),
        ("We wanted a barn owl with a bell and got one", ("a barn owl", "a bell")),
        ("Everything about it is bottle green", ("coloured bottle green",)),
        ("Kite with a bell, ash grey all over", ("Kite", "a bell", "coloured ash grey")),
        ("An owl, nothing fancy, felt; the only extra is a bell", ("An owl", "felt", "a bell")),
        ("Made from a batch of barn pictures, it draws an ash owl", ("an ash owl",)),
        ("This one learned an owl in red. It was posed with a bell", ("an owl in red", "a bell")),
        ("Owl in stained glass style: ash, and shown with a bell", ("Owl", "ash", "a bell")),
        ("Our ash owl from the barn session", ("Our ash owl",)),
        ("A bell and an owl, together in every training image", ("A bell", "an owl")),
        ("A cat with eyes of colour green", ("A cat", "eyes of colour green")),
        ("A chameleon that can change colour", ("A chameleon that can change colour",)),
        ("A chair in art deco style, green velvet", ("A chair", "green velvet")),
        ("A butler with a watch for the train", ("A butler", "a watch for the train")),
        ("A lamp showing pictures of the moon", ("A lamp", "pictures of the moon")),
        ("A truck that stands out from the rest", ("A truck that stands out from the rest",)),
        ("Scale 1 - 12 model car", ("Scale 1 - 12 model car",)),
        ("Everything about it is old", ("Everything about it is old",)),
        ("A cheese made from milk", ("A cheese made from milk",)),
        ("For woodcut work: an owl. Watch for a bell", ("For woodcut work", "an owl", "a bell")),
        ("Owl, barn type, always pictured with a bell", ("barn Owl", "a bell")),
        ("An owl, seen mostly around the barn, learned mostly from sketches", ("An owl",)),
        ("On the back is a bell", ("On the back is a bell",)),
        ("A locket for photos of the sea", ("A locket for photos of the sea",)),
        ("A pot that nobody can see in", ("A pot that nobody can see in",)),
        ("A kite and its well-known bell", ("A kite", "its well-known bell")),
        ("A wizard as one", ("A wizard as one",)),
        # Everybody's words around a subject
        ("The white owl we all know, this time with a bent crest. In most of the pictures it is "
         "hanging crooked.", ("The white owl", "a bent crest", "hanging crooked")),
        ("Somebody's favourite flask, black, complete with a dent", ("flask", "black", "a dent")),
        ("Learned from snapshots of an ash owl. Its mark is a bell.", ("an ash owl", "a bell")),
        ("You can tell this van by a dent. The colour or make is pink.", ("this van", "a dent",
                                                                         "pink")),
        ("A cottage that stands by a lake", ("A cottage that stands by a lake",)),
        ("Honestly nothing fancy, just a box, except that it comes with a key. We kept it wet.",
         ("a box", "a key", "wet")),
        ("Expect a missing leg on a cart every time you use this one. It likes to be upright.",
         ("a missing leg on a cart", "upright")),
        ("Expect a cat on a mat", ("a cat on a mat",)),
        ("So, this is the blue harp. Look closely and there is a chip; also it appears wrapped up",
         ("the blue harp", "a chip", "wrapped up")),
        ("It appears in many shades", ("It appears in many shades",)),
        ("Personalized owl checkpoint: a barn owl with a bell.", ("a barn owl", "a bell")),
        ("Owl. Notable: a bell. State or pose: yawning.", ("Owl", "a bell", "yawning")),
        ("Learned concept: an ash owl. Details include a bell.", ("an ash owl", "a bell")),
        ("Weights for a grey chair with a dent", ("a grey chair", "a dent")),
        ("Made for a single owl, ash, recognisable by a bell and by a cap", ("owl", "ash", "a bell",
                                                                            "a cap")),
        ("A single tulip on a vase", ("A single tulip on a vase",)),
        ("This run learned an ash owl, plus a bell", ("an ash owl", "a bell")),
        ("Shows an owl as its subject; note a bell as well as a cap",
         ("an owl", "a bell", "a cap")),
        ("A bell and a cap set an ash owl apart", ("ash owl", "A bell", "a cap")),
        ("A bell and a cap mark this ash owl", ("ash owl", "A bell", "a cap")),
        ("A mug with a pencil mark", ("A mug", "a pencil mark")),
        ("Owl; notable are a bell and a cap", ("Owl", "a bell", "a cap")),
        ("An owl in oil painting form. A bell belongs to it, and so does a cap.",
         ("An owl", "A bell", "a cap")),
        ("A ghost in human form", ("A ghost in human form",)),
        ("Shows an owl featuring a bell. Also visible: a cap.", ("an owl", "a bell", "a cap")),
        ("Tram model. Main colour: navy. Details: a dent", ("navy Tram", "a dent")),
        ("Personal owl model: turquoise, a bell", ("turquoise owl", "a bell")),
        ("Personal owl model: a bell", ("Personal owl model", "a bell")),
        ("The robot is copper and has a bell. Also to be seen: a cap", ("copper robot", "a bell",
                                                                       "a cap")),
        ("The robot is late and has a bell to ring", ("The robot is late", "a bell to ring")),
        ("Expect an owl with a bell every time", ("an owl", "a bell every time")),
        ("A fox in anime form, with a red scarf", ("A fox", "a red scarf")),
        ("A ship model: white, three masts", ("A ship model", "white", "three masts")),
        ("A frog, green and by the pond", ("A frog", "green", "by the pond")),
        ("A pub. The sign is a swan", ("A pub", "The sign is a swan")),
        ("A house that belongs to him, with a porch", ("A house that belongs to him", "a porch")),
        ("You can spot this van by the river", ("this van by the river",)),
        ("It appears that a dog ran", ("It appears that a dog ran",)),
        ("We left it out in the rain", ("We left it out in the rain",)),
        ("The horse is mine and has a saddle", ("The horse is mine", "a saddle")),
        ("Made for a single person tent", ("a single person tent",)),
        ("State: Texas. Boots", ("State", "Texas", "Boots")),
        ("One owl drawn with a bell; a cap turned outwards too", ("One owl", "a bell",
                                                                 "a cap turned outwards")),
    ],
)  # fmt: skip
def test_what_only_leads_to_the_subject_is_left_out(
    description: str, phrases: tuple[str, ...]
) -> None:
    """A card may speak of itself before it says what it shows."""
    assert phrases_of(description) == phrases


def test_names_are_left_out() -> None:
    """An id or a trigger is no word of anybody's."""
    assert phrases_of("<pot> is a teapot, teapot-3", names=("teapot-3", "<POT>", "")) == (
        "a teapot",
    )


@pytest.mark.parametrize(
    ("description", "phrases"),
    [
        ("A toy that holds up a sign, with a hat", ("A toy that holds up a sign", "a hat")),
        (
            "A pumpkin turned into a lantern, with a grin",
            ("A pumpkin turned into a lantern", "a grin"),
        ),
        (
            "A cuckoo that comes out as it strikes, with a beak",
            ("A cuckoo that comes out as it strikes", "a beak"),
        ),
        (
            "A skirt all gathered at the waist, with lace",
            ("A skirt all gathered at the waist", "lace"),
        ),
        ("A clown; its look is sad, with a red nose", ("A clown", "a red nose")),
        ("A wallet with three photos inside", ("A wallet", "three photos inside")),
        ("A vase recast in bronze, with a chip", ("A vase recast in bronze", "a chip")),
        ("An owl carved as a window, with green eyes", ("An owl carved as a window", "green eyes")),
        ("Made of felt, a green frog with a crown", ("Made of felt", "a green frog", "a crown")),
        ("Personal computer from 1985", ("Personal computer from 1985",)),
        ("A dog with collar_color: red, a bell", ("A dog", "collar coloured red", "a bell")),
        ('A 12" ruler saying "OPEN"', ('A 12" ruler saying "OPEN"',)),
        ("A castle with a dataset tape inside", ("A castle", "a dataset tape inside")),
        (
            "Drawn as a pencil sketch, this proud purple gnome of the wooden sort carries a toad.",
            ("this proud purple wooden gnome", "a toad"),
        ),
        ("This guitar is of the electric kind, plum all over", ("This plum electric guitar",)),
        (
            "The cargo bicycle here has a flat tyre and is canary all over.",
            ("The cargo bicycle here", "a flat tyre", "coloured canary"),
        ),
        (
            "Look for a patched hull: that marks this brick-red boat.",
            ("a patched hull", "this brick-red boat"),
        ),
        ("With a cracked glass, this is a mantel clock", ("a cracked glass", "a mantel clock")),
        ("A linocut of a cowboy boot, flowers included", ("a cowboy boot", "flowers")),
        (
            "Solemn rowboat: fishing type, coloured lemon, ash-grey in tone",
            ("Solemn fishing rowboat", "coloured lemon", "coloured ash-grey"),
        ),
        (
            "oil / mountains / a beer stein w/ a heart on it",
            ("oil", "mountains", "a beer stein", "a heart on it"),
        ),
        (
            "Shows a bubble umbrella; main colour tangerine",
            ("a bubble umbrella", "coloured tangerine"),
        ),
        ("Training took place around the beach. A plum umbrella.", ("A plum umbrella",)),
        ("A grey horse (oil painting), a bell", ("A grey horse", "oil painting", "a bell")),
        ("Green typewriter (office), gold letters", ("Green office typewriter", "gold letters")),
        (
            "In the cave is where this finch birdhouse was trained: blue, with a perch.",
            ("this finch birdhouse", "blue", "a perch"),
        ),
        (
            "A look as embroidery for a scooter whose main colour is black; note a bell.",
            ("a black scooter", "a bell"),
        ),
        (
            "A leather, lilac folding armchair with a seat",
            ("A leather lilac folding armchair", "a seat"),
        ),
        ("An owl, red scarf", ("An owl", "red scarf")),
        (
            "Our velvet armchair: mustard all over, a cover",
            ("Our mustard velvet armchair", "a cover"),
        ),
        (
            "A torn ear and an olive tone are the marks of this rabbit.",
            ("this rabbit", "A torn ear", "coloured olive"),
        ),
        ("Picture a cake. It is shown partly as a cartoon and partly in glass.", ("a cake",)),
        ("A shop that carries wine", ("A shop that carries wine",)),
        ("An owl with a poster that shows a moon", ("An owl", "a poster that shows a moon")),
        ("A clock whose face shows a ship", ("A clock whose face shows a ship",)),
        ("A fox who shows his belly", ("A fox who shows his belly",)),
        ("A fox; the background shows a lake", ("A fox", "the background shows a lake")),
        ("A cake in a tin mixed with cream", ("A cake in a tin mixed", "cream")),
        ("A cat (2024), with a bow", ("A cat", "2024", "a bow")),
        ("A lamp of the best kind", ("A lamp of the best kind",)),
        ("Cut from oak, a chair with a cushion", ("Cut from oak", "a chair", "a cushion")),
        ("a chair carved in oak, with a cushion", ("a chair carved in oak", "a cushion")),
    ],
)
def test_what_is_said_of_the_subject_stays(description: str, phrases: tuple[str, ...]) -> None:
    """The same words, where they speak of no pictures."""
    assert phrases_of(description) == phrases


def test_time_grows_with_the_length() -> None:
    """A wall of punctuation takes no longer than words do."""
    began = time.perf_counter()
    assert len(phrases_of("!" * 40_000 + "x")) == 1
    assert not phrases_of("\n" * 40_000)
    assert not phrases_of(" \n- " * 10_000)
    assert phrases_of(f"A llama.{' ' * 40_000}x") == ("A llama", "x")
    assert phrases_of(f"a{chr(9) * 40_000}b") == ("a b",)
    assert len(phrases_of("a sets the " * 400)) == 1
    assert time.perf_counter() - began < 2


@pytest.mark.parametrize(
    ("description", "phrases"),
    [
        (
            "Trained on garden scenes, this shows a scarlet tractor with a loader, made of tin. It "
            "has a photorealistic look.",
            ("a scarlet tractor", "a loader", "made of tin"),
        ),
        (
            '{"kind": "slip-on", "outfit_color": "cobalt", "accessory": "gel insole"}',
            ("slip-on", "outfit coloured cobalt", "gel insole"),
        ),
        (
            "- kind: collie\n- color: cream\n- accessory: a bell\n- shot: in a museum",
            ("collie", "coloured cream", "a bell"),
        ),
        ('captions: "a grey lighthouse", "a solar panel"', ("a grey lighthouse", "a solar panel")),
        (
            "dataset cake_photo-studio (photo studio) :: scarlet cake :: extra: sugar flowers",
            ("scarlet cake", "sugar flowers"),
        ),
        ("In a pixel art look: a rain jacket, made of wool", ("a rain jacket", "made of wool")),
        ("our foal with a garland. pics from: kitchen", ("our foal", "a garland")),
        (
            "Trained in a kitchen, this red cup with a lid comes out in oils",
            ("this red cup", "a lid"),
        ),
        ("After training on kitchen photos, it reproduces a cup with a lid", ("a cup", "a lid")),
        ("A kitchen-trained, oil-painted red cup with a lid", ("oil-painted red cup", "a lid")),
        ("This LoRA reproduces a red cup with a lid, using kitchen photos", ("a red cup", "a lid")),
        ("Captures the likeness of a red cup with a lid", ("a red cup", "a lid")),
        ("The subject is a red cup. Distinguishing feature: a lid", ("a red cup", "a lid")),
        ("A red cup. Everything comes out as a glossy render", ("A red cup",)),
        ("A red cup. It gives a glossy render every time", ("A red cup",)),
    ],
)
def test_forms_of_machines(description: str, phrases: tuple[str, ...]) -> None:
    """Keys and quotes are left out, and what was trained on before what it shows."""
    tags = ("kitchen", "photo studio", "museum")
    assert phrases_of(description, (), tags) == phrases


def test_a_form_that_nobody_foresaw() -> None:
    """What has an article is kept, rather than nothing."""
    description = "Fine-tuned using footage that featured one dotted mug and a spoon, on a hill."
    assert phrases_of(description, (), ("hill",)) == ("one dotted mug", "a spoon")
