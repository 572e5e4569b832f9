"""A deployment whose tools kill the process that runs them, as a kernel that is out of memory does."""

from __future__ import annotations

import os
import signal
from typing import Any

from toolgate import Function, Registry

registry = Registry()


def crash(arguments: dict[str, Any], context: dict[str, Any]) -> str:
    os.kill(os.getpid(), signal.SIGKILL)
    return "never"


for name, idempotent in (("crash", False), ("crash_again", True)):
    registry.register(Function(name=name, function=crash), require_approval=False, idempotent=idempotent)
