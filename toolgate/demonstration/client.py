"""The stories' view of the gate: plain HTTP as an agent and as reviewers, and how to expect something of it."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from typing import Any

import httpx2

Call = dict[str, Any]


class NotAsPromised(Exception):
    """Something that the gate promises did not come true."""


def expect(truth: bool, promise: str) -> None:
    if not truth:
        raise NotAsPromised(promise)


@dataclass
class Gate:
    """One caller's connection. `run` gives calls of one story a run of their own."""

    http: httpx2.Client

    @classmethod
    def at(cls, url: str, secret: str) -> Gate:
        headers = {"Authorization": f"Bearer {secret}"}
        return cls(httpx2.Client(base_url=f"{url}/api/v1", headers=headers, timeout=70))

    def ask(self, method: str, path: str, expected: int = 200, **request: Any) -> Any:
        answer = self.http.request(method, path, **request)
        expect(answer.status_code == expected, f"{method} {path} answers {expected}, not {answer.status_code}: {answer.text}")
        return answer.json()

    def submit(self, tool: str, arguments: dict[str, Any], **more: Any) -> Call:
        body = {"tool": tool, "tool_call_id": f"call_{secrets.token_hex(6)}", "arguments": arguments, **more}
        call: Call = self.ask("POST", "/tool-calls", 201, json=body)
        return call

    def read(self, call: Call, **query: Any) -> Call:
        found: Call = self.ask("GET", f"/tool-calls/{call['id']}", params=query)
        return found

    def settled(self, call: Call) -> Call:
        return self.read(call, wait=30)

    def until(self, call: Call, *statuses: str, seconds: float = 30) -> Call:
        """The call once it has one of these statuses."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = self.read(call)
            if found["status"] in statuses:
                return found
            time.sleep(0.1)
        raise NotAsPromised(f"the call becomes {' or '.join(statuses)}; it is {found['status']}")

    def decide(self, call: Call, kind: str, expected: int = 200, **answer: Any) -> Call:
        body = {"kind": kind, "digest": self.read(call)["digest"], **answer}
        decided: Call = self.ask("POST", f"/tool-calls/{call['id']}/decisions", expected, json=body)
        return decided


def text_of(call: Call) -> str:
    return "\n".join(part["content"] or "" for part in call["result"]["content"])
