"""Root addresses: the API and the pages."""

from django.urls import include, path

from reports.api import api
from reports.api.docs import docs_page
from reports.api.problems import unknown_address

urlpatterns = [
    path("api/docs", docs_page, name="api-docs"),
    path("api/v1/docs", docs_page),
    path("api/v1/", api.urls),
    path("api/", unknown_address),
    path("api/<path:rest>", unknown_address),
    path("", include("reports.urls")),
]

handler400 = "reports.views.errors.bad_request"
handler403 = "reports.views.errors.forbidden"
handler404 = "reports.views.errors.not_found"
handler500 = "reports.views.errors.server_error"
