"""What a description says of the training and of the look, which tags say."""

from __future__ import annotations

from personalq.chassis.phrases.patterns import WORD, any_of, compiled

_WAS = r"(?:\b(?:was|were|is|are)\s+)?"
_WITH = any_of("with", "wearing", "holding", "has", "having", "featuring")
_DRAWN = any_of(
    "rendered",
    "drawn",
    "painted",
    "printed",
    "made",
    "modell?ed",
    "shown",
    "depicted",
    "done",
    "sculpted",
    "shot",
    "illustrated",
    "sketched",
    "created",
)
_OF_TRAINING = any_of(
    "(?:re)?trained",
    r"training\s+(?:on|with|data|sets?|images|pictures|photos|scenes|shots|samples|examples|material)",
    r"(?:reference|source)\s+(?:images|pictures|photos|shots|material)",
    r"fine-?\s?tuned",
    r"tuned\s+on",
    r"learn(?:ed|t)\s+(?:(?:mostly|mainly|only)\s+from|from|on|in|with)",
    r"(?:pictures|photos|images|shots|references)\s+(?:came|come|were|are|from|set\s+in|taken)",
    r"everything\s+it\s+(?:saw|knows|learn(?:ed|t))",
    r"(?:works?|does|do|looks?|is)\s+(?:best|good|great)\s+(?:for|at|with)",
    "optimi[sz]ed",
    r"shows\s+the\s+subject",
    r"(?:outputs?|results?)\s+(?:has|have|is|are|comes?|looks?|shows?)",
    rf"made\s+for(?=\s+(?:{WORD}\s+){{1,4}}(?:pictures|images|renders|photos|art)\b)",
    rf"(?<!\w)one\s+of\s+the\s+(?:{WORD}\s+){{1,3}}(?:series|line|family|collection|range)$",
    r"version\s+\d+",
    r"v\d+",
    r"no\s+particular",
    r"nothing\s+(?:special|particular|else)",
)
_SAID = compiled(
    rf"{_WAS}\b{_OF_TRAINING}\b.*$",
    # "drawn in a bold style, | with twin funnels"
    rf"\b(?!(?:rendered|shown)\s+in\s+{WORD}\s*(?:,|$|with\b|and\b))"
    rf"{_DRAWN}\s+(?:in|as|like)\b.*?"
    rf"(?=$|,\s+(?:(?:and\s+|it\s+is|shown|seen|complete)\s+)*{_WITH}\s"
    r"(?!an?\s[^.]*\b(?:mood|finish|look|feel)\b))",
    # "photographed in a library | with a hat"
    rf"{_WAS}\b(?:captured|photographed|shot|filmed|pictured|seen)\s+"
    r"(?:(?:out|mostly|mainly|often|usually)\s+)?"
    r"(?:in|at|on|by|near|under|inside|against|amid|outside|along|among|around)\b[^,]*?"
    rf"(?=,|$|\s(?:(?:and\s+)?{_WITH}|plus)\b)",
    r"(?<=\w)\s+of\s+the\s+(?:series|collection)(?=\s*(?:$|,))",
    r"(?:^|(?<=,))\s*(?:it\s+)?(?:finished|comes?\s+out|turns?\s+out)\s+as\b.*$",
    r"^\s*(?:it\s+)?(?:best|good)\s+(?:for|at|with)\b[^,]*",
    r"\bhas\s+the\s+look\s+of\b[^,]*",
    rf"\bin\s+(?:{WORD}\s+){{0,3}}(?:inks|washes|geometry|pixels|brush\s?strokes|line\s?work|"
    r"oil\s+paints?|pencil\s+lines|pixel\s+art|line\s+art)$",
    r"\bin\s+(?:an?|the)\s+\w+(?:[\s-]\w+)?\s+(?:style|look|manner|way|finish)\b.*$",
    r"\bin\s+\w+\s+style\b.*$",
    r"\bin\s+\w+\s+\w+\s+style\b",
    r"^\s*made\s+from\s+[^,]*\b(?:pictures|photos|images|shots)\b[^,]*",
    rf"\bfrom\s+the\s+(?:{WORD}\s+){{1,3}}(?:session|shoot)\b",
    r"(?:^|(?<=,))\s*together\s+in\s+every\b.*$",
)
# Behind "with" the same words may be the subject's: a vase with hunting scenes.
_ONLY_A_LOOK = compiled(
    rf"^(?!(?:an?|the|his|her|its|their)\s)(?:{WORD}\s+){{1,3}}"
    r"(?:look|style|aesthetics?|scenes|settings|surroundings|backgrounds|backdrops)"
    r"(?:\s+throughout)?$",
)


def without_training(sentence: str) -> str:
    """Without what is said of the training or of the look, mostly to the end of the sentence."""
    return _SAID.sub("", sentence)


def is_only_a_look(clause: str) -> bool:
    """Whether a clause only names a look or places: "low poly look", "library scenes"."""
    return bool(_ONLY_A_LOOK.match(clause))
