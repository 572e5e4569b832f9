"""Tool calls: arguments from text, and merging of streamed pieces."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from toolgate import FunctionDefinitionError, ToolCall, merge_tool_calls
from toolgate.tools.tool_call import ArgumentsError, read_arguments


def complete(arguments: Any = None, **fields: Any) -> ToolCall:
    return ToolCall(**{"call_id": "c1", "name": "pay", "arguments": arguments, "status": "complete", **fields})


def errors_of(arguments: Any = None, **fields: Any) -> dict[str, list[str]]:
    with pytest.raises(FunctionDefinitionError) as caught:
        complete(arguments, **fields)
    return caught.value.errors


def test_an_incomplete_call_needs_nothing() -> None:  # F252, F253
    call = ToolCall()
    assert (call.status, call.type) == ("incomplete", "function")
    unset = ("call_id", "name", "arguments", "index", "display_text", "metadata")
    assert [getattr(call, name) for name in unset] == [None] * 6


@pytest.mark.parametrize("text", ['{"a": ', " \n", "", "no json"])
def test_an_incomplete_call_keeps_its_text(text: str) -> None:  # F254, F255
    assert ToolCall(arguments=text).arguments == text


def test_a_complete_call_needs_id_and_name() -> None:  # F256
    assert errors_of(call_id=None, name=" ") == {"call_id": ["can't be blank"], "name": ["can't be blank"]}


def test_argument_text_of_a_complete_call_is_read() -> None:  # F257, F258, F259
    assert complete('{"a": 9007199254740993}').arguments == {"a": 9007199254740993}
    assert complete({"a": 1}).arguments == {"a": 1}
    assert complete(None).arguments is None


@pytest.mark.parametrize("text", ["", " \n "])
def test_empty_text_counts_as_no_arguments(text: str) -> None:  # F260
    assert complete(text).arguments is None


@pytest.mark.parametrize("text", ['{"a": ', "{'a': 1}", '{"a": NaN}', '{"a": Infinity}', '{"a": 1, "a": 2}', '{"a": 1e400}'])
def test_text_that_is_not_json_is_an_error(text: str) -> None:  # F261, F262, F285
    assert errors_of(text) == {"arguments": ["invalid json"]}


@pytest.mark.parametrize("value", ["[1]", '"text"', "7", "null", "true", [1], 7, True])
def test_json_that_is_no_object_is_an_error(value: Any) -> None:  # F263, F285
    assert errors_of(value) == {"arguments": ["a json object is expected for tool arguments"]}


def test_another_status_or_type_is_an_error() -> None:  # F264
    assert list(errors_of(status="done")) == ["status"]
    assert list(errors_of(type="tool")) == ["type"]


def test_completing_reads_the_arguments_of_a_copy() -> None:  # F265, F266, F268
    call = ToolCall("c1", "pay", '{"a": 1}')
    done = call.complete()
    assert (done.status, done.arguments) == ("complete", {"a": 1})
    assert (call.status, call.arguments) == ("incomplete", '{"a": 1}')
    assert done.complete() is done


def test_completing_tells_the_same_errors() -> None:  # F267
    with pytest.raises(FunctionDefinitionError) as caught:
        ToolCall(name="pay", arguments="[1]").complete()
    assert list(caught.value.errors) == ["call_id", "arguments"]


@pytest.mark.parametrize("status", ["incomplete", "complete"])
@pytest.mark.parametrize("arguments", [{"a": 1}, '{"a": 1}', MappingProxyType({"a": 1})])
def test_the_arguments_as_a_map(status: str, arguments: Any) -> None:  # F269
    assert complete(arguments, status=status).arguments_as_map() == {"a": 1}


@pytest.mark.parametrize("arguments", [None, "", '{"a": ', "[1]", "null", "[" * 100_000, '{"a":' * 100_000, '{"a": 1e999}'])
def test_the_arguments_as_a_map_never_raise(arguments: Any) -> None:  # F270, F271
    assert ToolCall(arguments=arguments).arguments_as_map() == {}


def merged(*pieces: ToolCall) -> ToolCall:
    call: ToolCall | None = None
    for piece in pieces:
        call = merge_tool_calls(call, piece)
    assert call is not None
    return call


def test_merging_nothing_with_a_piece_gives_the_piece() -> None:  # F272
    piece = ToolCall(name="pay")
    assert merged(piece) is piece


def test_pieces_of_different_index_do_not_merge() -> None:  # F273, F285
    with pytest.raises(ValueError, match="Can only merge tool calls with the same index"):
        merged(ToolCall(index=0), ToolCall(index=1))


def test_an_equal_piece_doubles_nothing() -> None:  # F274
    piece = ToolCall("c1", "pay", '{"a": 1}', index=0)
    assert merged(piece, ToolCall("c1", "pay", '{"a": 1}', index=0)) == piece


def test_name_pieces_are_appended_unless_they_repeat_the_whole() -> None:  # F275
    assert merged(ToolCall(name="get_"), ToolCall(name="weather")).name == "get_weather"
    assert merged(ToolCall(name="pay"), ToolCall(name="pay", arguments="{")).name == "pay"
    assert merged(ToolCall(), ToolCall(name="pay"), ToolCall()).name == "pay"


def test_argument_text_is_appended_exactly() -> None:  # F276, F279
    pieces = [ToolCall(arguments=text) for text in ('{"a": ', ' "  ', None, 'x"}')]
    call = merged(*pieces, ToolCall("c1", "pay", status="complete"))
    assert call.arguments == '{"a":  "  x"}'
    assert call.status == "complete"


def test_id_and_display_text_of_the_new_piece_are_taken_over() -> None:  # F277, F282
    call = merged(ToolCall("c1", display_text="one"), ToolCall("c2", display_text="two"), ToolCall())
    assert (call.call_id, call.display_text) == ("c2", "two")


def test_the_status_never_goes_back() -> None:  # F278
    assert merged(ToolCall("c1", "pay", status="complete"), ToolCall(arguments="{}")).status == "complete"


def test_a_mapping_replaces_text_and_is_not_replaced_by_text() -> None:  # F280, F281
    done = ToolCall("c1", "pay", {"a": 1}, "complete")
    assert merged(ToolCall(arguments='{"b'), done).arguments == {"a": 1}
    assert merged(ToolCall(arguments='{"b'), done, ToolCall(arguments='": 2}')).arguments == {"a": 1}


def test_metadata_is_merged_key_by_key() -> None:  # F283
    call = merged(ToolCall(metadata={"a": 1, "b": 1}), ToolCall(metadata={"b": 2, "c": 3}), ToolCall(name="pay"))
    assert call.metadata == {"a": 1, "b": 2, "c": 3}


def test_merging_changes_neither_input() -> None:  # F284
    one, other = ToolCall(name="a", metadata={"a": 1}), ToolCall(name="b", metadata={"b": 2})
    merged(one, other)
    assert (one, other) == (ToolCall(name="a", metadata={"a": 1}), ToolCall(name="b", metadata={"b": 2}))


@pytest.mark.parametrize("sent", [None, "", " \n ", "null", "{}", {}, b"{}"])
def test_nothing_sent_is_read_as_no_arguments(sent: Any) -> None:
    assert read_arguments(sent) == {}


def test_a_mapping_is_read_as_a_fresh_dict() -> None:
    sent = {"a": 1}
    assert read_arguments(sent) == sent
    assert read_arguments(sent) is not sent


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ([1], "a list was sent"),
        ("[1]", "a list was sent"),
        ("7", "a number was sent"),
        ("true", "true was sent"),
        ("false", "false was sent"),
        ('"a"', "text was sent"),
        ('"{}"', "encoded more than once"),
        ("{'a'}", "line 1 column 2"),
    ],
)
def test_anything_else_is_told_to_be_no_object(sent: Any, words: str) -> None:
    with pytest.raises(ArgumentsError, match=words):
        read_arguments(sent)
