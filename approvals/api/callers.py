"""The caller of a request: an agent, or a person; and what each of them may see."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db.models import prefetch_related_objects
from rest_framework.exceptions import NotAuthenticated
from rest_framework.request import Request

from approvals.clock import now
from approvals.lifecycle import NotPossible, Reviewer
from approvals.lifecycle.ending import end_if_overdue
from approvals.models import Agent, Person, ToolCall, ToolCallQuerySet


@dataclass(frozen=True, slots=True)
class AgentCaller:
    """Stands where Django expects a user. It is never a Person, so it can never decide."""

    agent: Agent
    is_authenticated: bool = True
    is_active: bool = True

    @property
    def pk(self) -> str:
        return str(self.agent.pk)


Caller = AgentCaller | Person


def caller_of(request: Request) -> Caller:
    if not isinstance(request.user, AgentCaller | Person):
        raise NotAuthenticated
    return request.user


def agent_of(request: Request) -> Agent:
    """The agent that asks. The endpoint's permission has refused everybody else."""
    caller = caller_of(request)
    if not isinstance(caller, AgentCaller):
        raise TypeError("an endpoint for agents was reached by a person")
    return caller.agent


def person_of(request: Request) -> Person:
    """The person who asks. The endpoint's permission has refused everybody else."""
    caller = caller_of(request)
    if not isinstance(caller, Person):
        raise TypeError("an endpoint for people was reached by an agent")
    return caller


def reviewer_of(request: Request) -> Reviewer:
    return Reviewer(person_of(request), str(request.auth))


def with_groups(caller: Caller) -> Caller:
    """The same caller, whose groups are read once for a whole list."""
    if isinstance(caller, Person):
        prefetch_related_objects([caller], "groups")
    return caller


def visible_calls(request: Request) -> ToolCallQuerySet:
    """An agent reads its own calls, a person those of their groups."""
    caller = caller_of(request)
    if isinstance(caller, AgentCaller):
        return ToolCall.objects.filter(agent=caller.agent)
    return ToolCall.objects.visible_to(caller)


def find(request: Request, call_id: UUID) -> ToolCall:
    """The call, if this caller may see it. What somebody may not see is not there for them."""
    return _found(visible_calls(request).with_decisions().filter(pk=call_id).order_by().first())


def find_in_time(request: Request, call_id: UUID) -> ToolCall:
    """The same; what is overdue is ended first, so that nobody is told that it still waits."""
    call = find(request, call_id)
    return find(request, call_id) if end_if_overdue(call, now()) else call


def require_visible(request: Request, call_id: UUID) -> None:
    _found(visible_calls(request).only("pk").filter(pk=call_id).order_by().first())


def _found(call: ToolCall | None) -> ToolCall:
    if call is None:
        raise NotPossible("unknown_call", "There is no such tool call that you may see.")
    return call
