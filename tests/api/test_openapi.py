"""The OpenAPI file: it is what the code makes, and answers are what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml
from django.core.management import call_command
from django.test import Client

from approvals.api import urls
from approvals.models import DecisionKind, Status
from tests.api.conftest import Answer, Caller
from tests.calls import CallMaker, register

pytestmark = pytest.mark.django_db

FILE = Path(__file__).resolve().parents[2] / "docs" / "openapi.yaml"


@pytest.fixture(scope="module")
def document() -> Any:
    return yaml.safe_load(FILE.read_text())


def test_is_what_the_code_makes(tmp_path: Path) -> None:
    made = tmp_path / "openapi.yaml"
    call_command("spectacular", "--file", str(made), "--validate", "--fail-on-warn")
    assert made.read_text() == FILE.read_text(), "run: python manage.py spectacular --file docs/openapi.yaml"


def test_names_every_address(document: Any) -> None:
    names = re.compile(r"<[a-z]+:([a-z_]+)>")
    served = {"/api/v1/" + names.sub(r"{\1}", str(entry.pattern)) for entry in urls.urlpatterns}
    assert served == set(document["paths"])
    assert document["openapi"] == "3.1.0"


def test_types_every_answer_and_problem(document: Any) -> None:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            responses = operation["responses"]
            good = next(responses[code] for code in ("200", "201") if code in responses)
            assert "$ref" in good["content"]["application/json"]["schema"], (path, method)
            for code in ("401", "403", "404", "422", "503"):
                told = responses[code]["content"]["application/problem+json"]["schema"]
                assert told == {"$ref": "#/components/schemas/ProblemShape"}


def closed(schema: Any) -> Any:
    """The same schema that takes no member it does not name."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    more = {"additionalProperties": False} if "properties" in schema else {}
    return {**{key: closed(value) for key, value in schema.items()}, **more}


@pytest.fixture
def fits(document: Any) -> Any:
    def check(answered: Answer, path: str, method: str = "get") -> None:
        response = document["paths"][f"/api/v1/{path}"][method]["responses"][str(answered.status)]
        content = response["content"]["application/problem+json" if answered.status >= 400 else "application/json"]
        schema = {**content["schema"], "components": closed(document["components"])}
        jsonschema_rs.validate(schema, answered.body, validate_formats=True)

    return check


@pytest.mark.parametrize("status", list(Status))
def test_tells_how_a_call_reads(status: Status, fits: Any, make_call: CallMaker, as_agent: Caller, as_person: Caller) -> None:
    call = make_call(status, run_id="r", context={"a": 1}, on_behalf_of="grace")
    for caller in (as_agent, as_person):
        fits(caller.get(f"tool-calls/{call.pk}"), "tool-calls/{call_id}")
        fits(caller.get("tool-calls"), "tool-calls")
    fits(as_agent.get("runs/r"), "runs/{run_id}")
    fits(as_person.get("inbox"), "inbox")
    fits(as_person.get("audit-events"), "audit-events")


def test_tells_how_everything_else_reads(
    fits: Any, make_call: CallMaker, as_agent: Caller, as_person: Caller, as_auditor: Caller
) -> None:
    register(make_call.tools, "denied", deny=True, parameters_schema={"type": "object"})
    call = make_call()
    fits(as_agent.get("tools"), "tools")
    fits(as_agent.post("tools/denied/parse", {}), "tools/{tool}/parse", "post")
    fits(as_agent.post("tool-calls", {"tool": "denied", "tool_call_id": "1"}), "tool-calls", "post")
    batch = {"calls": [{"tool": "denied", "tool_call_id": "2"}, {}]}
    fits(as_agent.post("tool-calls/batch", batch), "tool-calls/batch", "post")
    fits(as_agent.post("tool-calls", {}), "tool-calls", "post")
    preview = as_person.post(f"tool-calls/{call.pk}/preview", {"edited_arguments": {"n": 1}})
    fits(preview, "tool-calls/{call_id}/preview", "post")
    stale = as_person.post(f"tool-calls/{call.pk}/decisions", {"kind": "approve", "digest": "x"})
    fits(stale, "tool-calls/{call_id}/decisions", "post")
    edit = {"kind": "edit", "digest": call.resolution.digest if call.resolution else "", "edited_arguments": {"n": 1}}
    edited = as_person.post(f"tool-calls/{call.pk}/decisions", edit)
    fits(edited, "tool-calls/{call_id}/decisions", "post")
    fits(as_person.post("decisions/batch", {"decisions": [{}]}), "decisions/batch", "post")
    fits(as_auditor.get("audit-events/verification"), "audit-events/verification")
    make_call.decide(call, DecisionKind.REJECT)
    fits(as_agent.post(f"tool-calls/{call.pk}/cancel"), "tool-calls/{call_id}/cancel", "post")


def test_is_served_and_can_be_browsed_without_inline_script() -> None:
    client = Client()
    schema = client.get("/api/schema")
    assert schema.status_code == 200
    assert yaml.safe_load(schema.content)["info"]["title"] == "toolgate"
    page = client.get("/api/docs")
    assert page.status_code == 200
    text = page.content.decode()
    scripts = re.findall(r"<script([^>]*)>([^<]*)</script>", text)
    assert scripts
    assert all("src=" in attributes and not inside.strip() for attributes, inside in scripts)
    assert "http" not in "".join(re.findall(r'(?:src|href)="([^"]+)"', text))
    script = client.get("/api/docs", {"script": ""})
    assert script.headers["content-type"].startswith("application/javascript")
