"""Logging in, and a person's own tokens."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.views import LoginView
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from approvals import access, once
from approvals.clock import now
from approvals.models import PersonalToken
from approvals.models.actors import Actor
from approvals.review.door import person_of, writing
from approvals.review.forms import TokenForm

login = LoginView.as_view(template_name="review/login.html", redirect_authenticated_user=True)


@writing
def tokens(request: HttpRequest) -> HttpResponse:
    """The list, the form, and right after making one the text of it, which nobody is shown again."""
    person, text = person_of(request), ""
    form = TokenForm(request.POST or None)
    is_first = request.method == "POST" and form.is_valid() and once.is_first(request.session, request.POST.get("mark", ""))
    if is_first:
        days = form.cleaned_data["days"]
        expires_at = now() + timedelta(days=int(days)) if days else None
        actor, name = Actor.person(person, "session"), form.cleaned_data["name"]
        _, text = access.issue_personal_token(person=person, actor=actor, at=now(), name=name, expires_at=expires_at)
        form = TokenForm()
    is_repeat = form.is_bound and form.is_valid() and not is_first
    context = {"tokens": person.tokens.all(), "text": text, "form": form, "at": now()}
    context |= {"mark": once.new_mark(), "is_repeat": is_repeat}
    response = render(request, "review/tokens.html", context, status=422 if form.errors else 200)
    response.headers["Cache-Control"] = "no-store"
    return response


@require_POST
@writing
def revoke_token(request: HttpRequest, token_id: UUID) -> HttpResponse:
    person = person_of(request)
    token = PersonalToken.objects.filter(pk=token_id, person=person).first()
    if token is None:
        raise Http404
    access.revoke(credential=token, actor=Actor.person(person, "session"), at=now())
    messages.success(request, f"{token} is revoked. Nothing that shows it is let in any more.")
    return redirect("review:tokens")
