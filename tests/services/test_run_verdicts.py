"""The stored verdict on a run is that of the comparison page, over many families, policies, notes and definitions."""

import gzip
import io
import json
import random
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from reports.models import Run, RunChange, Team, User
from reports.selectors.note_scope import source_of
from reports.services.baselines import set_baseline
from reports.services.definitions import accept_definitions
from reports.services.ingest import ingest_report
from reports.services.note_checks import NoteContent
from reports.services.notes import note_variant
from reports.services.recount import recount_run
from reports.services.run_changes import recount_change
from reports.services.team_rules import set_policy
from tests import factories
from tests.factories import LETTERS, case, report, scenario, stored, suite

pytestmark = pytest.mark.django_db(transaction=True)
FAMILIES = Path(__file__).parents[1] / "data" / "conformance" / "families"
POLICIES = (
    "",
    'except_known_issues = true\n[accept]\ndefinitions = ["s0", "s1"]',
    '[critical]\nscenarios = ["s2", "s3"]\n[accept]\ndefinitions = ["s0"]',
    "max_errors = 0\nmin_pairs = 3\nmargin = 0.3",
    "min_pairs = 3\nmargin = 1.0\ncompleteness = 0.5",
)


def assert_page_agrees(client: Client, run: Run) -> str:
    """Compare what is stored of a run with the page of the comparison; return the verdict, "" without a baseline."""
    change = RunChange.objects.filter(run=run.pk).first()
    assert recount_run(run, repair=False) == ()
    if change is None:
        return ""
    sides = {"baseline": f"run:{change.baseline_id}", "candidate": f"run:{run.pk}"}
    shown = client.get("/compare/", sides).context["page"].verdict
    assert change.verdict == shown.key
    assert change.sentence == "".join(phrase.text for phrase in shown.sentence)
    assert change.reason == (shown.reasons[0].text if shown.reasons else "")
    return change.verdict


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.mark.parametrize("family", ["clinic", "flights", "refunds"])
def test_every_version_of_a_family_is_judged_as_on_the_page(team: Team, viewer: User, family: str) -> None:
    runs = []
    for path in sorted((FAMILIES / family).glob("[1-5]-*")):
        text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        runs.append(ingest_report(team=team, source=io.BytesIO(text), origin="command").run_pk)

    verdicts = [assert_page_agrees(client_of(viewer), Run.objects.get(pk=pk)) for pk in runs]

    assert verdicts[0] == ""
    assert all(verdicts[1:])
    if family != "refunds":
        assert verdicts[1] == "regressed"


def asked(name: str, wording: int) -> dict[str, Any]:
    made = scenario(name, tags=["smoke"] if name.endswith("3") else [])
    made["steps"][0]["input"] = {"text": f"Question {wording}"}
    return made


def random_family(team: Team, chance: random.Random) -> list[Run]:
    """Store three versions of twelve scenarios: flaky ones, undecided ones, some asked otherwise, one retried."""
    names = [f"s{number}" for number in range(12)]
    runs: list[Run] = []
    for day in range(1, 4):
        likely = chance.choice(("PPPPPPF", "PPPPPPPPP", "PPFFES"))
        cases = [
            case(LETTERS[chance.choice(likely)], scenario_id=name, repetition=repetition)
            for name in names
            for repetition in range(3)
        ]
        changed = {name: chance.randrange(2) for name in names[:3]}
        made = report(
            cases=cases,
            suite=suite() | {"scenarios": [asked(name, changed.get(name, 0)) for name in names]},
            target={"id": "desk", "fingerprint": f"v{day}"},
            startedAt=f"2026-03-0{day}T09:00:00Z",
            **({"resumedFrom": runs[-1].run_id} if runs and chance.random() < 0.2 else {}),
        )
        runs.append(stored(team, made))
    return runs


def randomly_ruled(team: Team, user: User, runs: list[Run], chance: random.Random) -> None:
    """Set a policy, note some failures, accept some definitions and pin a baseline, or not, in any order."""

    def note() -> None:
        for number in chance.sample(range(12), 4):
            key = team.scenario_variants.filter(scenario_id=f"s{number}").values_list("key", flat=True)[0]
            state = chance.choice(("known_issue", "fixed_verify"))
            target = runs[0].version.target_id
            note_variant(
                team=team,
                user=user,
                target_pk=target,
                variant=key,
                content=NoteContent(state),
                source=source_of(team=team, run=chance.choice(runs).pk),
            )

    def accept() -> None:
        keys = list(team.scenario_variants.values_list("scenario_key", flat=True)[:3])
        pair = (runs[1].revision_id, runs[2].revision_id)
        accept_definitions(team=team, user=user, revisions=pair, scenario_keys=keys, reason="")

    def pin() -> None:
        pinned = chance.choice(runs)
        set_baseline(team=team, user=user, run_pk=pinned.pk, name="production", is_default=True)

    def rule() -> None:
        set_policy(team=team, user=user, text=chance.choice(POLICIES))

    steps = [note, accept, pin, rule, rule]
    chance.shuffle(steps)
    for step in steps[: chance.randrange(1, 6)]:
        step()


def test_whatever_is_ruled_the_stored_verdict_is_that_of_the_page(db: None) -> None:
    seen = set()
    for seed in range(20):
        chance, team = random.Random(seed), factories.make_team()
        admin = factories.make_member(team, "admin")
        runs = random_family(team, chance)
        randomly_ruled(team, admin, runs, chance)

        seen |= {assert_page_agrees(client_of(admin), Run.objects.get(pk=run.pk)) for run in runs}

    assert {"pass", "regressed", "inconclusive"} <= seen


def test_the_definitions_that_a_policy_accepts_count_in_lists_too(team: Team) -> None:
    admin = factories.make_member(team, "admin")
    first = report(
        cases=[case(scenario_id="s0"), case(scenario_id="s1")],
        suite=suite() | {"scenarios": [asked("s0", 0), asked("s1", 0)]},
        startedAt="2026-03-01T09:00:00Z",
    )
    second = report(
        cases=[case("failed", scenario_id="s0"), case(scenario_id="s1")],
        suite=suite() | {"scenarios": [asked("s0", 1), asked("s1", 0)]},
        target={"id": "desk.agent", "fingerprint": "v2"},
    )
    stored(team, first)
    run = stored(team, second)
    assert RunChange.objects.get(run=run.pk).counts == {"steady": 1}

    set_policy(team=team, user=admin, text='[accept]\ndefinitions = ["s0"]')

    assert RunChange.objects.get(run=run.pk).counts == {"broken": 1, "steady": 1}
    page = client_of(admin).get("/runs/")
    assert "1 broken" in page.content.decode()


def test_the_api_says_the_verdict_of_the_page(team: Team, viewer: User) -> None:
    before = stored(team, report("PP", startedAt="2026-03-01T09:00:00Z"))
    after = stored(team, report("FF", target={"id": "desk.agent", "fingerprint": "v2"}))

    answer = json.loads(client_of(viewer).get("/api/v1/runs").content)["items"]

    shown = answer[0]["againstBaseline"]
    assert answer[1]["againstBaseline"] is None
    assert (shown["baseline"], shown["verdict"], shown["isDue"]) == (str(before.pk), "inconclusive", False)
    assert shown["sentence"].startswith("1 scenario variant broke; difference −100.0 points")
    assert shown["reason"] == "1 scenario variant decided on both sides, 10 needed"
    assert shown["counts"] == {"broken": 1}
    assert shown["url"].endswith(f"/compare/?baseline={before.pk}&candidate={after.pk}")


def test_counting_a_change_costs_the_same_queries_whatever_its_size(team: Team) -> None:
    counts = []
    for number, size in enumerate((10, 200)):
        names = {f"s{place}": "PF" for place in range(size)}
        target = f"t{number}"
        stored(team, factories.outcomes("v1", target_id=target, **names) | {"startedAt": "2026-03-01T09:00:00Z"})
        run = stored(team, factories.outcomes("v2", target_id=target, **names | {"s0": "FF"}))
        with CaptureQueriesContext(connection) as queries:
            recount_change(run_pk=run.pk)
        counts.append(len(queries))

    assert counts[0] == counts[1] <= 26
