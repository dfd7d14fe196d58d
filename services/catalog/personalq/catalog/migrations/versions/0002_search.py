"""Search at every size: lists of cards by label, words in a narrow table, indexes of a tenant's."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"

# Which cards have a label: one row per label, so that a constraint is a stretch of an index that
# also tells state and time of training. Arrays would need `&&`, which is not leakproof: under
# row-level security no index serves it, and every search would read every card of the tenant.
LABELS = """
-- Forced row-level security binds the owner too, who could not read the cards.
ALTER TABLE personalq.checkpoints NO FORCE ROW LEVEL SECURITY;

CREATE TABLE personalq.labels (
    tenant         text NOT NULL,
    -- The role and the normalized label: subject:bear, style:sketch, environment:snow, owner:ann,
    -- version:4 (see store_rows.py).
    label          text NOT NULL,
    created_at     timestamptz NOT NULL,
    checkpoint_id  text NOT NULL,
    state          text NOT NULL,
    PRIMARY KEY (tenant, label, created_at, checkpoint_id) INCLUDE (state),
    FOREIGN KEY (tenant, checkpoint_id) REFERENCES personalq.checkpoints ON DELETE CASCADE
);
CREATE INDEX labels_checkpoint ON personalq.labels (tenant, checkpoint_id);

INSERT INTO personalq.labels (tenant, label, created_at, checkpoint_id, state)
SELECT c.tenant, l.label, c.created_at, c.checkpoint_id, c.state
  FROM personalq.checkpoints c
 CROSS JOIN LATERAL (
        SELECT 'subject:' || key AS label FROM unnest(c.subject_keys) key
        UNION SELECT 'style:' || key FROM unnest(c.style_keys) key
        UNION SELECT 'environment:' || key FROM unnest(c.environment_keys) key
        UNION SELECT 'owner:' || c.owner_key WHERE c.owner_key <> ''
        UNION SELECT 'version:' || c.version WHERE c.version IS NOT NULL) l;
"""

# The words of a card apart from the card: ranking reads thousands of them. Row-level security is
# not forced here, so that the view below, which is the owner's, is exempt from it: its own WHERE
# keeps tenants apart, and `@@` may then use an index. The service reads the view and writes the
# table, where the policy binds it as everywhere else.
WORDS = """
CREATE TABLE personalq.card_words (
    tenant         text NOT NULL,
    checkpoint_id  text NOT NULL,
    -- Built by words.py: A triggers, ids and subjects, B styles, D description and environments.
    lexemes        tsvector NOT NULL,
    PRIMARY KEY (tenant, checkpoint_id),
    FOREIGN KEY (tenant, checkpoint_id) REFERENCES personalq.checkpoints ON DELETE CASCADE
);
INSERT INTO personalq.card_words SELECT tenant, checkpoint_id, lexemes FROM personalq.checkpoints;

CREATE VIEW personalq.tenant_words AS
SELECT tenant, checkpoint_id, lexemes
  FROM personalq.card_words
 WHERE tenant = NULLIF(current_setting('app.tenant', true), '');
"""

# With these, the first cards by any order, and those of any time, are a stretch of an index.
CHECKPOINTS = """
ALTER TABLE personalq.checkpoints FORCE ROW LEVEL SECURITY;
ALTER TABLE personalq.checkpoints
    DROP COLUMN subject_keys, DROP COLUMN style_keys, DROP COLUMN environment_keys,
    DROP COLUMN owner_key, DROP COLUMN lexemes;
DROP INDEX personalq.checkpoints_created;
CREATE INDEX checkpoints_created
    ON personalq.checkpoints (tenant, created_at DESC, checkpoint_id) INCLUDE (state);
CREATE INDEX checkpoints_used
    ON personalq.checkpoints (tenant, last_used_at DESC NULLS LAST, created_at DESC, checkpoint_id)
    INCLUDE (state);
CREATE INDEX checkpoints_use_count
    ON personalq.checkpoints (tenant, use_count DESC, created_at DESC, checkpoint_id)
    INCLUDE (state);
"""

# Tenants whose cards have indexes of their own (see `python -m personalq.catalog index`). Not under
# row-level security: it is the upkeep's list, like `tenants`; only the owner writes it.
INDEXED = """
CREATE TABLE personalq.indexed_tenants (
    tenant        text NOT NULL REFERENCES personalq.tenants,
    -- The embedding model; its vectors are those of the index.
    model         text NOT NULL,
    -- What too many of the tenant's cards say to be worth looking up.
    common_words  text[] NOT NULL,
    cards         bigint NOT NULL,
    indexed_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, model)
);
GRANT SELECT ON personalq.indexed_tenants TO personalq_app;
"""

GRANTS = """
SELECT personalq.isolate_tenants('labels');
SELECT personalq.isolate_tenants('card_words');
ALTER TABLE personalq.card_words NO FORCE ROW LEVEL SECURITY;
GRANT SELECT ON personalq.tenant_words TO personalq_app;
"""


def upgrade() -> None:
    """Create the narrow tables and fill them from the stored cards."""
    for step in (LABELS, WORDS, CHECKPOINTS, INDEXED, GRANTS):
        op.execute(step)


def downgrade() -> None:
    """There is no way back: what it took from the cards is made by the service, not by SQL."""
    raise NotImplementedError
