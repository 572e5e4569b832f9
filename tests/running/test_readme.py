"""What the README tells to type works as it stands there."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2

from tests.running.server import Serving

Serve = Callable[..., Serving]
ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def block(heading: str, language: str) -> str:
    """The first block of code below a heading."""
    part = README.split(f"## {heading}\n")[1]
    found = re.search(rf"```{language}\n(.*?)```", part, re.DOTALL)
    assert found, heading
    return found[1]


def at(serving: Serving, code: str) -> str:
    """The same for this server and its agent's key."""
    key = serving.credentials["agent_key"]
    return code.replace("http://127.0.0.1:8000", serving.url).replace("tg_agent_…", key)


def person(serving: Serving, token: str) -> httpx2.Client:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx2.Client(base_url=f"{serving.url}/api/v1", headers=headers, timeout=70)


def approve_what_comes(serving: Serving, tool: str) -> threading.Thread:
    """A reviewer who approves the first call of this tool that was not there before."""

    def approve() -> None:
        with person(serving, serving.credentials["people"]["ada"]["token"]) as http:
            end = time.monotonic() + 60
            while time.monotonic() < end:
                new = [call for call in http.get("/inbox", params={"tool": tool}).json()["results"] if call["id"] not in there]
                if new:
                    decision = {"kind": "approve", "digest": new[0]["digest"]}
                    http.post(f"/tool-calls/{new[0]['id']}/decisions", json=decision)
                    return
                time.sleep(0.1)

    with person(serving, serving.credentials["people"]["ada"]["token"]) as http:
        there = {call["id"] for call in http.get("/inbox", params={"tool": tool}).json()["results"]}
    reviewer = threading.Thread(target=approve)
    reviewer.start()
    return reviewer


def test_agent_in_curl(serve: Serve) -> None:
    serving = serve()
    code = at(serving, block("An agent in ten lines of curl", "bash"))
    assert len(code.strip().splitlines()) <= 10
    reviewer = approve_what_comes(serving, "refund_order")
    told = subprocess.run([shutil.which("bash") or "bash", "-c", code], capture_output=True, text=True, timeout=120, check=True)
    reviewer.join()
    assert '"status":"succeeded"' in told.stdout
    assert "Refunded" in told.stdout


def test_agent_in_python(serve: Serve) -> None:
    serving = serve()
    code = at(serving, block("And in Python", "python"))
    reviewer = approve_what_comes(serving, "refund_order")
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    reviewer.join()
    assert told.stdout.startswith(
        "{'type': 'tool_result', 'tool_use_id': 'call_2', 'content': [{'type': 'text', 'text': 'Refunded"
    )


def approve_in_the_browser_s_way(serving: Serving, name: str, call: dict[str, Any]) -> None:
    """Signed in, with the session's cookies: the inbox shows the call, and its digest is approved."""
    with httpx2.Client(base_url=serving.url, headers={"Referer": serving.url}, follow_redirects=True, timeout=70) as http:
        form = http.get("/login")
        csrf = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form.text)
        assert csrf, form.text
        sent = {"csrfmiddlewaretoken": csrf[1], "username": name, "password": "a long enough word"}
        assert call["headline"] in http.post("/login", data=sent).text
        decision = {"kind": "approve", "digest": call["digest"]}
        headers = {"X-CSRFToken": http.cookies["csrftoken"]}
        answer = http.post(f"/api/v1/tool-calls/{call['id']}/decisions", json=decision, headers=headers)
        assert answer.status_code == 200, answer.text


def test_gated_function_of_one_s_own(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "my_tools.py").write_text(block("A gated function of your own", "python"))
    serving = serve(TOOLGATE_TOOLS="my_tools", PYTHONPATH=f"{tmp_path}:{Path.cwd()}")
    made = serving.run("person", "mary", "--group", "finance", input="a long enough word\n")
    assert made.returncode == 0, made.stderr
    sent = {"tool": "pay", "tool_call_id": "call_1", "arguments": {"payee": "Ada", "amount": "12.50"}}
    with httpx2.Client(base_url=f"{serving.url}/api/v1", timeout=70) as http:
        headers = {"Authorization": f"Bearer {serving.credentials['agent_key']}"}
        call: dict[str, Any] = http.post("/tool-calls", json=sent, headers=headers).json()
        assert (call["status"], call["headline"]) == ("pending", "Pay 12.50 to Ada")
        decision = {"kind": "approve", "digest": call["digest"]}
        token = serving.credentials["people"]["ada"]["token"]
        outside = http.post(f"/tool-calls/{call['id']}/decisions", json=decision, headers={"Authorization": f"Bearer {token}"})
        assert outside.status_code == 404  # not of the group finance
        approve_in_the_browser_s_way(serving, "mary", call)
        done = http.get(f"/tool-calls/{call['id']}", params={"wait": 60}, headers=headers).json()
    assert (done["status"], done["result"]["content"][0]["content"]) == ("succeeded", "Paid 12.50 to Ada.")


def test_tool_with_a_parser_a_predicate_a_group_and_a_secret(serve: Serve, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "tools.md").read_text()
    (tmp_path / "invoices.py").write_text(page.split("```python\n")[1].split("```")[0])
    serving = serve(TOOLGATE_TOOLS="invoices", PYTHONPATH=f"{tmp_path}:{Path.cwd()}")
    assert "pay_invoice waits for people of 'finance'" in serving.log
    made = serving.run("person", "mary", "--group", "finance", input="a long enough word\n")
    assert made.returncode == 0, made.stderr
    headers = {"Authorization": f"Bearer {serving.credentials['agent_key']}"}
    with httpx2.Client(base_url=f"{serving.url}/api/v1", headers=headers, timeout=70) as http:

        def submit(**arguments: str) -> dict[str, Any]:
            sent = {"tool": "pay_invoice", "tool_call_id": str(arguments), "arguments": arguments}
            call: dict[str, Any] = http.post("/tool-calls", json=sent).json()
            return call

        def text(call: dict[str, Any]) -> str:
            done = http.get(f"/tool-calls/{call['id']}", params={"wait": 60}).json()
            return str(done["result"]["content"][0]["content"])

        assert text(submit(invoice="I-3", access_code="s3cret")) == "There is no invoice I-3."
        assert "access_code is missing" in text(submit(invoice="I-1"))
        assert text(submit(invoice="I-1", access_code="s3cret")) == "Paid 40.00 EUR to Ada."
        call = submit(invoice="I-2", access_code="s3cret")
        assert (call["status"], call["headline"]) == ("pending", "Pay 950.00 EUR to Grace for invoice I-2")
        assert "s3cret" not in str(call["arguments"]["resolved"])
        approve_in_the_browser_s_way(serving, "mary", call)
        assert text(call) == "Paid 950.00 EUR to Grace."
    assert "s3cret" not in serving.log
