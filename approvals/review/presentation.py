"""How each status, risk and kind of event looks: its words, its tone, its icon. One mapping, complete by test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from approvals.models import EventKind, Risk, Status


@dataclass(frozen=True, slots=True)
class Look:
    label: str
    tone: str  # neutral, waiting, good, bad, warn: each a colour in tokens.css
    icon: str  # a name in icons.py


STATUS: Mapping[str, Look] = {
    Status.INVALID: Look("Invalid", "bad", "cross"),
    Status.DENIED: Look("Denied by policy", "bad", "shield"),
    Status.PENDING: Look("Waits for review", "waiting", "clock"),
    Status.CHANGES_REQUESTED: Look("Changes requested", "warn", "back"),
    Status.APPROVED: Look("Approved, about to run", "good", "check"),
    Status.EXECUTING: Look("Running", "waiting", "play"),
    Status.INTERRUPTED: Look("The tool asks", "waiting", "question"),
    Status.OUTCOME_UNKNOWN: Look("Outcome unknown", "warn", "warning"),
    Status.SUCCEEDED: Look("Succeeded", "good", "check"),
    Status.FAILED: Look("Failed", "bad", "cross"),
    Status.REJECTED: Look("Rejected", "bad", "cross"),
    Status.EXPIRED: Look("Expired", "neutral", "clock"),
    Status.CANCELLED: Look("Cancelled by the agent", "neutral", "back"),
}
RISK: Mapping[str, Look] = {
    Risk.LOW: Look("Low risk", "neutral", "risk-low"),
    Risk.MEDIUM: Look("Medium risk", "warn", "risk-medium"),
    Risk.HIGH: Look("High risk", "bad", "risk-high"),
}
EVENT: Mapping[str, Look] = {
    EventKind.SUBMITTED: Look("submitted it", "neutral", "send"),
    EventKind.DENIED: Look("denied it", "bad", "shield"),
    EventKind.REFUSED: Look("refused the arguments", "bad", "cross"),
    EventKind.ALLOWED: Look("allowed it at once", "good", "check"),
    EventKind.SEEN: Look("opened it", "neutral", "eye"),
    EventKind.VOTED: Look("approved it; more must agree", "waiting", "check"),
    EventKind.APPROVED: Look("approved it", "good", "check"),
    EventKind.EDITED: Look("edited the arguments", "waiting", "pen"),
    EventKind.RESPONDED: Look("answered in the tool's place", "good", "send"),
    EventKind.CHANGES_REQUESTED: Look("asked for changes", "warn", "back"),
    EventKind.REJECTED: Look("rejected it", "bad", "cross"),
    EventKind.CANCELLED: Look("cancelled it", "neutral", "back"),
    EventKind.EXPIRED: Look("ended it: its time was over", "neutral", "clock"),
    EventKind.CLAIMED: Look("began to run it", "waiting", "play"),
    EventKind.DRIFTED: Look("stopped before running: it was not what had been approved", "warn", "warning"),
    EventKind.REFRESHED: Look("found that it means something else than before", "warn", "warning"),
    EventKind.INTERRUPTED: Look("stopped to ask", "waiting", "question"),
    EventKind.ANSWERED: Look("answered the question", "good", "send"),
    EventKind.SUCCEEDED: Look("ran it", "good", "check"),
    EventKind.FAILED: Look("ran it, and it failed", "bad", "cross"),
    EventKind.LOST: Look("found its worker gone while it ran", "warn", "warning"),
    EventKind.SETTLED: Look("said what had happened", "good", "check"),
    EventKind.RUN_AGAIN: Look("sent it to run again", "waiting", "play"),
    EventKind.PRUNED: Look("removed the payloads, as retention wants it", "neutral", "clock"),
    EventKind.REVISED: Look("submitted a revision", "neutral", "send"),
    EventKind.AGENT_CHANGED: Look("changed an agent", "neutral", "pen"),
    EventKind.KEY_ISSUED: Look("issued an agent key", "neutral", "key"),
    EventKind.KEY_REVOKED: Look("revoked an agent key", "warn", "key"),
    EventKind.TOKEN_ISSUED: Look("issued a personal token", "neutral", "key"),
    EventKind.TOKEN_REVOKED: Look("revoked a personal token", "warn", "key"),
    EventKind.PERSON_CHANGED: Look("changed a person", "neutral", "pen"),
    EventKind.GROUP_CHANGED: Look("changed a group", "neutral", "pen"),
    EventKind.RESTORED: Look("restored the database from a backup", "warn", "warning"),
    EventKind.TRAIL_READ: Look("read the trail", "neutral", "eye"),
    EventKind.TRAIL_EXPORTED: Look("exported the trail", "neutral", "eye"),
}
UNKNOWN = Look("Unknown", "neutral", "question")  # a word that an older or newer version of toolgate wrote
