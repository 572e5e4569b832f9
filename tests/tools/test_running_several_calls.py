"""Running several tool calls, without and with people's decisions."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from typing import Any

import pytest

from toolgate import (
    CallDecision,
    Error,
    Function,
    FunctionParam,
    Interrupt,
    ToolCall,
    ToolResult,
    execute_tool_calls,
    execute_tool_calls_with_decisions,
)

runs: contextvars.ContextVar[list[Any]] = contextvars.ContextVar("runs")


@pytest.fixture(autouse=True)
def ran() -> list[Any]:
    found: list[Any] = []
    runs.set(found)
    return found


def note(arguments: Any, context: Any) -> str:
    runs.get().append((context["tool_call_id"], dict(arguments)))
    return f"noted {arguments.get('n')}"


def explode(arguments: Any, context: Any) -> str:
    raise ValueError("no")


async def note_later(arguments: Any, context: Any) -> str:
    await asyncio.sleep(0.01)
    return note(arguments, context)


FUNCTIONS = [
    Function(name="note", function=note, display_text="Noting"),
    Function(name="later", function=note_later, async_=True),
    Function(name="explode", function=explode),
    Function(name="explode_later", function=explode, async_=True),
    Function(name="ask", function=lambda a, c: Interrupt("Sure?")),
    Function(name="strict", function=note, parameters=[FunctionParam("n", "integer", required=True)]),
    Function(name="parsed", function=note, parse_args=lambda a: runs.get().append("parsed")),
]


def call(call_id: str, name: str = "note", **arguments: Any) -> ToolCall:
    return ToolCall(call_id, name, arguments, "complete")


def text_of(result: ToolResult) -> str:
    return str(result.content[0].content)


def test_each_call_gives_a_result_in_the_order_of_the_calls(ran: list[Any]) -> None:  # F307, F308, F313, F315
    results = execute_tool_calls([call("c2", n=2), call("c1", n=1)], FUNCTIONS, {"user": 1})
    assert [(result.tool_call_id, text_of(result)) for result in results] == [("c2", "noted 2"), ("c1", "noted 1")]
    assert ran == [("c2", {"n": 2}), ("c1", {"n": 1})]


@pytest.mark.parametrize("name", ["unknown", "Note", "note "])
def test_an_unknown_function_is_an_error_and_the_others_run(name: str) -> None:  # F309, F310, F314, F326
    unknown, known = execute_tool_calls([call("c1", name), call("c2", n=2)], FUNCTIONS)
    assert text_of(unknown) == f"Tool call made to {name} but tool not found"
    assert (unknown.is_error, unknown.tool_call_id, unknown.name, unknown.display_text) == (True, "c1", name, None)
    assert text_of(known) == "noted 2"


def test_one_failing_call_keeps_no_other_from_running() -> None:  # F311, F312, F317
    calls = [call("c1", "explode"), call("c2", "later", n=2), call("c3", "explode_later"), call("c4", "ask"), call("c5", n=5)]
    results = {result.tool_call_id: result for result in execute_tool_calls(calls, FUNCTIONS)}
    assert [results[f"c{n}"].is_error for n in range(1, 6)] == [True, False, True, False, False]
    assert text_of(results["c3"]).startswith("ERROR: (ValueError) no at ")
    assert results["c4"].is_interrupt
    assert (text_of(results["c2"]), text_of(results["c5"])) == ("noted 2", "noted 5")


def test_no_calls_give_no_results() -> None:  # F316
    assert execute_tool_calls([], FUNCTIONS) == []


def test_async_functions_run_beside_one_another_and_keep_context_variables() -> None:  # Q5
    meeting = threading.Barrier(2, timeout=5)

    def meet(arguments: Any, context: Any) -> str:
        meeting.wait()
        return note(arguments, context)

    function = Function(name="meet", function=meet, async_=True)
    results = execute_tool_calls([call("c1", "meet", n=1), call("c2", "meet", n=2)], [function])
    assert [text_of(result) for result in results] == ["noted 1", "noted 2"]


def decide(calls: list[ToolCall], decisions: Any, context: Any = None) -> list[ToolResult]:
    return execute_tool_calls_with_decisions(calls, FUNCTIONS, decisions, context)


def test_approve_runs_the_calls_own_arguments(ran: list[Any]) -> None:  # F318, F335
    decide([call("c1", n=1)], {"c1": CallDecision("approve")})
    assert ran == [("c1", {"n": 1})]


def test_edit_replaces_the_arguments_entirely(ran: list[Any]) -> None:  # F319, F320, F322
    sent = [call("c1", n=1, m=1), call("c2", n=2)]
    results = decide(sent, {"c1": CallDecision("edit", {"n": 9}), "c2": CallDecision("edit")})
    assert ran == [("c1", {"n": 9}), ("c2", {})]
    assert [result.tool_call_id for result in results] == ["c1", "c2"]
    assert sent[0].arguments == {"n": 1, "m": 1}


def test_edited_arguments_are_checked_like_any_others(ran: list[Any]) -> None:  # F321
    results = decide([call("c1", "strict", n=1), call("c2", "parsed", n=1)], {"c1": {"kind": "edit"}, "c2": "edit"})
    assert text_of(results[0]).startswith("Missing required parameters")
    assert ran == ["parsed", ("c2", {})]


@pytest.mark.parametrize("name", ["note", "parsed", "unknown"])
def test_reject_runs_nothing_and_is_no_error(name: str, ran: list[Any]) -> None:  # F323-F328
    (result,) = decide([call("c1", name)], {"c1": CallDecision("reject")})
    assert text_of(result) == f"Tool call '{name}' was rejected by a human reviewer."
    assert (result.is_error, result.is_interrupt, result.display_text) == (False, False, None)
    assert (result.tool_call_id, result.name) == ("c1", name)
    assert ran == []


@pytest.mark.parametrize("kind", ["approve", "edit"])
def test_an_unknown_function_is_told_in_other_words(kind: str) -> None:  # F326, F329
    (result,) = decide([call("c1", "unknown")], {"c1": kind})
    assert text_of(result) == "Tool 'unknown' not found"
    assert (result.is_error, result.tool_call_id, result.display_text) == (True, "c1", None)


def test_results_come_in_the_order_of_the_calls() -> None:  # F330, F333, F334
    calls = [call("c1", "later", n=1), call("c2", "explode"), call("c3"), call("c4", "ask"), call("c5", n=5)]
    decisions = {"c5": "approve", "c3": "reject", "c1": "approve", "c4": "approve", "c2": "approve"}
    results = decide(calls, decisions)
    assert [result.tool_call_id for result in results] == ["c1", "c2", "c3", "c4", "c5"]
    assert [result.is_error for result in results] == [False, True, False, False, False]
    assert results[3].is_interrupt
    assert text_of(results[4]) == "noted 5"


@pytest.mark.parametrize(
    ("calls", "decisions"),
    [
        ([call("c1"), call("c2")], {"c1": "approve"}),  # F331, Q11
        ([call("c1")], {"c1": "approve", "c9": "approve"}),
        ([call("c1")], {"c1": "maybe"}),  # F332
        ([call("c1")], {"c1": CallDecision("Approve")}),  # type: ignore[arg-type] # F332
        ([call("c1")], {"c1": {"approved": True}}),
        ([call("c1"), call("c1", n=2)], {"c1": "approve"}),
    ],
)
def test_what_is_not_decided_beyond_doubt_never_runs(calls: Any, decisions: Any, ran: list[Any]) -> None:
    with pytest.raises(ValueError, match=r"decision|decided|id"):
        decide(calls, decisions)
    assert ran == []


def test_a_refused_call_beside_an_approved_one_leaves_it_alone() -> None:  # F334
    functions = [*FUNCTIONS, Function(name="refuse", parse_args=lambda a: Error("no"), function=note)]
    decisions: dict[str, Any] = {"c1": "approve", "c2": "approve"}
    results = execute_tool_calls_with_decisions([call("c1", "refuse"), call("c2", n=2)], functions, decisions)
    assert [result.is_error for result in results] == [True, False]
