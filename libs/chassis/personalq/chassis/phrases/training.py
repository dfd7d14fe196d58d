"""What a description says of the training and of the look, which tags say."""

from __future__ import annotations

from personalq.chassis.forms import form
from personalq.chassis.phrases.patterns import (
    DRAWN,
    LOOKS,
    PICTURES,
    PLACES,
    WORD,
    Cued,
    compiled,
)

_WAS = r"(\b(was|were|is|are) )?"
_WITH = form("with", "wearing", "holding", "has", "having", "featuring")
_OF_TRAINING = form(
    r"(?<!-)(re)?trained",
    "training (on|with|data|sets?|images|pictures|photos|scenes|shots|samples|examples|material)",
    "(reference|source) (images|pictures|photos|shots|material)",
    r"fine-?\s?tuned",
    "tuned on",
    r"learn(ed|t) ((mostly|mainly|only) from|from|on|in|with|at|by (the|an?)|up|down(town)?|"
    "outdoors)",
    r"taught(?=,| (in|on|at|with|by|from|near|up|down(town)?|outdoors)\b)",
    "(pictures|photos|images|shots|references) (came|come|were|are|from|set in|taken)",
    "everything it (saw|knows|learn(ed|t))",
    "(works?|does|do|looks?|is) (best|good|great) (for|at|with)",
    "optimi[sz]ed",
    "shows the subject",
    "(outputs?|results?) (has|have|is|are|comes?|looks?|shows?|appears?|leans?|tends?)",
    "training (took|takes) place",
    "training (happened|ran)",
    "(?<!of )(images|pictures|photos|photographs|shots|samples|data) "
    "(were|was) (taken|collected|gathered|made)",
    "after training",
    "(photos|pictures|images) for training",
    rf"made for(?= ({WORD} ){{1,4}}(pictures|images|renders|photos|art)\b)",
    rf"(?<!\w)one of the ({WORD} ){{1,3}}(series|line|family|collection|range)$",
    r"version \d+",
    r"v\d+",
    "no particular",
    "nothing (special|particular|else)",
)
_A_LOOK = (
    f"({LOOKS}|photographic|photorealistic|photo-real(istic)?|3d[ -]render|lifelike|low[ -]poly|"
    "line[ -]art|pop[ -]art|pixel[ -]art|paper ?craft|comic|storybook)"
)
_REST = rf".*?(?=$|, and {WORD} too ?$)"
"""To the end, but for what is added: "in anime style, | and dusty too"."""
_LIKE = rf"(?!(an?|the|his|her|its|their|in|of|on|at|with|and|for|by)\b){WORD}"
_LIKES = f"({_LIKE} ){{1,2}}(and ({_LIKE} ){{1,2}})?"
_DRAWN_CUES = (
    "rendered", "drawn", "painted", "printed", "made", "modeled", "modelled", "shown", "depicted",
    "done", "sculpted", "shot", "illustrated", "sketched", "created",
)  # fmt: skip
_LOOK_CUES = (
    "sketch", "cut", "paint", "print", "artwork", "render", "3d model", "claymation", "stained",
    "still", "panel", "embroidery", "watercolo", "oils", "anime", "pixel", "cartoon", "drawing",
    "illustration", "photo",
)  # fmt: skip
_PICTURE_CUES = ("image", "picture", "photo", "shots", "samples", "examples")
_FORMS = (
    (
        (
            *_PICTURE_CUES,
            "train",
            "tuned",
            "taught",
            "data",
            "material",
            "learn",
            "references",
            "everything it",
            "best ",
            "good ",
            "great ",
            "optimi",
            "shows the subject",
            "output",
            "result",
            "made for",
            "one of the",
            "version",
            *(f"v{digit}" for digit in range(10)),
            "no particular",
            "nothing",
        ),
        rf"{_WAS}\b{_OF_TRAINING}\b.*$",
    ),
    # "drawn in a bold style, | with twin funnels"
    (
        _DRAWN_CUES,
        rf"{_WAS}\b(?!(rendered|shown) in {WORD} ?(,|$|with\b|and\b))(?!made in {WORD} size\b)"
        rf"{DRAWN} (in|as|like|towards?)\b.*?"
        rf"(?=$|, ((and|it is|shown|seen|complete|comes|comes along) )*{_WITH}\s"
        r"(?!an?\s[^.]*\b(mood|finish|look|feel)\b))",
    ),
    # "photographed in a library | with a hat"
    (
        ("captured", "photographed", "shot", "filmed", "pictured", "seen", "taken"),
        rf"{_WAS}\b(captured|photographed|shot|filmed|pictured|seen|taken) "
        "((out|mostly|mainly|often|usually) )?"
        r"(in|at|on|by|near|under|inside|against|amid|outside|along|among|around)\b[^,]*?"
        rf"(?=,|$|\s((and )?{_WITH}|plus)\b)",
    ),
    ((" of the ",), r"(?<=\w) of the (series|collection)(?= ?($|,))"),
    (
        ("finished as", "out as"),
        r"(^|(?<=,)) ?(it )?(finished|comes? out|turns? out) as\b.*$",
    ),
    (("renders",), r"^ ?(it|this( one)?) renders (as|in)\b.*$"),
    # "Comes out in carved linocut lines", "made for clean anime shading"
    (
        ("out in", "made for", "rendered with"),
        rf"^ ?(it )?(comes? out in|turns? out in|made for|rendered with) ({WORD} ){{0,4}}"
        rf"(look|style|finish|lines|washes|strokes|shading|detail|tones|{LOOKS})$",
    ),
    (
        ("look", "style", "finish"),
        rf"^ ?(it|this) (has|comes in|shows) an? ({WORD} ){{1,3}}(look|style|finish)(?= ?($|,))",
    ),
    (("best ", "good "), r"^ ?(it )?(best|good) (for|at|with)\b[^,]*"),
    (("look",), r"\bhas the look of\b[^,]*"),
    (
        (
            "inks",
            "washes",
            "geometry",
            "pixel",
            "strokes",
            "line work",
            "linework",
            "oil paint",
            "pencil lines",
            "line art",
        ),
        rf"\bin ({WORD} ){{0,3}}(inks|washes|geometry|pixels|brush\s?strokes|line\s?work|"
        "oil paints?|pencil lines|pixel art|line art)$",
    ),
    (
        ("style", "look", "manner", "way", "finish"),
        rf"\bin (an?|the) \w+([\s-]\w+)? (style|look|manner|way|finish)\b{_REST}",
    ),
    (("style",), rf"\bin \w+ style\b{_REST}"),
    # "In low poly and line-art style", "in a pixel-art manner"
    (
        ("style", "look", "manner", "finish", "treatment"),
        rf"\bin ((an?|the) {_LIKES}(style|look|manner|finish|treatment)|{_LIKES}(style|manner))"
        r"(?!\w| (of|on)\b)",
    ),
    # "In the manner of woodblock prints"
    (
        ("manner of", "style of"),
        r"(^|(?<=\w) |(?<=,) ?)in (a|the) (manner|style) of\b[^,]*?(?=$|,|\s((and )?with)\b)",
    ),
    (
        (" form",),
        rf"\bin ({WORD} ){{0,2}}({LOOKS}|comic( book)?|low~poly|photorealistic|pop art) form\b",
    ),
    (("style",), r"\bin \w+ \w+ style\b"),
    (
        _LOOK_CUES,
        rf"((?<=\w) |(?<=,) ?|^ ?)((seen|remade|recast|reimagined|presented|turned|"
        rf"brought to life|comes? out) )?(as|in|into) (an? )?({WORD} ){{0,3}}{LOOKS}(?= ?($|,))",
    ),
    # What a clause of its own says of the pictures, to its comma.
    (("ideal", "perfect"), r"(^|(?<=,)) ?(it )?(ideal|perfect) for\b[^,]*"),
    (
        ("partly",),
        r"(^|(?<=,)) ?((it|this) is )?((shown|depicted|made|done|rendered|drawn|style) )?"
        r"partly (in|as|like|\w+ally)\b[^,]*",
    ),
    # "Think pixel art: a robot. All the beach scenes went into the training"
    (("think",), rf"^ ?think ({WORD} ){{0,2}}({LOOKS}|photorealistic|realistic)$"),
    (("all the",), r"^ ?all the [^,]* went into the training$"),
    (("in training",), r"^ ?in training it saw\b.*$"),
    # "Beach scenes were the training ground", "city background during training"
    (("the training",), r"^ ?[^,]* (were|was) the training (ground|place|set)$"),
    (
        ("training",),
        r"(^|(?<=,)) ?[^,]*\b(back(ground|drop)s?|settings?|scene(ry|s)|surroundings|interiors|"
        rf"views|{PICTURES}) (during|for|in) training(?= ?($|,))",
    ),
    # "We shot the data in a forest", "so we photographed one downtown"
    (
        ("shot", "collected", "gathered", "took", "photographed", "filmed"),
        r"(^|(?<=,)) ?((and|so) )?((we|i|they|people) )?(shot|collected|gathered|took|photographed|"
        rf"filmed) ((all|the|our|its|training|source|reference) ){{1,3}}(set|data|material|"
        rf"references|{PICTURES})\b.*?(?=$|( ?,)? (and )?(it )?({_WITH}|wears)\b)",
    ),
    (
        ("photographed", "shot", "captured", "filmed"),
        r"^ ?((and|so) )?(we|i|they|people) (shot|photographed|captured|filmed) (it|one|me|them) "
        rf"{PLACES}",
    ),
    (
        ("everything", " all "),
        r"^ ?((all of )?it|everything) (comes|turns) out in (an?|the)\b[^,]*",
    ),
    # "Most samples were shot from below | and it wears a bell"
    (
        _PICTURE_CUES,
        r"^ ?(all|most) (of )?(the |its )?(examples|samples|pictures|photos|images|shots) "
        r"(were|are) ((taken|shot|made) )?(in|at|on|from|by|near)\b.*?"
        rf"(?=$|( ?,)? (and )?(it )?({_WITH}|wears)\b)",
    ),
    (
        ("taken", "gathered", "collected"),
        r"(^|(?<=,)) ?(all )?(taken|gathered|collected) "
        r"(in|at|on|by|near|inside|outside|against)\b[^,]*",
    ),
    (
        ("data gathered", "holds up", "draws it", "using "),
        r"(^|(?<=,)) ?(data gathered|holds up|draws it|"
        r"using [^,]*\b(pictures|photos|images|shots))\b[^,]*",
    ),
    (
        (*_PICTURE_CUES, "uploads"),
        r"^ ?((set|series|batch) of )?"
        r"(one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|\d+) "
        r"((reference|training|source) )?(pictures|photos|images|shots|uploads)"
        r"(?= ?($|,)| (made|taken|in|at|from)\b)[^,]*",
    ),
    (
        ("every time", "each time"),
        r"^ ?(it )?(gives|makes|returns|outputs|draws) (an? )?[^,]*(every|each) time\b[^,]*",
    ),
    (
        ("made ", "trained ", "built "),
        r"^ ?(made|trained|built) (on (request|demand|commission)|for the portfolio)\b[^,]*",
    ),
    (
        ("look", "style", "output", "result", "rendering"),
        r"^ ?(the|its) (look|style|outputs?|results?|rendering) "
        r"(is|are|stays?|leans?)\b[^,]*",
    ),
    (
        (*_PICTURE_CUES, "shot"),
        r" (in|on|through|across) (every|each) (image|picture|shot|photo)(?= ?($|,))",
    ),
    (_PICTURE_CUES, r"^ ?made from [^,]*\b(pictures|photos|photographs|images|shots)\b[^,]*"),
    # "Everything comes out in oils, whatever the prompt", "the background shows no people"
    (
        ("everything",),
        rf"^ ?everything (comes|turns) out (in|as|like) (an? )?({WORD} ){{0,3}}(style|look|{LOOKS})"
        r"(?= ?($|,))",
    ),
    (("whatever the",), r"(^|(?<=,)) ?whatever the (prompt|scene|request)\b[^,]*"),
    (("background",), r"^ ?the background (shows|has|contains) (no|nothing) ?[\w-]*(?= ?($|,))"),
    # "For posters and covers: a bike"
    (
        ("for ",),
        r"^ ?for (posters|covers|postcards|banners|newsletters|brochures|prints|adverts)"
        r"( and (posters|covers|postcards|banners|newsletters|brochures|prints|adverts))?$",
    ),
    (
        ("is seen",),
        r"^ ?(it|this) is seen (in|on|at|by|near|between|among|under|inside|against|along)\b"
        rf"[^,]*?(?=$|,|\s((and )?{_WITH}|plus)\b)",
    ),
    (("keeps its",), r"^ ?(it )?keeps its (proportions|shape|likeness) well\b.*$"),
    (
        ("collected the",),
        rf"^ ?({WORD} ){{1,3}}collected the (references|{PICTURES}) (at|in|on)\b.*$",
    ),
    (
        ("seen from",),
        r"(^|(?<=,)) ?seen from (many|all|several) (sides|angles)( in [^,]*)?(?= ?($|,))",
    ),
    (("was fed",), rf"^ ?it was fed {PICTURES}\b.*$"),
    ((" of ",), rf"(^|,)? ?with an? (touch|hint|dash) of ({WORD} ){{0,2}}{LOOKS}(?= ?($|,))"),
    (("session", "shoot"), rf"\bfrom the ({WORD} ){{1,3}}(session|shoot)\b"),
    (("session", "shoot"), rf"\bfrom an? ({WORD} ){{0,3}}photo (session|shoot)\b"),
    (("together in",), r"(^|(?<=,)) ?together in every\b.*$"),
    # "This robot | looks hatched pencil sketch", "in a thick oil painting look"
    (
        (" fashion",),
        rf"(?<=\w) in ({WORD} ){{0,2}}{_A_LOOK}( and ({WORD} ){{0,2}}{_A_LOOK})? fashion"
        r"(?= ?($|,))",
    ),
    (("having seen",), r"^ ?having seen (nothing but|only|mostly|mainly)\b[^,]*, ?"),
    (
        ("looks ",),
        rf"(?<=\w) looks ({WORD} ){{0,2}}{_A_LOOK}( and ({WORD} ){{0,2}}{_A_LOOK})?(?= ?($|,))",
    ),
    (
        ("look", "style", "finish", "manner", "throughout", "treatment"),
        rf"((^|(?<=,)) ?(in an? )?|(?<=\w) in an? )({WORD} ){{0,2}}{_A_LOOK}"
        rf"( and ({WORD} ){{0,2}}{_A_LOOK})? "
        r"(look|style|finish|manner|treatment|throughout)(?= ?($|,))",
    ),
    (
        ("training was", "it learned", "it learnt", "it was trained", "drawn in"),
        r"^ ?(the training (was|is) done|it (learned|learnt)|it was trained|"
        r"everything is drawn in)\b.*$",
    ),
)
"""Each form behind the words of which what fits it has one."""
_SAID = Cued.of(*_FORMS)
# Behind "with" the same words may be the subject's: a vase with hunting scenes.
_ONLY_A_LOOK = compiled(
    rf"^(?!(an?|the|his|her|its|their)\s)({WORD} ){{1,3}}"
    "(look|style|rendition|rendering|treatment|aesthetics?|scenes|settings|surroundings|backgrounds|backdrops)"
    "( throughout)?$",
)


def without_training(sentence: str) -> str:
    """Without what is said of the training or of the look, mostly to the end of the sentence."""
    return _SAID.without(sentence)


def is_only_a_look(clause: str) -> bool:
    """Whether a clause only names a look or places: "low poly look", "library scenes"."""
    return bool(_ONLY_A_LOOK.match(clause))
