"""Exceptions during execution: what the model is told, and what the application keeps."""

from __future__ import annotations

import contextlib
import operator
import string
import traceback
from typing import Any

import pytest

from toolgate import Error, Function, FunctionParam

PARAMETERS = [FunctionParam("path", "string"), FunctionParam("size", "integer")]


def execute(body: Any, arguments: Any = None, **fields: Any) -> Error:
    function = Function(**{"name": "f", "function": body, "parameters": PARAMETERS, **fields})
    outcome = function.execute(arguments)
    assert isinstance(outcome, Error)
    return outcome


def raising(error: BaseException) -> Any:
    def body(arguments: Any, context: Any) -> str:
        raise error

    return body


def test_the_exception_itself_is_kept_with_its_traceback() -> None:  # F185, F186, F187, F188
    error = ValueError("too much")
    outcome = execute(raising(error))
    assert outcome.exception is error
    assert "in body" in "".join(traceback.format_exception(error))
    assert outcome.message.startswith("ERROR: (ValueError) too much at test_exceptions.py:")
    assert outcome.message.split(":")[-1].split()[0].isdigit()


def test_an_exception_from_the_parser_gives_the_same() -> None:  # F189
    error = ValueError("unparsable")

    def parser(arguments: Any) -> None:
        raise error

    outcome = execute(raising(AssertionError("the body must not run")), parse_args=parser)
    assert outcome.exception is error
    assert outcome.message.startswith("ERROR: (ValueError) unparsable at ")


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_what_is_no_ordinary_exception_passes(kind: type[BaseException]) -> None:  # F190
    with pytest.raises(kind):
        execute(raising(kind()))


def test_a_failed_look_up_in_the_arguments_is_re_told() -> None:  # F191, F192, F193, F196, F197, F198
    outcome = execute(lambda a, c: a["path"], {"size": 1})
    assert outcome.message == (
        'ERROR: The tool needs the "path" argument, which was not provided. Accepted parameters: path, size. Received: size.'
    )
    assert isinstance(outcome.exception, KeyError)
    assert outcome.exception.args == ("path",)


def test_an_unaccepted_name_is_told_first() -> None:  # F194, F196, F197
    outcome = execute(lambda a, c: a["path"], {"zzz": 1, "file_path": 2})
    assert outcome.message == (
        "ERROR: The tool was called with an argument name it does not accept. Accepted parameters: path, size. "
        'Unrecognized parameters: file_path (did you mean "path"?), zzz. Received: file_path, zzz.'
    )


def test_a_key_that_is_no_text_is_told_without_it() -> None:  # F195
    outcome = execute(lambda a, c: a[7], {"size": 1})
    assert outcome.message == (
        "ERROR: The tool could not read the arguments it was given. Accepted parameters: path, size. Received: size."
    )


def test_nothing_is_said_to_be_received_when_nothing_was() -> None:  # F197, F199
    outcome = execute(lambda a, c: a["other"])
    assert outcome.message == (
        'ERROR: The tool needs the "other" argument, which was not provided. Accepted parameters: path, size.'
    )


@pytest.mark.parametrize(
    "body",
    [
        lambda a, c: operator.itemgetter("path")(a),
        lambda a, c: "{path}".format_map(a),
        lambda a, c: string.Template("$path").substitute(a),
        lambda a, c: [a[name] for name in ("path",)][0],  # noqa: RUF015 - a look-up deep in a helper
    ],
)
def test_it_does_not_matter_who_asked_the_arguments(body: Any) -> None:  # F200
    assert execute(body, {"size": 1}).message.startswith('ERROR: The tool needs the "path" argument')


def caught_then_raised(arguments: Any, context: Any) -> str:
    with contextlib.suppress(KeyError):
        arguments["absent"]
    raise KeyError("path")


ORDINARY: list[Any] = [
    pytest.param(lambda a, c: dict[str, str]()["path"], id="F201, F202 another mapping"),
    pytest.param(lambda a, c: a["size"]["path"], id="F203 a mapping inside"),
    pytest.param(raising(KeyError("path")), id="F204 raised by hand"),
    pytest.param(caught_then_raised, id="F204 raised by hand after a failed look-up"),
]


@pytest.mark.parametrize("body", ORDINARY)
def test_any_other_key_error_keeps_the_ordinary_format(body: Any) -> None:  # F201, F202, F203, F204
    assert execute(body, {"size": {}}).message.startswith("ERROR: (KeyError) 'path' at ")


@pytest.mark.parametrize("declared", [{"parameters": []}, {"parameters": [], "parameters_schema": {"type": "object"}}])
def test_without_declared_names_the_format_is_ordinary(declared: Any) -> None:  # F205
    assert execute(lambda a, c: a["path"], **declared).message.startswith("ERROR: (KeyError) 'path' at ")


@pytest.mark.parametrize("parser", [lambda a: None, lambda a, c: {"size": 1}])
def test_with_a_parser_the_format_is_ordinary(parser: Any) -> None:  # F206
    outcome = execute(lambda a, c: a["path"], parse_args=parser)
    assert outcome.message.startswith("ERROR: (KeyError) 'path' at ")
    assert isinstance(outcome.exception, KeyError)


def turned(arguments: Any, context: Any) -> str:
    try:
        return str(arguments["path"])
    except KeyError as error:
        raise LookupError("nothing there") from error


@pytest.mark.parametrize(
    ("body", "start"),
    [
        (lambda a, c: [][3], "ERROR: (IndexError) "),  # F207
        (lambda a, c: a.path, "ERROR: (AttributeError) "),  # F207
        (turned, "ERROR: (LookupError) nothing there at "),  # F208
        (lambda a, c: 1 + a["name"], "ERROR: (TypeError) "),  # F209
        (lambda a, c: len(a["size"]), "ERROR: (TypeError) "),  # F210
        (lambda a, c: (lambda path: path)(**a), "ERROR: (TypeError) "),  # F211
        (raising(ValueError()), "ERROR: (ValueError) at "),  # F213
    ],
)
def test_other_exceptions_keep_the_ordinary_format(body: Any, start: str) -> None:
    outcome = execute(body, {"size": 1, "name": "a"})
    assert outcome.message.startswith(start)
    assert outcome.exception is not None


class Hidden:
    """Hides its signature, and refuses the call when it comes."""

    __signature__ = "nothing that inspect can read"

    def __call__(self, only: Any) -> str:
        return str(only)


def test_a_body_that_refuses_the_call_is_an_error_too() -> None:  # F212
    outcome = execute(Hidden())
    assert isinstance(outcome.exception, TypeError)
    assert outcome.message.startswith("ERROR: (TypeError) ")


class Wordless(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def test_an_exception_that_cannot_be_shown_still_gives_a_sentence() -> None:
    assert execute(raising(Wordless())).message.startswith("ERROR: (Wordless) a Wordless that cannot be shown at ")
