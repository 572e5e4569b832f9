"""What `verify` finds: every change of every byte of the trail, a cut end, a missing call, a row that tells another story."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from approvals.audit import verify_all, verify_chain
from approvals.audit.chain import record_administration
from approvals.clock import now
from approvals.models import AuditEvent, Decision, EventKind, Resolution, Status, ToolCall
from approvals.models.actors import SYSTEM
from approvals.models.append_only import REMOVE
from tests.calls import CallMaker

pytestmark = pytest.mark.django_db


@pytest.fixture
def unprotected() -> None:
    """Somebody with the rights of the database's owner took the triggers away."""
    with connection.cursor() as cursor:
        for statement in REMOVE[connection.vendor]:
            cursor.execute(statement)


COLUMNS: dict[str, Any] = {
    "kind": "rejected",
    "at": datetime.now(UTC),
    "tool": "another",
    "actor_kind": "clock",
    "actor_id": "7",
    "actor_name": "Mallory",
    "data": '{"status":"approved"}',
    "previous": "f" * 64,
    "digest": "e" * 64,
    "sequence": 9,
}


@pytest.mark.usefixtures("unprotected")
@pytest.mark.parametrize("column", list(COLUMNS))
@pytest.mark.parametrize("place", [1, 2, 3])
def test_names_the_event_whose_column_was_changed(column: str, place: int, make_call: CallMaker) -> None:
    chain = str(make_call(Status.SUCCEEDED).pk)
    assert verify_chain(chain).is_whole
    AuditEvent.objects.filter(chain=chain, sequence=place).update(**{column: COLUMNS[column]})
    found = verify_chain(chain)
    assert not found.is_whole
    assert found.broken_at == place


@pytest.mark.usefixtures("unprotected")
def test_names_the_event_for_each_single_byte_of_its_data(make_call: CallMaker) -> None:
    chain = str(make_call(Status.APPROVED).pk)
    event = AuditEvent.objects.get(chain=chain, sequence=2)
    for place in range(len(event.data)):
        changed = event.data[:place] + chr(ord(event.data[place]) ^ 1) + event.data[place + 1 :]
        AuditEvent.objects.filter(pk=event.pk).update(data=changed)
        assert verify_chain(chain).broken_at == 2


@pytest.mark.usefixtures("unprotected")
def test_shows_a_cut_end_and_an_emptied_chain(make_call: CallMaker) -> None:
    call = make_call(Status.SUCCEEDED)
    AuditEvent.objects.filter(chain=str(call.pk), sequence=call.chain_length).delete()
    assert "its end was cut" in verify_chain(str(call.pk)).problem
    AuditEvent.objects.filter(chain=str(call.pk)).delete()
    assert "its end was cut" in verify_chain(str(call.pk)).problem


@pytest.mark.usefixtures("unprotected")
@pytest.mark.parametrize("cut", [5, None], ids=["the last five", "all"])
def test_misses_the_newest_records_and_all_of_them(cut: int | None, make_call: CallMaker) -> None:  # B173
    calls = [make_call(Status.REJECTED) for _ in range(4)]
    record_administration(EventKind.KEY_ISSUED, at=now(), actor=SYSTEM, data={})
    assert all(found.is_whole for found in verify_all())
    newest = AuditEvent.objects.order_by("-id").values_list("pk", flat=True)[:cut]
    gone = AuditEvent.objects.filter(pk__in=list(newest))
    expected = set(gone.values_list("chain", flat=True))
    gone._raw_delete(gone.db)
    broken = {found.chain for found in verify_all() if not found.is_whole}
    assert broken == expected
    assert len(broken) == (3 if cut else len(calls) + 1)


@pytest.mark.usefixtures("unprotected")
def test_shows_an_event_missing_in_the_middle(make_call: CallMaker) -> None:
    call = make_call(Status.SUCCEEDED)
    AuditEvent.objects.filter(chain=str(call.pk), sequence=2).delete()
    assert verify_chain(str(call.pk)).problem == "event 2 is missing"


def test_shows_a_call_whose_row_tells_another_story(make_call: CallMaker) -> None:
    call = make_call(Status.REJECTED)
    ToolCall.objects.filter(pk=call.pk).update(status=Status.DENIED)
    assert verify_chain(str(call.pk)).problem == "the call says denied, its trail says rejected"


def test_shows_changed_arguments_and_results(make_call: CallMaker) -> None:
    call = make_call(Status.SUCCEEDED)
    ToolCall.objects.filter(pk=call.pk).update(submitted='{"amount": 5000}')
    assert "submitted arguments" in verify_chain(str(call.pk)).problem
    ToolCall.objects.filter(pk=call.pk).update(submitted=call.submitted, result="{}")
    assert "result" in verify_chain(str(call.pk)).problem


@pytest.mark.parametrize("column", ["input", "resolved", "types", "digest", "headline"])
@pytest.mark.parametrize("row", ["resolution", "effective"])
def test_shows_changed_arguments_that_people_saw_or_a_body_received(row: str, column: str, make_call: CallMaker) -> None:
    call = make_call(Status.SUCCEEDED)
    Resolution.objects.filter(pk=getattr(call, f"{row}_id")).update(**{column: '{"a":2}'})
    assert "arguments are not those that were recorded" in verify_chain(str(call.pk)).problem


def test_shows_another_digest_put_in_the_place_of_the_approved_one(make_call: CallMaker) -> None:
    call = make_call(Status.APPROVED)
    ToolCall.objects.filter(pk=call.pk).update(approved_digest="f" * 64)
    assert "what may run is not what was recorded" in verify_chain(str(call.pk)).problem


def test_shows_a_changed_decision(make_call: CallMaker) -> None:
    call = make_call(Status.APPROVED)
    Decision.objects.filter(call=call).update(person_name="Somebody else")
    assert "decision" in verify_chain(str(call.pk)).problem


def test_walks_every_chain_and_the_one_of_administration(make_call: CallMaker) -> None:
    call = make_call()
    record_administration(EventKind.KEY_ISSUED, at=now(), actor=SYSTEM, data={"prefix": "x"})
    chains = {found.chain for found in verify_all() if found.is_whole}
    assert {str(call.pk), "administration"} <= chains


_AGAIN = (
    "INTO approvals_auditevent SELECT id, chain, sequence, 'denied', at, tool, actor_kind, actor_id, actor_name, data, "
    "previous, digest FROM approvals_auditevent WHERE true"
)
_CHANGES = ("UPDATE approvals_auditevent SET actor_name = 'Mallory'", "DELETE FROM approvals_auditevent")
REFUSED = {
    "sqlite": (
        *_CHANGES,
        f"INSERT OR REPLACE {_AGAIN}",
        f"REPLACE {_AGAIN}",
        f"INSERT {_AGAIN} ON CONFLICT (id) DO UPDATE SET kind = excluded.kind",
        "UPDATE OR REPLACE approvals_auditevent SET kind = 'denied'",
    ),
    "postgresql": (
        *_CHANGES,
        "TRUNCATE approvals_auditevent",
        "TRUNCATE approvals_auditevent CASCADE",
        f"INSERT {_AGAIN} ON CONFLICT (id) DO UPDATE SET kind = excluded.kind",
        "MERGE INTO approvals_auditevent old USING approvals_auditevent new ON old.id = new.id WHEN MATCHED THEN DELETE",
    ),
}


@pytest.mark.parametrize("statement", REFUSED[connection.vendor])
def test_database_itself_refuses(statement: str, make_call: CallMaker) -> None:
    chain = str(make_call().pk)
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert verify_chain(chain).is_whole
