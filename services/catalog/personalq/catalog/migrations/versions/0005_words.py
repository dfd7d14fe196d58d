"""Vectors of the words of each card's phrases, beside those of the phrases."""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"

# As in 0004, and with words, which are stored like the phrases.
_ADD_PHRASES = """
CREATE OR REPLACE FUNCTION personalq.add_phrases(dim integer) RETURNS void
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
    {add_words}
END $$;
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
_ADD = """
        EXECUTE format('ALTER TABLE personalq.%I ADD COLUMN words halfvec(%s)[]',
                       name, substring(name FROM '[0-9]+$'));
        EXECUTE format('ALTER TABLE personalq.%I ALTER words SET STORAGE EXTERNAL', name);
"""
_DROP = "EXECUTE format('ALTER TABLE personalq.%I DROP COLUMN words', name);"


def upgrade() -> None:
    """Make room beside the phrases there are, and beside those of models to come."""
    op.execute(_OF_EACH_TABLE.replace("{do}", _ADD))
    op.execute(_ADD_PHRASES.replace("{add_words}", _ADD))


def downgrade() -> None:
    """Drop what was added; the service makes it again."""
    op.execute(_ADD_PHRASES.replace("{add_words}", ""))
    op.execute(_OF_EACH_TABLE.replace("{do}", _DROP))
