"""The house's rules that a machine can hold: where imports point, what modules are called, what no file says."""

from __future__ import annotations

import ast
import itertools
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
VAGUE_NAMES = {"utils", "helpers", "common", "services", "managers"}
LOCKS = sorted(ROOT.glob("requirements/*.txt"))


def modules(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from (path for path in sorted(ROOT.glob(f"{folder}/**/*.py")) if "migrations" not in path.parts)


def tracked_files() -> list[Path]:
    # A clone may belong to somebody else than the one who runs the tests; git refuses to look then, unless told.
    listing = subprocess.check_output(["git", "-c", "safe.directory=*", "ls-files", "-z"], cwd=ROOT, text=True)
    return [path for name in listing.split("\0") if name and (path := ROOT / name).is_file()]


def test_imports_point_one_way_and_never_in_circles() -> None:
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    contracts = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert contracts.returncode == 0, contracts.stdout + contracts.stderr


def late_imports(node: ast.AST, function: str | None = None) -> Iterator[int]:
    """The lines with an import in the body of a function other than `ready`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom) and function not in (None, "ready"):
            yield child.lineno
        inside = child.name if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else function
        yield from late_imports(child, inside)


def test_imports_stand_at_the_top_of_their_module() -> None:
    late = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in modules("toolgate", "approvals")
        for line in late_imports(ast.parse(path.read_text()))
    ]
    assert not late


def test_long_modules_say_why_they_are_long() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in modules("toolgate", "approvals", "tests")
        if len((text := path.read_text()).splitlines()) > 400
        and "long because" not in (ast.get_docstring(ast.parse(text)) or "").lower()
    ]
    assert not silent, "over 400 lines: part it, or say in its docstring that it is long because …"


def test_modules_are_named_for_what_they_hold() -> None:
    vague = [
        path.relative_to(ROOT) for path in modules("toolgate", "approvals", "tests") if VAGUE_NAMES & {*path.parts, path.stem}
    ]
    assert not vague


def test_no_file_names_a_place_on_one_machine() -> None:
    place = re.compile(rb"(?<![\w.$}/-])/(?:home|root|Users|work|opt|srv|mnt)/\w")
    named = [
        f"{path.relative_to(ROOT)}: {found.group().decode()}"
        for path in tracked_files()
        if (found := place.search(path.read_bytes()))
    ]
    assert not named


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_locks_hold_names_versions_and_hashes_only(lock: Path) -> None:
    line = re.compile(r"[a-z0-9-]+==[\w.+!]+ \\|    --hash=sha256:[0-9a-f]{64}( \\)?")
    assert not [text for text in lock.read_text().splitlines() if not line.fullmatch(text)]


def pins(lock: Path) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9-]+)==([^ ]+)", lock.read_text(), re.MULTILINE))


def test_both_locks_agree() -> None:
    runtime, development = (pins(ROOT / "requirements" / f"{name}.txt") for name in ("runtime", "development"))
    assert runtime.items() <= development.items()


def test_locks_are_complete_for_other_pythons_and_machines() -> None:
    # A lock is compiled on one Python: what a dependency asks for on another only would be missing there.
    pinned = pins(ROOT / "requirements" / "development.txt")
    places = [
        {"python_version": python, "python_full_version": f"{python}.0", "platform_machine": machine, "extra": ""}
        for python, machine in itertools.product(("3.11", "3.12", "3.13", "3.14"), ("x86_64", "aarch64"))
    ]
    missing = {
        f"{package.name} asks for {requirement}"
        for package in metadata.distributions()
        if canonicalize_name(package.name) in pinned
        for requirement in map(Requirement, package.requires or [])
        if canonicalize_name(requirement.name) not in pinned
        and any(requirement.marker is None or requirement.marker.evaluate(place) for place in places)
    }
    assert not missing
