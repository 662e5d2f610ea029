"""Addresses for machines that watch the site: ``/healthz``, ``/readyz``, ``/metrics``.

They are answered before anything else looks at the request: a probe knows neither the site's name nor anybody's
session, and a session would need the database.
"""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from reports.views import probes

PROBES = {"/healthz": probes.health, "/readyz": probes.readiness, "/metrics": probes.metrics}


class ProbeMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        probe = PROBES.get(request.path_info)
        return self.get_response(request) if probe is None else probe(request)
