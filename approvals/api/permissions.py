"""Which kind of caller an endpoint is for. What somebody may not see is 404; the wrong kind of caller is 403."""

from __future__ import annotations

from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from approvals.api.callers import AgentCaller
from approvals.models import Person


class _Caller(BasePermission):
    def has_permission(self, request: Request, view: APIView) -> bool:
        return bool(request.user and request.user.is_authenticated) and self.is_right(request.user)

    def is_right(self, user: object) -> bool:
        raise NotImplementedError


class IsAgent(_Caller):
    message = "This endpoint is for agents: send an agent's key."

    def is_right(self, user: object) -> bool:
        return isinstance(user, AgentCaller)


class IsPerson(_Caller):
    message = "This endpoint is for people: an agent's key can never decide, nor read what reviewers read."

    def is_right(self, user: object) -> bool:
        return isinstance(user, Person)


class IsAuditor(_Caller):
    message = "This endpoint is for auditors and administrators."

    def is_right(self, user: object) -> bool:
        return isinstance(user, Person) and (user.is_auditor or user.is_superuser)


class IsAgentToWrite(_Caller):
    """Agents and people read; agents write."""

    message = IsAgent.message

    def has_permission(self, request: Request, view: APIView) -> bool:
        self.only_agents = request.method == "POST"
        return super().has_permission(request, view)

    def is_right(self, user: object) -> bool:
        return isinstance(user, AgentCaller) or (isinstance(user, Person) and not self.only_agents)
