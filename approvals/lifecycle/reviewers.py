"""Who may answer for a call: not an auditor, not another group, and nobody for their own."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from approvals.lifecycle.transitions import NotPossible
from approvals.models import WAITS_FOR_PEOPLE, DecisionKind, Person, ToolCall
from approvals.models.actors import Actor
from approvals.resolution import is_served

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


def has_voted(call: ToolCall, person: Person) -> bool:
    """Whether this person's approval of what is shown now counts already."""
    return any(vote.person_id == person.pk for vote in call.votes())


def is_own_edit(call: ToolCall, person: Person) -> bool:
    """They proposed these arguments, and the policy wants somebody else to approve them."""
    edits = [one for one in call.decisions.all() if one.kind == DecisionKind.EDIT and one.review_round == call.review_round]
    return not call.verdict.get("editor_may_approve", True) and any(one.person_id == person.pk for one in edits)


def is_over(call: ToolCall, at: datetime) -> bool:
    """Its time ended, whether or not the clock has said so yet."""
    return not call.is_settled and call.expires_at is not None and call.expires_at <= at


def may_decide(call: ToolCall, person: Person, at: datetime) -> list[str]:
    """The kinds of decision that this person may take on this call now; empty when none. The verbs check again."""
    try:
        require_reviewer(call, person)
    except NotPossible:
        return []
    kinds = [] if is_over(call, at) else call.allowed_decisions
    if not call.verdict.get("self_approval") and is_own(call, person):
        kinds = [kind for kind in kinds if kind in ENDS_IT]
    if not call.agent.is_active or not is_served(call.tool):
        kinds = [kind for kind in kinds if kind not in (DecisionKind.APPROVE, DecisionKind.EDIT)]
    is_unclear = call.resolution is None or not call.resolution.digest
    if is_unclear or has_voted(call, person) or is_own_edit(call, person):
        kinds = [kind for kind in kinds if kind != DecisionKind.APPROVE]
    return kinds


def may_act(call: ToolCall, person: Person) -> bool:
    """Whether the call waits for people, and this person is one of those it waits for."""
    try:
        require_reviewer(call, person)
    except NotPossible:
        return False
    return call.status in WAITS_FOR_PEOPLE
