"""The rows, their constraints and indexes, one file a family; and the words they use."""

from approvals.models.agents import Agent, AgentKey
from approvals.models.audit import GENESIS, Administration, AuditEvent, ChainHead
from approvals.models.calls import (
    Decision,
    Declaration,
    Execution,
    Interrupt,
    Resolution,
    ToolCall,
    ToolCallQuerySet,
)
from approvals.models.credentials import Credential
from approvals.models.identity import uuid7
from approvals.models.people import Person, PersonalToken
from approvals.models.sweep import Sweep
from approvals.models.totals import Count, Total
from approvals.models.trail_check import TrailCheck
from approvals.models.vocabulary import (
    OPEN,
    SETTLED,
    WAITS_FOR_PEOPLE,
    DecisionKind,
    EventKind,
    Outcome,
    Risk,
    Status,
    Verb,
    When,
)

__all__ = [
    "GENESIS",
    "OPEN",
    "SETTLED",
    "WAITS_FOR_PEOPLE",
    "Administration",
    "Agent",
    "AgentKey",
    "AuditEvent",
    "ChainHead",
    "Count",
    "Credential",
    "Decision",
    "DecisionKind",
    "Declaration",
    "EventKind",
    "Execution",
    "Interrupt",
    "Outcome",
    "Person",
    "PersonalToken",
    "Resolution",
    "Risk",
    "Status",
    "Sweep",
    "ToolCall",
    "ToolCallQuerySet",
    "Total",
    "TrailCheck",
    "Verb",
    "When",
    "uuid7",
]
