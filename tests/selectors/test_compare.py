"""A comparison read from the database says the same as the engine says of the reports themselves."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from evalrunner.compare import Change, Comparison, RunOutcomes, VariantId, compare, run_outcomes

from reports.models import Run, Team
from reports.selectors.compare import StoredComparison, compare_sides
from reports.selectors.compare_sides import SideProblem, parse_token
from tests.factories import LETTERS, case, outcomes, report, scenario, suite, turn
from tests.factories import stored as store

pytestmark = pytest.mark.django_db
Reports = list[dict[str, Any]]


def stored_rows(stored: StoredComparison) -> dict[VariantId, tuple[Any, ...]]:
    return {
        VariantId(
            stored.variants[row.variant].scenario_id, tuple(sorted(stored.variants[row.variant].chosen.items()))
        ): (row.change, row.group, row.judgement, row.cells())
        for row in stored.result.rows
    }


def pure_rows(result: Comparison[VariantId]) -> dict[VariantId, tuple[Any, ...]]:
    return {row.variant: (row.change, row.group, row.judgement, row.cells()) for row in result.rows}


def outcomes_of(reports: Reports) -> list[RunOutcomes]:
    read = [run_outcomes(each) for each in reports]
    return [RunOutcomes(each.facts, list(each.cases)) for each in read]


def assert_same(stored: StoredComparison, baseline: Reports, candidate: Reports) -> None:
    pure = compare(outcomes_of(baseline), outcomes_of(candidate))
    assert stored_rows(stored) == pure_rows(pure)
    assert stored.result.matrix == pure.matrix
    assert (stored.result.baseline, stored.result.candidate) == (pure.baseline, pure.candidate)
    assert [each.kind for each in stored.result.differences] == [each.kind for each in pure.differences]
    assert sorted((c.change, c.baseline_cases, c.candidate_cases) for c in stored.result.clusters) == sorted(
        (c.change, c.baseline_cases, c.candidate_cases) for c in pure.clusters
    )


def version(run: Run) -> str:
    return f"version:{run.version_id}"


def mixed(fingerprint: str, letters: str) -> dict[str, Any]:
    """Make a report with variants, mixed statuses and two ways to fail."""
    cases = []
    for number, letter in enumerate(letters):
        variants = {"ask": "polite"} if number % 3 == 1 else {}
        made = case(LETTERS[letter], scenario_id=f"s{number % 4}", repetition=number // 4, variants=variants)
        if letter == "F" and number % 2:
            made["turns"] = [turn("failed", assertions=[{"id": "other", "passed": False}])]
        cases.append(made)
    return report(cases=cases, target={"id": "desk.agent", "fingerprint": fingerprint})


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("PPPPPPPPPPPP", "PFPEPPSPBPCP"),
        ("PFFPEPSPNPFP", "FFPPPPFPPFNP"),
        ("PPPP", "PPPPFFFFEEEE"),
        ("FFFFFFFFFFFF", "FFFFEEEEFFFF"),
        ("SSSS", "BBBBPPPP"),
    ],
)
def test_two_runs_compare_like_their_reports(team: Team, left: str, right: str) -> None:
    before, after = mixed("v1", left), mixed("v2", right)
    runs = store(team, before), store(team, after)

    stored = compare_sides(team=team, baseline=str(runs[0].pk), candidate=f"run:{runs[1].pk}")

    assert_same(stored, [before], [after])


def test_a_version_pools_its_runs_and_counts_each_lineage_once(team: Team) -> None:
    first = outcomes("v1", a="PFC", b="PP") | {"startedAt": "2026-03-02T09:00:00Z", "status": "cancelled"}
    retry = outcomes("v1", a="PPP", b="PF") | {
        "startedAt": "2026-03-02T10:00:00Z",
        "resumedFrom": first["runId"],
    }
    alone = outcomes("v1", a="F", b="E") | {"startedAt": "2026-03-01T10:00:00Z"}
    later = outcomes("v2", a="PPP", b="PPP")
    runs = [store(team, each) for each in (first, retry, alone, later)]

    stored = compare_sides(team=team, baseline=version(runs[0]), candidate=version(runs[3]))

    assert_same(stored, [first, retry, alone], [later])
    assert stored.result.baseline.total == 7


def test_of_undecided_attempts_the_last_stands(team: Team) -> None:
    first = outcomes("v1", a="CC") | {"startedAt": "2026-03-02T09:00:00Z"}
    retry = outcomes("v1", a="BP") | {"startedAt": "2026-03-02T10:00:00Z", "resumedFrom": first["runId"]}
    runs = [store(team, each) for each in (first, retry, outcomes("v2", a="PP"))]

    stored = compare_sides(team=team, baseline=version(runs[0]), candidate=version(runs[2]))

    assert dict(stored.result.matrix) == {("blocked", "passed"): 1, ("passed", "passed"): 1}


def test_a_cancelled_run_alone_is_not_pooled(team: Team) -> None:
    cancelled = store(team, outcomes("v1", a="PC") | {"status": "cancelled"})
    other = store(team, outcomes("v2", a="PP"))

    with pytest.raises(SideProblem, match="completed or limited"):
        compare_sides(team=team, baseline=version(cancelled), candidate=str(other.pk))

    assert compare_sides(team=team, baseline=str(cancelled.pk), candidate=str(other.pk)).result.rows


def test_a_version_is_compared_in_its_newest_revision_unless_another_is_asked(team: Team) -> None:
    old = outcomes("v1", a="F") | {"startedAt": "2026-03-01T10:00:00Z", "suite": suite("a", "b")}
    new = outcomes("v1", a="P") | {"startedAt": "2026-03-02T10:00:00Z", "suite": suite("a", "c")}
    runs = [store(team, each) for each in (old, new)]

    newest = compare_sides(team=team, baseline=version(runs[0]), candidate=version(runs[0]))
    asked = compare_sides(team=team, baseline=f"{version(runs[0])}:{runs[0].revision_id}", candidate=version(runs[0]))

    assert (newest.result.rows[0].change, asked.result.rows[0].change) == (Change.STEADY, Change.FIXED)
    assert len(newest.baseline.revisions) == 2


def test_a_changed_definition_puts_its_rows_apart(team: Team) -> None:
    tightened = scenario("a")
    tightened["steps"][0]["assertions"][0]["value"] = "closed"
    renamed = scenario("b", name="Other words", tags=["new"])
    before = outcomes("v1", a="P", b="P")
    after = outcomes("v2", a="F", b="P") | {"suite": suite() | {"scenarios": [tightened, renamed]}}
    runs = store(team, before), store(team, after)

    stored = compare_sides(team=team, baseline=str(runs[0].pk), candidate=str(runs[1].pk))

    assert_same(stored, [before], [after])
    assert [row.is_redefined for row in stored.result.rows] == [True, False]
    assert stored.facts_of(stored.result.rows[1].variant).tags == ("new",)  # type: ignore[union-attr]  # it is known


@pytest.mark.parametrize(
    "side",
    ["", "nothing", "version:", "version:0", "version:x", "version:1:2:3", "version:99999999999999999999", "run:7"],
)
def test_what_names_no_side_is_refused(team: Team, side: str) -> None:
    run = store(team, outcomes(a="P"))

    with pytest.raises(SideProblem) as refused:
        compare_sides(team=team, baseline=side, candidate=str(run.pk))

    assert (refused.value.name, refused.value.is_unknown) == ("baseline", True)


def test_runs_and_versions_of_another_team_do_not_exist(team: Team) -> None:
    other = Team.objects.create(name="Others")
    mine, theirs = store(team, outcomes(a="P")), store(other, outcomes(a="P"))

    for side in (str(theirs.pk), version(theirs)):
        with pytest.raises(SideProblem) as refused:
            compare_sides(team=team, baseline=str(mine.pk), candidate=side)
        assert refused.value.is_unknown


def test_tokens_are_written_as_they_are_read() -> None:
    for text in ("version:7", "version:7:9", "run:305b6023-d88e-40f1-95f8-894dbfe218dd"):
        assert str(parse_token(text)) == text


@pytest.mark.parametrize("kind", ["run", "version"])
def test_a_comparison_costs_the_same_queries_whatever_its_size(team: Team, kind: str) -> None:
    counts = []
    for number, size in enumerate((10, 400)):
        names = {f"s{place}": "PPF" for place in range(size)}
        before = store(team, outcomes(f"v{number}", target_id=f"t{number}", **names))
        after = store(team, outcomes(f"w{number}", target_id=f"t{number}", **(names | {"s0": "PFP", "s1": "FFF"})))
        left, right = (str(run.pk) if kind == "run" else version(run) for run in (before, after))
        with CaptureQueriesContext(
            connection,
        ) as queries:
            compare_sides(team=team, baseline=left, candidate=right)
        counts.append(len(queries))

    assert counts[0] == counts[1]
    assert counts[1] <= 8
