"""What stands on the page of one call, gathered once so that the template only places it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from approvals import audit, resolution
from approvals.clock import now
from approvals.lifecycle import has_voted, is_over, is_own, is_own_edit, may_act, may_decide
from approvals.masking import secrets_of, without_secrets
from approvals.models import (
    AuditEvent,
    Decision,
    EventKind,
    Execution,
    Interrupt,
    Person,
    Resolution,
    Status,
    ToolCall,
    When,
)
from approvals.rendering import masked, read
from approvals.review.cautions import Caution, cautions_of
from approvals.review.differences import Difference, differences
from approvals.review.presentation import EVENT, STATUS, UNKNOWN, Look
from approvals.review.values import Node, mark_changes, means_the_same, nodes_of, pretty
from toolgate.tools.canonical import exact
from toolgate.tools.registry import Registration
from toolgate.tools.tool_call import ArgumentsError

BIG = 100_000
MOST_LOOKED_AT = 100
CAME_TO_NOTHING = (Status.INVALID, Status.DENIED, Status.REJECTED, Status.EXPIRED, Status.CANCELLED, Status.CHANGES_REQUESTED)


@dataclass(frozen=True, slots=True)
class Version:
    """One name of the arguments as it was sent, resolved and received; None where it is not there."""

    name: str
    submitted: str | None
    resolved: str | None
    effective: str | None

    @property
    def differs(self) -> bool:
        if self.submitted is None or self.resolved is None:
            return self.submitted is not self.resolved
        return not means_the_same(read(self.submitted), read(self.resolved))


@dataclass(frozen=True, slots=True)
class Moment:
    """One event of the timeline, with what the person who caused it wrote."""

    event: AuditEvent
    data: Mapping[str, Any]
    decision: Decision | None
    execution: Execution | None

    @property
    def label(self) -> str:
        told = EVENT.get(self.event.kind, UNKNOWN).label
        counts = self.event.kind == EventKind.EDITED and self.decision is not None and self.decision.counts
        return f"{told} and approved them" if counts else told

    @property
    def votes(self) -> str:
        given = self.data.get("approvals")
        return f"{given['given']} of {given['required']}" if isinstance(given, dict) and given.get("required", 0) > 1 else ""

    @property
    def why(self) -> str:
        if self.execution is None:
            return ""
        said = {EventKind.DRIFTED: self.execution.why, EventKind.LOST: self.execution.why}
        said |= {EventKind.SETTLED: self.execution.finding, EventKind.RUN_AGAIN: self.execution.finding}
        return said.get(EventKind(self.event.kind), "") if self.event.kind in EventKind else ""


@dataclass
class CallPage:
    call: ToolCall
    person: Person
    registration: Registration | None = None
    unused: list[str] = field(default_factory=list)  # names that were sent and do not stand in what was resolved

    @cached_property
    def secrets(self) -> tuple[str, ...]:
        return secrets_of(self.call)

    @property
    def row(self) -> Resolution | None:
        return self.call.resolution

    # --- what will run ---

    @cached_property
    def schema(self) -> Mapping[str, Any]:
        return self.registration.function.json_schema() if self.registration else {}

    @cached_property
    def nodes(self) -> list[Node]:
        if self.row is None or not self.row.resolved:
            return []
        nodes = nodes_of(self.row.resolved, self.row.types, self.schema, self.secrets)
        if self.submitted is not None:
            self.unused = mark_changes(nodes, self.submitted, self.tree_of(self.row) or {})
        return nodes

    @cached_property
    def submitted(self) -> dict[str, Any] | None:
        """What was sent, masked; None when it is no object."""
        try:
            sent: dict[str, Any] = without_secrets(self.call, self.call.submitted)
        except ArgumentsError:
            return None
        return sent

    def tree_of(self, row: Resolution | None) -> dict[str, Any] | None:
        tree = masked(read(row.resolved), self.secrets) if row and row.resolved else None
        return tree if isinstance(tree, dict) else None

    @property
    def versions(self) -> list[Version]:
        trees = (self.submitted, self.tree_of(self.row), self.tree_of(self.call.effective))
        names = dict.fromkeys(name for tree in trees if tree is not None for name in tree)
        texts = [{name: pretty(value) for name, value in (tree or {}).items()} for tree in trees]
        return [Version(name, *(text.get(name) for text in texts)) for name in names]

    @property
    def raw(self) -> str:
        """Exactly what was sent; where the tool has secrets, what it means with those masked."""
        if not self.secrets:
            return self.call.submitted
        return pretty(self.submitted) if self.submitted is not None else "not shown: it may hold secrets and cannot be read"

    @property
    def is_big(self) -> bool:
        """Too big to stand on one page three times: versions and raw text are then shown when asked for."""
        return len(self.call.submitted) + (len(self.row.resolved) if self.row else 0) > BIG

    @property
    def long_names(self) -> list[str]:
        return list(dict.fromkeys(node.name for outer in self.nodes for node in outer.walk() if node.is_long))

    @cached_property
    def cautions(self) -> list[Caution]:
        return cautions_of(self.call, self.row, self.registration, self.nodes)

    # --- what it was before ---

    @cached_property
    def drift(self) -> list[Difference]:
        """What it means now against what was reviewed before, where a review was undone."""
        if self.row is None or self.row.when not in (When.EXECUTE, When.REVIEW, When.EDIT) or self.call.is_settled:
            return []
        earlier = self.call.resolutions.filter(pk__lt=self.row.pk).exclude(resolved="").last()
        return self._against(earlier)

    @cached_property
    def revision(self) -> list[Difference]:
        return self._against(self.call.revises.resolution) if self.call.revises else []

    def _against(self, earlier: Resolution | None) -> list[Difference]:
        old, new = self.tree_of(earlier), self.tree_of(self.row)
        return [] if old is None or new is None else list(differences(old, new))

    @property
    def drift_words(self) -> tuple[str, str]:
        """What stands over the two columns of the difference."""
        return ("Before the edit", "After the edit") if self.was_edited else ("Was reviewed", "Would run now")

    @property
    def look(self) -> Look:
        return STATUS.get(self.call.status, UNKNOWN)

    @property
    def was_edited(self) -> bool:
        return self.row is not None and self.row.when == When.EDIT

    @cached_property
    def alike(self) -> list[ToolCall]:
        """How the latest calls of this tool by this agent ended."""
        visible = ToolCall.objects.visible_to(self.person).filter(tool=self.call.tool, agent=self.call.agent)
        others = visible.exclude(pk=self.call.pk).exclude(status__in=(Status.PENDING, Status.INVALID))
        return list(others.select_related("resolution")[:5])

    @cached_property
    def twin(self) -> ToolCall | None:
        """The latest other call of this agent that means exactly the same, if it ran, runs, or may yet: done twice?"""
        if self.row is None or not self.row.digest or self.call.is_settled:
            return None
        visible = ToolCall.objects.visible_to(self.person).filter(tool=self.call.tool, agent=self.call.agent)
        latest = visible.exclude(pk=self.call.pk).exclude(status__in=CAME_TO_NOTHING).select_related("resolution")
        return next(
            (one for one in latest[:MOST_LOOKED_AT] if one.resolution and one.resolution.digest == self.row.digest), None
        )

    # --- what can be done ---

    @cached_property
    def kinds(self) -> list[str]:
        return may_decide(self.call, self.person, now())

    @cached_property
    def may_act(self) -> bool:
        return may_act(self.call, self.person) and not self.is_overdue

    @property
    def is_overdue(self) -> bool:
        """Its time is over and the clock has not said so yet."""
        return is_over(self.call, now())

    @property
    def is_own(self) -> bool:
        return is_own(self.call, self.person)

    @property
    def may_resume(self) -> bool:
        """Whether this person's answer may let the call go on, as opposed to ending it."""
        return self.may_act and self.call.agent.is_active and (not self.is_own or bool(self.call.verdict.get("self_approval")))

    @cached_property
    def has_voted(self) -> bool:
        return has_voted(self.call, self.person)

    @property
    def is_own_edit(self) -> bool:
        """They edited these arguments, and the policy wants somebody else to approve them."""
        return is_own_edit(self.call, self.person)

    @property
    def needs_second_step(self) -> bool:
        """Whether one press is too little: for what is dangerous, strange, or not what was reviewed before."""
        return self.call.risk == "high" or bool(self.cautions) or self.call.has_drifted or self.twin is not None

    @property
    def is_last_vote(self) -> bool:
        return len(self.votes) + 1 >= self.call.approvals_required

    @cached_property
    def votes(self) -> list[Decision]:
        return self.call.votes()

    @property
    def groups(self) -> list[tuple[str, bool]]:
        agreed = {group for vote in self.votes for group in vote.groups}
        return [(group, group in agreed) for group in self.call.verdict.get("groups", [])]

    # --- a question of the tool ---

    @cached_property
    def asked(self) -> Interrupt | None:
        return self.call.open_interrupt

    @property
    def asked_nodes(self) -> list[Node]:
        data = read(self.asked.data) if self.asked else None
        told = {key: value for key, value in data.items() if key != "response_schema"} if isinstance(data, dict) else data
        return [] if told in (None, {}) or not self.asked else nodes_of(exact(told), self.asked.data_types, {}, ())

    @property
    def asked_schema(self) -> str:
        return pretty(self.asked.response_schema) if self.asked else ""

    @property
    def answered(self) -> list[Interrupt]:
        return [one for one in self.call.interrupts.all() if one != self.asked]

    # --- what happened ---

    @cached_property
    def timeline(self) -> list[Moment]:
        decisions = {str(one.pk): one for one in self.call.decisions.all()}
        events = AuditEvent.objects.filter(chain=str(self.call.pk)).order_by("sequence")
        datas = [(event, read(event.data)) for event in events]
        runs = {run.attempt: run for run in self.call.executions.all()}
        found = [(decisions.get(data.get("decision", "")), runs.get(data.get("attempt"))) for _, data in datas]
        return [Moment(event, data, *more) for (event, data), more in zip(datas, found, strict=True)]

    @property
    def loss(self) -> Moment | None:
        """How the worker was lost, when nobody knows what it did."""
        lost = [one for one in self.timeline if one.event.kind == EventKind.LOST]
        return lost[-1] if lost else None

    @cached_property
    def verification(self) -> audit.Verification:
        return audit.verify_chain(str(self.call.pk))

    @property
    def executions(self) -> list[Execution]:
        """For administrators: exceptions may tell what is nobody else's business."""
        return list(self.call.executions.all()) if self.person.is_superuser else []

    @cached_property
    def result(self) -> dict[str, Any] | None:
        return read(self.call.result) if self.call.result else None

    @property
    def context_nodes(self) -> list[Node]:
        sent = {"context": read(self.call.context), "metadata": read(self.call.metadata)}
        return nodes_of(exact({name: value for name, value in sent.items() if value}), "{}", {}, ())


def call_page(call: ToolCall, person: Person) -> CallPage:
    return CallPage(call, person, resolution.registry().get(call.tool))
