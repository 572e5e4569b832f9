"""Sentences that a model can act on: which parameters are missing, which were not recognised, and what was perhaps meant."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from typing import Any

LONGEST_EXCERPT = 80
LONGEST_COMPARED = 200
MOST_DIGITS = 40
MOST_NAMES = 50
SIMILAR_ENOUGH = 0.7


Place = tuple[str | int, ...]


def quote(text: str, limit: int = LONGEST_EXCERPT) -> str:
    """An excerpt for a message: in quotes, cut, with letters that deceive the eye shown as codes."""
    shown = "".join(_visible(character) for character in text[:limit])
    return f'"{shown}…"' if len(text) > limit else f'"{shown}"'


def _visible(character: str) -> str:
    if character == " " or "!" <= character <= "~":
        return f"\\{character}" if character in '"\\' else character
    is_plain = unicodedata.category(character)[0] in "LNPS" and unicodedata.name(character, "").startswith("LATIN ")
    return character if is_plain else f"<U+{ord(character):04X}>"


def one_line(text: str) -> str:
    """The text with what cannot be seen, or moves what is seen, shown as codes. Letters of every script stay."""
    return "".join(f"<U+{ord(c):04X}>" if unicodedata.category(c)[0] == "C" or c in "\u2028\u2029" else c for c in text)


def place_of(at: Place, name: str = "") -> str:
    """`lines[0].qty`. `name` stands for the whole value."""
    text = name
    for step in at:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.isidentifier() and step.isascii() and len(step) <= LONGEST_EXCERPT:
            text += f".{step}" if text else step
        else:
            text += f"[{quote(step)}]" if text else quote(step)
    return text or "the arguments"


def sent(value: Any) -> str:
    """`text was sent: "…"`, `null was sent`, `a list was sent`."""
    if isinstance(value, str) and value:
        return f"text was sent: {quote(value)}"
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        shown = str(value) if not isinstance(value, int) or abs(value) < 10**MOST_DIGITS else ""
        return f"{shown} was sent" if shown and len(shown) <= MOST_DIGITS else "a number was sent"
    return "empty text was sent" if value == "" else f"{kind_of(value)} was sent"


def missing_parameters(required: list[str], accepted: list[str], arguments: Mapping[str, Any]) -> str:
    """The answer to a call that leaves required parameters out."""
    missing = [name for name in required if name not in arguments]
    lines = [f"Required parameters: {', '.join(required)}", f"Missing parameters: {', '.join(missing)}"]
    if unrecognized := unrecognized_names(accepted, arguments):
        lines.append(f"Unrecognized parameters: {', '.join(unrecognized)}")
    if accepted:
        lines.append(f"Accepted parameters: {', '.join(accepted)}")
    return "\n\n".join(
        [
            "Missing required parameters for this tool.",
            "\n".join(lines),
            "Ensure you're passing the correct parameter names as defined in the tool schema.",
        ]
    )


def failed_lookup(key: Any, accepted: list[str], arguments: Mapping[str, Any]) -> str:
    """The answer when a body asked its arguments for a key that was not sent."""
    unrecognized = unrecognized_names(accepted, arguments)
    lead = "The tool could not read the arguments it was given."
    if unrecognized:
        lead = "The tool was called with an argument name it does not accept."
    elif isinstance(key, str):
        lead = f'The tool needs the "{key}" argument, which was not provided.'
    received = [_shown(name) for name in sorted(str(name) for name in arguments)[:MOST_NAMES]]
    lists = (("Accepted parameters", accepted), ("Unrecognized parameters", unrecognized), ("Received", received))
    details = [f"{label}: {', '.join(names)}." for label, names in lists if names]
    return " ".join([f"ERROR: {lead}", *details])


def unrecognized_names(accepted: list[str], arguments: Mapping[str, Any]) -> list[str]:
    """What was sent and not declared, sorted, each with a suggestion; nothing when the accepted names are unknown."""
    if not accepted:
        return []
    unknown = sorted(str(name) for name in arguments if name not in accepted)
    listed = [_with_suggestion(name, accepted, arguments) for name in unknown[:MOST_NAMES]]
    return [*listed, f"and {len(unknown) - MOST_NAMES} more"] if len(unknown) > MOST_NAMES else listed


def _with_suggestion(name: str, accepted: list[str], arguments: Collection[str]) -> str:
    meant = suggestion(name, [candidate for candidate in accepted if candidate not in arguments])
    return f'{_shown(name)} (did you mean "{meant}"?)' if meant else _shown(name)


def _shown(name: str) -> str:
    """A name as it was sent; one that is long or breaks the line as an excerpt."""
    return name if name.isprintable() and len(name) <= LONGEST_EXCERPT else quote(name)


def suggestion(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate most like `name`; the first of several; None when none is like it."""
    if len(name) > LONGEST_COMPARED:
        return None
    scored = [(similarity(name, candidate), candidate) for candidate in candidates]
    best = max((score for score, _ in scored), default=0.0)
    return next(candidate for score, candidate in scored if score == best) if best > SIMILAR_ENOUGH else None


def similarity(one: str, other: str) -> float:
    """0 to 1, ignoring case: by containment from three characters on, else by Jaro's measure."""
    one, other = one.lower(), other.lower()
    if one == other:
        return 1.0
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) >= 3 and shorter in longer:
        return 0.7 + 0.3 * len(shorter) / len(longer)
    return jaro(one, other)


def jaro(one: str, other: str) -> float:
    """Jaro's similarity of two texts, 0 to 1."""
    if not one or not other:
        return 0.0
    window = max(len(one), len(other)) // 2 - 1
    taken: set[int] = set()
    matched = []
    for place, letter in enumerate(one):
        near = range(max(0, place - window), min(len(other), place + window + 1))
        if (found := next((at for at in near if at not in taken and other[at] == letter), None)) is not None:
            taken.add(found)
            matched.append(letter)
    if not matched:
        return 0.0
    in_order = [other[at] for at in sorted(taken)]
    swaps = sum(a != b for a, b in zip(matched, in_order, strict=True)) / 2
    count = len(matched)
    return (count / len(one) + count / len(other) + (count - swaps) / count) / 3


def kind_of(value: Any) -> str:
    """What a JSON value is called in a sentence to a model."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "text"
    if isinstance(value, Mapping):
        return "an object"
    return "a list" if isinstance(value, list | tuple) else "a number"
