"""Looks told without a name: "drawn like the funnies", "the one like a page from a notebook".

Only words that speak of how a picture was made, or what it is like as a whole, lead to one; what
look is meant is told by meaning (`finding.by_meaning`).
"""

from __future__ import annotations

from personalq.chassis.forms import compile_form, form
from personalq.checkin.intent import Attribute, Constraint, Span
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.styles.leads import NEGATION
from personalq.checkin.parsing.text import ends_before

_DRAWN = "(drawn|sketched|rendered|illustrated|depicted|animated)"
_MADE = (
    "(drawn|painted|sketched|printed|snipped|scissored|folded|moulded|molded|sculpted|etched|"
    "stamped|glued|pieced|carved|cut|stitched|sewn)"
)
_OUT_OF = "(straight|right|fresh) (out of|from|off)"
_LIKE = "(like|as if|as though|as in|(in the|the) (style|manner|way) of)"
_IT = r"(?! (it|he|she|they|you|we|i|this|that)\b)"
_ONE = "|".join(rf"(?<=\b{each} )" for each in ("one", "model", "version", "checkpoint"))
_PIECES = "(squares|pixels|blocks|cubes|dots|bricks|triangles|polygons)"
_TOLD = compile_form(
    r"(?<!\w)("
    + form(
        "(in|with|has|having) (the|a) (look|style|feel|manner|spirit|aesthetic|finish) of",
        r"(in|with|has|having) (the|an?) (?=([\w-]+ ){1,4}(look|style|finish|aesthetic)(?!\w))",
        f"{_DRAWN} {_LIKE}{_IT}",
    )
    + "|(?P<how>"
    + form(
        "((that|which) (look|appear|seem)s?|looks|looking|appears|seems) "
        f"((like|as if|as though){_IT}|{_OUT_OF}|(like it was )?{_MADE})",
        f"({_ONE})((like|as in){_IT}|{_OUT_OF})",
        rf"(made|built|put together)( up)? (of|from|out of)(?= (\w+ )?{_PIECES}\b)",
        f"(made|done|built|{_MADE}) {_LIKE}{_IT}",
        "done (with|in)",
        "(drawn|painted|sketched|printed|folded|moulded|molded|sculpted|etched|stamped|glued|"
        "pieced|snipped)( up)? (with|from|out of|of)",
        r"cut (from|out of)(?= (\w+ )?(paper|card|cardboard)\b)",
        "(that |which )?(could|might|can) (pass for|(be|have been) by)",
        "(that |which )?you (could|might|can) mistake for",
        "as if it were",
    )
    + r"))(?= \w)"
)
_ENDS = compile_form(
    r"[,.;:!?()]|\s[-–—]\s|"
    r"\s(and|but|or) (that|which|with|not|is|was|isn't|older|newer|the|trained|made|has|had|from|"
    r"no)\b|\s(please|not|but|trained|with an?|with the|on an?|on the|in front)\b|$"
)
_SHORTEST, _LONGEST = 2, 12
"""Words of what is told."""


def parse_told_style(draft: Draft) -> None:
    """Add what is told of a look and nothing has claimed; it constrains nothing by itself."""
    shadow, text = draft.page.shadow, draft.page.text
    for match in _TOLD.finditer(shadow):
        end = _ENDS.search(shadow, match.end() + 1)
        span = Span(match.start(), end.start() if end else len(shadow))
        said = span.of(text)
        if match[0].endswith(" by") and not text[match.end() + 1].isupper():
            continue  # "could be by the lake"
        if not _SHORTEST <= len(said.split()) <= _LONGEST or not draft.free(span.start, span.end):
            continue
        draft.constraints.append(
            Constraint(
                attribute=Attribute.STYLE,
                excluded=ends_before(NEGATION, shadow, span.start) is not None,
                hard=False,
                coarse=match["how"] is not None,
                said=(said,),
                span=span,
                text=said,
                label=said,
            )
        )
