"""How an event joins its chain. Each tool call has a chain of its own, so calls never queue behind one another."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.db import transaction

from approvals.models import Administration, AuditEvent, EventKind
from approvals.models.actors import Actor
from approvals.models.audit import ChainHead
from approvals.models.identity import uuid7
from approvals.rendering import sha256
from toolgate.tools.canonical import canonical


def link(
    chain: str, head: ChainHead, *, kind: EventKind, at: datetime, actor: Actor, data: dict[str, Any], tool: str = ""
) -> AuditEvent:
    """The next event of `chain`, not yet saved. The caller moves the head with a guarded update, then saves it."""
    facts = {**data, "login": actor.login} if actor.login else data
    event = AuditEvent(
        id=uuid7(),
        chain=chain,
        sequence=head.chain_length + 1,
        kind=kind,
        at=at,
        tool=tool,
        actor_kind=actor.kind,
        actor_id=actor.id,
        actor_name=actor.name[:200],
        data=canonical(facts),
        previous=head.chain_head,
    )
    event.digest = digest_of(event)
    return event


def digest_of(event: AuditEvent) -> str:
    """What every other column of an event must hash to. The instant counts to the microsecond, which both databases keep."""
    return sha256(
        canonical(
            {
                "id": str(event.id),
                "chain": event.chain,
                "sequence": event.sequence,
                "kind": str(event.kind),
                "at": event.at.astimezone(UTC).isoformat(timespec="microseconds"),
                "tool": event.tool,
                "actor": [event.actor_kind, event.actor_id, event.actor_name],
                "data": event.data,
                "previous": event.previous,
            }
        )
    )


def record_administration(kind: EventKind, *, at: datetime, actor: Actor, data: dict[str, Any]) -> AuditEvent:
    """One event on the chain that belongs to no call. Its head row is locked for the moment it takes."""
    with transaction.atomic():
        Administration.objects.get_or_create(name=Administration.NAME)
        head = Administration.objects.select_for_update().get(name=Administration.NAME)
        event = link(Administration.NAME, head, kind=kind, at=at, actor=actor, data=data)
        head.chain_length, head.chain_head = event.sequence, event.digest
        head.save(update_fields=["chain_length", "chain_head"])
        event.save(force_insert=True)
    return event
