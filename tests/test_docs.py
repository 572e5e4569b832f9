"""The pages of docs/ say what the code says."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from approvals.api.problems import CODES
from approvals.lifecycle import TRANSITIONS
from approvals.models import Status
from toolgate.tools.registry import Facts

DOCS = Path(__file__).resolve().parents[1] / "docs"
TESTS = Path(__file__).resolve().parent


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


def test_every_fact_of_a_registration_is_explained() -> None:
    assert [cells[0].strip("`") for cells in rows("tools.md") if len(cells) == 4] == list(Facts.__annotations__)


def test_drawing_in_the_readme_names_every_status() -> None:
    drawing = (DOCS.parent / "README.md").read_text().split("## The life of a call")[1].split("## ")[0]
    assert all(str(status) in drawing for status in Status)


def test_faults_are_each_named_once_and_shown_by_tests_that_exist() -> None:
    page = (DOCS / "faults.md").read_text()
    replayed = re.findall(r"\bB\d{3}\b", page.split("## Running twice")[1])
    assert [one for one, times in Counter(replayed).items() if times > 1] == []
    for path, name in re.findall(r"`([\w/]+\.py)::(\w+)`", page):
        assert re.search(rf"^(?:async )?def {name}\(", (TESTS / path).read_text(), re.MULTILINE), (path, name)
    by_kind = [line for line in page.split("## Open")[0].splitlines() if re.search(r"\bB\d{3} ", line)]
    assert all(".py::test_" in line for line in by_kind)
    beside_tests = {
        one for path in (TESTS / "faults").glob("test_*.py") for one in re.findall(r"# .*\bB\d{3}\b.*", path.read_text())
    }
    assert {one for line in beside_tests for one in re.findall(r"\bB\d{3}\b", line)} <= set(replayed)


def test_every_make_command_that_is_named_exists_once() -> None:
    targets = re.findall(r"^([a-z-]+):", (DOCS.parent / "Makefile").read_text(), re.MULTILINE)
    assert [one for one, times in Counter(targets).items() if times > 1] == []
    pages = [DOCS.parent / "README.md", DOCS.parent / "CHANGELOG.md", *DOCS.glob("*.md")]
    named = {name for page in pages for name in re.findall(r"(?:`|^|= )make ([a-z-]+)", page.read_text(), re.MULTILINE)}
    assert {"run", "test", "demo"} <= named <= set(targets)
