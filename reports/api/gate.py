"""The gate: the verdict on two sides by a policy, the same as ``evalrunner gate`` gives on their report files."""

from typing import Any, cast

from django.http import HttpRequest, HttpResponse
from evalrunner.compare import difference_in_words
from evalrunner.compare.comparability import FOLLOW_UP
from evalrunner.compare.policy import Policy, parse_policy, policy_of
from evalrunner.compare.verdict import Verdict
from evalrunner.errors import EvaluationError
from ninja import Field, Query, Router, Schema

from reports.access import TeamRequest
from reports.api import compare as comparing
from reports.api import schemas
from reports.api.auth import needs
from reports.api.problems import Problem, ProblemOut
from reports.pages.compare_documents import comparison_file
from reports.pages.compare_frame import Address
from reports.selectors.compare import StoredComparison
from reports.selectors.compare_filters import RowFilters
from reports.selectors.compare_verdict import document_of

router = Router(auth=needs("viewer"), tags=["compare"])

EXIT_CODES = {Verdict.PASS: 0, Verdict.REGRESSED: 1, Verdict.INCONCLUSIVE: 2, Verdict.NOT_COMPARABLE: 3}


class GateIn(comparing.SidesIn):
    pass


class PolicyGateIn(comparing.SidesIn):
    """``policy`` is a policy file as TOML text, or the same as an object; without it the team's own is used."""

    policy: str | dict[str, Any] | None = Field(None)


class GateOut(Schema):
    """``exitCode`` is that of ``evalrunner gate``: 0 pass, 1 regressed, 2 inconclusive, 3 not comparable.

    ``accepted`` are the changed definitions that count because the policy or a triager says so.
    ``markdown`` is a summary of bounded size for a pull request; ``url`` shows the comparison by the team's policy.
    """

    verdict: str
    exitCode: int
    sentence: str
    reasons: list[dict[str, Any]]
    completeness: dict[str, Any]
    accepted: list[dict[str, str]]
    plan: dict[str, Any]
    policy: dict[str, Any]
    markdown: str
    url: str


_RESPONSES: dict[int, Any] = {200: GateOut, 409: ProblemOut, **comparing.PROBLEMS}


@router.get("/gate", response=_RESPONSES, url_name="gate", summary="Judge two sides by the team’s policy")
def gate(request: HttpRequest, given: Query[GateIn]) -> HttpResponse:
    comparing.refuse_unknown_parameters(request, GateIn)
    return _answer(request, given, None)


@router.post("/gate", response=_RESPONSES, url_name="gate-by-policy", summary="Judge two sides by a policy")
def gate_by_policy(request: HttpRequest, given: PolicyGateIn) -> HttpResponse:
    """Nothing is stored: the policy counts for this answer alone."""
    return _answer(request, given, _policy(given.policy))


def _policy(given: str | dict[str, Any] | None) -> Policy | None:
    if given is None:
        return None
    try:
        return parse_policy(given) if isinstance(given, str) else policy_of(given)
    except EvaluationError as error:
        faults = [(f"body.policy.{path}", "is unknown or out of range") for path in error.paths]
        raise Problem(422, "policy_invalid", f"The policy cannot be used: {', '.join(error.paths)}.", faults) from error


def _refuse_follow_ups(stored: StoredComparison) -> None:
    """What was chosen by its outcome says nothing about a version."""
    for difference in stored.result.differences:
        if difference.kind == FOLLOW_UP:
            raise Problem(409, FOLLOW_UP, difference_in_words(difference), [(difference.name, "is a follow-up")])


def _answer(request: HttpRequest, given: comparing.SidesIn, policy: Policy | None) -> HttpResponse:
    team = cast(TeamRequest, request).team
    judged = comparing.judged_sides(team, given, policy)
    _refuse_follow_ups(judged.stored)
    rows = judged.ordered(judged.stored.result.rows)
    document = document_of(judged, team=team, rows=rows)
    url = request.build_absolute_uri(Address(given.baseline, given.candidate, given.suite, RowFilters()).page())
    members = ("verdict", "sentence", "reasons", "completeness", "accepted", "plan", "policy")
    return schemas.json_response(
        {name: document[name] for name in members}
        | {
            "exitCode": EXIT_CODES[judged.assessment.verdict],
            "markdown": comparison_file(document, "markdown").content.decode(),
            "url": url,
        }
    )
