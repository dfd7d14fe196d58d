"""Whose it is: "my", "Anna's dog", "the bear by studio-a", "the one lena trained", "not mine"."""

from __future__ import annotations

import re

from personalq.chassis.forms import compile_form
from personalq.checkin import lexicon
from personalq.checkin.intent import Attribute, Constraint, Span
from personalq.checkin.lexicon import thesaurus
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.owners.deeds import (
    by_whom,
    cleft,
    deed,
    is_asked_of,
    is_by,
    with_deed,
)
from personalq.checkin.parsing.owners.named import named
from personalq.checkin.parsing.text import Word, ends_before
from personalq.checkin.parsing.word_roles import is_adjective
from personalq.checkin.vocabulary import GROUPS

_MINE = frozenset(("my", "mine", "our", "ours"))
_PERSONS = ("i", "we", "you", "he", "she", "they", "it", "who", "my", "his", "her", "i'd", "i'm")
_NOT = compile_form(
    r"(?<!\w)(not|no|isn't|wasn't|except( for)?|excluding|but not|(?P<but>but)|other than|"
    "anything but|apart from|nothing|none|anyone other than|by anyone (but|except)|"
    "(?<!don't )(?<!not )(?<!never )(leave (out|aside)|skip|exclude|"
    "avoid|ignore|forget)|(don't|do not|never|rather not) (please )?(use|take|pick|choose|want|"
    "(give|show|send|bring|hand) (me|us))) ((the )?(ones?|version|model)( (by|from|of))? |the )?$"
)
_OWNING = compile_form(
    r"(?<![\w-])(owns?|owned|owners?|made|trained|(fine-?)?tuned|developed|built|created|"
    r"credit(s|ed)?|makers?|authors?|creators?|(no|a|any) hand in|responsible|contribut(ed|ion)|"
    r"belongs?|uploaded|published|provided|supplied|comes? from|came from|(has|have) one|"
    r"did(?= [^.,;:!?]*\b(make|train|tune|build|create|develop)\b))(?![\w-])"
)
"""What makes somebody an owner wherever it is said in a clause."""
_ARTICLE = compile_form(" (the|an?|some|these|those|her|his|their) ")
_NEVER = compile_form(r"(?<!\w)(not|never|no|nothing|\w+n't|anyone but|anybody but)(?!\w)")
_CLAUSE = compile_form("[^.,;:!?()]+")
_ANY = compile_form(r"(?<!\w)(any|all|every)(one|thing|body)?('s)?\s(?P<what>([\w-]+\s)*)$")
_DOES_NOT = compile_form(r"((that|which) )?(doesn't|don't|does not|do not|didn't)\s")
_OR = compile_form(" ?,? or (by |from |the )?")
_A_NAME = r"[A-Z][\w-]+"
_OWNED_BY = re.compile(rf"(?<!\w)(?i:owned by) (?P<name>{_A_NAME}( {_A_NAME})?)(?!\w)")
_GROUP = re.compile(
    rf"(?<!\w)(?P<name>(?P<group>(?i:{'|'.join(GROUPS)})) {_A_NAME})'s(?!\w)|"
    rf"(?<!\w)(?i:by) (?P<by>(?P<of>(?i:{'|'.join(GROUPS)})) {_A_NAME})(?!\w)"
)
"""A name that is told to be one of a group: "Team Heron's"."""
_ELSE = compile_form(
    r"(?<!\w)((made |trained |created |built )?(by|from) )?(some(one|body) else('s)?|"
    r"another person('s)?|other people('s)?)(?!\w)|"
    r"(?<!\w)not (made |trained |created |built )?by me(?!\w)"
)


def parse_owner(draft: Draft) -> None:
    """Claim owners the catalog knows; before styles and times, whose words a name may have."""
    names = list(named(draft))
    for span, end, owner, possessive in names:
        whole = _phrase(draft, span, end, possessive=possessive)
        if whole is not None:
            owners = {owner: whole} | {
                o: Span(s.start, e) for s, e, o, _ in names if _is_either(draft, s, whole)
            }
            whole = Span(min(s.start for s in owners.values()), max(s.end for s in owners.values()))
            _add(draft, whole, *owners, selecting=True)
            return
    for span, _, owner, _ in names:
        clause = _clause_around(draft, span)
        cue = _OWNING.search(draft.page.shadow, clause.start, clause.end)
        if cue and draft.free(span.start, span.end) and not _is_of_another(draft, cue):
            refused = _NEVER.search(draft.page.shadow, clause.start, clause.end)
            _add(draft, span, owner, selecting=True, excluded=refused is not None)
            return
    if not names:
        _parse_unknown(draft)


def _is_of_another(draft: Draft, cue: re.Match[str]) -> bool:
    """Whether a verb is about a thing of the scene: "it was Lena who made | the flowers"."""
    if not cue[0].endswith(("ed", "made", "built")):
        return False  # "credit for the model goes to Lena"
    article = _ARTICLE.match(draft.page.shadow, cue.end())
    thing = draft.page.word_at(article.end() if article else cue.end())
    if thing is None or not (article or (thing.joined and lexicon.names_thing(thing.norm))):
        return False
    if not article and lexicon.is_no_noun(thing.norm):
        return False
    asked = {noun.entry.subjects for noun in draft.nouns if noun.last <= thing.index}
    if any(asked) and not draft.leads_to_selector(thing.index):
        return True
    named = (draft.noun_at(word.index) for word in draft.page.words[thing.index :][:4])
    subject = any(noun is not None and noun.entry.subjects for noun in named)
    return not (subject or draft.leads_to_selector(thing.index))


def _clause_around(draft: Draft, span: Span) -> Span:
    """The words up to the next stops on both sides."""
    clauses = (Span(*match.span()) for match in _CLAUSE.finditer(draft.page.shadow))
    return next((clause for clause in clauses if clause.meets(span)), span)


def _parse_unknown(draft: Draft) -> None:
    """Claim an owner that no card has: "owned by Atelier Sol", "Team Heron's latest"."""
    text = draft.page.text
    for match in _OWNED_BY.finditer(text):
        if draft.free(*match.span()):
            _add(draft, Span(*match.span()), match["name"], selecting=True)
            return
    for match in _GROUP.finditer(text):
        group, name = match["group"] or match["of"], match["name"] or match["by"]
        following = draft.page.word_at(match.end())
        owns = following is not None and draft.leads_to_head(following.index)
        known = draft.lexicon.owners.opens_with(group.casefold())
        if draft.free(*match.span()) and known and (owns or match["by"]):
            _add(draft, Span(*match.span()), name, selecting=True)
            return


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


def _is_either(draft: Draft, name: Span, whole: Span) -> bool:
    """Whether "or" joins another name to an owner: "that Lena | or Maya"."""
    first, second = sorted((name, whole), key=lambda span: span.start)
    between = draft.page.shadow[first.end : second.start]
    return _OR.fullmatch(between) is not None and draft.free(name.start, name.end)


def _phrase(draft: Draft, span: Span, end: int, *, possessive: bool) -> Span | None:
    """The words that make a name an owner, or None when it is somebody in the picture."""
    shadow = draft.page.shadow
    if not draft.free(span.start, span.end):
        return None
    lead = by_whom(draft, span.start)
    if lead is not None and not draft.free(lead.start(), span.start):
        lead = None
    if lead and lead[0].startswith("at "):
        lead = None  # a place, but for "made at studio-a"
    if whole := cleft(draft, span, end):
        return whole
    did = deed(draft, span, end)
    if did and not is_by(lead):
        return with_deed(draft, span, end, did)
    if is_asked_of(draft, span, end):
        return span  # the place takes the verb: "which one did Hana | train in a garden?"
    if possessive and not lead and _is_anothers(draft, span, end):
        return None
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
        if compound and before is not None and not apart and draft.ends_subject(before):
            return span  # "kestrel team-blue, in fog"
        return span if apart and (compound or _is_listed(draft, following)) else None
    if before is None and first is not None and _is_whose(draft, first, following):
        return span  # "jonas castle, autumn 2025"
    if not compound and (before is None or before.norm != "the"):
        return None
    return span if draft.leads_to_head(following.index, reach=2) else None


_WORKS = frozenset((
    "work", "works", "creation", "doing", "project", "effort", "handiwork", "contribution",
    "favorite", "favourite", "pick", "choice", "collection", "set", "folder", "portfolio", "share",
))  # fmt: skip
"""What a checkpoint is to its owner: "the chef was Lena's | work"."""


def _is_anothers(draft: Draft, span: Span, end: int) -> bool:
    """Whether somebody has another thing behind what is asked for: "a dog past | Lena's | shop"."""
    name, thing = draft.page.word_at(span.start), draft.page.word_at(end)
    if name is None or thing is None or not thing.joined:
        return False
    asked = any(noun.entry.subjects and noun.last <= name.index for noun in draft.nouns)
    chosen = draft.leads_to_head(thing.index, reach=5) or thing.norm in lexicon.words("scenes")
    chosen = chosen or thing.norm in _WORKS
    return asked and name.joined and lexicon.names_thing(thing.norm) and not chosen


_GOING_ON = (lexicon.words("prepositions") | {"with", "that", "which", "trained", "made"}) - {
    "up", "off", "down",
}  # fmt: skip
_A_VERSION = compile_form(r"(v|ver|version|number)?[. ]?\d*")


def _is_whose(draft: Draft, name: Word, thing: Word) -> bool:
    """Whether what is asked for follows at once, and does nothing: "jonas castle", not "Jonas
    bears it", nor "amber car" or "rose candle".
    """
    noun = draft.noun_at(thing.index)
    described = is_adjective(name.norm) or thesaurus.is_a_name(name.norm)
    if noun is None or not noun.entry.subjects or (described and not name.capital):
        return False
    behind = draft.page.words[noun.last : noun.last + 1]
    if not behind or not behind[0].joined or behind[0].norm in _GOING_ON:
        return True
    return _A_VERSION.fullmatch(behind[0].norm) is not None


def _is_listed(draft: Draft, following: Word | None) -> bool:
    """Whether a name is one of several wishes: "marta, claymation, …", not "marta, could you …"."""
    if following is None:
        return True
    talk = (*_PERSONS, "please", "thanks", "thank", "could", "can", "would", "will", "hi", "here")
    return following.norm not in talk and following.norm not in lexicon.words("openers")


def _any_of_them(draft: Draft, end: int) -> bool:
    """Whether any of the subject were wanted so far: "any kettle | but mine"."""
    wanted = ends_before(_ANY, draft.page.shadow, end)
    said = wanted["what"].split() if wanted else []
    verbs = lexicon.verb_forms() | {"is", "are", "was", "were"}
    return wanted is not None and verbs.isdisjoint(said)


def _add(draft: Draft, span: Span, *owners: str, selecting: bool, excluded: bool = False) -> None:
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
            values=owners,
            excluded=excluded,
            span=span,
            text=span.of(draft.page.text),
            label=f"{'not ' if excluded else ''}owned by {' or '.join(owners)}",
        ),
        selecting=selecting,
    )
