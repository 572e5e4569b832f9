"""The triggers by which the database itself refuses to change the trail. Installed by a migration.

SQLite fires them for INSERT OR REPLACE only with `recursive_triggers` on, which the settings see to.
"""

from __future__ import annotations

TABLE = "approvals_auditevent"

_SQLITE = [
    f"CREATE TRIGGER trail_no_{verb.lower()} BEFORE {verb} ON {TABLE} "
    "BEGIN SELECT RAISE(ABORT, 'the trail is append-only'); END"
    for verb in ("UPDATE", "DELETE")
]
_POSTGRESQL = [
    "CREATE FUNCTION trail_is_append_only() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION 'the trail is append-only'; END $$",
    f"CREATE TRIGGER trail_no_change BEFORE UPDATE OR DELETE ON {TABLE} FOR EACH ROW EXECUTE FUNCTION trail_is_append_only()",
    f"CREATE TRIGGER trail_no_truncate BEFORE TRUNCATE ON {TABLE} FOR EACH STATEMENT EXECUTE FUNCTION trail_is_append_only()",
]
INSTALL = {"sqlite": _SQLITE, "postgresql": _POSTGRESQL}
REMOVE = {
    "sqlite": ["DROP TRIGGER trail_no_update", "DROP TRIGGER trail_no_delete"],
    "postgresql": [
        f"DROP TRIGGER trail_no_change ON {TABLE}",
        f"DROP TRIGGER trail_no_truncate ON {TABLE}",
        "DROP FUNCTION trail_is_append_only()",
    ],
}
