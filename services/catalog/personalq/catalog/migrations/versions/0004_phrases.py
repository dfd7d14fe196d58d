"""Vectors of the phrases of each card's description, beside the card's own."""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"

# As in 0001, and with what the phrases need: two columns, and their storage.
_ENSURE = """
CREATE OR REPLACE FUNCTION personalq.ensure_embedding_table(dim integer) RETURNS void
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
    {add_phrases}
    PERFORM personalq.isolate_tenants(name);
END $$;
"""

# Without `phrases_hash`, or with that of an earlier text, a row is embedded again, and its vector
# serves meanwhile. A process that knows no phrases may still replace the vector alone; the hash
# tells of that too. Phrases are stored beside the table, where scanning vectors does not read them,
# and uncompressed: there is nothing to gain.
ADD_PHRASES = """
CREATE FUNCTION personalq.add_phrases(dim integer) RETURNS void
LANGUAGE plpgsql SET search_path = personalq, public, pg_temp
AS $$
DECLARE
    name text := format('embeddings_%s', dim);
BEGIN
    EXECUTE format('
        ALTER TABLE personalq.%I
            -- The version of the phrases, and the hash of the text they are of.
            ADD COLUMN phrases_hash text,
            ADD COLUMN phrases halfvec(%s)[]', name, dim);
    EXECUTE format('ALTER TABLE personalq.%I ALTER phrases SET STORAGE EXTERNAL', name);
END $$;
REVOKE ALL ON FUNCTION personalq.add_phrases(integer) FROM PUBLIC;
"""

_OF_EACH_TABLE = """
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN
        SELECT relname FROM pg_class
         WHERE relnamespace = 'personalq'::regnamespace AND relkind = 'r'
           AND relname ~ '^embeddings_[0-9]+$'
    LOOP
        {do}
    END LOOP;
END $$;
"""
_ADD = "PERFORM personalq.add_phrases(CAST(substring(name FROM '[0-9]+$') AS integer));"
_DROP = """
        EXECUTE format('
            ALTER TABLE personalq.%I DROP COLUMN phrases_hash, DROP COLUMN phrases', name);
"""


def upgrade() -> None:
    """Make room beside the vectors there are, and beside those of models to come."""
    op.execute(ADD_PHRASES)
    op.execute(_OF_EACH_TABLE.replace("{do}", _ADD))
    op.execute(_ENSURE.replace("{add_phrases}", "PERFORM personalq.add_phrases(dim);"))


def downgrade() -> None:
    """Drop what was added; the service makes it again."""
    op.execute(_ENSURE.replace("{add_phrases}", ""))
    op.execute(_OF_EACH_TABLE.replace("{do}", _DROP))
    op.execute("DROP FUNCTION personalq.add_phrases(integer)")
