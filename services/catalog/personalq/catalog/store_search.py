"""Search in SQL: constraints, two rankings, their fusion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.engine import RowMapping

from personalq.catalog.cards import Filter
from personalq.catalog.ports import Model, Vector
from personalq.catalog.search import Hit, Hits, Order, Query
from personalq.catalog.store_rows import CARD_COLUMNS, to_card, vector_text
from personalq.catalog.words import fold, key

#: How far down a ranking still counts; also the largest page.
_LEG_DEPTH = 1000
#: Reciprocal rank fusion, score = sum of 1 / (k + rank).
_RRF_K = 60
#: Weights of the roles D, C, B, A in the sparse ranking.
_ROLE_WEIGHTS = "{0.2, 0.4, 0.6, 1.0}"

# Hybrid search in one statement. `matches` holds the hard constraints and nothing else decides
# what is returned; the two legs only rank it, by row_number so that ranks are unique, ties going to
# the smaller id. Each CTE is materialized: the planner must not mix constraint and ranking.
_SEARCH = """
WITH matches AS MATERIALIZED (
    SELECT c.checkpoint_id, c.created_at, c.last_used_at, c.use_count, c.lexemes
      FROM checkpoints c
     WHERE c.tenant = :tenant AND {constraints}
),
{dense},
{sparse},
fused AS MATERIALIZED (
    SELECT m.checkpoint_id, m.created_at, m.last_used_at, m.use_count, d.similarity,
           coalesce(d.rank, 0) AS dense_rank, coalesce(s.rank, 0) AS sparse_rank,
           coalesce(1.0 / (:k + d.rank), 0) + coalesce(1.0 / (:k + s.rank), 0) AS score
      FROM matches m
      LEFT JOIN dense d USING (checkpoint_id)
      LEFT JOIN sparse s USING (checkpoint_id)
),
page AS MATERIALIZED (
    SELECT f.*, row_number() OVER (ORDER BY {order} f.score DESC, f.created_at DESC,
                                   f.checkpoint_id) AS place
      FROM fused f
     ORDER BY place
     LIMIT :limit OFFSET :offset
)
SELECT (SELECT count(*) FROM matches) AS total_matches,
       p.place, p.score, p.similarity, p.dense_rank, p.sparse_rank, {card}
  FROM (VALUES (1)) AS always
  LEFT JOIN page p ON true
  LEFT JOIN checkpoints c ON c.tenant = :tenant AND c.checkpoint_id = p.checkpoint_id
 ORDER BY p.place
"""

# Exact nearest neighbours among the matches; `+ 0` keeps a future index from changing the order.
_DENSE = """
dense AS MATERIALIZED (
    SELECT checkpoint_id, similarity,
           row_number() OVER (ORDER BY similarity DESC, checkpoint_id) AS rank
      FROM (SELECT m.checkpoint_id,
                   1 - (e.embedding <=> CAST(:vector AS halfvec({dim}))) AS similarity
              FROM matches m
              JOIN embeddings_{dim} e ON e.tenant = :tenant AND e.model = :model
                                     AND e.checkpoint_id = m.checkpoint_id
             ORDER BY similarity DESC, checkpoint_id
             LIMIT :depth) nearest
)"""
_DENSE_OFF = """
dense AS MATERIALIZED (
    SELECT NULL::text AS checkpoint_id, NULL::float8 AS similarity, NULL::bigint AS rank
     WHERE false
)"""

# ts_rank_cd, because ts_rank forgets which roles a term may match.
_SPARSE = """
sparse AS MATERIALIZED (
    SELECT checkpoint_id, row_number() OVER (ORDER BY weight DESC, checkpoint_id) AS rank
      FROM (SELECT m.checkpoint_id,
                   ts_rank_cd(CAST(:weights AS float4[]), m.lexemes, q.terms) AS weight
              FROM matches m, (SELECT CAST(:terms AS tsquery) AS terms) q
             WHERE m.lexemes @@ q.terms
             ORDER BY weight DESC, checkpoint_id
             LIMIT :depth) weighed
     WHERE weight > 0
)"""
_SPARSE_OFF = """
sparse AS MATERIALIZED (
    SELECT NULL::text AS checkpoint_id, NULL::bigint AS rank WHERE false
)"""

_ORDERS: Mapping[Order, str] = {
    Order.RELEVANCE: "",
    Order.NEWEST: "f.created_at DESC,",
    Order.OLDEST: "f.created_at ASC,",
    Order.LAST_USED: "f.last_used_at DESC NULLS LAST,",
    Order.MOST_USED: "f.use_count DESC,",
}


def search_statement(
    query: Query,
    *,
    sparse: str,
    dense: Vector | None,
    model: Model | None,
    limit: int,
    offset: int,
) -> tuple[str, dict[str, Any]]:
    """The search in one statement, and its values but for the tenant."""
    where, values = conditions(query.filter)
    values |= {"k": _RRF_K, "limit": limit, "offset": offset}
    dense_leg, sparse_leg = _DENSE_OFF, _SPARSE_OFF
    if dense is not None and model is not None:
        dense_leg = _DENSE.format(dim=model.dim)
        values |= {"vector": vector_text(dense), "model": model.id, "depth": _LEG_DEPTH}
    if sparse:
        sparse_leg = _SPARSE
        values |= {"terms": sparse, "weights": _ROLE_WEIGHTS, "depth": _LEG_DEPTH}
    statement = _SEARCH.format(
        card=CARD_COLUMNS,
        constraints=all_of(where),
        dense=dense_leg,
        sparse=sparse_leg,
        order=_ORDERS[query.order],
    )
    return statement, values


def to_hits(rows: Sequence[RowMapping], *, dense: bool) -> Hits:
    """The page of a search's rows."""
    return Hits(
        hits=[_to_hit(row) for row in rows if row["checkpoint_id"] is not None],
        next_page_token="",
        total_matches=rows[0]["total_matches"],
        dense=dense,
    )


def conditions(constraints: Filter) -> tuple[list[str], dict[str, Any]]:
    """SQL conditions for the constraints that are set, and their values."""
    where: list[str] = []
    values: dict[str, Any] = {}

    def add(condition: str, name: str, value: object) -> None:
        if value:
            where.append(condition)
            values[name] = value

    add("c.state = ANY (:states)", "states", [str(state) for state in constraints.states])
    for column, wanted, unwanted in (
        ("subject", constraints.subjects, constraints.excluded_subjects),
        ("style", constraints.styles, constraints.excluded_styles),
        ("environment", constraints.environments, constraints.excluded_environments),
    ):
        any_of = f"c.{column}_keys && CAST(:{column}s AS text[])"
        add(any_of, f"{column}s", [key(label) for label in wanted])
        none_of = f"NOT c.{column}_keys && CAST(:no_{column}s AS text[])"
        add(none_of, f"no_{column}s", [key(label) for label in unwanted])
    for column, interval in (
        ("created_at", constraints.created),
        ("last_used_at", constraints.last_used),
    ):
        add(f"c.{column} >= :{column}_start", f"{column}_start", interval.start)
        add(f"c.{column} < :{column}_end", f"{column}_end", interval.end)
    add("c.version = ANY (:versions)", "versions", list(constraints.versions))
    add("c.owner_key = ANY (:owners)", "owners", [fold(owner) for owner in constraints.owners])
    # PostgreSQL has no texts with a zero byte; no id has one either.
    ids = [checkpoint_id.replace("\0", "\ufffd") for checkpoint_id in constraints.checkpoint_ids]
    add("c.checkpoint_id = ANY (:ids)", "ids", ids)
    add(
        """c.checkpoint_id IN (SELECT t.checkpoint_id FROM triggers t
                                WHERE t.tenant = :tenant AND t.trigger_key = ANY (:triggers))""",
        "triggers",
        [fold(trigger) for trigger in constraints.triggers],
    )
    return where, values


def all_of(conditions: Sequence[str]) -> str:
    """All of the conditions as one."""
    return "\n       AND ".join(conditions) or "true"


def _to_hit(row: RowMapping) -> Hit:
    return Hit(
        card=to_card(row),
        score=float(row["score"]),
        similarity=row["similarity"],
        dense_rank=row["dense_rank"],
        sparse_rank=row["sparse_rank"],
    )
