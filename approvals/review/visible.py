"""Text from outside, made visible: what deceives the eye is shown as a code, and nothing is ever cut or changed.

Direction marks, zero-width and other invisible characters, control characters, odd white space, marks that pile up or
make two spellings of one letter, and letters of another script inside a word.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString

SCRIPTS = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "FULLWIDTH", "MATHEMATICAL"})
ALWAYS_ODD = frozenset({"FULLWIDTH", "MATHEMATICAL"})
HIDDEN = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs", "Co", "Cn", "Cs"})
BLANKS = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"  # letters and marks that draw nothing
MOST_MARKS = 3
MOST_NAMED = 6
_WORD = re.compile(r"[^\W_]+")
# Greek, Cyrillic, Armenian, Cherokee, and Latin in fancy dress: without one of these no word mixes scripts that look alike.
_LOOK_ALIKE = re.compile(
    "[\u0370-\u058f\u13a0-\u13ff\u1c80-\u1c8f\u1f00-\u1fff\u2100-\u214f\u2c80-\u2cff\u2de0-\u2dff"
    "\ua640-\ua69f\uab70-\uabbf\uff00-\uffef\U0001d400-\U0001d7ff]"
)
_PLAIN = {False: re.compile(r"[ -~]*\Z"), True: re.compile(r"[ -~\n]*\Z")}  # by whether lines are kept
_CONTROLS = {
    "\x00": "nul",
    "\x07": "bell",
    "\b": "backspace",
    "\t": "tab",
    "\n": "line break",
    "\r": "carriage return",
    "\x1b": "escape",
    "\x7f": "delete",
}
Piece = tuple[str, int]  # a character that deceives and how often in a row; a run of plain text and 0


def shown(text: object) -> SafeString:
    """HTML for a text of one line: escaped, kept apart from the direction around it, deceivers and line breaks as codes."""
    return _html(str(text), keep_lines=False)


def shown_block(text: object) -> SafeString:
    """The same for a text that may have lines of its own, inside a box that belongs to it."""
    return _html(str(text), keep_lines=True)


def plain(text: object) -> str:
    """Codes in brackets, for the places where no markup can stand: titles and options."""
    pieces = _pieces(str(text), keep_lines=False)
    return "".join(f"[{_code(piece)}{_times(times)}]" if times else piece for piece, times in pieces)


def in_json(text: str) -> str:
    """JSON text that means the same, with deceivers inside its strings written as escapes, so that an editor shows them."""
    return "".join(_escape(piece) * times if times else piece for piece, times in _pieces(text, keep_lines=True))


def deceptions(text: str) -> list[str]:
    """What in a text deceives, in words: codes and names, each once, the first few."""
    found = dict.fromkeys(piece for piece, times in _pieces(text, keep_lines=True) if times and piece != "\t")
    told = [f"{_code(character)} {_name(character)}" for character in list(found)[:MOST_NAMED]]
    return [*told, f"and {len(found) - MOST_NAMED} more"] if len(found) > MOST_NAMED else told


def _html(text: str, *, keep_lines: bool) -> SafeString:
    pieces = (_chip(*piece) if piece[1] else escape(piece[0]) for piece in _pieces(text, keep_lines))
    return format_html("<bdi>{}</bdi>", SafeString("".join(pieces)))  # each piece is escaped


@lru_cache(maxsize=4096)
def _chip(text: str, times: int) -> SafeString:
    if text == "\t":
        return format_html('<span class="code tab" title="tab">→</span>{}', "\t" * times)
    letter = f"{text} " if unicodedata.category(text)[0] in "LN" and text not in BLANKS else ""
    return format_html('<span class="code" title="{}">{}{}{}</span>', _name(text), letter, _code(text), _times(times))


def _code(character: str) -> str:
    return f"U+{ord(character):04X}"


def _times(times: int) -> str:
    return f" ×{times}" if times > 1 else ""


def _name(character: str) -> str:
    return unicodedata.name(character, _CONTROLS.get(character, "unnamed")).lower()


def _escape(character: str) -> str:
    if character == "\t":  # JSON has none inside a string: it stands between members
        return character
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _pieces(text: str, keep_lines: bool) -> Iterator[Piece]:
    """Runs of plain text, and runs of one deceiving character."""
    start, run = 0, ("", 0)
    for place in _strange_places(text, keep_lines) if not _PLAIN[keep_lines].match(text) else ():
        character = text[place]
        if start == place and run[0] == character:
            run = (character, run[1] + 1)
        else:
            yield from [run] if run[1] else []
            yield from [(text[start:place], 0)] if start < place else []
            run = (character, 1)
        start = place + 1
    yield from [run] if run[1] else []
    yield from [(text[start:], 0)] if start < len(text) else []


def _strange_places(text: str, keep_lines: bool) -> list[int]:
    places = {found.start() for found in _hidden().finditer(text)}
    if not keep_lines:
        places |= {place for place, character in enumerate(text) if character == "\n"} if "\n" in text else set()
    if not text.isascii():
        places |= set(_odd_letters(text)) | set(_odd_marks(text))
    return sorted(places)


def _odd_letters(text: str) -> Iterator[int]:
    """Places of letters that are not Latin in a word that has letters of several scripts, and of dressed-up Latin."""
    for word in _WORD.finditer(text) if _LOOK_ALIKE.search(text) else ():
        if word[0].isascii():
            continue
        scripts = [_script(character) for character in word[0]]
        known = {script for script in scripts if script}
        if len(known) > 1 or known & ALWAYS_ODD:
            yield from (word.start() + at for at, script in enumerate(scripts) if script not in ("", "LATIN"))


def _odd_marks(text: str) -> Iterator[int]:
    """Places of marks beyond the first three on one letter, and of those that only spell a letter in another way."""
    for run in _marks().finditer(text):
        before = text[run.start() - 1 : run.start()]
        is_other_spelling = bool(before) and len(unicodedata.normalize("NFC", before + run[0][0])) == 1
        yield from range(run.start() + (0 if is_other_spelling else MOST_MARKS), run.end())


@lru_cache(maxsize=4096)
def _script(character: str) -> str:
    name = unicodedata.name(character, "").split(" ", 1)[0]
    return name if name in SCRIPTS else ""


@cache
def _hidden() -> re.Pattern[str]:
    selectors = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
    return re.compile(f"[{_ranges(HIDDEN, except_for=' ' + chr(10))}{selectors}{BLANKS}]")


@cache
def _marks() -> re.Pattern[str]:
    return re.compile(f"[{_ranges(frozenset({'Mn', 'Me'}))}]+")


def _ranges(categories: frozenset[str], except_for: str = "") -> str:
    """The characters of these categories, as the inside of a character class."""
    ranges: list[list[int]] = []
    for point in range(sys.maxunicode + 1):
        if unicodedata.category(chr(point)) not in categories or chr(point) in except_for:
            continue
        if ranges and ranges[-1][1] == point - 1:
            ranges[-1][1] = point
        else:
            ranges.append([point, point])
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)
