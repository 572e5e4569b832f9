"""The shapes that callers send."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from rest_framework import serializers

from approvals.api.fields import (
    AnyJSON,
    Choice,
    Flag,
    Items,
    JSONObject,
    NonBlankText,
    RawArguments,
    Seconds,
    StrictSerializer,
    Text,
    UUIDText,
)
from approvals.lifecycle import Submission
from approvals.models import DecisionKind

LONGEST_TIMEOUT = timedelta(days=30)
LARGEST_BATCH = 100
LONGEST_KEY = 255


def read(shape: type[StrictSerializer], data: Any) -> dict[str, Any]:
    """What was sent, if it has the shape. Raises ValidationError that names every field at fault."""
    serializer = shape(data=data)
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


class SubmitRequest(StrictSerializer):
    tool = NonBlankText(max_length=256)
    tool_call_id = NonBlankText(max_length=256, help_text="The model's own id of this call.")
    arguments = RawArguments(required=False)
    idempotency_key = NonBlankText(
        max_length=LONGEST_KEY, required=False, help_text="As the header of that name; for the items of a batch."
    )
    run_id = NonBlankText(max_length=256, required=False)
    context = JSONObject(  # type: ignore[assignment] # a member's name; DRF moves it off the class
        required=False, allow_null=True, help_text="Handed to the tool's parser and body."
    )
    agent_reasoning = Text(required=False, allow_blank=True, max_length=50_000)
    on_behalf_of = Text(required=False, allow_blank=True, max_length=254, help_text="User name or e-mail.")
    timeout_seconds = Seconds(
        LONGEST_TIMEOUT.total_seconds(), required=False, allow_null=True, help_text="Expires after that long."
    )
    revises = UUIDText(required=False, allow_null=True, help_text="The call that this one corrects.")
    metadata = JSONObject(required=False, allow_null=True, help_text="Kept and given back; the tool does not see it.")


def submission(sent: dict[str, Any], *, idempotency_key: str) -> Submission:
    seconds = sent.pop("timeout_seconds", None)
    return Submission(timeout=timedelta(seconds=seconds) if seconds else None, **{"idempotency_key": idempotency_key, **sent})


class BatchRequest(StrictSerializer):
    run_id = NonBlankText(max_length=256, required=False)
    calls = Items(max_length=LARGEST_BATCH)


class BatchRequestShape(serializers.Serializer[Any]):
    run_id = Text(max_length=256, required=False)
    calls = SubmitRequest(many=True)


class ParseRequest(StrictSerializer):
    arguments = RawArguments(required=False)
    context = JSONObject(required=False, allow_null=True)  # type: ignore[assignment] # a member's name; DRF moves it off the class


class NothingRequest(StrictSerializer):
    pass


class DecisionRequest(StrictSerializer):
    kind = Choice(choices=DecisionKind.choices)
    digest = Text(max_length=64, allow_blank=True, help_text="The digest of what was shown.")
    reason = Text(required=False, allow_blank=True, max_length=10_000)
    response = Text(required=False, allow_blank=True, max_length=100_000)
    edited_arguments = RawArguments(required=False)
    resolved_digest = Text(
        required=False, max_length=64, help_text="What a preview of the edit showed; lets the editor's approval count."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        is_edit = attrs["kind"] == DecisionKind.EDIT
        if is_edit and "edited_arguments" not in attrs:
            raise serializers.ValidationError({"edited_arguments": ["is missing: an edit needs it"]})
        if not is_edit and (extra := attrs.keys() & {"edited_arguments", "resolved_digest"}):
            raise serializers.ValidationError({min(extra): ["goes with kind edit only"]})
        if attrs["kind"] != DecisionKind.RESPOND and "response" in attrs:
            raise serializers.ValidationError({"response": ["goes with kind respond only"]})
        return attrs


class OneOfManyDecisions(DecisionRequest):
    tool_call = UUIDText()


class DecisionsRequest(StrictSerializer):
    decisions = Items(max_length=LARGEST_BATCH)


class DecisionsRequestShape(serializers.Serializer[Any]):
    decisions = OneOfManyDecisions(many=True)


class PreviewRequest(StrictSerializer):
    edited_arguments = RawArguments()


class AnswerRequest(StrictSerializer):
    answer = AnyJSON(required=False, help_text="Fits the question's response schema, where it has one.")
    reject = Flag(required=False, help_text="True ends the call instead.")
    reason = Text(required=False, allow_blank=True, max_length=10_000)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if bool(attrs.get("reject")) == ("answer" in attrs):
            raise serializers.ValidationError({"answer": ['is missing; or send "reject": true']})
        return attrs


class SettlementRequest(StrictSerializer):
    outcome = Choice(choices=["succeeded", "failed", "run_again"])
    reason = Text(max_length=10_000, allow_blank=True)
