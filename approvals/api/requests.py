"""The shapes that callers send."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from rest_framework import serializers

from approvals.api.fields import AnyJSON, JSONObject, NonBlankText, RawArguments, StrictNumber, StrictSerializer, Text
from approvals.lifecycle import Submission
from approvals.models import DecisionKind

LONGEST_TIMEOUT = timedelta(days=30)
LARGEST_BATCH = 100


class SubmitRequest(StrictSerializer):
    tool = NonBlankText(max_length=256)
    tool_call_id = NonBlankText(max_length=256, help_text="The model's own id of this call.")
    arguments = RawArguments(required=False)
    run_id = Text(max_length=256, required=False, allow_blank=True)
    context = JSONObject(required=False, help_text="Handed to the tool's parser and body.")
    agent_reasoning = Text(required=False, allow_blank=True, max_length=50_000)
    on_behalf_of = Text(required=False, allow_blank=True, max_length=254, help_text="User name or e-mail.")
    timeout_seconds = StrictNumber(
        required=False, min_value=0.001, max_value=LONGEST_TIMEOUT.total_seconds(), help_text="Expires after that long."
    )
    revises = serializers.UUIDField(required=False, help_text="The call that this one corrects.")
    metadata = JSONObject(required=False, help_text="Kept and given back; the tool does not see it.")

    def submission(self, idempotency_key: str, run_id: str = "") -> Submission:
        sent: dict[str, Any] = dict(self.validated_data)
        seconds = sent.pop("timeout_seconds", None)
        sent["run_id"] = sent.get("run_id") or run_id
        timeout = timedelta(seconds=seconds) if seconds else None
        return Submission(idempotency_key=idempotency_key, timeout=timeout, **sent)


class BatchRequest(StrictSerializer):
    run_id = Text(max_length=256, required=False, allow_blank=True)
    calls = serializers.ListField(child=JSONObject(), min_length=1, max_length=LARGEST_BATCH)


class BatchRequestShape(serializers.Serializer[Any]):
    run_id = serializers.CharField(required=False)
    calls = SubmitRequest(many=True)


class ParseRequest(StrictSerializer):
    arguments = RawArguments(required=False)
    context = JSONObject(required=False)


class DecisionRequest(StrictSerializer):
    kind = serializers.ChoiceField(choices=DecisionKind.choices)
    digest = Text(max_length=64, allow_blank=True, help_text="The digest of what was shown.")
    reason = Text(required=False, allow_blank=True, max_length=10_000, default="")
    response = Text(required=False, allow_blank=True, max_length=100_000, default="")
    edited_arguments = RawArguments(required=False)
    resolved_digest = Text(
        required=False, max_length=64, help_text="What a preview of the edit showed; lets the editor's approval count."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["kind"] == DecisionKind.EDIT and "edited_arguments" not in attrs:
            raise serializers.ValidationError({"edited_arguments": ["an edit needs them"]})
        if attrs["kind"] != DecisionKind.EDIT and attrs.keys() & {"edited_arguments", "resolved_digest"}:
            raise serializers.ValidationError({"edited_arguments": ["go with kind edit only"]})
        return attrs


class OneOfManyDecisions(DecisionRequest):
    tool_call = serializers.UUIDField()


class DecisionsRequest(StrictSerializer):
    decisions = serializers.ListField(child=JSONObject(), min_length=1, max_length=LARGEST_BATCH)


class DecisionsRequestShape(serializers.Serializer[Any]):
    decisions = OneOfManyDecisions(many=True)


class PreviewRequest(StrictSerializer):
    edited_arguments = RawArguments()


class AnswerRequest(StrictSerializer):
    answer = AnyJSON(required=False, help_text="Fits the question's response schema, where it has one.")
    reject = serializers.BooleanField(required=False, help_text="True ends the call instead.")
    reason = Text(required=False, allow_blank=True, max_length=10_000, default="")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if bool(attrs.get("reject")) == ("answer" in attrs):
            raise serializers.ValidationError({"answer": ["send an answer, or `reject`: true"]})
        return attrs


class SettlementRequest(StrictSerializer):
    outcome = serializers.ChoiceField(choices=["succeeded", "failed", "run_again"])
    reason = NonBlankText(max_length=10_000)
