"""Aliases; names and words of the cards in narrow tables that writes maintain."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Connection, text

from personalq.catalog.names import all_names
from personalq.catalog.store_names import name_rows

revision = "0003"
down_revision = "0002"

ALIASES = """
ALTER TABLE personalq.checkpoints ADD COLUMN aliases text[] NOT NULL DEFAULT '{}';
"""

# Ids, triggers, aliases and display names, by the key they are compared by (see names.py). It takes
# the place of the table `triggers`. Rows are removed by their key, as the card says, so there is no
# index by card and no foreign key that would need one; readers join on the card anyway.
NAMES = """
CREATE TABLE personalq.names (
    tenant         text NOT NULL,
    name_key       text NOT NULL,
    -- i id, b trigger in brackets, t other trigger, a alias, n display name.
    kind           text NOT NULL CHECK (kind IN ('i', 'b', 't', 'a', 'n')),
    -- As the card spells it, without case.
    folded         text NOT NULL,
    checkpoint_id  text NOT NULL,
    PRIMARY KEY (tenant, name_key, kind, folded, checkpoint_id)
);
SELECT personalq.isolate_tenants('names');
DROP TABLE personalq.triggers;
"""

# The vocabulary: how many selectable cards use a word. Updated in place by most writes, hence the
# room in each page. A count of 0 stays: the word may come back.
WORDS = """
CREATE TABLE personalq.words (
    tenant  text NOT NULL,
    kind    text NOT NULL CHECK (kind IN ('subjects', 'styles', 'environments', 'owners')),
    word    text NOT NULL,
    cards   bigint NOT NULL,
    PRIMARY KEY (tenant, kind, word)
) WITH (fillfactor = 50);
SELECT personalq.isolate_tenants('words');
"""

# Forced row-level security binds the owner too.
_SET_TENANT = text("SELECT set_config('app.tenant', :tenant, true)")
_COUNT_WORDS = text("""
INSERT INTO personalq.words (tenant, kind, word, cards)
SELECT c.tenant, used.kind, used.word, count(*)
  FROM personalq.checkpoints c
 CROSS JOIN LATERAL (
        SELECT 'subjects', unnest(c.subjects) UNION ALL SELECT 'styles', unnest(c.styles)
         UNION ALL SELECT 'environments', unnest(c.environments)
         UNION ALL SELECT 'owners', c.owner WHERE c.owner <> '') AS used (kind, word)
 WHERE c.tenant = :tenant AND c.state IN ('registered', 'servable')
 GROUP BY c.tenant, used.kind, used.word
""")
_CARDS = text("""
SELECT checkpoint_id, name, triggers
  FROM personalq.checkpoints
 WHERE tenant = :tenant AND checkpoint_id > :after
 ORDER BY checkpoint_id
 LIMIT 5000
""")
_ADD_NAMES = text("""
INSERT INTO personalq.names (tenant, name_key, kind, folded, checkpoint_id)
SELECT :tenant, name_key, kind, folded, checkpoint_id
  FROM unnest(CAST(:keys AS text[]), CAST(:codes AS text[]), CAST(:folded AS text[]),
              CAST(:ids AS text[])) AS added (name_key, kind, folded, checkpoint_id)
ON CONFLICT DO NOTHING
""")


def upgrade() -> None:
    """Create the tables and fill them for the cards there are."""
    for step in (ALIASES, NAMES, WORDS):
        op.execute(step)
    connection = op.get_bind()
    tenants = connection.execute(text("SELECT tenant FROM personalq.tenants")).scalars().all()
    for tenant in tenants:
        connection.execute(_SET_TENANT, {"tenant": tenant})
        connection.execute(_COUNT_WORDS, {"tenant": tenant})
        _fill_names(connection, tenant)


def downgrade() -> None:
    """There is no way back: aliases would be lost."""
    raise NotImplementedError


def _fill_names(connection: Connection, tenant: str) -> None:
    after = ""
    while rows := connection.execute(_CARDS, {"tenant": tenant, "after": after}).all():
        after = rows[-1].checkpoint_id
        columns: dict[str, list[str]] = {"keys": [], "codes": [], "folded": [], "ids": []}
        for checkpoint_id, name, triggers in rows:
            added = name_rows(all_names(checkpoint_id, name, (), triggers))
            for column, values in added.items():
                columns[column] += values
            columns["ids"] += [checkpoint_id] * len(added["keys"])
        connection.execute(_ADD_NAMES, {"tenant": tenant} | columns)
