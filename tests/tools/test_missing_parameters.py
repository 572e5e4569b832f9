"""The message for missing required parameters. A model reads it, so its layout is fixed."""

from __future__ import annotations

from typing import Any

import pytest

from toolgate import Error, Function, FunctionParam

OPENING = "Missing required parameters for this tool."
CLOSING = "Ensure you're passing the correct parameter names as defined in the tool schema."


def fails(arguments: Any, context: Any) -> str:
    raise AssertionError("the body must not run")


def listed(*names: str, optional: tuple[str, ...] = ()) -> Function:
    parameters = [FunctionParam(name, "string", required=name not in optional) for name in (*names, *optional)]
    return Function(name="f", function=fails, parameters=parameters)


def message(function: Function, arguments: Any) -> str:
    outcome = function.execute(arguments)
    assert isinstance(outcome, Error)
    assert outcome.exception is None  # F157
    return str(outcome.message)


def lines(function: Function, arguments: Any) -> list[str]:
    return message(function, arguments).split("\n\n")[1].split("\n")


def unrecognized(function: Function, arguments: Any) -> str:
    found = [line for line in lines(function, arguments) if line.startswith("Unrecognized parameters: ")]
    return found[0].removeprefix("Unrecognized parameters: ") if found else ""


WHOLE = "\n\n".join(
    [
        OPENING,
        "Required parameters: content, path\n"
        "Missing parameters: path\n"
        'Unrecognized parameters: file_path (did you mean "path"?), zzz\n'
        "Accepted parameters: content, path, size",
        CLOSING,
    ]
)
SCHEMA = {"properties": {"content": {}, "path": {}, "size": {}}, "required": ["content", "path"]}


@pytest.mark.parametrize(
    "function",
    [listed("content", "path", optional=("size",)), Function(name="f", function=fails, parameters_schema=SCHEMA)],
    ids=["parameters", "schema"],
)
def test_the_whole_text_is_exactly_this(function: Function) -> None:  # F131-F137, F140, F142, F143, F156
    assert message(function, {"zzz": 1, "file_path": "x", "content": "y"}) == WHOLE


def test_names_come_in_the_order_declared_and_sent_names_in_alphabetical_order() -> None:  # F136, F137, F138, F140
    function = listed("zone", "alpha", "mid", optional=("beta",))
    assert lines(function, {"q9": 1, "k7": 1, "mid": 1}) == [
        "Required parameters: zone, alpha, mid",
        "Missing parameters: zone, alpha",
        "Unrecognized parameters: k7, q9",
        "Accepted parameters: zone, alpha, mid, beta",
    ]


def test_no_unrecognized_line_when_all_sent_names_are_declared() -> None:  # F139
    found = lines(listed("path", optional=("size",)), {"size": 1})
    assert [line.split(":")[0] for line in found] == ["Required parameters", "Missing parameters", "Accepted parameters"]


def test_unknown_accepted_names_leave_both_lines_out() -> None:  # F141
    function = Function(name="f", function=fails, parameters_schema={"required": ["path"]})
    assert lines(function, {"file_path": 1}) == ["Required parameters: path", "Missing parameters: path"]


def test_a_name_in_another_case_is_suggested() -> None:  # F144
    assert unrecognized(listed("record_id"), {"Record_ID": 1}) == 'Record_ID (did you mean "record_id"?)'


@pytest.mark.parametrize(
    ("sent", "declared"), [("the_very_long_file_path", "path"), ("PATH", "working_path_of_it"), ("sku", "sku_number")]
)
def test_containment_in_either_direction_is_suggested(sent: str, declared: str) -> None:  # F145, F146
    assert unrecognized(listed(declared), {sent: 1}) == f'{sent} (did you mean "{declared}"?)'


@pytest.mark.parametrize(("sent", "declared"), [("id", "the_identification_of_it"), ("q", "quantity_of_it")])
def test_containment_of_one_or_two_letters_does_not_count(sent: str, declared: str) -> None:  # F147
    assert unrecognized(listed(declared), {sent: 1}) == sent


@pytest.mark.parametrize("names", [("user_name", "name"), ("name", "user_name")])
def test_the_candidate_that_covers_more_wins_whatever_the_order(names: tuple[str, ...]) -> None:  # F148
    assert unrecognized(listed(*names), {"user_names": 1}) == 'user_names (did you mean "user_name"?)'


@pytest.mark.parametrize(("sent", "declared"), [("adress", "address"), ("MARTHA", "marhta"), ("quantiy", "quantity")])
def test_alike_letters_are_suggested(sent: str, declared: str) -> None:  # F149
    assert unrecognized(listed(declared), {sent: 1}) == f'{sent} (did you mean "{declared}"?)'


@pytest.mark.parametrize(("sent", "declared"), [("colour", "weight"), ("xyz", "path"), ("abcd", "dcba")])
def test_unlike_letters_are_not(sent: str, declared: str) -> None:  # F150
    assert unrecognized(listed(declared), {sent: 1}) == sent


def test_the_highest_score_of_either_kind_wins() -> None:  # F151
    assert unrecognized(listed("file", "file_pathx"), {"file_paths": 1}) == 'file_paths (did you mean "file_pathx"?)'


@pytest.mark.parametrize("names", [("item_a", "item_b"), ("item_b", "item_a")])
def test_with_equal_scores_the_first_declared_wins(names: tuple[str, ...]) -> None:  # F152
    assert unrecognized(listed(*names), {"item": 1}) == f'item (did you mean "{names[0]}"?)'


def test_a_name_that_was_sent_is_never_suggested() -> None:  # F153
    assert unrecognized(listed("path", "zone"), {"path": 1, "file_path": 1}) == "file_path"


def test_an_optional_name_can_be_suggested() -> None:  # F154
    assert unrecognized(listed("zone", optional=("path",)), {"file_path": 1}) == 'file_path (did you mean "path"?)'


def test_two_names_may_get_the_same_suggestion() -> None:  # F155
    found = unrecognized(listed("path"), {"file_path": 1, "path_name": 1})
    assert found == 'file_path (did you mean "path"?), path_name (did you mean "path"?)'


def test_endless_and_odd_names_do_not_flood_the_message() -> None:
    sent = {f"name_{number}": 1 for number in range(5000)} | {"x" * 100_000: 1, "a\nMissing parameters: none": 1}
    text = message(listed("path"), sent)
    assert len(text) < 4000
    assert "and 4952 more" in text
    assert "a<U+000A>Missing" in text
