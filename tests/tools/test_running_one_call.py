"""Binding one tool call to its function and running it."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from toolgate import ContentPart, Error, Function, FunctionParam, Interrupt, Ok, ToolCall, ToolResult, execute_tool_call

CALL = ToolCall("c1", "pay", {"amount": 3}, "complete")


def pay(body: Any, **fields: Any) -> Function:
    return Function(**{"name": "pay", "display_text": "Paying", "function": body, **fields})


def answering(answer: Any) -> ToolResult:
    return execute_tool_call(CALL, pay(lambda arguments, context: answer))


def text_of(result: ToolResult) -> str:
    return str(result.content[0].content)


def test_text_gives_one_text_part_with_id_name_and_display_text() -> None:  # F286, F288
    result = answering("done")
    assert result.content == [ContentPart.text("done")]
    assert (result.tool_call_id, result.name, result.display_text) == ("c1", "pay", "Paying")
    assert not result.is_error


def test_parts_are_kept() -> None:  # F287
    parts = [ContentPart.text("a"), ContentPart.image("i")]
    assert answering(parts).content == parts
    assert answering(Ok(parts[1])).content == [parts[1]]


@pytest.mark.parametrize("processed", [0, False, "", [], {}, object()])
def test_processed_content_is_the_same_object(processed: Any) -> None:  # F289
    assert answering(Ok("done", processed)).processed_content is processed


def test_an_interrupt_is_no_error() -> None:  # F290
    result = answering(Interrupt("Sure?", {"rows": 3}))
    assert (text_of(result), result.is_interrupt, result.is_error) == ("Sure?", True, False)
    assert result.interrupt_data == {"rows": 3}


def test_an_error_and_an_exception_are_errors() -> None:  # F291, F292
    assert (text_of(answering(Error("no"))), answering(Error("no")).is_error) == ("no", True)
    result = execute_tool_call(CALL, pay(lambda a, c: 1 / 0))
    assert result.is_error
    assert text_of(result).startswith("ERROR: (ZeroDivisionError) division by zero at ")


def test_a_refusal_and_a_missing_parameter_are_errors() -> None:  # F293
    refused = execute_tool_call(CALL, pay(lambda a, c: "done", parse_args=lambda a: Error("too much")))
    assert (text_of(refused), refused.is_error) == ("too much", True)
    missing = execute_tool_call(CALL, pay(lambda a, c: "done", parameters=[FunctionParam("to", "string", required=True)]))
    assert text_of(missing).startswith("Missing required parameters")
    assert missing.is_error


def context_of(context: Any, **fields: Any) -> Any:
    seen: list[Any] = []

    def body(arguments: Any, given: Any) -> str:
        seen.append(given)
        return "done"

    execute_tool_call(CALL, pay(body, **fields), context)
    return seen[0]


def test_a_mapping_as_context_gains_the_id_of_the_call() -> None:  # F294, F295, F296, F297
    given = {"user": 1, "tool_call_id": "old"}
    assert context_of(None) == {"tool_call_id": "c1"}
    assert context_of(given) == {"user": 1, "tool_call_id": "c1"}
    assert context_of(MappingProxyType({"user": 1})) == {"user": 1, "tool_call_id": "c1"}
    assert given == {"user": 1, "tool_call_id": "old"}


def test_any_other_context_is_passed_on_as_it_is() -> None:  # F298
    context = object()
    assert context_of(context) is context


def test_the_parser_receives_the_same_context() -> None:  # F299
    seen: list[Any] = []
    received = context_of({"user": 1}, parse_args=lambda a, c: seen.append(c))
    assert seen[0] is received


OWN = ToolResult("done", tool_call_id="other", name="mine", display_text="Mine", is_error=True, options={"a": 1})


def test_a_tool_result_from_the_body_keeps_what_it_says() -> None:  # F300, F301, F302
    processed = object()
    result = answering(ToolResult("done", display_text="Mine", is_error=True, options={"a": 1}, processed_content=processed))
    assert (result.tool_call_id, result.name, result.display_text) == ("c1", "pay", "Mine")
    assert (result.content, result.is_error, result.options) == ([ContentPart.text("done")], True, {"a": 1})
    assert result.processed_content is processed
    assert (answering(OWN).tool_call_id, answering(OWN).name) == ("c1", "mine")


def test_one_result_returned_for_two_calls_gives_two() -> None:  # F303
    function = pay(lambda a, c: OWN)
    results = [execute_tool_call(ToolCall(call_id, "pay"), function) for call_id in ("c1", "c2")]
    assert [result.tool_call_id for result in results] == ["c1", "c2"]
    assert OWN.tool_call_id == "other"


def test_an_ok_without_content_is_an_error() -> None:  # F304
    result = answering(Ok(None))
    assert result.is_error
    assert text_of(result).startswith("ERROR executing tool:")
    assert (result.tool_call_id, result.name) == ("c1", "pay")


def test_a_call_without_arguments_runs_with_an_empty_mapping() -> None:  # F305
    assert text_of(execute_tool_call(ToolCall("c1", "pay"), pay(lambda a, c: repr(a)))) == "{}"


def test_running_changes_nothing_in_the_call() -> None:  # F306
    execute_tool_call(CALL, pay(lambda a, c: "done", parse_args=lambda a: {"other": 1}))
    assert CALL.arguments == {"amount": 3}


def test_raw_text_is_read_first_and_told_when_it_cannot_be() -> None:  # Q6
    function = pay(lambda a, c: repr(a))
    assert text_of(execute_tool_call(ToolCall("c1", "pay", '{"a": 1}'), function)) == "{'a': 1}"
    broken = execute_tool_call(ToolCall("c1", "pay", '{"a": '), function)
    assert broken.is_error
    assert "Not valid JSON" in text_of(broken)
    assert broken.tool_call_id == "c1"
