"""Words that a place of training follows: "trained at", "whose training pictures show"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from personalq.checkin import lexicon
from personalq.checkin.parsing.draft import Draft
from personalq.checkin.parsing.text import ends_before

_DET = r"(?:(?:the|an?|some|our|my|various|several|different|real|actual)\s+)*"
_AT = (
    r"(?:in\s+front\s+of|next\s+to|aboard|on\s+board|in|at|on|by|with|near|from|using|under|around|outside|inside|"
    r"against|among|amongst|amid|amidst|along|between|beside|within|through|throughout|across|off|"
    r"of|upon)\s+(?:both\s+)?"
)
_WHERE = (
    r"(?:(?:both|only|just|mostly|mainly|entirely|purely|solely|exclusively|half|partly|outdoors|"
    r"indoors|out|over|up|down|"
    r"deep|somewhere|back|all|underground|underwater|images|pictures|photos)\s+)*"
    rf"(?:(?:any|every)where\s+(?:but|except|besides)\s+(?:{_AT})?|{_AT})"
)
_OF_PHOTOS = (
    r"(?:(?:only\s+)?(?:the\s+|my\s+)?(?:pictures|photos|images|photographs|shots|scenes|snapshots)\s+"
    r"(?:(?:taken|shot|made)\s+)?(?:of|from|in|at|on|near)\s+)?"
)
_TAUGHT = (
    r"(?:did\s+[\w-]+\s+(?:train|tune|teach|fine-?tune)|trained|tuned|fine-?tuned|"
    r"taught|brought\s+up|(?:learned|learnt)\s+(?:its|their|his|her)\s+stuff|learned|learnt|schooled|(?:whose\s+)?training\s+(?:took\s+place|happened|(?:(?:that\s+)?(?:was|is)\s+)?done|was|is)|"
    r"(?:got|had|received|underwent|did)\s+(?:(?:all|most)\s+(?:of\s+)?)?(?:its|their|his|her|the)\s+"
    r"(?:training|lessons|schooling)|"
    r"(?:shot|photographed|pictured|captured|filmed|snapped)\s+for\s+(?:its\s+|the\s+)?training|"
    r"with\s+(?:its\s+|the\s+)?training)(?:\s+(?:it|them|this\s+one|that\s+one))?"
)
_TRAINED = re.compile(rf"(?<![\w-]){_TAUGHT}\s+{_WHERE}{_OF_PHOTOS}{_DET}(?=\w)")
_PICTURED = re.compile(
    rf"(?<!\w)(?:shot|photographed|captured|taken|recorded|filmed|snapped)\s+{_WHERE}{_DET}(?=\w)"
)
"""Of a picture or of the pictures a checkpoint learned from: the words before it tell."""
_MADE = re.compile(
    rf"(?<!\w)(?:i|we|you|that\s+was|which\s+was|one|version|model|build|checkpoint|lora)\s+"
    rf"(?:made|created|built|produced)\s+{_WHERE}{_DET}(?=\w)"
)
_PHOTOS = (
    r"(?:pictures?|pics?|photos?|images?|photographs?|shots?|scenes?|sets?|data|dataset|material|footage|"
    r"shoots?|sessions?|samples?|examples?|references?|backgrounds?|spots?|locations?|places?|sites?|environments?|settings?)"
)
_SOURCE = re.compile(
    rf"(?<!\w)(?:(?:whose|with|its|the|all|from|on|using|and|that|has|having|had)\s+)*"
    rf"(?:(?:training|source|reference|learning|original|sample|input)\s+|(?<=whose\s))+{_PHOTOS}\s*:?\s+"
    r"(?!(?!captured|photographed|collected|gathered|recorded|snapped|showed|featured|stemmed)\w+ed\s+"
    r"(?:on|in|at|by|atop|over|near|beside|upon)\b)"  # "the ship training set perched on a mailbox"
    r"(?:(?:were|was|are|is|all|being|that|which|have|been|had|got)\s+)*"
    r"(?:(?:taken|shot|made|done|captured|photographed|collected|gathered|recorded|came|come|coming|"
    rf"snapped|set|shows?|showed|showing|stem|stemmed|featured?|includes?|included|contains?|contained)\s+)?(?:{_WHERE})?{_DET}(?=\w)"
)
_COVERED = re.compile(
    rf"(?<!\w)(?:whose|its|the|with|all)\s+(?:the\s+)?training\s+(?:that\s+)?"
    rf"(?:covers?|covered|spans?|spanned|involved|included|showed|shows|saw|featured)\s+(?:both\s+)?{_DET}(?=\w)"
)
_KEYED = re.compile(
    r"(?<!\w)(?:train(?:ing|ed)?(?:[\s_-]+(?:set|data|place|env|environment|location|on|in))?|"
    r"env(?:ironment)?|location)\s*[=:]\s*"
)
"""As a form has it: "train set = rooftop"."""
_IN_TRAINING = (
    r"\s+(?:among\s+(?:its|the|their)\s+training\s+(?:places|sets|spots|scenes|pictures|photos)|(?:in|during)\s+(?:(?:its|the|their|her|his)\s+)?training(?:\s+(?:set|data|material|run))?|"
    r"as\s+(?:(?:its|the|their|a)\s+)?(?:training|learning|source|reference)\s+(?:data|set|material|"
    r"environment|location|setting|place|ground|backdrop|background|scene|scenery|photos|pictures|images)|"
    r"(?:to\s+(?:train|learn)\s+(?:on|from)|(?:for|while)\s+(?:(?:its|the)\s+)?training))(?!\w)"
)
_TRAINED_ONE = re.compile(
    rf"(?<!\w)(?:i|we)(?:'ve|\s+have)?\s+{_TAUGHT}\s+(?:one|an?|the|this|that|my|our)\s+[\w-]+(?:\s+[\w-]+)?\s+$"
)
"""Before where: "we trained one hat | in the mountains"."""
_IN_PLACE = re.compile(rf"(?<!\w){_WHERE}{_DET}(?=\w)")
TRAINING = re.compile(_IN_TRAINING)
AND_IN = re.compile(
    r"(?:\s*,(?=\s+half\s))?\s+(?P<and>and|(?P<also>as\s+well\s+as|plus|together\s+with|along\s+with|half|"
    r"[+&]))\s+"
    rf"(?:also\s+)?(?:{_WHERE})?{_DET}(?=\w)"
)
_HELD = re.compile(
    rf"(?:(?<!\w)(?:(?:that|which)\s+)?(?:with|has|having|had|featuring|showing|saw|seen|(?:was|were|got|been)\s+(?:shown|fed|given)|includes?|included)\s+|(?:(?<=[(,;])|(?<=\s[-–—]))\s*)"
    rf"{_OF_PHOTOS}{_DET}(?!(?:photographed|shot|captured|taken|filmed)\b)(?=[\w-]+(?:\s+[\w-]+){{0,3}}{_IN_TRAINING})"
)
_FED = re.compile(
    r"(?:(?:that|which)\s+)?(?:was|were|got|been)\s+(?:fed|given)\s+"
    r"(?!.*(?:photo|picture|image|shot))"
)
"""What any animal may be given: "fed fish during training"."""
_OUTDOORS = re.compile(
    r"(?<!\w)(?:trained|tuned|taught|shot|photographed|learned|learnt|taken|filmed)\s+(?:(?:only|mostly|"
    r"entirely|right)\s+)?(?=(?:out|in)doors?\b|outside\b|inside\b|underwater\b|by the sea\b|"
    r"at (?:home|sea|night)\b|downtown\b|after dark\b)"
)
_FRAME = re.compile(
    r"(?<!\w)(?:photo|photograph|picture|image|portrait|shot|snapshot|still|selfie|pic)s?(?!\w)"
)
_SELECTED = re.compile(
    r"(?<!\w)(?:ones?|version|model|build|checkpoint|lora|variant|edition|training|you|i|we)\s+"
    r"(?:(?:that|which)\s+)?(?:(?:was|were|is|i|we|you|got|had|has|been)\s+)*$"
)


def training_leads(draft: Draft) -> Iterator[tuple[re.Match[str], bool]]:
    """(words that end right before a place of training, whether no place but one can follow)."""
    shadow = draft.page.shadow
    for pattern in (_SOURCE, _KEYED, _COVERED, _HELD, _TRAINED, _MADE, _OUTDOORS):
        for match in pattern.finditer(shadow):
            named = pattern in (_SOURCE, _TRAINED) and _is_named_before(draft, match.start())
            if not named or (pattern is _TRAINED and not _is_free_place(draft, match.start())):
                yield (
                    match,
                    pattern in (_SOURCE, _COVERED, _HELD, _TRAINED) and not _FED.match(match[0]),
                )
    for match in _IN_PLACE.finditer(shadow):
        if ends_before(_TRAINED_ONE, shadow, match.start()):
            yield match, True
    for match in _PICTURED.finditer(shadow):
        chosen = ends_before(_SELECTED, shadow, match.start()) is not None
        before = draft.page.word_before(match.start())
        following = draft.page.word_at(match.start())
        joined = before is not None and following is not None and following.joined
        if chosen or (joined and not _FRAME.search(shadow, 0, match.start())):
            yield match, False


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
