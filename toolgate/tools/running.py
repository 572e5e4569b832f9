"""Runs a model's tool calls against functions, with or without people's decisions. Decisions belong to calls by id."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal

from toolgate.tools.function import Function
from toolgate.tools.tool_call import ArgumentsError, ToolCall, read_arguments
from toolgate.tools.tool_result import ToolResult, rejection_result, result_of

KINDS = ("approve", "edit", "reject")


@dataclass(frozen=True, slots=True)
class CallDecision:
    """What a person said of one call. `arguments` replace the call's own entirely when `kind` is edit."""

    kind: Literal["approve", "edit", "reject"]
    arguments: Mapping[str, Any] | None = None
    reason: str | None = None


def execute_tool_call(call: ToolCall, function: Function, context: Any = None) -> ToolResult:
    """Runs one call. A mapping as context (or none) gains the call's `tool_call_id`; any other is passed on as it is."""
    try:
        arguments: Any = read_arguments(call.arguments)
    except ArgumentsError as error:
        return ToolResult(str(error), is_error=True, tool_call_id=call.call_id, name=function.name)
    outcome = function.execute(arguments, _enriched(context, call))
    return result_of(outcome, tool_call_id=call.call_id, function=function)


def execute_tool_calls(calls: Iterable[ToolCall], functions: Sequence[Function], context: Any = None) -> list[ToolResult]:
    """Runs all calls; results in their order. Functions with `async_` run beside one another, the others in turn."""
    return _run_all([(call, _find(functions, call), call) for call in calls], context)


def execute_tool_calls_with_decisions(
    calls: Iterable[ToolCall], functions: Sequence[Function], decisions: Mapping[str, CallDecision], context: Any = None
) -> list[ToolResult]:
    """Runs what was approved or edited and answers what was rejected; results in the order of the calls.

    `decisions` maps call ids. Raises ValueError, before anything runs, for a call without a decision, a decision without
    its call, a decision of an unknown kind, or an id that two calls share.
    """
    asked = list(calls)
    _check(asked, decisions)
    decided = [(call, _find(functions, call), _as_decided(call, decisions[call.call_id or ""])) for call in asked]
    return _run_all(decided, context, "Tool '{name}' not found")


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

    beside = [place for place, (_, function, _) in enumerate(work) if function is not None and function.async_]
    with ThreadPoolExecutor(max_workers=max(len(beside), 1)) as pool:
        started: dict[int, Future[ToolResult]] = {place: pool.submit(run, *work[place]) for place in beside}
        in_turn = {place: run(*item) for place, item in enumerate(work) if place not in started}
        return [in_turn[place] if place in in_turn else started[place].result() for place in range(len(work))]


def _find(functions: Sequence[Function], call: ToolCall) -> Function | None:
    return next((function for function in functions if function.name == call.name), None)


def _enriched(context: Any, call: ToolCall) -> Any:
    if context is None or isinstance(context, Mapping):
        return {**(context or {}), "tool_call_id": call.call_id}
    return context
