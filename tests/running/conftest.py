"""A server for a test, ended with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.running.server import Serving


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Serving]]:
    started: list[Serving] = []

    def start(*options: str, **settings: str) -> Serving:
        serving = Serving(tmp_path, settings, options)
        started.append(serving)
        serving.start()
        return serving

    yield start
    for serving in started:
        serving.end()
