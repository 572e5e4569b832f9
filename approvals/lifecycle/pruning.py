"""Retention: what a settled call was about goes; that it was, who decided it and when stay, and its chain stays whole."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from approvals.audit.verification import decision_digest, resolution_digest
from approvals.lifecycle.moving import lock, move, verb
from approvals.lifecycle.transitions import NotPossible
from approvals.models import SETTLED, Decision, EventKind, Execution, Interrupt, Resolution, Status, ToolCall
from approvals.models.actors import Actor
from approvals.rendering import sha256

# Every column that holds text from an agent, a tool or a person, with what stands there afterwards.
EMPTIED: dict[type[Any], dict[str, str]] = {
    ToolCall: {
        "submitted": "", "context": "{}", "metadata": "{}", "agent_reasoning": "", "on_behalf_of": "", "result": "",
    },
    Resolution: {"input": "", "resolved": "", "types": "{}", "refusal": "", "headline": ""},
    Decision: {"reason": "", "edited_arguments": "", "response": ""},
    Interrupt: {"message": "", "data": "null", "data_types": "{}", "answer": ""},
    Execution: {"exception": "", "why": "", "finding": ""},
}  # fmt: skip


@verb
def prune(*, call_id: UUID, actor: Actor, at: datetime) -> ToolCall:
    """Removes the payloads of a settled call, and records the digests of what is left in their place.

    A repeat is harmless. Raises NotPossible: `unknown_call`, `wrong_status`.
    """
    call = lock(call_id)
    if call.pruned_at is not None:
        return call
    if call.status not in SETTLED:
        raise NotPossible("wrong_status", f"Only a settled call can lose its payloads; it is {call.status}.", call)
    for kind in (Resolution, Decision, Interrupt, Execution):
        kind._default_manager.filter(call=call).update(**EMPTIED[kind])
    facts: dict[str, Any] = {"submitted": sha256("")}
    for name in ("resolution", "effective"):
        if (row := Resolution.objects.filter(pk=getattr(call, f"{name}_id")).first()) is not None:
            facts[name] = resolution_digest(row)
    facts["decisions"] = {str(one.pk): decision_digest(one) for one in Decision.objects.filter(call=call)}
    answered = Interrupt.objects.filter(call=call, answered_at__isnull=False)
    facts["answers"] = {str(one.pk): sha256("") for one in answered}
    return move(
        call, Status(call.status), verb=None, kind=EventKind.PRUNED, actor=actor, at=at, facts=facts,
        pruned_at=at, **EMPTIED[ToolCall],
    )  # fmt: skip
