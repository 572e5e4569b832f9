"""A server that tests start …"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import psycopg
import pytest
import redis

from tests.servers import PostgreSQL, Redis, Server


@pytest.fixture(params=[PostgreSQL, Redis])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    server: Server = request.param()
    try:
        server.start()
        yield server
    finally:
        server.remove()


def write(server: Server) -> None:
    if isinstance(server, PostgreSQL):
        with psycopg.connect(server.url) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 'a word' AS word")
    else:
        redis.Redis(port=server.port).set("kept", "a word")


def read(server: Server) -> str:
    if isinstance(server, PostgreSQL):
        with psycopg.connect(server.url) as connection:
            (word,) = connection.execute("SELECT word FROM kept").fetchall()[0]
    else:
        word = redis.Redis(port=server.port, decode_responses=True).get("kept")
    return str(word)


@pytest.mark.parametrize("end", [Server.stop, Server.kill])
def test_keeps_its_port_and_its_data(server: Server, end: Callable[[Server], None]) -> None:
    write(server)
    end(server)
    assert not server.answers()
    server.start()
    assert read(server) == "a word"


def test_answers_nothing_while_it_is_frozen(server: Server) -> None:
    write(server)
    found: list[str] = []
    server.freeze()
    reading = threading.Thread(target=lambda: found.append(read(server)))
    reading.start()
    reading.join(0.5)
    assert (reading.is_alive(), found) == (True, [])
    server.go_on()
    reading.join()
    assert found == ["a word"]


def test_leaves_nothing_behind(server: Server) -> None:
    server.remove()
    assert not server.folder.exists()
    assert not server.is_running
