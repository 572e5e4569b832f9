"""Callers over HTTP: an agent with its key, people with their tokens or sessions, and strangers to all of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.test import Client

from approvals import access
from approvals.clock import now
from approvals.models import Agent, Person, ToolCall
from approvals.models.actors import SYSTEM

API = "/api/v1"


@dataclass
class Answer:
    """An answer and its body; `problem` is its code."""

    status: int
    body: Any
    headers: dict[str, str]
    text: str

    @property
    def problem(self) -> str:
        assert self.headers["content-type"] == "application/problem+json", (self.status, self.body)
        assert {"type", "title", "status", "detail", "code"} <= self.body.keys()
        assert self.body["status"] == self.status
        return str(self.body["code"])


@dataclass
class Caller:
    """A program that calls with one proof of who it is, or none."""

    headers: dict[str, str] = field(default_factory=dict)
    client: Client = field(default_factory=lambda: Client(raise_request_exception=False))

    def get(self, path: str, query: dict[str, Any] | None = None, **headers: str) -> Answer:
        return self._answer(self.client.get(self._at(path), query or {}, headers={**self.headers, **_spelt(headers)}))

    def post(self, path: str, body: Any = None, **headers: str) -> Answer:
        """`body` is sent as it is when it is bytes or text, else as JSON."""
        raw = body if isinstance(body, bytes | str) else b"" if body is None else json.dumps(body)
        return self._answer(
            self.client.post(self._at(path), raw, content_type="application/json", headers={**self.headers, **_spelt(headers)})
        )

    def _at(self, path: str) -> str:
        return path if path.startswith(("/api", "http")) else f"{API}/{path}"

    def _answer(self, response: Any) -> Answer:
        headers = {name.lower(): value for name, value in response.headers.items()}
        text = response.content.decode()
        body = json.loads(text) if text and "json" in headers.get("content-type", "") else text
        return Answer(response.status_code, body, headers, text)


def _spelt(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


def bearer(secret: str) -> Caller:
    return Caller({"Authorization": f"Bearer {secret}"})


def key_of(agent: Agent) -> str:
    return access.issue_agent_key(agent=agent, actor=SYSTEM, at=now())[1]


def token_of(person: Person) -> str:
    return access.issue_personal_token(person=person, actor=SYSTEM, at=now())[1]


@pytest.fixture
def as_agent(agent: Agent) -> Caller:
    return bearer(key_of(agent))


@pytest.fixture
def as_other_agent(other_agent: Agent) -> Caller:
    return bearer(key_of(other_agent))


@pytest.fixture
def as_person(reviewer: Person) -> Caller:
    """The reviewer's program."""
    return bearer(token_of(reviewer))


@pytest.fixture
def as_second_person(second_reviewer: Person) -> Caller:
    return bearer(token_of(second_reviewer))


@pytest.fixture
def as_auditor(auditor: Person) -> Caller:
    return bearer(token_of(auditor))


@pytest.fixture
def as_administrator(administrator: Person) -> Caller:
    return bearer(token_of(administrator))


@pytest.fixture
def as_stranger(person_maker: Callable[..., Person]) -> Caller:
    """A reviewer of a group that reviews nothing here."""
    return bearer(token_of(person_maker("stranger", "strangers")))


@pytest.fixture
def as_nobody() -> Caller:
    return Caller()


@pytest.fixture
def shown() -> Callable[[ToolCall], str]:
    """The digest of what a reviewer is shown of a call now."""

    def digest(call: ToolCall) -> str:
        call.refresh_from_db()
        return call.resolution.digest if call.resolution else ""

    return digest
