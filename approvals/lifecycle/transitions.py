"""Where legality is written: each verb, the statuses it starts from and those it can lead to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from approvals.models import Status, ToolCall, Verb

S = Status


@dataclass(frozen=True, slots=True)
class Transition:
    sources: frozenset[Status]
    targets: frozenset[Status]


def _from(*sources: Status, to: tuple[Status, ...]) -> Transition:
    return Transition(frozenset(sources), frozenset(to))


TRANSITIONS: Mapping[Verb, Transition] = {
    Verb.SUBMIT: _from(to=(S.INVALID, S.DENIED, S.PENDING, S.APPROVED)),
    Verb.APPROVE: _from(S.PENDING, to=(S.PENDING, S.APPROVED)),
    Verb.EDIT: _from(S.PENDING, to=(S.PENDING, S.APPROVED)),
    Verb.RESPOND: _from(S.PENDING, to=(S.SUCCEEDED,)),
    Verb.REQUEST_CHANGES: _from(S.PENDING, to=(S.CHANGES_REQUESTED,)),
    Verb.REJECT: _from(S.PENDING, S.INTERRUPTED, to=(S.REJECTED,)),
    Verb.CANCEL: _from(S.PENDING, S.APPROVED, S.INTERRUPTED, to=(S.CANCELLED,)),
    Verb.EXPIRE: _from(S.PENDING, S.APPROVED, S.INTERRUPTED, to=(S.EXPIRED,)),
    Verb.CLAIM: _from(S.APPROVED, to=(S.EXECUTING,)),
    Verb.DRIFT: _from(S.EXECUTING, to=(S.PENDING,)),
    Verb.FINISH: _from(S.EXECUTING, to=(S.SUCCEEDED, S.FAILED, S.INTERRUPTED)),
    Verb.REFRESH: _from(S.PENDING, to=(S.PENDING,)),
    Verb.LOSE: _from(S.EXECUTING, to=(S.OUTCOME_UNKNOWN, S.APPROVED)),
    Verb.RESTORE: _from(S.APPROVED, S.EXECUTING, to=(S.OUTCOME_UNKNOWN,)),
    Verb.ANSWER: _from(S.INTERRUPTED, to=(S.APPROVED,)),
    Verb.SETTLE: _from(S.OUTCOME_UNKNOWN, to=(S.SUCCEEDED, S.FAILED, S.APPROVED)),
}


class NotPossible(Exception):
    """A verb could not do what its name says. `code` is stable; `detail` is for people; `status` is what the call is now."""

    def __init__(self, code: str, detail: str, call: ToolCall | None = None, **data: Any) -> None:
        self.code, self.detail, self.call, self.data = code, detail, call, data
        self.status = call.status if call else ""
        super().__init__(detail)
