"""Servers for tests, ended with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.databases import new_database
from tests.running.server import Serving


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Serving]]:
    started: list[Serving] = []

    def start(*options: str, **settings: str) -> Serving:
        serving = Serving(tmp_path, settings, options, database=new_database(tmp_path))
        started.append(serving)
        serving.start()
        return serving

    yield start
    for serving in started:
        serving.end()


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """One server for those who leave it as they found it."""
    folder = tmp_path_factory.mktemp("serving")
    shared = Serving(folder, database=new_database(folder))
    shared.start()
    yield shared
    shared.end()
