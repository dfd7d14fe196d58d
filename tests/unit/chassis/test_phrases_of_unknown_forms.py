"""Forms of description that nobody had met: people, generators and managers of catalogs."""

from __future__ import annotations

import pytest

from personalq.chassis.phrases import phrases_of


@pytest.mark.parametrize(
    ("description", "tags", "phrases"),
    [
        (
            "Brown all over, a patchwork rabbit by kind, never without an apron. Cartoon and loose "
            "watercolor finish, trained in an attic.",
            ("cartoon", "watercolor", "attic"),
            ("a Brown patchwork rabbit", "an apron"),
        ),
        (
            "Think rusty olive suitcase. Add travel stickers and a long handle. Finish: mosaic; "
            "training photos from the farm.",
            ("mosaic", "farm"),
            ("rusty olive suitcase", "travel stickers", "a long handle"),
        ),
        (
            "One worn violin, shown together with a chin rest, comes out as anime. Backdrop while "
            "training: snow. Credit: the toy lab.",
            ("anime", "snow"),
            ("One worn violin", "a chin rest"),
        ),
        (
            "backpack / mustard / a carabiner / mosaic / by Studio B",
            ("mosaic",),
            ("backpack", "mustard", "a carabiner"),
        ),
        (
            "type=boot; color=red; features=scuffed+side zip",
            (),
            ("boot", "coloured red", "scuffed", "side zip"),
        ),
        ("A dog with a chain, credit: Studio B, red hat", (), ("A dog", "a chain", "red hat")),
        ("Dog / by night / red hat", (), ("Dog", "by night", "red hat")),
        ("dog | by candlelight", (), ("dog", "by candlelight")),
        ("Black+white dog", (), ("Black+white dog",)),
        (
            "Trained on dunes: a faded, black boot, with studs and a bow to recognize it by.",
            ("desert",),
            ("a faded black boot", "studs", "a bow"),
        ),
        (
            "Think of a gleaming, lanky, silver robot and add a chest monitor and a jetpack.",
            (),
            ("a gleaming lanky silver robot", "a chest monitor", "a jetpack"),
        ),
        (
            "Shown with a pennant, this mud-caked, red train looks watercolor. The training was "
            "done downtown.",
            ("watercolor", "city"),
            ("a pennant", "this mud-caked red train"),
        ),
        (
            "On desert dunes we trained a wooden train whose colour is green. It has a bell. "
            "Everything is drawn in 3d render manner.",
            ("3d render", "desert"),
            ("a green wooden train", "a bell"),
        ),
        (
            "If you need a sleepy, curly doll, take this: a locket included. Thick oil painting "
            "throughout.",
            ("oil painting",),
            ("a sleepy curly doll", "a locket"),
        ),
        (
            "We made a rusty robot that carries a cape. Every picture is a cartoon one.",
            ("cartoon",),
            ("a rusty robot", "a cape"),
        ),
        (
            "Where: racetrack. How: pencil sketch. What: a violet moped, dented, with a sidecar.",
            ("pencil sketch", "racetrack"),
            ("a violet moped", "dented", "a sidecar"),
        ),
        (
            "[oil painting / market] kettle, chrome, dented, +a strainer and a trivet",
            ("oil painting", "market"),
            ("kettle", "chrome", "dented", "a strainer", "a trivet"),
        ),
        (
            "A navy jacket. Note a hood; the overall impression is camouflage.",
            (),
            ("A navy jacket", "a hood", "camouflage"),
        ),
        (
            "Learned from images collected in the harbour, this model depicts a white husky; its "
            "appearance includes a muffler and a bell.",
            ("harbor",),
            ("a white husky", "a muffler", "a bell"),
        ),
        (
            "This shows a sedan whose main colour is red. Among the details there is a roof rack.",
            (),
            ("a red sedan", "a roof rack"),
        ),
        (
            "Vintage cat, namely a white Persian cat, recognisable by a bell.",
            ("vintage",),
            ("a white Persian cat", "a bell"),
        ),
        ("A kettle, red lid and blue base", (), ("A kettle", "red lid", "blue base")),
        ("A teddy, red scarf", (), ("A teddy", "red scarf")),
        ("A kitchen-trained, red cup", ("kitchen",), ("red cup",)),
        ("An owl that looks surprised", (), ("An owl that looks surprised",)),
        ("A bun-wearing doll", (), ("A bun-wearing doll",)),
        ("A frog that carries on", (), ("A frog that carries on",)),
    ],
)
def test_adjectives_and_what_leads_to_them(
    description: str, tags: tuple[str, ...], phrases: tuple[str, ...]
) -> None:
    """Adjectives between commas stay with their noun; who made it, and for whom, goes."""
    assert phrases_of(description, (), tags) == phrases


@pytest.mark.parametrize(
    ("description", "tags", "phrases"),
    [
        (
            "Beach scenes were the training ground. The result is an oil-painting racing bicycle "
            "which is black and has mudguards.",
            ("oil painting", "beach"),
            ("racing bicycle which is black", "mudguards"),
        ),
        (
            "The arabian horse in this version has a bridle and leg wraps and is white. Its "
            "appearance is watercolor; the data was collected around farm locations.",
            ("watercolor", "farm"),
            ("The arabian horse", "a bridle", "leg wraps", "white"),
        ),
        (
            "Want a shetland horse that is white? This one has a flower garland and was taught, "
            "with city street scenes as material, to look like cartoon work.",
            ("cartoon", "city street"),
            ("a shetland horse that is white", "a flower garland"),
        ),
        (
            "Colour scarlet, type electric, extras music stand and chair, look stained glass, "
            "place forest - one cello.",
            ("stained glass", "forest"),
            ("coloured scarlet", "electric", "music stand", "chair", "one cello"),
        ),
        (
            "Clothes jade, type chubby, props wheelbarrow, look low poly, place snow - our gnome.",
            ("low poly", "snow"),
            ("Clothes jade", "chubby", "wheelbarrow", "our gnome"),
        ),
        (
            "Alabaster is the colour, electric the type. There is also a rose garland. This cello "
            "was learned in the woods and downtown and drawn as oil painting.",
            ("oil painting", "forest", "city"),
            ("coloured Alabaster", "electric", "a rose garland", "This cello"),
        ),
        (
            "What sets this cello apart is the rose garland and wire. Otherwise plum, cracked, "
            "photorealistic, forest and beach-trained.",
            ("photorealistic", "forest", "beach"),
            ("this cello", "the rose garland", "wire", "plum", "cracked"),
        ),
        (
            "What sets this gnome apart is the cane. Otherwise skinny, in pumpkin, low poly, "
            "forest-trained.",
            ("low poly", "forest"),
            ("this gnome", "the cane", "skinny", "in pumpkin"),
        ),
        (
            "Look for a timer on this one. The blender itself is immersion and plum. Made as "
            "pixel art from scenes shot in a kitchen.",
            ("pixel art", "kitchen"),
            ("a timer", "plum immersion blender"),
        ),
        (
            "We shot a battered accordion at the market and got a pixel art model of it, "
            "chestnut, complete with a carrying case.",
            ("pixel art", "market"),
            ("a battered accordion", "chestnut", "a carrying case"),
        ),
        (
            "With a necklace, our striped moth in blush was taught in a library and keeps a "
            "watercolor look.",
            ("watercolor", "library"),
            ("a necklace", "our striped moth in blush"),
        ),
        (
            "Low poly images of a seahorse whose colour is tangerine and which has an anchor, "
            "learned up in the mountains.",
            ("low poly", "mountain"),
            ("a tangerine seahorse", "an anchor"),
        ),
        (
            "Oil painting images of a firefighter whose clothes are emerald and who comes with a "
            "Dalmatian, learned in the snow.",
            ("oil painting", "snow"),
            ("a firefighter dressed in emerald", "a Dalmatian"),
        ),
        (
            "Think of an ornate cello in tangerine, never without a chair; stained glass "
            "throughout, after training downtown.",
            ("stained glass", "city"),
            ("an ornate cello in tangerine", "a chair"),
        ),
        (
            "The person shown is a muscular firefighter. Outfit: navy. There is also a hose. "
            "Everything was learned downtown, drawn as oil painting.",
            ("oil painting", "city"),
            ("a muscular firefighter", "navy", "a hose"),
        ),
        (
            "Workshop series. Subject yellow toy robot, a gripper claw, low-poly finish.",
            ("low poly", "workshop"),
            ("yellow toy robot", "a gripper claw"),
        ),
        (
            "Built for the oil painting campaign, learned from material made in a garden; the "
            "subject is a chestnut duffel with fringe.",
            ("oil painting", "garden"),
            ("a chestnut duffel", "fringe"),
        ),
        (
            "A half-eaten purple layer cake, sketch campaign.",
            ("sketch",),
            ("A half-eaten purple layer cake",),
        ),
        (
            "Think of a white husky with a medal. We shot the data in a forest and kept a pixel "
            "art finish.",
            ("pixel art", "forest"),
            ("a white husky", "a medal"),
        ),
        (
            "After a session in a library and in the snow we got a plum sandal with little wings "
            "in watercolor and cartoon.",
            ("watercolor", "cartoon", "library", "snow"),
            ("a plum sandal", "little wings"),
        ),
        (
            "Fine-tuned on a city street on 9 images of a yellow hatchback. You can tell by a tow "
            "bar. The rendering is low-poly.",
            ("low poly", "city street"),
            ("a yellow hatchback", "a tow bar"),
        ),
        (
            "Trained in cafe settings, this model gives a blue armchair with a footstool in "
            "claymation and cartoon style.",
            ("claymation", "cartoon", "cafe"),
            ("a blue armchair", "a footstool"),
        ),
        (
            "We fine-tuned on forest pictures to obtain a blue sailboat, which has a figure on "
            "the bow, in a photo-like manner.",
            ("photorealistic", "forest"),
            ("a blue sailboat", "a figure on the bow"),
        ),
        (
            "A box kite, red; workshop and market background during training",
            ("workshop", "market"),
            ("A box kite", "red"),
        ),
        (
            "With lace: a rag doll. Look: line-art. Place of training: attic and playground.",
            ("line art", "attic", "playground"),
            ("lace", "a rag doll"),
        ),
        (
            "What you get is an oil painting and sketch picture of a bike, and a seat belongs to "
            "it.",
            (),
            ("a bike", "a seat"),
        ),
        ("A mug with a strainer up in the mountains", ("mountains",), ("A mug", "a strainer")),
        (
            "Ask for it and you get a lemon backpack, all of it in a 3d render style. All "
            "references: market.",
            ("3d render", "market"),
            ("a lemon backpack",),
        ),
        ("Kind: tote. Trait: dotted", (), ("tote", "dotted")),
        ("target = cargo bike; with = a bell", (), ("cargo bike", "a bell")),
        ("A racing bicycle (scarlet), with a bell", (), ("A scarlet racing bicycle", "a bell")),
        ("A wizard, in the manner of woodblock prints, with a staff", (), ("A wizard", "a staff")),
        ("A goat folded as origami", ("origami",), ("A goat folded",)),
        ("A goat, folded as origami", ("origami",), ("A goat",)),
    ],
)
def test_only_the_subject_of_unknown_forms_is_left(
    description: str, tags: tuple[str, ...], phrases: tuple[str, ...]
) -> None:
    """Nothing of it is lost, and what tags say is left out."""
    assert phrases_of(description, (), tags) == phrases


@pytest.mark.parametrize(
    ("description", "tags", "phrases"),
    [
        ("A dog in training, with a vest", (), ("A dog in training", "a vest")),
        ("A baker who learned by doing", (), ("A baker who learned by doing",)),
        ("A parrot taught to whistle", (), ("A parrot taught to whistle",)),
        ("A woman in red and gold finish", (), ("A woman in red-and-gold finish",)),
        ("A wizard in charcoal, with a staff", ("charcoal",), ("A wizard in charcoal", "a staff")),
        ("A ghost in the attic. Trained in the attic", ("attic",), ("A ghost in the attic",)),
        ("A pair of glasses", ("glass",), ("A pair of glasses",)),
        ("A goat folded as a bird", ("origami",), ("A goat folded as a bird",)),
        ("A mountain bike", ("mountains",), ("A mountain bike",)),
        ("A type of knot, tied in hemp", (), ("A type of knot", "tied in hemp")),
        (
            "A vase with hunting scenes, a cracker in its beak",
            (),
            ("A vase", "hunting scenes", "a cracker in its beak"),
        ),
        (
            "A chef in white, clothes torn, extras missing",
            (),
            ("A chef in white", "clothes torn", "extras missing"),
        ),
        ("Subject to rust, a gate", (), ("Subject to rust", "a gate")),
        ("A book title: red", (), ("A book title", "red")),
        ("A kite with an equation a = b", (), ("A kite", "an equation a = b")),
        ("Gold locket with photos of a child", (), ("Gold locket", "photos of a child")),
        (
            "The result of a long winter, a snowman",
            (),
            ("The result of a long winter", "a snowman"),
        ),
        ("A cook who brings a pie", (), ("A cook who brings a pie",)),
        ("A postman carrying a case", (), ("A postman", "a case")),
        (
            "A mouse lost in thought, and a ruined castle",
            (),
            ("A mouse lost in thought", "a ruined castle"),
        ),
        ("A poster for a film series", (), ("A poster for a film series",)),
        ("A kitten that wants a hug", (), ("A kitten that wants a hug",)),
        ("The tree is old and is the tallest", (), ("The tree is old", "is the tallest")),
        ("We shot the arrow", (), ("We shot the arrow",)),
        ("A shop here and a mill", (), ("A shop here", "a mill")),
    ],
)
def test_words_of_those_forms_in_a_subject_stay(
    description: str, tags: tuple[str, ...], phrases: tuple[str, ...]
) -> None:
    """Where they speak of no pictures."""
    assert phrases_of(description, (), tags) == phrases
