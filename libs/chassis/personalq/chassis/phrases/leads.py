"""What only leads to the subject, or away from it: "what you get is | a corgi | we all love"."""

from __future__ import annotations

from personalq.chassis.phrases.patterns import PICTURES, THE, WORD, A, any_of, compiled

_ANY_THE = r"(?:an?|the|my|our|your|his|her|their|one|some|this|these|those)"
_MODEL = any_of(
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
_SHOWS = (
    r"(?:(?:that|which)\s+)?"
    r"(?:of|on|for|knows|learns|learnt|learned|shows|draws|depicts|captures)"
)
_TRAINED = any_of("trained", r"fine-?\s?tuned", "tuned", "learn(?:ed|t|s)", "taught")
_NO_THING = any_of(
    "look", "style", "set", "version", "model", "picture", "photo", "image", "checkpoint", "lora"
)
# Who speaks to whom, and of what. With words between them they say nothing of a subject.
_SPEAKS = (
    r"(?:i|we|you(?:['’](?:ll|d|ve))?|here(?:['’]s)?|there(?:['’]s)?|what|think|imagine|picture|"
    r"meets?|shows?|introducing|presenting)"
)
_BETWEEN = (
    r"(?:this|that|it|one|is|are|was|will|can|could|would|might|may|should|always|also|mostly|how|"
    r"why|which|who|when|the|first|second|last|thing|get|gets|got|have|has|had|see|find|notice|"
    r"know|tell|recogni[sz]e|spot|want(?:ed)?|expect|do|does|did|to|of|on|in|at|for|by|from|about)"
)

_LEAD = compiled(
    # Only before an article: "trained on pictures of meadows" names places.
    rf"^\s*(?:(?:{WORD}\s+){{0,5}}{_MODEL}\s+{_SHOWS}"
    rf"|{_TRAINED}\s+(?:on|with|from)\s+(?:{WORD}\s+){{0,6}}"
    rf"(?:{PICTURES}|examples|samples)\s+of)\s+(?=(?:an?|my|our|one|this)\s)",
    # "That is how you tell | this gecko", "think of | a vase", "here is | a rabbit"
    rf"^\s*(?:{_BETWEEN}\s+)*{_SPEAKS}\s+(?:(?:{_BETWEEN}|{_SPEAKS})\s+)*"
    rf"(?={_ANY_THE}\s+(?!(?:subject|looks?|styles?|same)\b))",
    r"^\s*there\s+(?:is|are)\s+",
    r"^\s*watch\s+(?:out\s+)?for\s+",
    r"^\s*this(?:\s+one)?\s+(?:is|learn(?:s|ed|t)|knows|draws)\s+(?=(?:an?|the|my|our|one|this)\s)",
    r"(?:^|(?<=,))\s*it\s+(?:draws|shows|paints|knows)\s+(?=(?:an?|the|my|our|one)\s(?!subject\b))",
    # "This horse is | a white pony"
    rf"^\s*this\s+(?!{_NO_THING}){WORD}\s+is\s+"
    rf"(?=an?\s{WORD}\s+(?!(?:from|for|to|of)\b)[\w'’-])",
    r"^\s*(?:previews|samples)\s+show\s+",
    # "We spent a day collecting pictures of | our kite", but "a locket for photos of the sea"
    rf"^\s*(?:(?:we|i|they|{_TRAINED})\s+(?:(?!with\b){WORD}\s+){{0,11}}|(?!{_ANY_THE}\s){WORD}\s+)?{PICTURES}\s+"
    rf"(?:of|showing|that\s+shows?)\s+(?={_ANY_THE}\s)",
    r"^\s*all\s+of\s+(?=the\s+same\s)",
    r"^\s*(?:an?|the|this)\s+(?:\w+\s+)?(?:set|series|collection|batch|handful)\s+of\s+"
    rf"{PICTURES}\s+(?:of|showing|that\s+shows?)\s+(?={THE}\s)",
    rf"^\s*personali[sz]ed\s+(?:(?:on|for|from|with)\s+(?={THE}\s))?(?=[\w-]+\s)",
    # "Note | the red collar", but no note pad
    rf"^\s*note\s+(?!pad|book|card)(?={WORD}\s+{WORD})",
)
_AWAY = compiled(
    r"(?<!\s)(?<!out)(?<!apart)(?<!different)\s+(?:from\s+(?:all\s+)?the\s+(?:rest|others)|myself|ourselves|to\s+see|in\s+view|"
    r"(?:that\s+)?(?:i|we)\s+(?:all\s+)?(?:keep|own|have|love|use|know)|"
    r"as\s+(?:one|you|we)\s+(?:might|may|would|could|can)\s[^,]*)\s*(?=$|,)",
)
_OPENING = compiled(
    r"^\s*(?:(?:trained|fine-?\s?tuned|tuned)\s+(?:on|from|with)|(?:made|personali[sz]ed)\s+for)\s+"
    rf"(?={A}\s)(?!{A}\s+(?:{WORD}\s+){{0,3}}"
    r"(?:pictures?|photos?|images?|set|dataset|data|shoot|session|scenes?)\b)",
)
_KEY = compiled(r"(?<!\w)\w+=(?=\w)")


def without_opening(description: str) -> str:
    """Without what opens a whole description: "Fine-tuned on | a ginger corgi; note a name tag"."""
    return _OPENING.sub("", description)


def subject_alone(sentence: str) -> str:
    """Without what leads to the subject or away from it, and without keys: "kind=denim jacket"."""
    return _AWAY.sub("", _LEAD.sub("", _KEY.sub("", sentence)))
