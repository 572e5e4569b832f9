"""What several processes tell of one deployment: the same numbers, whichever is asked, also of what each did by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.metrics.conftest import Samples, key, samples
from tests.running.production import Production
from tests.servers import until

TOKEN = "an-invented-token-of-monitoring"
SETTINGS = {
    "TOOLGATE_TOOLS": "tests.running.counted",
    "TOOLGATE_METRICS_TOKEN_FILE": "token",
    "TOOLGATE_VERIFY_SECONDS": "2",
}
CALLS = 12
pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def deployment() -> Iterator[Production]:
    production = Production()
    token = production.folder / "token"
    token.write_text(f"{TOKEN}\n")
    production.settings = SETTINGS | {"TOOLGATE_METRICS_TOKEN_FILE": str(token)}
    try:
        production.start("web", "waiting", "worker", "beat")
        yield production
    finally:
        production.end()


def read(production: Production, port: int = 0) -> Samples:
    url = f"http://127.0.0.1:{port or production.port}/metrics"
    answer = httpx2.get(url, headers={"Authorization": f"Bearer {TOKEN}", "Host": "10.1.2.3"}, timeout=30)
    assert answer.status_code == 200, answer.text
    return samples(answer.text)


SUCCEEDED = key("settled_calls_total", tool="count_at_once", status="succeeded", outcome="allow")


def settled(production: Production) -> float:
    return read(production).get(SUCCEEDED, 0)


def submit(production: Production, first: int) -> None:
    headers = {"Authorization": f"Bearer {production.credentials['agent_key']}"}
    with httpx2.Client(base_url=f"{production.url}/api/v1", headers=headers, timeout=70) as http:
        for number in range(first, first + CALLS):
            body: dict[str, Any] = {"tool": "count_at_once", "tool_call_id": f"call {number}", "arguments": {"number": number}}
            assert http.post("/tool-calls", json=body).status_code == 201


def test_numbers_are_the_same_and_right_in_every_process(deployment: Production) -> None:
    before = settled(deployment)

    started, ran = (key(f"{what}_seconds_count", tool="count_at_once") for what in ("start", "run"))

    def is_told(port: int = 0) -> bool:
        found = read(deployment, port)  # of any process there, and each may show what it found 3 seconds ago
        told = {found.get(name) for name in (SUCCEEDED, started, ran)} == {before + CALLS}
        return told and found.get(key("hints_total", delivery="sent"), 0) >= CALLS

    submit(deployment, 0)
    until(is_told, lambda: f"{read(deployment)} {deployment.log[-3000:]}")
    until(lambda: is_told(deployment.waiting_port), lambda: str(read(deployment, deployment.waiting_port)))
    assert read(deployment)[key("last_sweep_age_seconds")] < 60


def test_clock_verifies_the_trail_every_so_often(deployment: Production) -> None:
    def verified_at() -> float:
        return read(deployment).get(key("trail_verified_timestamp_seconds"), 0.0)

    until(lambda: verified_at() > 0, lambda: deployment.log[-3000:])
    assert read(deployment)[key("trail_broken_chains")] == 0
    before = verified_at()
    until(lambda: verified_at() > before, lambda: deployment.log[-3000:])


def test_hints_that_could_not_be_sent_are_counted(deployment: Production) -> None:
    failed = key("hints_total", delivery="failed")
    assert read(deployment).get(failed, 0) == 0
    before = settled(deployment)
    deployment.redis.kill()
    submit(deployment, 1000)
    until(lambda: read(deployment).get(failed, 0) >= 1, lambda: f"{read(deployment)} {deployment.log[-3000:]}")
    deployment.redis.start()
    until(lambda: settled(deployment) == before + CALLS, lambda: deployment.log[-3000:])
