"""Errors of the API: ``application/problem+json`` (RFC 9457) with a stable ``code`` and the ``paths`` at fault."""

import json
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.http.request import UnreadablePostError
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI, Schema
from ninja.errors import HttpError, ValidationError

from reports.importers.refusals import ReportRejected
from reports.pages.refusals import status_of

GIVEN = "given"  # every operation calls its query form and its body so
CONTENT_TYPE = "application/problem+json"


class FaultOut(Schema):
    path: str
    sentence: str


class ProblemOut(Schema):
    """``paths`` are the places at fault, in order; ``faults`` says for each what is wrong there."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    paths: list[str]
    faults: list[FaultOut]


class Problem(Exception):
    """What the API answers instead of a result."""

    def __init__(self, status: int, code: str, detail: str, faults: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail, self.faults = status, code, detail, faults


def not_found(what: str = "thing") -> Problem:
    return Problem(404, "not_found", f"There is no such {what} in your team.")


def bad_cursor() -> Problem:
    """A list that began anew in silence would let a client read it for ever."""
    sentence = "This is no cursor of this list."
    return Problem(422, "cursor_invalid", sentence, [("query.cursor", "is no cursor of this list")])


def problem_response(problem: Problem) -> HttpResponse:
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(problem.status).phrase,
        "status": problem.status,
        "code": problem.code,
        "detail": problem.detail,
        "paths": [path for path, _ in problem.faults],
        "faults": [{"path": path, "sentence": sentence} for path, sentence in problem.faults],
    }
    response = HttpResponse(json.dumps(body), status=problem.status, content_type=CONTENT_TYPE)
    if problem.status == 401:
        response["WWW-Authenticate"] = 'Bearer realm="evalsite"'
    return response


def of_rejection(rejection: ReportRejected) -> Problem:
    return Problem(status_of(rejection), rejection.code, rejection.sentence, rejection.faults)


def connect(api: NinjaAPI) -> None:
    """Let an API answer every error as a problem."""
    api.add_exception_handler(Problem, _answer_problem)
    api.add_exception_handler(ReportRejected, _answer_rejection)
    api.add_exception_handler(ValidationError, _answer_validation)
    api.add_exception_handler(Http404, _answer_404)
    api.add_exception_handler(HttpError, _answer_http_error)
    api.add_exception_handler(RequestDataTooBig, _answer_too_big)
    for unreadable in (MultiPartParserError, SuspiciousOperation, UnreadablePostError):
        api.add_exception_handler(unreadable, _answer_unreadable)


def _answer_problem(request: HttpRequest, error: Problem | type[Problem]) -> HttpResponse:
    assert isinstance(error, Problem)
    return problem_response(error)


def _answer_rejection(request: HttpRequest, error: ReportRejected | type[ReportRejected]) -> HttpResponse:
    assert isinstance(error, ReportRejected)
    return problem_response(of_rejection(error))


def _answer_validation(request: HttpRequest, error: ValidationError | type[ValidationError]) -> HttpResponse:
    assert isinstance(error, ValidationError)
    faults = [(_place(each["loc"]), str(each["msg"])) for each in error.errors]
    first = f"{faults[0][0]}: {faults[0][1]}" if faults else "The request does not fit."
    return problem_response(Problem(422, "parameters_invalid", first, faults))


def _place(location: Sequence[object]) -> str:
    """Return where a parameter stands, without the name that our own code gives the form it belongs to."""
    return ".".join(str(name) for index, name in enumerate(location) if not (index == 1 and name == GIVEN))


def _answer_404(request: HttpRequest, error: Http404 | type[Http404]) -> HttpResponse:
    return problem_response(not_found())


def _answer_http_error(request: HttpRequest, error: HttpError | type[HttpError]) -> HttpResponse:
    assert isinstance(error, HttpError)
    codes = {400: "request_unreadable", 401: "not_signed_in", 403: "not_allowed"}
    code = codes.get(error.status_code, "refused")
    return problem_response(Problem(error.status_code, code, error.message))


def _answer_too_big(request: HttpRequest, error: RequestDataTooBig | type[RequestDataTooBig]) -> HttpResponse:
    return problem_response(Problem(413, "content_too_large", "The request is larger than this address takes."))


def _answer_unreadable(request: HttpRequest, error: Exception | type[Exception]) -> HttpResponse:
    return problem_response(Problem(400, "request_unreadable", f"The request cannot be read: {error}."))


@csrf_exempt
def unknown_address(request: HttpRequest, rest: str = "") -> HttpResponse:
    """Answer every address under /api/ that is none."""
    return problem_response(Problem(404, "not_found", "There is no such address. /api/docs lists all there are."))
