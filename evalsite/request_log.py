"""One line for each request: what was asked for, how it was answered, how long that took."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from evalsite.logs import without_secrets

log = logging.getLogger("evalsite.request")


class RequestLogMiddleware:
    """Logs method, path (never the query, which may hold what somebody looks for), status and milliseconds.

    For an answer that is streamed they are those until its first byte. Who asked is named by ids alone.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not log.isEnabledFor(logging.INFO):
            return self.get_response(request)
        began = time.monotonic()
        response = self.get_response(request)
        log.info("request", extra={"event": _event(request, response, (time.monotonic() - began) * 1000)})
        return response


def _event(request: HttpRequest, response: HttpResponseBase, duration_ms: float) -> dict[str, object]:
    event: dict[str, object] = {
        "method": request.method if request.method and request.method.isalpha() else "?",
        "path": without_secrets(ascii(request.path)[1:-1])[:500],
        "status": response.status_code,
        "durationMs": round(duration_ms, 1),
    }
    membership = getattr(request, "membership", None)
    if membership is not None:
        event |= {"user": membership.user_id, "team": membership.team_id}
    return event
