"""Retention: what a call was about is gone from every table, its chain stays whole, and nothing else may be missing."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.test import Client

from approvals import lifecycle
from approvals.audit import verify_chain
from approvals.clock import now
from approvals.lifecycle import NotPossible
from approvals.models import SETTLED, Agent, AuditEvent, Decision, DecisionKind, EventKind, Execution, Status, ToolCall
from approvals.models.actors import SYSTEM
from tests.api.conftest import Caller, bearer, key_of, token_of
from tests.calls import WORKER, CallMaker, finish, register
from tests.review.browser import visit
from toolgate import Interrupt, Ok

pytestmark = pytest.mark.django_db
WORD = "payload-Wk4Tz9"


def told(make: CallMaker, status: Status) -> ToolCall:
    """A call in this status whose every text holds the word."""
    tool = register(make.tools, "telling", parse_args=lambda arguments: arguments | {"looked_up": WORD}, headline="Do {text}")
    sent: dict[str, Any] = {
        "arguments": {"text": WORD}, "context": {"text": WORD}, "metadata": {"text": WORD}, "agent_reasoning": WORD,
        "on_behalf_of": f"{WORD}@example.org",
    }  # fmt: skip
    words = {"reason": WORD}
    if status == Status.INVALID:
        return make.submit("nowhere", **sent)
    if status == Status.DENIED:
        return make.submit(register(make.tools, "denied", deny=True), **sent)
    call = make.submit(tool, **sent)
    kinds = {
        Status.REJECTED: DecisionKind.REJECT,
        Status.CHANGES_REQUESTED: DecisionKind.REQUEST_CHANGES,
    }
    if status in kinds:
        return make.decide(call, kinds[status], **words)
    if status == Status.CANCELLED:
        return lifecycle.cancel(call_id=call.pk, agent=make.agent, at=now())
    if status == Status.EXPIRED:
        return lifecycle.expire(call_id=call.pk, at=now() + timedelta(days=400))
    call = make.decide(call, DecisionKind.EDIT, edited_arguments=f'{{"text": "edited {WORD}"}}', **words)
    call = claimed(make.decide(call, DecisionKind.APPROVE, **words))
    call = finish(call, Status.INTERRUPTED, Interrupt(WORD, {"text": WORD}))
    asked = call.interrupts.get()
    call = lifecycle.answer_interrupt(call_id=call.pk, interrupt_id=asked.pk, reviewer=make.reviewer, answer=WORD, at=now())
    call = claimed(call)
    if status == Status.SUCCEEDED:
        return finish(call, status, Ok(WORD))
    assert call.lease
    lost = lifecycle.lose(call_id=call.pk, lease=call.lease, why=WORD, at=now() + timedelta(hours=1))
    return lifecycle.settle(call_id=lost.pk, reviewer=make.reviewer, outcome="failed", reason=WORD, at=now())


def claimed(call: ToolCall) -> ToolCall:
    return lifecycle.claim(call_id=call.pk, worker=WORKER, at=now())


def rows_with_the_word() -> list[str]:
    """Every row of every table of ours in which the word stands."""
    return [
        f"{model.__name__}: {row}"
        for model in apps.get_app_config("approvals").get_models()
        for row in model._default_manager.values()
        if WORD in str(row)
    ]


@pytest.mark.parametrize("status", sorted(SETTLED))
def test_what_it_was_about_is_gone_and_its_chain_is_whole(
    status: Status, make_call: CallMaker, agent: Agent, ada: Client, as_ada: Caller
) -> None:
    call = told(make_call, Status(status))
    assert call.status == status
    assert rows_with_the_word()
    decisions = list(Decision.objects.filter(call=call).values("pk", "kind", "person_name", "digest", "counts"))
    pruned = lifecycle.prune(call_id=call.pk, actor=SYSTEM, at=now())
    assert rows_with_the_word() == []
    assert verify_chain(str(call.pk)).is_whole
    assert list(Decision.objects.filter(call=call).values("pk", "kind", "person_name", "digest", "counts")) == decisions
    assert (pruned.status, pruned.settled_at) == (call.status, call.settled_at)
    assert AuditEvent.objects.filter(chain=str(call.pk), kind=EventKind.PRUNED).count() == 1
    lifecycle.prune(call_id=call.pk, actor=SYSTEM, at=now())
    assert ToolCall.objects.get(pk=call.pk).version == pruned.version
    for caller in (as_ada, bearer(key_of(agent))):
        read = caller.get(f"tool-calls/{call.pk}").body
        assert (read["status"], read["result"]) == (status, None)
        assert read["arguments"] == {"submitted": None, "resolved": None, "effective": None}
        assert read["pruned_at"]
    for address in (f"/calls/{call.pk}", f"/calls/{call.pk}/trail", "/history"):
        page = visit(ada, address)
        assert page.status == 200
        assert WORD not in page.source
    assert "Retention removed what this call was about" in visit(ada, f"/calls/{call.pk}").text


@pytest.fixture
def ada(make_call: CallMaker, client: Client) -> Client:
    client.force_login(make_call.reviewer.person)
    return client


@pytest.fixture
def as_ada(make_call: CallMaker) -> Caller:
    return bearer(token_of(make_call.reviewer.person))


@pytest.mark.parametrize("status", sorted(set(Status) - SETTLED))
def test_what_is_not_settled_keeps_everything(status: Status, make_call: CallMaker) -> None:
    call = make_call(Status(status))
    before = ToolCall.objects.values().get(pk=call.pk)
    with pytest.raises(NotPossible) as refused:
        lifecycle.prune(call_id=call.pk, actor=SYSTEM, at=now())
    assert refused.value.code == "wrong_status"
    assert ToolCall.objects.values().get(pk=call.pk) == before


@pytest.mark.parametrize("is_pruned", [True, False])
@pytest.mark.parametrize("text", ["", "other words"])
@pytest.mark.parametrize(
    ("model", "column"), [(ToolCall, "submitted"), (ToolCall, "result"), (Decision, "reason"), (Execution, "finding")]
)
def test_payload_that_somebody_else_took_or_changed_is_named(
    model: Any, column: str, text: str, is_pruned: bool, make_call: CallMaker
) -> None:
    call = told(make_call, Status.FAILED)
    if is_pruned:
        lifecycle.prune(call_id=call.pk, actor=SYSTEM, at=now())
    rows = model.objects.filter(**({"pk": call.pk} if model is ToolCall else {"call": call})).order_by("pk")
    row = rows.last()
    rows.filter(pk=row.pk).update(**{column: text})
    assert verify_chain(str(call.pk)).is_whole == (is_pruned and not text)


def test_run_of_it_is_read_without_results(make_call: CallMaker, agent: Agent) -> None:
    call = make_call(Status.SUCCEEDED, run_id="a run")
    lifecycle.prune(call_id=call.pk, actor=SYSTEM, at=now())
    read = bearer(key_of(agent)).get("runs/a run").body
    assert (read["settled"], read["tool_results"]) == (True, [None])


def test_repeated_submit_finds_the_call_it_was(make_call: CallMaker) -> None:
    sent = {"tool_call_id": "the same", "arguments": {"n": 1}}
    tool = register(make_call.tools, "quick", require_approval=False)
    call = make_call.submit(tool, **sent)
    lifecycle.cancel(call_id=call.pk, agent=make_call.agent, at=now())
    lifecycle.prune(call_id=call.pk, actor=SYSTEM, at=now())
    assert make_call.submit(tool, **sent).pk == call.pk
    with pytest.raises(NotPossible) as refused:
        make_call.submit(tool, tool_call_id="the same", arguments={"n": 2})
    assert refused.value.code == "submission_conflict"


def test_command_prunes_what_is_old_enough(make_call: CallMaker, capsys: pytest.CaptureFixture[str]) -> None:
    old, new, waiting = make_call(Status.REJECTED), make_call(Status.REJECTED), make_call()
    ToolCall.objects.filter(pk=old.pk).update(settled_at=now() - timedelta(days=91))
    call_command("prune", older_than=90, dry_run=True)
    assert capsys.readouterr().out == "1 calls would lose their payloads.\n"
    assert not ToolCall.objects.filter(pruned_at__isnull=False).exists()
    for expected in (1, 0):
        call_command("prune", older_than=90)
        assert capsys.readouterr().out == f"{expected} calls lost their payloads.\n"
    assert [call.pk for call in ToolCall.objects.filter(pruned_at__isnull=False)] == [old.pk]
    assert {new.pk, waiting.pk} <= set(ToolCall.objects.exclude(submitted="").values_list("pk", flat=True))
    with pytest.raises(CommandError, match="Say from how many days on"):
        call_command("prune")
