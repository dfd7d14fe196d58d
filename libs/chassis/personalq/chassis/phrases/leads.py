"""What only leads to the subject: "a claymation checkpoint of | a corgi"."""

from __future__ import annotations

from personalq.chassis.phrases.patterns import PICTURES, THE, WORD, A, any_of, compiled

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

_LEAD = compiled(
    # Only before an article: "trained on pictures of meadows" names places.
    rf"^\s*(?:(?:{WORD}\s+){{0,5}}{_MODEL}\s+{_SHOWS}"
    rf"|{_TRAINED}\s+(?:on|with|from)\s+(?:{WORD}\s+){{0,6}}"
    rf"(?:{PICTURES}|examples|samples)\s+of)\s+(?=(?:an?|my|our|one|this)\s)",
    # "This one is | a …", "you get | our …"
    r"^\s*(?:this(?:\s+one)?\s+is|this\s+one\s+shows|that\s+is\s+how\s+you\s+know|you\s+get)"
    r"\s+(?=(?:an?|the|my|our|one|this)\s)",
    # "This horse is | a white pony"
    rf"^\s*this\s+(?!{_NO_THING}){WORD}\s+is\s+"
    rf"(?=an?\s{WORD}\s+(?!(?:from|for|to|of)\b)[\w'’-])",
    r"^\s*(?:here(?:['’]s|\s+is|\s+are)|picture)\s+(?=(?:an?|the|my|our|one|some)\s)",
    r"^\s*(?:previews|samples)\s+show\s+",
    # "Reference shots of | our kite", "all of | the same kite"
    r"^\s*(?:(?:reference|source|training|sample)\s+)?(?:pictures|photos|images|shots)\s+of\s+"
    rf"(?={THE}\s)",
    r"^\s*all\s+of\s+(?=the\s+same\s)",
    r"^\s*(?:an?|the|this)\s+(?:\w+\s+)?(?:set|series|collection|batch|handful)\s+of\s+"
    rf"{PICTURES}\s+(?:of|showing|that\s+shows?)\s+(?={THE}\s)",
    rf"^\s*personali[sz]ed\s+(?:(?:on|for|from|with)\s+(?={THE}\s))?(?=[\w-]+\s)",
    # "Note | the red collar", but no note pad
    rf"^\s*note\s+(?!pad|book|card)(?={WORD}\s+{WORD})",
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


def without_lead(sentence: str) -> str:
    """Without what leads to the subject, and without keys: "kind=denim jacket"."""
    return _LEAD.sub("", _KEY.sub("", sentence))
