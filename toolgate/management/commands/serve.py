"""toolgate serve: the embedded process."""

from __future__ import annotations

import errno
import logging
import os
import signal
import socket
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings as django_settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from toolgate.demonstration import seed
from toolgate.management.commands.check import unanswerable_tools, unusable_tools
from toolgate.serve import listen, reachable, serve_everything
from toolgate.settings import settings


class Command(BaseCommand):
    help = "Migrates, seeds the demonstration when the database is new, and serves pages, API, worker and clock."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000, help="0 for any free one")
        parser.add_argument("--no-demo", action="store_true", help="no people, agent, calls and tools to try it with")

    def handle(self, *, host: str, port: int, no_demo: bool, **options: Any) -> None:
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends it like Ctrl-C, at any time
        listener = listening(host, port)
        try:
            is_over = self._serve(listener, with_demo=not no_demo)
        except KeyboardInterrupt:
            is_over = True
        sys.stdout.flush()
        logging.shutdown()
        # A tool that still runs has had its grace, and Python would wait for its thread: what it holds is left to its lease.
        os._exit(0 if is_over else 1)

    def _serve(self, listener: socket.socket, *, with_demo: bool) -> bool:
        if not with_demo and "tools" not in settings.model_fields_set:
            django_settings.TOOLGATE_TOOLS = ()
        if problems := unusable_tools():
            raise CommandError("\n".join(problems), returncode=2)
        call_command("migrate", interactive=False, verbosity=0)
        host, port, *_ = listener.getsockname()
        host = reachable(host)
        url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        if with_demo:
            seed.when_new()
        words = seed.welcome(url) if with_demo else f"toolgate serves {url}"
        for warning in unanswerable_tools():
            self.stderr.write(self.style.WARNING(warning))
        return serve_everything(listener, lambda: self._say(words))

    def _say(self, words: str) -> None:
        self.stdout.write(words)
        self.stdout.flush()  # or whoever reads it through a pipe waits for the end of the server


def listening(host: str, port: int) -> socket.socket:
    """The port, taken; or what keeps it from being had."""
    try:
        return listen(host, port)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise CommandError(f"Port {port} is taken. Choose another with --port.") from None
        raise CommandError(f"Cannot listen on {host}, port {port}: {error.strerror}.") from None
    except OverflowError:
        raise CommandError("--port must be from 0 to 65535.") from None
