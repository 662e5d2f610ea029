"""What the API answers, for its description, and how records become it.

Answers are written with ASCII escapes: a text may hold unpaired surrogates, which UTF-8 cannot.
"""

import json
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from evalrunner.compare import Tally
from ninja import Schema

from reports.selectors.run_records import CaseRecord, RunRecord
from reports.selectors.stored_changes import RunChangeRow


class TargetOut(Schema):
    id: str
    fingerprint: str
    label: str


class SuiteOut(Schema):
    id: str
    name: str
    revision: str


class CountsOut(Schema):
    total: int
    pending: int
    running: int
    passed: int
    failed: int
    error: int
    cancelled: int
    skipped: int
    blocked: int


class PassRateOut(Schema):
    """``passed`` of ``decided`` cases passed; the ``undecided`` count neither way. ``rate``: null if none is.

    Of a run that resumed or retried another the first decided attempt of each case counts.
    """

    passed: int
    decided: int
    undecided: int
    rate: float | None


class SuiteAssertionsOut(Schema):
    total: int
    failed: int


class AgainstBaselineOut(Schema):
    """A run against its baseline, as their comparison judges it under the team's policy.

    ``verdict`` is pass, regressed, inconclusive or not_comparable; ``reason`` the first rule that speaks for it, null
    for none; ``counts`` are scenario variants by change class, zeros left out; ``baseline`` is a run. While the verdict
    is found anew ``isDue`` is true and all else null.
    """

    isDue: bool
    baseline: UUID | None
    verdict: str | None
    sentence: str | None
    reason: str | None
    counts: dict[str, int] | None
    url: str | None


class RunOut(Schema):
    """A run. ``runId`` is the report's own id, null until the first checkpoint; times are the report's texts.

    ``verb`` is run, resume or retry where this site executed it. ``afterRetries`` is what the pass rate would be if
    retries counted. ``followUp`` says by what outcome its scenarios were chosen, null for none: such a run is pooled
    nowhere and refused by the gate. ``againstBaseline`` is null where no run is its baseline.
    """

    id: UUID
    runId: str | None
    resumedFrom: str | None
    target: TargetOut
    suite: SuiteOut
    status: str
    isPassing: bool
    counts: CountsOut
    passRate: PassRateOut
    afterRetries: PassRateOut
    verb: str | None
    followUp: str | None
    suiteAssertions: SuiteAssertionsOut
    againstBaseline: AgainstBaselineOut | None
    fingerprint: str | None
    startedAt: str | None
    finishedAt: str | None
    createdAt: str
    updatedAt: str
    origin: str
    fileName: str | None
    createdBy: str | None
    url: str
    api: str


class RunsOut(Schema):
    items: list[RunOut]
    nextCursor: str | None


class CaseOut(Schema):
    """A case without its conversation. ``position`` is its place in the report, from 0."""

    position: int
    scenarioId: str
    variants: dict[str, str]
    repetition: int
    name: str
    status: str
    errorCode: str | None
    skipReason: str | None
    durationMs: float
    turns: int
    failing: str | None
    signature: str | None
    url: str
    api: str


class CasesOut(Schema):
    items: list[CaseOut]
    nextCursor: str | None


class WholeCaseOut(CaseOut):
    """``case`` is the case as the report holds it, with all its turns."""

    case: dict[str, Any]


class ImportedOut(Schema):
    """``outcome``: created, updated (a later snapshot of a stored run) or unchanged (it was there)."""

    id: UUID
    runId: str
    outcome: str
    url: str
    api: str


def json_response(value: object, status: int = 200) -> HttpResponse:
    return HttpResponse(json.dumps(value, allow_nan=False), status=status, content_type="application/json")


def run_addresses(request: HttpRequest, pk: UUID) -> dict[str, str]:
    return {
        "url": request.build_absolute_uri(reverse("run", args=[pk])),
        "api": request.build_absolute_uri(reverse("api-1:get_run", args=[pk])),
    }


def _rate_out(tally: Tally) -> dict[str, Any]:
    return {"passed": tally.passed, "decided": tally.decided, "undecided": tally.undecided, "rate": tally.rate}


def _change_out(request: HttpRequest, change: RunChangeRow) -> dict[str, Any]:
    members = {"baseline": str(change.baseline_pk), "candidate": str(change.run_pk)}
    address = f"{reverse('compare')}?{urlencode(members)}"
    return {
        "isDue": change.is_due,
        "baseline": None if change.is_due else str(change.baseline_pk),
        "verdict": change.verdict or None,
        "sentence": change.sentence or None,
        "reason": change.reason or None,
        "counts": None if change.counts is None else dict(change.counts),
        "url": None if change.is_due else request.build_absolute_uri(address),
    }


def run_out(request: HttpRequest, run: RunRecord) -> dict[str, Any]:
    return {
        "id": str(run.pk),
        "runId": run.run_id or None,
        "resumedFrom": run.resumed_from or None,
        "target": {"id": run.target_id, "fingerprint": run.fingerprint, "label": run.version_label},
        "suite": {"id": run.suite_id, "name": run.suite_name, "revision": run.suite_digest},
        "status": run.status,
        "isPassing": run.is_passing,
        "counts": {"total": sum(run.counts.values()), **run.counts},
        "passRate": _rate_out(run.tally),
        "afterRetries": _rate_out(run.after_retries),
        "verb": run.verb or None,
        "followUp": run.follow_up or None,
        "suiteAssertions": {"total": run.suite_assertions, "failed": run.suite_assertions_failed},
        "againstBaseline": None if run.change is None else _change_out(request, run.change),
        "fingerprint": run.compatibility_fingerprint or None,
        "startedAt": run.started_at or None,
        "finishedAt": run.finished_at or None,
        "createdAt": run.created_at.isoformat(),
        "updatedAt": run.updated_at.isoformat(),
        "origin": run.origin,
        "fileName": run.file_name or None,
        "createdBy": run.created_by or None,
        **run_addresses(request, run.pk),
    }


def case_out(request: HttpRequest, pk: UUID, case: CaseRecord) -> dict[str, Any]:
    return {
        "position": case.position,
        "scenarioId": case.scenario_id,
        "variants": dict(case.variants),
        "repetition": case.repetition,
        "name": case.name,
        "status": case.status,
        "errorCode": case.error_code or None,
        "skipReason": case.skip_reason or None,
        "durationMs": case.duration_ms,
        "turns": case.turn_count,
        "failing": case.failing or None,
        "signature": case.signature or None,
        "url": request.build_absolute_uri(reverse("case", args=[pk, case.position])),
        "api": request.build_absolute_uri(reverse("api-1:get_case", args=[pk, case.position])),
    }
