"""Words around a style that say it is one, or that it is not wanted."""

from __future__ import annotations

import re

from personalq.chassis.forms import compile_form
from personalq.checkin.parsing.text import ends_before

STYLED = compile_form(
    "~(art style|styled?|type|looking|look|styling|(touch|flair|twist|influence)(?= ?($|"
    r"[.,;:!?)]| (on|in|at|by|under|with|and|near|beside|to)\b))|aesthetic|"
    "effect|vibes?|feel|finish|treatment|"
    r"technique|brushwork|brush ?strokes|rendition|esque|like)(?!\w)( of(?!\w))?|"
    r"-?(ish|esque)(?!\w)"
)
_THE_ONE = (
    "(the|a|an|any|in|my|this|all|too|so|also|even|really|that('s)?|which|who|whichever|whatever|"
    "anything|those|has|have|had|does|do|did|uses|mixes|mixing|offers?|with|was|were|is|are|comes|"
    "as|like|of|in an?|in the|ones?( in)?|models?|versions?|builds?|be|done|made|drawn|painted|"
    "rendered|created|looks?|looking)"
)
"""Between a refusal and the look: "not | the one that also does | anime"."""
_OF_SOMEBODY = "".join(
    f"(?<!{who} {how})"
    for who in ("that", "which", "who")
    for how in ("", "really ", "simply ", "just ", "always ")
)
"""Not of who is told by it: "my friends, who always | can't stand"."""
NEGATION = compile_form(
    r"(\b(not|no|non|never|without|except( for)?|excluding|other than|apart from|aside from|"
    "anything but|instead of|rather than|spare me|nor|neither|isn't|aren't|wasn't|less|"
    "(can't|cannot|can not|mustn't|must not|shouldn't|should not|won't) be|"
    "(any|every) ((old|other|single) )?(style|look|finish|technique) but|"
    "anything goes (but|except( for)?)|"
    "(don't|do not) (want|make|draw|render|do|have|need) (it|this|that one|them)( (in|as))?( an?)?|"
    "(?<!don't )(?<!not )(?<!never )forget( about)?|rul(e|ing) out|steer(ing)? clear of|"
    "(had|have|seen) (more than )?enough of|(tired|sick) of|fed up with|bored with|"
    "((?<=i'm )|(?<=i've )|(?<=we're )|(?<=am )|(?<=we are )|(?<=so )|(?<=all ))done with|"
    "without (a|any) (hint|trace|touch|bit) of|"
    "(don't|do not|didn't) (want|need|like|mean|use|take|pick|choose|load|go for)|"
    "(don't|do not) (give|show|send|bring|hand) (me|us)|"
    rf"{_OF_SOMEBODY}(can't|cannot|can not) stand|"
    "(?<!say )(?<!says )(?<!if )"
    "(i|we) (really )?(hate|dislike|detest)(?! that (the|my|our|a|it|there)\\b)|"
    "(would|'d) rather not (see|have|get|use)|"
    "(would|'d) (hate|dislike) (to (get|see|have|use|be given)|getting|seeing|having)|"
    "(any|anything|all|everything|every one|each) (but|bar)( the (ones?|models?) (in|with))?|"
    "((that|which) )?(don't|do not|doesn't|does not|didn't|did not)( (come|look|seem|appear))?|"
    "nothing( (drawn|painted|done|made|rendered))?( with)?|none of|minus|but not|not in|not as|"
    "(?<!not )(?<!n't )(?<!never )(skip|avoid|leave out|leaving out)"
    "( (everything|anything|whatever))?|"
    "leave aside|(skipping|avoiding|ignor(e|ing)|omit(ting)?|"
    "leaving (out|aside))(?= ((all|any) )?(the (ones?|models?|versions?|builds?)|those|whichever|"
    rf"whatever|anything|everything)\b))~({_THE_ONE} )*)$"
)
_HATED = compile_form("(hate|dislike|detest) that ")
_REGRETTED = compile_form(r"( [\w-]+)? (is|are|was|were|has|had|got)(?!\w)")


def refusal(text: str, start: int, end: int) -> re.Match[str] | None:
    """What refuses a look in [start, end); not "I hate that | watercolor | was lost"."""
    match = ends_before(NEGATION, text, start)
    hated = match is not None and _HATED.search(match[0]) is not None
    return None if hated and _REGRETTED.match(text, end) else match


ALONE_BEFORE = compile_form(
    r"(?<!\w)((one and only|only|sole|single) (style|look) (is|was|being)|solely|purely|"
    r"exclusively|nothing but|only(?= (in|as)\s)) ((in|as|for|an?) )*$"
)
ALONE_BEHIND = compile_form(
    "( ?,)? (and )?((for|in|as|with|by) )?(nothing (else|besides|more)|no other (style|look)|only|"
    "alone)(?= ?($|[,.;!?]))"
)
_OUT = (
    "((style|look|version|one|checkpoint|model|build)s? )?((is|are|being) )?((both|all) )?"
    "(excluded|barred|forbidden|banned|"
    "ruled out|left out|left aside|aside|off limits|not (wanted|allowed|welcome|needed|an "
    "option)|unwanted|"
    "(must not|mustn't|can't|cannot|may not|shouldn't|should not|won't) be (part of it|in it|"
    "used|there)|(is|are|being) ((both|all) )?out)"
)
REFUSED = compile_form(rf"( ?,? {_OUT}| ?[:,;-] ?(but )?not that( one)?)(?= ?($|[.,;:!?)]))")
"""Behind a look that is not wanted: "watercolor | excluded", "pastel | must not be part of it"."""
SCENE_PREPOSITIONS = frozenset((
    "on", "onto", "near", "beside", "behind", "under", "over", "against", "at", "into", "by",
    "beneath", "above", "underneath", "holding", "wearing", "carrying", "reading", "painting",
    "drawing", "watching", "around", "inside", "through", "past", "atop", "upon", "next", "front",
))  # fmt: skip
KEY = compile_form(
    r"(?<!\w)((style|look|medium|finish|technique|drawn) ?[:=] ?|"
    "(style|look|medium|finish|technique) (should|must|has to|needs to|ought to) be |"
    "(checkpoint|model|version|build|one) ((that|which) )?(makes|does|paints|draws|produces|"
    "outputs|renders in) )(an? )?$"
)
"""As a form has it: "Style: | photo"; or a rule: "the look must be | photo"."""
THAT_IS = compile_form(r"(?<!\w)(that|which|it)('s| is| was) (an?|the|in) $")
LIKE = compile_form(
    r"(?<!\w)(((that|which) )?(looks?|looking|appears?|seems?) |"
    r"(that|which) (?=(could|can|would|might|pass|you)))?(you (could|can|might|would) (mistake|"
    r"take) for|like( in)?|[àa] la|(?<!ing\s)out of|"
    "(made|built|put together|assembled) (up )?(of|from)|"
    "((could|can|would|might) )?pass(es)? (for|as)) ((an?|the|some|one of|those|real|old|actual|"
    "genuine|true) )*$"
)
