"""The state machine of a tool call. Its verbs are the only way a call changes; `moving.py` alone writes a status.

A verb takes keywords only, the actor and the instant among them. It is one durable transaction that moves the row with a
guarded update and writes its event, and it sends nothing: hints to workers go out after commit. A verb that cannot do what
its name says raises `NotPossible`, whose `code` is stable.
"""

from approvals.lifecycle.answering import answer_interrupt, settle
from approvals.lifecycle.deciding import decide, preview_edit, see
from approvals.lifecycle.ending import cancel, ended_if_overdue, expire
from approvals.lifecycle.executing import Ending, Worker, claim, drift, finish, lose, renew, restore
from approvals.lifecycle.pruning import prune
from approvals.lifecycle.reviewers import Reviewer, has_voted, is_over, is_own, is_own_edit, may_act, may_decide
from approvals.lifecycle.submitting import Submission, submit
from approvals.lifecycle.transitions import TRANSITIONS, NotPossible, Transition

__all__ = [
    "TRANSITIONS",
    "Ending",
    "NotPossible",
    "Reviewer",
    "Submission",
    "Transition",
    "Worker",
    "answer_interrupt",
    "cancel",
    "claim",
    "decide",
    "drift",
    "ended_if_overdue",
    "expire",
    "finish",
    "has_voted",
    "is_over",
    "is_own",
    "is_own_edit",
    "lose",
    "may_act",
    "may_decide",
    "preview_edit",
    "prune",
    "renew",
    "restore",
    "see",
    "settle",
    "submit",
]
