"""How a call gets into each status: by the verbs that lead there."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from approvals import lifecycle, resolution
from approvals.clock import now
from approvals.lifecycle import Ending, Reviewer, Submission, Worker
from approvals.models import Agent, DecisionKind, Status, ToolCall
from toolgate import Function, Interrupt, Ok, Registry
from toolgate.tools.registry import Registration
from toolgate.tools.tool_result import result_of

WORKER = Worker("worker of a test")
_ids = itertools.count(1)


def answer(arguments: dict[str, Any], context: Any) -> str:
    return "done"


def register(tools: Registry, name: str = "tool", **keywords: Any) -> str:
    """A plain function under this name, once; keywords of Function and of registration mixed."""
    ours = {key: keywords.pop(key) for key in ("parse_args", "function", "async_", "parameters_schema") if key in keywords}
    if tools.get(name) is None:
        tools.register(Function(name=name, **{"function": answer, **ours}), **keywords)
    return name


def submission(tool: str, arguments: Any = None, **fields: Any) -> Submission:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments if arguments is not None else {})
    return Submission(tool=tool, arguments=text, **{"tool_call_id": f"call_{next(_ids)}", **fields})


class Deployment(Registry):
    """A registry that is the whole deployment of one test, also for tools registered while it runs."""

    def register(self, *args: Any, **kwargs: Any) -> Any:
        answer = super().register(*args, **kwargs)
        resolution.registry.cache_clear()  # afterwards, or a worker in a thread has it read again without this tool
        return answer

    def take_away(self, name: str) -> Registration:
        """As a deployment does that no longer has this tool."""
        gone = self._registrations.pop(name)
        resolution.registry.cache_clear()
        return gone

    def bring_back(self, gone: Registration) -> None:
        self._registrations[gone.function.name] = gone
        resolution.registry.cache_clear()


@dataclass
class CallMaker:
    tools: Deployment
    agent: Agent
    reviewer: Reviewer
    extra: dict[str, Any] = field(default_factory=dict)  # what the parser of the default tool adds
    ways: dict[Status, Callable[..., ToolCall]] = field(init=False)

    def __post_init__(self) -> None:
        kinds = {
            Status.CHANGES_REQUESTED: DecisionKind.REQUEST_CHANGES,
            Status.APPROVED: DecisionKind.APPROVE,
            Status.REJECTED: DecisionKind.REJECT,
        }
        self.ways = {
            Status.INVALID: lambda **fields: self.submit("no such tool", **fields),
            Status.DENIED: lambda **fields: self.submit(register(self.tools, "denied", deny=True), **fields),
            Status.PENDING: lambda **fields: self.submit(**fields),
            Status.CANCELLED: self.cancelled,
            Status.EXPIRED: self.expired,
            Status.EXECUTING: self.executing,
            Status.INTERRUPTED: self.interrupted,
            Status.OUTCOME_UNKNOWN: self.lost,
            Status.SUCCEEDED: lambda **fields: self.finished(Status.SUCCEEDED, **fields),
            Status.FAILED: lambda **fields: self.finished(Status.FAILED, **fields),
        } | {status: self._decided(kind) for status, kind in kinds.items()}

    def parse(self, arguments: dict[str, Any]) -> dict[str, Any]:
        return arguments | self.extra

    def __call__(self, status: Status = Status.PENDING, **fields: Any) -> ToolCall:
        call = self.ways[status](**fields)
        assert call.status == status, (call.status, call.result)
        return call

    def submit(self, tool: str = "", arguments: Any = None, **fields: Any) -> ToolCall:
        sent = submission(tool or register(self.tools, parse_args=self.parse), arguments, **fields)
        return lifecycle.submit(agent=self.agent, submission=sent, at=now())[0]

    def decide(self, call: ToolCall, kind: DecisionKind, **answer: Any) -> ToolCall:
        call.refresh_from_db()
        shown = call.resolution.digest if call.resolution else ""
        decision: dict[str, Any] = {
            "reviewer": self.reviewer,
            "digest": shown,
            "at": now(),
            "reason": "a reason",
            **answer,
        }
        return lifecycle.decide(call_id=call.pk, kind=kind, **decision)

    def _decided(self, kind: DecisionKind) -> Callable[..., ToolCall]:
        return lambda **fields: self.decide(self.submit(**fields), kind)

    def cancelled(self, **fields: Any) -> ToolCall:
        return lifecycle.cancel(call_id=self.submit(**fields).pk, agent=self.agent, at=now())

    def expired(self, **fields: Any) -> ToolCall:
        return lifecycle.expire(call_id=self.submit(**fields).pk, at=now() + timedelta(days=400))

    def executing(self, **fields: Any) -> ToolCall:
        return lifecycle.claim(call_id=self(Status.APPROVED, **fields).pk, worker=WORKER, at=now())

    def interrupted(self, data: Any = None, **fields: Any) -> ToolCall:
        return finish(self.executing(**fields), Status.INTERRUPTED, Interrupt("Really?", data))

    def lost(self, **fields: Any) -> ToolCall:
        call = self.executing(**fields)
        assert call.lease is not None
        return lifecycle.lose(call_id=call.pk, lease=call.lease, why="killed", at=now(), is_certain=True)

    def finished(self, status: Status, **fields: Any) -> ToolCall:
        return finish(self.executing(**fields), status, Ok("done"))


def finish(call: ToolCall, status: Status, outcome: Any) -> ToolCall:
    assert call.lease is not None
    result = result_of(outcome, tool_call_id=call.tool_call_id, function=Function(name=call.tool))
    resolved = resolution.resolve(call.tool, call.submitted, resolution.context_for(call))  # as a worker does before the body
    ending = Ending(status, result, resolved)
    return lifecycle.finish(call_id=call.pk, lease=call.lease, worker=WORKER, ending=ending, at=now())
