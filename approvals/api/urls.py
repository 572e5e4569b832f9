"""The addresses of the REST door."""

from django.urls import path

from approvals.api import views_of_calls as calls
from approvals.api import views_of_reviews as reviews
from approvals.api import views_of_tools as tools
from approvals.api import views_of_trail as trail

urlpatterns = [
    path("tools", tools.Tools.as_view()),
    path("tools/<path:tool>/parse", tools.Parse.as_view()),  # names of MCP tools may hold slashes
    path("tool-calls", calls.ToolCalls.as_view()),
    path("tool-calls/batch", calls.ToolCallBatch.as_view()),
    path("tool-calls/<uuid:call_id>", calls.OneToolCall.as_view(), name="tool-call"),
    path("tool-calls/<uuid:call_id>/cancel", calls.Cancel.as_view()),
    path("tool-calls/<uuid:call_id>/decisions", reviews.Decisions.as_view()),
    path("tool-calls/<uuid:call_id>/preview", reviews.Preview.as_view()),
    path("tool-calls/<uuid:call_id>/interrupts/<uuid:interrupt_id>/answer", reviews.InterruptAnswer.as_view()),
    path("tool-calls/<uuid:call_id>/settlement", reviews.Settlement.as_view()),
    path("runs/<path:run_id>", calls.Run.as_view()),
    path("inbox", reviews.Inbox.as_view()),
    path("decisions/batch", reviews.DecisionBatch.as_view()),
    path("audit-events", trail.AuditEvents.as_view()),
    path("audit-events/verification", trail.TrailVerification.as_view()),
]
