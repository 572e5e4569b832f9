"""Who is calling, and with what key. Issues, finds and revokes agent keys and personal tokens, each with its event."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TypeVar

from django.db import transaction

from approvals import audit
from approvals.models import Agent, AgentKey, Credential, EventKind, Person, PersonalToken
from approvals.models.actors import Actor

C = TypeVar("C", bound=Credential)
USE_IS_NOTED_EVERY = timedelta(minutes=1)


@transaction.atomic
def issue_agent_key(
    *, agent: Agent, actor: Actor, at: datetime, name: str = "", expires_at: datetime | None = None
) -> tuple[AgentKey, str]:
    """A new key and its text, which is never shown again."""
    prefix, text, digest = AgentKey.make_secret()
    key = AgentKey.objects.create(agent=agent, name=name, prefix=prefix, digest=digest, created_at=at, expires_at=expires_at)
    data = {"agent": agent.name, "prefix": prefix, "name": name}
    audit.record_administration(EventKind.KEY_ISSUED, at=at, actor=actor, data=data)
    return key, text


@transaction.atomic
def issue_personal_token(
    *, person: Person, actor: Actor, at: datetime, name: str = "", expires_at: datetime | None = None
) -> tuple[PersonalToken, str]:
    """A new token and its text, which is never shown again."""
    prefix, text, digest = PersonalToken.make_secret()
    token = PersonalToken.objects.create(
        person=person, name=name, prefix=prefix, digest=digest, created_at=at, expires_at=expires_at
    )
    data = {"person": person.username, "prefix": prefix, "name": name}
    audit.record_administration(EventKind.TOKEN_ISSUED, at=at, actor=actor, data=data)
    return token, text


@transaction.atomic
def revoke(*, credential: Credential, actor: Actor, at: datetime) -> None:
    """Ends a key or token at once. A repeat is harmless."""
    if type(credential)._default_manager.filter(pk=credential.pk, revoked_at=None).update(revoked_at=at):
        kind = EventKind.KEY_REVOKED if isinstance(credential, AgentKey) else EventKind.TOKEN_REVOKED
        audit.record_administration(kind, at=at, actor=actor, data={"prefix": credential.prefix, "name": credential.name})


def agent_by_key(text: str, at: datetime) -> Agent | None:
    """The agent whose live key this is."""
    key = _find(AgentKey, text, at, "agent")
    return key.agent if key is not None and key.agent.is_active else None


def person_by_token(text: str, at: datetime) -> Person | None:
    """The person whose live token this is."""
    token = _find(PersonalToken, text, at, "person")
    return token.person if token is not None and token.person.is_active else None


def _find(kind: type[C], text: str, at: datetime, owner: str) -> C | None:
    if (prefix := kind.prefix_of(text)) is None:
        return None
    found: C | None = kind._default_manager.filter(prefix=prefix).select_related(owner).first()
    if found is None or not found.matches(text) or not found.is_live(at):
        return None
    if found.last_used_at is None or found.last_used_at < at - USE_IS_NOTED_EVERY:
        kind._default_manager.filter(pk=found.pk).update(last_used_at=at)
    return found
