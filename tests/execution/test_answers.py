"""What a body answers becomes what the agent is told: exactly, or with a plain sentence why not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from approvals import execution
from approvals.models import Execution, Status, ToolCall
from tests.calls import CallMaker, register
from toolgate import ContentPart, Error, Interrupt, Ok, ToolResult

pytestmark = pytest.mark.usefixtures("real_db")


def run(make: CallMaker, tools: Any, answer: Any) -> ToolCall:
    tool = register(tools, function=lambda arguments, context: answer, require_approval=False)
    call = make.submit(tool)
    execution.execute(call.pk)
    return ToolCall.objects.get(pk=call.pk)


def result(call: ToolCall) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(call.result)
    return read


@pytest.mark.parametrize(
    ("answer", "content"),
    [
        ("text", ["text"]),
        ("", [""]),
        (Ok("fine", processed_content=object()), ["fine"]),
        ([], []),
        ([ContentPart.text("a"), ContentPart.text("b")], ["a", "b"]),
        ("a lone half \ud800, a NUL \x00 and 🦕", ["a lone half \ud800, a NUL \x00 and 🦕"]),
        (ToolResult("own", tool_call_id="somebody else's"), ["own"]),
    ],
)
def test_answer_reaches_the_agent_unchanged(answer: Any, content: list[str], make_call: CallMaker, tools: Any) -> None:
    call = run(make_call, tools, answer)
    told = result(call)
    assert call.status == Status.SUCCEEDED
    assert [part["content"] for part in told["content"]] == content
    assert (told["tool_call_id"], told["name"], told["is_error"]) == (call.tool_call_id, call.tool, False)


@pytest.mark.parametrize(
    ("answer", "content"),
    [
        (Error("no such order"), "no such order"),
        (ToolResult("own", is_error=True), "own"),
        (5, "An unexpected response was returned from the tool."),
        (None, "An unexpected response was returned from the tool."),
    ],
)
def test_error_is_told_as_one(answer: Any, content: str, make_call: CallMaker, tools: Any) -> None:
    call = run(make_call, tools, answer)
    assert call.status == Status.FAILED
    assert (result(call)["content"][0]["content"], result(call)["is_error"]) == (content, True)


_circle: list[Any] = []
_circle.append(_circle)


@pytest.mark.parametrize(
    "answer",
    [
        ToolResult("x", options={"a": object()}),
        ToolResult("x", options=[float("nan")]),
        ToolResult("x", options=_circle),
        ToolResult("x", options=10**5000),
        ToolResult("x", name=object()),  # type: ignore[arg-type] # what a careless tool does
        [ContentPart.image("aGk=", media=object())],
        Interrupt("?", object()),
    ],
    ids=["object", "NaN", "circle", "digits", "name", "part", "interrupt"],
)
def test_answer_that_cannot_be_stored_says_that_the_tool_ran(answer: Any, make_call: CallMaker, tools: Any) -> None:
    call = run(make_call, tools, answer)
    assert call.status == Status.FAILED
    assert result(call)["content"][0]["content"].startswith("The tool ran, but its answer could not be stored.")
    assert Execution.objects.get(call=call).exception


def test_result_that_is_marked_as_an_interrupt_asks(make_call: CallMaker, tools: Any) -> None:
    call = run(make_call, tools, ToolResult("Really?", is_interrupt=True, interrupt_data={"rows": 5}))
    assert (call.status, call.result) == (Status.INTERRUPTED, "")
    assert call.open_interrupt is not None
    assert (call.open_interrupt.message, call.open_interrupt.data) == ("Really?", '{"rows":5}')


def test_values_of_a_question_that_json_lacks_are_shown_exactly(make_call: CallMaker, tools: Any) -> None:
    call = run(make_call, tools, Interrupt("Which?", {"price": 10**30, "parts": ("a", b"b")}))
    assert call.open_interrupt is not None
    assert call.open_interrupt.data == '{"parts":["a",{"$bytes":"Yg=="}],"price":1000000000000000000000000000000}'
