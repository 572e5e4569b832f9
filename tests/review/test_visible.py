"""Text from outside is shown so that it cannot deceive: nothing hidden, nothing cut, nothing run."""

from __future__ import annotations

import json
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals.review import visible
from tests.review.browser import Page

DECEIVERS = {
    "right-to-left override": ("invoice\u202efdp.exe", "U+202E"),
    "isolate": ("t\u2067", "U+2067"),
    "zero width space": ("Rowan\u200b Ellery", "U+200B"),
    "zero width joiner": ("\U0001f469\u200d\U0001f52c", "U+200D"),
    "soft hyphen": ("El\u00adlery", "U+00AD"),
    "tag": ("ok\U000e0041", "U+E0041"),
    "variation selector": ("ok\ufe0f", "U+FE0F"),
    "supplementary selector": ("ok\U000e0100", "U+E0100"),
    "line separator": ("a\u2028b", "U+2028"),
    "no-break space": ("a\u00a0b", "U+00A0"),
    "ideographic space": ("a\u3000b", "U+3000"),
    "hangul filler": ("a\u3164b", "U+3164"),
    "braille blank": ("a\u2800b", "U+2800"),
    "escape": ("a\x1b[2K", "U+001B"),
    "backspace": ("ab\b", "U+0008"),
    "carriage return": ("a\rb", "U+000D"),
    "next line": ("a\x85b", "U+0085"),
    "byte order mark": ("\ufeffa", "U+FEFF"),
    "private use": ("a\ue000", "U+E000"),
    "unassigned": ("a\u0378", "U+0378"),
    "cyrillic letter in a latin word": ("ex\u0430mple", "а U+0430"),
    "greek letter in a latin word": ("p\u03bfst", "ο U+03BF"),
    "fullwidth": ("\uff15\uff10", "５ U+FF15"),
    "mathematical": ("\U0001d41aa", "U+1D41A"),
    "decomposed letter": ("cafe\u0301", "U+0301"),
    "stacked marks": ("z" + "\u0321" * 120, "U+0321 ×117"),
}
PLAIN = [
    "plain",
    "",
    "Grüße, Łódź",
    "Привет, мир",
    "Ελληνικά",
    "日本語テキスト",
    "שלום",
    "हिन्दी में",
    "ไทย",
    "100 µm",
    "🚀",
    "café",
]


@pytest.mark.parametrize("name", DECEIVERS)
def test_what_deceives_is_a_code(name: str) -> None:
    text, code = DECEIVERS[name]
    for shown in (visible.shown(text), visible.shown_block(text)):
        assert code in Page(str(shown)).text
        assert 'class="code" title="' in shown
    assert code.split()[-1].lstrip("×").split("+")[-1] in visible.plain(text) or "×" in code
    assert visible.deceptions(text)


@pytest.mark.parametrize("text", PLAIN)
def test_ordinary_text_of_any_language_is_left_alone(text: str) -> None:
    assert visible.shown(text) == f"<bdi>{text}</bdi>"
    assert visible.plain(text) == text
    assert visible.deceptions(text) == []


def test_a_line_break_is_a_code_where_there_is_one_line() -> None:
    assert "U+000A" in visible.shown("t\n2031-01-01 INFO decision=approve")
    assert "U+000A" not in visible.shown_block("two\nlines")


def test_a_tab_is_marked_and_still_a_tab() -> None:
    assert ">→</span>\t" in visible.shown_block("a\tb")


def test_texts_that_differ_only_in_spelling_look_different() -> None:
    assert visible.shown("caf\u00e9") != visible.shown("cafe\u0301")
    assert visible.shown("Rowan Ellery") != visible.shown("Rowan\u200b Ellery")


def test_many_of_one_kind_are_counted_and_not_drawn() -> None:
    assert len(visible.shown("a" + "\u200b" * 10_000)) < 200


@given(st.text())
def test_markup_is_never_markup(text: str) -> None:
    tags = {tag for tag, _ in Page(str(visible.shown(f"<script>{text}</script>"))).tags}
    assert tags <= {"bdi", "span"}


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_nothing_invisible_is_left(text: str) -> None:
    for left in (visible.plain(text), Page(str(visible.shown(text))).text):
        assert not [
            one for one in left if unicodedata.category(one) in ("Cf", "Co", "Cn", "Zl", "Zp") or one in "\x00\x1b\b\r\x7f"
        ]


@given(st.recursive(st.text() | st.integers(), lambda inner: st.dictionaries(st.text(), inner)))
def test_json_with_escapes_means_the_same(value: object) -> None:
    text = json.dumps(value, ensure_ascii=False)
    shown = visible.in_json(text)
    assert json.loads(shown) == value
    assert not [one for one in shown if unicodedata.category(one) == "Cf"]


@pytest.mark.parametrize("text", ["日本語" * 100_000, "a\u200b" * 100_000, "a" * 500_000, "аa" * 100_000, "e\u0301" * 100_000])
def test_megabytes_take_seconds(text: str) -> None:
    visible.shown("warm \u200b")
    started = time.perf_counter()
    visible.shown_block(text)
    assert time.perf_counter() - started < 10
