"""What a tenant's cards are called and which words they use, kept beside the cards as they change.

Both are narrow tables that writes maintain: asking a hundred thousand cards for their distinct
words takes half a second, and none of those words would have changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter

from personalq.catalog.cards import SELECTABLE, Card
from personalq.catalog.names import Name, NameKind, all_names, names_of
from personalq.catalog.store_connections import Row
from personalq.chassis.names import fold

#: How a kind of name is written in the table. Triggers in brackets are a kind of their own, so that
#: the few rows read per key and kind show both spellings, `<toy>` and "toy".
_CODES: Mapping[NameKind, tuple[str, ...]] = {
    NameKind.CHECKPOINT_ID: ("i",),
    NameKind.TRIGGER: ("b", "t"),
    NameKind.ALIAS: ("a",),
    NameKind.NAME: ("n",),
}
_KINDS = {code: kind for kind, codes in _CODES.items() for code in codes}

#: Most names that come with the vocabulary.
LISTED_NAMES = 10_000

# A card's names follow the card.
DROP_NAMES = """
DELETE FROM names n
 USING unnest(CAST(:keys AS text[]), CAST(:codes AS text[]), CAST(:folded AS text[]))
       AS gone (name_key, kind, folded)
 WHERE n.tenant = :tenant AND n.name_key = gone.name_key AND n.kind = gone.kind
   AND n.folded = gone.folded AND n.checkpoint_id = :id
"""
ADD_NAMES = """
INSERT INTO names (tenant, name_key, kind, folded, checkpoint_id)
SELECT :tenant, name_key, kind, folded, :id
  FROM unnest(CAST(:keys AS text[]), CAST(:codes AS text[]), CAST(:folded AS text[]))
       AS added (name_key, kind, folded)
ON CONFLICT DO NOTHING
"""

# Which keys name a selectable card, and such a card for the spelling; few of the keys exist, so
# that is looked at first. A key may belong to every card of the tenant: a few rows per kind show
# how it is spelled.
FIND_NAMES = """
WITH known AS MATERIALIZED (
    SELECT asked.name_key
      FROM unnest(CAST(:keys AS text[])) AS asked (name_key)
     WHERE EXISTS (SELECT FROM names n WHERE n.tenant = :tenant AND n.name_key = asked.name_key)
)
SELECT DISTINCT ON (found.name_key, found.kind, found.folded) found.*
  FROM known
 CROSS JOIN unnest(CAST(:codes AS text[])) AS code
 CROSS JOIN LATERAL (
        SELECT n.name_key, n.kind, n.folded, c.checkpoint_id, c.name, c.aliases, c.triggers
          FROM names n
          JOIN checkpoints c ON c.tenant = :tenant AND c.checkpoint_id = n.checkpoint_id
         WHERE n.tenant = :tenant AND n.name_key = known.name_key AND n.kind = code
           AND c.state = ANY (:states)
         LIMIT 20) found
 ORDER BY found.name_key, found.kind, found.folded, found.checkpoint_id
"""

# Conditions on a card `c`. A table and not a GIN index over the arrays: `&&` is not leakproof, so
# under row-level security PostgreSQL never uses an index for it; for `=` it does.
HAS_TRIGGER = """c.checkpoint_id IN (
           SELECT n.checkpoint_id FROM names n
            WHERE n.tenant = :tenant AND n.name_key = ANY (:trigger_keys) AND n.kind IN ('b', 't')
              AND n.folded = ANY (:triggers))"""
IS_CALLED = """c.checkpoint_id IN (
           SELECT n.checkpoint_id FROM names n
            WHERE n.tenant = :tenant AND n.name_key = ANY (:names) AND n.kind IN ('a', 'n'))"""

# Words appear and disappear with their first and last card; only that changes the words there are.
COUNT_WORDS = """
WITH delta AS MATERIALIZED (
    SELECT * FROM unnest(CAST(:kinds AS text[]), CAST(:words AS text[]), CAST(:deltas AS bigint[]))
             AS d (kind, word, cards)
),
counted AS (
    INSERT INTO words AS w (tenant, kind, word, cards)
    SELECT :tenant, kind, word, cards FROM delta
    ON CONFLICT (tenant, kind, word) DO UPDATE SET cards = w.cards + excluded.cards
    RETURNING kind, word, cards
)
SELECT coalesce(bool_or(c.cards = 0 OR c.cards = d.cards), false) AS vocabulary_changed
  FROM counted c JOIN delta d USING (kind, word)
"""

# Not as it was written before names were part of it: who holds such a revision has no names yet.
VOCABULARY_REVISION = """
SELECT t.epoch || '.' || t.vocabulary_revision AS revision, coalesce(k.selectable, 0) AS cards
  FROM tenants t
  LEFT JOIN card_counts k USING (tenant)
 WHERE t.tenant = :tenant
"""
VOCABULARY = """
SELECT kind, array_agg(word ORDER BY word) AS words
  FROM words WHERE tenant = :tenant AND cards > 0
 GROUP BY kind
"""

# What every selectable card is called, or one row of nothing when that is more than `listed` names,
# or more than 100 bytes for each: a message of gRPC has 4 MiB at most.
# The display name that only repeats the id is none (`all_names` is more exact). A card has one name
# at least, so that no more cards than that are read.
ALL_NAMES = """
WITH called AS MATERIALIZED (
    SELECT c.checkpoint_id, c.name, c.aliases, c.triggers
      FROM checkpoints c
     WHERE c.tenant = :tenant AND c.state = ANY (:states)
     LIMIT :listed + 1
),
counted AS (
    SELECT coalesce(greatest(
               sum(1 + cardinality(aliases) + cardinality(triggers)
                   + (lower(name) <> lower(checkpoint_id))::int),
               sum(octet_length(checkpoint_id || name || array_to_string(aliases || triggers, '')))
               / 100), 0) AS names
      FROM called
)
SELECT counted.names <= :listed AS complete, called.*
  FROM counted LEFT JOIN called ON counted.names <= :listed
 ORDER BY called.checkpoint_id
"""


def name_rows(names: Iterable[Name]) -> dict[str, list[str]]:
    """The columns of names, for the statements above."""
    rows = list(dict.fromkeys(_row(name) for name in names))
    return {
        "keys": [key for key, _, _ in rows],
        "codes": [code for _, code, _ in rows],
        "folded": [folded for _, _, folded in rows],
    }


def renamed(before: Card | None, after: Card) -> tuple[list[Name], list[Name]]:
    """Which names a change of a card takes away, and which it adds.

    Spellings that differ in case only, "Sks" and "sks", are one row, which the last takes along.
    """
    old = {_row(name): name for name in (names_of(before) if before is not None else ())}
    new = {_row(name): name for name in names_of(after)}
    gone = [name for row, name in old.items() if row not in new]
    return gone, [name for row, name in new.items() if row not in old]


def find_values(keys: Sequence[str]) -> dict[str, object]:
    """The values of FIND_NAMES but for the tenant."""
    codes = [code for several in _CODES.values() for code in several]
    return {"keys": list(keys), "codes": codes, "states": [str(state) for state in SELECTABLE]}


def all_values(listed: int) -> dict[str, object]:
    """The values of ALL_NAMES but for the tenant."""
    return {"listed": listed, "states": [str(state) for state in SELECTABLE]}


def to_names(rows: Iterable[Row]) -> tuple[tuple[Name, ...], bool]:
    """The names of ALL_NAMES as FIND_NAMES would find them, and whether that is all of them."""
    spelled: dict[tuple[str, str], Name] = {}
    complete = False
    for row in rows:
        complete = row["complete"]
        if row["checkpoint_id"] is None:
            break
        for name in all_names(row["checkpoint_id"], row["name"], row["aliases"], row["triggers"]):
            spelled.setdefault((_code(name), name.folded), name)
    return tuple(name for _, name in sorted(spelled.items(), key=itemgetter(0))), complete


def to_name(row: Row) -> Name:
    """The name of a row, spelled as its card does."""
    kind = _KINDS[row["kind"]]
    spellings = {
        NameKind.CHECKPOINT_ID: [row["checkpoint_id"]],
        NameKind.TRIGGER: row["triggers"],
        NameKind.ALIAS: row["aliases"],
        NameKind.NAME: [row["name"]],
    }[kind]
    folded: str = row["folded"]
    return Name(kind=kind, spelling=next((s for s in spellings if fold(s) == folded), folded))


def called(card: Card | None) -> frozenset[Name]:
    """What a card adds to the names of a vocabulary, as long as it can be selected."""
    if card is None or card.state not in SELECTABLE:
        return frozenset()
    return frozenset(names_of(card))


def word_changes(before: Card | None, after: Card) -> dict[tuple[str, str], int]:
    """How many cards more or less use a word, by kind and word; only what changes."""
    counts = Counter(_words(after))
    counts.subtract(Counter(_words(before) if before is not None else ()))
    return {word: delta for word, delta in counts.items() if delta}


def _words(card: Card) -> Iterable[tuple[str, str]]:
    """What a card adds to the vocabulary, as long as it can be selected."""
    if card.state not in SELECTABLE:
        return
    for kind, words in (
        ("subjects", card.subjects),
        ("styles", card.styles),
        ("environments", card.environments),
        ("owners", (card.owner,) if card.owner else ()),
    ):
        for word in words:
            yield kind, word


def _row(name: Name) -> tuple[str, str, str]:
    """What tells a name of a card from its other ones: key, code, folded spelling."""
    return name.key, _code(name), name.folded


def _code(name: Name) -> str:
    if name.kind is NameKind.TRIGGER:
        return "b" if name.folded.startswith("<") else "t"
    return _CODES[name.kind][0]
