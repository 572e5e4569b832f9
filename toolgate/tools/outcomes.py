"""What parsing or executing a function can come to: Ok, Interrupt or Error. Values, never exceptions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Ok:
    """It worked. `value` is for the model; `processed_content` is the application's own object and stays as it is."""

    value: Any
    processed_content: Any = None


@dataclass(frozen=True, slots=True)
class Interrupt:
    """A pause: `message` for the person who is asked, `data` with what they need (`response_schema` says what they may
    answer)."""

    message: str
    data: Any = None


@dataclass(frozen=True, slots=True)
class Error:
    """It did not work. `message` is for the model; `exception` is there only when one was caught."""

    message: Any
    exception: BaseException | None = None


Outcome = Ok | Interrupt | Error
