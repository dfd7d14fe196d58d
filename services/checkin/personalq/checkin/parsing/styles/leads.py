"""Words around a style that say it is one, or that it is not wanted."""

from __future__ import annotations

import re

STYLED = re.compile(
    r"[\s-]+(?:art\s+style|styled?|type|looking|look|styling|aesthetic|effect|vibes?|feel|finish|treatment|"
    r"technique|rendition|esque|like)(?!\w)(?:\s+of(?!\w))?|-?(?:ish|esque)(?!\w)"
)
_THE_ONE = (
    r"(?:the|a|an|any|in|my|this|all|too|so|also|even|really|that(?:'s)?|which|who|whichever|whatever|anything|"
    r"those|has|have|had|does|do|did|uses|mixes|mixing|offers?|with|was|were|is|are|comes|as|like|of|"
    r"in\s+an?|in\s+the|ones?(?:\s+in)?|models?|versions?|builds?|be)"
)
"""Between a refusal and the look: "not | the one that also does | anime"."""
NEGATION = re.compile(
    r"(?:\b(?:not|no|non|never|without|except(?:\s+for)?|excluding|other\s+than|apart\s+from|"
    r"aside\s+from|anything\s+but|instead\s+of|rather\s+than|nor|neither|isn't|aren't|wasn't|less|"
    r"(?:don't|do\s+not|didn't)\s+(?:want|need|like|mean)|"
    r"(?:(?:that|which)\s+)?(?:don't|do\s+not|doesn't|does\s+not|didn't|did\s+not)(?:\s+(?:come|look|seem|appear))?|"
    r"nothing(?:\s+(?:drawn|painted|done|made|rendered))?(?:\s+with)?|none\s+of|minus|but\s+not|not\s+in|not\s+as|"
    r"skip|avoid|leave\s+(?:out|aside)|"
    r"(?:skipping|avoiding|ignor(?:e|ing)|omit(?:ting)?|leaving\s+(?:out|aside))(?=\s+(?:(?:all|any)\s+)?(?:"
    r"the\s+(?:ones?|models?|versions?|builds?)|those|whichever|whatever|anything|everything)\b))"
    rf"[\s-]+(?:{_THE_ONE}\s+)*)$"
)
ALONE_BEFORE = re.compile(
    r"(?<!\w)(?:(?:one\s+and\s+only|only|sole|single)\s+(?:style|look)\s+(?:is|was|being)|solely|purely|"
    r"exclusively|nothing\s+but|only(?=\s+(?:in|as)\s))\s+(?:(?:in|as|for|an?)\s+)*$"
)
ALONE_BEHIND = re.compile(
    r"(?:\s*,)?\s+(?:and\s+)?(?:(?:for|in|as|with|by)\s+)?(?:nothing\s+(?:else|besides|more)|"
    r"no\s+other\s+(?:style|look)|only|alone)(?=\s*(?:$|[,.;!?]))"
)
SCENE_PREPOSITIONS = frozenset((
    "on", "onto", "near", "beside", "behind", "under", "over", "against", "at", "into", "by",
    "beneath", "above", "underneath", "holding", "wearing", "carrying", "reading", "painting",
    "drawing", "watching", "around", "inside", "through", "past", "atop", "upon", "next", "front",
))  # fmt: skip
THAT_IS = re.compile(r"(?<!\w)(?:that|which|it)(?:'s|\s+is|\s+was)\s+(?:an?|the|in)\s+$")
LIKE = re.compile(
    r"(?<!\w)(?:(?:(?:that|which)\s+)?(?:looks?|looking|appears?|seems?)\s+|(?:that|which)\s+(?=(?:could|can|would|might|pass)))?"
    r"(?:like(?:\s+in)?|[àa]\s+la|(?<!ing\s)out\s+of|(?:made|built|put\s+together|assembled)\s+(?:up\s+)?(?:of|from)|(?:(?:could|can|would|might)\s+)?pass(?:es)?\s+(?:for|as))\s+"
    r"(?:(?:an?|the|some|one\s+of|those|real|old|actual|genuine|true)\s+)*$"
)
