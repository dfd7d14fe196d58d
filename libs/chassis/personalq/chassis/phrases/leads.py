"""What only leads to the subject, or away from it: "what you get is | a corgi | we all love"."""

from __future__ import annotations

from personalq.chassis.forms import form
from personalq.chassis.phrases.patterns import (
    DRAWN,
    LOOKED,
    LOOKS,
    PICTURES,
    PLACES,
    THE,
    THIS,
    TOLD_BY,
    WORD,
    A,
    Cued,
    compiled,
)

_ANY_THE = "(an?|the|my|our|your|his|her|their|one|some|this|these|those)"
_MODEL = form(
    "checkpoint",
    "lora",
    "model",
    "version",
    "take",
    "rendition",
    "study",
    "adapter",
    "embedding",
)
_SHOWS = "((that|which) )?(of|on|for|knows|learns|learnt|learned|shows|draws|depicts|captures)"
_TRAINED = form("trained", r"fine-?\s?tuned", "tuned", "learn(ed|t|s)", "taught")
_PAIRS = (
    "((sun)?glasses|spectacles|goggles|binoculars|(head|ear)phones|earrings|sneakers|trainers|boots|"
    "shoes|sandals|slippers|socks|gloves|mittens|jeans|trousers|shorts|dungarees|skates|skis|"
    "scissors|bagpipes|maracas|castanets)"
)
_NO_THING = form(
    "look", "style", "set", "version", "model", "picture", "photo", "image", "checkpoint", "lora"
)
_SHOWING = (
    "(is|shows|knows|draws|gives|renders|depicts|captures|generates|features|showcases|represents|"
    "encodes|reproduces|portrays|contains|learn(ed|t|s)|teaches (the|this) (model|network)|"
    "speciali[sz]es in)"
)
# "Oil painting and low poly", and not "a locket for".
_LOOKED_LIKE = f"{LOOKED}((,| and|, and) {LOOKED})*"
_NO_PICTURES = "(for|with|of|in|on|at|from|by|holding|carrying|showing|has|who|that|which|the|an?)"
# Who speaks to whom, and of what. With words between them they say nothing of a subject.
_SPEAKS = (
    "(i|we|you(['’](ll|d|ve))?|here(['’]s)?|there(['’]s)?|what|think|imagine|picture|"
    "meets?|shows?|introducing|presenting|hello|asked|wanted|prompt|speciali[sz]es|all about|"
    "customers|clients|somebody|someone|concept|only ever seen|star|give me|everyone|taught)"
)
_BETWEEN = (
    "(this|that|it|one|is|are|was|will|can|could|would|might|may|should|always|also|mostly|how|"
    r"why|which|who|when|the|first|second|last|thing|get|gets|got|have|has|had|see|find|notice|"
    "know|tell|recogni[sz]e|spot|want(ed)?|expect|comes|do|does|did|to|of|on|in|at|for|by|from|"
    "about|model|network|checkpoint|team|shown|seen|only|ever|say|looking|everything|it['’]s|asked?|subject)"
)

_NO_SUBJECT = form(
    "background",
    "backdrop",
    "day",
    "morning",
    "evening",
    "afternoon",
    "night",
    "table",
    "hill",
    "floor",
    "street",
    "road",
    "stage",
    "shelf",
    "desk",
    "rock",
    "lawn",
    "beach",
    "set",
    "dataset",
    "collection",
    "series",
    "batch",
    "few",
    "handful",
    "dozen",
    "hundred",
    "gpu",
    "machine",
    "cluster",
    "weekend",
    "trip",
    "shoot",
    "budget",
    "bench",
    "tripod",
    "plinth",
    "counter",
    "carpet",
    "sofa",
    "workbench",
    "laptop",
    "holiday",
    "pictures?",
    "photos?",
    "images?",
    "shots?",
)
"""What a training may be "on", and no subject: "tuned in a studio on a white background"."""

_AT_ITS_START = form(
    "the (overall|general|first|main) (impression|effect|mood|character) is (?=\\w)",
    # "Vintage cat, namely | a Persian cat", but not of one of several
    rf"(?!(learns|knows|draws)\b)({WORD} ){{0,5}}{WORD}, namely (?={A}\s)",
    rf"what (?={A}\s[^,;]* looks like ?($|,))",
    rf"(it|this one) (reproduces|draws|shows|renders|paints) (?={_ANY_THE}\s[^,;]* in [^,;]* "
    r"fashion\b)",
    # "On desert dunes we trained | a robot", "we made | a robot", "if you need | a robot"
    rf"(on|in|at|under|between|among|inside|near|by|beside)\s[^,;]{{2,40}}? (we|they|i) {_TRAINED} "
    rf"(?={A}\s)",
    rf"(we|they|i) (made|built|created|drew|designed|produced) (?={A}\s)",
    rf"(if|when|whenever) you (need|want|are after|look for|like) (?={A}\s)",
    # "Learns one thing only, namely | a cake"
    r"(it )?(learns|knows|draws) (just |only )?one thing( only| alone)? ?,? ?namely "
    r"(?=(an?|one|our|my)\s)",
    # Only before an article: "trained on pictures of meadows" names places.
    f"(({WORD} ){{0,5}}{_MODEL} {_SHOWS}"
    f"|{_TRAINED} (on|with|from) ({WORD} ){{0,6}}"
    rf"({PICTURES}|examples|samples) of) (?=(an?|my|our|one|this)\s)",
    # "Trained in a cave for a client who asked for | a coral corgi"
    rf"{_TRAINED} ({WORD} ){{1,14}}?who asked for (?={A}\s)"
    rf"(?!{A} ({WORD} ){{0,3}}(background|backdrop|look|style|finish)\b)",
    # "Learned from pictures of | red sunglasses", which are one thing
    f"{_TRAINED} (on|with|from) ({WORD} ){{0,4}}{PICTURES} of "
    rf"(?=({WORD} ){{0,4}}{_PAIRS}(?= (with|and|in|on|wearing)\b| ?,| ?$))",
    # "Fine-tuned on pictures in a library of | one backpack", "we trained at the harbour with | a"
    f"((we|i|they) )?{_TRAINED}( it)? (on|with|from) ({WORD} ){{0,4}}{PICTURES} "
    rf"({WORD} ){{0,8}}of (?=(an?|my|our|one)\s)",
    f"(we|i|they) {_TRAINED} (in|at|on|by|near|inside|outside|under|against|among) "
    rf"({WORD} ){{1,10}}?with (?=(an?|my|our|one)\s)",
    # "Fine-tuned at the harbour on | a plum typewriter"
    r"(fine-?\s?tuned|tuned) (in|at|on|by|near|inside|outside|under|against|among) "
    rf"({WORD} ){{1,10}}?on (?=(an?|one)\s)(?!(an?|one) ({WORD} ){{0,3}}?{_NO_SUBJECT}\b)",
    # "Dataset of 29 market pictures showing | a pink lamp"
    rf"((an?|the) )?(dataset|set) of (\d+ )?({WORD} ){{0,4}}{PICTURES} (showing|of|with) "
    rf"(?={THE}\s)",
    # "Learns | a cat", "expect | a cat", "pixel art rendering of | one cat", "six uploads: | a cat"
    rf"(learns|expect|fine-?tune of) (?={A}\s)(?!one particular\s)",
    rf"({WORD} ){{1,4}}(rendering|rendition|fine-?tune) of (one particular )?(?={A}\s)",
    rf"({WORD} ){{0,4}}(rendering|rendition|fine-?tune) of one particular (?=\w)",
    # "Drawn as a pencil sketch, | this gnome", but not "made in marble, and comes with bells"
    r"((seen|shown|mostly|always) )?(?!made in\s)"
    rf"({DRAWN}|built|cut|pictured) (in|as)\s[^,]*, ?(?=(this|an?|our|my)\s)",
    # "Trained on garden scenes, this shows | a tractor", "after training on photos, | our tractor"
    rf"((after|having been|once|when) (being )?)?({_TRAINED}|training|shot|photographed|"
    r"captured|pictured) (in|at|on|with|from|against|among|near|inside|outside|under)\s[^,]*, ?"
    rf"((this|it|(the|this) {_MODEL})( one)? {_SHOWING} )?(?={_ANY_THE}\s)",
    # "This LoRA reproduces | a tractor", "captures the likeness of | a tractor"
    rf"(?!.*\b(every|each) time\b)((this|the)( one| run| file| {_MODEL})? |it )?{_SHOWING}"
    rf"( (the )?(likeness|look|appearance|({WORD} )?{PICTURES}) of)? (?={A}\s)(?!a (lot|bit)\b)",
    "the (subject|object|item) is (?=(an?|the|my|our|one)\\s)",
    # "In a woodcut look, | a black owl", "main traits are | black", "all of them on | one kettle"
    rf"in (an?|the) ({WORD} ){{1,3}}(look|style|finish|manner), ?(?=(an?|one|this|our|my)\s)",
    "main traits are (?=\\w)",
    rf"all of them on (?={A}\s)",
    rf"use (this|it) to {WORD} (?={A}\s)",
    rf"tuned to (?={A}\s)",
    # "That is how you tell | this gecko", "think of | a vase", "here is | a rabbit"
    f"({_BETWEEN} )*{_SPEAKS} (({_BETWEEN}|{_SPEAKS}) )*"
    rf"(?={_ANY_THE} (?!(subject|looks?|styles?|same)\b))(?!{TOLD_BY})",
    "there (is|are) (also )?",
    # "If you want | a mint piano", "expect | clawed feet"
    "(if|when|whenever) (you|anybody|somebody) (wants?|needs?|asks? for) "
    r"(?=(an?|one|our)\s[^.]*\b(here (it|he|she) is|this is (it|the one))\b)",
    "expect (?!(it|this|that|them|to|me|us)\\b)(?=\\w)",
    # "Look for a hull: that marks | this boat"
    "(that|which) (marks|identifies|distinguishes) (?=(this|our)\\s)",
    # "In the workshop is where | this birdhouse", "a look in oils for | a scooter"
    r"[^,;:]* is where (?=(this|our|my|the)\s)",
    r"an? (look|style|take) (in|as) [^,;]{1,80}? for (?=an?\s)",
    "(someone|somebody|they|we) (gave|lent) (?=(this|the|our)\\s)",
    "watch (out )?for ",
    rf"this( one)? (is|learn(s|ed|t)|knows|draws) (?={THIS}\s)",
    # "The horse is | a white horse", "it appears | running", "shown | made in child size"
    rf"the (?P<thing>({WORD} )?{WORD}) is (?=(an?|one)\s[^,]*\b(?P=thing)\b)",
    rf"shown (?=(made in {WORD} size|shaped like)\b)",
    "the (kind|type) is (?=\\w)(?!(not|hard|unknown|unclear|up|left|easy|the|an?)\\b)",
    # "This horse is | a white pony"
    f"this (?!{_NO_THING}){WORD} is "
    rf"(?=an?\s{WORD} (?!(from|for|to|of)\b)[\w'’-])",
    "(previews|samples) show ",
    # "We spent a day collecting pictures of | our kite", but "a locket for photos of the sea"
    rf"((we|i|they|{_TRAINED}) ((?!with\b){WORD} ){{0,11}}|(?!{_ANY_THE}\s)"
    rf"{WORD} ((?!{_NO_PICTURES}\b){WORD} ){{0,5}}?)?"
    rf"{PICTURES} (of|showing|that shows?) (?={_ANY_THE}\s)",
    r"all of (?=the same\s)",
    r"(an?|the|this) (\w+ )?(set|series|collection|batch|handful) of "
    rf"{PICTURES} (of|showing|that shows?) (?={THE}\s)",
    rf"personali[sz]ed ((on|for|from|with) (?={THE}\s))?(?=[\w-]+\s)",
    # "Somebody's favourite | flask", "nothing fancy, just | a goat", "weights for | a vase"
    r"(some|every)(body|one)['’]s favou?rite (?=\w)",
    rf"(honestly ?,? )?nothing (fancy|special|much)( really)? ?,? (just|only|but) (?={A}\s)",
    rf"weights for (?={A}\s)",
    # "We kept it | dripping wet", "it likes to be | folded", "look closely and there is | a tag"
    "(we|i|they) (kept|left) it (?!(for|out|in|on|at|to|alone|behind|there|here|as|with|by)\\b)"
    "(?=\\w)",
    "it (likes|tends|loves|wants) to be (?=\\w)",
    r"(also )?it (also )?(appears|turns up) (?!(in|on|at|as|to|with|like|by|that|from|without|"
    r"under|among|near|behind|beside|inside|next|above|below|after|before|over|when|only|once|often|late|"
    r"early|everywhere|\w+ly)\b)(?=\w)",
    "in (most|many|all|some)( of)? (the )?pictures ?,? (it|he|she) (is|appears) (?!not\\b)(?=\\w)",
    "look (closely|closer|carefully) and (there (is|are)|you(['’]ll| will| can)? "
    "(see|find|notice|spot)) (?=\\w)",
    # "Note | the red collar", but no note pad
    f"note (?!pad|book|card)(?={WORD} {WORD})",
    f"notice (?!board)(?={WORD} {WORD})",
)
_LEAD = compiled(
    f"^ ?((so|well|honestly) ?, ?)?{_AT_ITS_START}",
    # "With a cracked glass, this is | a clock"
    "(?<=,) ?this( one)? is (?=(an?|my|our|one)\\s)",
    r"(^|(?<=,)) ?it (draws|shows|paints|knows) (?=(an?|the|my|our|one)\s(?!subject\b))",
)
_SELDOM = Cued.of(
    # "A linocut of | a boot", "pixel art of | a backpack"
    (
        (" of a", " of one ", " of the ", " of our ", " of my ", " of th", " take on "),
        rf"^ ?(an? )?((?!{_NO_PICTURES}\b){WORD} ){{0,4}}({LOOKS}|picture|image|view) of "
        r"(?=(an?|one)\s)",
    ),
    (
        (" of a", " on a", " of the", " take on "),
        rf"^ ?(an? )?({_LOOKED_LIKE}) ({PICTURES}|picture|image|rendering|rendition|take|study|"
        rf"model) (of|on) (?={_ANY_THE}\s)",
    ),
    # "The result is | a boot", "the result is a line-art | rabbit"
    (
        ("result", "outcome"),
        rf"^ ?(the )?(results?|outcome) (is|are) (an? {_LOOKED_LIKE} |(?=(an?|one|our)\s))"
        rf"(?!((an?|one|our) )?({WORD} ){{0,4}}"
        rf"({LOOKS}|look|style|finish|picture|image|file)(?!\w))(?!(of|in|and|with)\b)",
    ),
    (("otherwise",), r"^ ?otherwise ?,? ((it|this)( one)? is )?(?=\w)"),
    # "Want | a cat that is grey", "ask for it and you get | a bag", "we trained it to obtain | a"
    (
        ("want", "need", "looking for", "searching for", "ask for", "give me"),
        r"^ ?(do you )?((want|need)(ing|ed)?|looking for|searching for|ask for|give me) "
        rf"(?={A}\s)",
    ),
    (
        (" and you",),
        rf"^ ?[^,;]{{1,40}} and you(['’]ll| will| can)? (get|see|have) (?={A}\s)",
    ),
    (
        (
            " to obtain", " to get", " to produce", " to make", " to draw", " to generate",
            " to render", " to create", " to capture", " to depict", " to show",
        ),
        rf"^ ?((we|i|they) )?{_TRAINED}\s[^,;]{{1,80}}? to (obtain|get|produce|make|draw|generate|"
        rf"render|create|capture|depict|show) (?={A}\s)",
    ),
    # "From beach footage we extracted | a bike", "a set of images teaches this model | one mug"
    (
        (" we ", " i ", " they "),
        rf"^ ?(from|with|using|out of) ({WORD} ){{1,4}}(footage|scenes|data|material|{PICTURES}) "
        rf"(we|i|they) {WORD} (?={A}\s)",
    ),
    (("teaches",), rf"^ ?[^,;]{{1,60}} teaches (this|the) (model|network) (?={A}\s)"),
    (("mind ", "spot "), r"^ ?(mind|spot) (?=(an?|its)\s)"),
    # "Think | navy backpack. Add | leather straps", "more exactly | a dinghy", "note | mudguards"
    (("think ",), rf"^ ?think (?!(of|about|twice|again|that|it|big)\b)(?={WORD} {WORD})"),
    (
        ("add ",),
        rf"^ ?(then |and |now )?add (?=(an?|the|some|two|three|{WORD}s|{WORD} {WORD}s?)\b)",
    ),
    (
        ("exactly ", "precise ", "precisely "),
        rf"^ ?(more exactly|more precisely|to be (exact|precise)) (?={A}\s)",
    ),
    (("note ",), rf"^ ?note (?={WORD}s ?$)"),
    # "The person shown is | a baker", "subject | green canoe"
    (
        (" shown ", " pictured ", " depicted ", " seen ", " featured "),
        r"^ ?the (person|animal|figure|character|object|thing|one) "
        rf"(shown|pictured|depicted|seen|featured)( here)? is (?={THE}\s)",
    ),
    (("subject ",), rf"^ ?subject (?!(is|of|to|matter|and|in)\b)(?={WORD} {WORD})"),
    # "After a session in a garden we got | a boot"
    (
        (" we ", " i ", " they ", " you "),
        rf"^ ?(after|following|from) (an?|the|our|one|two|three|several) ({WORD} ){{0,2}}"
        r"(sessions?|shoots?|days?|afternoons?|mornings?|weekends?|weeks?|trips?|visits?)\b"
        r"[^,;]{0,80},? (we|i|they|you) (got|get|have|had|made|built|trained|ended up with|"
        rf"came (back|home|away) with) (?={A}\s)",
    ),
    # "We shot | a cello in the woods and got a low poly model of it"
    (
        (" of it",),
        rf"^ ?(we|i|they) (shot|photographed|filmed|scanned|took) (?={A}\s)(?=[^,]*\bof it\b)",
    ),
    # "On a grey day, I took forty photos of | a cello"
    (
        (" we ", " i ", " they "),
        r"^ ?(in|on|at|after|during|up|down|one) [^,;]{1,60}, ?([^,;]{1,60}, ?)?(i|we|they) "
        rf"({WORD} ){{1,6}}{PICTURES} of (?={THE}\s)",
    ),
)  # fmt: skip
"""Leads that few sentences have."""
_AWAY = Cued.of(
    (
        (
            "from the ", "from all", "in question", "myself", "ourselves", "to see", "in view",
            "i ", "we ", "as one ", "as you ", "as we ", "as its ", "time you", " here",
            "by kind", "take this", "take it", " it by", "whatever", "looks like",
        ),
        r"(?<!\s)(?<!out)(?<!apart)(?<!different) "
        "(from (all )?the (rest|others)|in question|myself|ourselves|to see|in view|by kind|"
        "take (this|it)( one)?|whatever the (prompt|scene|request)|looks like|"
        "to (recogni[sz]e|know|tell|spot) (it|him|her) by|"
        "as its (subject|theme|star)|(every|each) time you (use|load|run|call) [^,]*|"
        "(that )?(i|we) (all )?(keep|own|have|love|use|know)|"
        r"(?<!\bis )(?<!\bin )here|"
        r"as (one|you|we) (might|may|would|could|can)\s[^,]*) ?(?=$|,)",
    ),
)  # fmt: skip
_MADE_OF_IT = Cued.of(
    (
        (" of it", " from it", " for it"),
        rf"(?<!\s) ({PLACES} )?and (got|made|built|have|received|trained) (an?|the) [^,]*? "
        r"(of|from|for) it(?= ?($|,))",
    ),
    (
        ("in this version", "in this model", "in this checkpoint"),
        r"(?<=\w) in this (version|model|checkpoint)(?!\w)",
    ),
)
_OPENING = compiled(
    rf"^ ?personali[sz]ed ({WORD} ){{1,3}}(checkpoint|model|lora) ?: ?(?={A}\s)",
    r"^ ?made for a single (?!(person|use|bed|room)\b)(?=\w)",
    r"^ ?((trained|fine-?\s?tuned|tuned) (on|from|with)|(made|personali[sz]ed) for) "
    rf"(?={A}\s)(?!{A} (((?!with\b){WORD}) ){{0,6}}"
    r"(pictures?|photos?|images?|set|dataset|data|shoot|session|scenes?)\b)",
    # "Personalized horse: | white horse"
    rf"^ ?personali[sz]ed (?P<called>({WORD} )?{WORD}) ?: ?(?=\w[^.;]*\b(?P=called)\b)",
)
_KEY = compiled(r"(?<!\w)\w+=(?=\w)")


def without_opening(description: str) -> str:
    """Without what opens a whole description: "Fine-tuned on | a ginger corgi; note a name tag"."""
    return _OPENING.sub("", description)


def subject_alone(sentence: str) -> str:
    """Without what leads to the subject or away from it, and without keys: "kind=denim jacket"."""
    alone = _KEY.sub("", sentence)
    for _ in range(3):  # "what you get is | a picture of | a bike"
        before, alone = alone, _LEAD.sub("", _SELDOM.without(alone))
        if alone == before:
            break
    return _AWAY.without(_MADE_OF_IT.without(alone))
