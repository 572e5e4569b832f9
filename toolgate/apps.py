"""How Django finds the commands of `toolgate`, and how every process comes to its Celery application."""

from __future__ import annotations

from django.apps import AppConfig


class ToolgateConfig(AppConfig):
    name = "toolgate"

    def ready(self) -> None:
        """A process that did not know the application would send its messages to Celery's default broker."""
        from toolgate import celery  # noqa: F401, PLC0415 - Django must be ready first
