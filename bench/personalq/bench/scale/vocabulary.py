"""The words synthetic cards are made of."""

from __future__ import annotations

_SUBJECTS = """
    bear, dog, cat, fox, rabbit, owl, horse, elephant, tiger, lion, wolf, deer, panda, penguin,
    turtle, dolphin, whale, shark, octopus, parrot, eagle, swan, duck, goose, chicken, cow, pig,
    sheep, goat, donkey, camel, giraffe, zebra, hippo, rhino, monkey, gorilla, koala, kangaroo,
    hedgehog, squirrel, mouse, hamster, ferret, beaver, otter, badger, raccoon, skunk, bat, frog,
    lizard, snake, crocodile, dragon, unicorn, phoenix, robot, astronaut, knight, wizard, pirate,
    mermaid, fairy, clown, dancer, chef, painter, sailor, fisherman, farmer, gardener, carpenter,
    teddy bear, doll, puppet, toy train, toy car, rocking horse, snow globe, music box, kite, yo-yo,
    chair, table, lamp, sofa, bookshelf, clock, mirror, vase, teapot, mug, bowl, plate, candle,
    basket, blanket, pillow, carpet, curtain, piano, guitar, violin, trumpet, drum, harp, flute,
    backpack, handbag, suitcase, umbrella, hat, scarf, glove, boot, sneaker, dress, jacket, sweater,
    ring, necklace, watch, crown, mask, fan, telescope, camera, radio, typewriter, telephone, globe,
    bicycle, motorcycle, scooter, car, truck, bus, tram, train, tractor, sailboat, canoe, submarine,
    airplane, helicopter, balloon, rocket, house, cottage, castle, tower, lighthouse, windmill,
    bridge, church, temple, barn, treehouse, greenhouse, fountain, statue, gate, fence, well,
    oak, pine, willow, cherry tree, palm, cactus, bonsai, rose, tulip, sunflower, orchid, lily,
    mushroom, pumpkin, apple, pear, lemon, strawberry, watermelon, carrot, cake, cookie, donut,
    croissant, pizza, burger, ice cream, lantern, anchor, compass, hourglass, key, sword, shield
"""
_STYLES = """
    photorealistic, watercolor, sketch, oil painting, pixel art, cartoon, anime, low poly,
    line art, charcoal, pastel, impressionist, art nouveau, art deco, cubist, gothic, vintage,
    noir, isometric, claymation, stained glass, ukiyo-e, comic, graffiti, woodcut, minimalist,
    cyberpunk, steampunk, vaporwave, 3d render
"""
_COLOURS = """
    red, blue, green, yellow, orange, purple, pink, brown, black, white, grey, turquoise, golden,
    silver, cream, crimson, teal, violet, beige, copper
"""
_THINGS = """
    scarf, bow tie, collar, ribbon, saddle, bell, medal, backpack, apron, crown, necklace, patch,
    button, zipper, lantern, feather, satchel, badge, brooch, helmet, cape, belt, pair of glasses,
    straw hat, knitted cap, woollen blanket, wicker handle, brass knob, leather strap, velvet bow,
    embroidered star, painted flower, carved initial, chipped edge, cracked glaze, missing ear
"""
_DETAILS = """
    one bent whisker, soft freckles, a crooked smile, long lashes, mismatched eyes, a dented side,
    worn corners, a faded stripe, tiny rivets, a mossy base, frayed seams, a glossy finish,
    a matte surface, scratched varnish, delicate veins, rounded edges, a pointed tip,
    thick outlines, polka dots, a checkered pattern, a woven texture, a rusty hinge,
    a mended crack, a snowy cap,
    a dusting of flour, dripping paint, a wet sheen, folded wings, a curled tail, a raised paw
"""
_PLACES = """
    forest, snow, beach, city, desert, studio, garden, kitchen, mountain, river, meadow, harbor,
    library, attic, market, rooftop, cave, farm, underwater, space
"""
_OWNERS = "Studio North, Atelier Vega, Press Team, Field Lab, Harbor Works"

FORMS = (
    "{A} with a {colour} {thing} and {detail}, photographed in the {place}.",
    "{A}: {detail}, {colour} {thing}. Trained on {place} pictures.",
    "{Style} pictures of {a}; a {colour} {thing}, {detail}.",
    "Our take on {a}, complete with a {colour} {thing} and {detail}.",
    "This one learned {a}. Look for the {colour} {thing} and {detail}.",
    "{A} in the {place}, {style} manner, {colour} {thing}, {detail}.",
    "Fine-tuned on a handful of {place} photos: {a} with {detail} and a {colour} {thing}.",
    "{A} that wears a {colour} {thing}; {detail}.",
)


def _words(text: str) -> tuple[str, ...]:
    return tuple(" ".join(word.split()) for word in text.split(","))


SUBJECTS = _words(_SUBJECTS)
STYLES = _words(_STYLES)
COLOURS = _words(_COLOURS)
THINGS = _words(_THINGS)
DETAILS = _words(_DETAILS)
PLACES = _words(_PLACES)
OWNERS = _words(_OWNERS)
