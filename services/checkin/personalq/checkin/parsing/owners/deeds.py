"""What somebody did with what is asked for: "the one Lena trained", "Lena has a kettle"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise, takewhile

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Span
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.orders.words import ENDS, MADE
from personalq.checkin.parsing.text import Word, ends_before

_DONE = (
    "(made|trained|created|owned|built|uploaded|authored|published|contributed|tuned|fine-?tuned|"
    "finished|produced|did|put together|added|shared|held|kept|maintained|managed|crafted|designed|"
    "delivered|contributed|submitted|supplied|painted|drew|sketched|gave (us|me)|sent (us|me)|"
    "provided|photographed|released|modell?ed|"
    r"put in(?= ?($|[.,;:!?)])| (for|goes|as)\b))"
)
_BY = compile_form(
    rf"(?<!\w)(((that|which) (is|was|were|are) )?{_DONE} )?(by|from|of|at|"
    "((that|which) )?((doesn't|don't|does not|do not|didn't) )?belong(s|ing)? to|owned by|"
    r"(is |was )?(registered|filed|listed) (to|under)|((the )?|(is|was) )property of|"
    r"credited to|courtesy of|(?<=[,(]\s)owner( is|:)?|"
    r"(?<=\()owner:?|(whose|the|its) (owner|maker|author) (is|was)) (the |user )?$"
)
_ACTS = compile_form(
    rf" (has |had )?((also|originally|recently|just|only|ever|once) )*({_DONE}|owns?)(?!\w)|"
    r" (looks after|takes care of|(is|was) (in charge of|responsible for))(?!\w)(?! (an?|the|my|"
    r"our|his|her|their|some)\s)|"
    " is ((noted|listed|named|given|down|recorded|registered) as )?((the|its|his|her) )?"
    r"(owner|maker|author|creator)( there)?(?!\w)|"
    " (is|was) the (one|person|people|team) (who|that) "
    r"(owns?|made|trained|built)(?!\w)| calls? (its|their|his|her) own(?!\w)|"
    r" name is on(?!\w)| possession(?= ?($|[.,;:!?]))| as (its|the|their) "
    r"(owner|maker|author|creator)(?!\w)|"
    " (ha[sd]|have|holds?|registered|keeps?)(?= (an?|one|two|three|some|several|many|only|exactly|"
    r"just)\s| (?!(the|her|his|its|their|my|our)\s)[\w-]+( [\w-]+){0,3} ?[.!?;])"
)
_HAS_AS = compile_form(r"(?<!\w)((that|which|who) )?(has|have|having|with|lists|names|in) $")
"""Before whom it has "as its owner", or in whose possession it is."""
_IT_WAS = compile_form(r"(?<!\w)(it was|it is|it's) $")
_WHO_DID = compile_form(
    f" (who|that) ({_DONE}|owns)( (it|them|that one))?"
    r"(?= ?($|[.,;:!?)])| (in|at|on|during|last|this)\s)"
)
_HAS = compile_form(r" (has|had|have|keeps)(?= ?($|[.,;:!?)]))")
"""Behind the owner of what was named: "that airplane studio-b | has"."""
_AS_OWNER = ("as ", "possession")
_HAVE = ("has", "had", "have", "holds", "hold", "registered", "keeps", "keep")
_MANY_OF = compile_form(r" (an? )?(\w+ )?(number|couple|lot|lots|handful|bunch|pair) of(?!\w)")
_TRAINING = compile_form(r"(?<!\w)(trained|fine-?tuned|tuned|did)(?!\w)")
_MAKING = compile_form(rf"(?<!\w)({MADE}|did)(?!\w)")
_TRAINED = compile_form("( (?P<did>train|tune|fine-?tune))? ")
_KEPT_THERE = compile_form(r"[^,.;!?]*\s(on|in|at|under|by|near|over|beside)\s")
"""Behind what somebody of the scene does: "Nina keeps | a parrot on her shoulder"."""
_DID = compile_form(r"(?<!\w)(which|what) ([\w-]+ ){1,3}did $")
_DO = compile_form(
    r" (train|make|build|create|tune|fine-?tune|upload|add|finish|produce|publish|register)(?!\w)"
)
_WOULD = compile_form(r"(?<!\w)(would|could|can|will) $")
_LEND = compile_form(
    " (lend|loan|share|give|send|hand) ((us|me|over|with us|with me) )*(their|his|her|its)\\s"
)
"""Around whose it is: "would | Lena | lend us her bear"."""
_IN_ORDER = compile_form(f" (the )?(last|first|latest|earliest|most (recently|lately)){ENDS}")
_MAKES = compile_form(rf"(?<!\w){MADE}$")
_THAT = compile_form(r"(?<!\w)(that|which) $")
_LOOKS = ("sketched", "painted")
"""What a thing looks like that is somebody's."""


def deed(draft: Draft, span: Span, end: int) -> re.Match[str] | None:
    """What somebody is said to have done with the subject, or to have: "Lena has | a kettle"."""
    if (has := _HAS.match(draft.page.shadow, end)) and _is_named_before(draft, span.start):
        return has
    found = _ACTS.match(draft.page.shadow, end)
    if found is not None and found[0].strip() in _LOOKS and draft.page.shadow[:end].endswith("'s"):
        return None  # "Lena's sketched bear"
    if found is None or found[0].strip() not in _HAVE:
        return found
    kept = _KEPT_THERE.match(draft.page.shadow, found.end())
    there = kept is not None and found[0].strip() in ("keeps", "keep", "holds", "hold")
    return found if _has_it(draft, span, found.end()) and not there else None


def with_deed(draft: Draft, span: Span, end: int, found: re.Match[str]) -> Span:
    """The name and what they did: "that Lena trained", "Lena has a few"; but of "Lena | trained
    last" the name alone, since the verb is of the order.
    """
    shadow = draft.page.shadow
    made = _MAKES.search(found[0]) is not None
    if not draft.free(end, found.end()) or (made and _IN_ORDER.match(shadow, found.end())):
        return Span(span.start, end)
    lead = _HAS_AS if found[0].strip().startswith(_AS_OWNER) else _THAT
    that, many = ends_before(lead, shadow, span.start), _MANY_OF.match(shadow, found.end())
    return Span(that.start() if that else span.start, many.end() if many else found.end())


def cleft(draft: Draft, span: Span, end: int) -> Span | None:
    """The whole of "it was Lena who made it"."""
    shadow = draft.page.shadow
    lead, did = ends_before(_IT_WAS, shadow, span.start), _WHO_DID.match(shadow, end)
    free = lead is not None and did is not None and draft.free(lead.start(), did.end())
    return Span(lead.start(), did.end()) if lead and did and free else None


def is_asked_of(draft: Draft, span: Span, end: int) -> bool:
    """Whether a question is about what they did, or have: "which one did | Lena | train in a
    garden?", "could | Lena | lend us her bear?".
    """
    shadow = draft.page.shadow
    for before, behind in ((_DID, _DO), (_WOULD, _LEND)):
        asked, done = ends_before(before, shadow, span.start), behind.match(shadow, end)
        if asked and done and draft.free(asked.start(), done.end()):
            return True
    return False


def by_whom(draft: Draft, start: int) -> re.Match[str] | None:
    """What leads to who made it: "trained by | Lena", "that belongs to | Lena"."""
    return ends_before(_BY, draft.page.shadow, start)


def is_by(lead: re.Match[str] | None) -> bool:
    """Whether "by" itself leads to a name."""
    return lead is not None and re.search(r"\bby\s", lead[0]) is not None


def is_owners(lead: re.Match[str] | None) -> bool:
    """Whether an owner must follow, not a place nor what something is of: "property of"."""
    return lead is not None and lead[0].strip() not in ("from", "of", "at")


def trains(draft: Draft, start: int, *, made: bool = False) -> bool:
    """Whether somebody's training is told right before: "the one Lena trained | in spring".

    Args:
        made: any verb of making will do: "the one Lena created | on Halloween".
    """
    shadow = draft.page.shadow
    done = _MAKING if made else _TRAINING
    return any(
        c.attribute is Attribute.OWNER
        and c.span is not None
        and (verb := _TRAINED.fullmatch(shadow, c.span.end, start)) is not None
        and (verb["did"] or done.search(c.span.of(shadow)) is not None)
        for c in draft.constraints
    )


def _is_named_before(draft: Draft, start: int) -> bool:
    """Whether what is asked for stands before somebody: "that airplane (that) | studio-b has".

    A thing of the scene is theirs alone: "the frog on the bed | Lena has".
    """
    before = draft.page.word_before(start)
    if before is not None and before.norm == "the" and before.index:
        before = draft.page.words[before.index - 1]
    if before is not None and before.norm in ("that", "which") and before.index:
        before = draft.page.words[before.index - 1]
    first = next((noun for noun in draft.nouns if noun.entry.subjects), None)
    if before is not None and draft.answering and before.norm in lexicon.words("selectors"):
        return True  # "the one Lena has"
    if before is None or first is None or first.last - 1 != before.index:
        return False
    lead = draft.page.words[: first.first]
    determiners = lexicon.words("determiners")
    acting = (
        one.norm.endswith("ing") and other.norm in determiners for one, other in pairwise(lead)
    )
    return not any(word.norm in lexicon.words("prepositions") for word in lead) and not any(acting)


def _has_it(draft: Draft, span: Span, end: int) -> bool:
    """Whether somebody is said to have the subject: "Oskar has a cake", but not "a party"."""
    if many := _MANY_OF.match(draft.page.shadow, end):
        end = many.end()
    before, following = draft.page.word_before(span.start), draft.page.word_at(end)
    article = before is not None and before.norm in ("the", "a", "an")
    if following is None or (article and span.of(draft.page.shadow).isalnum()):
        return False
    scene = lexicon.words("prepositions") | lexicon.words("links")
    behind = _joined(draft.page.words[following.index : following.index + 5])
    phrase = {w.index for w in takewhile(lambda w: w.norm not in scene, behind[1:])}
    phrase.add(following.index)
    return any(noun.entry.subjects and noun.first in phrase for noun in draft.nouns)


def _joined(words: Sequence[Word]) -> Sequence[Word]:
    """The words up to the first comma among them."""
    ends = (place for place, word in enumerate(words) if place and not word.joined)
    return words[: next(ends, len(words))]
