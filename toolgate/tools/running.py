"""Runs a model's tool calls against functions, with or without people's decisions. Decisions belong to calls by id."""

from __future__ import annotations

import contextvars
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

from toolgate.tools.function import Function
from toolgate.tools.outcomes import Error
from toolgate.tools.tool_call import ArgumentsError, ToolCall, read_arguments
from toolgate.tools.tool_result import ToolResult, rejection_result, result_of

Kind = Literal["approve", "edit", "reject"]
KINDS = get_args(Kind)
MOST_THREADS = 32


@dataclass(frozen=True, slots=True)
class CallDecision:
    """What a person said of one call. `arguments` replace the call's own entirely when `kind` is edit."""

    kind: Kind
    arguments: Mapping[str, Any] | None = None
    reason: str | None = None


Decision = CallDecision | Kind | Mapping[str, Any]


def execute_tool_call(call: ToolCall, function: Function, context: Any = None) -> ToolResult:
    """Runs one call. A mapping as context (or none) gains the call's `tool_call_id`; any other is passed on as it is."""
    try:
        outcome = function.execute(read_arguments(call.arguments), _enriched(context, call))
    except ArgumentsError as error:
        outcome = Error(str(error))
    return result_of(outcome, tool_call_id=call.call_id, function=function)


def execute_tool_calls(calls: Iterable[ToolCall], functions: Sequence[Function], context: Any = None) -> list[ToolResult]:
    """Runs all calls; results in their order. Functions with `async_` run beside one another, the others in turn."""
    return _run_all([(call, _find(functions, call), call) for call in calls], context)


def execute_tool_calls_with_decisions(
    calls: Iterable[ToolCall], functions: Sequence[Function], decisions: Mapping[str, Decision], context: Any = None
) -> list[ToolResult]:
    """Runs what was approved or edited and answers what was rejected; results in the order of the calls.

    `decisions` maps call ids to a CallDecision, the mapping of one, or just its kind. Raises ValueError, before anything
    runs, for a call without a decision, a decision without its call, a decision of an unknown kind, or an id that two
    calls share.
    """
    asked, given = list(calls), {call_id: _read(decision) for call_id, decision in decisions.items()}
    _check(asked, given)
    decided = [(call, _find(functions, call), _as_decided(call, given[call.call_id or ""])) for call in asked]
    return _run_all(decided, context, "Tool '{name}' not found")


def _read(decision: Decision) -> CallDecision:
    if isinstance(decision, CallDecision):
        return decision
    try:
        return CallDecision(decision) if isinstance(decision, str) else CallDecision(**decision)
    except TypeError as error:
        raise ValueError(f"not a decision: {error}") from None


def _check(calls: list[ToolCall], decisions: Mapping[str, CallDecision]) -> None:
    ids = [call.call_id or "" for call in calls]
    if len(set(ids)) != len(ids):
        raise ValueError("two calls share one id, so a decision cannot be told to belong to one of them")
    if undecided := [call_id for call_id in ids if call_id not in decisions]:
        raise ValueError(f"no decision for {', '.join(undecided)}")
    if strange := [call_id for call_id in decisions if call_id not in ids]:
        raise ValueError(f"a decision for a call that is not there: {', '.join(strange)}")
    if unknown := [decision.kind for decision in decisions.values() if decision.kind not in KINDS]:
        raise ValueError(f"unknown kind of decision: {unknown[0]!r}")


def _as_decided(call: ToolCall, decision: CallDecision) -> ToolCall | ToolResult:
    if decision.kind == "reject":
        return rejection_result(call.name or "", call.call_id, decision.reason)
    if decision.kind == "edit":
        return ToolCall(call.call_id, call.name, dict(decision.arguments or {}), call.status, index=call.index)
    return call


def _run_all(
    work: list[tuple[ToolCall, Function | None, ToolCall | ToolResult]],
    context: Any,
    not_found: str = "Tool call made to {name} but tool not found",
) -> list[ToolResult]:
    def run(call: ToolCall, function: Function | None, todo: ToolCall | ToolResult) -> ToolResult:
        if isinstance(todo, ToolResult):
            return todo
        if function is None:
            text = not_found.format(name=call.name)
            return ToolResult(text, is_error=True, tool_call_id=call.call_id, name=call.name)
        return execute_tool_call(todo, function, context)

    def start(pool: ThreadPoolExecutor, place: int) -> Future[ToolResult]:
        return pool.submit(contextvars.copy_context().run, partial(run, *work[place]))

    beside = [place for place, (_, function, _) in enumerate(work) if function is not None and function.async_]
    with ThreadPoolExecutor(max_workers=min(max(len(beside), 1), MOST_THREADS)) as pool:
        started = {place: start(pool, place) for place in beside}
        in_turn = {place: run(*item) for place, item in enumerate(work) if place not in started}
        return [in_turn[place] if place in in_turn else started[place].result() for place in range(len(work))]


def _find(functions: Sequence[Function], call: ToolCall) -> Function | None:
    return next((function for function in functions if function.name == call.name), None)


def _enriched(context: Any, call: ToolCall) -> Any:
    if context is None or isinstance(context, Mapping):
        return {**(context or {}), "tool_call_id": call.call_id}
    return context
