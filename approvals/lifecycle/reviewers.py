"""Who may answer for a call: not an auditor, not another group, and nobody for their own."""

from __future__ import annotations

from dataclasses import dataclass

from approvals.lifecycle.transitions import NotPossible
from approvals.models import WAITS_FOR_PEOPLE, DecisionKind, Person, ToolCall
from approvals.models.actors import Actor

ENDS_IT = frozenset({DecisionKind.REJECT, DecisionKind.REQUEST_CHANGES})  # nothing runs: allowed for one's own, too


@dataclass(frozen=True, slots=True)
class Reviewer:
    """A person at the moment of an answer, with how they were signed in: `session` or `token`."""

    person: Person
    login: str

    @property
    def actor(self) -> Actor:
        return Actor.person(self.person, self.login)


def require_reviewer(call: ToolCall, person: Person) -> None:
    groups = call.verdict.get("groups", [])
    if not person.is_active or (person.is_auditor and not person.is_superuser):
        raise NotPossible("not_a_reviewer", "Auditors read; they decide nothing.", call)
    if groups and not set(groups) & set(person.group_names()):
        raise NotPossible("not_a_reviewer", f"Only members of {' and '.join(groups)} decide this call.", call)


def is_own(call: ToolCall, person: Person) -> bool:
    """Whether the agent acts for this person: named by user name or e-mail, or as the owner of the agent."""
    names = {name.casefold() for name in (person.username, person.email) if name}
    return call.on_behalf_of.strip().casefold() in names or call.agent.owner_id == person.pk


def may_decide(call: ToolCall, person: Person) -> list[str]:
    """The kinds of decision that this person may take on this call now; empty when none. The verbs check again."""
    try:
        require_reviewer(call, person)
    except NotPossible:
        return []
    kinds = call.allowed_decisions
    if not call.verdict.get("self_approval") and is_own(call, person):
        kinds = [kind for kind in kinds if kind in ENDS_IT]
    if call.resolution is None or not call.resolution.digest:
        kinds = [kind for kind in kinds if kind != DecisionKind.APPROVE]
    return kinds


def may_act(call: ToolCall, person: Person) -> bool:
    """Whether the call waits for people, and this person is one of those it waits for."""
    try:
        require_reviewer(call, person)
    except NotPossible:
        return False
    return call.status in WAITS_FOR_PEOPLE
