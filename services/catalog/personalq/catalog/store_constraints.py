"""Hard constraints in SQL: which cards may be returned at all.

A query names the rows it constrains `c`; they have checkpoint_id, created_at and state, as both
`checkpoints` and `labels` do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from personalq.catalog.cards import SELECTABLE, Filter
from personalq.catalog.store_names import HAS_TRIGGER, IS_CALLED
from personalq.catalog.store_rows import label_of
from personalq.chassis.names import fold, name_key

_LABELLED = """c.checkpoint_id IN (SELECT l.checkpoint_id FROM labels l
                                WHERE l.tenant = :tenant AND l.label = ANY (:{name}))"""
_UNLABELLED = """NOT EXISTS (SELECT FROM labels l
                       WHERE l.tenant = :tenant AND l.label = ANY (:{name})
                         AND l.checkpoint_id = c.checkpoint_id)"""
_USED = """c.checkpoint_id IN (SELECT u.checkpoint_id FROM checkpoints u
                                WHERE u.tenant = :tenant AND {interval})"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Constraints:
    """SQL conditions on `c`, and their values."""

    #: Parameter and labels of each group of which a card has one, the rarest first.
    wanted: Sequence[tuple[str, Sequence[str]]]
    #: Everything else.
    others: Sequence[str]
    values: dict[str, Any]
    #: Whether every selectable card satisfies them, and no other.
    selectable: bool

    @property
    def sql(self) -> str:
        """All of them, for any `c`."""
        labelled = [_LABELLED.format(name=name) for name, _ in self.wanted]
        return all_of([*labelled, *self.others])

    def scope(self, columns: str = "c.checkpoint_id, c.created_at") -> str:
        """A query for the cards that satisfy them, each once.

        It starts from the cards of the first label, which are a stretch of an index.
        """
        if not self.wanted:
            return self.scope_of_cards(columns)
        (name, labels), *rest = self.wanted
        conditions = [f"c.label = ANY (:{name})", *self.others]
        conditions += [_LABELLED.format(name=name) for name, _ in rest]
        # A card with two of the labels is one card.
        distinct = "" if len(labels) == 1 else "DISTINCT "
        return _all_cards(f"{distinct}{columns}", "labels", all_of(conditions))

    def count(self) -> str:
        """A query for how many cards satisfy them."""
        if self.selectable:
            return "SELECT coalesce(max(selectable), 0) FROM card_counts WHERE tenant = :tenant"
        return f"SELECT count(*) FROM ({self.scope()}) s"  # noqa: S608 - constants of this file

    def scope_of_cards(self, columns: str) -> str:
        """The same for columns that only `checkpoints` has."""
        return _all_cards(columns, "checkpoints", self.sql)


def constraints_of(wished: Filter) -> Constraints:
    """The constraints that are set."""
    wanted: list[tuple[str, Sequence[str]]] = []
    others: list[str] = []
    values: dict[str, Any] = {}

    def add(condition: str, name: str, value: object) -> None:
        if value:
            others.append(condition)
            values[name] = value

    for name, role, labels in (
        ("subjects", "subject", wished.subjects),
        ("versions", "version", [str(version) for version in wished.versions]),
        ("environments", "environment", wished.environments),
        ("styles", "style", wished.styles),
        ("owners", "owner", wished.owners),
    ):
        if labels:
            values[name] = list(dict.fromkeys(label_of(role, label) for label in labels))
            wanted.append((name, values[name]))
    for role, labels in (
        ("subject", wished.excluded_subjects),
        ("style", wished.excluded_styles),
        ("environment", wished.excluded_environments),
    ):
        name = f"no_{role}s"
        add(_UNLABELLED.format(name=name), name, [label_of(role, label) for label in labels])
    add("c.state = ANY (:states)", "states", [str(state) for state in wished.states])
    add("c.created_at >= :created_start", "created_start", wished.created.start)
    add("c.created_at < :created_end", "created_end", wished.created.end)
    used = _USED.format(interval="u.last_used_at >= :used_start")
    add(used, "used_start", wished.last_used.start)
    used = _USED.format(interval="u.last_used_at < :used_end")
    add(used, "used_end", wished.last_used.end)
    # PostgreSQL has no texts with a zero byte; no id has one either.
    ids = [checkpoint_id.replace("\0", "\ufffd") for checkpoint_id in wished.checkpoint_ids]
    add("c.checkpoint_id = ANY (:ids)", "ids", ids)
    add(HAS_TRIGGER, "triggers", [fold(trigger) for trigger in wished.triggers])
    values["trigger_keys"] = [name_key(trigger) for trigger in wished.triggers]
    add(IS_CALLED, "names", [name_key(name) for name in wished.names])
    return Constraints(
        wanted=wanted,
        others=others,
        values=values,
        selectable=set(wished.states) == set(SELECTABLE) and wished == Filter(states=wished.states),
    )


def all_of(conditions: Sequence[str]) -> str:
    """All of the conditions as one."""
    return "\n       AND ".join(conditions) or "true"


def _all_cards(columns: str, table: str, conditions: str) -> str:
    return f"""
    SELECT {columns}
      FROM {table} c
     WHERE c.tenant = :tenant AND {conditions}"""  # noqa: S608 - constants of this file
