"""Content parts: kinds, short constructors, merging of streamed pieces, and their text."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from toolgate import ContentPart, FunctionDefinitionError
from toolgate.tools.content_part import content_to_text, merge_parts, parts_to_text, set_option_on_last

KINDS = ["text", "image_url", "image", "file", "file_url", "thinking", "unsupported"]


def errors_of(*values: Any) -> list[str]:
    with pytest.raises(FunctionDefinitionError) as caught:
        ContentPart(*values)
    return list(caught.value.errors)


@pytest.mark.parametrize("kind", KINDS)
def test_the_kinds_are_accepted(kind: str) -> None:  # F214
    assert ContentPart(kind, "x").type == kind


def test_without_a_kind_a_part_is_text() -> None:  # F215, F217, F220
    part = ContentPart()
    assert (part.type, part.content, part.options) == ("text", None, {})


@pytest.mark.parametrize("kind", [None, "video", "Text", ""])
def test_any_other_kind_is_refused(kind: Any) -> None:  # F216
    assert errors_of(kind, "x") == ["type"]


@pytest.mark.parametrize("content", ["", " ", "\n\t"])
def test_blank_content_is_kept(content: str) -> None:  # F218
    assert ContentPart("text", content).content == content


@pytest.mark.parametrize("content", [7, b"x", ["x"]])
def test_content_that_is_no_text_is_refused(content: Any) -> None:  # F219
    assert errors_of("text", content) == ["content"]
    assert errors_of("text", "x", ["no mapping"]) == ["options"]


def test_any_options_are_kept() -> None:  # F221
    options = {"media": "jpg", "detail": "low", "cache_control": {"type": "ephemeral"}, "signature": "s"}
    assert ContentPart("image", "data", options).options == options


@pytest.mark.parametrize("kind", ["text", "image", "file", "image_url", "file_url", "thinking"])
def test_there_are_short_constructors(kind: str) -> None:  # F222
    make = getattr(ContentPart, kind)
    assert make("x", {"a": 1}) == make("x", a=1) == ContentPart(kind, "x", {"a": 1})
    assert make("x") == ContentPart(kind, "x")


def test_merging_nothing_with_a_part_gives_the_part() -> None:  # F223
    part = ContentPart.text("a")
    assert merge_parts(None, part) is part


def test_content_of_one_kind_is_appended() -> None:  # F224, F225, F226
    assert ContentPart.text("a ").merge(ContentPart.text(" b")).content == "a  b"
    assert ContentPart.text("a").merge(ContentPart.image(None)).content == "a"
    assert ContentPart.text(None).merge(ContentPart.text("b")).content == "b"


def test_kinds_do_not_mix_but_options_do() -> None:  # F227, F228, F229
    merged = ContentPart.text("a", signature="x", n=1).merge(ContentPart.thinking("b", signature="y", n=2, new=3))
    assert merged == ContentPart.text("a", signature="xy", n=2, new=3)


def test_merging_changes_neither_part() -> None:  # F230
    one, other = ContentPart.text("a", s="x"), ContentPart.text("b", s="y")
    one.merge(other)
    assert (one, other) == (ContentPart.text("a", s="x"), ContentPart.text("b", s="y"))


def test_a_stream_can_be_folded_from_nothing() -> None:  # F231
    start: ContentPart | None = None
    assert functools.reduce(merge_parts, map(ContentPart.text, "abc"), start) == ContentPart.text("abc")


def test_the_text_of_parts_is_joined_by_an_empty_line() -> None:  # F232, F233
    parts = [ContentPart.text("a"), None, ContentPart.image("i"), ContentPart.text(None), ContentPart.text("b")]
    assert parts_to_text(parts) == "a\n\nb"


def test_nothing_left_is_none() -> None:  # F234, F235
    assert parts_to_text([]) is None
    assert parts_to_text([ContentPart.image("i")]) is None
    assert parts_to_text([ContentPart.thinking("t"), ContentPart.text("a")], "thinking") == "t"


def test_content_of_any_form_becomes_text() -> None:  # F236
    assert content_to_text(None) is None
    assert content_to_text("") == ""
    assert content_to_text([ContentPart.text("a"), ContentPart.text("b")]) == "a\n\nb"


def test_an_option_is_set_on_the_last_part_of_a_copy() -> None:  # F237, F238, F239
    parts = [ContentPart.text("a"), ContentPart.image("i", detail="low", cache=False)]
    assert set_option_on_last(parts, "cache", True) == [parts[0], ContentPart.image("i", detail="low", cache=True)]
    assert parts[1].options == {"detail": "low", "cache": False}
    assert set_option_on_last([], "cache", True) == []


def test_a_part_crosses_an_api_and_comes_back() -> None:
    part = ContentPart.image("i", detail="low")
    assert part.to_dict() == {"type": "image", "content": "i", "options": {"detail": "low"}}
    assert ContentPart.from_dict(part.to_dict()) == part
