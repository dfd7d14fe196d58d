"""What is said around what is asked for, which stays: "I fancy the kettle | today |"."""

from __future__ import annotations

import re

from personalq.chassis.forms import compile_form

_NO_DATE = (
    "".join(
        rf"(?<!\b{word})"
        for word in (
            "us", "new", "here", "from", "earlier", "using", "made", "built", "done", "sent", "run",
            "on", "of", "by", "since", "until", "before", "came", "out", "in", "up",
        )
    )
    + "(?<!ed)(?P<today> today)"
)  # fmt: skip
"""Today, where it says when the picture is wanted: not "made | today"."""
_PHOTOS = "(pictures|photos|images|shots|photographs)"
SAID_AROUND: tuple[tuple[re.Pattern[str], dict[str, str]], ...] = (
    (compile_form(r"(?<!\w)(one|model|version|checkpoint) (that|which) (is|was|were|are) "
                  r"[^,.;:!?]{3,60}?(?P<and> and)(?= (is|has|wears|comes with) )"),
     {"and": ", the one that"}),
    (compile_form(r"^(on|in|under|at|beside|behind|inside|near|next to|in front of|across|against) "
                  r"(the|an?|my|our|some) [\w' -]{2,50}?(?P<stands> (stands|sits|lies|hangs|rests|"
                  r"waits|(should|must|shall|will) be))(?= (an?|the|my|our|one) )"),
     {"stands": ","}),
    (compile_form(r"(?<!\w)(?<!with )(?P<no>no) [\w-]+( [\w-]+)? "
                  r"(?P<than>(later|newer|higher) than) (?=(version|v\.? ?\d))"),
     {"no": "any", "than": "up to"}),
    (compile_form(r"(?<!\w)(?<!with )(?P<no>no) [\w-]+( [\w-]+)? "
                  r"(?P<than>(earlier|older|lower) than) (?=(version|v\.? ?\d))"),
     {"no": "any", "than": "at least"}),
    (compile_form(r"(?<!\w)(?P<no>nothing (later than|newer than|higher than|above|over|past|"
                  r"beyond)) (?=(version|v\.? ?\d))"), {"no": "up to"}),
    (compile_form(r"(?<!\w)(?P<no>nothing (earlier than|older than|lower than|below|under|before)) "
                  r"(?=(version|v\.? ?\d))"), {"no": "at least"}),
    (compile_form(r"^(?!(please )?(put|turn|flip|hang|draw|paint|make|place|set|lay|show|stand)\b)"
                  r"[^.;:!?,]{2,60}, (?P<state>upside[ -]down)(?= ?($|[,.;:!?)]))"),
     {"state": "overturned"}),
    (compile_form(r"^(?P<what>(what|how) (would|will|could|might|does|do)) "
                  r"(the|an?|my|our|some|any|"
                  r"[\w-]+( [\w-]+)?'s) "
                  r"[\w' -]{2,60}?(?P<look> look( like)?)(?= (in|on|at|under|near|by|beside|behind|"
                  r"with|inside|over|against|next|among|as|from|during|while)\b| ?[?.,!]| ?$)"),
     {"what": "show", "look": ""}),
    (compile_form(r"(^|(?<=[.;:,!?] ))(?P<skip>(skip|ignore|forget( about)?|not|never mind) the) "
                  r"(?P<newest>latest|newest|most recent|last) [\w' -]{2,40}?(?P<use>(,| and|, but|"
                  r" but)? ((use|take|give me|pick|show|go for|i want|i mean) )?the one (that "
                  r"came )?"
                  r"((just|right|immediately|directly) )?before (it|that( one)?|this))(?!\w)"),
     {"skip": "the", "newest": "second newest", "use": ""}),
    (compile_form(r"^(?P<for>for )(the|my|our) [\w-]+( [\w-]+)?(?P<go> (go back|return|revert|go|"
                  r"switch) to )(?=the (very )?(first|last|latest|newest|oldest|earliest|original|"
                  r"one)\b)"), {"for": "", "go": ", "}),
    (compile_form(r"(^|(?<=[.;:!?] ))(?P<did>(did|didn't|have|haven't|hadn't|had) (we|i|you|they|"
                  r"anyone|anybody|someone|somebody)( not)? (ever |once |already )?train(ed)? )"
                  r"(an?|the|any|our|some|one of the) [\w-]+( [\w-]+)? (?P<there>)"
                  r"(?=(out |down |up |over )?(in|at|on|by|near|under|beside|inside|outside|among) "
                  r"(the|an?|our) [\w-]+( [\w-]+)? ?[?,])"),
     {"did": "", "there": "trained "}),
    (compile_form(r"(^|(?<=[.;:!?] ))(?!((show|tell) )?(me )?what\b)[^.;:!?]*?(?P<will> will do"
                  r"( (nicely|fine|best|very well))? today)(?= ?($|[.,;!?]))"), {"will": ""}),
    (compile_form(r"(^|(?<=[.;:!?] ))((show|draw|paint|render|make|give me|the|my|our|an?) ){0,2}"
                  r"(?!(it|this|that|serves?|used|laid|dressed|seen)\b)[\w-]+ (?P<as>as (a )?)"
                  r"(stained[ -]glass|mosaic)(?= ?($|[,.;:!?)]))"), {"as": "in the style of "}),
    (compile_form(r"(^|(?<=[.;:,!?] ))(?P<dreamt>(i )?(dreamt|dreamed) (of|about)) "
                  r"(an?|the|my|our) [\w' -]{2,60}?(?P<when>(?<!ed)(?<!made) last night)?"
                  r"(?= ?[.;:!])"),
     {"dreamt": "imagine", "when": ""}),
    (compile_form(r"^(not )?(just )?any (old )?[\w-]+( [\w-]+)? ?[:;,](?P<has> (it|he|she) "
                  r"(should|must|ought to|has to|needs to) have)(?= )"), {"has": " it has"}),
    (compile_form(r"(?<!\w)(?P<most>most popular) [\w-]+( [\w-]+)?(?P<by> by (use|usage|number of "
                  r"uses))(?!\w)"), {"most": "most used", "by": ""}),
    (compile_form(r"^(?P<the>whichever|whatever) [\w-]+( [\w-]+)?(?P<that> )(?=(has|is|wears|holds|"
                  r"carries) )"), {"the": "the", "that": " that "}),
    (compile_form(r"^(the|my|our|that) ((?!that )[\w-]+ ){1,3}(?P<is>(that )?(i|we)('d| would| "
                  r"want to| had in mind to|'m| am|'re| are| was| were)? (pick|choose|use|take|"
                  r"like|want|mean|need|remember|after|looking for|thinking of|have in mind) )"
                  r"(?=(is (?!(in|on|at|by|near|under|beside|behind|from|for|inside|with|the|my|"
                  r"our|an?)\b|[\w-]+')|has |wears |holds |carries )[a-z])"), {"is": "that "}),
    (compile_form(r"^which ([\w-]+ ){1,2}(?P<had>had )(?=(an?|the|no|two|three|its) )"),
     {"had": "has "}),
    (compile_form(r"(^|(?<=[.;,!?] ))(?P<not>not )(the|my|our) ([\w-]+ ){1,3}(?P<used>(i|we) "
                  r"(just )?used (last|most recently)( ?,)? but the one ((i|we) )?(used )?"
                  r"((just|right) )?before (that|it|this)( one)?)(?!\w)"),
     {"not": "", "used": "I used second most recently"}),
    (compile_form(r"(?<=[.;,] )(?P<look>look for )(an?|the|its|two) [\w' -]{3,40}?(?P<there> in "
                  r"(its|the) description)(?!\w)"), {"look": "the one with ", "there": ""}),
    (compile_form(r"^(?P<fed>(we|i) ((had|have) )?(fed|trained|taught|tuned)) (one|an?|the|our|my) "
                  rf"[\w-]+( [\w-]+)? (?P<on>with|from|on) (the )?{_PHOTOS} of [\w' -]{{2,40}}"
                  r"(?P<again>[.:;,!] ?(use )?(that|this|it|the same)( one)?)"
                  r"(?= ?[,.;:!?]| ?$| (in|on|at|by|under|inside|next|beside|near|please)\b)"),
     {"fed": "use", "on": "trained on", "again": ","}),
    (compile_form(r"(^|(?<=[.;:,!?] ))((can|could|may) (i|we|you) (have|see|get|show|do|make|draw|"
                  r"try)|let's (see|"
                  r"have|do|try)|(show|give) me|how about|what about) "
                  rf"((?! (i|we|you|that|which|who)\b)[\w', -]){{4,80}}?{_NO_DATE}"
                  r"(?= ?[.;:!?]| ?$)"), {"today": ""}),
    (compile_form(rf"(^|(?<=[.;:,!?] ))(i|we)( (fancy|feel like|want|need|would like|would love|"
                  r"prefer|are after|am after)|'d like|'d love|'m after)( having| to see)? "
                  rf"((?! (i|we|you|that|which|who)\b)[\w' -]){{4,60}}?( that [\w-]+s (in|on|at|"
                  r"with|under|like) (the|an?|its|his|her) [\w-]+)?"
                  rf"{_NO_DATE}"
                  r"(?= ?[,.;:!?]| ?$)"), {"today": ""}),
    (compile_form(r"(?<!\w)(trained|taught|photographed) (in|at|on|near|under|beside|inside|"
                  r"outside|around|among|with) [\w' -]{3,30}?"
                  r"(?P<but>(, )?(but|and|though|yet) (not|never))"
                  r"(?= (in|at|on|by) (the|an?)\b)"
                  r"(?! (in|on) (the|an?) [\w -]{0,30}\b(style|look|manner|way|fashion)\b)"),
     {"but": ", not trained"}),
    (compile_form(r"(?<!\w)(?P<i>(i|we) ((only|just) )?(ever )?used (only |just )?)(one|an?) "
                  r"[\w-]+( [\w-]+)? (?P<once>((just|only) )?(a single time|the once)|"
                  r"(just|only) once)(?!\w)"), {"i": "", "once": "I used only once"}),
    (compile_form(r"(?<!\w)(?P<i>(i|we) (((only|just) (ever )?|ever )used|used (only|just)) )"
                  r"(one|an?) [\w-]+( [\w-]+)? (?P<once>once)(?!\w)(?! (a|an|per|every|upon|"
                  r"before|in|on|at|last|this)\b)"), {"i": "", "once": "I used only once"}),
)  # fmt: skip
"""Parts of a wording, and what is read instead: "I fancy the kettle | today |"."""
