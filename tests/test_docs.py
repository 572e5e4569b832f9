"""The pages of docs/ say what the code says."""

from __future__ import annotations

import re
from pathlib import Path

from approvals.api.problems import CODES
from approvals.lifecycle import TRANSITIONS
from approvals.models import Status

DOCS = Path(__file__).resolve().parents[1] / "docs"


def rows(page: str) -> list[list[str]]:
    lines = (DOCS / page).read_text().splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| `")]


def test_every_error_code_is_listed_with_its_status() -> None:
    listed = {cells[0].strip("`"): (int(cells[1]), cells[2]) for cells in rows("api.md") if cells[1].isdecimal()}
    assert listed == dict(CODES)


def test_every_transition_is_listed() -> None:
    def named(cell: str) -> set[str]:
        return set(re.findall(r"`(\w+)`", cell))

    listed = {cells[0].strip("`"): (named(cells[1]), named(cells[2])) for cells in rows("lifecycle.md")}
    assert listed == {
        str(verb): ({str(s) for s in transition.sources}, {str(t) for t in transition.targets})
        for verb, transition in TRANSITIONS.items()
    }


def test_drawing_in_the_readme_names_every_status() -> None:
    drawing = (DOCS.parent / "README.md").read_text().split("## The life of a call")[1].split("## ")[0]
    assert all(str(status) in drawing for status in Status)
