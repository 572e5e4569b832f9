"""parse_arguments does exactly what execute does before the body."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import pytest

from toolgate import Error, Function, FunctionParam, Ok

Arguments = dict[str, Any]
REQUIRED = [FunctionParam("path", "string", required=True), FunctionParam("limit", "integer")]


def fails(arguments: Any, context: Any) -> str:
    raise AssertionError("the body must not run")


def with_parser(parser: Any, **fields: Any) -> Function:
    return Function(**{"name": "f", "function": fails, "parse_args": parser, **fields})


def answering(answer: Any) -> Function:
    return with_parser(lambda arguments: answer)


def message_of(outcome: Any) -> str:
    assert isinstance(outcome, Error)
    assert isinstance(outcome.message, str)
    return outcome.message


@pytest.mark.parametrize("arguments", [None, [], 3, '{"a": 1}', ("a", 1), True])
def test_what_is_no_mapping_is_read_as_an_empty_one(arguments: Any) -> None:  # F099, F100
    assert Function(name="f", function=fails).parse_arguments(arguments) == Ok({})


def test_without_a_parser_the_raw_arguments_are_the_result() -> None:  # F101, F105, F106
    function = Function(name="f", function=fails, parameters=REQUIRED)
    assert function.parse_arguments({"path": "x", "extra": 1}) == Ok({"path": "x", "extra": 1})


@pytest.mark.parametrize("value", [None, "", 0, False, [], {}])
def test_a_key_that_is_there_is_given_whatever_its_value(value: Any) -> None:  # F102
    assert Function(name="f", parameters=REQUIRED).parse_arguments({"path": value}) == Ok({"path": value})


def test_nested_keys_types_enums_and_formats_are_not_checked() -> None:  # F103, F104
    nested = FunctionParam("place", "object", required=True, object_properties=[FunctionParam("c", "string", required=True)])
    unit = FunctionParam("unit", "string", enum=["a"], required=True)
    sent = {"place": {}, "unit": 7}
    assert Function(name="f", parameters=[nested, unit]).parse_arguments(sent) == Ok(sent)
    schema = {"properties": {"at": {"type": "string", "format": "date"}}, "required": ["at"]}
    assert Function(name="f", parameters_schema=schema).parse_arguments({"at": "never"}) == Ok({"at": "never"})


def test_none_from_a_parser_means_fine_as_they_are() -> None:  # F107
    assert answering(None).parse_arguments({"a": 1}) == Ok({"a": 1})


@pytest.mark.parametrize("answer", [{"b": 2}, {}, {1: object}, OrderedDict(x=1), MappingProxyType({"y": 2})])
def test_a_mapping_from_a_parser_replaces_the_arguments(answer: Any) -> None:  # F108, F109, F110, F111
    assert answering(answer).parse_arguments({"a": 1}) == Ok(answer)


def test_a_refusal_is_told_word_for_word() -> None:  # F112, F113
    assert message_of(answering(Error("amount is too high")).parse_arguments({})) == "amount is too high"
    assert message_of(answering(Error(["a", 1])).parse_arguments({})) == "['a', 1]"


@pytest.mark.parametrize("answer", [False, True, 0, "", "ok", [], (), Ok({"a": 1}), object])
def test_any_other_answer_is_an_error(answer: Any) -> None:  # F114, F115
    message = message_of(answering(answer).parse_arguments({}))
    assert message == f"parse_args returned unexpected shape: {answer!r}"


class Broken(Mapping[str, int]):
    def __getitem__(self, key: str) -> int:
        return 1

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError("no keys")


class Unspeakable:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


def test_an_answer_that_cannot_be_shown_still_gives_a_sentence() -> None:
    assert "no keys" in message_of(answering(Broken()).parse_arguments({}))
    assert "Unspeakable" in message_of(answering(Unspeakable()).parse_arguments({}))
    assert "Unspeakable" in message_of(answering(Error(Unspeakable())).parse_arguments({}))


@pytest.mark.parametrize(
    ("parser", "start"),
    [(lambda a: a["absent"], "ERROR: (KeyError) 'absent'"), (lambda a: 1 / 0, "ERROR: (ZeroDivisionError) division by zero")],
)
def test_an_exception_from_a_parser_is_an_error_in_the_ordinary_format(parser: Any, start: str) -> None:  # F116, F117
    outcome = with_parser(parser, parameters=REQUIRED).parse_arguments({"path": "x"})
    assert message_of(outcome).startswith(start)
    assert outcome == Error(outcome.message if isinstance(outcome, Error) else "")


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_what_is_no_ordinary_exception_passes(kind: type[BaseException]) -> None:  # F118
    def parser(arguments: Arguments) -> None:
        raise kind

    with pytest.raises(kind):
        with_parser(parser).parse_arguments({})


def test_a_parser_is_given_the_context_when_it_takes_two_values() -> None:  # F119, F120, F121, F122
    seen: list[Any] = []
    context = object()
    with_parser(lambda arguments: seen.append(arguments)).parse_arguments({"a": 1}, context)
    with_parser(lambda arguments, given: seen.append(given)).parse_arguments({}, context)
    with_parser(lambda arguments, given="default": seen.append(given)).parse_arguments({}, context)
    with_parser(lambda arguments, given: seen.append(given)).parse_arguments({})
    assert seen == [{"a": 1}, context, context, None]


def test_parser_and_body_receive_the_very_same_context() -> None:  # F123
    seen: list[Any] = []

    def body(arguments: Arguments, context: Any) -> str:
        seen.append(context)
        return "done"

    context = {"user": 1}
    Function(name="f", parse_args=lambda a, c: seen.append(c), function=body).execute({}, context)
    assert [one is context for one in seen] == [True, True]


def test_a_parser_receives_an_empty_mapping_for_no_arguments() -> None:  # F124
    seen: list[Any] = []
    with_parser(seen.append).parse_arguments(None)
    assert seen == [{}]


@pytest.mark.parametrize("parser", [lambda a: None, lambda a, c: None])
@pytest.mark.parametrize("declared", [{"parameters": REQUIRED}, {"parameters_schema": {"required": ["path"]}}])
def test_a_parser_switches_the_required_check_off(parser: Any, declared: Any) -> None:  # F125
    assert with_parser(parser, **declared).parse_arguments({}) == Ok({})


@pytest.mark.parametrize("answer", [None, {"b": 2}, Error("no"), 7])
def test_what_parse_arguments_answers_is_what_execute_does(answer: Any) -> None:  # F126, F127
    seen: list[Any] = []

    def body(arguments: Arguments, context: Any) -> str:
        seen.append(arguments)
        return "done"

    function = Function(name="f", parse_args=lambda a: answer, function=body)
    parsed, executed = function.parse_arguments({"a": 1}), function.execute({"a": 1})
    assert (executed == parsed) if isinstance(parsed, Error) else (seen == [parsed.value])


def test_a_parser_runs_anew_for_the_execution() -> None:  # F128
    runs: list[int] = []

    def parser(arguments: Arguments) -> dict[str, Any]:
        runs.append(1)
        return {"run": len(runs)}

    function = Function(name="f", parse_args=parser, function=lambda a, c: str(a["run"]))
    assert function.parse_arguments({}) == Ok({"run": 1})
    assert function.execute({}) == Ok("2")


def test_the_callers_mapping_is_not_altered() -> None:  # F129
    sent = {"a": 1}
    with_parser(lambda arguments: {**arguments, "b": 2}).parse_arguments(sent)
    with_parser(lambda arguments: arguments.update(c=3)).parse_arguments(sent)
    assert sent == {"a": 1}


def test_execute_checks_required_keys_by_itself() -> None:  # F130
    outcome = Function(name="f", function=fails, parameters=REQUIRED).execute({})
    assert message_of(outcome).startswith("Missing required parameters")


async def parse_later(arguments: Arguments) -> dict[str, Any]:
    await asyncio.sleep(0)
    return {"later": True}


async def run_later(arguments: Arguments, context: Any) -> str:
    await asyncio.sleep(0)
    return f"later: {arguments['later']}"


def test_coroutines_are_run_to_their_end() -> None:
    assert Function(name="f", parse_args=parse_later, function=run_later).execute({}) == Ok("later: True")


def test_coroutines_are_run_also_where_a_loop_is_running() -> None:
    function = Function(name="f", parse_args=parse_later, function=run_later)

    async def within() -> Any:
        return function.execute({})

    assert asyncio.run(within()) == Ok("later: True")
