"""The addresses of the pages. No address is made of text from outside."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from approvals.review import views_of_calls, views_of_edits, views_of_lists, views_of_people, views_of_trail

app_name = "review"
urlpatterns = [
    path("", views_of_lists.inbox, name="inbox"),
    path("login", views_of_people.login, name="login"),
    path("logout", LogoutView.as_view(), name="logout"),
    path("history", views_of_lists.history, name="history"),
    path("tools", views_of_lists.tools, name="tools"),
    path("trail", views_of_trail.trail, name="trail"),
    path("tokens", views_of_people.tokens, name="tokens"),
    path("tokens/<uuid:token_id>/revoke", views_of_people.revoke_token, name="revoke-token"),
    path("calls/<uuid:call_id>", views_of_calls.call, name="call"),
    path("calls/<uuid:call_id>/decide", views_of_calls.decide, name="decide"),
    path("calls/<uuid:call_id>/edit", views_of_edits.edit, name="edit"),
    path("calls/<uuid:call_id>/settle", views_of_calls.settle, name="settle"),
    path("calls/<uuid:call_id>/interrupts/<uuid:interrupt_id>/answer", views_of_calls.answer, name="answer"),
    path("calls/<uuid:call_id>/run", views_of_lists.run, name="run"),
    path("calls/<uuid:call_id>/trail", views_of_trail.trail_of_call, name="trail-of-call"),
]
