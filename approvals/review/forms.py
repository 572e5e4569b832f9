"""What people type: a decision, and the answer to a tool's question in plain fields where its schema is plain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict

from toolgate.tools.canonical import exact
from toolgate.tools.json_text import JSONTextError, read_json

PRESETS = (
    "The amount is wrong.",
    "The wrong person or record.",
    "Not needed.",
    "Not now: ask again later.",
    "Explain first why this is needed.",
)
SETTLEMENTS = ("succeeded", "failed", "run_again")
MOST_FIELDS = 30
MOST_RADIOS = 6
NOT_SAID = ""


@dataclass(frozen=True, slots=True)
class Typed:
    """What came with a press of a button, kept so that it can be shown again when the press led to nothing."""

    kind: str = ""
    digest: str = ""
    preset: str = ""
    own_words: str = ""
    response: str = ""
    outcome: str = ""
    has_read: bool = False
    has_confirmed: bool = False

    @classmethod
    def of(cls, posted: QueryDict) -> Typed:
        names = ("kind", "digest", "preset", "own_words", "response", "outcome")
        texts = {name: _text(posted.get(name)) for name in names}
        return cls(**texts, has_read=posted.get("read") == "yes", has_confirmed=posted.get("confirmed") == "yes")

    @property
    def reason(self) -> str:
        return "\n".join(part for part in (self.preset, self.own_words) if part.strip())


def _text(typed: str | None) -> str:
    """Browsers send line breaks as two characters. A NUL, which no keyboard types, cannot be stored."""
    return (typed or "").replace("\r\n", "\n").replace("\x00", "\ufffd")


class JSONText(forms.CharField):
    """JSON, read exactly: no digit of a number is lost."""

    def __init__(self, *, wants: tuple[type, ...] = (), **options: Any) -> None:
        super().__init__(**options)
        self.wants, self.is_wanted = wants, self.required

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        if text in self.empty_values:
            return None
        try:
            read = read_json(_text(text))
        except JSONTextError as error:
            raise ValidationError(error.message) from error
        if self.wants and (not isinstance(read, self.wants) or isinstance(read, bool)):
            raise ValidationError("This is not a number.")
        return read

    def validate(self, value: Any) -> None:
        if value is None and self.required:
            raise ValidationError("Write an answer here.")


class OneOf(forms.ChoiceField):
    """One of some JSON values. The browser sends its place in the list, so that 1 and "1" stay two things."""

    default_error_messages = {"invalid_choice": "Choose one of these.", "required": "Choose one of these."}

    def __init__(self, *, values: list[Any], **options: Any) -> None:
        pairs = [(str(place), _word(value)) for place, value in enumerate(values)]
        few = len(values) <= MOST_RADIOS
        none = [] if few and options.get("required") else [(NOT_SAID, "no answer" if few else "choose …")]
        super().__init__(choices=[*none, *pairs], widget=forms.RadioSelect if few else forms.Select, **options)
        self.values, self.words, self.is_wanted = values, dict(pairs), self.required

    def clean(self, value: Any) -> Any:
        place = super().clean(value)
        return self.values[int(place)] if place != NOT_SAID else None


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) and value else exact(value)


class AnswerForm(forms.Form):
    """Fields made from the response schema; `answer()` is the JSON data they stand for.

    A field is named by its place: its own name is text from outside.
    """

    def __init__(self, schema: Mapping[str, Any] | None, data: Any = None) -> None:
        super().__init__(data, prefix="answer")
        self.properties = _plain_properties(schema or {})
        required = (schema or {}).get("required")
        must = required if isinstance(required, list) else []
        for place, (name, declared) in enumerate(self.properties.items()):
            self.fields[str(place)] = _field(name, declared, is_required=name in must)
        if not self.properties:
            self.fields["whole"] = _field("Answer", schema or {}, is_required=True)

    def answer(self) -> Any:
        if not self.properties:
            return self.cleaned_data["whole"]
        values = {name: self.cleaned_data[str(place)] for place, name in enumerate(self.properties)}
        return {name: value for name, value in values.items() if value is not None}

    def typed(self) -> list[tuple[str, str]]:
        """What was filled in, field by field, for when the form can no longer be sent."""
        filled = [(field, field.value()) for field in self if self.is_bound and field.value()]
        words = [getattr(field.field, "words", {}).get(value, value) for field, value in filled]
        return [(str(field.label), str(word)) for (field, _), word in zip(filled, words, strict=True)]


def _plain_properties(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The properties of an object schema, when a form of fields can say all that it wants."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not 0 < len(properties) <= MOST_FIELDS:
        return {}
    return dict(properties) if schema.get("type", "object") == "object" else {}


def _field(name: str, declared: Any, *, is_required: bool) -> forms.Field:
    facts: Mapping[str, Any] = declared if isinstance(declared, Mapping) else {}
    label, told = str(facts.get("title") or name), str(facts.get("description") or "")
    options: dict[str, Any] = {"label": label, "help_text": told, "required": is_required}
    kind, values = facts.get("type"), facts.get("enum")
    if kind == "boolean":
        return OneOf(values=[True, False], **options)
    if isinstance(values, list) and values:
        return OneOf(values=values, **options)
    if kind == "string":
        return _Words(**options)
    if kind in ("integer", "number"):
        widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"})
        return JSONText(wants=(int, float, Decimal) if kind == "number" else (int,), widget=widget, **options)
    area = forms.Textarea(attrs={"rows": 4, "spellcheck": "false", "autocapitalize": "none", "class": "code-field"})
    return JSONText(widget=area, **{**options, "help_text": f'{told} Written as JSON, such as {{"a": 1}}.'.strip()})


class _Words(forms.CharField):
    """Text exactly as typed. Left empty it is no answer, unless one is wanted: then it is the empty text."""

    widget = forms.Textarea(attrs={"rows": 2})

    def __init__(self, *, required: bool, **options: Any) -> None:
        super().__init__(required=False, strip=False, **options)
        self.is_wanted = required

    def clean(self, value: Any) -> Any:
        text = _text(super().clean(value))
        return text if text or self.is_wanted else None


class TokenForm(forms.Form):
    """A personal token: what it is for, and how long it lives."""

    LIVES = (("30", "30 days"), ("90", "90 days"), ("365", "a year"), ("", "until it is revoked"))

    name = forms.CharField(label="What is it for?", max_length=100)
    days = forms.ChoiceField(label="How long is it good for?", choices=LIVES, required=False, initial="90")
