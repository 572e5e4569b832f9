"""What a model is told of a value that does not fit a JSON Schema: the place, what is wanted there, what was sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from toolgate.tools.canonical import canonical
from toolgate.tools.definition import one_of
from toolgate.tools.diagnostics import Place, kind_of, place_of, quote, sent, suggestion
from toolgate.tools.references import alternatives, declared_at, property_names, secret_paths

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

MOST_PROBLEMS = 50
MOST_OPTIONS = 30


class Misfits:
    """Tells the errors of one schema. Values at places that the schema marks as secret are never quoted."""

    def __init__(self, schema: Mapping[str, Any], name: str = "") -> None:
        self._schema, self._name = schema, name
        self._secrets = [path.split(".") for path in secret_paths(schema)]

    def told(self, error: ValidationError, data: Any) -> Iterator[str]:
        """Sentences, without a full stop, on one error in `data`."""
        at: Place = tuple(error.instance_path)
        facts, keyword = error.kind.as_dict(), str(error.schema_path[-1])
        if "property" in facts:  # required, dependentRequired
            yield f"{place_of((*at, facts['property']), self._name)} is missing"
        elif "unexpected" in facts:  # additionalProperties, unevaluatedProperties
            known = property_names(declared_at(self._schema, at), self._schema)
            left = [name for name in known if name not in value_at(data, at)]
            yield from (unknown_field(field, at, self._name, left) for field in facts["unexpected"])
        elif keyword == "additionalProperties":  # of a schema that declares no property at all
            yield from (unknown_field(field, at, self._name, []) for field in value_at(data, at))
        elif keyword in ("anyOf", "oneOf") and any(facts.get("context", ())):
            yield from self._alternatives(facts["context"], at, data)
        elif words := _wanted(error):
            yield self._wants(at, words, error.instance)
        else:
            yield f"{self._place(at)} {_limit(error)}{self.but(at, error.instance)}"

    def _alternatives(self, branches: list[list[ValidationError]], at: Place, data: Any) -> Iterator[str]:
        """The branch that was meant is the one whose kind fits; without one, all that would have been accepted."""
        meant = [branch for branch in branches if not any(len(one.instance_path) == len(at) and _wanted(one) for one in branch)]
        if meant:
            for error in min(meant, key=len):
                yield from self.told(error, data)
            return
        words = [word for branch in branches for error in branch for word in _wanted(error)]
        yield self._wants(at, [*dict.fromkeys(words)], value_at(data, at))

    def _wants(self, at: Place, words: list[str], value: Any) -> str:
        if len(words) > MOST_OPTIONS:
            words = [*words[:MOST_OPTIONS], f"one of {len(words) - MOST_OPTIONS} more"]
        return f"{self._place(at)} must be {one_of(words)}{self.but(at, value)}"

    def but(self, at: Place, value: Any) -> str:
        """What was sent instead, as the end of a sentence."""
        if value is None and self._may_be_left_out(at):
            return "; null was sent: leave it out instead"
        is_secret = any(_covers(path, at) for path in self._secrets)
        return f"; {kind_of(value)} was sent" if is_secret else f"; {sent(value)}"

    def _may_be_left_out(self, at: Place) -> bool:
        if not at or not isinstance(at[-1], str):
            return False
        holders = alternatives(declared_at(self._schema, at[:-1]), self._schema)
        return not any(at[-1] in one.get("required", ()) for one in holders)

    def _place(self, at: Place) -> str:
        """A list item as people count: `fields item 2`."""
        *path, last = at or ("",)
        return f"{place_of(tuple(path), self._name)} item {last + 1}" if isinstance(last, int) else place_of(at, self._name)


def _covers(path: list[str], at: Place) -> bool:
    return len(path) <= len(at) and all(step in ("*", str(place)) for step, place in zip(path, at, strict=False))


def value_at(data: Any, at: Place) -> Any:
    for step in at:
        data = data[step]
    return data


def unknown_field(field: str, at: Place, name: str, candidates: list[str]) -> str:
    where = f" in {place_of(at, name)}" if at else ""
    meant = suggestion(field, candidates)
    return f"unknown field {quote(field)}{where}" + (f' (did you mean "{meant}"?)' if meant else "")


def listed(problems: Iterator[str], lead: str = "The arguments were refused:") -> str:
    """All problems as one message; empty when there is none."""
    found: dict[str, None] = {}
    for problem in problems:
        found[problem] = None
        if len(found) > MOST_PROBLEMS:
            break
    told = [*found][:MOST_PROBLEMS]
    if len(told) < 2:
        return f"{lead} {told[0]}.".strip() if told else ""
    more = ["- and more that are not listed here"] if len(found) > MOST_PROBLEMS else []
    return "\n".join([*filter(None, [lead]), *(f"- {problem}" for problem in told), *more])


_KINDS: dict[str, tuple[str, ...]] = {
    "string": ("text",),
    "integer": ("an integer",),
    "number": ("a number",),
    "boolean": ("true", "false"),
    "array": ("a list",),
    "object": ("an object",),
    "null": ("null",),
}
_FORMATS = {
    "date-time": "a date with a time and an offset in ISO form, such as 2031-03-14T09:30:00+01:00",
    "date": "a date in ISO form, such as 2031-03-14",
    "time": "a time with an offset in ISO form, such as 09:30:00+01:00",
    "email": "an e-mail address",
    "uri": "a whole web address such as https://example.org/page (it must start with http or https; mixed scripts are refused)",
    "uuid": "a UUID",
}


def _wanted(error: ValidationError) -> list[str]:
    """What would have been accepted there, in words, for the keywords that say so."""
    facts = error.kind.as_dict()
    if "types" in facts:
        kinds = sorted(facts["types"], key=lambda kind: kind == "null")
        return [word for kind in kinds for word in _KINDS[kind]]
    if "options" in facts:
        return [_bare(option) for option in facts["options"]]
    if "expected_value" in facts:
        return [_bare(facts["expected_value"])]
    return [_FORMATS.get(facts["format"], f"of the form {facts['format']}")] if "format" in facts else []


def _bare(option: Any) -> str:
    return option if isinstance(option, str) and option else canonical(option)


_LIMITS: dict[str, Callable[[Any], str]] = {
    "minimum": "must be at least {}".format,
    "maximum": "must be at most {}".format,
    "exclusiveMinimum": "must be above {}".format,
    "exclusiveMaximum": "must be below {}".format,
    "minLength": lambda limit: "must not be empty" if limit == "1" else f"must have at least {limit} characters",
    "maxLength": "must have at most {} characters".format,
    "minItems": lambda limit: "must not be empty" if limit == "1" else f"must have at least {limit} items",
    "maxItems": "must have at most {} items".format,
    "minProperties": lambda limit: "must not be empty" if limit == "1" else f"must have at least {limit} fields",
    "maxProperties": "must have at most {} fields".format,
}


def _limit(error: ValidationError) -> str:
    facts, keyword = error.kind.as_dict(), str(error.schema_path[-1])
    if keyword in _LIMITS and "limit" in facts:
        return _LIMITS[keyword](_plain(facts["limit"]))
    if "multiple_of" in facts:
        return f"must be a multiple of {_plain(facts['multiple_of'])}"
    if "error" in facts:  # propertyNames
        return f"has a field name that is not accepted, {quote(str(facts['error'].instance))}"
    if "pattern" in facts:
        return f"must match the pattern {facts['pattern']}"
    return _OTHERS.get(keyword, "is not accepted by the schema")


_OTHERS = {
    "uniqueItems": "must not hold the same item twice",
    "contains": "lacks an item that the schema asks for",
    "oneOf": "fits more than one of the forms that exclude each other",
    "not": "is of a form that the schema excludes",
}


def _plain(limit: int | float | Decimal) -> str:
    return canonical(limit)
