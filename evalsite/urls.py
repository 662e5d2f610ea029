"""Root addresses: the API and the pages."""

from django.urls import include, path

from reports.api import api

urlpatterns = [
    path("api/v1/", api.urls),
    path("", include("reports.urls")),
]

handler400 = "reports.views.errors.bad_request"
handler403 = "reports.views.errors.forbidden"
handler404 = "reports.views.errors.not_found"
handler500 = "reports.views.errors.server_error"
