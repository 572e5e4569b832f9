"""One look for each status, risk and kind of event."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from approvals.models import EventKind, Risk, Status
from approvals.review.icons import PATHS
from approvals.review.presentation import EVENT, RISK, STATUS, UNKNOWN
from approvals.review.tags import relative

STATIC = Path(__file__).parents[2] / "approvals" / "static" / "approvals"


@pytest.mark.parametrize(("looks", "words"), [(STATUS, Status), (RISK, Risk), (EVENT, EventKind)])
def test_is_complete(looks: dict[str, object], words: type[Status]) -> None:
    assert {str(word) for word in looks} == set(words.values)


def test_always_has_a_word_and_an_icon_beside_its_colour() -> None:
    for look in (*STATUS.values(), *RISK.values(), *EVENT.values(), UNKNOWN):
        assert look.label
        assert look.icon in PATHS


def test_has_its_colours_in_the_style_sheet() -> None:
    sheet = (STATIC / "pages.css").read_text()
    tones = {look.tone for look in (*STATUS.values(), *RISK.values(), *EVENT.values())} - {"neutral"}
    assert all(f".badge.{tone}" in sheet and f".dot.{tone}" in sheet for tone in tones)


def test_names_every_colour_in_the_tokens_and_nowhere_else() -> None:
    assert "#" not in (STATIC / "pages.css").read_text().replace("/* ", "")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "just now"),
        (-42, "42 s ago"),
        (119, "in 1 min"),
        (7199, "in 1 h 59 min"),
        (7200, "in 2 h"),
        (-86400, "24 h ago"),
        (86400 * 3 - 1, "in 2 days"),
    ],
)
def test_never_tells_more_time_than_there_is(seconds: int, words: str) -> None:
    assert relative(timedelta(seconds=seconds)) == words
