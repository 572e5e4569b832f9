"""The page of one call, and what its forms do: decide, answer the tool's question, say what happened."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from approvals import lifecycle
from approvals.clock import now
from approvals.lifecycle import NotPossible
from approvals.models import DecisionKind, Interrupt, Status, ToolCall
from approvals.review import lists
from approvals.review.call_page import CallPage, call_page
from approvals.review.door import deciding, find, person_of, reading, reviewer_of
from approvals.review.forms import PRESETS, SETTLEMENTS, AnswerForm, Typed
from approvals.review.presentation import STATUS
from toolgate.tools.parsers import schema_problems

MISTAKES = frozenset({"reason_missing", "response_missing", "answer_refused"})  # said of what was typed, not of the call


@reading
def call(request: HttpRequest, call_id: UUID) -> HttpResponse:
    found = find(request, call_id)
    if lifecycle.may_act(found, person_of(request)):
        lifecycle.see(call_id=call_id, reviewer=reviewer_of(request), at=now())
        found = find(request, call_id)
    return show(request, found)


def show(request: HttpRequest, found: ToolCall, status: int = 200, **more: Any) -> HttpResponse:
    """The page of a call; `problem` and `typed` say what was tried and did not happen."""
    page = call_page(found, person_of(request))
    context = {
        "page": page,
        "call": found,
        "presets": PRESETS,
        "typed": Typed(),
        "waiting": lists.waiting_for(page.person).exclude(pk=found.pk).count(),
        "answer_form": AnswerForm(page.asked.response_schema) if page.asked else None,
        **more,
    }
    return render(request, "review/call.html", context, status=status)


@deciding
def decide(request: HttpRequest, call_id: UUID) -> HttpResponse:
    found, typed = find(request, call_id), Typed.of(request.POST)
    if typed.kind not in DecisionKind.values or typed.kind == DecisionKind.EDIT:
        return show(request, found, 422, problem="Press one of the buttons to decide.", typed=typed)
    page = call_page(found, person_of(request))
    if typed.kind == DecisionKind.APPROVE and DecisionKind.APPROVE in page.kinds and typed.digest == _digest(found):
        if typed.preset in PRESETS:
            problem = (
                f"You chose a reason that speaks against it: “{typed.preset}” Take it away to approve, or send the call back."
            )
            return show(request, found, 422, problem=problem, typed=typed)
        if page.long_names and not typed.has_read:
            problem = "Read the long values to their end first, and tick that you did."
            return show(request, found, 422, problem=problem, typed=typed)
        if page.needs_second_step and not typed.has_confirmed:
            return render(request, "review/confirm.html", {"page": page, "call": found, "typed": typed})
    return after(request, found, lambda: _decide(request, call_id, typed), typed)


def _digest(found: ToolCall) -> str:
    return found.resolution.digest if found.resolution else ""


def _decide(request: HttpRequest, call_id: UUID, typed: Typed) -> ToolCall:
    return lifecycle.decide(
        call_id=call_id,
        reviewer=reviewer_of(request),
        kind=DecisionKind(typed.kind),
        digest=typed.digest,
        reason=typed.reason,
        response=typed.response if typed.kind == DecisionKind.RESPOND else "",
        at=now(),
    )


def after(request: HttpRequest, found: ToolCall, act: Callable[[], ToolCall], typed: Typed, **more: Any) -> HttpResponse:
    """Does it and goes on to the next call; or shows this one as it is now, with what was typed and why it could not be."""
    try:
        done = act()
    except NotPossible as error:
        status = 422 if error.code in MISTAKES else 409
        return show(request, find(request, found.pk), status, problem=error.detail, typed=typed, **more)
    return on_to_the_next(request, done)


def on_to_the_next(request: HttpRequest, done: ToolCall) -> HttpResponse:
    look = STATUS[done.status]
    messages.success(request, f"{done.headline}: {look.label.lower()}{_votes(done)}.", extra_tags=look.tone)
    following = lists.waiting_for(person_of(request)).exclude(pk=done.pk).by_urgency().values_list("pk", flat=True).first()
    return redirect("review:call", following) if following else redirect("review:inbox")


def _votes(done: ToolCall) -> str:
    if done.status != Status.PENDING:
        return ""
    given = ToolCall.objects.with_everything().get(pk=done.pk).votes()
    return f", {len(given)} of {done.approvals_required} approvals given"


@deciding
def answer(request: HttpRequest, call_id: UUID, interrupt_id: UUID) -> HttpResponse:
    found, typed = find(request, call_id), Typed.of(request.POST)
    asked = next((one for one in found.interrupts.all() if one.pk == interrupt_id), None)
    if asked is None:
        raise Http404
    form = AnswerForm(asked.response_schema, request.POST)
    if typed.kind == DecisionKind.REJECT:
        return after(request, found, lambda: _decide(request, call_id, typed), typed, answer_form=form)
    if not form.is_valid():
        return show(request, found, 422, answer_form=form, typed=typed, problem="The answer is not complete yet.")

    def act() -> ToolCall:
        _require_usable(asked, found)
        reviewer, value = reviewer_of(request), form.answer()
        return lifecycle.answer_interrupt(call_id=call_id, interrupt_id=interrupt_id, reviewer=reviewer, answer=value, at=now())

    return after(request, found, act, typed, answer_form=form)


def _require_usable(asked: Interrupt, found: ToolCall) -> None:
    """A tool may ask with a schema that is none: then no answer can be checked, and the person is told what to do."""
    try:
        schema_problems(asked.response_schema or {}, None)
    except ValueError as error:
        detail = f"The tool asks for an answer in a form that cannot be checked ({error}). Reject the call and fix the tool."
        raise NotPossible("answer_refused", detail, found) from error


@deciding
def settle(request: HttpRequest, call_id: UUID) -> HttpResponse:
    found, typed = find(request, call_id), Typed.of(request.POST)
    if typed.outcome not in SETTLEMENTS:
        return show(request, found, 422, typed=typed, problem="Say what happened: press one of the three buttons.")
    if _is_settled_so(call_page(found, person_of(request)), typed):
        return on_to_the_next(request, found)

    def act() -> ToolCall:
        reviewer, outcome, reason = reviewer_of(request), typed.outcome, typed.own_words
        return lifecycle.settle(call_id=call_id, reviewer=reviewer, outcome=outcome, reason=reason, at=now())

    return after(request, found, act, typed)


def _is_settled_so(page: CallPage, typed: Typed) -> bool:
    """The second press of the same button: the last word on this call was this person's, and the same."""
    words = [one for one in page.timeline if one.data.get("outcome")]
    last = words[-1] if words else None
    is_theirs = last is not None and last.event.actor_id == str(page.person.pk) and last.data["outcome"] == typed.outcome
    return is_theirs and page.call.status != Status.OUTCOME_UNKNOWN
