"""What a tool body may return, and what execute answers."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from toolgate import ContentPart, Error, Function, Interrupt, Ok, ToolResult

UNEXPECTED = Error("An unexpected response was returned from the tool.")


def answering(answer: Any) -> Function:
    return Function(name="f", function=lambda arguments, context: answer)


def execute(answer: Any) -> Any:
    return answering(answer).execute({})


@pytest.mark.parametrize("text", ["done", "", " \n"])
def test_text_is_ok(text: str) -> None:  # F158
    assert execute(text) == Ok(text)


def test_a_list_of_parts_is_ok_with_that_list() -> None:  # F159, F160
    parts = [ContentPart.text("a"), ContentPart.image("b")]
    assert execute(parts).value is parts
    assert execute([]) == Ok([])


@pytest.mark.parametrize("content", ["text", 7, {"a": 1}, None, [1]])
def test_an_ok_is_passed_on_whatever_it_holds(content: Any) -> None:  # F161, F162
    assert execute(Ok(content)) == Ok(content)


def test_processed_content_is_the_same_object() -> None:  # F163
    invoice = object()
    outcome = execute(Ok("SUCCESS", invoice))
    assert outcome.value == "SUCCESS"
    assert outcome.processed_content is invoice


@pytest.mark.parametrize("falsy", [0, False, "", [], {}])
def test_falsy_processed_content_is_kept(falsy: Any) -> None:  # F164
    assert execute(Ok("done", falsy)).processed_content is falsy


def test_a_tool_result_is_ok_by_itself_and_in_an_ok() -> None:  # F165, F166
    result = ToolResult("done")
    assert execute(result) == Ok(result)
    assert execute(Ok(result)) == Ok(result)


@pytest.mark.parametrize("data", [None, {"rows": 3}, object()])
def test_an_interrupt_keeps_message_and_data(data: Any) -> None:  # F167, F168
    outcome = execute(Interrupt("Sure?", data))
    assert outcome.message == "Sure?"
    assert outcome.data is data


@pytest.mark.parametrize("message", [None, 7, ["Sure?"]])
def test_an_interrupt_without_text_is_an_error(message: Any) -> None:  # F169
    assert execute(Interrupt(message, {})) == UNEXPECTED


def test_an_error_on_purpose_carries_its_text_and_no_exception() -> None:  # F170, F171, F172
    assert execute(Error("no such order")) == Error("no such order")
    assert execute(Error({"code": 7})) == Error("{'code': 7}")
    assert execute(Error("no", ValueError("x"))) == Error("no")  # Q7


NOTHING_KNOWN = [None, 1, 1.5, True, {}, {"a": 1}, b"bytes", {1}, (n for n in "a"), object()]
NEARLY = [("done", 1), ("ok", "done"), ContentPart.text("a"), ["a"]]


@pytest.mark.parametrize("answer", [*NOTHING_KNOWN, *NEARLY])
def test_anything_else_is_an_unexpected_response(answer: Any) -> None:  # F173, F174, F175, F176, F177
    assert execute(answer) == UNEXPECTED


def test_the_body_receives_arguments_and_context() -> None:  # F178
    seen: list[Any] = []

    def body(arguments: dict[str, Any], context: Any) -> str:
        seen.extend([arguments, context])
        return "done"

    function = Function(name="f", function=body)
    context = {"user": 1}
    function.execute({"a": 1}, context)
    function.execute({})
    assert seen == [{"a": 1}, context, {}, None]
    assert seen[1] is context
    assert isinstance(seen[0], dict)


def test_the_arguments_behave_like_a_dict() -> None:  # F179
    def body(arguments: dict[str, Any], context: Any) -> str:
        assert arguments.get("absent") is None
        assert "absent" not in arguments
        assert arguments.get("absent", 3) == 3
        assert list(arguments) == ["a"]
        assert {**arguments, "b": 2} == arguments | {"b": 2} == {"a": 1, "b": 2}
        assert arguments.copy() == dict(arguments) == {"a": 1}
        return json.dumps(arguments)

    assert Function(name="f", function=body).execute({"a": 1}) == Ok('{"a": 1}')


@pytest.mark.parametrize("arguments", [None, [], "text", 3])
def test_what_is_no_mapping_becomes_an_empty_one(arguments: Any) -> None:  # F180
    function = Function(name="f", function=lambda a, c: json.dumps(a))
    assert function.execute(arguments) == Ok("{}")


def test_the_body_receives_what_the_parser_made() -> None:  # F181
    function = Function(name="f", parse_args=lambda a: {"n": int(a["n"])}, function=lambda a, c: repr(a))
    assert function.execute({"n": "7"}) == Ok("{'n': 7}")


def fails(arguments: Any, context: Any) -> str:
    raise AssertionError("the body must not run")


@pytest.mark.parametrize(("answer", "message"), [(Error("no"), "no"), (7, "parse_args returned unexpected shape: 7")])
def test_the_body_does_not_run_after_a_refusal(answer: Any, message: str) -> None:  # F182, F183
    assert Function(name="f", parse_args=lambda a: answer, function=fails).execute({}) == Error(message)


def test_a_function_keeps_no_state() -> None:  # F184
    function = Function(name="f", parse_args=lambda a: {**a, "b": 2}, function=lambda a, c: json.dumps(a))
    assert function.execute({"a": 1}) == function.execute({"a": 1}) == Ok('{"a": 1, "b": 2}')


def test_admit_sees_the_very_dict_that_the_body_receives() -> None:
    seen: list[Any] = []

    def body(arguments: dict[str, Any], context: Any) -> str:
        seen.append(arguments)
        return "done"

    function = Function(name="f", parse_args=lambda a: {"n": 1}, function=body)
    assert function.execute({}, admit=seen.append) == Ok("done")
    assert seen[0] is seen[1]


@pytest.mark.parametrize("refusal", [Error("changed"), Interrupt("changed?", {})])
def test_admit_can_answer_instead_of_the_body(refusal: Error | Interrupt) -> None:
    assert Function(name="f", function=fails).execute({}, admit=lambda arguments: refusal) is refusal


def test_admit_is_not_asked_when_the_arguments_are_refused() -> None:
    function = Function(name="f", parse_args=lambda a: Error("no"), function=fails)
    assert function.execute({}, admit=fails) == Error("no")  # type: ignore[arg-type] # it must not even be called


def test_what_admit_raises_is_raised() -> None:
    def admit(arguments: Any) -> None:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        Function(name="f", function=fails).execute({}, admit=admit)


async def cancelled(arguments: Any, context: Any) -> str:
    raise asyncio.CancelledError


def test_a_coroutine_that_cancels_itself_is_an_error_like_any_other() -> None:
    outcome = Function(name="f", function=cancelled).execute({})
    assert isinstance(outcome, Error)
    assert "RuntimeError" in outcome.message
