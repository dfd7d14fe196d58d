"""How many cards of a tenant can be selected, kept by the database itself as they change.

A search tells how many cards satisfy it, and counting all 100,000 of a tenant is half the work of
one that constrains nothing. Triggers count, not the service: services of an earlier version may
still write. Only what leaves triggers out (TRUNCATE, session_replication_role) must count itself.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import text

revision = "0006"
down_revision = "0005"

# Apart from `tenants`: that one is read by every request, and knows no row-level security.
_TABLE = """
CREATE TABLE personalq.card_counts (
    tenant      text PRIMARY KEY REFERENCES personalq.tenants,
    selectable  bigint NOT NULL
) WITH (fillfactor = 50);
SELECT personalq.isolate_tenants('card_counts');
"""

# Rows come and go a statement at a time, many of them in a copy; their states change one by one,
# and most updates change no state.
_FUNCTION = """
CREATE FUNCTION personalq.count_selectable() RETURNS trigger
LANGUAGE plpgsql SET search_path = personalq, public, pg_temp
AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO card_counts AS k (tenant, selectable)
        SELECT tenant, count(*) FROM came
         WHERE state IN ('registered', 'servable') GROUP BY tenant
            ON CONFLICT (tenant) DO UPDATE SET selectable = k.selectable + excluded.selectable;
    ELSIF TG_OP = 'DELETE' THEN
        UPDATE card_counts k SET selectable = k.selectable - c.cards
          FROM (SELECT tenant, count(*) AS cards FROM went
                 WHERE state IN ('registered', 'servable') GROUP BY tenant) c
         WHERE k.tenant = c.tenant;
    ELSE
        INSERT INTO card_counts AS k (tenant, selectable)
        VALUES (NEW.tenant, (NEW.state IN ('registered', 'servable'))::int
                            - (OLD.state IN ('registered', 'servable'))::int)
            ON CONFLICT (tenant) DO UPDATE SET selectable = k.selectable + excluded.selectable;
    END IF;
    RETURN NULL;
END $$;
"""
_TRIGGERS = """
CREATE TRIGGER came AFTER INSERT ON personalq.checkpoints
    REFERENCING NEW TABLE AS came
    FOR EACH STATEMENT EXECUTE FUNCTION personalq.count_selectable();
CREATE TRIGGER went AFTER DELETE ON personalq.checkpoints
    REFERENCING OLD TABLE AS went
    FOR EACH STATEMENT EXECUTE FUNCTION personalq.count_selectable();
CREATE TRIGGER changed AFTER UPDATE ON personalq.checkpoints
    FOR EACH ROW WHEN (OLD.state <> NEW.state)
    EXECUTE FUNCTION personalq.count_selectable();
"""

# Forced row-level security binds the owner too.
_SET_TENANT = text("SELECT set_config('app.tenant', :tenant, true)")
_COUNT = text("""
INSERT INTO personalq.card_counts (tenant, selectable)
SELECT :tenant, count(*) FROM personalq.checkpoints
 WHERE tenant = :tenant AND state IN ('registered', 'servable')
""")


def upgrade() -> None:
    """Count what there is, and from now on what changes; writers wait meanwhile, readers do not."""
    for step in (_TABLE, _FUNCTION, _TRIGGERS):
        op.execute(step)
    connection = op.get_bind()
    tenants = connection.execute(text("SELECT tenant FROM personalq.tenants")).scalars().all()
    for tenant in tenants:
        connection.execute(_SET_TENANT, {"tenant": tenant})
        connection.execute(_COUNT, {"tenant": tenant})


def downgrade() -> None:
    """Count no more."""
    for trigger in ("came", "went", "changed"):
        op.execute(f"DROP TRIGGER {trigger} ON personalq.checkpoints")
    op.execute("DROP FUNCTION personalq.count_selectable()")
    op.execute("DROP TABLE personalq.card_counts")
