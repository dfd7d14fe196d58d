"""How many cards of a tenant can be selected, kept by the database itself as they change.

A search tells how many cards satisfy it, and counting all 100,000 of a tenant is half the work of
one that constrains nothing. Triggers count, not the service: services of an earlier version may
still write, and rows may be copied in.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import text

revision = "0006"
down_revision = "0005"

_COLUMN = "ALTER TABLE personalq.tenants ADD COLUMN selectable bigint NOT NULL DEFAULT 0"

# Rows come and go a statement at a time, many of them in a copy; their states change one by one,
# and most updates change no state.
_FUNCTION = """
CREATE FUNCTION personalq.count_selectable() RETURNS trigger
LANGUAGE plpgsql SET search_path = personalq, public, pg_temp
AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        UPDATE tenants t SET selectable = t.selectable + c.cards
          FROM (SELECT tenant, count(*) AS cards FROM came
                 WHERE state IN ('registered', 'servable') GROUP BY tenant) c
         WHERE t.tenant = c.tenant;
    ELSIF TG_OP = 'DELETE' THEN
        UPDATE tenants t SET selectable = t.selectable - c.cards
          FROM (SELECT tenant, count(*) AS cards FROM went
                 WHERE state IN ('registered', 'servable') GROUP BY tenant) c
         WHERE t.tenant = c.tenant;
    ELSE
        UPDATE tenants
           SET selectable = selectable
               + (NEW.state IN ('registered', 'servable'))::int
               - (OLD.state IN ('registered', 'servable'))::int
         WHERE tenant = NEW.tenant;
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
UPDATE personalq.tenants
   SET selectable = (SELECT count(*) FROM personalq.checkpoints
                      WHERE tenant = :tenant AND state IN ('registered', 'servable'))
 WHERE tenant = :tenant
""")


def upgrade() -> None:
    """Count what there is, and from now on what changes; writers wait meanwhile."""
    for step in (_COLUMN, _FUNCTION, _TRIGGERS):
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
    op.execute("ALTER TABLE personalq.tenants DROP COLUMN selectable")
