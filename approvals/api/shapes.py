"""The shapes of `answers.py` for the OpenAPI file, and how every endpoint tells its errors."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema_field
from rest_framework import serializers

from approvals.api.authentication import (
    AgentKeyAuthentication,
    PersonalTokenAuthentication,
    ReviewerSessionAuthentication,
)
from approvals.models import DecisionKind, EventKind, Outcome, Risk, Status


@extend_schema_field({"description": "Any JSON value."})
class AnyValue(serializers.JSONField):
    pass


class ContentPartShape(serializers.Serializer[Any]):
    type = serializers.CharField()
    content = serializers.CharField(allow_null=True)
    options = AnyValue()


class ToolResultShape(serializers.Serializer[Any]):
    tool_call_id = serializers.CharField(allow_null=True)
    name = serializers.CharField(allow_null=True)
    content = ContentPartShape(many=True)
    is_error = serializers.BooleanField()
    is_interrupt = serializers.BooleanField()
    interrupt_data = AnyValue()
    display_text = serializers.CharField(allow_null=True)
    options = AnyValue()


class ArgumentsShape(serializers.Serializer[Any]):
    submitted = AnyValue(help_text="The JSON value as the agent sent it.")
    resolved = AnyValue(help_text="As reviewers see them.")
    effective = AnyValue(help_text="As the function received them.")


class ApprovalsShape(serializers.Serializer[Any]):
    given = serializers.IntegerField()
    required = serializers.IntegerField()  # type: ignore[assignment] # a member's name; DRF moves it off the class


class DeciderShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    email = serializers.CharField(required=False)
    groups = serializers.ListField(child=serializers.CharField(), required=False)


class DecisionShape(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    kind = serializers.ChoiceField(choices=DecisionKind.choices)
    person = DeciderShape()
    reason = serializers.CharField()
    response = serializers.CharField(allow_null=True)
    edited_arguments = AnyValue()
    digest = serializers.CharField()
    counts = serializers.BooleanField()
    round = serializers.IntegerField()
    decided_at = serializers.DateTimeField()


class InterruptShape(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    number = serializers.IntegerField()
    message = serializers.CharField()
    data = AnyValue()  # type: ignore[assignment] # a member's name; DRF moves it off the class
    response_schema = AnyValue()
    raised_at = serializers.DateTimeField()


class PolicyShape(serializers.Serializer[Any]):
    outcome = serializers.ChoiceField(choices=Outcome.choices)
    rule = serializers.CharField()
    reason = serializers.CharField()


class ToolCallShape(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    tool_call_id = serializers.CharField()
    run_id = serializers.CharField(allow_null=True)
    position = serializers.IntegerField()
    agent = serializers.CharField()
    tool = serializers.CharField()
    display_text = serializers.CharField(allow_null=True)
    headline = serializers.CharField()
    status = serializers.ChoiceField(choices=Status.choices)
    settled = serializers.BooleanField()
    risk = serializers.ChoiceField(choices=Risk.choices)
    arguments = ArgumentsShape()
    digest = serializers.CharField(help_text="Binds a decision to the resolved arguments. Empty when there are none.")
    allowed_decisions = serializers.ListField(child=serializers.ChoiceField(choices=DecisionKind.choices))
    approvals = ApprovalsShape()
    decisions = DecisionShape(many=True)
    interrupt = InterruptShape(allow_null=True)
    result = ToolResultShape(allow_null=True)
    policy = PolicyShape(allow_null=True)
    agent_reasoning = serializers.CharField()
    on_behalf_of = serializers.CharField(allow_null=True)
    context = serializers.DictField(child=AnyValue())  # type: ignore[assignment] # a member's name; DRF moves it off the class
    metadata = serializers.DictField(child=AnyValue())
    revises = serializers.UUIDField(allow_null=True)
    revised_by = serializers.ListField(child=serializers.UUIDField())
    submitted_at = serializers.DateTimeField()
    decided_at = serializers.DateTimeField(allow_null=True)
    settled_at = serializers.DateTimeField(allow_null=True)
    expires_at = serializers.DateTimeField(allow_null=True)
    pruned_at = serializers.DateTimeField(allow_null=True, help_text="When retention removed what it was about.")


class FieldProblemShape(serializers.Serializer[Any]):
    field = serializers.CharField()
    message = serializers.CharField()


class ProblemShape(serializers.Serializer[Any]):
    """application/problem+json, as RFC 9457. A code may bring further members with it."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    code = serializers.CharField()
    detail = serializers.CharField()
    current_status = serializers.ChoiceField(choices=Status.choices, required=False)
    field = serializers.CharField(required=False)
    errors = FieldProblemShape(many=True, required=False)  # type: ignore[assignment] # a member's name; DRF moves it off the class
    tool_call = serializers.UUIDField(required=False)
    digest = serializers.CharField(required=False)


class PageShape(serializers.Serializer[Any]):
    next = serializers.CharField(allow_null=True)
    results = ToolCallShape(many=True)


class BatchItemShape(serializers.Serializer[Any]):
    status = serializers.IntegerField()
    tool_call = ToolCallShape(required=False)
    problem = ProblemShape(required=False)


class BatchShape(serializers.Serializer[Any]):
    run_id = serializers.CharField()
    results = BatchItemShape(many=True)


class DecidedShape(serializers.Serializer[Any]):
    results = BatchItemShape(many=True)


class RunShape(serializers.Serializer[Any]):
    run_id = serializers.CharField()
    settled = serializers.BooleanField()
    tool_calls = ToolCallShape(many=True)
    tool_results = serializers.ListField(child=ToolResultShape(allow_null=True), allow_null=True)


class ToolShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    description = serializers.CharField(allow_null=True)
    display_text = serializers.CharField(allow_null=True)
    parameters = AnyValue()
    risk = serializers.ChoiceField(choices=Risk.choices)
    approval = serializers.ChoiceField(choices=["never", "depends", "always", "denied"])
    runs_by_agent = serializers.BooleanField()


class ToolsShape(serializers.Serializer[Any]):
    tools = ToolShape(many=True, help_text="With a dialect: declarations as that API wants them.")


class ParsedShape(serializers.Serializer[Any]):
    ok = serializers.BooleanField()
    arguments = AnyValue()
    error = serializers.CharField(allow_null=True)
    digest = serializers.CharField()
    headline = serializers.CharField()


class PreviewShape(ParsedShape):
    policy = PolicyShape(allow_null=True)


class InboxCountsShape(serializers.Serializer[Any]):
    tool = serializers.DictField(child=serializers.IntegerField())
    agent = serializers.DictField(child=serializers.IntegerField())
    risk = serializers.DictField(child=serializers.IntegerField())


class InboxShape(PageShape):
    count = serializers.IntegerField(help_text="How many fit the filters.")
    counts = InboxCountsShape(help_text="Of all that wait for this person.")


class ActorShape(serializers.Serializer[Any]):
    kind = serializers.CharField()
    id = serializers.CharField()
    name = serializers.CharField()


class EventShape(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    chain = serializers.CharField()
    sequence = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=EventKind.choices)
    at = serializers.DateTimeField()
    tool = serializers.CharField()
    actor = ActorShape()
    data = serializers.DictField(child=AnyValue())  # type: ignore[assignment] # a member's name; DRF moves it off the class
    previous = serializers.CharField()
    digest = serializers.CharField()


class EventPageShape(serializers.Serializer[Any]):
    next = serializers.CharField(allow_null=True)
    results = EventShape(many=True)


class ChainShape(serializers.Serializer[Any]):
    chain = serializers.CharField()
    length = serializers.IntegerField()
    problem = serializers.CharField()
    broken_at = serializers.IntegerField(allow_null=True)
    event = serializers.CharField(allow_null=True)


class VerificationShape(serializers.Serializer[Any]):
    is_whole = serializers.BooleanField()
    chains = serializers.IntegerField()
    broken = ChainShape(many=True)


_WORDS = {
    400: "The request cannot be read.",
    401: "No proof of who calls, or one that does not hold.",
    403: "Not for this caller.",
    404: "Nothing that this caller may see.",
    409: "It conflicts with what is already so.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    422: "Well-formed, but refused.",
    503: "The database is away; try again.",
}
_READS, _WRITES = (400, 401, 403, 404, 422, 503), tuple(_WORDS)


def errors(*, of_read: bool = False) -> dict[tuple[int, str], OpenApiResponse]:
    """The problems that an endpoint can answer with."""
    statuses = _READS if of_read else _WRITES
    return {(status, "application/problem+json"): OpenApiResponse(ProblemShape, _WORDS[status]) for status in statuses}


WAIT = [
    OpenApiParameter("wait", float, description="Hold the answer up to this many seconds (0 to 60) until it moves."),
    OpenApiParameter("until", str, enum=["decided", "settled"], description="What to wait for; `settled` if left out."),
]
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key", str, OpenApiParameter.HEADER, description="Makes a repeat a repeat instead of the tool_call_id."
)
IF_NONE_MATCH = OpenApiParameter("If-None-Match", str, OpenApiParameter.HEADER, description="An ETag: 304 if unchanged.")


class _KeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call] # the library is not typed
    target_class = AgentKeyAuthentication
    name = "agentKey"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "An agent's key, `tg_agent_…`."}


class _TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call] # the library is not typed
    target_class = PersonalTokenAuthentication
    name = "personalToken"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A reviewer's personal token, `tg_person_…`."}


class _SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call] # the library is not typed
    target_class = ReviewerSessionAuthentication
    name = "session"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "apiKey", "in": "cookie", "name": "sessionid"}
