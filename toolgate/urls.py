"""Which door answers at which address."""

from django.contrib import admin
from django.urls import include, path, re_path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from approvals.api import problems
from approvals.api.views_of_metrics import Metrics

urlpatterns = [
    path("api/v1/", include("approvals.api.urls")),
    path("api/schema", SpectacularAPIView.as_view(), name="schema"),
    path("api/docs", SpectacularSwaggerSplitView.as_view(url_name="schema"), name="docs"),
    re_path(r"^api(?:/.*)?$", problems.not_found),
    path("metrics", Metrics.as_view()),
    path("", include("approvals.review.urls")),
    path("admin/", admin.site.urls),
]
handler400 = problems.bad_request
handler403 = problems.permission_denied
handler404 = problems.page_not_found
handler500 = problems.server_error
