"""Who is calling: an agent by its key, a person by a personal token or a session."""

from __future__ import annotations

from dataclasses import dataclass

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from approvals import access
from approvals.clock import now
from approvals.models import Agent, Person


@dataclass(frozen=True, slots=True)
class AgentCaller:
    """Stands where Django expects a user. It is never a Person, so it can never decide."""

    agent: Agent
    is_authenticated: bool = True
    is_active: bool = True

    @property
    def pk(self) -> str:
        return str(self.agent.pk)


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
    """The session of the web pages, with its CSRF check."""

    def authenticate(self, request: Request) -> tuple[Person, str] | None:
        found = super().authenticate(request)
        return None if found is None else (found[0], "session")


class _KeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call] # the library is not typed
    target_class = AgentKeyAuthentication
    name = "agentKey"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "An agent's key, `tg_agent_…`."}


class _TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call] # the library is not typed
    target_class = PersonalTokenAuthentication
    name = "personalToken"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A reviewer's personal token, `tg_person_…`."}


class _SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call] # the library is not typed
    target_class = ReviewerSessionAuthentication
    name = "session"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "apiKey", "in": "cookie", "name": "sessionid"}
