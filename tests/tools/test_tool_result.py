"""What goes back to the model for one tool call."""

from __future__ import annotations

from typing import Any

import pytest

from toolgate import ContentPart, Error, Function, FunctionDefinitionError, Interrupt, Ok, ToolResult
from toolgate.tools.tool_result import rejection_result, result_of


def errors_of(**fields: Any) -> dict[str, list[str]]:
    with pytest.raises(FunctionDefinitionError) as caught:
        ToolResult.finished(**fields)
    return caught.value.errors


def test_what_is_not_set_has_its_default() -> None:  # F240, F250
    result = ToolResult("done")
    assert (result.type, result.is_error, result.is_interrupt) == ("function", False, False)
    unset = ("name", "display_text", "processed_content", "interrupt_data", "options", "tool_call_id")
    assert [getattr(result, name) for name in unset] == [None] * 6


@pytest.mark.parametrize("blank", [None, "", " "])
def test_a_finished_result_needs_an_id(blank: Any) -> None:  # F241, F251
    assert errors_of(content="done", tool_call_id=blank) == {"tool_call_id": ["can't be blank"]}


def test_it_needs_content_and_both_problems_are_told() -> None:  # F242, F243, F251
    assert errors_of(content=None, tool_call_id="c1") == {"content": ["can't be blank"]}
    assert list(errors_of()) == ["tool_call_id", "content"]


def test_the_only_type_is_function() -> None:  # F244
    assert list(errors_of(content="done", tool_call_id="c1", type="tool")) == ["type"]


def test_content_becomes_a_list_of_parts() -> None:  # F245, F246, F247
    part = ContentPart.image("i")
    assert ToolResult("done").content == [ContentPart.text("done")]
    assert ToolResult(part).content == [part]
    assert ToolResult([part, part]).content == [part, part]
    with pytest.raises(FunctionDefinitionError):
        ToolResult(["text"])  # type: ignore[list-item] # that is what is refused


def test_everything_given_is_kept() -> None:  # F248, F249
    data, processed = object(), object()
    given = {"name": "f", "display_text": "F", "is_error": True, "is_interrupt": True, "options": {"cache": 1}}
    result = ToolResult.finished("done", tool_call_id="c1", interrupt_data=data, processed_content=processed, **given)
    assert {name: getattr(result, name) for name in given} == given
    assert result.interrupt_data is data
    assert result.processed_content is processed


def test_processed_content_never_crosses_an_api() -> None:
    result = ToolResult("done", tool_call_id="c1", name="f", processed_content=object(), options={"a": 1})
    assert result.to_dict() == {
        "tool_call_id": "c1",
        "name": "f",
        "content": [{"type": "text", "content": "done", "options": {}}],
        "is_error": False,
        "is_interrupt": False,
        "interrupt_data": None,
        "display_text": None,
        "options": {"a": 1},
    }
    assert ToolResult.from_dict(result.to_dict()).to_dict() == result.to_dict()


PAY = Function(name="pay", display_text="Paying")


def made_of(outcome: Any) -> ToolResult:
    return result_of(outcome, tool_call_id="c1", function=PAY)


def test_an_outcome_becomes_a_result_with_id_name_and_display_text() -> None:
    for outcome in (Ok("done"), Error("no"), Interrupt("Sure?"), Ok(ToolResult("done"))):
        result = made_of(outcome)
        assert (result.tool_call_id, result.name, result.display_text) == ("c1", "pay", "Paying")


@pytest.mark.parametrize("content", [None, 7, {"a": 1}])
def test_an_ok_without_content_becomes_an_error(content: Any) -> None:  # F304
    result = made_of(Ok(content))
    assert result.is_error
    assert str(result.content[0].content).startswith("ERROR executing tool:")
    assert (result.tool_call_id, result.name) == ("c1", "pay")


def test_processed_content_beside_a_tool_result_is_kept() -> None:
    invoice = object()
    assert made_of(Ok(ToolResult("done"), invoice)).processed_content is invoice


def test_a_rejection_is_no_error_and_may_have_a_reason() -> None:
    plain = rejection_result("pay", "c1")
    assert plain.content == [ContentPart.text("Tool call 'pay' was rejected by a human reviewer.")]
    assert (plain.is_error, plain.is_interrupt, plain.display_text) == (False, False, None)
    told = rejection_result("pay", "c1", "Too much.").content
    assert told == [ContentPart.text("Tool call 'pay' was rejected by a human reviewer. Reason: Too much.")]
