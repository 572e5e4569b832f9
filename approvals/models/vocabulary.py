"""The words of the gate: statuses, verbs, kinds of decision and of event. Every other module spells them from here."""

from django.db import models


class Status(models.TextChoices):
    INVALID = "invalid", "Invalid"
    DENIED = "denied", "Denied"
    PENDING = "pending", "Pending"
    CHANGES_REQUESTED = "changes_requested", "Changes requested"
    APPROVED = "approved", "Approved"
    EXECUTING = "executing", "Executing"
    INTERRUPTED = "interrupted", "Interrupted"
    OUTCOME_UNKNOWN = "outcome_unknown", "Outcome unknown"
    SUCCEEDED = "succeeded", "Succeeded"
    FAILED = "failed", "Failed"
    REJECTED = "rejected", "Rejected"
    EXPIRED = "expired", "Expired"
    CANCELLED = "cancelled", "Cancelled"


SETTLED = frozenset(
    {
        Status.INVALID,
        Status.DENIED,
        Status.CHANGES_REQUESTED,
        Status.SUCCEEDED,
        Status.FAILED,
        Status.REJECTED,
        Status.EXPIRED,
        Status.CANCELLED,
    }
)
OPEN = frozenset(Status) - SETTLED
WAITS_FOR_PEOPLE = frozenset({Status.PENDING, Status.INTERRUPTED, Status.OUTCOME_UNKNOWN})


class Verb(models.TextChoices):
    """Every arrow of the drawing in docs/lifecycle.md; `approvals.lifecycle.TRANSITIONS` says from where to where."""

    SUBMIT = "submit"
    APPROVE = "approve"
    EDIT = "edit"
    RESPOND = "respond"
    REQUEST_CHANGES = "request_changes"
    REJECT = "reject"
    CANCEL = "cancel"
    EXPIRE = "expire"
    CLAIM = "claim"
    DRIFT = "drift"
    FINISH = "finish"
    LOSE = "lose"
    RESTORE = "restore"
    REFRESH = "refresh"
    ANSWER = "answer"
    SETTLE = "settle"


class DecisionKind(models.TextChoices):
    APPROVE = "approve", "Approve"
    EDIT = "edit", "Edit"
    REJECT = "reject", "Reject"
    RESPOND = "respond", "Respond"
    REQUEST_CHANGES = "request_changes", "Request changes"


class Outcome(models.TextChoices):
    """What a policy can say."""

    ALLOW = "allow", "Allowed"
    DENY = "deny", "Denied"
    REQUIRE_APPROVAL = "require_approval", "Approval required"


class Risk(models.TextChoices):
    LOW = "low", "Low"
    MEDIUM = "medium", "Medium"
    HIGH = "high", "High"


class When(models.TextChoices):
    """The occasion of a resolution."""

    SUBMIT = "submit"
    EDIT = "edit"
    REVIEW = "review"
    EXECUTE = "execute"


class EventKind(models.TextChoices):
    SUBMITTED = "submitted", "Submitted"
    DENIED = "denied", "Denied by policy"
    REFUSED = "refused", "Arguments refused"
    ALLOWED = "allowed", "Allowed by policy"
    SEEN = "seen", "Seen"
    VOTED = "voted", "Approved, more needed"
    APPROVED = "approved", "Approved"
    EDITED = "edited", "Edited"
    RESPONDED = "responded", "Answered by a person"
    CHANGES_REQUESTED = "changes_requested", "Changes requested"
    REJECTED = "rejected", "Rejected"
    CANCELLED = "cancelled", "Cancelled"
    EXPIRED = "expired", "Expired"
    CLAIMED = "claimed", "Execution started"
    DRIFTED = "drifted", "Stopped: it changed after approval"
    REFRESHED = "refreshed", "Changed while it waited"
    INTERRUPTED = "interrupted", "The tool asks"
    ANSWERED = "answered", "Question answered"
    SUCCEEDED = "succeeded", "Succeeded"
    FAILED = "failed", "Failed"
    LOST = "lost", "Worker lost"
    SETTLED = "settled", "Outcome settled"
    RUN_AGAIN = "run_again", "Sent to run again"
    REVISED = "revised", "Revised by a new call"
    PRUNED = "pruned", "Payloads removed by retention"
    # administration
    AGENT_CHANGED = "agent_changed", "Agent changed"
    KEY_ISSUED = "key_issued", "Agent key issued"
    KEY_REVOKED = "key_revoked", "Agent key revoked"
    TOKEN_ISSUED = "token_issued", "Personal token issued"
    TOKEN_REVOKED = "token_revoked", "Personal token revoked"
    PERSON_CHANGED = "person_changed", "Person changed"
    GROUP_CHANGED = "group_changed", "Group changed"
    RESTORED = "restored", "Database restored from a backup"
    TRAIL_READ = "trail_read", "Trail read"
    TRAIL_EXPORTED = "trail_exported", "Trail exported"
