"""Whose it is: "my", "Anna's dog", "the bear by studio-a", "the one lena trained", "not mine"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Constraint, Span
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.orders.words import NOT_A_TIME
from personalq.checkin.parsing.text import Word, ends_before

_MINE = frozenset(("my", "mine", "our", "ours"))
_DONE = (
    "(made|trained|created|owned|built|uploaded|authored|published|contributed|tuned|fine-?tuned|"
    "finished|produced|did|put together|added|shared|held|kept|maintained|managed)"
)
_BY = compile_form(
    rf"(?<!\w)(((that|which) (is|was|were|are) )?{_DONE} )?(by|from|of|at|"
    "((that|which) )?((doesn't|don't|does not|do not|didn't) )?belong(s|ing)? to|owned by|"
    r"(is |was )?registered (to|under)|credited to|courtesy of|(?<=[,(]\s)owner( is|:)?|"
    r"(?<=\()owner:?|(whose|the|its) (owner|maker|author) (is|was)) (the |user )?$"
)
_ACTS = compile_form(
    rf" (has |had )?((also|originally|recently|just|only|ever|once) )*({_DONE}|owns)(?!\w)|"
    r" (looks after|takes care of|(is|was) (in charge of|responsible for))(?!\w)(?! (an?|the|my|"
    r"our|his|her|their|some)\s)| is (the|its|his|her) (owner|maker|author)(?!\w)|"
    " (ha[sd]|holds|registered|keeps)(?= (an?|one|two|three|some|several|many|only|exactly|"
    r"just)\s| (?!(the|her|his|its|their|my|our)\s)[\w-]+( [\w-]+){0,3} ?[.!?;])"
)
_IT_WAS = compile_form(r"(?<!\w)(it was|it is|it's) $")
_WHO_DID = compile_form(rf" (who|that) ({_DONE}|owns)( (it|them|that one))?(?!\w)")
_HAS = compile_form(r" (has|had|have)(?= ?($|[.,;:!?)]))")
"""Behind the owner of what was named: "that airplane studio-b | has"."""
_HAVE = ("has", "had", "holds", "registered", "keeps")
_MANY_OF = compile_form(r" (an? )?(\w+ )?(number|couple|lot|lots|handful|bunch|pair) of(?!\w)")
_TRAINING = compile_form(r"(?<!\w)(trained|fine-?tuned|tuned|did)(?!\w)")
_TRAINED = compile_form("( (?P<did>train|tune|fine-?tune))? ")
_PEOPLE = ("crew", "team", "group", "people", "folks", "guys", "department", "lot", "squad")
_PERSONS = ("i", "we", "you", "he", "she", "they", "it", "who", "my", "his", "her", "i'd", "i'm")
_KEPT_THERE = compile_form(r"[^,.;!?]*\s(on|in|at|under|by|near|over|beside)\s")
"""Behind what somebody of the scene does: "Nina keeps | a parrot on her shoulder"."""
_DID = compile_form(r"(?<!\w)(which|what) ([\w-]+ ){1,3}did $")
_DO = compile_form(
    r" (train|make|build|create|tune|fine-?tune|upload|add|finish|produce|publish|register)(?!\w)"
)
_IN_ORDER = compile_form(
    rf" (the )?(last|first|latest|earliest|most (recently|lately)){NOT_A_TIME}(?!\w)"
)
_THAT = compile_form(r"(?<!\w)(that|which) $")
_NOT = compile_form(
    r"(?<!\w)(not|no|isn't|wasn't|except( for)?|excluding|but not|(?P<but>but)|other than|"
    "anything but|apart from) ((the )?(ones?|version|model) )?$"
)
_ANY = compile_form(r"(?<!\w)(any|all|every)(one|thing|body)?('s)?\s(?P<what>([\w-]+\s)*)$")
_IS = compile_form(r"(?<!\w)(is|are|was|were|be) $")
_DOES_NOT = compile_form(r"((that|which) )?(doesn't|don't|does not|do not|didn't)\s")
_ELSE = compile_form(
    r"(?<!\w)((made |trained |created |built )?(by|from) )?(some(one|body) else('s)?|"
    r"another person('s)?|other people('s)?)(?!\w)|"
    r"(?<!\w)not (made |trained |created |built )?by me(?!\w)"
)
_NAME = compile_form(r"(?<![\w.])\w+([._-]\w+)+(?![\w])")


def parse_owner(draft: Draft) -> None:
    """Claim owners the catalog knows; before styles and times, whose words a name may have."""
    for span, end, owner, possessive in _named(draft):
        whole = _phrase(draft, span, end, possessive=possessive)
        if whole is not None:
            _add(draft, whole, owner, selecting=True)
            return


def trains(draft: Draft, start: int) -> bool:
    """Whether somebody's training is told right before: "the one Lena trained | in spring"."""
    shadow = draft.page.shadow
    return any(
        c.attribute is Attribute.OWNER
        and c.span is not None
        and (verb := _TRAINED.fullmatch(shadow, c.span.end, start)) is not None
        and (verb["did"] or _TRAINING.search(c.span.of(shadow)) is not None)
        for c in draft.constraints
    )


def parse_mine(draft: Draft) -> None:
    """Claim "my" and "someone else's", which count only when the request says who asks."""
    mine = draft.context.owner
    if not mine or any(c.attribute is Attribute.OWNER for c in draft.constraints):
        return
    if match := _ELSE.search(draft.page.shadow):
        if draft.free(match.start(), match.end()):
            _add(draft, Span(match.start(), match.end()), mine, selecting=True, excluded=True)
        return
    for word in draft.page.words:
        if word.norm in _MINE and draft.is_free(word):
            _add(draft, word.span, mine, selecting=False)
            return


def _named(draft: Draft) -> Iterator[tuple[Span, int, str, bool]]:
    """(name, end with a possessive ending, owner, possessive) of every owner spelled out."""
    shadow, owners = draft.page.shadow, draft.lexicon.owners
    for match in _NAME.finditer(shadow):
        owner = owners.get(re.sub(r"[._-]", " ", match[0]))
        if owner is not None:
            possessive = shadow.startswith(("'s", "' "), match.end())
            end = match.end() + 2 * shadow.startswith("'s", match.end())
            yield Span(match.start(), match.end()), end, owner, possessive
    for first, last, owner in owners.find(draft.page.words):
        word = _with_people(draft, draft.page.words[last - 1])
        yield Span(draft.page.words[first].start, word.end), word.full_end, owner, word.possessive
    for first, last, owner in draft.lexicon.nicknames.find(draft.page.words):
        word = draft.page.words[last - 1]
        bare = word.norm.endswith("s") and draft.lexicon.nicknames.get(word.norm[:-1]) == owner
        if _is_theirs(draft, draft.span_of(first, last), word, bare=bare):
            yield draft.span_of(first, last), word.full_end, owner, True


def _with_people(draft: Draft, name: Word) -> Word:
    """The last word of a name: "the packaging | crew's"."""
    following = draft.page.words[name.index + 1 : name.index + 2]
    people = bool(following) and following[0].joined and following[0].norm in _PEOPLE
    before = draft.page.words[name.index - 1].norm if name.index else ""
    told = people and (before == "the" or following[0].possessive)
    return following[0] if told and not name.possessive else name


def _is_theirs(draft: Draft, span: Span, word: Word, *, bare: bool) -> bool:
    """Whether something is said to be theirs who go by a nickname, and to be what is asked for."""
    shadow = draft.page.shadow
    if ends_before(_DID, shadow, span.start) and _DO.match(shadow, word.full_end):
        return True
    if any(noun.entry.subjects and noun.last <= word.index for noun in draft.nouns):
        by = ends_before(_BY, shadow, span.start)
        theirs = word.possessive and _IS.search(shadow, 0, span.start) is not None
        ends = draft.page.word_at(word.full_end)
        theirs = theirs and (ends is None or not ends.joined)
        return theirs or (by is not None and re.search(r"\bby\s", by[0]) is not None)
    acts = _acts(draft, span, word.full_end)
    if acts is not None and acts[0].strip() in _HAVE:
        return True
    following = draft.page.words[word.index + 1 : word.index + 2]
    owns = word.possessive or bare
    return owns and bool(following) and draft.leads_to_head(following[0].index, reach=4)


def _phrase(draft: Draft, span: Span, end: int, *, possessive: bool) -> Span | None:
    """The words that make a name an owner, or None when it is somebody in the picture."""
    shadow = draft.page.shadow
    if not draft.free(span.start, span.end):
        return None
    lead = ends_before(_BY, shadow, span.start)
    if lead is not None and not draft.free(lead.start(), span.start):
        lead = None
    if lead and lead[0].startswith("at "):
        lead = None  # a place, but for "made at studio-a"
    cleft, who = ends_before(_IT_WAS, shadow, span.start), _WHO_DID.match(shadow, end)
    if cleft and who and draft.free(cleft.start(), who.end()):
        return Span(cleft.start(), who.end())
    acts = _acts(draft, span, end)
    if acts and not (lead and re.search(r"\bby\s", lead[0])):
        that = ends_before(_THAT, shadow, span.start)
        many = _MANY_OF.match(shadow, acts.end())
        if draft.free(end, acts.end()) and not _IN_ORDER.match(shadow, acts.end()):
            stop = many.end() if many else acts.end()
            return Span(that.start() if that else span.start, stop)
        return Span(span.start, end)  # "lena trained | last": the verb is of the order
    asked, done = ends_before(_DID, shadow, span.start), _DO.match(shadow, end)
    if asked and done and draft.free(asked.start(), done.end()):
        return span  # "which one did Hana train in a garden?": the place takes the verb
    if possessive or lead:
        return Span(lead.start() if lead else span.start, end)
    following = draft.page.word_at(end)
    inside = shadow[span.start - 1 : span.start] == "(" and shadow[end : end + 1] == ")"
    alone = draft.answering and (following is None or not following.joined)
    if inside or alone:
        return span
    before = draft.page.word_before(span.start)
    compound = not span.of(shadow).isalnum()  # "kestrel-team coupe": nothing else is called so
    first = draft.page.word_at(span.start)
    if following is None or not following.joined:
        apart = first is not None and not first.joined
        return span if apart and (compound or _is_listed(draft, following)) else None
    if not compound and (before is None or before.norm != "the"):
        return None
    return span if draft.leads_to_head(following.index, reach=2) else None


def _acts(draft: Draft, span: Span, end: int) -> re.Match[str] | None:
    """What somebody is said to have done with the subject, or to have: "Lena has | a kettle"."""
    if (has := _HAS.match(draft.page.shadow, end)) and _is_named_before(draft, span.start):
        return has
    acts = _ACTS.match(draft.page.shadow, end)
    if acts is None or acts[0].strip() not in _HAVE:
        return acts
    kept = _KEPT_THERE.match(draft.page.shadow, acts.end())
    there = kept is not None and acts[0].strip() in ("keeps", "holds")
    return acts if _has_it(draft, span, acts.end()) and not there else None


def _is_named_before(draft: Draft, start: int) -> bool:
    """Whether the subject stands before somebody: "that airplane (that) | studio-b has"."""
    before = draft.page.word_before(start)
    if before is not None and before.norm in ("that", "which") and before.index:
        before = draft.page.words[before.index - 1]
    ends = [noun.last - 1 for noun in draft.nouns if noun.entry.subjects]
    return before is not None and before.index in ends


def _is_listed(draft: Draft, following: Word | None) -> bool:
    """Whether a name is one of several wishes: "marta, claymation, …", not "marta, could you …"."""
    if following is None:
        return True
    talk = (*_PERSONS, "please", "thanks", "thank", "could", "can", "would", "will", "hi", "here")
    return following.norm not in talk and following.norm not in lexicon.words("openers")


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


def _any_of_them(draft: Draft, end: int) -> bool:
    """Whether any of the subject were wanted so far: "any kettle | but mine"."""
    wanted = ends_before(_ANY, draft.page.shadow, end)
    said = wanted["what"].split() if wanted else []
    verbs = lexicon.verb_forms() | {"is", "are", "was", "were"}
    return wanted is not None and verbs.isdisjoint(said)


def _add(draft: Draft, span: Span, owner: str, *, selecting: bool, excluded: bool = False) -> None:
    if _DOES_NOT.match(span.of(draft.page.shadow)):
        excluded = True
    negation = ends_before(_NOT, draft.page.shadow, span.start)
    if negation and negation["but"] and not _any_of_them(draft, negation.start()):
        negation = None
    if negation and draft.free(negation.start(), span.start):
        span, excluded, selecting = Span(negation.start(), span.end), True, True
    draft.add(
        Constraint(
            attribute=Attribute.OWNER,
            values=(owner,),
            excluded=excluded,
            span=span,
            text=span.of(draft.page.text),
            label=f"{'not ' if excluded else ''}owned by {owner}",
        ),
        selecting=selecting,
    )
