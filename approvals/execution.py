"""Runs one approved call: claim, resolve, compare, run, normalise, finish. Exactly what was approved, once, or nothing.

The comparison stands inside `Function.execute`, between parser and body (`admit`), because a parser may answer differently
each time and only its last answer reaches the body: that answer, and no earlier one, is what is compared.
"""

from __future__ import annotations

import logging
import os
import platform
import socket
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from approvals import clock, leases, lifecycle, policies, resolution
from approvals.models import Outcome, Status, ToolCall
from approvals.rendering import Unrenderable, render, sha256
from approvals.resolution import Resolved
from toolgate.tools.canonical import canonical
from toolgate.tools.outcomes import Error, Interrupt, Ok
from toolgate.tools.registry import Registration
from toolgate.tools.tool_call import ArgumentsError
from toolgate.tools.tool_result import ToolResult, result_of

log = logging.getLogger(__name__)


def execute(call_id: UUID) -> str:
    """Runs the call if this worker gets the claim. Answers what came of it: a status, or why there was nothing to do."""
    resolution.registry()  # a worker whose tools cannot be loaded fails before it claims anything
    if not ToolCall.objects.filter(pk=call_id, status=Status.APPROVED).exists():
        return "not_approved"  # one message too many: not worth a claim, which keeps all other writers waiting
    worker = this_worker()
    try:
        call = lifecycle.claim(call_id=call_id, worker=worker, at=clock.now())
    except lifecycle.NotPossible as error:
        return error.code
    if call.lease is None:
        raise AssertionError("a claimed call has a lease")
    return _Run(call, call.lease, worker).run()


def this_worker() -> lifecycle.Worker:
    thread = threading.current_thread().name
    facts = {
        "host": socket.gethostname(),
        "process": os.getpid(),
        "thread": thread,
        "python": platform.python_version(),
    }
    return lifecycle.Worker(f"worker {facts['host']}:{facts['process']}", facts)


class _Drifted(Exception):
    """Raised out of `Function.execute` before the body: what would run is not what was approved."""

    def __init__(self, resolved: Resolved, why: str) -> None:
        self.resolved, self.why = resolved, why
        super().__init__(why)


class _Run:
    """One execution under one lease."""

    def __init__(self, call: ToolCall, lease: UUID, worker: lifecycle.Worker) -> None:
        self.call, self.lease, self.worker = call, lease, worker
        self.input = call.resolution.input if call.resolution else call.submitted
        self.context = resolution.context_for(call)
        self.admitted: Resolved | None = None

    def run(self) -> str:
        registration = resolution.registry().get(self.call.tool)
        if registration is None:
            unknown = Resolved(self.call.tool, self.input, refusal=resolution.unknown_tool(self.call.tool))
            return self._drift(_Drifted(unknown, "this worker does not know the function"))
        try:
            outcome = self._within_its_time(registration)
        except _Drifted as drifted:
            return self._drift(drifted)
        return self._finish(self._ending(registration, outcome))

    def _within_its_time(self, registration: Registration) -> Ok | Interrupt | Error:
        outcome: Ok | Interrupt | Error | None = None
        limits = leases.Limits(registration.soft_limit, registration.time_limit)
        try:
            with leases.watched(self.call.pk, self.lease, limits) as watch:
                outcome = self._outcome(registration, watch)
        except SoftTimeLimitExceeded as late:  # it can arrive a moment after the body has answered
            outcome = outcome or Error("", late)
        if isinstance(outcome, Error) and isinstance(outcome.exception, SoftTimeLimitExceeded):
            seconds = f"{limits.soft.total_seconds():g}"
            return Error(f"The tool did not finish within {seconds} seconds and was stopped.", outcome.exception)
        return outcome

    def _outcome(self, registration: Registration, watch: leases.Watch) -> Ok | Interrupt | Error:
        function = registration.function
        if function.function is not None:
            function = replace(function, function=watch.stoppable(function.function))
        try:
            arguments = resolution.arguments_of(self.input)
            return function.execute(arguments, self.context, admit=self._admit(registration))
        except ArgumentsError as error:
            return Error(str(error))
        except BaseException as error:
            # A body may try to end its process. In the main thread that may be the process being ended, so the lease tells.
            if isinstance(error, Exception) or threading.current_thread() is threading.main_thread():
                raise
            return Error(f"ERROR: ({type(error).__name__}) {error}".rstrip(), error)

    def _admit(self, registration: Registration) -> Callable[[dict[Any, Any]], None]:
        def compare(arguments: dict[Any, Any]) -> None:
            resolved = resolution.bind(registration, self.input, arguments)
            if resolved.digest != self.call.approved_digest and not self._is_allowed_anyway(resolved):
                raise _Drifted(resolved, _why(self.call, resolved))
            self.admitted = resolved

        return compare

    def _is_allowed_anyway(self, resolved: Resolved) -> bool:
        """A call that no person looked at follows its policy: what policy allows now may run now."""
        if not resolved.digest or self.call.outcome != Outcome.ALLOW:
            return False
        return policies.judge(resolved, self.context).outcome == Outcome.ALLOW

    def _drift(self, drifted: _Drifted) -> str:
        resolved = drifted.resolved
        if resolved.registration is not None and resolved.registration.drift == "fail":
            text = f"Tool call '{self.call.tool}' was not run: {drifted.why}. Submit it again if it is still wanted."
            result = ToolResult(text, is_error=True, tool_call_id=self.call.tool_call_id, name=self.call.tool)
            return self._finish(lifecycle.Ending(Status.FAILED, result))
        verdict = policies.judge(resolved, self.context) if resolved.digest else None
        return self._store(
            lambda: lifecycle.drift(
                call_id=self.call.pk,
                lease=self.lease,
                worker=self.worker,
                resolved=resolved,
                verdict=verdict,
                why=drifted.why,
                at=clock.now(),
            )
        )

    def _ending(self, registration: Registration, outcome: Ok | Interrupt | Error) -> lifecycle.Ending:
        result = result_of(outcome, tool_call_id=self.call.tool_call_id, function=registration.function)
        exception = _told(outcome.exception) if isinstance(outcome, Error) and outcome.exception else ""
        status = Status.SUCCEEDED
        if result.is_error:
            status = Status.FAILED
        elif result.is_interrupt:
            status = Status.INTERRUPTED
        return self._storable(lifecycle.Ending(status, result, self.admitted, exception))

    def _storable(self, ending: lifecycle.Ending) -> lifecycle.Ending:
        """A result that cannot be written down exactly is told as a failure to store, not as a failure to run."""
        data = ending.result.to_dict()
        try:
            kept = {**data, "options": render(data["options"]).tree, "interrupt_data": render(data["interrupt_data"]).tree}
            canonical(render(kept).tree)
        except Unrenderable as error:
            text = f"The tool ran, but its answer could not be stored. {error}"
            result = ToolResult(text, is_error=True, tool_call_id=self.call.tool_call_id, name=self.call.tool)
            return lifecycle.Ending(Status.FAILED, result, ending.resolved, str(error))
        return lifecycle.Ending(ending.status, ToolResult.from_dict(kept), ending.resolved, ending.exception)

    def _finish(self, ending: lifecycle.Ending) -> str:
        return self._store(
            lambda: lifecycle.finish(call_id=self.call.pk, lease=self.lease, worker=self.worker, ending=ending, at=clock.now())
        )

    def _store(self, write: Callable[[], ToolCall]) -> str:
        """What came of the execution is not lost to a database that is away for a while: tried until the lease is over."""
        until = time.monotonic() + settings.LEASE.total_seconds()
        with leases.renewed(self.call.pk, self.lease):
            while True:
                try:
                    return write().status
                except lifecycle.NotPossible as error:
                    log.warning("call %s: %s", self.call.pk, error.detail)
                    return error.code
                except (DatabaseError, InterfaceError):
                    if time.monotonic() > until:
                        raise
                    log.exception("could not store what came of call %s; trying again", self.call.pk)
                    connection.close()
                    time.sleep(0.5)


def _why(call: ToolCall, resolved: Resolved) -> str:
    if resolved.refusal:
        return resolved.refusal
    if call.resolution is not None and call.resolution.declaration_id != sha256(resolved.declaration):
        return "the function's declaration changed after the approval"
    return "the arguments resolve differently than when they were approved"


def _told(exception: BaseException) -> str:
    return "".join(traceback.format_exception(exception))
