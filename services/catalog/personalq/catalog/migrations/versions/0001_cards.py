"""Cards, triggers, artifacts, embeddings; row-level security by tenant."""

from __future__ import annotations

from alembic import op

revision = "0001"
down_revision = None

# The role the service works as. It owns nothing, cannot log in and cannot bypass row-level
# security; a login becomes a member of it and takes it on when it connects. Roles belong to the
# whole server, so another database of it may have created it already, or be about to.
ROLE = """
DO $$
BEGIN
    CREATE ROLE personalq_app NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;
END $$;

-- Whoever creates a role may hand it on, but not take it on: SET is a right of its own. Where
-- somebody else created it, its memberships are that one's business.
DO $$
BEGIN
    IF NOT pg_has_role(current_user, 'personalq_app', 'SET') THEN
        GRANT personalq_app TO CURRENT_USER;
    END IF;
EXCEPTION WHEN insufficient_privilege THEN
    NULL;
END $$;

GRANT USAGE ON SCHEMA personalq TO personalq_app;
"""

# One row per tenant, and the lock every writer of a tenant takes. Because it is held until commit,
# `revision` numbers appear in commit order, which a sequence does not promise: whoever has seen
# revision n and asks for what is newer misses nothing. Not under row-level security: the
# background loops have to know which tenants there are. It tells nothing but their names.
TENANTS = """
CREATE TABLE personalq.tenants (
    tenant               text PRIMARY KEY,
    -- Distinguishes this catalog from one that was set up anew with the same numbers.
    epoch                text NOT NULL DEFAULT left(gen_random_uuid()::text, 8),
    revision             bigint NOT NULL DEFAULT 0,
    vocabulary_revision  bigint NOT NULL DEFAULT 0
);
"""

CHECKPOINTS = """
CREATE TABLE personalq.checkpoints (
    tenant                 text NOT NULL REFERENCES personalq.tenants,
    checkpoint_id          text NOT NULL,
    name                   text NOT NULL,
    triggers               text[] NOT NULL,
    subjects               text[] NOT NULL,
    styles                 text[] NOT NULL,
    description            text NOT NULL,
    base_model             text NOT NULL,
    version                integer,
    created_at             timestamptz NOT NULL,
    last_used_at           timestamptz,
    use_count              bigint NOT NULL,
    environments           text[] NOT NULL,
    owner                  text NOT NULL,
    source_uri             text NOT NULL,
    source_sha256          text NOT NULL,
    source_size_bytes      bigint NOT NULL,
    source_format          text NOT NULL
        CHECK (source_format IN ('lora', 'full', 'textual_inversion')),
    lora_rank              integer,
    cross_attention_width  integer,
    state                  text NOT NULL
        CHECK (state IN ('registered', 'servable', 'failed', 'archived')),
    state_reason           text NOT NULL,
    registered_at          timestamptz NOT NULL,
    updated_at             timestamptz NOT NULL,
    -- The tenant's revision at the last change.
    revision               bigint NOT NULL,
    -- Hash of what was asked to be registered; the same again is no news.
    registration_hash      text NOT NULL,
    -- Hash of the text the embedding is made from.
    text_hash              text NOT NULL,
    -- Normalized words for comparison (see words.py).
    subject_keys           text[] NOT NULL,
    style_keys             text[] NOT NULL,
    environment_keys       text[] NOT NULL,
    owner_key              text NOT NULL,
    -- Built by words.py: A triggers, ids and subjects, B styles, D description and environments.
    lexemes                tsvector NOT NULL,
    -- When quantization was last asked for, and how often without an answer.
    requested_at           timestamptz NOT NULL DEFAULT now(),
    requests               integer NOT NULL DEFAULT 1,
    PRIMARY KEY (tenant, checkpoint_id)
);

-- ListCheckpoints and the order keys.
CREATE INDEX checkpoints_created ON personalq.checkpoints (tenant, created_at DESC, checkpoint_id);
-- WatchCheckpoints.
CREATE INDEX checkpoints_revision ON personalq.checkpoints (tenant, revision);

-- Lower-case lookup. A table and not a GIN index over the array: `&&` and `@@` are not leakproof,
-- so under row-level security PostgreSQL never uses an index for them; for `=` it does.
CREATE TABLE personalq.triggers (
    tenant         text NOT NULL,
    checkpoint_id  text NOT NULL,
    trigger_key    text NOT NULL,
    PRIMARY KEY (tenant, trigger_key, checkpoint_id),
    FOREIGN KEY (tenant, checkpoint_id) REFERENCES personalq.checkpoints ON DELETE CASCADE
);
CREATE INDEX triggers_checkpoint ON personalq.triggers (tenant, checkpoint_id);
"""

# What became of each profile of each source a checkpoint ever had. Rows of an earlier source are
# stale: readers join on the card's present source, so they count again if it comes back.
ARTIFACTS = """
CREATE TABLE personalq.artifacts (
    tenant                 text NOT NULL,
    checkpoint_id          text NOT NULL,
    source_sha256          text NOT NULL,
    profile                text NOT NULL,
    -- Empty while there is only a failure.
    digest                 text NOT NULL DEFAULT '',
    size_bytes             bigint NOT NULL DEFAULT 0,
    base_digest            text NOT NULL DEFAULT '',
    base_size_bytes        bigint NOT NULL DEFAULT 0,
    base_model             text NOT NULL DEFAULT '',
    recipe_version         integer NOT NULL DEFAULT 0,
    triggers               text[] NOT NULL DEFAULT '{}',
    created_at             timestamptz,
    -- The last failure that no later success answered, and the recipe that was current then.
    failed_at              timestamptz,
    failed_reason          text NOT NULL DEFAULT '',
    failed_recipe_version  integer NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, checkpoint_id, source_sha256, profile),
    FOREIGN KEY (tenant, checkpoint_id) REFERENCES personalq.checkpoints ON DELETE CASCADE
);
"""

# Vectors live in narrow tables of their own, one per width, so that scanning cards never drags
# them in and each can be indexed. A row names its model: while a new model's vectors are being
# made, processes that still run the old one keep theirs. Created by a function of the owner's, so
# that a service configured with another model can start without a migration.
EMBEDDINGS = """
CREATE FUNCTION personalq.ensure_embedding_table(dim integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = personalq, public, pg_temp
AS $$
DECLARE
    name text := format('embeddings_%s', dim);
BEGIN
    IF dim NOT BETWEEN 1 AND 4000 THEN
        RAISE EXCEPTION 'embeddings are 1 to 4000 numbers wide, not %', dim;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtext('personalq.embeddings'));
    IF to_regclass('personalq.' || name) IS NOT NULL THEN
        RETURN;
    END IF;
    EXECUTE format('
        CREATE TABLE personalq.%I (
            tenant         text NOT NULL,
            checkpoint_id  text NOT NULL,
            model          text NOT NULL,
            text_hash      text NOT NULL,
            embedding      halfvec(%s) NOT NULL,
            PRIMARY KEY (tenant, checkpoint_id, model),
            FOREIGN KEY (tenant, checkpoint_id)
                REFERENCES personalq.checkpoints ON DELETE CASCADE
        )', name, dim);
    -- Inline storage is three times as fast to scan, as long as a row fits a page.
    IF dim <= 3500 THEN
        EXECUTE format('ALTER TABLE personalq.%I ALTER embedding SET STORAGE PLAIN', name);
    END IF;
    PERFORM personalq.isolate_tenants(name);
END $$;
"""

# NULLIF: after a transaction the setting reads as '', not NULL. Without a tenant nothing is seen.
ISOLATION = """
CREATE FUNCTION personalq.isolate_tenants(name text) RETURNS void
LANGUAGE plpgsql SET search_path = personalq, public, pg_temp
AS $$
BEGIN
    EXECUTE format('ALTER TABLE personalq.%I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE personalq.%I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('
        CREATE POLICY tenant_isolation ON personalq.%I
            USING (tenant = NULLIF(current_setting(''app.tenant'', true), ''''))
            WITH CHECK (tenant = NULLIF(current_setting(''app.tenant'', true), ''''))
        ', name);
    EXECUTE format(
        'GRANT SELECT, INSERT, UPDATE, DELETE ON personalq.%I TO personalq_app', name);
END $$;
"""

GRANTS = """
SELECT personalq.isolate_tenants('checkpoints');
SELECT personalq.isolate_tenants('triggers');
SELECT personalq.isolate_tenants('artifacts');
GRANT SELECT, INSERT, UPDATE ON personalq.tenants TO personalq_app;
GRANT SELECT ON personalq.alembic_version TO personalq_app;
REVOKE ALL ON FUNCTION personalq.isolate_tenants(text) FROM PUBLIC;
REVOKE ALL ON FUNCTION personalq.ensure_embedding_table(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION personalq.ensure_embedding_table(integer) TO personalq_app;
"""


def upgrade() -> None:
    """Create everything in the schema `personalq`."""
    op.execute("CREATE EXTENSION IF NOT EXISTS vector")
    for step in (ROLE, TENANTS, CHECKPOINTS, ARTIFACTS, ISOLATION, EMBEDDINGS, GRANTS):
        op.execute(step)


def downgrade() -> None:
    """Drop the schema, but neither the extension nor the role: others may use them."""
    op.execute("DROP SCHEMA personalq CASCADE")
