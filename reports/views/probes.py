"""What machines ask: whether the process lives, whether the site can work, how much there is to do."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from reports.pages.metrics import CONTENT_TYPE, metrics_text
from reports.selectors.operations import operating_numbers
from reports.services import readiness as checks
from reports.services.worker_signs import worker_seen_s

_TEXT = "text/plain; charset=utf-8"


@require_safe
@never_cache
def health(request: HttpRequest) -> HttpResponse:
    """The process answers. It asks nobody else: a database that is away is no reason to end processes."""
    return HttpResponse("ok\n", content_type=_TEXT)


@require_safe
@never_cache
def readiness(request: HttpRequest) -> HttpResponse:
    """200 when database, tables and broker are there, else 503. ``?without=broker`` leaves a check out."""
    found = checks.readiness(without=request.GET.getlist("without")[:10])
    is_ready = all(state == checks.OK for state in found.values())
    seen_s = worker_seen_s() if found.get("database", checks.OK) == checks.OK else None
    body = {
        "status": "ready" if is_ready else "not ready",
        "checks": found,
        "workerSeenSeconds": None if seen_s is None else round(seen_s, 1),
    }
    return JsonResponse(body, status=200 if is_ready else 503)


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """For who knows the token of the settings; without one in the settings the address does not exist.

    By token and not by the caller's address: behind a proxy on the same machine everybody calls from loopback.
    """
    if not settings.METRICS_TOKEN:
        return HttpResponse("not found\n", status=404, content_type=_TEXT)
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not secrets.compare_digest(token.encode(), settings.METRICS_TOKEN.encode()):
        headers = {"WWW-Authenticate": 'Bearer realm="evalsite metrics"'}
        return HttpResponse("unauthorized\n", status=401, content_type=_TEXT, headers=headers)
    try:
        text = metrics_text(operating_numbers(), worker_seen_s=worker_seen_s())
    except (DatabaseError, InterfaceError):
        return HttpResponse("the database is away\n", status=503, content_type=_TEXT)
    return HttpResponse(text, content_type=CONTENT_TYPE)
