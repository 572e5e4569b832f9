"""The sentence that stands for a call: `Refund {amount} to {order.customer}`, made of resolved values and nothing else."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from toolgate.tools.definition import Problems
from toolgate.tools.diagnostics import one_line

Headline = str | Callable[[dict[str, Any]], str]


def make(headline: Headline | None, arguments: Mapping[Any, Any]) -> str | None:
    """The sentence on one line, control characters as codes; None when there is none, or it cannot be made of these."""
    if not headline:
        return None
    try:
        made = headline(dict(arguments)) if callable(headline) else _Sentence().vformat(headline, (), arguments)
        return one_line(str(made))
    except Exception:  # noqa: BLE001 - a sentence that cannot be made must not stop a call from being reviewed
        return None


def check(headline: Any, secrets: Iterable[str], problems: Problems) -> None:
    """Adds what is wrong with a headline. One that names a secret is refused; a callable is trusted not to show any."""
    if headline is None or callable(headline):
        return
    try:
        named = [_steps(name) for name in _names(headline)]
    except (TypeError, ValueError) as error:
        problems.add("headline", f"must be text with {{names}}, or take (arguments): {error}")
        return
    for steps in named:
        problems.add("headline", "a name is missing between braces", when=not steps[0] or steps[0].isdigit())
        for secret in secrets:
            meets = all(one == other or "*" in (one, other) for one, other in zip(steps, secret.split("."), strict=False))
            problems.add("headline", f"shows the secret {secret}", when=meets)


def _names(template: str) -> Iterator[str]:
    for _, name, specification, _ in string.Formatter().parse(template):
        if name is not None:
            yield name
            yield from _names(specification or "")


def _steps(field_name: str) -> list[str]:
    return field_name.replace("]", "").replace("[", ".").split(".")


class _Sentence(string.Formatter):
    """`str.format` over resolved values that reaches keys, items and public attributes only."""

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        first, *rest = _steps(field_name)
        value = kwargs[first]
        for step in rest:
            value = _reached(value, step)
        if callable(value):
            raise TypeError(first)
        return value, first


def _reached(value: Any, step: str) -> Any:
    if isinstance(value, Mapping):
        return value[step]
    if isinstance(value, Sequence) and step.isdigit():
        return value[int(step)]
    if step.startswith("_"):
        raise AttributeError(step)
    return getattr(value, step)
