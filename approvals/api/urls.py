"""The addresses of the REST door."""

from django.urls import path, re_path

from approvals.api import problems
from approvals.api import views_of_agents as agents
from approvals.api import views_of_people as people

urlpatterns = [
    path("tools", agents.Tools.as_view()),
    path("tools/<str:tool>/parse", agents.Parse.as_view()),
    path("tool-calls", agents.ToolCalls.as_view()),
    path("tool-calls/batch", agents.ToolCallBatch.as_view()),
    path("tool-calls/<uuid:call_id>", agents.OneToolCall.as_view(), name="tool-call"),
    path("tool-calls/<uuid:call_id>/cancel", agents.Cancel.as_view()),
    path("runs/<str:run_id>", agents.Run.as_view()),
    path("inbox", people.Inbox.as_view()),
    path("tool-calls/<uuid:call_id>/decisions", people.Decisions.as_view()),
    path("tool-calls/<uuid:call_id>/preview", people.Preview.as_view()),
    path("decisions/batch", people.DecisionBatch.as_view()),
    path("tool-calls/<uuid:call_id>/interrupts/<uuid:interrupt_id>/answer", people.InterruptAnswer.as_view()),
    path("tool-calls/<uuid:call_id>/settlement", people.Settlement.as_view()),
    path("audit-events", people.AuditEvents.as_view()),
    path("audit-events/verification", people.TrailVerification.as_view()),
    re_path(r"^.*$", problems.not_found),
]
