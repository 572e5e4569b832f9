"""The Celery application: the same in the embedded process and on many workers."""

from __future__ import annotations

import os

from celery import Celery
from celery.signals import setup_logging

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolgate.settings")

app = Celery("toolgate")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["approvals"])
app.set_default()  # what `current_app` means in every thread, whoever asked for it first


@setup_logging.connect
def _keep_our_logging(**_: object) -> None:
    """Connected so that Celery leaves the logging as toolgate.logs set it up."""
