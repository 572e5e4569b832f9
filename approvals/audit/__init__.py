"""The trail: how an event is linked to the one before it, recorded, and checked."""

from approvals.audit.chain import link, record_administration
from approvals.audit.inspection import inspect_trail, inspect_trail_when_due, keep_outcome
from approvals.audit.verification import Verification, verify_all, verify_chain
from approvals.models import AuditEvent

__all__ = [
    "AuditEvent",
    "Verification",
    "inspect_trail",
    "inspect_trail_when_due",
    "keep_outcome",
    "link",
    "record_administration",
    "verify_all",
    "verify_chain",
]
