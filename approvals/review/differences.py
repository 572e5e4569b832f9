"""Where two versions of a value differ, as people compare them: place, before, after, with the changed words marked."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from approvals.review.reading import scalar
from toolgate.tools.canonical import exact

MOST_WORDS = 400
_WORDS = re.compile(r"\s+|\d+(?:[.,:]\d+)+|\w+|[^\w\s]")
Part = tuple[str, bool]  # a piece of text, and whether it differs


@dataclass(frozen=True, slots=True)
class Difference:
    """None stands for a value that is not there at all."""

    place: str
    before: str | None
    after: str | None

    @property
    def parts(self) -> tuple[list[Part], list[Part]]:
        """Both texts, cut where they differ. Texts without anything in common, and long ones, differ as a whole."""
        old, new = _WORDS.findall(self.before or ""), _WORDS.findall(self.after or "")
        if max(len(old), len(new)) > MOST_WORDS:
            return [(self.before or "", True)], [(self.after or "", True)]
        codes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        before = [("".join(old[start:end]), tag != "equal") for tag, start, end, _, _ in codes if start < end]
        after = [("".join(new[start:end]), tag != "equal") for tag, _, _, start, end in codes if start < end]
        return before, after

    @property
    def before_parts(self) -> list[Part]:
        return self.parts[0]

    @property
    def after_parts(self) -> list[Part]:
        return self.parts[1]


def differences(before: Any, after: Any, place: str = "") -> Iterator[Difference]:
    """Every place where two trees of JSON data differ, in the order of the first and then the second."""
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _of_objects(before, after, place)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (old, new) in enumerate(zip(before, after, strict=True), 1):
            yield from differences(old, new, f"{place} {number}".lstrip())
    elif exact(before) != exact(after):
        yield Difference(place, as_text(before), as_text(after))


def _of_objects(before: dict[str, Any], after: dict[str, Any], place: str) -> Iterator[Difference]:
    for key in [*before, *(key for key in after if key not in before)]:
        inner = f"{place} › {key}" if place else key
        if key not in after:
            yield Difference(inner, as_text(before[key]), None)
        elif key not in before:
            yield Difference(inner, None, as_text(after[key]))
        else:
            yield from differences(before[key], after[key], inner)


def as_text(value: Any) -> str:
    return exact(value) if isinstance(value, dict | list) else scalar(value)
