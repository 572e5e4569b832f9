"""Who is calling: an agent by its key, a person by a personal token or a session."""

from __future__ import annotations

from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.request import Request

from approvals import access
from approvals.api.callers import AgentCaller
from approvals.clock import now
from approvals.models import Person


class _BearerAuthentication(BaseAuthentication):
    prefix: str

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="toolgate"'

    def presented(self, request: Request) -> str | None:
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        secret = secret.strip()
        return secret if scheme.lower() == "bearer" and secret.startswith(self.prefix) else None


class AgentKeyAuthentication(_BearerAuthentication):
    prefix = "tg_agent_"

    def authenticate(self, request: Request) -> tuple[AgentCaller, str] | None:
        if (secret := self.presented(request)) is None:
            return None
        if (agent := access.agent_by_key(secret, now())) is None:
            raise AuthenticationFailed("This agent key is unknown, revoked or over.")
        return AgentCaller(agent), "key"


class PersonalTokenAuthentication(_BearerAuthentication):
    prefix = "tg_person_"

    def authenticate(self, request: Request) -> tuple[Person, str] | None:
        if (secret := self.presented(request)) is None:
            return None
        if (person := access.person_by_token(secret, now())) is None:
            raise AuthenticationFailed("This personal token is unknown, revoked or over.")
        return person, "token"


class ReviewerSessionAuthentication(SessionAuthentication):
    """The session of the web pages, with its CSRF check. Never what is left when another proof was offered and failed."""

    def authenticate(self, request: Request) -> tuple[Person, str] | None:
        if request.headers.get("Authorization"):
            raise AuthenticationFailed("Send `Authorization: Bearer` with an agent's key or a personal token.")
        found = super().authenticate(request)
        return None if found is None else (found[0], "session")

    def enforce_csrf(self, request: Request) -> None:
        try:
            super().enforce_csrf(request)
        except PermissionDenied as refused:
            raise PermissionDenied("With a session, changes need the CSRF token.", "csrf_failed") from refused
