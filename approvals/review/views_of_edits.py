"""Editing the arguments of a call: type, see what it would mean, and only then propose or approve exactly that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from approvals import lifecycle
from approvals.clock import now
from approvals.lifecycle import NotPossible
from approvals.masking import with_secrets, without_secrets
from approvals.models import DecisionKind, Outcome, Status, ToolCall
from approvals.policies import Verdict
from approvals.rendering import masked, read
from approvals.resolution import Resolved
from approvals.review.call_page import CallPage, call_page
from approvals.review.differences import Difference, differences
from approvals.review.door import find, person_of, reviewer_of, writing
from approvals.review.forms import PRESETS, Typed
from approvals.review.values import Node, nodes_of, pretty
from approvals.review.views_of_calls import on_to_the_next, show
from approvals.review.visible import in_json
from toolgate.tools.canonical import canonical
from toolgate.tools.json_text import JSONTextError, read_json
from toolgate.tools.tool_call import ArgumentsError


@dataclass(frozen=True, slots=True)
class Preview:
    """What edited arguments would mean, and what the policy says of it."""

    page: CallPage
    resolved: Resolved
    verdict: Verdict | None

    @property
    def nodes(self) -> list[Node]:
        rendered = self.resolved.rendered
        types = canonical(rendered.types) if rendered else "{}"
        return nodes_of(rendered.text, types, self.page.schema, self.page.secrets) if rendered else []

    @property
    def changes(self) -> list[Difference]:
        rendered = self.resolved.rendered
        new = masked(read(rendered.text), self.page.secrets) if rendered else {}
        return list(differences(self.page.tree_of(self.page.row) or {}, new))

    @property
    def long_names(self) -> list[str]:
        return [node.name for outer in self.nodes for node in outer.walk() if node.is_long]

    @property
    def is_enough(self) -> bool:
        """Whether the editor's own approval would be the only one needed."""
        return self.verdict is not None and self.verdict.approvals <= 1

    @property
    def is_denied(self) -> bool:
        return self.verdict is not None and self.verdict.outcome == Outcome.DENY

    @property
    def may_save(self) -> bool:
        return self.verdict is not None and not self.is_denied

    @property
    def may_approve(self) -> bool:
        verdict = self.verdict
        return self.may_save and verdict is not None and verdict.editor_may_approve and "approve" in verdict.allowed_decisions


@writing
def edit(request: HttpRequest, call_id: UUID) -> HttpResponse:
    found, typed = find(request, call_id), Typed.of(request.POST)
    page = call_page(found, person_of(request))
    text = request.POST.get("arguments", "").replace("\r\n", "\n")
    if request.method == "POST" and request.POST.get("step") in ("save", "approve"):
        return _save(request, page, text, typed)
    if DecisionKind.EDIT not in page.kinds:
        return show(request, found, 409, problem=f"These arguments cannot be edited{_any_more(found)}.", typed=typed, lost=text)
    if request.method != "POST":
        shown = found.resolution.digest if found.resolution else ""
        return _form(request, page, _editable(page), Typed(digest=shown))
    return _form(request, page, text, typed, **_checked(page, text))


def _editable(page: CallPage) -> str:
    """The arguments that are in force, as JSON to edit: secrets masked, deceiving characters as escapes."""
    text = page.call.resolution.input if page.call.resolution else page.call.submitted
    try:
        return in_json(pretty(without_secrets(page.call, text)))
    except ArgumentsError:
        return "not shown: it may hold secrets and cannot be read" if page.secrets else text


def _any_more(found: ToolCall) -> str:
    return "" if found.status == Status.PENDING else " any more"


def _form(request: HttpRequest, page: CallPage, text: str, typed: Typed, status: int = 200, **more: Any) -> HttpResponse:
    rows = min(max(8, text.count("\n") + 3), 30)
    context = {"page": page, "call": page.call, "text": text, "rows": rows, "typed": typed, "presets": PRESETS, **more}
    return render(request, "review/edit.html", context, status=status)


def _checked(page: CallPage, text: str) -> dict[str, Any]:
    """A preview, or why there is none."""
    try:
        arguments = _arguments(page, text)
    except JSONTextError as error:
        return {"status": 422, "problem": error.message}
    resolved, verdict = lifecycle.preview_edit(call_id=page.call.pk, edited_arguments=arguments)
    return {"status": 422 if resolved.refusal else 200, "preview": Preview(page, resolved, verdict)}


def _arguments(page: CallPage, text: str) -> str:
    """The JSON text to use: as typed, with the real values where masks still stand."""
    read_json(text)
    return with_secrets(page.call, text)


def _save(request: HttpRequest, page: CallPage, text: str, typed: Typed) -> HttpResponse:
    approves = request.POST.get("step") == "approve"
    try:
        arguments = _arguments(page, text)
    except JSONTextError as error:
        return _form(request, page, text, typed, 422, problem=error.message)
    checked = _checked(page, text)
    if approves and checked["preview"].long_names and not typed.has_read:
        return _form(
            request, page, text, typed, **{**checked, "status": 422}, problem="Read the long values first, and tick it."
        )
    try:
        done = lifecycle.decide(
            call_id=page.call.pk,
            reviewer=reviewer_of(request),
            kind=DecisionKind.EDIT,
            digest=typed.digest,
            reason=typed.reason,
            edited_arguments=arguments,
            resolved_digest=request.POST.get("resolved_digest", "") if approves else "",
            at=now(),
        )
    except NotPossible as error:
        return _not_saved(request, page, text, typed, error)
    if done.status != Status.PENDING or approves:
        return on_to_the_next(request, done)
    messages.success(request, "The edit is saved as a new proposal. It waits for approval like any other.")
    return redirect("review:call", done.pk)


def _not_saved(request: HttpRequest, page: CallPage, text: str, typed: Typed, error: NotPossible) -> HttpResponse:
    """Why, and everything typed again; bound to what stands there now, so that a second try is a decision about that."""
    found = find(request, page.call.pk)
    now_shown = call_page(found, page.person)
    if DecisionKind.EDIT not in now_shown.kinds:
        return show(request, found, 409, problem=error.detail, typed=typed, lost=text)
    status = 422 if error.code in ("edit_refused", "edit_denied") else 409
    fresh = Typed(digest=found.resolution.digest if found.resolution else "", preset=typed.preset, own_words=typed.own_words)
    return _form(request, now_shown, text, fresh, **{**_checked(now_shown, text), "status": status}, problem=error.detail)
