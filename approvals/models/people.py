"""People and what proves who they are: reviewers, auditors, administrators, and their personal tokens."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models

from approvals.models.credentials import Credential


class Person(AbstractUser):
    """Somebody who signs in. Reviewer unless marked auditor or administrator (`is_superuser`)."""

    is_auditor = models.BooleanField(
        "auditor", default=False, help_text="Reads every call and the trail, exports and verifies it; decides nothing."
    )

    class Meta:
        verbose_name = "person"
        verbose_name_plural = "people"

    @property
    def role(self) -> str:
        if self.is_superuser:
            return "administrator"
        return "auditor" if self.is_auditor else "reviewer"

    @property
    def label(self) -> str:
        return (self.get_full_name() or self.username)[:300]  # as long as it is kept with a decision

    def group_names(self) -> list[str]:
        return sorted(group.name for group in self.groups.all())  # `all`, so that a list may prefetch them once


class PersonalToken(Credential):
    """What a reviewer's own program shows instead of a session."""

    KIND = "person"
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="tokens")

    class Meta:
        verbose_name = "personal token"
        ordering = ("-created_at",)
