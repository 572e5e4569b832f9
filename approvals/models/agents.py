"""Programs that submit tool calls, and their keys."""

from __future__ import annotations

from django.db import models

from approvals.models.credentials import Credential
from approvals.models.identity import uuid7
from approvals.models.people import Person


class Agent(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(max_length=100, unique=True)
    description = models.TextField(blank=True)
    tools = models.TextField(
        blank=True, help_text="The tools it may call, one name a line. Empty: every tool of this deployment."
    )
    owner = models.ForeignKey(
        Person,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="agents",
        help_text="Who answers for it. Counts as the asker where a policy forbids approving one's own.",
    )
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name

    def may_call(self, tool: str) -> bool:
        allowed = self.tools.split("\n")
        names = {name.strip() for name in allowed if name.strip()}
        return not names or tool in names


class AgentKey(Credential):
    KIND = "agent"
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="keys")

    class Meta:
        verbose_name = "agent key"
        ordering = ("-created_at",)
