"""One link of the trail, and the head of the chain that belongs to no call."""

from __future__ import annotations

from django.db import models

from approvals.models.identity import uuid7
from approvals.models.vocabulary import EventKind

GENESIS = "0" * 64


class ChainHead(models.Model):
    """What a chain looks like from outside: how long it is and the digest of its last event. A cut tail shows."""

    chain_length = models.PositiveIntegerField(default=0, editable=False)
    chain_head = models.CharField(max_length=64, default=GENESIS, editable=False)

    class Meta:
        abstract = True


class Administration(ChainHead):
    """The single row that carries the chain of administration: keys, people, looks at the trail."""

    NAME = "administration"
    name = models.CharField(max_length=20, primary_key=True, default=NAME)


class AuditEvent(models.Model):
    """Written once; the database refuses to change or delete it. `digest` covers every other column."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    chain = models.CharField(max_length=36, help_text="The id of a tool call, or `administration`.")
    sequence = models.PositiveIntegerField(help_text="1 for the first event of its chain; order is this, never the clock.")
    kind = models.CharField(max_length=30, choices=EventKind.choices)
    at = models.DateTimeField()
    tool = models.CharField(max_length=256, blank=True)
    actor_kind = models.CharField(max_length=10, help_text="agent, person, policy, worker, clock or system")
    actor_id = models.CharField(max_length=64, blank=True)
    actor_name = models.CharField(max_length=200, blank=True)
    data = models.TextField(help_text="Canonical JSON. Holds digests of payloads, never the payloads.")
    previous = models.CharField(max_length=64)
    digest = models.CharField(max_length=64)

    class Meta:
        ordering = ("id",)
        constraints = [models.UniqueConstraint(fields=["chain", "sequence"], name="one_event_a_place")]
        indexes = [
            models.Index(fields=["kind", "id"], name="event_by_kind"),
            models.Index(fields=["tool", "id"], name="event_by_tool"),
            models.Index(fields=["actor_id", "id"], name="event_by_actor"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} #{self.sequence} of {self.chain}"
