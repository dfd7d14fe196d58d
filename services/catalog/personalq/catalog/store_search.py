"""Search in SQL, one statement each: candidates that satisfy the constraints, two rankings, RRF.

Candidates are all matches, while these are few. With an order key they are the first matches by it.
In a tenant large enough to have indexes of its own, and a search that constrains little, they are
what the indexes find nearest in meaning and in words, and the newest. Whichever they are, both
rankings of them are exact.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from personalq.catalog.cards import Card
from personalq.catalog.likeness import CardVectors
from personalq.catalog.ports import Detail, Model, Vector
from personalq.catalog.search import Hit, Hits, Order, Query
from personalq.catalog.store_connections import Row
from personalq.catalog.store_constraints import Constraints, constraints_of
from personalq.catalog.store_rows import vector_text
from personalq.catalog.words import any_term, telling_terms

# Everything put together below are constants of these files; values are always bound.

#: How far down a ranking still counts, and how far down an order candidates are taken from.
_DEPTH = 1000
#: How many candidates each index proposes.
_PROPOSED = 300
#: How many vectors an index scan keeps in view: with fewer it misses some of the nearest.
_IN_VIEW = 600
#: Most vectors an index scan goes through for them; few near ones may satisfy the constraints.
_SCANNED = 8000
#: Share of the candidates that must have a vector for vectors to rank them.
_COVERAGE = 0.9
#: Reciprocal rank fusion, score = sum of 1 / (k + rank).
_RRF_K = 60
#: Weights of the roles D, C, B, A in the sparse ranking.
_ROLE_WEIGHTS = "{0.2, 0.4, 0.6, 1.0}"

# `candidates` satisfies the hard constraints, and nothing else decides what is returned; the legs
# only rank it, by row_number so that ranks are unique, ties going to the smaller id. Each CTE is
# materialized: the planner must not mix constraint and ranking. Neither cards nor their vectors are
# read: most are known (store_cards.py, store_vectors.py).
_SEARCH = """
WITH {candidates},
{fused},
page AS MATERIALIZED (
    SELECT f.*, row_number() OVER (ORDER BY {order}f.score DESC, f.created_at DESC,
                                   f.checkpoint_id) AS place
      FROM fused f
     ORDER BY place
     LIMIT :limit OFFSET :offset
)
SELECT ({total}) AS total_matches, {is_dense} AS dense,
       p.place, p.score, p.similarity, p.dense_rank, p.sparse_rank,
       c.checkpoint_id, c.revision, c.updated_at{vectors}
  FROM (VALUES (1)) AS always
  LEFT JOIN page p ON true
  LEFT JOIN checkpoints c ON c.tenant = :tenant AND c.checkpoint_id = p.checkpoint_id{vectors_of}
 ORDER BY p.place
"""

_FUSED = """
{dense},
{sparse},
fused AS MATERIALIZED (
    SELECT m.checkpoint_id, m.created_at, m.place_by, d.similarity,
           coalesce(d.rank, 0) AS dense_rank, coalesce(s.rank, 0) AS sparse_rank,
           coalesce(1.0 / (:k + d.rank), {unembedded}0) + coalesce(1.0 / (:k + s.rank), 0) AS score
      FROM candidates m
      LEFT JOIN dense d USING (checkpoint_id)
      LEFT JOIN sparse s USING (checkpoint_id)
)"""
_IS_DENSE = "EXISTS (SELECT FROM dense)"
# Without a text: planning and joining two empty rankings takes a tenth of a millisecond.
_UNRANKED = """
fused AS (
    SELECT checkpoint_id, created_at, place_by, NULL::float8 AS similarity,
           0 AS dense_rank, 0 AS sparse_rank, 0 AS score
      FROM candidates
)"""
_NOT_DENSE = "false"

_ALL_MATCHES = "candidates AS MATERIALIZED ({scope})"
_COUNT_CANDIDATES = "SELECT count(*) FROM candidates"

_FIRST_MATCHES = """candidates AS MATERIALIZED (
    SELECT * FROM ({scope}) s
     ORDER BY place_by {direction}, created_at DESC, checkpoint_id
     LIMIT :reach
)"""

# A tenant with indexes. `total` decides once, before anything else runs, which half is executed:
# the conditions on it are one-time filters, and the limit tells the planner how little there can be
# to join. What `near` and `worded` find satisfies the
# constraints; the index scans go on until they have found as many as they were asked for.
_FROM_INDEXES = """
total (matches) AS MATERIALIZED ({count}),
{near},
{worded},
newest AS MATERIALIZED (
    SELECT checkpoint_id FROM ({scope}) s
     WHERE (SELECT matches FROM total) > :many
     ORDER BY created_at DESC, checkpoint_id
     LIMIT :reach
),
candidates AS MATERIALIZED (
   (SELECT checkpoint_id, created_at, place_by FROM ({scope}) s
     WHERE (SELECT matches FROM total) <= :many
     LIMIT :many)
     UNION ALL
    SELECT c.checkpoint_id, c.created_at, NULL
      FROM (SELECT checkpoint_id FROM near
            UNION SELECT checkpoint_id FROM worded
            UNION SELECT checkpoint_id FROM newest) found
      JOIN checkpoints c ON c.tenant = :tenant AND c.checkpoint_id = found.checkpoint_id
)"""
_COUNT_ALL = "SELECT matches FROM total"

# For `near`: as deep as asked for, and on until enough of what is found satisfies the constraints.
SET_SCAN = f"""
SELECT set_config('hnsw.ef_search', '{_IN_VIEW}', true),
       set_config('hnsw.iterative_scan', 'relaxed_order', true),
       set_config('hnsw.max_scan_tuples', '{_SCANNED}', true)
"""

_NEAR = """near AS MATERIALIZED (
    SELECT e.checkpoint_id
      FROM embeddings_{dim} e
     WHERE (SELECT matches FROM total) > :many
       AND e.tenant = :tenant AND e.model = :model
       AND EXISTS (SELECT FROM ({scope}) s WHERE s.checkpoint_id = e.checkpoint_id OFFSET 0)
     ORDER BY e.embedding <=> CAST(:vector AS halfvec({dim}))
     LIMIT :proposed
)"""
_NEAR_OFF = "near AS (SELECT NULL::text AS checkpoint_id WHERE false)"

_WORDED = """worded AS MATERIALIZED (
    SELECT w.checkpoint_id
      FROM tenant_words w
     WHERE (SELECT matches FROM total) > :many
       AND w.tenant = :tenant AND w.lexemes @@ CAST(:telling_terms AS tsquery)
       AND EXISTS (SELECT FROM ({scope}) s WHERE s.checkpoint_id = w.checkpoint_id OFFSET 0)
     ORDER BY ts_rank_cd(CAST(:weights AS float4[]), w.lexemes,
                         CAST(:telling_terms AS tsquery)) DESC, w.checkpoint_id
     LIMIT :proposed
)"""
_WORDED_OFF = "worded AS (SELECT NULL::text AS checkpoint_id WHERE false)"

# Exact nearest neighbours among the candidates, each looked up by itself: with a join the planner,
# who cannot know how few they are, would rather read all of the tenant's. While
# another model's vectors are being made, those that have one already must not overtake those that
# have none: the ranking counts once nearly all have, and a card without is placed by its words.
_DENSE = """
dense AS MATERIALIZED (
    SELECT checkpoint_id, similarity,
           row_number() OVER (ORDER BY similarity DESC, checkpoint_id) AS rank
      FROM (SELECT m.checkpoint_id, v.similarity, count(*) OVER () AS embedded
              FROM candidates m
             CROSS JOIN LATERAL (
                    SELECT 1 - (e.embedding <=> CAST(:vector AS halfvec({dim}))) AS similarity
                      FROM embeddings_{dim} e
                     WHERE e.tenant = :tenant AND e.model = :model
                       AND e.checkpoint_id = m.checkpoint_id
                     LIMIT 1) v
             ORDER BY similarity DESC, checkpoint_id
             LIMIT :depth) nearest
     WHERE embedded >= :coverage * (SELECT count(*) FROM candidates)
)"""
# More candidates than :depth may miss a rank for another reason.
_UNEMBEDDED = """
               CASE WHEN EXISTS (SELECT FROM dense)
                     AND (SELECT count(*) FROM candidates) <= :depth
                    THEN 1.0 / (:k + s.rank) END, """
_DENSE_OFF = """
dense AS (SELECT NULL::text AS checkpoint_id, NULL::float8 AS similarity, NULL::bigint AS rank
           WHERE false)"""

# ts_rank_cd, because ts_rank forgets which roles a term may match.
_SPARSE = """
sparse AS MATERIALIZED (
    SELECT checkpoint_id, row_number() OVER (ORDER BY weight DESC, checkpoint_id) AS rank
      FROM (SELECT m.checkpoint_id, w.weight
              FROM candidates m
             CROSS JOIN LATERAL (
                    SELECT ts_rank_cd(CAST(:weights AS float4[]), w.lexemes,
                                      CAST(:terms AS tsquery)) AS weight
                      FROM tenant_words w
                     WHERE w.tenant = :tenant AND w.checkpoint_id = m.checkpoint_id
                       AND w.lexemes @@ CAST(:terms AS tsquery)
                     LIMIT 1) w
             ORDER BY weight DESC, checkpoint_id
             LIMIT :depth) weighed
     WHERE weight > 0
)"""
_SPARSE_OFF = "sparse AS (SELECT NULL::text AS checkpoint_id, NULL::bigint AS rank WHERE false)"

# Which row has the vectors of each card of the page, and what they are of: each is looked up by
# itself (store_vectors.py).
_VECTORS_OF = """
  LEFT JOIN LATERAL (
       SELECT e.xmin::text AS vectors_by, e.text_hash, e.phrases_hash FROM embeddings_{dim} e
        WHERE e.tenant = :tenant AND e.model = :model AND e.checkpoint_id = p.checkpoint_id
        LIMIT 1) v ON true"""
_VECTORS = ", v.vectors_by, v.text_hash, v.phrases_hash"

#: Order key → the column it sorts by, and how.
_ORDERS: Mapping[Order, tuple[str, str]] = {
    Order.NEWEST: ("created_at", "DESC"),
    Order.OLDEST: ("created_at", "ASC"),
    Order.LAST_USED: ("last_used_at", "DESC NULLS LAST"),
    Order.MOST_USED: ("use_count", "DESC"),
    Order.LEAST_USED: ("use_count", "ASC"),
    Order.LEAST_RECENTLY_USED: ("last_used_at", "ASC NULLS LAST"),
    Order.HIGHEST_VERSION: ("version", "DESC NULLS LAST"),
    Order.LOWEST_VERSION: ("version", "ASC NULLS LAST"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Indexes:
    """What is known of a tenant whose cards have indexes of their own."""

    #: Lexemes that too many cards have to be worth looking up.
    common_words: frozenset[str]
    #: Cards it has, about.
    cards: int
    #: Whether one of them is over the vectors that are searched for.
    vectors: bool = True

    @property
    def many(self) -> int:
        """Matches beyond which the indexes are the faster way; see docs/decisions/007.

        Reading m matches costs in proportion to m. An index over n cards meets one match in n / m
        cards, so what it costs to be shown some grows with n / m. Both meet where m is in
        proportion to the square root of n.
        """
        return round(20 * math.sqrt(self.cards))


@dataclass(frozen=True, kw_only=True, slots=True)
class Search:
    """A search as SQL, and its values but for the tenant."""

    statement: str
    values: dict[str, Any]
    #: Whether an index may take part, which needs its settings.
    indexed: bool = False


def search_statement(
    query: Query,
    *,
    terms: Mapping[str, str],
    dense: Vector | None,
    model: Model | None,
    limit: int,
    offset: int,
    indexes: Indexes | None = None,
    detail: Detail = Detail.NONE,
) -> Search:
    """The search in one statement.

    Args:
        terms: lexemes of the text and the roles each may have; see words.py.
        indexes: those of the tenant for this model, where it has some.
        detail: whether rows are to say what the cards' vectors are of.
    """
    constraints = constraints_of(query.filter)
    values = constraints.values | {"k": _RRF_K, "limit": limit, "offset": offset}
    dense_leg, sparse_leg, unembedded = _DENSE_OFF, _SPARSE_OFF, ""
    if dense is not None and model is not None:
        dense_leg = _DENSE.format(dim=model.dim)
        values |= {
            "vector": vector_text(dense), "model": model.id, "depth": _DEPTH, "coverage": _COVERAGE,
        }  # fmt: skip
        unembedded = _UNEMBEDDED
    vectors_of = ""
    if detail is not Detail.NONE and model is not None:
        vectors_of = _VECTORS_OF.format(dim=model.dim)
        values["model"] = model.id
    if terms:
        sparse_leg = _SPARSE
        values |= {"terms": any_term(terms), "weights": _ROLE_WEIGHTS, "depth": _DEPTH}
    fused, is_dense = _UNRANKED, _NOT_DENSE
    ranks = bool(terms) or "vector" in values
    if ranks:
        fused = _FUSED.format(dense=dense_leg, sparse=sparse_leg, unembedded=unembedded)
        is_dense = _IS_DENSE

    scope = constraints.scope("c.checkpoint_id, c.created_at, NULL::bigint AS place_by")
    candidates, order, total = _ALL_MATCHES.format(scope=scope), "", _COUNT_CANDIDATES
    indexed = indexes is not None and query.order is Order.RELEVANCE
    if query.order in _ORDERS:
        candidates, order = _in_order(query.order, constraints)
        total = constraints.count()
        # Without a text those of the page are the first: nothing ranks what has the same place.
        values["reach"] = max(_DEPTH, limit + offset) if ranks else limit + offset
    elif indexes is not None:
        candidates, more = _from_indexes(
            scope, constraints.count(), terms, dense=dense, model=model, indexes=indexes
        )
        total = _COUNT_ALL
        values |= more | {
            "many": indexes.many,
            "proposed": _PROPOSED,
            "reach": limit + offset,
        }
    statement = _SEARCH.format(
        candidates=candidates,
        vectors=_VECTORS if vectors_of else "",
        vectors_of=vectors_of,
        fused=fused,
        is_dense=is_dense,
        order=order,
        total=total,
    )
    return Search(statement=statement, values=values, indexed=indexed)


def found(rows: Sequence[Row]) -> Sequence[Row]:
    """The rows that are hits: an empty page is a row without one."""
    return [row for row in rows if row["checkpoint_id"] is not None]


def to_hits(
    rows: Sequence[Row], cards: Sequence[Card], vectors: Sequence[CardVectors | None]
) -> Hits:
    """The page of a search's rows.

    Args:
        cards: those of the rows that are hits.
        vectors: theirs.
    """
    return Hits(
        hits=[_to_hit(*each) for each in zip(found(rows), cards, vectors, strict=True)],
        next_page_token="",
        total_matches=rows[0]["total_matches"],
        dense=rows[0]["dense"],
    )


def _in_order(order: Order, constraints: Constraints) -> tuple[str, str]:
    """The candidates of a search with an order key, and how the page is ordered by it."""
    column, direction = _ORDERS[order]
    columns = f"c.checkpoint_id, c.created_at, c.{column} AS place_by"
    # Labels know no more than when a card was trained.
    narrow = column == "created_at"
    scope = constraints.scope(columns) if narrow else constraints.scope_of_cards(columns)
    candidates = _FIRST_MATCHES.format(scope=scope, direction=direction)
    return candidates, f"f.place_by {direction}, "


def _from_indexes(
    scope: str,
    count: str,
    terms: Mapping[str, str],
    *,
    dense: Vector | None,
    model: Model | None,
    indexes: Indexes,
) -> tuple[str, dict[str, Any]]:
    """The candidates of a search by relevance in a tenant with indexes, and their values."""
    values: dict[str, Any] = {}
    near, worded = _NEAR_OFF, _WORDED_OFF
    if dense is not None and model is not None and indexes.vectors:
        near = _NEAR.format(dim=model.dim, scope=scope)
    telling = telling_terms(terms, common=indexes.common_words)
    if telling:
        worded = _WORDED.format(scope=scope)
        values["telling_terms"] = telling
    return _FROM_INDEXES.format(scope=scope, count=count, near=near, worded=worded), values


def _to_hit(row: Row, card: Card, vectors: CardVectors | None) -> Hit:
    return Hit(
        card=card,
        score=float(row["score"]),
        similarity=row["similarity"],
        dense_rank=row["dense_rank"],
        sparse_rank=row["sparse_rank"],
        vectors=vectors,
    )
