"""Must people agree to this call, and which? A verdict is a value: allow, deny or require approval, with the reason.

The registration of a tool is the last source of rules. `SOURCES` is the seam for others: each is asked in turn, and the
first that has an opinion decides.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from typing import Any

from approvals.models import Outcome, Person
from approvals.resolution import Resolved, registry
from toolgate.tools.callables import binds
from toolgate.tools.registry import Predicate, Registration


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a policy says of one resolved call. Durations in seconds, so that it is plain JSON."""

    outcome: Outcome
    rule: str
    reason: str
    approvals: int = 0
    groups: tuple[str, ...] = ()
    allowed_decisions: tuple[str, ...] = ()
    expires_after: float = 86400.0
    approval_valid_for: float = 86400.0
    self_approval: bool = False
    editor_may_approve: bool = True

    def as_data(self) -> dict[str, Any]:
        return asdict(self) | {"groups": list(self.groups), "allowed_decisions": list(self.allowed_decisions)}

    def for_review(self) -> Verdict:
        """This verdict on a call that people must look at anyway: it stopped being what was agreed to before."""
        if self.outcome == Outcome.ALLOW:
            return replace(self, outcome=Outcome.REQUIRE_APPROVAL, approvals=1, reason="It changed after it was allowed.")
        if self.outcome == Outcome.DENY:
            allowed = tuple(kind for kind in self.allowed_decisions if kind != "approve")
            return replace(self, approvals=1, allowed_decisions=allowed)
        return self


Source = Callable[[Registration, Resolved, dict[str, Any]], Verdict | None]


def judge(resolved: Resolved, context: dict[str, Any]) -> Verdict:
    """The verdict on a call whose arguments were understood."""
    registration = resolved.registration
    if registration is None:
        raise ValueError("an unknown tool has no policy: it is refused before one is asked")
    return next(verdict for source in SOURCES if (verdict := source(registration, resolved, context)))


def by_registration(registration: Registration, resolved: Resolved, context: dict[str, Any]) -> Verdict:
    """What the tool's own registration wants. A predicate that raises means review, never a run."""
    review = _review(registration)
    try:
        if _says(registration.deny, resolved, context):
            return replace(review, outcome=Outcome.DENY, reason="The registration of this tool denies it.", approvals=0)
        if _says(registration.require_approval, resolved, context):
            return review
    except Exception as error:  # noqa: BLE001 - whatever a predicate raises means that people decide
        reason = f"The policy of this tool could not be evaluated ({type(error).__name__}), so people decide."
        return replace(review, reason=reason)
    return replace(review, outcome=Outcome.ALLOW, reason="The registration of this tool allows it.", approvals=0)


SOURCES: tuple[Source, ...] = (by_registration,)


def unanswerable() -> list[str]:
    """Tools that wait for a group in which nobody can decide, a sentence each. Asks the database."""
    deciding = Person.objects.filter(is_active=True).exclude(is_auditor=True, is_superuser=False)
    present = set(deciding.values_list("groups__name", flat=True))
    told = []
    for one in registry():
        if absent := [group for group in one.groups if group not in present]:
            names = " and ".join(repr(group) for group in absent)
            told.append(
                f"{one.function.name} waits for people of {names}, where nobody is who can decide: "
                f"`toolgate person NAME --group {shlex.quote(absent[0])}`."
            )
    return told


def _review(registration: Registration) -> Verdict:
    return Verdict(
        outcome=Outcome.REQUIRE_APPROVAL,
        rule=f"registration of {registration.function.name}",
        reason=_why(registration),
        approvals=max(registration.approvals, len(registration.groups), 1),
        groups=tuple(registration.groups),
        allowed_decisions=tuple(registration.allowed_decisions),
        expires_after=_seconds(registration.expires_after),
        approval_valid_for=_seconds(registration.approval_valid_for),
        self_approval=registration.self_approval,
        editor_may_approve=registration.editor_may_approve,
    )


def _why(registration: Registration) -> str:
    if callable(registration.require_approval):
        return "These arguments meet the condition under which this tool needs approval."
    return "Every call of this tool needs approval."


def _says(rule: bool | Predicate, resolved: Resolved, context: dict[str, Any]) -> bool:
    if isinstance(rule, bool):
        return rule
    return bool(rule(resolved.arguments, context) if binds(rule, 2) else rule(resolved.arguments))


def _seconds(duration: timedelta) -> float:
    return duration.total_seconds()
