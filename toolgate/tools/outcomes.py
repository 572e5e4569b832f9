"""What parsing or executing a function can come to: Ok, Interrupt or Error. Values, never exceptions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class _Missing:
    """Stands for processed content that was not given, so that a falsy one is still processed content."""

    def __repr__(self) -> str:
        return "not given"

    def __bool__(self) -> bool:
        return False


MISSING = _Missing()


@dataclass(frozen=True, slots=True)
class Ok:
    """It worked. `value` is for the model; `processed_content`, where given, is kept for the application as it is."""

    value: Any
    processed_content: Any = MISSING

    @property
    def has_processed_content(self) -> bool:
        return self.processed_content is not MISSING


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
