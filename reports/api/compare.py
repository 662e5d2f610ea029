"""The comparison of two runs or versions as one document; the same engine as the page."""

from collections.abc import Mapping
from typing import Annotated, Any, cast

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from evalrunner.compare import (
    MATRIX_ORDER,
    Cluster,
    Difference,
    Row,
    Sample,
    Tally,
    difference_in_words,
    in_words,
    tally_statuses,
)
from ninja import Field, Query, Router, Schema

from reports.access import TeamRequest
from reports.api import schemas
from reports.api.auth import needs
from reports.api.problems import Problem, ProblemOut
from reports.pages.compare_frame import Address
from reports.selectors.compare import StoredComparison, compare_sides
from reports.selectors.compare_filters import CLASSES, STATUSES, RowFilters, matching_rows, page_of
from reports.selectors.compare_rows import ShownSide, ShownSides, SignatureWords, shown_sides, signatures_in_words
from reports.selectors.compare_sides import Side, SideProblem
from reports.text import restored, storable

router = Router(auth=needs("viewer"), tags=["compare"])

_CLUSTERS = 50
_LARGEST_PK = 2**63 - 1
Text = Annotated[str, Field(max_length=2000)]
Class = Annotated[str, Field(pattern=f"^({'|'.join(CLASSES)})?$")]
Status = Annotated[str, Field(pattern=f"^({'|'.join(STATUSES)})?$")]
Key = Annotated[str, Field(pattern=r"^([0-9a-f]{32})?$")]


class CompareIn(Schema):
    """Sides are a run's id (also as ``run:<id>``), ``version:<pk>`` or ``version:<pk>:<suite revision pk>``."""

    baseline: Annotated[str, Field(min_length=1, max_length=200)]
    candidate: Annotated[str, Field(min_length=1, max_length=200)]
    suite: int = Field(0, ge=0, le=_LARGEST_PK, description="The pk of the suite in which versions are compared.")
    only: Class = Field("", alias="class", description="A class, a group, `regressions`, `improvements` or `all`.")
    tag: Text = ""
    q: Text = Field("", description="Looked for in scenario ids, names and chosen variants.")
    before: Status = Field("", alias="from", description="A row of the matrix.")
    after: Status = Field("", alias="to", description="A column of the matrix.")
    signature: Key = ""
    cursor: Key = Field("", description="`nextCursor` of the page before.")


class SideOut(Schema):
    """One side. ``runs`` are pooled, in the order of their start."""

    side: str
    target: schemas.TargetOut
    suite: schemas.SuiteOut
    runs: list[str]
    passRate: schemas.PassRateOut


class ComparisonOut(Schema):
    """``counts`` has every class, zeros included; redefined scenario variants count under ``redefined`` alone.

    ``matrix`` counts cases: ``matrix[before][after]``. ``rows`` are a page, in order of importance.
    """

    baseline: SideOut
    candidate: SideOut
    sentence: str
    differences: list[dict[str, str]]
    counts: dict[str, int]
    redefined: int
    regressions: int
    improvements: int
    fewerDecided: int
    matrix: dict[str, dict[str, int]]
    clusters: list[dict[str, Any]]
    clustersTotal: int
    rows: list[dict[str, Any]]
    rowsTotal: int
    nextCursor: str | None
    url: str


@router.get(
    "/compare",
    response={200: ComparisonOut, **dict.fromkeys((400, 401, 403, 404, 422), ProblemOut)},
    url_name="compare",
    summary="Compare two runs or versions",
)
def compare(request: HttpRequest, given: Query[CompareIn]) -> HttpResponse:
    _refuse_unknown_parameters(request)
    team = cast(TeamRequest, request).team
    try:
        stored = compare_sides(team=team, baseline=given.baseline, candidate=given.candidate, suite=given.suite)
    except SideProblem as problem:
        code = "not_found" if problem.is_unknown else "side_not_comparable"
        faults = [(f"query.{problem.name}", problem.sentence)]
        raise Problem(404 if problem.is_unknown else 400, code, problem.sentence, faults) from problem
    filters = _filters(given)
    page = page_of(stored, matching_rows(stored, filters, team=team), given.cursor)
    shown = shown_sides((stored.baseline, stored.candidate), [row.variant for row in page.rows])
    clusters = stored.result.clusters[:_CLUSTERS]
    words = signatures_in_words(team, [cluster.signature for cluster in clusters])
    address = Address(given.baseline, given.candidate, given.suite, filters)
    whole = _summary(stored) | {
        "clusters": [_cluster_out(cluster, words) for cluster in clusters],
        "clustersTotal": len(stored.result.clusters),
        "rows": [_row_out(request, stored, row, shown[row.variant], address) for row in page.rows],
        "rowsTotal": page.found,
        "nextCursor": page.cursor or None,
        "url": request.build_absolute_uri(address.page()),
    }
    return schemas.json_response(whole)


def _refuse_unknown_parameters(request: HttpRequest) -> None:
    """A filter with a misspelt name must not be a comparison without that filter."""
    known = {field.alias or name for name, field in CompareIn.model_fields.items()}
    if unknown := sorted(set(request.GET) - known):
        faults = [(f"query.{name}", "is no parameter of this address") for name in unknown[:20]]
        raise Problem(422, "parameters_invalid", f"{faults[0][0]} {faults[0][1]}.", faults)


def _filters(given: CompareIn) -> RowFilters:
    return RowFilters(
        only=given.only,
        tag=storable(given.tag),
        text=given.q,
        before=given.before,
        after=given.after,
        signature=given.signature,
    )


def _summary(stored: StoredComparison) -> dict[str, Any]:
    result = stored.result
    order = MATRIX_ORDER
    cells = {before: {after: result.matrix.get((before, after), 0) for after in order} for before in order}
    return {
        "baseline": _side_out(stored.baseline, result.baseline),
        "candidate": _side_out(stored.candidate, result.candidate),
        "sentence": in_words(result),
        "differences": [_difference_out(each) for each in result.differences],
        "counts": {str(change): number for change, number in result.counts().items()},
        "redefined": result.redefined,
        "regressions": result.regressions,
        "improvements": result.improvements,
        "fewerDecided": result.fewer_decided,
        "matrix": cells,
    }


def _side_out(side: Side, rate: Tally) -> dict[str, Any]:
    return {
        "side": str(side.token),
        "target": {
            "id": restored(side.target_id),
            "fingerprint": restored(side.fingerprint),
            "label": restored(side.label),
        },
        "suite": {
            "id": restored(side.suite_id),
            "name": restored(side.suite_name),
            "revision": side.revision.digest,
        },
        "runs": [str(run.pk) for run in side.runs],
        "passRate": _rate_out(rate),
    }


def _rate_out(rate: Tally) -> dict[str, Any]:
    return {"passed": rate.passed, "decided": rate.decided, "undecided": rate.undecided, "rate": rate.rate}


def _difference_out(difference: Difference) -> dict[str, str]:
    return {
        "kind": difference.kind,
        "name": difference.name,
        "baseline": restored(difference.baseline),
        "candidate": restored(difference.candidate),
        "sentence": restored(difference_in_words(difference)),
    }


def _cluster_out(cluster: Cluster, words: Mapping[str, SignatureWords]) -> dict[str, Any]:
    named = words[cluster.signature]
    return {
        "signature": named.key,
        "words": restored(named.words),
        "change": str(cluster.change),
        "variants": {"baseline": cluster.baseline_variants, "candidate": cluster.candidate_variants},
        "cases": {"baseline": cluster.baseline_cases, "candidate": cluster.candidate_cases},
    }


def _row_out(
    request: HttpRequest, stored: StoredComparison, row: Row[int], shown: ShownSides, address: Address
) -> dict[str, Any]:
    name = stored.variants[row.variant]
    return {
        "variant": name.key,
        "scenarioId": restored(name.scenario_id),
        "variants": {restored(step): restored(variant) for step, variant in name.chosen.items()},
        "class": str(row.change),
        "group": str(row.group),
        "isRedefined": row.is_redefined,
        "drop": row.judgement.drop,
        "fewerDecided": row.judgement.fewer_decided,
        "baseline": _sample_out(request, row.baseline, shown[0]),
        "candidate": _sample_out(request, row.candidate, shown[1]),
        "url": request.build_absolute_uri(address.case(name.key)),
    }


def _sample_out(request: HttpRequest, sample: Sample, shown: ShownSide) -> dict[str, Any]:
    """Tell one side of a row; ``cases`` are its first repetitions."""
    first = shown.first_failing
    return _rate_out(tally_statuses(sample.statuses)) | {
        "failing": restored(first.failing) if first is not None else None,
        "meanDurationMs": shown.mean_ms,
        "cases": [
            {
                "run": str(case.run),
                "position": case.position,
                "status": case.status,
                "url": request.build_absolute_uri(reverse("case", args=[case.run, case.position])),
            }
            for case in shown.cases
        ],
    }
