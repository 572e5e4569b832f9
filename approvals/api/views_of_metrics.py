"""What monitoring reads. A bearer token of its own stands before this (`toolgate.middleware`); here are the people."""

from __future__ import annotations

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from approvals import metrics
from approvals.api.endpoint import Endpoint
from approvals.api.permissions import IsAuditor


class Metrics(Endpoint):
    permission_classes = [IsAuditor]

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponse:
        return metrics_answer()


def metrics_answer() -> HttpResponse:
    headers = {"Cache-Control": "no-store", "Content-Type": metrics.CONTENT_TYPE}
    return HttpResponse(metrics.read(), headers=headers)
