"""Administration: people, groups, agents and their keys. Each change is an event of the trail, in the same transaction.

Calls, decisions and the trail can be looked at and nothing else: the verbs of the lifecycle are the only way they change.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.forms import AdminUserCreationForm
from django.contrib.auth.models import Group
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db import models, transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST

from approvals import access, audit, once, resolution
from approvals.clock import now
from approvals.models import (
    Agent,
    AgentKey,
    AuditEvent,
    Decision,
    EventKind,
    Execution,
    Interrupt,
    Person,
    PersonalToken,
    Resolution,
    ToolCall,
)
from approvals.models.actors import Actor


def login(request: HttpRequest) -> HttpResponseBase:
    """Administrators come in by everybody's door. For anybody else who is in already, there is nothing here."""
    if request.user.is_authenticated:
        raise Http404
    return redirect_to_login(request.GET.get("next") or reverse("admin:index"))


admin.site.site_header = admin.site.site_title = "toolgate administration"
admin.site.index_title = "People, agents and records"
admin.site.login = login  # type: ignore[method-assign, assignment] # as Django's documentation does it


def actor_of(request: HttpRequest) -> Actor:
    if not isinstance(request.user, Person):
        raise PermissionDenied
    return Actor.person(request.user, "session")


def visible(column: str) -> Callable[[Any], SafeString]:
    """A column of text from outside, shown as the pages for reviewers show it: through their own filter."""

    @admin.display(description=column.replace("_", " "), ordering=column)
    def show(row: Any) -> SafeString:
        return render_to_string("admin/shown.html", {"text": getattr(row, column)})

    show.__name__ = f"visible_{column}"
    return show


class Recorded:
    """Mixed into a ModelAdmin whose changes are events: `facts_of` says what is told of a row."""

    event: EventKind

    def facts_of(self, row: Any) -> dict[str, Any]:
        raise NotImplementedError

    def _record(self, request: HttpRequest, row: Any, change: str, message: Any = ()) -> None:
        fields = sorted({field for part in message for what in part.values() for field in what.get("fields", ())})
        data = {**self.facts_of(row), "change": change, "fields": fields}
        audit.record_administration(self.event, at=now(), actor=actor_of(request), data=data)

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        self._record(request, obj, "made", message)
        return super().log_addition(request, obj, message)  # type: ignore[misc] # of the ModelAdmin beside it

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        self._record(request, obj, "changed", message)
        return super().log_change(request, obj, message)  # type: ignore[misc] # of the ModelAdmin beside it

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        for row in queryset:
            self._record(request, row, "deleted")
        return super().log_deletions(request, queryset)  # type: ignore[misc] # of the ModelAdmin beside it


class PersonCreationForm(AdminUserCreationForm[Person]):
    class Meta(AdminUserCreationForm.Meta):
        model = Person


@admin.register(Person)
class PersonAdmin(Recorded, UserAdmin[Person]):
    """Nobody is deleted: decisions name them. Whoever leaves is switched off, and their sessions and tokens end with it."""

    event = EventKind.PERSON_CHANGED
    add_form = PersonCreationForm
    actions = None
    list_display = ("username", visible("label"), "email", "role", "is_active", "last_login")
    list_filter = ("is_active", "is_superuser", "is_auditor", "groups")
    filter_horizontal = ("groups",)
    readonly_fields = ("last_login", "date_joined")
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Who they are", {"fields": ("first_name", "last_name", "email")}),
        ("What they may do", {"fields": ("is_active", "is_superuser", "is_auditor", "groups")}),
        ("Since", {"fields": ("last_login", "date_joined")}),
    )

    def has_delete_permission(self, request: HttpRequest, obj: Person | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Person, form: forms.ModelForm[Person], change: bool) -> None:
        obj.is_staff = obj.is_superuser  # administrators, and nobody else, come in here
        super().save_model(request, obj, form, change)

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:
        with transaction.atomic():  # Django does not, and the event must not be lost
            return super().user_change_password(request, id, form_url)

    def facts_of(self, row: Person) -> dict[str, Any]:
        facts = {"person": row.username, "role": row.role, "groups": row.group_names()}
        return facts | {"is_active": row.is_active}


admin.site.unregister(Group)


@admin.register(Group)
class NamedGroupAdmin(Recorded, GroupAdmin):
    """The reviewers that a tool's registration names. What they may do follows from that, not from permissions."""

    event = EventKind.GROUP_CHANGED
    actions = None
    fields = ("name",)
    list_display = (visible("name"), "members")

    @admin.display(description="members")
    def members(self, group: Group) -> int:
        return Person.objects.filter(groups=group).count()

    def has_delete_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        """Not while a call names it: that call would lose its reviewers."""
        used = obj is not None and ToolCall.reviewer_groups.through.objects.filter(group=obj).exists()
        return obj is not None and not used and super().has_delete_permission(request, obj)

    def facts_of(self, row: Group) -> dict[str, Any]:
        return {"group": row.name}


class KeyForm(forms.Form):
    name = forms.CharField(label="What is it for?", max_length=100, required=False)
    days = forms.IntegerField(label="Good for how many days? Empty: until revoked", min_value=1, max_value=3650, required=False)


class AgentForm(forms.ModelForm[Agent]):
    def clean_tools(self) -> str:
        """A slip of the pen would shut an agent out. What it may call already may stay, though that tool be gone."""
        known, names = resolution.registry().names, [line.strip() for line in self.cleaned_data["tools"].splitlines()]
        for name in filter(None, names):
            if name not in known and name not in str(self.initial.get("tools", "")).split("\n"):
                near = difflib.get_close_matches(name, known, n=1)
                meant = f" Did you mean {near[0]}?" if near else ""
                raise forms.ValidationError(f"There is no tool {name}.{meant}")
        return "\n".join(filter(None, names))


@admin.register(Agent)
class AgentAdmin(Recorded, admin.ModelAdmin[Agent]):
    """An agent is never deleted: calls name it. Switched off, none of its keys is let in."""

    event = EventKind.AGENT_CHANGED
    actions = None
    form = AgentForm
    fields = ("name", "description", "tools", "owner", "is_active")
    autocomplete_fields = ("owner",)
    list_display = (visible("name"), "is_active", "owner", "created_at")
    search_fields = ("name",)
    change_form_template = "admin/agent.html"

    def has_delete_permission(self, request: HttpRequest, obj: Agent | None = None) -> bool:
        return False

    def facts_of(self, row: Agent) -> dict[str, Any]:
        owner = row.owner.username if row.owner else ""
        tools = row.tools.split("\n") if row.tools else []
        return {"agent": row.name, "tools": tools, "owner": owner, "is_active": row.is_active}

    def get_urls(self) -> list[URLPattern]:
        issue, revoke = self.admin_site.admin_view(self.issue_key), self.admin_site.admin_view(self.revoke_key)
        own = [
            path("<uuid:agent_id>/keys/issue", issue, name="issue-agent-key"),
            path("keys/<uuid:key_id>/revoke", require_POST(revoke), name="revoke-agent-key"),
        ]
        return own + super().get_urls()

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        agent = self.get_object(request, object_id)
        more = {"keys": agent.keys.all() if agent else [], "at": now()}
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), **more})

    def issue_key(self, request: HttpRequest, agent_id: str) -> HttpResponseBase:
        """A form, and after it the page with the text of the key: it is in no message, session or cookie."""
        agent = get_object_or_404(Agent, pk=agent_id)
        if not self.has_change_permission(request, agent):
            raise PermissionDenied
        form, text = KeyForm(request.POST or None), ""
        is_first = request.method == "POST" and form.is_valid() and once.is_first(request.session, request.POST.get("mark", ""))
        if is_first:
            days, name = form.cleaned_data["days"], form.cleaned_data["name"]
            expires_at = now() + timedelta(days=days) if days else None
            _, text = access.issue_agent_key(agent=agent, actor=actor_of(request), at=now(), name=name, expires_at=expires_at)
        context = {**self.admin_site.each_context(request), "opts": self.opts, "agent": agent, "form": form, "text": text}
        context |= {"mark": once.new_mark(), "is_repeat": form.is_bound and form.is_valid() and not is_first}
        return TemplateResponse(request, "admin/issue_key.html", {**context, "title": "Issue an agent key"})

    def revoke_key(self, request: HttpRequest, key_id: str) -> HttpResponse:
        key = get_object_or_404(AgentKey, pk=key_id)
        if not self.has_change_permission(request, key.agent):
            raise PermissionDenied
        access.revoke(credential=key, actor=actor_of(request), at=now())
        messages.success(request, f"{key} is revoked. Nothing that shows it is let in any more.")
        return redirect("admin:approvals_agent_change", key.agent_id)


# --- to look at only ---------------------------------------------------------------------------------------------------


class ReadOnly(admin.ModelAdmin[Any]):
    """A list and a page for each row, and no way to change one, for nobody."""

    actions = None
    list_per_page = 50
    show_full_result_count = False
    change_form_template = "admin/record.html"
    told: tuple[Any, ...] = ()

    def get_fields(self, request: HttpRequest, obj: models.Model | None = None) -> Any:
        return self.told

    def get_readonly_fields(self, request: HttpRequest, obj: models.Model | None = None) -> Any:
        return self.told

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    @admin.display(description="page")
    def page(self, row: Any) -> SafeString:
        """Arguments and results stand on the call's own page, where secrets are masked."""
        call_id = row.pk if isinstance(row, ToolCall) else row.call_id
        return format_html('<a href="{}">the call</a>', reverse("review:call", args=[call_id]))


@admin.register(ToolCall)
class ToolCallAdmin(ReadOnly):
    list_display = ("submitted_at", visible("tool"), visible("agent_name"), "status", "risk", "page")
    list_filter = ("status", "risk")
    search_fields = ("tool", "tool_call_id", "agent_name")
    told = (
        "page", "id", visible("tool"), visible("tool_call_id"), visible("agent_name"), visible("on_behalf_of"),
        visible("run_id"), "position", "status", "risk", "outcome", "approvals_required", "review_round", "submitted_at",
        "decided_at", "settled_at", "expires_at", "attempt", "approved_digest", "chain_length", "chain_head",
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related("agent")


@admin.register(Decision)
class DecisionAdmin(ReadOnly):
    list_display = ("decided_at", "kind", visible("person_name"), "page")
    list_filter = ("kind",)
    told = (
        "page", "kind", "counts", "review_round", "digest", visible("reason"), visible("person_name"), "person_email",
        "person_groups", "login", "decided_at",
    )  # fmt: skip


@admin.register(Resolution)
class ResolutionAdmin(ReadOnly):
    list_display = ("at", "when", "digest", "page")
    list_filter = ("when",)
    told = ("page", "when", "at", "milliseconds", "digest", "declaration_id")


@admin.register(Interrupt)
class InterruptAdmin(ReadOnly):
    list_display = ("raised_at", "number", "answered_at", visible("answered_name"), "page")
    told = ("page", "number", visible("message"), "raised_at", "answered_at", visible("answered_name"), "closed_at")


@admin.register(Execution)
class ExecutionAdmin(ReadOnly):
    list_display = ("started_at", "attempt", "outcome", "ended_at", "page")
    list_filter = ("outcome",)
    told = ("page", "attempt", visible("worker"), "started_at", "ended_at", "outcome", visible("exception"))


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnly):
    list_display = ("at", "kind", visible("actor_name"), visible("tool"), "chain", "sequence")
    list_filter = ("kind", "actor_kind")
    search_fields = ("chain", "tool", "actor_name")
    told = (
        "id", "chain", "sequence", "kind", "at", visible("tool"), "actor_kind", visible("actor_name"), visible("data"),
        "previous", "digest",
    )  # fmt: skip


@admin.register(PersonalToken)
class PersonalTokenAdmin(ReadOnly):
    """Made and revoked by the people themselves."""

    list_display = ("__str__", "person", visible("name"), "created_at", "expires_at", "revoked_at", "last_used_at")
    told = ("person", visible("name"), "created_at", "expires_at", "revoked_at", "last_used_at")
