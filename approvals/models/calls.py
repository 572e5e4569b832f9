"""The tool call and everything that hangs on it: resolutions, decisions, interrupts, executions.

Payloads are kept as JSON text, never in a JSON column: databases rewrite numbers and key order, and two of them do it
differently. What was hashed is what is stored.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from django.contrib.auth.models import Group
from django.db import models
from django.db.models import Q
from django.db.models.functions import Coalesce

from approvals.clock import now
from approvals.models.agents import Agent
from approvals.models.audit import ChainHead
from approvals.models.identity import uuid7
from approvals.models.people import Person
from approvals.models.vocabulary import SETTLED, WAITS_FOR_PEOPLE, DecisionKind, Outcome, Risk, Status, When

AT_ONCE, NEVER = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)


class ToolCallQuerySet(models.QuerySet["ToolCall"]):
    def visible_to(self, person: Person) -> ToolCallQuerySet:
        """The calls a person may read: their groups' and everybody's; all of them for auditors and administrators."""
        if person.is_superuser or person.is_auditor:
            return self
        theirs = ToolCall.reviewer_groups.through.objects.filter(group__in=person.groups.all()).values("toolcall_id")
        return self.filter(Q(is_restricted=False) | Q(pk__in=theirs))

    def waiting_for(self, person: Person) -> ToolCallQuerySet:
        """What people can act on now. What is overdue is none of it, whether the clock has ended it yet or not."""
        return self.visible_to(person).filter(status__in=WAITS_FOR_PEOPLE).exclude(expires_at__lte=now())

    def by_urgency(self) -> ToolCallQuerySet:
        """Those first of which nobody knows whether they happened; then the deadline, the risk, the age.

        Adds `urgent_at` and `rank`; with `id` they are the order.
        """
        whens = (models.When(status=Status.OUTCOME_UNKNOWN, then=models.Value(AT_ONCE)),)
        deadline = Coalesce("expires_at", models.Value(NEVER))
        ranks = (models.When(risk=Risk.HIGH, then=0), models.When(risk=Risk.MEDIUM, then=1))
        return self.annotate(
            urgent_at=models.Case(*whens, default=deadline, output_field=models.DateTimeField()),
            rank=models.Case(*ranks, default=2, output_field=models.IntegerField()),
        ).order_by("urgent_at", "rank", "id")

    def overdue(self, at: datetime) -> ToolCallQuerySet:
        return self.filter(status__in=(Status.PENDING, Status.APPROVED, Status.INTERRUPTED), expires_at__lte=at)

    def with_everything(self) -> ToolCallQuerySet:
        """All that the page or the JSON of each of many calls needs, in a fixed number of queries."""
        return self.with_decisions().prefetch_related("interrupts", "revisions")

    def with_decisions(self) -> ToolCallQuerySet:
        """What every answer about one call needs. What few need is read when it is: questions, revisions."""
        return self.select_related("agent", "resolution", "effective").prefetch_related("decisions")


class ToolCall(ChainHead):
    """One request to run one Function. Only `approvals.lifecycle` writes its status."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="calls")
    agent_name = models.CharField(max_length=100, help_text="The agent's name when it submitted.")
    tool = models.CharField(max_length=256)
    tool_call_id = models.CharField(max_length=256, help_text="The model's own id. Some models repeat theirs.")
    submission_key = models.CharField(max_length=280, null=True, help_text="What makes a repeat of a submit a repeat.")  # noqa: DJ001 - NULL frees the key; two empty texts would clash
    fingerprint = models.CharField(max_length=64, help_text="Digest of everything that was submitted.")
    run_id = models.CharField(max_length=256, blank=True)
    position = models.PositiveIntegerField(default=0, help_text="Place within the run, from 0.")
    runs_by_agent = models.BooleanField(default=False, help_text="Declared only: the agent runs it itself.")
    is_sequential = models.BooleanField(default=True, help_text="Waits its turn within the run.")

    submitted = models.TextField(help_text="The JSON text of `arguments` exactly as sent; empty when left out.", blank=True)
    context = models.TextField(default="{}")
    metadata = models.TextField(default="{}")
    agent_reasoning = models.TextField(blank=True)
    on_behalf_of = models.CharField(max_length=254, blank=True, help_text="User name or e-mail of the person behind it.")
    revises = models.ForeignKey("self", on_delete=models.PROTECT, null=True, blank=True, related_name="revisions")

    status = models.CharField(max_length=20, choices=Status.choices)
    version = models.PositiveIntegerField(default=1, help_text="Counts every change; the guard of guarded updates.")
    submitted_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True)
    settled_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True, help_text="Decide, start or answer by then, whichever the status awaits.")
    dispatch_at = models.DateTimeField(null=True, help_text="When the sweep hands it to a worker if none has claimed it.")

    risk = models.CharField(max_length=10, choices=Risk.choices, default=Risk.MEDIUM)
    display_text = models.CharField(max_length=500, blank=True)
    outcome = models.CharField(max_length=20, choices=Outcome.choices, blank=True)
    policy = models.TextField(default="{}", help_text="The verdict, as `approvals.policies.Verdict` writes it.")
    approvals_required = models.PositiveSmallIntegerField(default=0)
    review_round = models.PositiveIntegerField(default=1, help_text="Votes count within their round only.")
    is_restricted = models.BooleanField(default=False, help_text="Only the groups named may see it.")
    reviewer_groups = models.ManyToManyField(Group, related_name="+", blank=True)

    resolution = models.ForeignKey("Resolution", on_delete=models.PROTECT, null=True, related_name="+")
    effective = models.ForeignKey("Resolution", on_delete=models.PROTECT, null=True, related_name="+")
    approved_digest = models.CharField(max_length=64, blank=True, help_text="What may run: nothing else.")

    attempt = models.PositiveSmallIntegerField(default=0)
    lease = models.UUIDField(null=True, help_text="Held by the worker that executes it.")
    lease_expires_at = models.DateTimeField(null=True)

    result = models.TextField(blank=True, help_text="The ToolResult as JSON, once settled.")

    traceparent = models.CharField(max_length=55, blank=True, help_text="The trace it was submitted in (W3C Trace Context).")
    pruned_at = models.DateTimeField(null=True, help_text="When retention removed its payloads.")
    is_tallied = models.BooleanField(default=False, help_text="Is in the totals that /metrics tells.")

    objects = ToolCallQuerySet.as_manager()

    class Meta:
        ordering = ("-id",)
        constraints = [
            models.UniqueConstraint(fields=["agent", "submission_key"], name="one_call_a_submission"),
            models.UniqueConstraint(
                fields=["agent", "run_id", "position"], name="one_call_a_place_in_a_run", condition=~Q(run_id="")
            ),
            models.CheckConstraint(condition=Q(status__in=Status.values), name="status_is_known"),
            models.CheckConstraint(
                condition=Q(status=Status.EXECUTING) ^ Q(lease__isnull=True), name="a_lease_while_executing_only"
            ),
            models.CheckConstraint(
                condition=Q(status__in=sorted(SETTLED)) ^ Q(settled_at__isnull=True), name="settled_at_when_settled"
            ),
        ]
        indexes = [
            models.Index(fields=["agent", "-id"], name="call_by_agent"),
            models.Index(fields=["status", "expires_at", "id"], name="call_by_status"),
            models.Index(fields=["tool", "-id"], name="call_by_tool"),
            models.Index(fields=["agent", "tool_call_id"], name="call_by_model_id"),
            models.Index(
                fields=["dispatch_at"],
                name="call_to_dispatch",
                condition=Q(status=Status.APPROVED, dispatch_at__isnull=False),
            ),
            models.Index(fields=["lease_expires_at"], name="call_by_lease", condition=Q(status=Status.EXECUTING)),
            models.Index(
                fields=["settled_at"], name="call_to_prune", condition=Q(pruned_at__isnull=True, settled_at__isnull=False)
            ),
            models.Index(fields=["settled_at"], name="call_to_tally", condition=Q(is_tallied=False, settled_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.tool} {self.id}"

    @property
    def is_settled(self) -> bool:
        return self.status in SETTLED

    @property
    def is_decided(self) -> bool:
        """Nobody's decision is awaited to let it start: settled, or past its review."""
        return self.status != Status.PENDING

    @property
    def has_drifted(self) -> bool:
        """It waits for people again, because it means something else than what they, or a policy, agreed to before."""
        return (
            self.status == Status.PENDING
            and self.resolution is not None
            and self.resolution.when in (When.EXECUTE, When.REVIEW)
        )

    @property
    def verdict(self) -> dict[str, Any]:
        verdict: dict[str, Any] = json.loads(self.policy)
        return verdict

    @property
    def headline(self) -> str:
        shown = self.resolution.headline if self.resolution else ""
        return shown or self.display_text or self.tool

    @property
    def allowed_decisions(self) -> list[str]:
        allowed: list[str] = self.verdict.get("allowed_decisions", [])
        return allowed if self.status == Status.PENDING else []

    @property
    def open_interrupt(self) -> Interrupt | None:
        if self.status != Status.INTERRUPTED:
            return None
        return next((one for one in self.interrupts.all() if one.answered_at is None and one.closed_at is None), None)

    def has_no_history(self) -> None:
        """For a call that was just made: the database need not be asked for what it cannot have yet."""
        empty: dict[str, models.QuerySet[Any]] = {
            "decisions": Decision.objects.none(), "interrupts": Interrupt.objects.none(), "revisions": ToolCall.objects.none()
        }  # fmt: skip
        self._prefetched_objects_cache = empty

    def votes(self) -> list[Decision]:
        """The approvals that count now: of this round, for what is shown now."""
        return [d for d in self.decisions.all() if d.counts and d.review_round == self.review_round]


class Declaration(models.Model):
    """A function as it was declared at some time, kept once for each wording of it."""

    digest = models.CharField(max_length=64, primary_key=True)
    text = models.TextField(help_text="Canonical JSON of Registration.declaration().")


class Resolution(models.Model):
    """What `parse_arguments` answered once. Never changed, never overwritten."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    call = models.ForeignKey(ToolCall, on_delete=models.CASCADE, related_name="resolutions")
    when = models.CharField(max_length=10, choices=When.choices)
    at = models.DateTimeField()
    milliseconds = models.FloatField(default=0)
    declaration = models.ForeignKey(Declaration, on_delete=models.PROTECT, null=True)
    input = models.TextField(help_text="The JSON text of the arguments that went in.")
    resolved = models.TextField(blank=True, help_text="Canonical JSON of what came out; empty when refused.")
    types = models.TextField(default="{}", help_text="JSON: pointer into `resolved` to what a value was in Python.")
    digest = models.CharField(max_length=64, blank=True)
    refusal = models.TextField(blank=True)
    headline = models.TextField(blank=True)

    class Meta:
        ordering = ("id",)


class Decision(models.Model):
    """One person's answer, with who they were then."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    call = models.ForeignKey(ToolCall, on_delete=models.PROTECT, related_name="decisions")
    kind = models.CharField(max_length=20, choices=DecisionKind.choices)
    review_round = models.PositiveIntegerField()
    counts = models.BooleanField(default=False, help_text="Is an approval of its round.")
    digest = models.CharField(max_length=64, help_text="Of what was shown.")
    reason = models.TextField(blank=True)
    edited_arguments = models.TextField(blank=True, help_text="JSON text, for an edit.")
    response = models.TextField(blank=True)
    decided_at = models.DateTimeField()
    person = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="decisions")
    person_name = models.CharField(max_length=300)
    person_email = models.CharField(max_length=254, blank=True)
    person_groups = models.TextField(default="[]", help_text="JSON list of names.")
    login = models.CharField(max_length=20, help_text="How they were signed in: session or token.")

    class Meta:
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint(
                fields=["call", "review_round", "person"], name="one_vote_a_person", condition=Q(counts=True)
            )
        ]

    @property
    def groups(self) -> list[str]:
        names: list[str] = json.loads(self.person_groups)
        return names


class Interrupt(models.Model):
    """A pause raised by a function, and its answer."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    call = models.ForeignKey(ToolCall, on_delete=models.PROTECT, related_name="interrupts")
    number = models.PositiveIntegerField(help_text="1 for the first question of the call.")
    message = models.TextField()
    data = models.TextField(default="null", help_text="JSON; `response_schema` inside it says what an answer looks like.")
    data_types = models.TextField(default="{}")
    raised_at = models.DateTimeField()
    answer = models.TextField(blank=True, help_text="JSON text.")
    answered_at = models.DateTimeField(null=True)
    answered_by = models.ForeignKey(Person, on_delete=models.PROTECT, null=True, related_name="+")
    answered_name = models.CharField(max_length=300, blank=True)
    closed_at = models.DateTimeField(null=True, help_text="When it ended without an answer.")

    class Meta:
        ordering = ("number",)
        constraints = [models.UniqueConstraint(fields=["call", "number"], name="one_question_a_number")]

    @property
    def response_schema(self) -> dict[str, Any] | None:
        data = json.loads(self.data)
        schema = data.get("response_schema") if isinstance(data, dict) else None
        return schema if isinstance(schema, dict) else None


class Execution(models.Model):
    """One run by a worker."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    call = models.ForeignKey(ToolCall, on_delete=models.PROTECT, related_name="executions")
    attempt = models.PositiveSmallIntegerField()
    lease = models.UUIDField()
    worker = models.TextField(default="{}", help_text="JSON: host, process, thread, versions.")
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=20, blank=True, help_text="succeeded, failed, interrupted, drifted or lost")
    exception = models.TextField(blank=True, help_text="For the operator; never sent to the model.")
    why = models.TextField(blank=True, help_text="Why it was stopped before the body, or taken for lost.")
    finding = models.TextField(blank=True, help_text="How a person knows what became of it, when it was lost.")

    class Meta:
        ordering = ("id",)
        constraints = [models.UniqueConstraint(fields=["call", "attempt"], name="one_execution_an_attempt")]
