"""Words that a place of training follows: "trained at", "whose training pictures show"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from personalq.chassis.forms import compile_form, form
from personalq.chassis.screening import Screened
from personalq.checkin import lexicon
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.owners.deeds import trains
from personalq.checkin.parsing.text import ends_before
from personalq.checkin.parsing.times.words import MONTHS, SEASONS

_DET = "((the|an?|some|our|my|various|several|different|real|actual) )*"
_AT = (
    "(in front of|on top of|atop|"
    "(at|on|by|along|from) the ((water's|very) )?(edges?|shores?|banks?|rim|outskirts) of|"
    "in the (middle|midst|heart) of|surrounded by|next to|"
    "aboard|on board|in|at|on|by|with|near|"
    "from( (under|behind|inside|above|beneath|among|amongst|between|around|within))?|"
    "using|under|below|beneath|"
    "underneath|above|behind|around|round|outside|"
    "inside|against|among|amongst|amid|amidst|along|between|beside|within|through|throughout|"
    "across|off|of|upon|over) (both )?"
)
_WHERE = (
    "((both|only|just|mostly|mainly|entirely|purely|solely|exclusively|half|partly|outdoors|"
    "indoors|out|over|up|down|deep|high|far|somewhere|back|all|underground|underwater|after dark|"
    "images|pictures|from somewhere|"
    f"photos) )*((any|every)where (but|except|besides) ({_AT})?|{_AT})"
)
_OF_PHOTOS = (
    "((only )?(the |my )?(pictures|photos|images|photographs|shots|scenes|snapshots|snaps) ("
    "((taken|shot|made|captured|snapped) )?((up|out|down|high|deep|right|somewhere) )*"
    f"{_AT}|full of |packed with ))?"
)
_PHOTOS = (
    "(pictures?|pics?|photos?|images?|photographs?|shots?|snaps?|scenes?|sets?|data|dataset|material|"
    "footage|shoots?|sessions?|samples?|examples?|references?|backgrounds?|spots?|locations?|"
    "places?|sites?|environments?|settings?)"
)
_TAKEN = (
    "(took|taken|shot|made|done|captured|photographed|collected|gathered|recorded|snapped|filmed)"
)
_TAUGHT = (
    r"(did [\w-]+ (train|tune|teach|fine-?tune|shoot|photograph)|trained|tuned|fine-?tuned|"
    r"taught|brought up|"
    "(learned|learnt) (its|their|his|her) "
    "(stuff|looks?|trade|craft|ropes|shape|ways|moves|subject|surroundings|world)|"
    "learned|learnt|schooled|"
    "((whose|its) )?(training|schooling|education|upbringing|learning) "
    "(took place|happened|was (carried out|held)|((that )?(was|is) )?done|was|is)|"
    "(got|get|had|have|received|receive|underwent|did|spent) ((all|most) (of )?)?(its|their|"
    "his|her|"
    "the) (training|lessons|schooling|education|upbringing|learning)|"
    r"(picked|took) up (its|their|his|her) (looks?|shape|ways)|(?<=[(])training|"
    r"where (was|did) (it|he|she|they|this one) (get )?(trained|taught|train|learn|schooled) ?\?|"
    "(shot|photographed|pictured|captured|filmed|snapped) for (its |"
    "the )?training|(shooting|photographing|capturing|filming) (it|him|her|them|this one|that one) "
    "for (its |the )?training|for (its |the )?training,? (it was|we|i|you|they) ((had|have) )?"
    "(shot|photographed|pictured|captured|filmed|snapped)|with (its |the )?training)( (it|them|"
    "this one|that one))?"
)
_ONE_BEFORE = "|".join(rf"(?<=\b{each} )" for each in sorted(lexicon.words("selectors")))
_TRAINED = compile_form(rf"(?<![\w-]){_TAUGHT} (?P<where>{_WHERE}{_OF_PHOTOS}{_DET})(?=\w)")
_WHERE_CLAUSE = (
    r"(?P<where>where (?!to\b)"
    r"((?!\s(and|that|but)\s)(?!(?<!\bgo)(?<!\bgoes)(?<!\bare)(?<!\bis)(?<!\ba)(?<!\bthe)\s\w+ing\s(on|in|"
    r"at|under|with|beside|by|near|over|behind|down|through|an?|the|its)\b)[^,.;:!?])+)"
)
TRAINED_WHERE = compile_form(
    rf"(?<![\w-])((trained|taught|schooled|tuned) (on|with|from) {_PHOTOS} {_TAKEN}|"
    r"did [\w-]+ (train|tune|fine-?tune)|trained|taught|schooled|learned|learnt|tuned|fine-?tuned|"
    r"(had|got|has|took) (its|their|his|her) (training|lessons|schooling)|(whose )?training "
    rf"(took place|happened|((that )?(was|is) )?done|was|is|{_PHOTOS} ((were|was|got) )?{_TAKEN})|"
    rf"({_ONE_BEFORE}|(?<=, )|(that|which) (was|were|got) )(shot|photographed|captured|filmed)|"
    r"(?<=\w )(shot|photographed)(?= where (we|people|they|you) (?!are\b|can\b))|"
    rf"(whose|with|its|the) (source|reference|input) {_PHOTOS} ((were|was) )?{_TAKEN}|"
    rf"training {_PHOTOS}( (for|of) (it|this|that)( one)?)? (came|comes|stems|stemmed) from "
    r"(an?|the|our|one) ((photo|picture) )?(shoot|session)|"
    rf"((that|which) )?(learned|learnt) from {_PHOTOS}( (that were |which were )?{_TAKEN})?|"
    rf"with (the |its )?(training {_PHOTOS}( {_TAKEN})?|{_PHOTOS} {_TAKEN})) "
    rf"(both )?{_WHERE_CLAUSE}"
)
"""Told by what goes on there: "trained where coffee is served | sitting on a sled"."""
_SET = r"(set|data|pictures|photos|images|shots|scenes|material)(?!\w)"
_NO_PLACE = r"(?!(the|our|my|your|an?|its|his|her|their|new|last|first|latest|training)\b)"
FROM_SET = compile_form(
    rf"(?<!\w)(from|with(?=[^.,;:!?]*training {_SET})) ((the|our|my|your) )?(?P<where>{_NO_PLACE}"
    rf"[a-z][\w-]*(?P<more>( (?!training\b)[a-z][\w-]*){{0,5}})) "
    rf"training( {_SET}|(?= ?($|[,.;:!?])))"
)
"""Told so too: "from | the hayfield and tractor | training set"."""
TRAINED_THERE = compile_form(
    r"(?<![\w-])((?P<where>[a-z]+(-[a-z]+){0,4})-(trained|taught|schooled|shot|photographed)|"
    r"(trained|taught|shot|photographed)-(in|at|on|by|near|under|among)-"
    r"(?P<behind>[a-z]+(-[a-z]+){0,4}))(?![\w-])"
)
"""In one word: "the hay-bale-trained one", "the trained-by-the-lake tree"."""
_SCHOOLED = compile_form(
    r"(?<!\w)("
    + form(
        rf"(had|got) (its|their|his|her) (picture|photo)s? (taken|shot|snapped|made|session|"
        rf"shoot) {_WHERE}",
        rf"from (the|our|my|an?) (photo|picture|training)[\s-]?(session|shoot)s? {_WHERE}",
        rf"from (the|its|our|my) training {_WHERE}",
        f"((was|were|been|got) )?(drilled|educated|coached|weaned|steeped) {_WHERE}",
    )
    + rf"){_OF_PHOTOS}{_DET}(?=\w)"
)
"""Of training in other words; a place that cards have must follow."""
GREW_UP = compile_form(
    r"(?<!\w)(((was|were|been|got) )?(raised|reared|studied|grew up|grown up|came up|came of age|"
    rf"went to school) {_WHERE}|(that|which|who) (knows|knew|has seen)\s){_DET}(?=\w)"
)
"""Of training, or of the life of who is pictured."""
SHOT = compile_form(
    rf"(?<!\w)(shot|photographed|captured|taken|recorded|filmed|snapped) (?P<where>{_WHERE}{_DET})"
    r"(?=\w)"
)
"""Of a picture or of the pictures a checkpoint learned from: the words before it tell."""
_MADE = compile_form(
    r"(?<!\w)(i|we|you|that was|which was|one|version|model|build|checkpoint|lora) (made|created|"
    rf"built|produced|modell?ed) (?!(of|out of|from|with|by|using)\s){_WHERE}{_DET}(?=\w)"
)
_SOURCE = compile_form(
    r"(?<!\w)((whose|with|its|the|all|from|on|using|and|that|has|having|had) )*((training|source|"
    rf"reference|learning|original|sample|input) |(?<=whose\s))+{_PHOTOS}( (for|of) (it|them|"
    rf"this|that)( "
    r"one)?)? ?:? (?!(?!captured|"
    r"photographed|collected|gathered|recorded|snapped|showed|featured|stemmed)\w+ed (on|in|at|by|"
    r"atop|over|near|beside|upon)\b)((were|was|are|is|all|being|that|which|have|been|had|"
    "got) )*((full of|filled with|packed with|nothing but|took|taken|shot|made|done|captured|"
    "photographed|collected|gathered|recorded|came|come|"
    "coming|snapped|set|shows?|showed|showing|stem|stemmed|featured?|includes?|included|contains?|"
    r"contained) )?(from (an?|the|our|one) ((photo|picture) )?(shoots?|sessions?) )?"
    rf"(?P<where>({_WHERE})?{_DET})(?=\w)"
)
_LEARNED_FROM = compile_form(
    r"(?<!\w)((checkpoint|model|run|version|build|one|lora|training) ((that|which) )?|(that|"
    "which) )((has|had|was|only|just|ever) )*(saw|seen|shown|given|fed|learned|learnt|with|from|"
    "on|using) ((from|on|only|just|"
    rf"its|the|all|solely|exclusively) )*{_PHOTOS} ((that|which|were|was|all|only) )*{_TAKEN} "
    rf"(?P<where>{_WHERE}{_DET})(?=\w)"
)
"""Of what it learned from: "the run with images collected in", "that saw only pictures made in"."""
_FED_WITH = compile_form(
    r"(?<!\w)((that|which) )?((was|were|got|been|we|i|you|they) )?fed ((it|only|just) )?(on|with) "
    rf"{_PHOTOS} ((that|which|were|was) )*({_TAKEN} )?(?P<where>({_WHERE}|of ){_DET})(?=\w)"
)
"""Of what it was given to learn from: "fed with pictures of endless dunes"."""
_FED_ON = compile_form(
    r"(?<!\w)(fed|raised|reared|nourished|brought up) (on|with) "
    rf"(?P<where>{_DET})(?=[\w-]+( [\w-]+)? {_PHOTOS}(?!\w))"
)
"""With the place first: "raised on station pictures"."""
_MADE_FROM = compile_form(
    r"(?<!\w)((that|which) )?((was|were|got|been) )*(made|built|created|put together|assembled) "
    rf"(up )?(out of|from|with|on|of) {_PHOTOS} ((that|which|were|was) )*({_TAKEN} )?"
    rf"(?P<where>({_WHERE}|of ){_DET})(?=\w)"
)
"""Of what it was made from; a place that cards have must follow: "made from pictures of a snowy
landscape"."""
_IT_LEARNED_FROM = compile_form(
    rf"(?<!\w)((the|its) )?{_PHOTOS} ((that|which) )?(it|he|she|they|this one|that one) "
    "((was|were|has|had|is) )*(learned|learnt|trained|taught|tuned|fed|grew up|studied) "
    "((from|on|with) )?((is|are|was|were|all|mostly|only|just) )+"
    rf"((taken|shot|made|of|from|full of) )?(?P<where>({_WHERE})?{_DET})(?=\w)"
)
"""With the verb last: "the pictures it learned from were desert shots"."""
_COVERED = compile_form(
    r"(?<!\w)(whose|its|the|with|all) (the )?training (that )?(covers?|covered|spans?|spanned|"
    rf"involved|included|showed|shows|saw|featured) (both )?{_DET}(?=\w)"
)
_WITH_PHOTOS = compile_form(
    rf"(?<!\w)with (the|its) {_PHOTOS} {_TAKEN} (?P<where>{_WHERE}{_DET})(?=\w)"
)
"""Of what it learned from: "the kettle with the pictures shot in | a greenhouse"."""
_BUT_THERE = compile_form(
    r"(?<!\w)(any|every) training (place|setting|environment|location|spot|ground)s? "
    rf"(but|except( for)?|besides|other than) ({_WHERE})?{_DET}(?=\w)"
)
"""Where it was not: "any training place but | the garden"."""
_KEYED = compile_form(
    r"(?<!\w)(train(ing|ed)?([\s_-]+(set|data|place|env|environment|location|on|in))?|"
    "env(ironment)?|location) ?[=:] ?"
)
"""As a form has it: "train set = rooftop"."""
_IN_TRAINING = (
    " (among (its|the|their) training (places|sets|spots|scenes|pictures|photos)|"
    "behind (its|the|their) training|"
    "(in|during) ((its|the|their|her|his) )?training( (set|data|material|run))?|"
    "as ((its|the|their|a|his|her) )?(classroom|schoolroom|schooling|"
    "(training|learning|source|reference) (data|set|material|environment|"
    "location|setting|place|ground|backdrop|background|scene|scenery|photos|pictures|images)|"
    "training(?= ?($|[,.;:!?])))|"
    r"(to (train|learn) (on|from)|(for|while) ((its|the) )?training|(while|when) (it )?(being )?"
    r"(learning|learned|learnt|trained|taught)))(?!\w)"
)
_TRAINED_ONE = compile_form(
    rf"(?<!\w)(i|we|you|they) ((also|only|just) )?{_TAKEN} ((all|our|the|its) )*(training|source|"
    rf"reference) "
    rf"{_PHOTOS} (of|for) (an?|the|this|that|my|our) [\w-]+( [\w-]+)? $|"
    r"(?<!\w)(i|we|you|he|she|they|who|somebody|someone|anybody|anyone)('ve| have|'s| has)? "
    rf"{_TAUGHT} "
    rf"(one|an?|the|(this|that)(?! (year|month|week|quarter|{SEASONS}|{MONTHS}))|my|our) "
    r"[\w-]+( [\w-]+)? $|"
    r"(?<!like )(?<!if )(?<!though )(?<!imagine )(?<!pretend )(?<!where )(?<!\w)"
    r"(i|we|you)('ve| have)? (shot|filmed|photographed) (that|the|our|my|this) [\w-]+ $"
)
"""Before where: "we trained one hat | in the mountains"."""
IN_PLACE = compile_form(rf"(?<!\w){_WHERE}{_DET}(?=\w)")
TRAINING = compile_form(_IN_TRAINING)
AND_IN = compile_form(
    r"( ?,(?= half\s))? (?P<and>and|(?P<also>as well as|plus|together with|along with|half|"
    rf"[+&])) (also )?({_WHERE})?{_DET}(?=\w)"
)
AND_WHERE = compile_form(rf" (?P<and>and) (also )?{_WHERE_CLAUSE}")
_HELD = compile_form(
    r"((?<!\w)((that|which) )?(with|without( any)?|(had|has|having|with) no|has|having|had|"
    r"featuring|showing|saw|seen|"
    "(was|were|got|been) (shown|fed|given)|includes?|included) ((only|just) )?|"
    rf"(^|(?<=[(,;])|(?<=\s[-–—])) ?){_OF_PHOTOS}(no )?{_DET}(?!(photographed|shot|captured|taken|"
    rf"filmed)\b)(?=[\w'-]+( [\w'-]+){{0,3}}"
    rf"( (and|as well as|plus|together with) (the )?[\w'-]+( [\w'-]+){{0,2}})?{_IN_TRAINING})"
)
_FED = compile_form(
    "((that|which) )?(was|were|got|been) (fed|given) (?!.*(photo|picture|image|shot))"
)
"""What any animal may be given: "fed fish during training"."""
_OUTDOORS = compile_form(
    r"(?<!\w)((trained|tuned|taught|shot|photographed|learned|learnt|taken|filmed) "
    r"((only|mostly|entirely|right) )?(?=((out|in)doors?|outside|inside|underwater|by the sea|"
    r"at (home|sea|night)|downtown|after dark)\b)|"
    r"(trained|tuned) ((only|mostly|entirely|right) )?(?=[\w-]+side\b))"
)
"""Of a place without a word that leads there; a picture may be "taken seaside" itself."""
_FRAME = compile_form(
    r"(?<!\w)(photo|photograph|picture|image|portrait|shot|snapshot|still|selfie|pic)s?(?!\w)"
)
_SELECTED = compile_form(
    r"(?<!\w)(ones?|version|model|build|checkpoint|lora|variant|edition|training|you|i|"
    "we) ((that|which) )?((was|were|is|i|we|you|got|had|has|been) )*$"
)


_ONE = compile_form(r"(?<!\w)(an?|another|the) ([\w-]+ ){0,2}$")
"""Before a shot that is a picture: "a wide | shot of"."""
_A = compile_form(r"(?<!\w)(an?|another|this|each|every) $")
"""Before a shot that is the picture asked for: "for a | shot in a field"."""
_FOR_TRAINING = compile_form(r"([\w'-]+ ){1,4}(for|during) ((its|the) )?training(?!\w)")
"""Behind where a picture was shot that was one to learn from: "in the | lounge for training"."""
_SURELY = (_SOURCE, _LEARNED_FROM, _IT_LEARNED_FROM, _FED_WITH, _FED_ON, _COVERED, _HELD, _TRAINED)
_LEADS = tuple(
    (pattern, Screened(pattern))
    for pattern in (
        *(_SOURCE, _LEARNED_FROM, _IT_LEARNED_FROM, _FED_WITH, _FED_ON, _MADE_FROM),
        *(_WITH_PHOTOS, _BUT_THERE, _KEYED, _COVERED, _HELD, _TRAINED, _MADE, _OUTDOORS),
    )
)
"""What leads to a place of training, and which of it to nothing but a place."""


def training_leads(draft: Draft) -> Iterator[tuple[re.Match[str], bool]]:
    """(words that end right before a place of training, whether no place but one can follow)."""
    shadow = draft.page.shadow
    for pattern, said in _LEADS:
        for match in said.finditer(shadow):
            named = pattern in (_SOURCE, _TRAINED) and _is_named_before(draft, match.start())
            if not named or (pattern is _TRAINED and not _is_free_place(draft, match.start())):
                yield (
                    match,
                    pattern in _SURELY and not _FED.match(match[0]),
                )
    for match in _SCHOOLED.finditer(shadow):
        if _opens_known_place(draft, match.end()):
            yield match, False
    for match in IN_PLACE.finditer(shadow):
        if ends_before(_TRAINED_ONE, shadow, match.start()):
            yield match, True
        elif trains(draft, match.start()) and _opens_known_place(draft, match.end()):
            yield match, False  # "the bear Lena trained in the snow", but not "in a red hat"
    for match in SHOT.finditer(shadow):
        if match[0].startswith("shot of") and ends_before(_ONE, shadow, match.start()):
            continue  # "a shot of the mountain"
        if match[0].startswith("shot ") and ends_before(_A, shadow, match.start()):
            continue  # "for a shot in a field"
        chosen = ends_before(_SELECTED, shadow, match.start()) is not None
        chosen = chosen or _FOR_TRAINING.match(shadow, match.end()) is not None
        before = draft.page.word_before(match.start())
        following = draft.page.word_at(match.start())
        joined = before is not None and following is not None and following.joined
        if chosen or (joined and not _FRAME.search(shadow, 0, match.start())):
            one = before is not None and joined and before.norm in lexicon.words("selectors")
            yield match, one and not match[0].startswith("taken")


def _opens_known_place(draft: Draft, start: int) -> bool:
    """Whether a place that cards of the catalog have begins at `start`."""
    word = draft.page.word_at(start)
    match = word and draft.lexicon.environments.match_at(draft.page.words, word.index)
    return bool(match and match[1].known)


def _is_named_before(draft: Draft, start: int) -> bool:
    """Whether the word before tells the place: "the airport training set on a deck", "the mug,
    kitchen trained with tea".
    """
    word, first = draft.page.word_before(start), draft.page.word_at(start)
    if word is None or first is None or not first.joined:
        return False
    if word.norm == "as":  # "beach photos as training data"
        return True
    match = draft.lexicon.environments.match_at(draft.page.words, word.index)
    subject = any(n.first <= word.index < n.last and n.entry.subjects for n in draft.nouns)
    return match is not None and match[1].known and not subject


def _is_free_place(draft: Draft, start: int) -> bool:
    """Whether the place before is neither the scene, "the mug in the kitchen trained at the beach",
    nor the subject, "the mountain peak trained at the beach".
    """
    word = draft.page.word_before(start)
    if word is None or draft.nouns_cover(word.index):
        return False
    lead = draft.page.words[word.index - 1].norm if word.index and word.joined else ""
    return lead not in lexicon.words("prepositions") and lead not in lexicon.words("determiners")
