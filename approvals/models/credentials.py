"""What an API key or token is: shown once, stored as a hash, found by its prefix, with an end and a revocation."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import datetime
from typing import ClassVar

from django.db import models

from approvals.models.identity import uuid7


class Credential(models.Model):
    """A secret with 256 random bits. A plain SHA-256 is enough for it: there is nothing to guess from a dictionary."""

    KIND: ClassVar[str]

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(max_length=100, blank=True, help_text="What it is for, so that it can be told from others.")
    prefix = models.CharField(max_length=12, unique=True, editable=False)
    digest = models.CharField(max_length=64, editable=False)
    created_at = models.DateTimeField(editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"tg_{self.KIND}_{self.prefix}…"

    @classmethod
    def make_secret(cls) -> tuple[str, str, str]:
        """A fresh secret as (prefix, whole text to show once, hexadecimal digest to store)."""
        prefix = secrets.token_hex(6)
        text = f"tg_{cls.KIND}_{prefix}_{secrets.token_urlsafe(32)}"
        return prefix, text, hashlib.sha256(text.encode()).hexdigest()

    @classmethod
    def prefix_of(cls, text: str) -> str | None:
        """The prefix inside a presented secret, or None when it is not one of this kind."""
        start = f"tg_{cls.KIND}_"
        prefix, mark, _ = text.removeprefix(start).partition("_")
        return prefix if text.startswith(start) and mark and len(prefix) == 12 else None

    def matches(self, text: str) -> bool:
        return hmac.compare_digest(self.digest, hashlib.sha256(text.encode()).hexdigest())

    def is_live(self, at: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > at)
