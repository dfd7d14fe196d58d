"""What the rules of order are made of."""

from __future__ import annotations

from personalq.checkin import lexicon

MADE = (
    "(trained|created|made|built|tuned|fine-?tuned|added|finished|completed|released|uploaded|"
    "published|produced|dated|baked)"
)
NEWEST = (
    rf"(most up[\s-]to[\s-]date|most recent(ly)?(~{MADE}(?!-))?|most current|most lately {MADE}|"
    "newest|latest|freshest|youngest)"
)
OLDEST = "(oldest|earliest|eldest)"
SELECTOR = (
    "(one|version|model|build|checkpoint|lora|variant|edition|iteration|release|training|run|ckpt|"
    "attempt|try|take)s?"
)
WHO = "(i|we|you|she|he|they|anyone|anybody|somebody|someone|everyone|everybody)('ve|'d)?"
HAVE = "((have|has|had|ever) )*"
USE = (
    "(uses?|used|keep using|kept using|run|ran|render(ed)? with|work(ed)? with|reach(ed)? for|"
    "turn(ed)? to|rely on|relied on|depend(ed)? on|fall back on|pick(s|ed)?|open(ed)?|touched|"
    "load(ed)?|go for)"
)
THAT = "((that|which) )?"
NOT_A_TIME = r"(?! (week|month|year|night|summer|winter|spring|autumn|fall|\w+day))"
"""Behind "last", where no time is told: "used last", but not "used last week"."""
ENDS = (
    r"(?! up[\s-]to[\s-]date)"
    r"(?= ?($|[^\w\s]|(on|in|at|by|of|with|near|under|and|but|as|to|for|while|please|full|"
    r"covered|pictured|shown|seen|drawn|painted|rendered|placed|photographed|is|are|was|into|onto|inside|outside|beside|behind|between|over|above|below|beneath|"
    r"underneath|against|among|amid|next|during|around|through|across|atop|down|up|so|or|"
    r"thanks)\b|(?!((every|any|no|some)?thing|evening|morning|spring)\b)\w{2,}ing\b))"
)
"""What follows a wish: nothing, or what is to be seen."""
_SEASON = "(spring|summer|autumn|fall|winter)"
_YEAR = r"((the )?(year )?20\d\d|(the|this|last) year)"
IN_A_TIME = (
    rf"(?= (in|of|during) ({_YEAR}|q[1-4]|{_SEASON} 20\d\d|"
    rf"(this|last) (week|month|quarter|{_SEASON})|"
    rf"(the )?((early|late) )?({'|'.join(lexicon.calendar('months'))})|"
    rf"the (first|second|third|fourth|last) (quarter|half) of {_YEAR})(?!\w))"
)
"""Before the time within which it is an end: "the last | of 2025"."""
OF_ALL = f"( (often|frequently|of all)|{ENDS})"
