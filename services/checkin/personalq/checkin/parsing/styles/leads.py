"""Words around a style that say it is one, or that it is not wanted."""

from __future__ import annotations

import re

STYLED = re.compile(
    r"[\s-]+(?:art\s+style|styled?|type|looking|look|styling|aesthetic|effect|vibes?|feel|finish|treatment|"
    r"technique|rendition|esque|like)(?!\w)(?:\s+of(?!\w))?|-?(?:ish|esque)(?!\w)"
)
NEGATION = re.compile(
    r"(?:\b(?:not|no|non|never|without|except(?:\s+for)?|excluding|other\s+than|apart\s+from|"
    r"aside\s+from|anything\s+but|instead\s+of|rather\s+than|nor|neither|isn't|aren't|wasn't|less|"
    r"(?:don't|do\s+not|didn't)\s+(?:want|need|like|mean)|"
    r"(?:(?:that|which)\s+)?(?:don't|do\s+not|doesn't|does\s+not|didn't|did\s+not)(?:\s+(?:come|look|seem|appear))?|"
    r"nothing(?:\s+(?:drawn|painted|done|made|rendered))?(?:\s+with)?|none\s+of|skip|avoid|minus|but\s+not|not\s+in|not\s+as)"
    r"[\s-]+(?:(?:the|a|an|any|in|my|too|so|also|even|really|that|which|has|uses|mixes|mixing|with|was|is|comes|as|like|of|in\s+an?|in\s+the|ones?(?:\s+in)?|be)\s+)*)$"
)
SCENE_PREPOSITIONS = frozenset((
    "on", "onto", "near", "beside", "behind", "under", "over", "against", "at", "into", "by",
    "beneath", "above", "underneath", "holding", "wearing", "carrying", "reading", "painting",
    "drawing", "watching", "around", "inside", "through", "past", "atop", "upon", "next", "front",
))  # fmt: skip
THAT_IS = re.compile(r"(?<!\w)(?:that|which|it)(?:'s|\s+is|\s+was)\s+(?:an?|the|in)\s+$")
LIKE = re.compile(
    r"(?<!\w)(?:(?:(?:that|which)\s+)?(?:looks?|looking|appears?|seems?)\s+|(?:that|which)\s+(?=(?:could|can|would|might|pass)))?"
    r"(?:like|[àa]\s+la|(?<!ing\s)out\s+of|(?:made|built|put\s+together|assembled)\s+(?:up\s+)?(?:of|from)|(?:(?:could|can|would|might)\s+)?pass(?:es)?\s+(?:for|as))\s+"
    r"(?:(?:an?|the|some|one\s+of|those|real|old|actual|genuine|true)\s+)*$"
)
