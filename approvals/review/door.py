"""Who stands at the door: every page belongs to somebody who signed in, and what they may not see is not there."""

from __future__ import annotations

import functools
from collections.abc import Callable
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_http_methods, require_safe

from approvals.lifecycle import Reviewer
from approvals.models import Person, ToolCall

View = Callable[..., HttpResponseBase]
_private = cache_control(private=True, no_cache=True)


def reading(view: View) -> View:
    """A page that changes nothing. Others are sent to log in and come back."""
    return require_safe(login_required(_private(view)))


def writing(view: View) -> View:
    """A page with a form of its own."""
    return require_http_methods(["GET", "HEAD", "POST"])(login_required(_private(view)))


def deciding(view: View) -> View:
    """Takes a form of a call's page. Whoever comes by address, or had to log in first, is shown the call instead."""

    @functools.wraps(view)
    def answer(request: HttpRequest, call_id: UUID, **kwargs: object) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return redirect_to_login(reverse("review:call", args=[call_id]))
        if request.method != "POST":
            return redirect("review:call", call_id)
        return view(request, call_id, **kwargs)

    return _private(answer)


def person_of(request: HttpRequest) -> Person:
    if not isinstance(request.user, Person):
        raise Http404
    return request.user


def reviewer_of(request: HttpRequest) -> Reviewer:
    return Reviewer(person_of(request), "session")


def find(request: HttpRequest, call_id: UUID) -> ToolCall:
    """The call, if this person may see it. Otherwise it is as if there were none."""
    call = ToolCall.objects.visible_to(person_of(request)).with_everything().filter(pk=call_id).first()
    if call is None:
        raise Http404
    return call
